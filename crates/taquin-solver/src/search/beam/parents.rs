//! Parents of the boards of a level.

use super::candidate::Candidate;
use super::guide::ExpandedBoard;
use super::part_size::PartSize;

/// Parents of the boards of a level.
pub(super) enum Parents<P, M> {
    /// The level consists of the start, which has no parent.
    Start(ExpandedBoard<P, M>),
    /// The boards of the level before, by part.
    Before(Vec<Vec<ExpandedBoard<P, M>>>, PartSize),
}

impl<P, M> Parents<P, M> {
    pub(super) fn is_start(&self) -> bool {
        matches!(self, Self::Start(_))
    }

    /// The parent of a candidate, or the start.
    #[inline]
    pub(super) fn of<N>(&self, candidate: &Candidate<N>) -> &ExpandedBoard<P, M> {
        match self {
            Self::Start(start) => start,
            Self::Before(parts, size) => {
                let (part, nth) = size.locate(candidate.step.parent());
                &parts[part][nth]
            }
        }
    }
}
