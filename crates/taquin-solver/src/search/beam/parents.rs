//! Parts of a level, and the parents of its boards.

use super::candidate::Candidate;
use super::guide::ExpandedBoard;

/// Parents of the boards of a level.
pub(crate) enum Parents<P, M> {
    /// The level consists of the start, which has no parent.
    Start(ExpandedBoard<P, M>),
    /// The boards of the level before, by part.
    Before(Vec<Vec<ExpandedBoard<P, M>>>, PartSize),
}

impl<P, M> Parents<P, M> {
    pub(crate) fn is_start(&self) -> bool {
        matches!(self, Self::Start(_))
    }

    /// The parent of a candidate, or the start.
    #[inline]
    pub(crate) fn of<N>(&self, candidate: &Candidate<N>) -> &ExpandedBoard<P, M> {
        match self {
            Self::Start(start) => start,
            Self::Before(parts, size) => {
                let (part, nth) = size.locate(candidate.step.parent());
                &parts[part][nth]
            }
        }
    }
}

/// Number of boards that one thread expands at a time; a power of two, small on small levels.
#[derive(Clone, Copy)]
pub(crate) struct PartSize {
    bits: u32,
}

impl PartSize {
    /// Large enough to be worth distributing, and small enough that no thread waits long for the last part.
    const BITS: std::ops::RangeInclusive<u32> = 6..=8;

    /// For a level of at most this many boards.
    pub(crate) fn of(count: usize) -> Self {
        Self { bits: (count / 32).max(1).ilog2().clamp(*Self::BITS.start(), *Self::BITS.end()) }
    }

    pub(crate) fn boards(self) -> usize {
        1 << self.bits
    }

    /// The part of a board, and its index in that part.
    pub(crate) fn locate(self, nth: usize) -> (usize, usize) {
        (nth >> self.bits, nth & (self.boards() - 1))
    }
}
