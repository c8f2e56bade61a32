//! Boards as small as their shape allows, for beams.
//!
//! A level of a beam has many boards that are read once. Those that fit a cache line are read sooner. Other searches are
//! compiled for one form of all large boards.

use crate::domain::{Packed, PackedBytes, Size};

/// A search in any form of boards.
pub(super) trait SmallBoards {
    type Output;

    fn search<P: Packed>(self) -> Self::Output;
}

/// Searches in the smallest form of boards of a shape.
pub(super) fn with_small_boards<S: SmallBoards>(size: Size, search: S) -> S::Output {
    match size.cells() {
        ..=39 => search.search::<PackedBytes<39>>(),
        40..=55 => search.search::<PackedBytes<55>>(),
        _ => search.search::<PackedBytes>(),
    }
}
