//! The extension module of the Python package `taquin`. `taquin/__init__.py` exports its functions.
//!
//! - `solve`, `tree`, `moves`, `explain`, `random`: functions of one board
//! - `many`, `table`: functions of arrays of boards
//! - `arrays`: NumPy arrays, read and made by NumPy's own functions
//! - `read`: boards and options, read by the reader of the service
//! - `errors`: errors as exceptions
//! - `interruptible`: work without the GIL that Ctrl+C ends
//! - `objects`: other values as objects of Python
//! - `tables`: the tables of the process

// Tests may do these. `expect` says why it cannot fail.
#![cfg_attr(not(test), warn(clippy::too_many_lines, clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr))]

mod arrays;
mod errors;
mod explain;
mod interruptible;
mod many;
mod moves;
mod objects;
mod random;
mod read;
mod solve;
mod table;
mod tables;
mod tree;

/// Solves sliding-tile puzzles.
#[pyo3::pymodule]
mod _taquin {
    #[pymodule_export]
    use super::explain::explain;
    #[pymodule_export]
    use super::many::{distances, next_moves, solve_many};
    #[pymodule_export]
    use super::moves::{distance, is_solvable, moves, read_board};
    #[pymodule_export]
    use super::random::{random_board, random_boards};
    #[pymodule_export]
    use super::solve::solve;
    #[pymodule_export]
    use super::table::distance_table;
    #[pymodule_export]
    use super::tree::search_tree;
}
