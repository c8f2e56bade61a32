//! Batched depth-first search of several subtrees, interleaved to overlap memory latency.

use super::board_form::BoardForm;
use super::expansion::{Expansion, MAX_SUCCESSORS, NODES_TOGETHER};
use super::frontier::Frontier;
use super::frontier::LeastCosts;
use super::node::Child;
use super::node::{BatchNode, MoveTables};
use super::packed_move::PackedMove;
use super::subtrees::{NodeCounts, Subtrees};
use crate::domain::Move;
use crate::search::StopReason;

/// Number of groups of traversals. While one group waits for entries of the tables, the other is at work.
const GROUPS: usize = 2;
/// Number of subtrees that a thread searches at a time.
const TRAVERSALS: usize = GROUPS * NODES_TOGETHER;

const _: () = assert!(TRAVERSALS * (u8::MAX as usize + 1) <= PackedMove::NODES, "node indices fit a packed move");

/// Maximum number of nodes expanded per part when a tree is split.
const MAX_NODES_PER_PART: usize = 8;

/// A thread's state of the search.
pub(crate) struct BatchSearch<'g, S: BoardForm> {
    tables: &'g MoveTables<'g, S>,
    /// Nodes on the current paths, by moves left and traversal.
    nodes: Vec<BatchNode<S>>,
    /// Pending children, one stack per traversal.
    children: Vec<Child<S>>,
    /// Size of a traversal's stack.
    stack: usize,
    traversals: [Traversal; TRAVERSALS],
    /// End of each traversal's stack.
    tops: [usize; TRAVERSALS],
    groups: [Group<'g, S>; GROUPS],
}

/// Traversals whose nodes are expanded together, at most one each.
struct Group<'g, S: BoardForm> {
    /// The traversals. The first `active` have a subtree or may get one.
    traversals: [u8; NODES_TOGETHER],
    active: usize,
    expansion: Expansion<'g, S>,
}

#[derive(Clone, Copy)]
struct Traversal {
    /// Index of the current subtree.
    subtree: usize,
    expanded: u64,
    generated: u64,
    /// The fewest moves left at an expanded node.
    least_left: u8,
    /// The least cost of an expanded node.
    least_cost: u8,
}

/// The reason why a thread stops before its subtrees are completed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Interrupt {
    /// The search has stopped.
    Stopped(StopReason),
    /// Stronger tables have arrived.
    Outdated,
    /// The thread is needed for more important work.
    Yield,
}

/// Called from time to time with the number of nodes expanded since the last call. Returns how many may be expanded
/// before the next call.
pub(crate) type Poll<'p> = dyn FnMut(u64) -> Result<u64, Interrupt> + 'p;

impl<'g, S: BoardForm> BatchSearch<'g, S> {
    pub(crate) fn new(tables: &'g MoveTables<'g, S>) -> Self {
        Self {
            tables,
            nodes: Vec::new(),
            children: Vec::new(),
            stack: 0,
            traversals: [Traversal::begin(Traversal::IDLE, 0); TRAVERSALS],
            tops: [0; TRAVERSALS],
            groups: std::array::from_fn(Group::new),
        }
    }

    /// Reserves memory for the given threshold, and empties all stacks.
    fn reserve(&mut self, threshold: u8) {
        let depth = usize::from(threshold) + 1;
        // While one successor of a node is searched, the others wait on the stack.
        self.stack = (MAX_SUCCESSORS - 1) * depth + 1;
        self.nodes.resize(depth * TRAVERSALS, BatchNode::NONE);
        self.children.resize(self.stack * TRAVERSALS, Child::NONE);
        self.tops = std::array::from_fn(|traversal| traversal * self.stack);
        self.groups.iter_mut().for_each(Group::reset);
    }

    /// Searches subtrees until none are left. If they are not shared, it stops at the goal, and counts all nodes that
    /// it has expanded.
    pub(crate) fn run(&mut self, subtrees: &Subtrees<S>, poll: &mut Poll<'_>) -> Result<(), Interrupt> {
        debug_assert!(
            self.traversals.iter().all(|traversal| traversal.subtree == Traversal::IDLE),
            "all traversals are idle before a run"
        );
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
                // No expansion may be left that would push children to an abandoned traversal.
                self.look_up_second(1);
                self.push(1);
                self.abandon_after(best);
            }
            if active < TRAVERSALS && !subtrees.is_shared() {
                self.divide(subtrees);
            }
            // Between two steps of a group's expansion, there is at least one step of the other group.
            self.advance(0, subtrees);
            self.look_up_second(1);
            self.look_up_second(0);
            self.push(1);
            self.advance(1, subtrees);
            self.push(0);
            expanded += self.active() as u64;
        }
    }

    /// Number of active traversals.
    fn active(&self) -> usize {
        self.groups.iter().map(|group| group.active).sum()
    }

    /// Enters the next node of each active traversal of a group, and begins its expansion: the first step. Traversals
    /// without a node become inactive.
    #[inline(always)]
    fn advance(&mut self, group: usize, subtrees: &Subtrees<S>) {
        let mut numbers = [0; NODES_TOGETHER];
        let mut nth = 0;
        while nth < self.groups[group].active {
            let traversal = usize::from(self.groups[group].traversals[nth % NODES_TOGETHER]) % TRAVERSALS;
            let number = if self.tops[traversal] > traversal * self.stack {
                self.enter(traversal)
            } else if let Some(number) = self.start_next(traversal, subtrees) {
                number
            } else {
                self.groups[group].deactivate(nth);
                continue;
            };
            if self.nodes[number].is_goal() {
                self.finish(traversal, subtrees, Some(number));
                continue;
            }
            numbers[nth % NODES_TOGETHER] = number;
            nth += 1;
        }
        // A separate loop does not wait for the history of each node.
        for number in &numbers[..nth] {
            let (node, this) = (&self.nodes[*number], &mut self.traversals[*number % TRAVERSALS]);
            let onward = self.tables.onward(node);
            this.expanded += 1;
            this.generated += u64::from(onward.count);
            this.least_left = this.least_left.min(node.left());
            this.least_cost = this.least_cost.min(node.cost());
            self.groups[group].expansion.add(node.packed_moves(*number), onward);
        }
        self.groups[group].expansion.look_up_first(self.tables, &self.nodes);
    }

    /// Continues the expansion of a group's nodes: its second step.
    #[inline(always)]
    fn look_up_second(&mut self, group: usize) {
        self.groups[group].expansion.look_up_second(self.tables, &self.nodes);
    }

    /// Completes the expansion of a group's nodes: its third step.
    #[inline(always)]
    fn push(&mut self, group: usize) {
        self.groups[group].expansion.push(self.tables, &mut self.children, &mut self.tops);
    }

    /// Enters the next child of a traversal.
    #[inline(always)]
    fn enter(&mut self, traversal: usize) -> usize {
        self.tops[traversal] -= 1;
        let child = self.children[self.tops[traversal]];
        let parent = child.packed.node();
        let number = parent - TRAVERSALS;
        self.nodes[number] = self.nodes[parent];
        let node = &mut self.nodes[number];
        self.tables.enter(node, &child);
        number
    }

    /// Completes a traversal's subtree and starts the next one, if any.
    #[cold]
    fn start_next(&mut self, traversal: usize, subtrees: &Subtrees<S>) -> Option<usize> {
        self.finish(traversal, subtrees, None);
        let (subtree, root) = subtrees.take()?;
        self.traversals[traversal] = Traversal::begin(subtree, subtrees.threshold());
        let number = usize::from(root.left()) * TRAVERSALS + traversal;
        self.nodes[number] = *root;
        Some(number)
    }

    /// Abandons subtrees after the one in which the goal was found.
    #[cold]
    fn abandon_after(&mut self, best: usize) {
        for (traversal, this) in self.traversals.iter_mut().enumerate().filter(|(_, this)| this.subtree > best) {
            this.subtree = Traversal::IDLE;
            self.tops[traversal] = traversal * self.stack;
        }
    }

    /// Stores the result of a traversal's subtree, if it has one, given the node of the goal if it was found.
    #[cold]
    fn finish(&mut self, traversal: usize, subtrees: &Subtrees<S>, found: Option<usize>) {
        self.tops[traversal] = traversal * self.stack;
        let this = &mut self.traversals[traversal];
        let number = std::mem::replace(&mut this.subtree, Traversal::IDLE);
        if number == Traversal::IDLE {
            return;
        }
        let done = *this;
        if let Some(other) = self.traversals.iter_mut().find(|other| found.is_none() && other.subtree == number) {
            other.merge(&done);
            return;
        }
        let found = found.map(|goal| self.moves_to_goal(traversal, goal, number, subtrees));
        subtrees.finish(number, done.spent(subtrees.threshold()), done.least_cost, found);
    }

    /// The moves from the start to the goal's node, in a traversal's part. The goal is the traversal's last node, with
    /// no moves left, because a lower threshold would have found a shorter path. Damaged tables may give another node,
    /// or costs that are 0 only in the sum. Then the list is empty, so the solution does not replay: even if it led to
    /// the goal, the search might have missed a shorter one.
    fn moves_to_goal(&self, traversal: usize, goal: usize, number: usize, subtrees: &Subtrees<S>) -> Vec<Move> {
        if goal != traversal || !self.nodes[goal].is_home() {
            return Vec::new();
        }
        let mut moves = subtrees.moves_to_root(number);
        let below =
            self.nodes.iter().skip(traversal).step_by(TRAVERSALS).take(usize::from(subtrees.root(number).left()));
        moves.extend(below.rev().map(BatchNode::last));
        moves
    }

    /// Abandons all current subtrees, or puts them back for other threads.
    fn release(&mut self, subtrees: &Subtrees<S>, puts_back: bool) {
        for this in &mut self.traversals {
            let number = std::mem::replace(&mut this.subtree, Traversal::IDLE);
            match number {
                Traversal::IDLE => {}
                _ if puts_back => subtrees.put_back(number, this.expanded),
                _ => subtrees.abandon(this.spent(subtrees.threshold())),
            }
        }
    }

    /// Hands the pending child with the most moves left to an idle traversal, which then searches a piece of the
    /// subtree.
    #[cold]
    fn divide(&mut self, subtrees: &Subtrees<S>) {
        let pending = |traversal: &usize| self.tops[*traversal] > *traversal * self.stack + 1;
        let moves_left = |traversal: &usize| self.children[*traversal * self.stack].packed.node() / TRAVERSALS;
        let active = self
            .groups
            .iter()
            .flat_map(|group| &group.traversals[..group.active])
            .map(|traversal| usize::from(*traversal));
        let Some(from) = active.filter(pending).max_by_key(moves_left) else { return };
        let Some(to) = self.groups.iter_mut().find_map(Group::activate) else { return };
        let bottom = from * self.stack;
        let child = self.children[bottom];
        self.children.copy_within(bottom + 1..self.tops[from], bottom);
        self.tops[from] -= 1;
        self.children[to * self.stack] = child.in_traversal(from, to);
        self.tops[to] = to * self.stack + 1;
        self.traversals[to] = Traversal { expanded: 0, generated: 0, ..self.traversals[from] };
        // The path from the subtree's root.
        let root = usize::from(subtrees.root(self.traversals[from].subtree).left()) * TRAVERSALS + from;
        for number in (child.packed.node()..=root).step_by(TRAVERSALS) {
            self.nodes[number - from + to] = self.nodes[number];
        }
    }

    /// Splits the tree below a root into about `wanted` parts, guided by the previous iteration's least costs.
    pub(crate) fn split(&mut self, root: BatchNode<S>, wanted: usize, before: Option<&LeastCosts<S>>) -> Subtrees<S> {
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

    /// Expands some leaves of a frontier, one in each traversal of the first group.
    fn grow(&mut self, frontier: &mut Frontier<S>, chosen: &[u32]) {
        for (traversal, leaf) in chosen.iter().enumerate() {
            let node = frontier.node(*leaf);
            let number = usize::from(node.left()) * TRAVERSALS + traversal;
            self.nodes[number] = *node;
            self.groups[0].expansion.add(node.packed_moves(number), self.tables.onward(node));
        }
        self.groups[0].expansion.look_up_first(self.tables, &self.nodes);
        self.look_up_second(0);
        self.push(0);
        for (traversal, leaf) in chosen.iter().enumerate() {
            let generated = self.tables.onward(frontier.node(*leaf)).count;
            let below = std::iter::from_fn(|| {
                let number = (self.tops[traversal] > traversal * self.stack).then(|| self.enter(traversal))?;
                Some(self.nodes[number])
            });
            frontier.expand(*leaf, generated, below);
        }
    }
}

impl Traversal {
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
        let traversals = std::array::from_fn(|nth| (number * NODES_TOGETHER + nth) as u8);
        Self { traversals, active: NODES_TOGETHER, expansion: Expansion::EMPTY }
    }

    /// Makes all traversals active, without nodes.
    fn reset(&mut self) {
        self.active = NODES_TOGETHER;
        self.expansion.clear();
    }

    /// Makes the active traversal at an index inactive.
    fn deactivate(&mut self, nth: usize) {
        self.active -= 1;
        self.traversals.swap(nth, self.active);
    }

    /// Makes a traversal active, if there is an inactive one.
    fn activate(&mut self) -> Option<usize> {
        let traversal = self.traversals.get(self.active)?;
        self.active += 1;
        Some(usize::from(*traversal))
    }
}
