//! Moves of the parallel search, packed.

use crate::domain::{Cell, Move};
use crate::search::heuristic::pattern::symmetry::VIEWS;

/// Upper bound on the number of cells.
pub(crate) const MAX_CELLS: usize = 32;

/// The moves to generate.
#[derive(Clone, Copy, Default)]
pub(crate) struct MoveList {
    /// [`PackedMove`]s without a node.
    pub moves: [u32; 4],
    /// Number of moves.
    pub count: u32,
}

/// A move of a node, packed: the node's index, the states of both views, the view to look up first, the blank's cell
/// and move, and the tile's cell.
#[derive(Clone, Copy)]
pub(crate) struct PackedMove(pub u32);

/// The part of a view's state that all moves of a node share, packed: a bit if the cost may rise, and by twin partition
/// a bit if its sum is the lesser one.
#[derive(Clone, Copy)]
pub(crate) struct ViewState(u32);

impl PackedMove {
    /// Maximum number of nodes: sixteen traversals with up to 256 moves left. 15-puzzles need at most 80 moves.
    pub(crate) const NODES: usize = 1 << Self::STATES;
    /// Number of pairs of the blank's cell and move.
    pub(crate) const BLANK_MOVES: usize = 4 * MAX_CELLS;
    const STATES: u32 = 12;
    /// Bits of a view's state.
    const STATE: u32 = 3;
    const FIRST: u32 = Self::STATES + VIEWS as u32 * Self::STATE;
    const BLANK_MOVE: u32 = Self::FIRST + 1;
    const FROM: u32 = Self::BLANK_MOVE + Self::BLANK_MOVES.ilog2();

    /// The bits of a node's moves that do not depend on the move, given the node's index and the [`ViewState`]s.
    #[inline(always)]
    pub(crate) fn of_node(node: usize, [a, b]: [ViewState; VIEWS]) -> u32 {
        node as u32 | OF_VIEWS[a.0 as usize % ViewState::COUNT][b.0 as usize % ViewState::COUNT]
    }

    /// The bits of a move that do not depend on the node, given the index of the blank's cell and move, and the tile's
    /// cell.
    pub(crate) fn of_blank_move(blank_move: usize, from: Cell) -> u32 {
        (blank_move as u32) << Self::BLANK_MOVE | u32::from(from) << Self::FROM
    }

    /// The node's index.
    #[inline(always)]
    pub(crate) fn node(self) -> usize {
        self.0 as usize % Self::NODES
    }

    /// The view to look up first.
    #[inline(always)]
    pub(crate) fn first_view(self) -> usize {
        (self.0 >> Self::FIRST) as usize % VIEWS
    }

    /// Four times the tile's cell.
    #[inline(always)]
    pub(crate) fn shift(self) -> u32 {
        self.0 >> (Self::FROM - 2) & !3
    }

    /// The blank's cell and move: four times the cell plus the move.
    #[inline(always)]
    pub(crate) fn blank_move(self) -> usize {
        (self.0 >> Self::BLANK_MOVE) as usize % Self::BLANK_MOVES
    }

    /// 1 if the cost may rise in the `nth` view to be looked up, otherwise 0. Higher bits are undefined.
    #[inline(always)]
    pub(crate) fn may_rise(self, nth: usize) -> u32 {
        self.0 >> (Self::STATES + Self::STATE * nth as u32)
    }

    /// The state of the `nth` view to be looked up, as [`CostChange::after`](super::cost_change::CostChange::after)
    /// needs it.
    #[inline(always)]
    pub(crate) fn view_state(self, nth: usize) -> u32 {
        let at = Self::STATES + Self::STATE * nth as u32 - ViewState::AT;
        self.0 >> at & (ViewState::COUNT as u32 - 1) << ViewState::AT
    }

    /// The blank's move.
    #[inline(always)]
    pub(crate) fn mv(self) -> Move {
        // A match compiles to a conversion, without a table look-up.
        match self.blank_move() % 4 {
            0 => Move::Up,
            1 => Move::Left,
            2 => Move::Down,
            _ => Move::Right,
        }
    }
}

impl ViewState {
    /// Number of values.
    pub(crate) const COUNT: usize = 8;
    /// Position in a [`CostChange`](super::cost_change::CostChange).
    pub(crate) const AT: u32 = 2;

    /// Given whether the cost may rise, and the lead of the first sum over the second.
    #[inline(always)]
    pub(crate) fn new(may_rise: bool, lead: i8) -> Self {
        Self(u32::from(may_rise) | u32::from(lead < 0) << 1 | u32::from(lead > 0) << 2)
    }
}

/// The bits of a node's moves that depend on the states of both views.
///
/// The first view is one whose cost must not rise, if there is one; of two such views, one with equal sums, which
/// rejects the most moves.
static OF_VIEWS: [[u32; ViewState::COUNT]; ViewState::COUNT] = {
    let mut of_views = [[0; ViewState::COUNT]; ViewState::COUNT];
    let mut nth = 0;
    while nth < ViewState::COUNT * ViewState::COUNT {
        let (a, b) = (nth / ViewState::COUNT, nth % ViewState::COUNT);
        // Odd if the cost may rise, and 0 if it must not and the sums are equal. A missing view's cost may always rise.
        let begins_with_second = b % 2 == 0 && (a != 0 || b == 0);
        let (first, second) = if begins_with_second { (b, a) } else { (a, b) };
        let states = (first | second << PackedMove::STATE) as u32;
        of_views[a][b] = (begins_with_second as u32) << PackedMove::FIRST | states << PackedMove::STATES;
        nth += 1;
    }
    of_views
};
