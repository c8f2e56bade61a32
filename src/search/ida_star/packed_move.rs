//! Moves of nodes, packed, and the sums of costs that decide on them.

use super::board_form::MAX_CELLS;
use crate::domain::Move;
use crate::search::heuristic::pattern::symmetry::VIEWS;

/// The moves to generate.
#[derive(Clone, Copy, Default)]
pub(super) struct MoveList {
    /// [`PackedMove`]s without a node.
    pub moves: [u32; 4],
    /// Number of moves.
    pub count: u32,
}

/// A move of a node, packed: the node's index, the slack of all sums, and the blank's cell and move.
#[derive(Clone, Copy)]
pub(super) struct PackedMove(pub u32);

impl PackedMove {
    /// Maximum number of nodes: sixteen lanes with up to 256 moves left. 15-puzzles need at most 80 moves.
    pub(super) const NODES: usize = 1 << Self::SLACK;
    /// Number of pairs of the blank's cell and move.
    pub(super) const BLANK_MOVES: usize = 4 * MAX_CELLS;
    const SLACK: u32 = 12;
    const FIRST: u32 = Self::BLANK_MOVE - 1;
    /// Position of the blank's cell and move.
    pub(super) const BLANK_MOVE: u32 = 17;

    /// The node's index.
    #[inline(always)]
    pub(super) fn node(self) -> usize {
        self.0 as usize % Self::NODES
    }

    /// Index into `view_moves`. Its lowest bit is the view to look up first.
    #[inline(always)]
    pub(super) fn first_view_move(self) -> usize {
        (self.0 >> Self::FIRST) as usize % (VIEWS * Self::BLANK_MOVES)
    }

    /// The view to look up first.
    #[inline(always)]
    pub(super) fn first_view(self) -> usize {
        (self.0 >> Self::FIRST) as usize % VIEWS
    }

    /// By sum of both views, in the order of look-ups, a bit: it may rise. Higher bits are undefined.
    #[inline(always)]
    pub(super) fn slack(self) -> u32 {
        self.0 >> Self::SLACK
    }

    /// The blank's cell and move: four times the cell plus the move.
    #[inline(always)]
    pub(super) fn blank_move(self) -> usize {
        (self.0 >> Self::BLANK_MOVE) as usize % Self::BLANK_MOVES
    }

    /// The blank's move.
    #[inline(always)]
    pub(super) fn mv(self) -> Move {
        // A match compiles to a conversion, without a table look-up.
        match self.blank_move() % 4 {
            0 => Move::Up,
            1 => Move::Left,
            2 => Move::Down,
            _ => Move::Right,
        }
    }
}

/// Sums per view.
pub(super) const SUMS: u32 = 2;
const _: () = assert!(SUMS as usize * VIEWS == size_of::<u32>(), "the sums of a node fill a word");

/// The sums of all views, a byte each, the first view's lowest.
///
/// A view has two sums if some tiles have a second pattern. Otherwise both are equal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sums(pub u32);

impl Sums {
    /// Number of sums.
    pub(super) const COUNT: usize = SUMS as usize * VIEWS;
    /// One in each byte.
    const ONES: u32 = 0x0101_0101;

    /// By sum, a bit: it is below the moves left.
    #[inline(always)]
    pub(super) fn below(self, left: u8) -> u32 {
        const LOW: u32 = Sums::ONES * 0x7f;
        // No sum is above the moves left, so no byte borrows from the next.
        let less = (u32::from(left) * Self::ONES).wrapping_sub(self.0);
        let is_less = (((less & LOW) + LOW) | less) >> 7 & Self::ONES;
        // Moves bit 8 i to bit 21 + i.
        (is_less.wrapping_mul(1 << 21 | 1 << 14 | 1 << 7 | 1) >> 21) % (1 << Self::COUNT)
    }

    /// The largest sum.
    pub(super) fn max(self) -> u8 {
        self.0.to_le_bytes().into_iter().fold(0, u8::max)
    }
}

/// By whether there are alternatives, the falling sums of the first and the second view looked up, and the first view:
/// what a move adds to [`Sums`]. Without alternatives the second sum of a view counts for both. Each byte changes by one,
/// and none overflows.
pub(super) const CHANGES_OF_SUMS: [[u32; 2 << Sums::COUNT]; 2] = [changes_of_sums(false), changes_of_sums(true)];

const fn changes_of_sums(has_alternatives: bool) -> [u32; 2 << Sums::COUNT] {
    let mut changes = [0_u32; 2 << Sums::COUNT];
    let mut index = 0;
    while index < changes.len() {
        let first_view = index >> Sums::COUNT;
        let mut bit = 0;
        while bit < Sums::COUNT {
            let sum = bit ^ (first_view << 1);
            let one = 1_u32 << (8 * sum);
            let falls = index >> (if has_alternatives { bit } else { bit | 1 }) & 1 == 1;
            changes[index] = if falls { changes[index].wrapping_sub(one) } else { changes[index].wrapping_add(one) };
            bit += 1;
        }
        index += 1;
    }
    changes
}

/// By [`Sums::below`]: slack and first view of a [`PackedMove`]. The first view is the one with more sums that must not
/// rise.
pub(super) const SLACKS: [u32; 1 << Sums::COUNT] = {
    let mut slacks = [0; 1 << Sums::COUNT];
    let mut below = 0_u32;
    while below < 1 << Sums::COUNT {
        let (a, b) = (below % (1 << SUMS), below >> SUMS);
        let is_second = b.count_ones() < a.count_ones();
        let slack = if is_second { b | a << SUMS } else { a | b << SUMS };
        slacks[below as usize] = slack << PackedMove::SLACK | (is_second as u32) << PackedMove::FIRST;
        below += 1;
    }
    slacks
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_compared_and_changed_byte_by_byte() {
        for left in [0_u8, 1, 2, 79, 127, 128, 129, 200, 255] {
            let values = [left, left.saturating_sub(1), left.saturating_sub(2), left / 2, 0];
            for nth in 0..values.len().pow(4) {
                let bytes = [1, 5, 25, 125].map(|power| values[nth / power % values.len()]);
                let sums = Sums(u32::from_le_bytes(bytes));
                let slow = (0..4).map(|sum| u32::from(bytes[sum] < left) << sum).sum::<u32>();
                assert_eq!(sums.below(left), slow, "{bytes:?} and {left} left");
                assert_eq!(sums.max(), *bytes.iter().max().unwrap());
            }
        }
        for (index, changes) in CHANGES_OF_SUMS[1].into_iter().enumerate() {
            let changed = (Sums::ONES * 7).wrapping_add(changes).to_le_bytes();
            for (bit, sum) in [[0, 1, 2, 3], [2, 3, 0, 1]][index / 16].into_iter().enumerate() {
                assert_eq!(changed[sum], if index >> bit & 1 == 1 { 6 } else { 8 });
            }
        }
    }

    #[test]
    fn the_view_with_more_sums_that_must_not_rise_is_first() {
        for (below, slack) in (0_u32..).zip(SLACKS) {
            let packed = PackedMove(slack);
            let views = [below % 4, below / 4];
            let first = packed.first_view();
            assert!(views[first].count_ones() <= views[1 - first].count_ones());
            assert_eq!(packed.slack() % 16, views[first] | views[1 - first] << 2);
        }
    }
}
