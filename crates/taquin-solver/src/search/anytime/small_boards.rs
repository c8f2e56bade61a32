//! Boards as small as their shape allows, for beams.
//!
//! A level of a beam has many boards that are read once, and small ones are read sooner. With the blank and the
//! position in the stages, they take 48, 64 or 112 bytes: at most a cache line, but on the largest boards. Other
//! searches are compiled for one form of all boards of more than 25 cells.

use crate::domain::{Packed, PackedBytes, Size};

/// A search in boards of bytes.
pub(super) trait SmallBoards {
    type Output;

    fn search<P: Packed>(self) -> Self::Output;
}

/// Searches in boards with as few bytes as a shape needs, of three numbers.
pub(super) fn with_small_boards<S: SmallBoards>(size: Size, search: S) -> S::Output {
    match size.cells() {
        ..=39 => search.search::<PackedBytes<39>>(),
        40..=55 => search.search::<PackedBytes<55>>(),
        _ => search.search::<PackedBytes>(),
    }
}
