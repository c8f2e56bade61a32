//! Tests of the rules: each is violated once.

use super::*;

/// Line and description of each path in a file that its layer must not name.
fn wrong(file: &str, text: &str) -> Vec<String> {
    let crates = ["tokio", "axum", "serde_json", "taquin", "clap"].map(str::to_owned);
    let violations = wrong_paths(&Source::new(file, text), &crates);
    violations.iter().map(|violation| format!("{}: {}", violation.line, violation.what)).collect()
}

#[test]
fn a_layer_above_is_found_in_every_spelling() {
    let violation = ["1: `search` names `http`, which is not below it"];
    for text in [
        "use crate::http::Problem;",
        "pub use crate::{domain::Board, http::{self}};",
        "use super::super::http;",
        "use super::super::{http::Problem as P, domain};",
        "fn f() -> crate::http::Problem { panic!() }",
        "fn f() { use crate::http::Problem; }",
        "fn f(x: &super::super::http::Problem) {}",
        "fn f() { vec![<crate::http::Problem>::new()]; }",
        "macro_rules! m { () => { $crate::http::Problem } }",
        "#[derive(crate::http::Problem)] struct S;",
    ] {
        assert_eq!(wrong("search/stats.rs", text), violation, "{text}");
    }
    assert_eq!(wrong("search/mod.rs", "use super::http;"), violation);
    assert_eq!(wrong("search/heuristic/zero.rs", "use super::super::super::http;"), violation);
    assert_eq!(wrong("search/stats.rs", "mod inner { use super::super::super::http; }"), violation);
}

#[test]
fn a_layer_may_name_itself_and_layers_below() {
    for order in [&["domain", "search", "tables", "solver"][..], &["service", "jobs", "http"]] {
        for (layer, part) in order.iter().enumerate() {
            for (other, named) in order.iter().enumerate() {
                let violations = wrong(&format!("{part}/x.rs"), &format!("use crate::{named}::X;"));
                assert_eq!(violations.is_empty(), other <= layer, "{part} names {named}: {violations:?}");
            }
            for named in ["app", "config", "telemetry", "healthcheck"] {
                let violations = wrong(&format!("{part}/x.rs"), &format!("use crate::{named};"));
                assert_eq!(violations.len(), 1, "{part} names {named}");
            }
        }
    }
    assert_eq!(wrong("app.rs", "use crate::config::Config; use crate::telemetry;").len(), 0);
    assert_eq!(wrong("app.rs", "use crate::healthcheck;").len(), 1);
    assert_eq!(wrong("config.rs", "use crate::http::HttpSettings;").len(), 0);
    assert_eq!(wrong("config.rs", "use crate::app::App;").len(), 1);
    assert_eq!(wrong("main.rs", "use taquin::{app, config::Flags, healthcheck};").len(), 0);
    assert_eq!(wrong("main.rs", "use taquin::http::Problem;").len(), 1);
}

#[test]
fn a_crate_of_another_layer_is_found() {
    assert_eq!(
        wrong("service/pool.rs", "use tokio::sync::Semaphore;\nfn f() { let x = serde_json::to_vec(&y); }"),
        ["2: `service` names the crate `serde_json`, which is not listed for it"]
    );
    assert_eq!(wrong("domain/board.rs", "use tokio::{sync,\ntime};").len(), 2);
    assert_eq!(wrong("search/stats.rs", "#[derive(serde_json::X)] struct S;").len(), 1);
    assert_eq!(wrong("search/stats.rs", "#[tokio::main] fn f(tokio: u8) { g(tokio) }").len(), 1);
    assert_eq!(wrong("http/mod.rs", "use axum::Router; use serde_json::Value;").len(), 0);
    assert_eq!(wrong("http/mod.rs", "use ::clap::Parser;").len(), 1);
}

#[test]
fn the_lowest_layers_have_no_clock_and_no_input_or_output() {
    assert_eq!(
        wrong("search/stats.rs", "use std::{fmt, time::Instant};"),
        ["1: `search` names `std::time`, which this layer must not use"]
    );
    assert_eq!(wrong("search/budget.rs", "use std::time::Instant;").len(), 0);
    assert_eq!(wrong("search/budget.rs", "use crate::clock::Instant;").len(), 0);
    assert_eq!(wrong("search/stats.rs", "use crate::clock::Instant;").len(), 1);
    assert_eq!(wrong("search/budget.rs", "fn f() { std::thread::yield_now() }").len(), 1);
    assert_eq!(wrong("domain/size.rs", "use core::fmt; use std::error::Error;").len(), 0);
    assert_eq!(wrong("http/mod.rs", "use std::time::Duration;").len(), 0);
}

#[test]
fn comments_literals_and_tests_are_ignored() {
    let text = r##"
        //! [`crate::http`]
        // use crate::http::Problem;
        /* tokio::spawn /* nested */ crate::app */
        /// [`crate::http`]
        const A: &str = "crate::http::X \" tokio::y";
        const B: &str = r#"crate::http::X " tokio::y"#;
        fn f<'a>(x: &'a str) -> char { let quote = '"'; let other = '\''; '}' }
        /// [`crate::http`],
        /// for tests.
        #[cfg(test)]
        use crate::http::{A, B};
        struct S;
        impl S {
            #[cfg(test)]
            #[allow(unsafe_code, reason = "a test")]
            fn g() -> [u8; 2] { crate::http::g() }
        }
        #[cfg(test)]
        mod tests {
            use crate::http::Problem;
            fn f() { tokio::spawn(async { unsafe {} x!() }) }
        }
    "##;
    assert_eq!(wrong("domain/x.rs", text), [""; 0]);
    let source = Source::new("domain/x.rs", text);
    assert_eq!((source.lines, unsafe_code(&source).len()), (6, 0));
    assert_eq!(
        wrong("domain/x.rs", &format!("{text}\nuse crate::http;")).len(),
        1,
        "only the item after the attribute is ignored"
    );
}

#[test]
fn only_lines_with_code_count() {
    let source = |text: &str| Source::new("domain/x.rs", text);
    assert_eq!(source("/// Why.\nfn f(a: [u8; 2]) {\n    // why\n\n    g(\"{\");\n}\n").lines, 3);
    let is_too_long = |text: &str| above_the_ceiling(&source(text)).is_some();
    assert!(!is_too_long(&"x!();\n".repeat(MAX_LINES)) && is_too_long(&"x!();\n\n".repeat(MAX_LINES + 1)));
    let tests = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", "x!();\n".repeat(400));
    assert!(!is_too_long(&("x!();\n".repeat(MAX_LINES) + &tests)));
}

#[test]
fn unsafe_code_is_found() {
    let found = |text: &str| unsafe_code(&Source::new("domain/x.rs", text)).len();
    assert_eq!(found("unsafe fn f() {}"), 1);
    assert_eq!(found("#[allow(unsafe_code, reason = \"\")] fn f() {}"), 1);
    assert_eq!(found("fn f() { select!({ unsafe { x() } }) }"), 1);
    assert_eq!(found("fn f() { g(\"unsafe\") } // unsafe"), 0);
}

fn sources(files: &[(&str, &str)]) -> Vec<Source> {
    files.iter().map(|(file, text)| Source::new(file, text)).collect()
}

/// Pairs of a file and a file that it depends on.
fn pairs(sources: &[Source]) -> Vec<(&str, &str)> {
    let dependencies = Dependencies::new(sources);
    let pairs = dependencies.from.iter().zip(sources).flat_map(|(named, source)| {
        named.keys().map(|to| (source.file.as_str(), sources[*to].file.as_str())).collect::<Vec<_>>()
    });
    pairs.collect()
}

/// The files that `a/user.rs` depends on in a small crate, given its text.
fn dependencies_of_user(text: &str) -> Vec<String> {
    let files = [
        ("lib.rs", "pub mod a; pub mod b;"),
        ("a/mod.rs", "mod user; mod other; pub mod inner; pub use inner::{Deep, deep as renamed}; pub struct Own;"),
        ("a/other.rs", "pub struct Other; pub fn other() {}"),
        ("a/inner/mod.rs", "mod deep; pub use deep::*; pub use super::other::Other as Again;"),
        ("a/inner/deep.rs", "pub enum Deep { One } pub fn deep() {} macro_rules! mac { () => {} } pub(crate) use mac;"),
        ("b.rs", "pub use crate::a::{Deep, inner}; mod nested { pub struct Nested; } pub use nested::Nested;"),
        ("a/user.rs", text),
    ];
    let sources = sources(&files);
    pairs(&sources).into_iter().filter(|(from, _)| *from == "a/user.rs").map(|(_, to)| to.to_owned()).collect()
}

#[test]
fn paths_are_resolved_to_the_file_that_defines_the_item() {
    for (text, file) in [
        ("use super::other::Other;", "a/other.rs"),
        ("use super::{other::{self}}; fn f() { other::other() }", "a/other.rs"),
        ("fn f() { crate::a::other::other() }", "a/other.rs"),
        ("fn f() { super::other::other() }", "a/other.rs"),
        ("use super::Own;", "a/mod.rs"),
        ("use crate::a::Deep;", "a/inner/deep.rs"),
        ("use super::renamed as again;", "a/inner/deep.rs"),
        ("use crate::b::Deep::One;", "a/inner/deep.rs"),
        ("fn f() -> crate::b::Deep { panic!() }", "a/inner/deep.rs"),
        ("use crate::b; fn f() { b::inner::deep() }", "a/inner/deep.rs"),
        ("fn f() { vec![super::Deep::One]; }", "a/inner/deep.rs"),
        ("use super::inner; fn f() { inner::mac!() }", "a/inner/deep.rs"),
        ("use super::inner::Again;", "a/other.rs"),
        ("use crate::b::Nested;", "b.rs"),
        ("mod within { use super::super::Own; }", "a/mod.rs"),
        ("mod within { fn f(x: super::Own) {} } use super::Own;", "a/mod.rs"),
    ] {
        assert_eq!(dependencies_of_user(text), [file], "{text}");
    }
}

#[test]
fn reexports_locals_and_other_crates_are_not_dependencies() {
    for text in [
        "pub use super::Deep;",
        "pub(super) use super::other::Other;",
        "use super::inner;",
        "use std::fmt; fn f(other: u8) { g(other); fmt::Display }",
        "pub struct Deep; fn f() -> Deep { Deep }",
        "#[cfg(test)] mod tests { use super::super::Own; }",
    ] {
        assert_eq!(dependencies_of_user(text), [""; 0], "{text}");
    }
}

#[test]
fn cycles_are_found_through_reexports() {
    let cycle = [
        ("lib.rs", "mod a;"),
        ("a/mod.rs", "mod one; mod two; mod three; pub use one::One; pub use two::Two; pub use three::Three;"),
        ("a/one.rs", "use super::Two; pub struct One;"),
        ("a/two.rs", "pub struct Two; fn f() { crate::a::Three }"),
        ("a/three.rs", "pub struct Three; impl Three { fn f(one: &super::one::One) {} }"),
        ("a/four.rs", "use super::One;"),
    ];
    let found = |files: &[(&str, &str)]| Dependencies::new(&sources(files)).cycles();
    let violations = found(&cycle);
    assert_eq!(violations.len(), 1, "{violations:?}");
    assert!(
        violations[0].what.starts_with("3 files in a cycle:\n    a/one.rs:1 → a/two.rs\n"),
        "{}",
        violations[0].what
    );
    assert_eq!(found(&cycle[..4]), [], "a chain is not a cycle");
    let with_mod = [
        ("lib.rs", "mod a;"),
        ("a/mod.rs", "mod one; pub struct A(one::One);"),
        ("a/one.rs", "use super::A; pub struct One;"),
    ];
    assert_eq!(found(&with_mod).len(), 1, "a `mod.rs` counts as a file");
}

#[test]
fn folders_that_depend_upward_are_found() {
    let files = [
        ("lib.rs", "mod http;"),
        ("http/mod.rs", "mod router; mod reply; pub use router::run;"),
        ("http/router.rs", "use super::reply::Reply; pub fn run() {}"),
        ("http/reply/mod.rs", "mod writer; pub use writer::Reply;"),
        ("http/reply/writer.rs", "pub struct Reply; fn f() { crate::http::run() }"),
    ];
    let sources = sources(&files);
    let dependencies = Dependencies::new(&sources);
    let violations = |order: &[&str]| -> Vec<String> {
        dependencies.upward("http", order).iter().map(Violation::to_string).collect()
    };
    assert_eq!(
        violations(&["mod", "router", "reply"]),
        ["http/reply/writer.rs:1: `http/reply` names http/router.rs, which is not below it"]
    );
    assert_eq!(
        violations(&["mod", "reply", "router"]),
        ["http/router.rs:1: `http/router` names http/reply/writer.rs, which is not below it"]
    );
    assert!(violations(&["router", "reply"])[0].contains("`mod` is not in the order of `http`"));
    assert_eq!(dependencies.missing("http", &["mod", "router", "reply", "gone"]), ["gone"]);
    assert_eq!(dependencies.count("http"), (3, 2));
}
