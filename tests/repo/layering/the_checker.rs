//! What the checker sees and what it does not.

use super::*;

fn wrong_paths(file: &str, text: &str) -> Vec<String> {
    let crates = ["tokio", "axum", "serde_json", "taquin", "clap"].map(str::to_owned);
    Source::new(file, text).wrong_paths(&crates).iter().map(|fault| format!("{}: {}", fault.line, fault.what)).collect()
}

#[test]
fn sees_a_floor_above_in_every_spelling() {
    let fault = ["1: `search` names `http`: not below it"];
    for text in [
        "use crate::http::Problem;",
        "pub use crate::{domain::Board, http::{self}};",
        "use super::super::http;",
        "use super::super::{http::Problem as P, domain};",
        "fn f() -> crate::http::Problem { panic!() }",
        "fn f(x: &super::super::http::Problem) {}",
        "macro_rules! m { () => { $crate::http::Problem } }",
    ] {
        assert_eq!(wrong_paths("search/stats.rs", text), fault, "{text}");
    }
    assert_eq!(wrong_paths("search/mod.rs", "use super::http;"), fault);
    assert_eq!(wrong_paths("search/heuristic/zero.rs", "use super::super::super::http;"), fault);
}

#[test]
fn knows_who_may_know_whom() {
    let order = ["domain", "search", "service", "http"];
    for (floor, part) in order.iter().enumerate() {
        for (other, named) in order.iter().enumerate() {
            let faults = wrong_paths(&format!("{part}/x.rs"), &format!("use crate::{named}::X;"));
            assert_eq!(faults.is_empty(), other <= floor, "{part} names {named}: {faults:?}");
        }
        for named in ["app", "config", "telemetry", "healthcheck"] {
            let faults = wrong_paths(&format!("{part}/x.rs"), &format!("use crate::{named};"));
            assert_eq!(faults.len(), 1, "{part} names {named}");
        }
    }
    assert_eq!(wrong_paths("app.rs", "use crate::config::Config; use crate::telemetry;").len(), 0);
    assert_eq!(wrong_paths("app.rs", "use crate::healthcheck;").len(), 1);
    assert_eq!(wrong_paths("config.rs", "use crate::http::HttpSettings;").len(), 1);
    assert_eq!(wrong_paths("main.rs", "use taquin::{app, config::Flags, healthcheck};").len(), 0);
    assert_eq!(wrong_paths("main.rs", "use taquin::search::Space;").len(), 1);
}

#[test]
fn sees_a_crate_that_is_not_the_floors_own() {
    assert_eq!(
        wrong_paths("service/pool/mod.rs", "use tokio::sync::Semaphore;\nlet x = serde_json::to_vec(&y);"),
        ["2: `service` names the crate `serde_json`: not its own"]
    );
    assert_eq!(wrong_paths("domain/board.rs", "use tokio::{sync, time};").len(), 2);
    assert_eq!(wrong_paths("search/stats.rs", "#[derive(serde_json::X)] struct S;").len(), 1);
    assert_eq!(wrong_paths("http/mod.rs", "use axum::Router; use serde_json::Value;").len(), 0);
    assert_eq!(wrong_paths("http/mod.rs", "use ::clap::Parser;").len(), 1);
}

#[test]
fn keeps_the_world_outside_the_lowest_floors() {
    assert_eq!(
        wrong_paths("search/stats.rs", "use std::{fmt, time::Instant};"),
        ["1: `search` names `std::time`: the world outside"]
    );
    assert_eq!(wrong_paths("search/budget.rs", "use std::time::Instant;").len(), 0);
    assert_eq!(wrong_paths("search/budget.rs", "fn f() { std::thread::yield_now() }").len(), 1);
    assert_eq!(wrong_paths("domain/size.rs", "use core::fmt; use std::error::Error;").len(), 0);
    assert_eq!(wrong_paths("http/mod.rs", "use std::time::Duration;").len(), 0);
}

#[test]
fn passes_over_comments_literals_and_tests() {
    let text = r##"
        // use crate::http::Problem;
        /* tokio::spawn /* nested */ crate::app */
        //! [`crate::http`]
        const A: &str = "crate::http::X \" tokio::y";
        const B: &str = r#"crate::http::X " tokio::y"#;
        fn f<'a>(x: &'a str) -> char { let quote = '"'; let other = '\''; '}' }
        #[cfg(test)]
        mod tests {
            use crate::http::Problem;
            fn f() { tokio::spawn(async { unsafe {} todo!() }) }
        }
    "##;
    assert_eq!(wrong_paths("domain/x.rs", text), [""; 0]);
    assert_eq!(Source::new("domain/x.rs", text).forbidden_words().len(), 0);
    assert_eq!(wrong_paths("domain/x.rs", &format!("{text}\nuse crate::http;")).len(), 1, "and no further");
}

#[test]
fn measures_code_alone() {
    let function =
        |lines: usize| format!("fn f(a: [u8; 2]) {{\n{}}}\n", "    // why\n\n    g(\"{\");\n".repeat(lines - 2));
    let faults = |text: &str| Source::new("domain/x.rs", text).above_the_ceilings().len();
    assert_eq!(functions(&Source::new("x.rs", &function(7)).code), [("f".to_owned(), 1, 7)]);
    assert_eq!((faults(&function(40)), faults(&function(41))), (0, 1));
    assert_eq!((faults(&"x();\n".repeat(350)), faults(&"x();\n\n".repeat(351))), (0, 1));
    let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "x();\n".repeat(400));
    assert_eq!(faults(&("x();\n".repeat(350) + &tests)), 0);
    assert_eq!(faults("trait T { fn f(&self) -> [u8; 4]; const N: fn(u8) = g; }"), 0);
}

#[test]
fn sees_what_is_unsafe_printed_or_left_undone() {
    for text in
        ["unsafe fn f() {}", "todo!()", "unimplemented!(\"x\")", "dbg!(1)", "println!()", "eprintln!()", "x.unwrap()"]
    {
        assert_eq!(Source::new("domain/x.rs", text).forbidden_words().len(), 1, "{text}");
    }
    assert_eq!(Source::new("domain/x.rs", "fn todo() { unsafe_code(dbg).unwrap_or(1) }").forbidden_words().len(), 0);
    assert_eq!(Source::new("main.rs", "eprintln!()").forbidden_words().len(), 0);
}
