//! Settings with a closed list of values.

use std::io::{self, IsTerminal};

/// The heuristic tables that are built at the start.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TableTier {
    /// Tables that are built in a fraction of a second.
    Small,
    /// Also pattern databases for the 15-puzzle.
    Standard,
    /// Also larger pattern databases, for the hardest 15-puzzles.
    Large,
}

/// Format of log lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogFormat {
    /// One JSON object a line.
    Json,
    /// Text for people, colored on a terminal.
    Pretty,
}

impl LogFormat {
    /// Text on a terminal, JSON elsewhere.
    pub(crate) fn of_stdout() -> Self {
        if io::stdout().is_terminal() { Self::Pretty } else { Self::Json }
    }
}
