//! The change of one view's costs by a move.
//!
//! A view of [twin partitions](crate::search::heuristic::Partition::are_twins) has two sums of costs, and the larger
//! one counts. A move changes each sum by one, and both have the same parity, so the larger sum changes by one, too. It
//! falls if each of the two sums falls or is the lesser one.

use super::board_form::{BoardForm, KIND_WITH_TWIN, MAX_KINDS};
use super::packed_move::{PackedMove, ViewState};

/// The change of a view by a move, packed: a bit if the cost of the pattern looked up falls, the [`ViewState`] before
/// the move, the [`Dependence`] of the sums, and the kind of the moving tile.
#[derive(Clone, Copy)]
pub(crate) struct CostChange(u32);

/// Dependence of the sums of twin partitions on the pattern looked up, packed: by partition, a bit if the sum falls
/// with the pattern's cost, and a bit if the sum falls in any case.
#[derive(Clone, Copy)]
pub(crate) struct Dependence(u32);

impl Dependence {
    /// Position in a change.
    const AT: u32 = 5;

    /// All sums change with the pattern.
    pub(crate) const ALIKE: Self = Self::new([None; 2]);

    /// Given by partition: whether the sum falls, or `None` if it changes with the pattern.
    pub(crate) const fn new(falls: [Option<bool>; 2]) -> Self {
        let mut bits = 0;
        let mut partition = 0;
        while partition < falls.len() {
            bits |= match falls[partition] {
                None => 0b0001,
                Some(false) => 0,
                Some(true) => 0b0100,
            } << partition;
            partition += 1;
        }
        Self(bits)
    }
}

/// Effects of a [`CostChange`].
#[derive(Clone, Copy)]
struct Outcome {
    /// 1 if the successor is within the threshold, otherwise 0.
    is_within: u8,
    /// Change of the larger sum: 1, or −1 modulo 256.
    larger: u8,
    /// Change of the lead of the first sum over the second, modulo 256.
    lead: u8,
}

/// By the bits of a [`CostChange`] below the kind.
static OUTCOMES: [Outcome; 256] = {
    let mut outcomes = [Outcome { is_within: 0, larger: 0, lead: 0 }; 256];
    let mut index = 0;
    while index < outcomes.len() {
        let bits = index as u32 * CostChange::FALLS;
        let pattern_falls = if bits & CostChange::FALLS == 0 { 0 } else { 0b11 };
        let (state, dependence) = (bits >> ViewState::AT, bits >> Dependence::AT);
        let falls = pattern_falls & dependence | dependence >> 2 & 0b11;
        let larger_falls = falls | state >> 1 & 0b11 == 0b11;
        // The first sum gains two if only the second one falls.
        let lead = match falls {
            0b01 => 2_u8.wrapping_neg(),
            0b10 => 2,
            _ => 0,
        };
        let is_within = (larger_falls || state & 1 == 1) as u8;
        outcomes[index] = Outcome { is_within, larger: if larger_falls { u8::MAX } else { 1 }, lead };
        index += 1;
    }
    outcomes
};

impl CostChange {
    pub(crate) const NONE: Self = Self(0);
    /// The bit of a falling cost of the pattern looked up.
    const FALLS: u32 = 2;
    /// The bit of a second sum that falls in any case.
    const SECOND_FALLS: u32 = 1 << (Dependence::AT + 3);
    /// Position of the kind.
    const KIND: u32 = 9;

    /// The part that depends on the kind alone.
    #[inline(always)]
    pub(crate) fn of_kind(kind: usize) -> Self {
        Self((kind as u32) << Self::KIND)
    }

    /// Sets how the sums of twin partitions depend on the pattern looked up.
    pub(crate) fn with_dependence(self, dependence: Dependence) -> Self {
        Self(self.0 | dependence.0 << Dependence::AT)
    }

    /// The change if the table has a 0, given the cost before the move plus one, and the view's state in its position.
    #[inline(always)]
    pub(crate) fn after(self, up: u8, state: u32) -> Self {
        Self(self.0 | u32::from(up) & Self::FALLS | state)
    }

    /// The change, given the bit of the table.
    #[inline(always)]
    pub(crate) fn with_bit(self, bit: u32) -> Self {
        Self(self.0 ^ (bit * Self::FALLS))
    }

    /// The change, given the change of the second twin's pattern, for which a fall was assumed.
    #[inline(always)]
    pub(crate) fn with_twin(self, twin: Self) -> Self {
        let rises = (twin.0 & Self::FALLS) ^ Self::FALLS;
        Self(self.0 ^ (rises * (Self::SECOND_FALLS / Self::FALLS)))
    }

    /// The kind of the moving tile.
    #[inline(always)]
    pub(crate) fn kind(self) -> usize {
        (self.0 >> Self::KIND) as usize % MAX_KINDS
    }

    /// 1 if the tile is in a pattern of the second twin, too, that has to be looked up, otherwise 0.
    #[inline(always)]
    pub(crate) fn has_twin(self) -> usize {
        (self.0 >> Self::KIND) as usize / KIND_WITH_TWIN % 2
    }

    /// 1 if the successor is within the threshold, otherwise 0.
    #[inline(always)]
    pub(crate) fn is_within<S: BoardForm>(self, packed: PackedMove, nth: usize) -> usize {
        if S::TWINS {
            self.outcome().is_within.into()
        } else {
            ((self.0 / Self::FALLS) | packed.may_rise(nth)) as usize % 2
        }
    }

    /// Change of the cost of the pattern looked up: 1, or −1 modulo 256.
    #[inline(always)]
    pub(crate) fn of_pattern(self) -> u8 {
        1_u8.wrapping_sub(self.0 as u8 & Self::FALLS as u8)
    }

    /// Change of the cost of the second twin's pattern: 1, or −1 modulo 256. Undefined without one.
    #[inline(always)]
    pub(crate) fn of_twin(self) -> u8 {
        1_u8.wrapping_sub((self.0 / (Self::SECOND_FALLS / 2)) as u8 & 2)
    }

    /// Changes of the larger sum and of the first one's lead, modulo 256.
    #[inline(always)]
    pub(crate) fn of_sums<S: BoardForm>(self) -> [u8; 2] {
        if S::TWINS { [self.outcome().larger, self.outcome().lead] } else { [self.of_pattern(), 0] }
    }

    fn outcome(self) -> &'static Outcome {
        &OUTCOMES[(self.0 / Self::FALLS) as usize % OUTCOMES.len()]
    }

    /// This change in the form of [`Child::changes`](super::node::Child::changes).
    #[inline(always)]
    pub(crate) fn packed(self) -> u16 {
        self.0 as u16
    }
}

impl From<u16> for CostChange {
    #[inline(always)]
    fn from(packed: u16) -> Self {
        Self(u32::from(packed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::heuristic::pattern::symmetry::VIEWS;
    use crate::search::ida_star::board_form::Form16;

    type Form = Form16<VIEWS>;

    /// Checks the change of two sums, given which of them falls, as far as it does not follow the pattern.
    fn check(sums: [u8; 2], left: u8, falls: [Option<bool>; 2], pattern_falls: bool) {
        let state = ViewState::new(sums[0].max(sums[1]) < left, sums[0].wrapping_sub(sums[1]) as i8);
        // The first view is looked up first, since the cost may rise in the second.
        let packed = PackedMove(PackedMove::of_node(5, [state, ViewState::new(true, 0)]));
        assert_eq!(packed.first_view(), 0);
        let begun = CostChange::of_kind(9).with_dependence(Dependence::new(falls)).after(7, packed.view_state(0));
        let change = begun.with_bit(u32::from(!pattern_falls));
        let after: [u8; 2] = std::array::from_fn(|partition| {
            if falls[partition].unwrap_or(pattern_falls) { sums[partition] - 1 } else { sums[partition] + 1 }
        });
        let [larger, lead] = change.of_sums::<Form>();
        let largest = after[0].max(after[1]);
        assert_eq!(sums[0].max(sums[1]).wrapping_add(larger), largest, "{sums:?}, then {after:?}");
        assert_eq!(
            sums[0].wrapping_sub(sums[1]).wrapping_add(lead),
            after[0].wrapping_sub(after[1]),
            "{sums:?}, then {after:?}"
        );
        assert_eq!(change.is_within::<Form>(packed, 0), usize::from(largest < left), "{after:?}, {left} moves left");
        assert_eq!(change.of_pattern(), if pattern_falls { u8::MAX } else { 1 });
        assert_eq!((change.kind(), CostChange::from(change.packed()).kind()), (9, 9));
    }

    #[test]
    fn changes_of_sums_are_those_of_both_partitions() {
        let options = [None, Some(false), Some(true)];
        for sums in [[20, 20], [20, 18], [18, 20], [30, 20], [20, 30]] {
            // The moves left are even if the sums are.
            for left in [0, 2].map(|slack| sums[0].max(sums[1]) + slack) {
                for falls in options.into_iter().flat_map(|first| options.map(|second| [first, second])) {
                    check(sums, left, falls, false);
                    check(sums, left, falls, true);
                }
            }
        }
    }

    #[test]
    fn a_look_up_of_the_twin_replaces_the_assumed_fall() {
        let assumed = CostChange::of_kind(9).with_dependence(Dependence::new([None, Some(true)]));
        for (falls, amount) in [(false, 1), (true, u8::MAX)] {
            let twin = CostChange::of_kind(2).after(7, 0).with_bit(u32::from(!falls));
            let change = assumed.with_twin(twin);
            assert_eq!((change.of_twin(), change.of_pattern(), change.kind()), (amount, 1, 9));
            let known = CostChange::of_kind(9).with_dependence(Dependence::new([None, Some(falls)]));
            assert_eq!(change.packed(), known.packed());
        }
    }
}
