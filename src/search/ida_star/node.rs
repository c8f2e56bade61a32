//! Nodes of the parallel search and their moves, laid out for speed.

use super::board_form::{BoardForm, PatternViews};
use super::look_up::{BegunLookUp, Child, CostChange, LookUp};
use super::move_automaton::{MoveAutomaton, MoveHistory};
use super::packed_move::{MAX_CELLS, MoveList, PackedMove};
use crate::domain::{Cell, Move, MoveSet, Packed};
use crate::search::Space;
use crate::search::heuristic::pattern::symmetry::VIEWS;

/// The kind of the blank.
const BLANK: u64 = 15;
/// Upper bound on the number of kinds. The *kind* of a tile in a view is the index of its pattern among the patterns of
/// all views.
const MAX_KINDS: usize = 16;

/// Precomputed moves of a board, its pattern databases, and its pruning automaton.
pub(super) struct MoveTables<'t, S: BoardForm> {
    lookups: [S::Lookup<'t>; MAX_KINDS],
    /// True if there are two views.
    pub is_mirrored: bool,
    /// By the blank's cell and its move.
    blank_moves: [BlankMove<S>; PackedMove::BLANK_MOVES],
    /// By the blank's cell and its move, and the tile's kind.
    steps: S::TileSteps,
    /// By the blank's cell and the moves to skip.
    onward: [[MoveList; 1 << Move::ALL.len()]; MAX_CELLS],
    automaton: &'static MoveAutomaton,
    root: BatchNode<S>,
}

/// A move of the blank.
#[derive(Clone, Copy)]
struct BlankMove<S: BoardForm> {
    /// The lowest bits of both cells.
    cells: S::Kinds,
    from: Cell,
}

/// A board within the threshold on the current path of a lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct BatchNode<S: BoardForm> {
    /// By view, four bits per cell: the tile's kind.
    kinds: [S::Kinds; VIEWS],
    /// By kind: the placement of the pattern's tiles.
    placements: S::Placements,
    /// By kind: the pattern's cost plus one.
    ups: S::CostsUp,
    sums: [u8; VIEWS],
    blank: Cell,
    history: MoveHistory,
    /// The threshold minus g.
    pub left: u8,
    /// Aligns nodes to cache lines.
    _alignment: S::Alignment,
}

const _: () = assert!(
    size_of::<BatchNode<super::board_form::Form16>>() == 64,
    "a node of at most sixteen cells fills a cache line"
);

impl<S: BoardForm> BatchNode<S> {
    pub(super) const NONE: Self = Self {
        kinds: [S::NO_KINDS; VIEWS],
        placements: S::NO_PLACEMENTS,
        ups: S::NO_UPS,
        sums: [0; VIEWS],
        blank: 0,
        history: MoveHistory::START,
        left: 0,
        _alignment: S::ALIGNMENT,
    };

    /// True if all tiles are home, that is, if all costs are 0.
    #[inline(always)]
    pub(super) fn is_goal(&self) -> bool {
        self.sums[0] == 0
    }

    /// The last move. The node must not be the start.
    pub(super) fn last(&self) -> Move {
        self.history.back().expect("a node other than the start has a last move").inverse()
    }

    /// The costs of the views.
    #[inline(always)]
    pub(super) fn costs(&self) -> [u8; VIEWS] {
        self.sums
    }

    /// The greater of the costs of the views.
    #[inline(always)]
    pub(super) fn cost(&self) -> u8 {
        self.sums[0].max(self.sums[1])
    }

    /// Moves left in excess of the cost.
    pub(super) fn slack(&self) -> u32 {
        u32::from(self.left - self.cost())
    }

    /// The bits that all packed moves of a node have in common. A move changes each sum by one, and lowers the moves
    /// left by one. So a successor exceeds the threshold only if a sum rises that is not below the moves left.
    #[inline(always)]
    pub(super) fn packed_moves(&self, number: usize) -> u32 {
        PackedMove::of_node(number, self.sums.map(|sum| u32::from(sum < self.left)))
    }

    /// Updates one view after a tile has moved.
    #[inline(always)]
    fn update(&mut self, placement: S::Placement, change: u16, cells: S::Kinds) {
        let change = CostChange::from(change);
        let (kind, change) = (change.kind::<S>(), change.amount());
        self.placements[kind] = placement;
        self.ups[kind] = self.ups[kind].wrapping_add(change);
        let view = kind / S::PATTERNS % VIEWS;
        self.sums[view] = self.sums[view].wrapping_add(change);
        self.kinds[view] = S::exchange(self.kinds[view], kind as u64 ^ BLANK, cells);
    }
}

impl<'t, S: BoardForm> MoveTables<'t, S> {
    /// The tables for a start whose costs are given.
    pub(super) fn new<V: PatternViews<S>>(patterns: &'t V, space: &Space<S::Tiles>, costs: &V::Costs) -> Self {
        let size = space.size();
        let views = patterns.views();
        let mut tables = Self {
            lookups: std::array::from_fn(|kind| patterns.lookup(kind / S::PATTERNS % views.len(), kind % S::PATTERNS)),
            is_mirrored: views.len() > 1,
            blank_moves: [BlankMove { cells: S::NO_KINDS, from: 0 }; PackedMove::BLANK_MOVES],
            steps: S::NO_STEPS,
            onward: [[MoveList::default(); 1 << Move::ALL.len()]; MAX_CELLS],
            automaton: MoveAutomaton::get(),
            root: root(patterns, space, costs),
        };
        let blank_move = |to: Cell, mv: Move| 4 * usize::from(to) + mv as usize;
        for to in 0..size.cells() as Cell {
            for mv in size.moves_from(to) {
                let from = to.wrapping_add_signed(size.offset(mv));
                tables.blank_moves[blank_move(to, mv)] = BlankMove { cells: S::both(from, to), from };
                for (nth, view) in views.iter().enumerate() {
                    for pattern in 0..view.patterns() {
                        let (size, tile_from, tile_to) = view.images(pattern, from, to);
                        let step = S::step(size, tile_from, tile_to);
                        tables.steps[S::KINDS * blank_move(to, mv) + S::PATTERNS * nth + pattern] = step;
                    }
                }
            }
            for (refused, onward) in (0..).zip(&mut tables.onward[usize::from(to)]) {
                for mv in space.moves_except(to, MoveSet::from_bits(refused)) {
                    onward.moves[onward.count as usize] =
                        PackedMove::of_blank_move(blank_move(to, mv), to.wrapping_add_signed(size.offset(mv)));
                    onward.count += 1;
                }
            }
        }
        tables
    }

    /// The start, with the given threshold.
    pub(super) fn root(&self, threshold: u8) -> BatchNode<S> {
        BatchNode { left: threshold, ..self.root }
    }

    /// The moves to generate from a node.
    #[inline(always)]
    pub(super) fn onward(&self, node: &BatchNode<S>) -> &MoveList {
        &self.onward[usize::from(node.blank) % MAX_CELLS][usize::from(node.history.refused().bits())]
    }

    /// Begins the look-up of a successor in the `nth` view: prefetches the data of the tiles' cells.
    #[inline(always)]
    pub(super) fn prefetch_layout(&self, node: &BatchNode<S>, packed: PackedMove, nth: usize) -> BegunLookUp<'_, S> {
        let kind = S::kind_in(node.kinds[packed.first_view() ^ nth], packed.shift());
        let number = S::KINDS * packed.blank_move() + kind;
        let step = self.step(number);
        let (placement, layout) = S::layout(&self.lookups[kind % MAX_KINDS], node.placements[kind], step);
        let change = CostChange::new(kind, node.ups[kind]);
        BegunLookUp { layout, placement, change, step: number as u32 }
    }

    /// The move of a tile, by the index of the blank's cell and move and the tile's kind.
    #[inline(always)]
    fn step(&self, number: usize) -> &S::TileStep {
        &self.steps[number % S::STEPS]
    }

    /// Goes on with a look-up: prefetches the word of the table.
    #[inline(always)]
    pub(super) fn prefetch_word(&self, begun: &BegunLookUp<'_, S>) -> LookUp<'_, S> {
        let BegunLookUp { layout, placement, change, step } = *begun;
        let step = self.step(step as usize);
        let (placement, word) = S::word(&self.lookups[change.kind::<S>() % MAX_KINDS], placement, layout, step);
        LookUp { word, placement, change }
    }

    /// Turns a copy of the parent into a child.
    #[inline(always)]
    pub(super) fn enter(&self, node: &mut BatchNode<S>, child: &Child<S>) {
        let blank_move = &self.blank_moves[child.packed.blank_move()];
        node.update(child.placements[0], child.changes[0], blank_move.cells);
        if self.is_mirrored {
            node.update(child.placements[1], child.changes[1], blank_move.cells);
        }
        node.blank = blank_move.from;
        node.history = self.automaton.next(node.history, child.packed.mv());
        node.left -= 1;
    }
}

/// The start, without a threshold.
fn root<S: BoardForm, V: PatternViews<S>>(patterns: &V, space: &Space<S::Tiles>, costs: &V::Costs) -> BatchNode<S> {
    let start = space.start();
    let mut node = BatchNode::<S> { blank: start.blank, history: MoveHistory::START, ..BatchNode::NONE };
    for (nth, view) in patterns.views().into_iter().enumerate() {
        for pattern in 0..S::PATTERNS {
            let (placement, cost) = patterns.placed(costs, nth, pattern);
            node.placements[nth * S::PATTERNS + pattern] = placement;
            node.ups[nth * S::PATTERNS + pattern] = cost + 1;
            node.sums[nth] += cost;
        }
        for cell in 0..space.size().cells() as Cell {
            let kind = if cell == start.blank {
                BLANK
            } else {
                (nth * S::PATTERNS + view.pattern(start.tiles.get(cell))) as u64
            };
            node.kinds[nth] = S::exchange(node.kinds[nth], kind, S::only(cell));
        }
    }
    node
}
