//! Scores that guide a beam search.

use crate::domain::Packed;
use crate::search::{Heuristic, Slide, State};

/// Scores the boards of a beam.
pub(crate) trait Guide<P>: Sync {
    /// Data kept with a board, from which that of a successor follows cheaply.
    type Memo: Copy + Send + Sync;

    /// Number of stages that share the width of a beam. With a single share, boards of the furthest stage
    /// could displace others that are about to overtake them.
    const SHARES: usize;

    /// The memo of the start.
    fn begin(&self, start: &State<P>) -> Self::Memo;

    /// The memo after a slide on the board `before`; `None` if the slide is not allowed.
    fn after(&self, memo: Self::Memo, slide: &Slide, before: &State<P>) -> Option<Self::Memo>;

    /// The score of a board, given the number of levels since a new stage was last reached.
    fn score(&self, memo: Self::Memo, stalled_levels: usize) -> Score;
}

/// The score of a board.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Score {
    /// Number of remaining stages.
    pub(crate) stages: u8,
    /// Orders the boards of a stage, least first; less than 2²⁴.
    pub(crate) key: u32,
    /// Lower bound on the remaining moves along paths that the guide allows; 0 only at the goal, or if none is known.
    pub(crate) least: u32,
}

/// A guide that uses a heuristic only.
pub(crate) struct HeuristicGuide<'h, H>(pub &'h H);

impl<P: Packed, H: Heuristic<P>> Guide<P> for HeuristicGuide<'_, H> {
    type Memo = H::Memo;

    const SHARES: usize = 1;

    fn begin(&self, start: &State<P>) -> H::Memo {
        self.0.evaluate(start)
    }

    #[inline]
    fn after(&self, memo: H::Memo, slide: &Slide, before: &State<P>) -> Option<H::Memo> {
        Some(self.0.after(memo, slide, &before.after(slide)))
    }

    #[inline]
    fn score(&self, memo: H::Memo, _stalled_levels: usize) -> Score {
        let h = self.0.h(memo);
        Score { stages: 0, key: h, least: if H::ADMISSIBLE { h } else { 0 } }
    }
}
