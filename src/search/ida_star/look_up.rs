//! Look-ups of the parallel search, and what they tell about a successor.

use super::board_form::{BoardForm, KINDS, kinds};
use super::packed_move::{PackedMove, SUMS, Sums};
use crate::search::heuristic::pattern::symmetry::VIEWS;

/// A look-up in one view whose table word is being prefetched.
#[derive(Clone, Copy)]
pub(super) struct Probe<'t, S: BoardForm> {
    pub word: &'t u64,
    /// The placement after the move.
    pub placement: S::Placement,
    /// The change, if the bit is 0.
    pub change: CostChange,
}

/// What a move changes in one view: in the second bit, whether the cost of the pattern looked up falls; then two bits of
/// the tile that is alone ([`NEARER`](Self::NEARER)), and the kind of the moving tile.
#[derive(Clone, Copy)]
pub(super) struct CostChange(pub u32);

impl CostChange {
    /// The bit of a falling cost.
    pub(super) const FALLS: u32 = 2;
    /// Position of two bits, by partition: the tile that is alone in it comes nearer to its goal cell.
    pub(super) const NEARER: u32 = 2;
    /// Position of the kind.
    pub(super) const KIND: u32 = 4;
    /// Number of values of [`index`](Self::index).
    const COUNT: usize = 128;

    /// All that determines which sums change.
    #[inline(always)]
    fn index(self) -> usize {
        (self.0 >> 1) as usize % Self::COUNT
    }

    /// The kind of the moving tile.
    #[inline(always)]
    pub(super) fn kind(self) -> usize {
        (self.0 >> Self::KIND) as usize % KINDS
    }

    /// 1 if the second sum depends on an alternative pattern, otherwise 0.
    #[inline(always)]
    pub(super) fn is_pending(self) -> usize {
        (self.0 >> Self::KIND) as usize / kinds::ALTERNATIVE % 2
    }

    /// The pattern's cost changes by 1, or by −1 modulo 256.
    #[inline(always)]
    pub(super) fn amount(self) -> u8 {
        1_u8.wrapping_sub(self.0 as u8 & Self::FALLS as u8)
    }

    /// By sum of the view, a bit: it falls, as far as is known without alternatives.
    fn falling<S: BoardForm>(self, has_alternatives: bool) -> u8 {
        const FIRST: u32 = 1;
        const SECOND: u32 = 2;
        let falls = if self.0 & Self::FALLS == 0 { 0 } else { FIRST | SECOND };
        let nearer = self.0 >> Self::NEARER & (FIRST | SECOND);
        let falling = match self.kind() % S::PATTERNS + (self.kind() & kinds::ALTERNATIVE) {
            _ if !has_alternatives => falls,
            kinds::BOTH => falls & FIRST,
            kinds::ALONE_IN_FIRST => nearer & FIRST | falls & SECOND,
            kinds::ALONE_IN_SECOND => falls & FIRST | nearer & SECOND,
            _ => falls,
        };
        falling as u8
    }
}

/// A successor that is within the threshold in the first view looked up.
#[derive(Clone, Copy)]
pub(super) struct Kept<S: BoardForm> {
    pub packed: PackedMove,
    placement: S::Placement,
    change: CostChange,
}

/// What is known of a successor from alternative patterns.
#[derive(Clone, Copy)]
pub(super) struct Alternatives<S: BoardForm> {
    placements: [S::Placement; VIEWS],
    /// By sum of both views, in the order of look-ups, a bit: it falls.
    falling: u8,
}

/// A successor within the threshold, not entered yet.
#[derive(Clone, Copy)]
pub(super) struct Child<S: BoardForm> {
    pub placements: [S::Placement; VIEWS],
    /// Placements in alternative patterns.
    pub alternatives: [S::Placement; VIEWS],
    pub packed: PackedMove,
    /// [`CostChange`]s.
    pub changes: [u8; VIEWS],
    /// By sum of both views, in the order of look-ups, a bit: it falls.
    pub falling: u8,
}

impl<S: BoardForm> Kept<S> {
    pub(super) const NONE: Self = Self { packed: PackedMove(0), placement: S::NO_PLACEMENT, change: CostChange(0) };

    /// 1 if a look-up of an alternative pattern is to follow, otherwise 0.
    #[inline(always)]
    pub(super) fn is_pending(&self) -> usize {
        self.change.is_pending()
    }
}

impl<S: BoardForm> Alternatives<S> {
    pub(super) const NONE: Self = Self { placements: [S::NO_PLACEMENT; VIEWS], falling: 0 };
}

impl<S: BoardForm> Child<S> {
    pub(super) const NONE: Self = Self {
        placements: [S::NO_PLACEMENT; VIEWS],
        alternatives: [S::NO_PLACEMENT; VIEWS],
        packed: PackedMove(0),
        changes: [0; VIEWS],
        falling: 0,
    };
}

impl<S: BoardForm> Probe<'_, S> {
    pub(super) const NONE: Self = Self { word: &0, placement: S::NO_PLACEMENT, change: CostChange(0) };

    /// Reads the cost of the alternative pattern.
    #[inline(always)]
    pub(super) fn settle_alternative(&self, alternatives: &mut Alternatives<S>, nth: usize) {
        alternatives.placements[nth] = self.placement;
        alternatives.falling |=
            ((self.change.0 ^ self.bit() << 1) as u8 & CostChange::FALLS as u8) << (SUMS as usize * nth);
    }

    /// What the move changes, after the cost is read.
    #[inline(always)]
    fn change(&self) -> CostChange {
        CostChange(self.change.0 ^ self.bit() << 1)
    }

    #[inline(always)]
    fn bit(&self) -> u32 {
        (*self.word >> S::bit(self.placement)) as u32 & 1
    }

    /// 1 if a look-up of an alternative pattern is to follow, otherwise 0.
    #[inline(always)]
    pub(super) fn is_pending(&self) -> usize {
        self.change.is_pending()
    }
}

/// What look-ups mean for the sums.
#[derive(Debug)]
pub(super) struct Rules {
    /// By [`CostChange::index`], a bit for each sum of the view: it falls, as far as is known without alternatives.
    falling: [u8; CostChange::COUNT],
    /// By the view's slack and [`CostChange::index`]: 1 if the successor is within the threshold, as far as is known
    /// without alternatives.
    within: [[u8; CostChange::COUNT]; 1 << SUMS],
}

impl Rules {
    /// The rules of views with one partition, or with two that share their first pattern.
    pub(super) fn new<S: BoardForm>(has_alternatives: bool) -> Self {
        let mut rules = Self { falling: [0; CostChange::COUNT], within: [[0; CostChange::COUNT]; 1 << SUMS] };
        for index in 0..CostChange::COUNT {
            let change = CostChange(2 * index as u32);
            let falling = change.falling::<S>(has_alternatives);
            let pending = if has_alternatives { change.is_pending() << 1 } else { 0 };
            rules.falling[index] = falling;
            for (slack, within) in rules.within.iter_mut().enumerate() {
                within[index] = u8::from(usize::from(falling) | pending | slack == (1 << SUMS) - 1);
            }
        }
        rules
    }

    /// Reads the cost in the first view. The second result is 1 if the successor is within the threshold as far as is
    /// known, otherwise 0.
    #[inline(always)]
    pub(super) fn settle<S: BoardForm, const ALTERNATIVES: bool>(
        &self,
        probe: &Probe<'_, S>,
        packed: PackedMove,
    ) -> (Kept<S>, usize) {
        let change = probe.change();
        let is_within = if ALTERNATIVES {
            usize::from(self.within[packed.slack() as usize % (1 << SUMS)][change.index()])
        } else {
            ((change.0 >> 1 | packed.slack()) & 1) as usize
        };
        (Kept { packed, placement: probe.placement, change }, is_within)
    }

    /// Reads the cost in the second view, and writes the successor. Returns 1 if it is within the threshold, otherwise 0.
    #[inline(always)]
    pub(super) fn finish<S: BoardForm, const ALTERNATIVES: bool>(
        &self,
        first: &Kept<S>,
        second: &Probe<'_, S>,
        alternatives: &Alternatives<S>,
        child: &mut Child<S>,
    ) -> usize {
        let changes = [first.change, second.change()];
        child.placements = [first.placement, second.placement];
        child.packed = first.packed;
        child.changes = changes.map(|change| change.0 as u8);
        if ALTERNATIVES {
            let [first_sums, second_sums] = changes.map(|change| self.falling[change.index()]);
            child.falling = first_sums | second_sums << SUMS | alternatives.falling;
            child.alternatives = alternatives.placements;
            let within = u32::from(child.falling) | first.packed.slack();
            usize::from(within % (1 << Sums::COUNT) == (1 << Sums::COUNT) - 1)
        } else {
            ((changes[1].0 >> 1 | first.packed.slack() >> SUMS) & 1) as usize
        }
    }
}
