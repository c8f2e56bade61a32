//! Nodes and look-ups of the parallel search, laid out for speed.

use super::board_form::{BoardForm, Views};
use super::move_automaton::{MoveAutomaton, MoveHistory};
use crate::domain::{Cell, Move, MoveSet, Packed};
use crate::search::Space;
use crate::search::heuristic::pattern::symmetry::VIEWS;

/// The kind of the blank.
const BLANK: u64 = 15;
/// Upper bound on the number of kinds. A tile's *kind* in a view is the index of its pattern among those of all
/// views.
const MAX_KINDS: usize = 16;
/// Upper bound on the number of cells.
const MAX_CELLS: usize = 32;

/// Precomputed moves of a board, its pattern databases, and its pruning automaton.
pub(super) struct MoveTables<'t, S: BoardForm> {
    lookups: [S::Lookup<'t>; MAX_KINDS],
    /// True if there are two views.
    pub(super) is_mirrored: bool,
    /// By the blank's cell and its move.
    exits: [BlankMove<S>; PackedMove::EXITS],
    /// By the blank's cell, its move and the view.
    seen: [ViewMove<S>; VIEWS * PackedMove::EXITS],
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
}

/// The moves to generate.
#[derive(Clone, Copy, Default)]
pub(super) struct MoveList {
    /// As [`PackedMove`]s without a node.
    pub(super) ways: [u32; 4],
    /// Number of moves.
    pub(super) count: u32,
}

/// A move of a node, packed: the node's index, the slack of both views, and the blank's cell and move.
#[derive(Clone, Copy)]
pub(super) struct PackedMove(pub(super) u32);

impl PackedMove {
    /// Maximum number of nodes: sixteen lanes, and up to 256 moves left. 15-puzzles need at most 80, and few boards
    /// more than 200.
    pub(super) const NODES: usize = 1 << Self::LOOSE;
    /// Number of pairs of the blank's cell and move.
    const EXITS: usize = 4 * MAX_CELLS;
    const LOOSE: u32 = 12;
    const FIRST: u32 = Self::EXIT - 1;
    const EXIT: u32 = 16;

    /// The node's index.
    #[inline(always)]
    pub(super) fn node(self) -> usize {
        self.0 as usize % Self::NODES
    }

    /// Index into `seen`. Its lowest bit is the view to look up first: one in which the cost must not rise, if there
    /// is one.
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
        // A match compiles to a conversion, without a table.
        match self.exit() % 4 {
            0 => Move::Up,
            1 => Move::Left,
            2 => Move::Down,
            _ => Move::Right,
        }
    }
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
    past: MoveHistory,
    /// The threshold minus g.
    pub(super) left: u8,
    /// Aligns nodes to cache lines.
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

    /// True if all tiles are home, which is the case if all costs are 0.
    #[inline(always)]
    pub(super) fn is_goal(&self) -> bool {
        self.sums[0] == 0
    }

    /// The last move. The node must not be the start.
    pub(super) fn last(&self) -> Move {
        self.past.back().expect("a move made").inverse()
    }

    /// Moves left in excess of the cost.
    pub(super) fn slack(&self) -> u32 {
        u32::from(self.left - self.sums[0].max(self.sums[1]))
    }

    /// The part that all packed moves of a node have in common. Along a move each sum changes by one and the moves
    /// left decrease by one, so a successor exceeds the threshold only if a sum rises that is not below the moves
    /// left.
    #[inline(always)]
    pub(super) fn ways(&self, number: usize) -> u32 {
        let [a, b] = self.sums.map(|sum| u32::from(sum < self.left));
        number as u32 | (b ^ 1) << PackedMove::FIRST | (a & b) << PackedMove::LOOSE | (a | b) << (PackedMove::LOOSE + 1)
    }

    /// Updates one view after a tile has moved.
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

/// A look-up in one view whose table word is being prefetched.
#[derive(Clone, Copy)]
pub(super) struct Probe<'t, S: BoardForm> {
    word: &'t u64,
    placement: S::Placement,
    turn: CostChange,
}

/// The kind of the moving tile, and in the second bit whether its pattern's cost falls.
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

    /// 1 if the successor is within the threshold in the `nth` view to be looked up, otherwise 0.
    #[inline(always)]
    fn is_within(self, way: PackedMove, nth: u32) -> usize {
        ((self.0 >> 1 | way.0 >> (PackedMove::LOOSE + nth)) & 1) as usize
    }
}

/// A successor within the threshold, not entered yet.
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

    /// Reads the cost. Returns 1 if the successor is within the threshold in this view, otherwise 0.
    #[inline(always)]
    pub(super) fn settle(&mut self, way: PackedMove, nth: u32) -> usize {
        let bit = (*self.word >> S::bit(self.placement)) as u32 & 1;
        self.turn.0 ^= bit << 1;
        self.turn.is_within(way, nth)
    }

    /// The successor after look-ups in both views.
    #[inline(always)]
    pub(super) fn child(&self, second: &Self, way: PackedMove) -> Child<S> {
        Child { placements: [self.placement, second.placement], way, turns: [self.turn.0 as u16, second.turn.0 as u16] }
    }
}

impl<'t, S: BoardForm> MoveTables<'t, S> {
    /// The tables for a start whose costs are given.
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

    /// The start, with the given threshold.
    pub(super) fn root(&self, threshold: u8) -> BatchNode<S> {
        BatchNode { left: threshold, ..self.root }
    }

    /// The moves to generate from a node.
    #[inline(always)]
    pub(super) fn onward(&self, node: &BatchNode<S>) -> &MoveList {
        &self.onward[usize::from(node.blank) % MAX_CELLS][usize::from(node.past.refused().bits())]
    }

    /// Starts the look-up of a successor in the `nth` view.
    #[inline(always)]
    pub(super) fn look(&self, node: &BatchNode<S>, way: PackedMove, nth: usize) -> Probe<'_, S> {
        let seen = way.first_seen() ^ nth;
        let ViewMove { step, shift } = &self.seen[seen];
        let kind = S::kind_in(node.kinds[seen % VIEWS], *shift);
        let (placement, word) = S::begin(&self.lookups[kind % MAX_KINDS], node.placements[kind], step);
        let turn = u32::from(node.ups[kind]) & CostChange::SINKS | (kind as u32) << CostChange::KIND;
        Probe { word, placement, turn: CostChange(turn) }
    }

    /// Turns a copy of the parent into a child.
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
