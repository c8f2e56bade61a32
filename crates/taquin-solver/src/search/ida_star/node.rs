//! Nodes of the parallel search, their moves, and look-ups of successors, laid out for speed.

use super::board_form::{BoardForm, KIND_WITH_TWIN, MAX_KINDS, PatternViews};
use super::cost_change::{CostChange, Dependence};
use super::move_automaton::{MoveAutomaton, MoveHistory};
use super::packed_move::{MAX_CELLS, MoveList, PackedMove, ViewState};
use crate::domain::{Cell, Move, MoveSet, Packed, Size};
use crate::search::Space;
use crate::search::heuristic::pattern::additive::TWIN;
use crate::search::heuristic::pattern::symmetry::VIEWS;

/// The kind of the blank.
const BLANK: u64 = 15;
/// Added to costs, so that the second bit of the sum tells whether the cost falls if the table has a 0.
const COST_UP: u8 = 1;
/// Number of pairs of a move of the blank and a kind.
const STEPS: usize = PackedMove::BLANK_MOVES * MAX_KINDS;

/// Precomputed moves of a board, its pattern databases, and its pruning automaton.
pub(crate) struct MoveTables<'t, S: BoardForm> {
    /// By kind.
    lookups: [S::Lookup<'t>; MAX_KINDS],
    pub has_two_views: bool,
    /// By the blank's cell and its move.
    blank_moves: [BlankMove<S>; PackedMove::BLANK_MOVES],
    /// By the blank's cell and its move, and the tile's kind.
    steps: [S::TileStep; STEPS],
    /// By the blank's cell and its move, and the tile's kind: the part of a change that does not depend on the board.
    changes: [u16; STEPS],
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

/// A board within the threshold on the current path of a traversal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchNode<S: BoardForm> {
    /// By view, four bits per cell: the tile's kind.
    kinds: [S::Kinds; VIEWS],
    /// By pattern of all views: the placement of its tiles.
    placements: S::Placements,
    /// By pattern of all views: its cost plus one. Two bytes are the blank's cell, and the threshold minus g.
    bytes: S::Bytes,
    /// By view: the sum of the costs, the larger one of twin partitions.
    sums: [u8; VIEWS],
    /// By view: by how much the sum of the first of twin partitions exceeds the second one's.
    leads: [i8; VIEWS],
    history: MoveHistory,
    /// Aligns nodes to cache lines.
    _alignment: S::Alignment,
}

const _: () = assert!(
    size_of::<BatchNode<super::board_form::Form16<VIEWS>>>() == 64,
    "a node of at most sixteen cells fills a cache line"
);

impl<S: BoardForm> BatchNode<S> {
    pub(crate) const NONE: Self = Self {
        kinds: [S::NO_KINDS; VIEWS],
        placements: S::NO_PLACEMENTS,
        bytes: S::NO_BYTES,
        sums: [0; VIEWS],
        leads: [0; VIEWS],
        history: MoveHistory::START,
        _alignment: S::ALIGNMENT,
    };

    /// The threshold minus g.
    #[inline(always)]
    pub(crate) fn left(&self) -> u8 {
        self.bytes[S::LEFT_BYTE]
    }

    /// True if the first view's cost is 0. With right tables, all tiles are home.
    #[inline(always)]
    pub(crate) fn is_goal(&self) -> bool {
        self.sums[0] == 0
    }

    /// True if every pattern looked up has cost 0. If only their sum is 0, tables are damaged.
    pub(crate) fn is_home(&self) -> bool {
        let is_cost = |byte: &usize| ![S::BLANK_BYTE, S::LEFT_BYTE].contains(byte);
        // The bytes of a missing view are 0.
        (0..VIEWS * S::PATTERNS).filter(is_cost).all(|pattern| self.bytes[pattern] <= COST_UP)
    }

    /// The last move. The node must not be the start.
    pub(crate) fn last(&self) -> Move {
        self.history.back().expect("a node other than the start has a last move").inverse()
    }

    /// The costs of the views.
    #[inline(always)]
    pub(crate) fn costs(&self) -> [u8; VIEWS] {
        self.sums
    }

    /// The greater of the costs of the views.
    #[inline(always)]
    pub(crate) fn cost(&self) -> u8 {
        self.sums[0].max(self.sums[1])
    }

    /// Moves left in excess of the cost.
    pub(crate) fn slack(&self) -> u32 {
        u32::from(self.left() - self.cost())
    }

    /// The bits shared by all packed moves of a node. A move changes each sum by one, and lowers the moves left by one.
    /// So a successor exceeds the threshold only if a sum rises that is not below the moves left.
    #[inline(always)]
    pub(crate) fn packed_moves(&self, number: usize) -> u32 {
        let lead = |view: usize| if S::TWINS { self.leads[view] } else { 0 };
        let state = |view: usize| ViewState::new(self.sums[view] < self.left(), lead(view));
        PackedMove::of_node(number, [state(0), state(1)])
    }

    /// Updates the `nth` view looked up after a tile has moved.
    #[inline(always)]
    fn update(&mut self, child: &Child<S>, nth: usize, cells: S::Kinds) {
        let change = CostChange::from(child.changes[nth]);
        let pattern = S::pattern(change.kind());
        let up = self.bytes[pattern].wrapping_add(change.of_pattern());
        if S::TWINS {
            // Without a twin this is the same pattern, which is overwritten.
            let twin = S::pattern(pattern + change.has_twin());
            self.placements[twin] = child.twin_placements[nth];
            self.bytes[twin] = self.bytes[twin].wrapping_add(change.of_twin());
        }
        self.placements[pattern] = child.placements[nth];
        self.bytes[pattern] = up;
        let view = pattern / S::PATTERNS % VIEWS;
        let [larger, lead] = change.of_sums::<S>();
        self.sums[view] = self.sums[view].wrapping_add(larger);
        self.kinds[view] = S::exchange(self.kinds[view], change.kind() as u64 ^ BLANK, cells);
        self.leads[view] = self.leads[view].wrapping_add(lead as i8);
    }
}

impl<'t, S: BoardForm> MoveTables<'t, S> {
    /// The tables for a start whose costs are given.
    pub(crate) fn new<V: PatternViews<S>>(patterns: &'t V, space: &Space<S::Tiles>, costs: &V::Costs) -> Self {
        let size = space.size();
        let mut tables = Self {
            lookups: std::array::from_fn(|kind| {
                let pattern = S::pattern(kind);
                patterns.lookup(pattern / S::PATTERNS % patterns.views(), pattern % S::PATTERNS)
            }),
            has_two_views: patterns.views() > 1,
            blank_moves: [BlankMove { cells: S::NO_KINDS, from: 0 }; PackedMove::BLANK_MOVES],
            steps: [S::TileStep::default(); STEPS],
            changes: std::array::from_fn(|step| {
                CostChange::of_kind(step % S::KINDS).with_dependence(Dependence::ALIKE).packed()
            }),
            onward: [[MoveList::default(); 1 << Move::ALL.len()]; MAX_CELLS],
            automaton: MoveAutomaton::get(),
            root: root(patterns, space, costs),
        };
        for to in 0..size.cells() as Cell {
            for mv in size.moves_from(to) {
                let (number, from) = (blank_move(to, mv), to.wrapping_add_signed(size.offset(mv)));
                tables.blank_moves[number] = BlankMove { cells: S::both(from, to), from };
                for view in 0..patterns.views() {
                    tables.add_steps(patterns, (size, view), number, [from, to]);
                }
            }
            for (refused, onward) in (0..).zip(&mut tables.onward[usize::from(to)]) {
                for mv in space.moves_except(to, MoveSet::from_bits(refused)) {
                    let from = to.wrapping_add_signed(size.offset(mv));
                    onward.moves[onward.count as usize] = PackedMove::of_blank_move(blank_move(to, mv), from);
                    onward.count += 1;
                }
            }
        }
        tables
    }

    /// Adds the moves of tiles of all kinds of a view between two cells.
    fn add_steps<V: PatternViews<S>>(
        &mut self,
        patterns: &V,
        (size, view): (Size, usize),
        blank_move: usize,
        [from, to]: [Cell; 2],
    ) {
        let first = S::KINDS * blank_move;
        for pattern in 0..S::PATTERNS {
            let (from, to) = patterns.images(view, pattern, from, to);
            self.steps[first + view * S::PATTERNS + pattern] = S::step(from, to);
        }
        if !S::TWINS {
            return;
        }
        for label in 0..size.cells() as u8 {
            let kind = kind::<S, V>(patterns, view, label);
            self.steps[first + kind] = self.steps[first + S::pattern(kind)];
            let falls = Some(size.distance(to, label) < size.distance(from, label));
            let dependence = Dependence::new(match patterns.patterns_of(view, label) {
                [None, _] => [falls, None],
                [_, None] => [None, falls],
                [pattern, twin] if pattern == twin => [None; 2],
                // The second sum depends on a look-up to come.
                _ => [None, Some(true)],
            });
            self.changes[first + kind] = CostChange::of_kind(kind).with_dependence(dependence).packed();
        }
    }

    /// The start, with the given threshold.
    pub(crate) fn root(&self, threshold: u8) -> BatchNode<S> {
        let mut root = self.root;
        root.bytes[S::LEFT_BYTE] = threshold;
        root
    }

    /// The moves to generate from a node.
    #[inline(always)]
    pub(crate) fn onward(&self, node: &BatchNode<S>) -> &MoveList {
        &self.onward[usize::from(node.bytes[S::BLANK_BYTE]) % MAX_CELLS][usize::from(node.history.refused().bits())]
    }

    /// Begins the look-up of a successor in the `nth` view: prefetches the data of the tiles' cells.
    #[inline(always)]
    pub(crate) fn prefetch_layout(&self, node: &BatchNode<S>, packed: PackedMove, nth: usize) -> BegunLookUp<'_, S> {
        let kind = S::kind_in(node.kinds[packed.first_view() ^ nth], packed.shift());
        let number = S::KINDS * packed.blank_move() + kind;
        self.begin(node, number, if S::TWINS { packed.view_state(nth) } else { 0 })
    }

    /// Begins the look-up of a successor in the twin's pattern of the `nth` view.
    #[inline(always)]
    pub(crate) fn prefetch_layout_of_twin(
        &self,
        node: &BatchNode<S>,
        packed: PackedMove,
        nth: usize,
    ) -> BegunLookUp<'_, S> {
        let pattern = S::PATTERNS * (packed.first_view() ^ nth) + TWIN;
        self.begin(node, S::KINDS * packed.blank_move() + pattern, 0)
    }

    /// Begins the look-up of a move of a tile, given the index of its step.
    #[inline(always)]
    fn begin(&self, node: &BatchNode<S>, step: usize, state: u32) -> BegunLookUp<'_, S> {
        let kind = step % S::KINDS;
        let pattern = S::pattern(kind);
        let (placement, layout) = S::layout(&self.lookups[kind], node.placements[pattern], self.step(step));
        let change = if S::TWINS { CostChange::from(self.changes[step % STEPS]) } else { CostChange::of_kind(kind) };
        let change = change.after(node.bytes[pattern], state);
        BegunLookUp { layout, placement, change, step: step as u32 }
    }

    /// The move of a tile, by the index of the blank's cell and move and the tile's kind.
    #[inline(always)]
    fn step(&self, number: usize) -> &S::TileStep {
        &self.steps[number % STEPS]
    }

    /// Continues a look-up: prefetches the word of the table.
    #[inline(always)]
    pub(crate) fn prefetch_word(&self, begun: &BegunLookUp<'_, S>) -> LookUp<'_, S> {
        let BegunLookUp { layout, placement, change, step } = *begun;
        let lookup = &self.lookups[change.kind()];
        let (placement, word) = S::word(lookup, placement, layout, self.step(step as usize));
        LookUp { word, placement, change }
    }

    /// Turns a copy of the parent into a child.
    #[inline(always)]
    pub(crate) fn enter(&self, node: &mut BatchNode<S>, child: &Child<S>) {
        let blank_move = &self.blank_moves[child.packed.blank_move()];
        node.update(child, 0, blank_move.cells);
        if self.has_two_views {
            node.update(child, 1, blank_move.cells);
        }
        node.bytes[S::BLANK_BYTE] = blank_move.from;
        node.history = self.automaton.next(node.history, child.packed.mv());
        node.bytes[S::LEFT_BYTE] -= 1;
    }
}

/// Index of a move of the blank to a cell.
fn blank_move(to: Cell, mv: Move) -> usize {
    4 * usize::from(to) + mv as usize
}

/// The kind of a label in a view.
fn kind<S: BoardForm, V: PatternViews<S>>(patterns: &V, view: usize, label: u8) -> usize {
    let [pattern, twin] = patterns.patterns_of(view, label);
    let has_both = pattern.is_some() && twin.is_some() && pattern != twin;
    debug_assert!(S::TWINS || !has_both, "only a form with twins has kinds with two patterns");
    let pattern = pattern.or(twin).expect("a tile is alone in one partition at most");
    view * S::PATTERNS + pattern + if has_both { KIND_WITH_TWIN } else { 0 }
}

/// The start, without a threshold.
fn root<S: BoardForm, V: PatternViews<S>>(patterns: &V, space: &Space<S::Tiles>, costs: &V::Costs) -> BatchNode<S> {
    let start = space.start();
    let mut node = BatchNode::<S>::NONE;
    for view in 0..patterns.views() {
        for pattern in 0..S::PATTERNS {
            let (placement, cost) = patterns.placed(costs, view, pattern);
            node.placements[view * S::PATTERNS + pattern] = placement;
            node.bytes[view * S::PATTERNS + pattern] = cost + COST_UP;
        }
        let [first, second] = patterns.sums(costs, view);
        node.sums[view] = first.max(second);
        node.leads[view] = first.wrapping_sub(second) as i8;
        for cell in 0..space.size().cells() as Cell {
            let kind =
                if cell == start.blank { BLANK } else { kind::<S, V>(patterns, view, start.tiles.get(cell)) as u64 };
            node.kinds[view] = S::exchange(node.kinds[view], kind, S::only(cell));
        }
    }
    node.bytes[S::BLANK_BYTE] = start.blank;
    node
}

/// A look-up in one view. The data of the tiles' cells are being prefetched.
#[derive(Clone, Copy)]
pub(crate) struct BegunLookUp<'t, S: BoardForm> {
    pub layout: &'t S::Layout,
    /// The placement with the cells after the move and the rank before it.
    pub placement: S::Placement,
    pub change: CostChange,
    /// Index of the blank's cell and move, and the kind.
    pub step: u32,
}

/// A look-up in one view whose table word is being prefetched.
#[derive(Clone, Copy)]
pub(crate) struct LookUp<'t, S: BoardForm> {
    pub word: &'t u64,
    /// The placement after the move.
    pub placement: S::Placement,
    /// The change if the bit is 0.
    pub change: CostChange,
}

/// A successor that is within the threshold in the first view.
#[derive(Clone, Copy)]
pub(crate) struct KeptSuccessor<S: BoardForm> {
    pub packed: PackedMove,
    pub placement: S::Placement,
    pub change: CostChange,
    /// Undefined where there is no twin.
    pub twin_placements: S::TwinPlacements,
}

/// A successor within the threshold, not entered yet.
#[derive(Clone, Copy)]
pub(crate) struct Child<S: BoardForm> {
    pub placements: [S::Placement; VIEWS],
    pub twin_placements: S::TwinPlacements,
    pub packed: PackedMove,
    /// [`CostChange`]s.
    pub changes: [u16; VIEWS],
}

impl<S: BoardForm> BegunLookUp<'_, S> {
    pub(crate) const NONE: Self =
        Self { layout: S::NO_LAYOUT, placement: S::NO_PLACEMENT, change: CostChange::NONE, step: 0 };
}

impl<S: BoardForm> LookUp<'_, S> {
    pub(crate) const NONE: Self = Self { word: &0, placement: S::NO_PLACEMENT, change: CostChange::NONE };

    /// Reads the table word. Returns the change.
    #[inline(always)]
    pub(crate) fn read(&self) -> CostChange {
        self.change.with_bit((*self.word >> S::bit(self.placement)) as u32 & 1)
    }
}

impl<S: BoardForm> KeptSuccessor<S> {
    pub(crate) const NONE: Self = Self {
        packed: PackedMove(0),
        placement: S::NO_PLACEMENT,
        change: CostChange::NONE,
        twin_placements: S::NO_TWIN_PLACEMENTS,
    };
}

impl<S: BoardForm> Child<S> {
    pub(crate) const NONE: Self = Self {
        placements: [S::NO_PLACEMENT; VIEWS],
        twin_placements: S::NO_TWIN_PLACEMENTS,
        packed: PackedMove(0),
        changes: [0; VIEWS],
    };

    /// This child, with its parent in another traversal.
    pub(crate) fn in_traversal(self, from: usize, to: usize) -> Self {
        Self { packed: PackedMove(self.packed.0 - from as u32 + to as u32), ..self }
    }
}
