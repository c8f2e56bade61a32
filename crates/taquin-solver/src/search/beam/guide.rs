//! Scores that guide a beam search.

use crate::domain::Packed;
use crate::search::heuristic::{LargeAdditivePatterns, LargeCosts, LargeSums};
use crate::search::{Heuristic, Slide, State};

/// Scores the boards of a beam.
///
/// Most successors are never expanded. So a note is small, and the memo follows from the parent's when a board is
/// expanded.
pub(crate) trait Guide<P>: Sync {
    /// Data kept with an expanded board.
    type Memo: Copy + Send + Sync;

    /// Data kept with a board that is not expanded yet.
    type Note: Copy + Send + Sync;

    /// Number of stages that share the width of a beam. With a single share, boards of the furthest stage
    /// could displace others that are about to overtake them.
    const SHARES: usize;

    /// Ratio of the first level's width to the average width, in a beam that ends in its budget.
    const FIRST_LEVEL: usize;

    /// Number of bits that tell the order of boards with equal keys, by the order of their parents.
    const TIE_BITS: u32;

    /// The memo and the note of the start.
    fn begin(&self, start: &State<P>) -> (Self::Memo, Self::Note);

    /// Adds the notes of successors, given the indices of their parents among `boards`, and the slides to them; `None`
    /// for each slide that is not allowed. There are at most [`MAX_SLIDES`] slides.
    fn add_notes(
        &self,
        boards: &[ExpandedBoard<P, Self::Memo>],
        slides: &[(u32, Slide)],
        notes: &mut Vec<Option<Self::Note>>,
    );

    /// The memo after a slide, given the memo before it and the note after it.
    fn after(&self, memo: &Self::Memo, slide: &Slide, note: Self::Note) -> Self::Memo;

    /// The score of a board, given the number of levels since a new stage was last reached.
    fn score(&self, note: Self::Note, stalled_levels: usize) -> Score;
}

/// Number of boards whose successors are scored together.
pub(crate) const BOARDS: usize = 8;
/// Maximum number of slides on these boards.
pub(crate) const MAX_SLIDES: usize = 4 * BOARDS;

/// A board and the guide's data.
#[derive(Clone, Copy)]
pub(crate) struct ExpandedBoard<P, M> {
    pub(crate) state: State<P>,
    pub(crate) memo: M,
}

/// The score of a board.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Score {
    /// Number of remaining stages.
    pub(crate) stages: u8,
    /// Orders the boards of a stage, least first; less than 2²⁴ with the bits of ties.
    pub(crate) key: u32,
    /// Lower bound on the remaining moves along paths that the guide allows; 0 only at the goal, or if none is known.
    pub(crate) least: u32,
}

/// A guide that uses a heuristic only.
pub(crate) struct HeuristicGuide<'h, H>(pub &'h H);

impl<P: Packed, H: Heuristic<P>> Guide<P> for HeuristicGuide<'_, H> {
    type Memo = H::Memo;
    type Note = H::Memo;

    const SHARES: usize = 1;
    const FIRST_LEVEL: usize = 1;
    const TIE_BITS: u32 = 4;

    fn begin(&self, start: &State<P>) -> (H::Memo, H::Memo) {
        let memo = self.0.evaluate(start);
        (memo, memo)
    }

    #[inline]
    fn add_notes(
        &self,
        boards: &[ExpandedBoard<P, H::Memo>],
        slides: &[(u32, Slide)],
        notes: &mut Vec<Option<H::Memo>>,
    ) {
        notes.extend(slides.iter().map(|(nth, slide)| {
            let ExpandedBoard { state, memo } = &boards[*nth as usize];
            Some(self.0.after(*memo, slide, &state.after(slide)))
        }));
    }

    #[inline]
    fn after(&self, _: &H::Memo, _: &Slide, note: H::Memo) -> H::Memo {
        note
    }

    #[inline]
    fn score(&self, note: H::Memo, _stalled_levels: usize) -> Score {
        let h = self.0.h(note);
        Score { stages: 0, key: h, least: if H::ADMISSIBLE { h } else { 0 } }
    }
}

/// A guide that uses the pattern databases of a large board.
pub(crate) struct PatternGuide<'h, 't, const N: usize>(pub &'h LargeAdditivePatterns<'t, N>);

impl<P: Packed, const N: usize> Guide<P> for PatternGuide<'_, '_, N> {
    type Memo = LargeCosts<N>;
    type Note = LargeSums;

    const SHARES: usize = 1;
    const FIRST_LEVEL: usize = 1;
    const TIE_BITS: u32 = 4;

    fn begin(&self, start: &State<P>) -> (LargeCosts<N>, LargeSums) {
        let costs = Heuristic::<P>::evaluate(self.0, start);
        (costs, costs.sums())
    }

    #[inline]
    fn add_notes(
        &self,
        boards: &[ExpandedBoard<P, LargeCosts<N>>],
        slides: &[(u32, Slide)],
        notes: &mut Vec<Option<LargeSums>>,
    ) {
        let slides = slides.iter().map(|(nth, slide)| (&boards[*nth as usize].memo, slide));
        self.0.sums_after::<MAX_SLIDES>(slides, |sums| notes.push(Some(sums)));
    }

    #[inline]
    fn after(&self, memo: &LargeCosts<N>, slide: &Slide, sums: LargeSums) -> LargeCosts<N> {
        self.0.after_sums(memo, slide, sums)
    }

    #[inline]
    fn score(&self, sums: LargeSums, _stalled_levels: usize) -> Score {
        let h = sums.greatest();
        Score { stages: 0, key: h, least: h }
    }
}
