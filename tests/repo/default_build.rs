//! The default build has no crate of optional features that bring a network's worth of code.

use std::collections::BTreeSet;
use std::process::Command;

/// Crates of the feature `cluster` alone.
const CLUSTER: [&str; 4] = ["async-nats", "object_store", "reqwest", "rustls"];

/// Names and versions of the crates in a build with these arguments.
fn crates(arguments: &[&str]) -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--locked", "--offline", "--edges", "normal", "--prefix", "none", "--format", "{p}"]);
    let output = cargo.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.split(" (").next().unwrap().to_owned()).filter(|line| !line.is_empty()).collect()
}

fn has(crates: &BTreeSet<String>, name: &str) -> bool {
    crates.iter().any(|line| line.split(' ').next() == Some(name))
}

#[test]
fn the_default_build_has_no_store_and_no_queue() {
    let (default, cluster) = (crates(&[]), crates(&["--features", "cluster"]));
    println!("crates: {} by default, {} with the feature `cluster`", default.len(), cluster.len());
    for name in CLUSTER {
        assert!(!has(&default, name), "the default build has {name}");
        assert!(has(&cluster, name), "the feature `cluster` has no {name}");
    }
    assert!(!has(&cluster, "aws-lc-rs") && !has(&cluster, "openssl-sys"), "TLS needs a C compiler's work");
}
