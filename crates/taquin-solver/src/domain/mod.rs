//! Boards, moves, puzzles and paths. Standard library only: no clock, no I/O.
//!
//! A board as written by a client ([`RawBoard`]) and a valid [`Board`] are different types, and so are two boards and
//! a [`Puzzle`], whose goal is proven reachable. Layers above never validate a board again.

mod attempt;
mod board;
mod board_codec;
mod board_text;
mod move_notation;
mod moves;
mod notation;
mod packed;
mod path;
mod puzzle;
mod sampling;
mod size;
mod trail;

pub use attempt::{Attempt, AttemptedMove, IllegalMove, Played};
pub use board::{Board, PermutationFault};
pub use board_codec::{BoardCodec, CodecError};
pub use board_text::{ReadBoard, read_board};
pub use move_notation::{MoveNotation, MoveTextFault, parse_moves};
pub use moves::{Move, MoveSet};
pub use notation::{BoardFault, Encoding, InvalidBoard, RawBoard, Sides};
pub(crate) use packed::mix;
pub use packed::{Packed, Packed64, Packed128, PackedBytes};
pub use path::{Metric, Path, ReplayError, Step};
pub use puzzle::{Puzzle, PuzzleError, Reachability};
pub use sampling::{
    RandomSource, SplitMix, random_board, random_permutation, random_unsolvable_board, random_walk,
    random_walk_with_turns,
};
pub use size::{Size, SizeError};
pub use trail::Trail;

/// The number on a tile; 0 is the blank.
pub type Tile = u8;

/// A cell of a board, numbered row by row from 0.
pub type Cell = u8;
