//! Nodes of the parallel search and their moves, laid out for speed.

use super::board_form::{BoardForm, KINDS, MAX_CELLS, PatternViews, kinds};
use super::look_up::{Child, CostChange, Probe, Rules};
use super::move_automaton::{MoveAutomaton, MoveHistory};
use super::packed_move::{CHANGES_OF_SUMS, MoveList, PackedMove, SLACKS, SUMS, Sums};
use crate::domain::{Cell, Move, MoveSet, Packed};
use crate::search::Space;
use crate::search::heuristic::pattern::symmetry::VIEWS;

/// The kind of the blank.
const BLANK: u64 = 15;

/// Precomputed moves of a board, its pattern databases, and its pruning automaton.
pub(super) struct MoveTables<'t, S: BoardForm> {
    /// By slot.
    lookups: [S::Lookup<'t>; KINDS],
    /// True if some tiles have a second pattern.
    pub has_alternatives: bool,
    pub rules: Rules,
    /// By the blank's cell and its move.
    blank_moves: [BlankMove<S>; PackedMove::BLANK_MOVES],
    /// By the blank's cell, its move and the view.
    view_moves: [ViewMove<S>; VIEWS * PackedMove::BLANK_MOVES],
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

/// A move of the blank, in one view.
#[derive(Clone, Copy)]
struct ViewMove<S: BoardForm> {
    step: S::TileStep,
    /// Offset of the four bits of the tile's cell.
    shift: u8,
    /// By partition, the bits of [`CostChange::NEARER`]: the tile that is alone in it would come nearer to its goal cell.
    nearer: u8,
}

/// A board within the threshold on the current path of a lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct BatchNode<S: BoardForm> {
    /// By view, four bits per cell: the tile's kind.
    kinds: [S::Kinds; VIEWS],
    /// By slot: the placement of the pattern's tiles.
    placements: S::Placements,
    /// By slot: the pattern's cost plus one. Further on, the blank's cell and the threshold minus g.
    bytes: S::Bytes,
    sums: Sums,
    history: MoveHistory,
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
        bytes: S::NO_BYTES,
        sums: Sums(0),
        history: MoveHistory::START,
        _alignment: S::ALIGNMENT,
    };

    /// The threshold minus g.
    #[inline(always)]
    pub(super) fn left(&self) -> u8 {
        self.bytes[S::LEFT]
    }

    /// True if all tiles are home, that is, if all costs are 0.
    #[inline(always)]
    pub(super) fn is_goal(&self) -> bool {
        self.sums == Sums(0)
    }

    /// The last move. The node must not be the start.
    pub(super) fn last(&self) -> Move {
        self.history.back().expect("a node other than the start has a last move").inverse()
    }

    /// Moves left in excess of the cost.
    pub(super) fn slack(&self) -> u32 {
        u32::from(self.left() - self.sums.max())
    }

    /// The bits that all packed moves of a node have in common. A move changes each sum by one, and lowers the moves
    /// left by one. So a successor exceeds the threshold only if a sum rises that is not below the moves left.
    #[inline(always)]
    pub(super) fn packed_moves(&self, number: usize) -> u32 {
        number as u32 | SLACKS[self.sums.below(self.left()) as usize]
    }

    /// Updates one view after a tile has moved.
    #[inline(always)]
    fn update<const ALTERNATIVES: bool>(&mut self, view: usize, child: &Child<S>, nth: usize, cells: S::Kinds) {
        let change = CostChange(u32::from(child.changes[nth]));
        let kind = change.kind();
        let slot = S::slot(kind);
        let cost_up = self.bytes[slot].wrapping_add(change.amount());
        if ALTERNATIVES {
            // Without an alternative this is the same slot, which is overwritten below.
            let alternative = S::slot(slot + change.is_pending());
            let amount = 1_u8.wrapping_sub(child.falling >> (SUMS as usize * nth) & 2);
            self.bytes[alternative] = self.bytes[alternative].wrapping_add(amount);
            self.placements[alternative] = child.alternatives[nth];
        }
        self.bytes[slot] = cost_up;
        self.placements[slot] = child.placements[nth];
        self.kinds[view] = S::exchange(self.kinds[view], kind as u64 ^ BLANK, cells);
    }
}

impl<'t, S: BoardForm> MoveTables<'t, S> {
    /// The tables for a start whose costs are given.
    pub(super) fn new<V: PatternViews<S>>(patterns: &'t V, space: &Space<S::Tiles>, costs: &V::Costs) -> Self {
        let size = space.size();
        let views = patterns.views();
        let none = ViewMove { step: S::TileStep::default(), shift: 0, nearer: 0 };
        let lookup = |slot: usize| patterns.lookup(slot / S::PATTERNS % views.len(), slot % S::PATTERNS);
        let has_alternatives = patterns.has_alternatives();
        let mut tables = Self {
            lookups: std::array::from_fn(lookup),
            has_alternatives,
            rules: Rules::new::<S>(has_alternatives),
            blank_moves: [BlankMove { cells: S::NO_KINDS, from: 0 }; PackedMove::BLANK_MOVES],
            view_moves: [none; VIEWS * PackedMove::BLANK_MOVES],
            onward: [[MoveList::default(); 1 << Move::ALL.len()]; MAX_CELLS],
            automaton: MoveAutomaton::get(),
            root: root(patterns, space, costs),
        };
        for to in 0..size.cells() as Cell {
            for mv in size.moves_from(to) {
                let (number, from) = (blank_move(to, mv), to.wrapping_add_signed(size.offset(mv)));
                tables.blank_moves[number] = BlankMove { cells: S::both(from, to), from };
                let moves = &mut tables.view_moves[VIEWS * number..][..VIEWS];
                for (view_move, view) in moves.iter_mut().zip((0..views.len()).cycle()) {
                    let (size, tile_from, tile_to) = views[view].images(from, to);
                    let step = S::step(size, tile_from, tile_to);
                    let is_nearer = |goal: Cell| size.distance(tile_to, goal) < size.distance(tile_from, goal);
                    let nearer = patterns.single(view).map(|goal| u8::from(goal.is_some_and(is_nearer)));
                    let nearer = (nearer[0] | nearer[1] << 1) << CostChange::NEARER;
                    *view_move = ViewMove { step, shift: 4 * from, nearer };
                }
            }
            for (refused, onward) in (0..).zip(&mut tables.onward[usize::from(to)]) {
                for mv in space.moves_except(to, MoveSet::from_bits(refused)) {
                    onward.moves[onward.count as usize] = (blank_move(to, mv) as u32) << PackedMove::BLANK_MOVE;
                    onward.count += 1;
                }
            }
        }
        tables
    }

    /// The start, with the given threshold.
    pub(super) fn root(&self, threshold: u8) -> BatchNode<S> {
        let mut root = self.root;
        root.bytes[S::LEFT] = threshold;
        root
    }

    /// The moves to generate from a node.
    #[inline(always)]
    pub(super) fn onward(&self, node: &BatchNode<S>) -> &MoveList {
        &self.onward[usize::from(node.bytes[S::BLANK]) % MAX_CELLS][usize::from(node.history.refused().bits())]
    }

    /// Starts the look-up of a successor in the `nth` view.
    #[inline(always)]
    pub(super) fn probe<const ALTERNATIVES: bool>(
        &self,
        node: &BatchNode<S>,
        packed: PackedMove,
        nth: usize,
    ) -> Probe<'_, S> {
        let view_move = packed.first_view_move() ^ nth;
        let ViewMove { step, shift, nearer } = &self.view_moves[view_move];
        let kind = S::kind_in(node.kinds[view_move % VIEWS], *shift);
        let slot = S::slot(kind);
        let (placement, word) = S::begin(&self.lookups[slot % KINDS], node.placements[slot], step);
        let change = u32::from(node.bytes[slot]) & CostChange::FALLS | (kind as u32) << CostChange::KIND;
        let change = if ALTERNATIVES { change | u32::from(*nearer) } else { change };
        Probe { word, placement, change: CostChange(change) }
    }

    /// Starts the look-up of a successor in the alternative pattern of the `nth` view.
    #[inline(always)]
    pub(super) fn probe_alternative(&self, node: &BatchNode<S>, packed: PackedMove, nth: usize) -> Probe<'_, S> {
        let view_move = packed.first_view_move() ^ nth;
        let slot = S::slot(S::PATTERNS * (view_move % VIEWS) + kinds::SLOT_OF_ALTERNATIVE);
        let step = &self.view_moves[view_move].step;
        let (placement, word) = S::begin(&self.lookups[slot % KINDS], node.placements[slot], step);
        Probe { word, placement, change: CostChange(u32::from(node.bytes[slot])) }
    }

    /// Turns a copy of the parent into a child.
    #[inline(always)]
    pub(super) fn enter<const ALTERNATIVES: bool>(&self, node: &mut BatchNode<S>, child: &Child<S>) {
        let blank_move = &self.blank_moves[child.packed.blank_move()];
        let first_view = child.packed.first_view();
        for nth in 0..VIEWS {
            node.update::<ALTERNATIVES>(first_view ^ nth, child, nth, blank_move.cells);
        }
        let falling = if ALTERNATIVES {
            usize::from(child.falling) % (1 << Sums::COUNT)
        } else {
            // Both sums of a view change alike, so two of four bits suffice.
            usize::from(child.changes[0] & 2 | child.changes[1] << SUMS & 8)
        };
        node.sums.0 =
            node.sums.0.wrapping_add(CHANGES_OF_SUMS[usize::from(ALTERNATIVES)][falling | first_view << Sums::COUNT]);
        node.bytes[S::BLANK] = blank_move.from;
        node.history = self.automaton.next(node.history, child.packed.mv());
        node.bytes[S::LEFT] -= 1;
    }
}

/// Index of a move of the blank to a cell.
fn blank_move(to: Cell, mv: Move) -> usize {
    4 * usize::from(to) + mv as usize
}

/// The start, without a threshold.
fn root<S: BoardForm, V: PatternViews<S>>(patterns: &V, space: &Space<S::Tiles>, costs: &V::Costs) -> BatchNode<S> {
    let start = space.start();
    let mut node = BatchNode::<S> { history: MoveHistory::START, ..BatchNode::NONE };
    node.bytes[S::BLANK] = start.blank;
    let views = patterns.views().len();
    for nth in 0..VIEWS {
        let view = nth % views;
        for pattern in 0..S::PATTERNS {
            let Some((placement, cost)) = patterns.placed(costs, view, pattern) else { continue };
            node.placements[nth * S::PATTERNS + pattern] = placement;
            node.bytes[nth * S::PATTERNS + pattern] = cost + 1;
        }
        let [first, second] = patterns.sums(costs, view).map(u32::from);
        node.sums.0 |= (first | second << 8) << (16 * nth);
        for cell in 0..space.size().cells() as Cell {
            let kind = if cell == start.blank {
                BLANK
            } else {
                (nth * S::PATTERNS + patterns.kind(view, start.tiles.get(cell))) as u64
            };
            node.kinds[nth] = S::exchange(node.kinds[nth], kind, S::only(cell));
        }
    }
    node
}
