//! The default build has no crate of optional features that bring a network's worth of code.

use std::collections::BTreeSet;
use std::process::Command;

/// Crates of the feature `cluster` alone.
const CLUSTER: [&str; 4] = ["async-nats", "object_store", "reqwest", "rustls"];

/// Names of the crates in the default build. On a fresh machine, no others are there to ask for.
fn default_build() -> BTreeSet<String> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["tree", "--locked", "--offline", "--edges", "normal", "--prefix", "none", "--format", "{p}"]);
    let output = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

/// Names of the crates of all features and platforms.
fn all_builds() -> BTreeSet<&'static str> {
    let lock = include_str!("../../Cargo.lock");
    lock.lines().filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"')).collect()
}

#[test]
fn the_default_build_has_no_store_and_no_queue() {
    let (default, all) = (default_build(), all_builds());
    println!("crates: {} by default, {} with all features and on all platforms", default.len(), all.len());
    for name in CLUSTER {
        assert!(!default.contains(name), "the default build has {name}");
        assert!(all.contains(name), "no feature has {name}");
    }
    assert!(!all.contains("aws-lc-rs") && !all.contains("openssl-sys"), "TLS needs a C compiler's work");
}
