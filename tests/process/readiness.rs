//! Which tables the service has when it says that it is ready.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::chaos::taquin::{BINARY, Taquin};

/// Starts the service and waits until it is ready. Until then it lives, and says why it is not.
fn ready(flags: &[&str]) -> Taquin {
    let taquin = Taquin::spawn(Command::new(BINARY), 4096, flags);
    let begun = Instant::now();
    loop {
        let answer = taquin.client().get("/readyz");
        if answer.status == 200 {
            return taquin;
        }
        assert_eq!((answer.status, answer.header("retry-after")), (503, "1"));
        assert!(answer.body.contains("its tables are still being built"), "{answer:?}");
        taquin.client().get("/livez").expect(200);
        assert!(begun.elapsed() < Duration::from_secs(120), "it is never ready");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The tables that a search of a 15-puzzle uses.
fn tables(taquin: &Taquin) -> String {
    let question =
        json!({ "board": "14 13 15 7 11 12 9 5 6 0 2 1 4 8 10 3", "goal": "blank_first", "algorithm": "ida_star" });
    let answer: Value = serde_json::from_str(&taquin.client().solve(&question).expect(200).body).expect("JSON");
    answer["search"]["tables"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

#[test]
fn a_service_that_needs_standard_tables_has_them_when_it_is_ready() {
    assert_eq!(tables(&ready(&["--tables=standard", "--ready=standard"])), "standard");
}

#[test]
fn a_search_is_answered_before_the_service_is_ready() {
    let taquin = Taquin::spawn(Command::new(BINARY), 4096, &["--tables=standard", "--ready=standard"]);
    let question = json!({ "board": "8 6 7/2 5 4/3 0 1" });
    taquin.client().solve(&question).expect(200);
}

#[test]
#[ignore = "takes seconds and a gigabyte"]
fn a_service_waits_for_no_more_tables_than_it_needs_to_be_ready() {
    assert_eq!(tables(&ready(&["--tables=large", "--ready=large"])), "large");
    // The large tables take seconds after the others.
    for flags in [["--tables=large", "--ready=standard"].as_slice(), &["--tables=large"]] {
        let taquin = ready(flags);
        assert!(taquin.lines().iter().all(|line| line["message"] != "large tables are ready"), "{flags:?}");
        taquin.wait_for_message("large tables are ready");
    }
}
