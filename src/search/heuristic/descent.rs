//! IDA* over patterns, in place.

use super::super::{Budget, Meter, MoveAutomaton, Outcome, Space, Stats, StopReason};
use super::Heuristic;
use super::additive::{AdditivePatterns, Costs, MAX_VIEWS};
use super::pattern_table::{Entry, Placed, Step};
use super::placements::MAX_CELLS;
use crate::domain::{Cell, Move, Path, Word};

/// What [`ida_star`](super::super::ida_star) does with patterns, several times as fast: the same
/// expansions in the same order. It generates all successors of a node at once, those too that the
/// other one never came to because the goal lay below an earlier one.
///
/// The board stays where it is and only what a move changes is kept to be put back. All successors of
/// a node are looked up before the first is gone into, so that their tables' lines come from memory
/// at the same time.
pub(super) fn descend(patterns: &AdditivePatterns<'_>, space: &Space<Word>, budget: &Budget<'_>) -> Outcome {
    let start = space.start();
    let costs = patterns.evaluate(&start);
    let initial_h = patterns.h(costs);
    let mut descent = Descent {
        patterns,
        exits: Exits::new(patterns, space),
        goal_blank: space.goal_blank(),
        tiles: start.tiles.0,
        costs,
        threshold: initial_h,
        deepest: 0,
        found: Vec::new(),
        children: vec![Child::NONE; 64],
        used: 0,
        meter: budget.meter(),
        stats: Stats { initial_h, ..Stats::default() },
    };
    let result = descent.run(start.blank);
    let peak_open = u64::from(descent.deepest) + 1;
    Outcome { result, lower_bound: descent.threshold, stats: Stats { peak_open, ..descent.stats } }
}

/// The ways that a tile can come to the blank, by the blank's cell.
struct Exits {
    /// By the blank's move.
    exits: [[Exit; 4]; MAX_CELLS],
    /// By the state of the automaton: how many moves are worth making, and for each of them the state
    /// that it leads to.
    onward: Vec<[Onward; MAX_CELLS]>,
}

#[derive(Clone, Copy)]
struct Onward {
    count: u8,
    moves: [(Move, u8); 4],
}

#[derive(Clone, Copy, Default)]
struct Exit {
    from: Cell,
    steps: [Step; MAX_VIEWS],
}

impl Exits {
    fn new(patterns: &AdditivePatterns<'_>, space: &Space<Word>) -> Self {
        let size = space.size();
        let mut exits = [[Exit::default(); 4]; MAX_CELLS];
        let automaton = MoveAutomaton::new();
        let mut onward = vec![[Onward { count: 0, moves: [(Move::Up, 0); 4] }; MAX_CELLS]; automaton.states().len()];
        for to in 0..size.cells() as Cell {
            let at = usize::from(to);
            for mv in size.moves_from(to) {
                let from = to.wrapping_add_signed(size.offset(mv));
                exits[at][mv as usize] = Exit { from, steps: patterns.steps(from, to) };
            }
            for (state, onward) in automaton.states().zip(&mut onward) {
                for mv in space.moves_except(to, automaton.refused(state)) {
                    let Onward { count, moves } = &mut onward[at];
                    moves[usize::from(*count)] = (mv, automaton.next(state, mv));
                    *count += 1;
                }
            }
        }
        Self { exits, onward }
    }
}

struct Descent<'a> {
    patterns: &'a AdditivePatterns<'a>,
    exits: Exits,
    goal_blank: u8,
    tiles: u64,
    costs: Costs,
    threshold: u32,
    /// The greatest g of an expanded node.
    deepest: u32,
    found: Vec<Move>,
    /// The successors still to be gone into, of every node on the way; what lies beyond `used` is free.
    children: Vec<Child>,
    used: usize,
    meter: Meter<'a>,
    stats: Stats,
}

/// A successor within the threshold.
#[derive(Clone, Copy)]
struct Child {
    mv: Move,
    past: u8,
    from: Cell,
    label: u8,
    patterns: [u8; MAX_VIEWS],
    placed: [Placed; MAX_VIEWS],
    sums: [u8; MAX_VIEWS],
}

/// A successor whose costs are still on their way from memory.
#[derive(Clone, Copy)]
struct Begun {
    child: Child,
    entries: [Entry; MAX_VIEWS],
}

impl Begun {
    const NONE: Self = Self { child: Child::NONE, entries: [Entry { word: 0, bit: 0 }; MAX_VIEWS] };
}

impl Child {
    const NONE: Self = Self {
        mv: Move::Up,
        past: 0,
        from: 0,
        label: 0,
        patterns: [0; MAX_VIEWS],
        placed: [Placed::NOWHERE; MAX_VIEWS],
        sums: [0; MAX_VIEWS],
    };
}

impl Descent<'_> {
    fn run(&mut self, blank: Cell) -> Result<Path, StopReason> {
        loop {
            self.stats.iterations += 1;
            self.stats.generated += 1;
            if self.visit(blank, 0, MoveAutomaton::START)? {
                self.found.reverse();
                return Ok(std::mem::take(&mut self.found).into());
            }
            // Along a move f stays or rises by two, so nothing lies between.
            self.threshold += 2;
        }
    }

    /// Searches below the board in hand, whose f is within the threshold; true if the goal is there.
    fn visit(&mut self, blank: Cell, g: u32, past: u8) -> Result<bool, StopReason> {
        // Patterns that cost nothing are at home, and they have all tiles.
        if self.costs.sums[0] == 0 {
            return Ok(true);
        }
        self.meter.expand(self.stats.expanded)?;
        self.stats.expanded += 1;
        self.deepest = self.deepest.max(g);
        let first = self.used;
        self.generate(blank, g, past);
        for nth in first..self.used {
            let child = self.children[nth];
            let before = self.make(child, blank);
            let is_found = self.visit(child.from, g + 1, child.past)?;
            self.make(before, blank);
            if is_found {
                self.found.push(child.mv);
                return Ok(true);
            }
        }
        self.used = first;
        Ok(false)
    }

    /// Adds the successors within the threshold. Nothing branches on what the tables say, which nobody
    /// can foretell: every successor is written, and stays if it is within.
    #[inline(always)]
    fn generate(&mut self, blank: Cell, g: u32, past: u8) {
        let at = usize::from(blank) % MAX_CELLS;
        let Onward { count, moves } = self.exits.onward[usize::from(past)][at];
        self.stats.generated += u64::from(count);
        if self.used + 4 > self.children.len() {
            self.children.resize(2 * self.children.len(), Child::NONE);
        }
        let within = self.threshold as i32 - g as i32 - 1;
        let mut begun = [Begun::NONE; 4];
        for (begun, (mv, past)) in begun.iter_mut().zip(&moves[..usize::from(count % 5)]) {
            let exit = &self.exits.exits[at][*mv as usize];
            let label = (self.tiles >> (4 * exit.from) & 15) as u8;
            begun.child = Child { mv: *mv, past: *past, from: exit.from, label, sums: self.costs.sums, ..Child::NONE };
            for (view, looks) in self.patterns.views().iter().enumerate() {
                let pattern = looks.pattern(label);
                let before = self.costs.placed[view][pattern];
                (begun.child.placed[view], begun.entries[view]) = looks.lookup(pattern).begin(before, exit.steps[view]);
                begun.child.patterns[view] = pattern as u8;
            }
        }
        for begun in &begun[..usize::from(count % 5)] {
            let mut child = begun.child;
            let mut is_within = true;
            for (view, looks) in self.patterns.views().iter().enumerate() {
                let slid = child.placed[view];
                let placed = looks.lookup(usize::from(child.patterns[view])).settle(slid, begun.entries[view]);
                child.sums[view] = child.sums[view].wrapping_add(placed.cost.wrapping_sub(slid.cost));
                child.placed[view] = placed;
                is_within &= i32::from(child.sums[view]) <= within;
            }
            self.children[self.used] = child;
            self.used += usize::from(is_within);
        }
    }

    /// Makes a child's move, and gives what makes it undone.
    #[inline(always)]
    fn make(&mut self, child: Child, blank: Cell) -> Child {
        let mut before = Child { sums: self.costs.sums, ..child };
        for view in 0..self.patterns.views().len() {
            let placed = &mut self.costs.placed[view][usize::from(child.patterns[view])];
            before.placed[view] = std::mem::replace(placed, child.placed[view]);
        }
        self.costs.sums = child.sums;
        let differing = u64::from(child.label ^ self.goal_blank);
        self.tiles ^= differing << (4 * child.from) | differing << (4 * blank);
        before
    }
}
