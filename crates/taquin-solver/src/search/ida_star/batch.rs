//! Batched depth-first search of several subtrees, interleaved to overlap memory latency.

use super::board_form::BoardForm;
use super::expansion::{Expansion, MAX_SUCCESSORS, NODES_TOGETHER};
use super::frontier::Frontier;
use super::least_costs::LeastCosts;
use super::look_up::Child;
use super::node::{BatchNode, MoveTables};
use super::packed_move::PackedMove;
use super::subtrees::{NodeCounts, Subtrees};
use crate::domain::Move;
use crate::search::StopReason;

/// Number of groups of lanes. While one group waits for entries of the tables, the other is at work.
const GROUPS: usize = 2;
/// Number of subtrees that a thread searches at a time.
const LANES: usize = GROUPS * NODES_TOGETHER;

const _: () = assert!(LANES * (u8::MAX as usize + 1) <= PackedMove::NODES, "node indices fit a packed move");

/// Maximum number of nodes expanded per part when a tree is split.
const MAX_NODES_PER_PART: usize = 8;

/// A thread's state of the search.
pub(super) struct BatchSearch<'g, S: BoardForm> {
    tables: &'g MoveTables<'g, S>,
    /// Nodes on the current paths, by moves left and lane.
    nodes: Vec<BatchNode<S>>,
    /// Pending children, one stack per lane.
    children: Vec<Child<S>>,
    /// Size of a lane's stack.
    stack: usize,
    lanes: [Lane; LANES],
    /// End of each lane's stack.
    tops: [usize; LANES],
    groups: [Group<'g, S>; GROUPS],
}

/// Lanes whose nodes are expanded together, at most one each.
struct Group<'g, S: BoardForm> {
    /// The lanes. The first `active` have a subtree or may get one.
    lanes: [u8; NODES_TOGETHER],
    active: usize,
    expansion: Expansion<'g, S>,
}

#[derive(Clone, Copy)]
struct Lane {
    /// Index of the current subtree.
    subtree: usize,
    expanded: u64,
    generated: u64,
    /// The fewest moves left at an expanded node.
    least_left: u8,
    /// The least cost of an expanded node.
    least_cost: u8,
}

/// Why a thread stops before its subtrees are completed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Interrupt {
    /// The search has stopped.
    Stopped(StopReason),
    /// Stronger tables have arrived.
    Outdated,
    /// The thread is needed for more important work.
    Yield,
}

/// Called from time to time with the number of nodes expanded since the last call. Returns how many may be expanded
/// before the next call.
pub(super) type Poll<'p> = dyn FnMut(u64) -> Result<u64, Interrupt> + 'p;

impl<'g, S: BoardForm> BatchSearch<'g, S> {
    pub(super) fn new(tables: &'g MoveTables<'g, S>) -> Self {
        Self {
            tables,
            nodes: Vec::new(),
            children: Vec::new(),
            stack: 0,
            lanes: [Lane::begin(Lane::IDLE, 0); LANES],
            tops: [0; LANES],
            groups: std::array::from_fn(Group::new),
        }
    }

    /// Reserves memory for the given threshold, and empties all stacks.
    fn reserve(&mut self, threshold: u8) {
        let depth = usize::from(threshold) + 1;
        // While one successor of a node is searched, the others wait on the stack.
        self.stack = (MAX_SUCCESSORS - 1) * depth + 1;
        self.nodes.resize(depth * LANES, BatchNode::NONE);
        self.children.resize(self.stack * LANES, Child::NONE);
        self.tops = std::array::from_fn(|lane| lane * self.stack);
        self.groups.iter_mut().for_each(Group::reset);
    }

    /// Searches subtrees until none are left. If they are not shared, it stops at the goal, and counts all nodes that
    /// it has expanded.
    pub(super) fn run(&mut self, subtrees: &Subtrees<S>, poll: &mut Poll<'_>) -> Result<(), Interrupt> {
        debug_assert!(self.lanes.iter().all(|lane| lane.subtree == Lane::IDLE), "all lanes are idle before a run");
        self.reserve(subtrees.threshold());
        let (mut expanded, mut allowed, mut best) = (0, 0, subtrees.best());
        loop {
            let active = self.active();
            if expanded >= allowed || active == 0 {
                let polled = poll(expanded);
                if active == 0 {
                    return Ok(());
                }
                allowed = polled.inspect_err(|interrupt| self.release(subtrees, *interrupt == Interrupt::Yield))?;
                expanded = 0;
            }
            if subtrees.best() < best {
                if !subtrees.is_shared() {
                    self.release(subtrees, false);
                    return poll(expanded).map(drop);
                }
                best = subtrees.best();
                // No expansion may be left that would push children to an abandoned lane.
                self.look_up_second(1);
                self.push(1);
                self.abandon_after(best);
            }
            if active < LANES && !subtrees.is_shared() {
                self.divide(subtrees);
            }
            // Between two steps of an expansion there is at least one of the other group.
            self.advance(0, subtrees);
            self.look_up_second(1);
            self.look_up_second(0);
            self.push(1);
            self.advance(1, subtrees);
            self.push(0);
            expanded += self.active() as u64;
        }
    }

    /// Number of active lanes.
    fn active(&self) -> usize {
        self.groups.iter().map(|group| group.active).sum()
    }

    /// Enters the next node of each active lane of a group, and begins its expansion: the first step. Lanes without a
    /// node become inactive.
    #[inline(always)]
    fn advance(&mut self, group: usize, subtrees: &Subtrees<S>) {
        let mut numbers = [0; NODES_TOGETHER];
        let mut nth = 0;
        while nth < self.groups[group].active {
            let lane = usize::from(self.groups[group].lanes[nth % NODES_TOGETHER]) % LANES;
            let number = if self.tops[lane] > lane * self.stack {
                self.enter(lane)
            } else if let Some(number) = self.start_next(lane, subtrees) {
                number
            } else {
                self.groups[group].deactivate(nth);
                continue;
            };
            if self.nodes[number].is_goal() {
                self.finish(lane, subtrees, Some(number));
                continue;
            }
            numbers[nth % NODES_TOGETHER] = number;
            nth += 1;
        }
        // A loop of its own does not wait for the history of each node.
        for number in &numbers[..nth] {
            let (node, this) = (&self.nodes[*number], &mut self.lanes[*number % LANES]);
            let onward = self.tables.onward(node);
            this.expanded += 1;
            this.generated += u64::from(onward.count);
            this.least_left = this.least_left.min(node.left());
            this.least_cost = this.least_cost.min(node.cost());
            self.groups[group].expansion.add(node.packed_moves(*number), onward);
        }
        self.groups[group].expansion.look_up_first(self.tables, &self.nodes);
    }

    /// Goes on with the expansion of a group's nodes: its second step.
    #[inline(always)]
    fn look_up_second(&mut self, group: usize) {
        self.groups[group].expansion.look_up_second(self.tables, &self.nodes);
    }

    /// Completes the expansion of a group's nodes: its third step.
    #[inline(always)]
    fn push(&mut self, group: usize) {
        self.groups[group].expansion.push(self.tables, &mut self.children, &mut self.tops);
    }

    /// Enters the next child of a lane.
    #[inline(always)]
    fn enter(&mut self, lane: usize) -> usize {
        self.tops[lane] -= 1;
        let child = self.children[self.tops[lane]];
        let parent = child.packed.node();
        let number = parent - LANES;
        self.nodes[number] = self.nodes[parent];
        let node = &mut self.nodes[number];
        self.tables.enter(node, &child);
        number
    }

    /// Completes a lane's subtree and starts the next one, if any.
    #[cold]
    fn start_next(&mut self, lane: usize, subtrees: &Subtrees<S>) -> Option<usize> {
        self.finish(lane, subtrees, None);
        let (subtree, root) = subtrees.take()?;
        self.lanes[lane] = Lane::begin(subtree, subtrees.threshold());
        let number = usize::from(root.left()) * LANES + lane;
        self.nodes[number] = *root;
        Some(number)
    }

    /// Abandons subtrees after the one in which the goal was found.
    #[cold]
    fn abandon_after(&mut self, best: usize) {
        for (lane, this) in self.lanes.iter_mut().enumerate().filter(|(_, this)| this.subtree > best) {
            this.subtree = Lane::IDLE;
            self.tops[lane] = lane * self.stack;
        }
    }

    /// Stores the result of a lane's subtree, if it has one, given the node of the goal if it was found.
    #[cold]
    fn finish(&mut self, lane: usize, subtrees: &Subtrees<S>, found: Option<usize>) {
        self.tops[lane] = lane * self.stack;
        let this = &mut self.lanes[lane];
        let number = std::mem::replace(&mut this.subtree, Lane::IDLE);
        if number == Lane::IDLE {
            return;
        }
        let done = *this;
        if let Some(other) = self.lanes.iter_mut().find(|other| found.is_none() && other.subtree == number) {
            other.merge(&done);
            return;
        }
        let found = found.map(|goal| self.moves_to_goal(lane, goal, number, subtrees));
        subtrees.finish(number, done.spent(subtrees.threshold()), done.least_cost, found);
    }

    /// The moves from the start to the goal's node, in a lane's part. It is the lane's last one, with no moves left,
    /// because a shorter path would have been found with a lower threshold. With wrong tables it may be another one, or
    /// its costs may be 0 in the sum alone. Then there are no moves, so the solution does not replay: even if it led to
    /// the goal, a shorter one may have been missed.
    fn moves_to_goal(&self, lane: usize, goal: usize, number: usize, subtrees: &Subtrees<S>) -> Vec<Move> {
        if goal != lane || !self.nodes[goal].is_home() {
            return Vec::new();
        }
        let mut moves = subtrees.moves_to_root(number);
        let below = self.nodes.iter().skip(lane).step_by(LANES).take(usize::from(subtrees.root(number).left()));
        moves.extend(below.rev().map(BatchNode::last));
        moves
    }

    /// Abandons all current subtrees, or puts them back for other threads.
    fn release(&mut self, subtrees: &Subtrees<S>, puts_back: bool) {
        for this in &mut self.lanes {
            let number = std::mem::replace(&mut this.subtree, Lane::IDLE);
            match number {
                Lane::IDLE => {}
                _ if puts_back => subtrees.put_back(number, this.expanded),
                _ => subtrees.abandon(this.spent(subtrees.threshold())),
            }
        }
    }

    /// Hands the pending child with the most moves left to an idle lane, which then has a piece of the same subtree.
    #[cold]
    fn divide(&mut self, subtrees: &Subtrees<S>) {
        let pending = |lane: &usize| self.tops[*lane] > *lane * self.stack + 1;
        let moves_left = |lane: &usize| self.children[*lane * self.stack].packed.node() / LANES;
        let active = self.groups.iter().flat_map(|group| &group.lanes[..group.active]).map(|lane| usize::from(*lane));
        let Some(from) = active.filter(pending).max_by_key(moves_left) else { return };
        let Some(to) = self.groups.iter_mut().find_map(Group::activate) else { return };
        let bottom = from * self.stack;
        let child = self.children[bottom];
        self.children.copy_within(bottom + 1..self.tops[from], bottom);
        self.tops[from] -= 1;
        self.children[to * self.stack] = child.in_lane(from, to);
        self.tops[to] = to * self.stack + 1;
        self.lanes[to] = Lane { expanded: 0, generated: 0, ..self.lanes[from] };
        // The path from the subtree's root.
        let root = usize::from(subtrees.root(self.lanes[from].subtree).left()) * LANES + from;
        for number in (child.packed.node()..=root).step_by(LANES) {
            self.nodes[number - from + to] = self.nodes[number];
        }
    }

    /// Splits the tree below a root into about `wanted` parts, given what the iteration before has found.
    pub(super) fn split(&mut self, root: BatchNode<S>, wanted: usize, before: Option<&LeastCosts<S>>) -> Subtrees<S> {
        self.reserve(root.left());
        let mut frontier = Frontier::new(root);
        let mut chosen = Vec::with_capacity(NODES_TOGETHER);
        let mut expanded = 0;
        while frontier.leaves() < wanted && expanded + NODES_TOGETHER <= MAX_NODES_PER_PART * wanted {
            expanded += chosen.len();
            chosen.clear();
            chosen.extend(std::iter::from_fn(|| frontier.pop()).take(NODES_TOGETHER));
            if chosen.is_empty() {
                break;
            }
            self.grow(&mut frontier, &chosen);
        }
        Subtrees::of(frontier, before)
    }

    /// Expands some leaves of a frontier, one in each lane of the first group.
    fn grow(&mut self, frontier: &mut Frontier<S>, chosen: &[u32]) {
        for (lane, leaf) in chosen.iter().enumerate() {
            let node = frontier.node(*leaf);
            let number = usize::from(node.left()) * LANES + lane;
            self.nodes[number] = *node;
            self.groups[0].expansion.add(node.packed_moves(number), self.tables.onward(node));
        }
        self.groups[0].expansion.look_up_first(self.tables, &self.nodes);
        self.look_up_second(0);
        self.push(0);
        for (lane, leaf) in chosen.iter().enumerate() {
            let generated = self.tables.onward(frontier.node(*leaf)).count;
            let below = std::iter::from_fn(|| {
                let number = (self.tops[lane] > lane * self.stack).then(|| self.enter(lane))?;
                Some(self.nodes[number])
            });
            frontier.expand(*leaf, generated, below);
        }
    }
}

impl Lane {
    /// Index that stands for no subtree.
    const IDLE: usize = usize::MAX;

    fn begin(subtree: usize, threshold: u8) -> Self {
        Self { subtree, expanded: 0, generated: 0, least_left: threshold, least_cost: u8::MAX }
    }

    /// Adds the counters of another piece of the same subtree.
    fn merge(&mut self, other: &Self) {
        self.expanded += other.expanded;
        self.generated += other.generated;
        self.least_left = self.least_left.min(other.least_left);
        self.least_cost = self.least_cost.min(other.least_cost);
    }

    fn spent(&self, threshold: u8) -> NodeCounts {
        NodeCounts {
            expanded: self.expanded,
            generated: self.generated,
            deepest: u32::from(threshold - self.least_left),
        }
    }
}

impl<S: BoardForm> Group<'_, S> {
    /// The group with this number.
    fn new(number: usize) -> Self {
        let lanes = std::array::from_fn(|nth| (number * NODES_TOGETHER + nth) as u8);
        Self { lanes, active: NODES_TOGETHER, expansion: Expansion::EMPTY }
    }

    /// Makes all lanes active, without nodes.
    fn reset(&mut self) {
        self.active = NODES_TOGETHER;
        self.expansion.clear();
    }

    /// Makes the active lane at an index inactive.
    fn deactivate(&mut self, nth: usize) {
        self.active -= 1;
        self.lanes.swap(nth, self.active);
    }

    /// Makes a lane active, if there is an inactive one.
    fn activate(&mut self) -> Option<usize> {
        let lane = self.lanes.get(self.active)?;
        self.active += 1;
        Some(usize::from(*lane))
    }
}
