//! What leads a beam.

use crate::domain::Packed;
use crate::search::{Heuristic, Slide, State};

/// What tells the boards of a beam that are worth going on with.
pub(in crate::search) trait Guide<P>: Sync {
    /// What is remembered of a board so that the next one is cheap.
    type Memo: Copy + Send + Sync;

    /// Among how many stages of the way a beam is shared out, so that those who are ahead do not crowd out those who
    /// will overtake them.
    const SHARES: usize;

    /// Of the start.
    fn begin(&self, start: &State<P>) -> Self::Memo;

    /// After a slide of the board `before`; none where the way is closed.
    fn after(&self, memo: Self::Memo, slide: &Slide, before: &State<P>) -> Option<Self::Memo>;

    /// How promising a board is, where for so many levels no board came to a stage that is further.
    fn promise(&self, memo: Self::Memo, waited: usize) -> Promise;
}

/// How promising a board is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::search) struct Promise {
    /// How many stages of the way are ahead.
    pub(in crate::search) stages: u8,
    /// Orders the boards of a stage, the least first; less than 2²⁴.
    pub(in crate::search) key: u32,
    /// As many moves are ahead at least, on the ways that the guide goes; none at the goal.
    pub(in crate::search) least: u32,
}

/// A guide that goes by a heuristic alone.
pub(in crate::search) struct ByHeuristic<'h, H>(pub(in crate::search) &'h H);

impl<P: Packed, H: Heuristic<P>> Guide<P> for ByHeuristic<'_, H> {
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
    fn promise(&self, memo: H::Memo, _waited: usize) -> Promise {
        let h = self.0.h(memo);
        Promise { stages: 0, key: h, least: if H::ADMISSIBLE { h } else { 0 } }
    }
}
