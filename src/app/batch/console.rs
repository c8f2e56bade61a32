//! Messages of a batch.

use std::fmt;
use std::io::{self, Write};

/// Writes a message to the standard error.
pub(super) fn say(message: impl fmt::Display) {
    // There is no other place to report that it is closed.
    let _ = writeln!(io::stderr(), "taquin: {message}");
}
