//! Messages of a batch.

use std::fmt;
use std::io::{self, Write};

use indicatif::HumanCount;

/// Writes a message to the standard error.
pub(super) fn say(message: impl fmt::Display) {
    // There is no other place to report that it is closed.
    let _ = writeln!(io::stderr(), "taquin: {message}");
}

/// A number of things, such as `1 board` or `2,000 boards`.
pub(super) fn counted(count: u64, thing: &str) -> String {
    let end = if count == 1 { "" } else { "s" };
    format!("{} {thing}{end}", HumanCount(count))
}
