//! Moves of the parallel search, packed.

use crate::domain::{Cell, Move};
use crate::search::heuristic::pattern::symmetry::VIEWS;

/// Upper bound on the number of cells.
pub(super) const MAX_CELLS: usize = 32;

/// The moves to generate.
#[derive(Clone, Copy, Default)]
pub(super) struct MoveList {
    /// [`PackedMove`]s without a node.
    pub moves: [u32; 4],
    /// Number of moves.
    pub count: u32,
}

/// A move of a node, packed: the node's index, the slack of both views, the blank's cell and move, and
/// the offset of the tile's kind.
#[derive(Clone, Copy)]
pub(super) struct PackedMove(pub u32);

impl PackedMove {
    /// Maximum number of nodes: sixteen lanes with up to 256 moves left. 15-puzzles need at most 80 moves.
    pub(super) const NODES: usize = 1 << Self::SLACK;
    /// Number of pairs of the blank's cell and move.
    pub(super) const BLANK_MOVES: usize = 4 * MAX_CELLS;
    const SLACK: u32 = 12;
    const FIRST: u32 = Self::BLANK_MOVE - 1;
    const BLANK_MOVE: u32 = 16;
    const SHIFT: u32 = 23;

    /// The bits of a node's moves that do not depend on the move, given the node's index and, by view, 1 if the cost may
    /// rise, otherwise 0.
    #[inline(always)]
    pub(super) fn of_node(node: usize, [a, b]: [u32; VIEWS]) -> u32 {
        node as u32 | (b ^ 1) << Self::FIRST | (a & b) << Self::SLACK | (a | b) << (Self::SLACK + 1)
    }

    /// The bits of a move that do not depend on the node, given the index of the blank's cell and move, and the tile's cell.
    pub(super) fn of_blank_move(blank_move: usize, from: Cell) -> u32 {
        (blank_move as u32) << Self::BLANK_MOVE | (4 * u32::from(from)) << Self::SHIFT
    }

    /// The node's index.
    #[inline(always)]
    pub(super) fn node(self) -> usize {
        self.0 as usize % Self::NODES
    }

    /// The view to look up first: one in which the cost must not rise, if there is one.
    #[inline(always)]
    pub(super) fn first_view(self) -> usize {
        (self.0 >> Self::FIRST) as usize % VIEWS
    }

    /// Four times the tile's cell.
    #[inline(always)]
    pub(super) fn shift(self) -> u32 {
        self.0 >> Self::SHIFT
    }

    #[inline(always)]
    pub(super) fn blank_move(self) -> usize {
        (self.0 >> Self::BLANK_MOVE) as usize % Self::BLANK_MOVES
    }

    /// 1 if the cost may rise in the `nth` view to be looked up, otherwise 0.
    #[inline(always)]
    pub(super) fn may_rise(self, nth: u32) -> u32 {
        self.0 >> (Self::SLACK + nth) & 1
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
