//! What a descent reads of tables and board, laid out for speed.

use super::board_form::{BoardForm, Views};
use super::move_automaton::{MoveAutomaton, MoveHistory};
use crate::domain::{Cell, Move, MoveSet, Packed};
use crate::search::Space;
use crate::search::heuristic::pattern::symmetry::VIEWS;

/// The kind of the blank: none.
const BLANK: u64 = 15;
/// More than there are kinds, patterns of all views: a tile's *kind* in a view is which of them it belongs to.
const MAX_KINDS: usize = 16;
/// More than there are cells.
const MAX_CELLS: usize = 32;

/// The board's exits, the tables, and which moves are worth making.
pub(super) struct MoveTables<'t, S: BoardForm> {
    lookups: [S::Lookup<'t>; MAX_KINDS],
    /// Whether there is more than one view.
    pub(super) is_mirrored: bool,
    /// By the blank's cell and its move.
    exits: [BlankMove<S>; PackedMove::EXITS],
    /// By the same, and by view.
    seen: [ViewMove<S>; VIEWS * PackedMove::EXITS],
    /// By the blank's cell and the moves that need not be made.
    onward: [[MoveList; 1 << Move::ALL.len()]; MAX_CELLS],
    automaton: &'static MoveAutomaton,
    root: BatchNode<S>,
}

/// A tile's way into the blank.
#[derive(Clone, Copy)]
struct BlankMove<S: BoardForm> {
    /// The lowest of the four bits of either cell.
    cells: S::Kinds,
    from: Cell,
}

/// The same as a view has it.
#[derive(Clone, Copy)]
struct ViewMove<S: BoardForm> {
    step: S::TileStep,
    /// Where the four bits of the tile's cell are.
    shift: u8,
}

/// Moves worth making.
#[derive(Clone, Copy, Default)]
pub(super) struct MoveList {
    /// As [`PackedMove`]s, of no node yet.
    pub(super) ways: [u32; 4],
    /// How many of them there are.
    pub(super) count: u32,
}

/// A move of a node, packed: the node's number, what decides on its successors, and the exit.
#[derive(Clone, Copy)]
pub(super) struct PackedMove(pub(super) u32);

impl PackedMove {
    /// The most nodes that are numbered: sixteen lanes, and 256 moves that may be left, of which 15-puzzles need no
    /// more than 80, and few boards more than 200.
    pub(super) const NODES: usize = 1 << Self::LOOSE;
    /// Moves by the blank's cell.
    const EXITS: usize = 4 * MAX_CELLS;
    const LOOSE: u32 = 12;
    const FIRST: u32 = Self::EXIT - 1;
    const EXIT: u32 = 16;

    /// The node's number.
    #[inline(always)]
    pub(super) fn node(self) -> usize {
        self.0 as usize % Self::NODES
    }

    /// The exit, and in the lowest bit the view to look at first: one that forbids a move up, if any
    /// does.
    #[inline(always)]
    fn first_seen(self) -> usize {
        (self.0 >> Self::FIRST) as usize % (VIEWS * Self::EXITS)
    }

    #[inline(always)]
    fn exit(self) -> usize {
        (self.0 >> Self::EXIT) as usize % Self::EXITS
    }

    /// The blank's move.
    #[inline(always)]
    fn mv(self) -> Move {
        // Not by index: a move is the very number, with no table to read.
        match self.exit() % 4 {
            0 => Move::Up,
            1 => Move::Left,
            2 => Move::Down,
            _ => Move::Right,
        }
    }
}

/// A board within the threshold, on the way to the one in hand.
#[derive(Clone, Copy, Debug)]
pub(super) struct BatchNode<S: BoardForm> {
    /// By view, four bits a cell: the tile's kind.
    kinds: [S::Kinds; VIEWS],
    /// By kind: where the pattern's tiles are.
    placements: S::Placements,
    /// By kind: one more than the pattern's cost.
    ups: S::CostsUp,
    sums: [u8; VIEWS],
    blank: Cell,
    past: MoveHistory,
    /// The threshold less the moves made.
    pub(super) left: u8,
    /// Keeps nodes in lines of memory of their own.
    _cache_line: S::CacheLine,
}

const _: () =
    assert!(size_of::<BatchNode<super::board_form::Form16>>() == 64, "a node of a small board is a line of memory");

impl<S: BoardForm> BatchNode<S> {
    pub(super) const NONE: Self = Self {
        kinds: [S::NO_KINDS; VIEWS],
        placements: S::NO_PLACEMENTS,
        ups: S::NO_UPS,
        sums: [0; VIEWS],
        blank: 0,
        past: MoveHistory::START,
        left: 0,
        _cache_line: S::CACHE_LINE,
    };

    /// Whether all tiles are at home: patterns that cost nothing are, and they have all tiles.
    #[inline(always)]
    pub(super) fn is_goal(&self) -> bool {
        self.sums[0] == 0
    }

    /// The move that led to it; it is not the start.
    pub(super) fn last(&self) -> Move {
        self.past.back().expect("a move made").inverse()
    }

    /// How many moves more than its cost are left.
    pub(super) fn slack(&self) -> u32 {
        u32::from(self.left - self.sums[0].max(self.sums[1]))
    }

    /// What all ways out of a node begin with. Along a move a sum changes by one, and what is left
    /// becomes one less: the successor is within the threshold unless a sum that is not below what is
    /// left moves up.
    #[inline(always)]
    pub(super) fn ways(&self, number: usize) -> u32 {
        let [a, b] = self.sums.map(|sum| u32::from(sum < self.left));
        number as u32 | (b ^ 1) << PackedMove::FIRST | (a & b) << PackedMove::LOOSE | (a | b) << (PackedMove::LOOSE + 1)
    }

    /// Follows the tile that moves, in one view.
    #[inline(always)]
    fn turn(&mut self, placement: S::Placement, turn: u16, cells: S::Kinds) {
        let turn = CostChange(u32::from(turn));
        let (kind, change) = (turn.kind::<S>(), turn.change());
        self.placements[kind] = placement;
        self.ups[kind] = self.ups[kind].wrapping_add(change);
        let view = kind / S::PATTERNS % VIEWS;
        self.sums[view] = self.sums[view].wrapping_add(change);
        self.kinds[view] = S::exchange(self.kinds[view], kind as u64 ^ BLANK, cells);
    }
}

/// A successor whose cost in one view is on its way from memory.
#[derive(Clone, Copy)]
pub(super) struct Probe<'t, S: BoardForm> {
    word: &'t u64,
    placement: S::Placement,
    turn: CostChange,
}

/// The kind of the tile that moves, and in the second bit what tells whether its pattern's cost sinks.
#[derive(Clone, Copy)]
struct CostChange(u32);

impl CostChange {
    const SINKS: u32 = 2;
    const KIND: u32 = 8;

    #[inline(always)]
    fn kind<S: BoardForm>(self) -> usize {
        S::kind((self.0 >> Self::KIND) as usize)
    }

    #[inline(always)]
    fn change(self) -> u8 {
        1_u8.wrapping_sub(self.0 as u8 & Self::SINKS as u8)
    }

    /// One, if the successor is within the threshold in the view that is the `nth` to be looked at.
    #[inline(always)]
    fn is_within(self, way: PackedMove, nth: u32) -> usize {
        ((self.0 >> 1 | way.0 >> (PackedMove::LOOSE + nth)) & 1) as usize
    }
}

/// A successor within the threshold, still to be gone into.
#[derive(Clone, Copy)]
pub(super) struct Child<S: BoardForm> {
    placements: [S::Placement; VIEWS],
    pub(super) way: PackedMove,
    turns: [u16; VIEWS],
}

impl<S: BoardForm> Child<S> {
    pub(super) const NONE: Self = Self { placements: [S::NO_PLACEMENT; VIEWS], way: PackedMove(0), turns: [0; VIEWS] };
}

impl<S: BoardForm> Probe<'_, S> {
    pub(super) const NONE: Self = Self { word: &0, placement: S::NO_PLACEMENT, turn: CostChange(0) };

    /// Reads the cost; one, if the successor is within the threshold in this view.
    #[inline(always)]
    pub(super) fn settle(&mut self, way: PackedMove, nth: u32) -> usize {
        let bit = (*self.word >> S::bit(self.placement)) as u32 & 1;
        self.turn.0 ^= bit << 1;
        self.turn.is_within(way, nth)
    }

    /// The successor after all probes at it.
    #[inline(always)]
    pub(super) fn child(&self, second: &Self, way: PackedMove) -> Child<S> {
        Child { placements: [self.placement, second.placement], way, turns: [self.turn.0 as u16, second.turn.0 as u16] }
    }
}

impl<'t, S: BoardForm> MoveTables<'t, S> {
    /// What a descent with these patterns reads, from a start whose costs they told.
    pub(super) fn new<V: Views<S>>(views: &'t V, space: &Space<S::Board>, costs: &V::Costs) -> Self {
        let size = space.size();
        let count = views.count();
        let none = ViewMove { step: S::TileStep::default(), shift: 0 };
        let mut tables = Self {
            lookups: std::array::from_fn(|kind| views.lookup(kind / S::PATTERNS % count, kind % S::PATTERNS)),
            is_mirrored: count > 1,
            exits: [BlankMove { cells: S::NO_KINDS, from: 0 }; PackedMove::EXITS],
            seen: [none; VIEWS * PackedMove::EXITS],
            onward: [[MoveList::default(); 1 << Move::ALL.len()]; MAX_CELLS],
            automaton: MoveAutomaton::get(),
            root: root(views, space, costs),
        };
        let exit = |to: Cell, mv: Move| 4 * usize::from(to) + mv as usize;
        for to in 0..size.cells() as Cell {
            for mv in size.moves_from(to) {
                let from = to.wrapping_add_signed(size.offset(mv));
                tables.exits[exit(to, mv)] = BlankMove { cells: S::both(from, to), from };
                for view in 0..count {
                    let step = views.step(view, from, to);
                    tables.seen[VIEWS * exit(to, mv) + view] = ViewMove { step, shift: 4 * from };
                }
            }
            for (refused, onward) in (0..).zip(&mut tables.onward[usize::from(to)]) {
                for mv in space.moves_except(to, MoveSet::from_bits(refused)) {
                    onward.ways[onward.count as usize] = (exit(to, mv) as u32) << PackedMove::EXIT;
                    onward.count += 1;
                }
            }
        }
        tables
    }

    /// The start, if the threshold is so high.
    pub(super) fn root(&self, threshold: u8) -> BatchNode<S> {
        BatchNode { left: threshold, ..self.root }
    }

    /// The moves worth making from a node.
    #[inline(always)]
    pub(super) fn onward(&self, node: &BatchNode<S>) -> &MoveList {
        &self.onward[usize::from(node.blank) % MAX_CELLS][usize::from(node.past.refused().bits())]
    }

    /// Begins to look at a successor, in the view whose turn it is.
    #[inline(always)]
    pub(super) fn look(&self, node: &BatchNode<S>, way: PackedMove, nth: usize) -> Probe<'_, S> {
        let seen = way.first_seen() ^ nth;
        let ViewMove { step, shift } = &self.seen[seen];
        let kind = S::kind_in(node.kinds[seen % VIEWS], *shift);
        let (placement, word) = S::begin(&self.lookups[kind % MAX_KINDS], node.placements[kind], step);
        let turn = u32::from(node.ups[kind]) & CostChange::SINKS | (kind as u32) << CostChange::KIND;
        Probe { word, placement, turn: CostChange(turn) }
    }

    /// Makes of a copy of its parent what a child is.
    #[inline(always)]
    pub(super) fn enter(&self, node: &mut BatchNode<S>, child: &Child<S>) {
        let exit = &self.exits[child.way.exit()];
        node.turn(child.placements[0], child.turns[0], exit.cells);
        if self.is_mirrored {
            node.turn(child.placements[1], child.turns[1], exit.cells);
        }
        node.blank = exit.from;
        node.past = self.automaton.next(node.past, child.way.mv());
        node.left -= 1;
    }
}

fn root<S: BoardForm, V: Views<S>>(views: &V, space: &Space<S::Board>, costs: &V::Costs) -> BatchNode<S> {
    let start = space.start();
    let mut node = BatchNode::<S> { blank: start.blank, past: MoveHistory::START, ..BatchNode::NONE };
    for view in 0..views.count() {
        for pattern in 0..S::PATTERNS {
            let (placement, cost) = views.placed(costs, view, pattern);
            node.placements[view * S::PATTERNS + pattern] = placement;
            node.ups[view * S::PATTERNS + pattern] = cost + 1;
            node.sums[view] += cost;
        }
        for cell in 0..space.size().cells() as Cell {
            let kind = if cell == start.blank {
                BLANK
            } else {
                (view * S::PATTERNS + views.pattern(view, start.tiles.get(cell))) as u64
            };
            node.kinds[view] = S::exchange(node.kinds[view], kind, S::only(cell));
        }
    }
    node
}
