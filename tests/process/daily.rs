//! The puzzle of the day is the same for all: equal seeds give equal boards on every instance and after a restart.

use std::process::Command;

use crate::chaos::taquin::{BINARY, Taquin};

/// Requests for a puzzle of the day, as docs/GAME.md has them, and for several boards of a day.
const TARGETS: [&str; 5] = [
    "/random?length=16..20&seed=",
    "/random?rows=4&length=30..40&seed=",
    "/random?rows=4&percentile=50..90&seed=",
    "/random?rows=5&cols=4&seed=",
    "/random?count=3&as=line&seed=",
];

fn puzzles(taquin: &Taquin, day: &str) -> Vec<String> {
    let body = |target: &&str| taquin.client().get(&format!("{target}{day}")).expect(200).body;
    TARGETS.iter().map(body).collect()
}

/// The instances differ in their workers, tables and caches.
#[test]
fn the_puzzle_of_a_day_is_equal_on_two_instances_and_after_a_restart() {
    let [one, other] = [["--workers=1", "--tables=small"], ["--workers=2", "--cache-memory=0"]]
        .map(|flags| Taquin::spawn(Command::new(BINARY), 4096, &flags));
    let today = puzzles(&one, "2026-11-29");
    assert_eq!(puzzles(&other, "2026-11-29"), today);
    assert_eq!(puzzles(&one, "2026-11-29"), today, "the second time");
    let tomorrow = puzzles(&other, "2026-11-30");
    assert!(today.iter().zip(&tomorrow).all(|(today, tomorrow)| today != tomorrow), "{tomorrow:?}");
    drop(one);
    let restarted = Taquin::spawn(Command::new(BINARY), 4096, &["--tables=small"]);
    assert_eq!(puzzles(&restarted, "2026-11-29"), today, "after a restart");
}
