//! Frontier of an iteration: the top of the search tree, whose leaves are the roots of its parts; and the order of
//! parts.

use std::collections::BinaryHeap;
use std::sync::Arc;

use super::board_form::BoardForm;
use super::node::BatchNode;
use crate::domain::Move;

/// Nodes near the root, expanded by estimated subtree size until there are enough leaves. The leaves are the roots of
/// subtrees that are searched in parallel.
#[derive(Debug)]
pub(crate) struct Frontier<S: BoardForm> {
    nodes: Vec<BatchNode<S>>,
    /// By node: its parent and children.
    links: Vec<FrontierLink>,
    /// Leaves that can be expanded, by estimated subtree size.
    open: BinaryHeap<(u32, u32)>,
    leaves: usize,
}

#[derive(Clone, Copy, Debug)]
struct FrontierLink {
    /// Index of the parent; the root's own index for the root.
    parent: u32,
    children: Option<Children>,
}

/// Children of an expanded node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Children {
    first: u32,
    count: u32,
    /// Number of moves generated.
    pub generated: u32,
}

impl<S: BoardForm> Frontier<S> {
    /// Index of the root. Children have higher indices than their parents.
    pub(crate) const ROOT: u32 = 0;

    /// A frontier that consists of the root.
    pub(crate) fn new(root: BatchNode<S>) -> Self {
        let mut frontier = Self { nodes: Vec::new(), links: Vec::new(), open: BinaryHeap::new(), leaves: 1 };
        frontier.add(Self::ROOT, root);
        frontier
    }

    fn add(&mut self, parent: u32, node: BatchNode<S>) {
        if !node.is_goal() {
            self.open.push((estimated_size(&node), self.nodes.len() as u32));
        }
        self.nodes.push(node);
        self.links.push(FrontierLink { parent, children: None });
    }

    /// Number of leaves.
    pub(crate) fn leaves(&self) -> usize {
        self.leaves
    }

    pub(crate) fn root(&self) -> &BatchNode<S> {
        self.node(Self::ROOT)
    }

    pub(crate) fn node(&self, number: u32) -> &BatchNode<S> {
        &self.nodes[number as usize]
    }

    /// Number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The parent of a node other than the root.
    pub(crate) fn parent(&self, number: u32) -> u32 {
        self.links[number as usize].parent
    }

    /// The child after a move of the blank, of a node that is not a leaf; none if it is not in the tree.
    pub(crate) fn child(&self, children: Children, mv: Move) -> Option<u32> {
        (children.first..children.first + children.count).find(|child| self.node(*child).last() == mv)
    }

    /// The children of a node; none if it is a leaf.
    pub(crate) fn children(&self, number: u32) -> Option<Children> {
        self.links[number as usize].children
    }

    /// Removes the expandable leaf with the largest estimated subtree.
    pub(crate) fn pop(&mut self) -> Option<u32> {
        self.open.pop().map(|(_, number)| number)
    }

    /// Adds the children of a leaf, for which `generated` moves were generated.
    pub(crate) fn expand(&mut self, leaf: u32, generated: u32, below: impl Iterator<Item = BatchNode<S>>) {
        let first = self.nodes.len() as u32;
        below.for_each(|node| self.add(leaf, node));
        let count = self.nodes.len() as u32 - first;
        self.leaves = self.leaves + count as usize - 1;
        self.links[leaf as usize].children = Some(Children { first, count, generated });
    }

    /// All nodes in depth-first order: index, and children unless it is a leaf.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = (u32, Option<Children>)> {
        let mut pending = vec![Self::ROOT];
        std::iter::from_fn(move || {
            let number = pending.pop()?;
            let children = self.children(number);
            pending.extend(children.iter().flat_map(|Children { first, count, .. }| (*first..first + count).rev()));
            Some((number, children))
        })
    }

    /// The moves that lead to a node, last move first.
    pub(crate) fn moves_back(&self, mut number: u32) -> impl Iterator<Item = Move> {
        std::iter::from_fn(move || {
            let this = number;
            number = self.parent(this);
            (this != Self::ROOT).then(|| self.node(this).last())
        })
    }
}

/// Estimate of the logarithm of a subtree's size, from the moves left and their excess over the cost. The weights were
/// chosen to minimize idle traversals.
fn estimated_size<S: BoardForm>(node: &BatchNode<S>) -> u32 {
    3 * node.slack() + u32::from(node.left())
}

/// The least cost of the nodes below each node of a frontier, found by an iteration.
///
/// A part whose nodes came closest to the goal in one iteration probably contains it in the next (Powley & Korf 1991,
/// "Single-agent parallel window search").
#[derive(Debug)]
pub(crate) struct LeastCosts<S: BoardForm> {
    frontier: Arc<Frontier<S>>,
    /// By node.
    costs: Vec<u8>,
}

impl<S: BoardForm> LeastCosts<S> {
    /// The least costs of all nodes, derived from the leaves.
    pub(crate) fn new(frontier: Arc<Frontier<S>>, leaves: impl Iterator<Item = (u32, u8)>) -> Self {
        let mut costs: Vec<u8> = (0..frontier.len() as u32).map(|number| frontier.node(number).cost()).collect();
        for (leaf, cost) in leaves {
            costs[leaf as usize] = cost;
        }
        for number in (1..frontier.len()).rev() {
            let parent = frontier.parent(number as u32) as usize;
            costs[parent] = costs[parent].min(costs[number]);
        }
        Self { frontier, costs }
    }

    /// The least cost below each node of the next iteration's frontier. A node below a leaf takes the leaf's cost. A
    /// node beyond the threshold has its own cost.
    pub(crate) fn of(&self, next: &Frontier<S>) -> Vec<u8> {
        let mut same = vec![Some(Frontier::<S>::ROOT)];
        for number in 1..next.len() as u32 {
            let above = same[next.parent(number) as usize];
            same.push(above.and_then(|above| match self.frontier.children(above) {
                Some(children) => self.frontier.child(children, next.node(number).last()),
                None => Some(above),
            }));
        }
        let least_cost = |(number, same): (u32, Option<u32>)| match same {
            Some(same) => self.costs[same as usize],
            None => next.node(number).cost(),
        };
        (0..).zip(same).map(least_cost).collect()
    }
}

/// Order of a part with this root: promising parts have low numbers. The views' costs break ties between equal least
/// costs. The weight was chosen to minimize the nodes of Korf's 15-puzzles.
pub(crate) fn promise<S: BoardForm>(root: &BatchNode<S>, least_cost: u8) -> u32 {
    root.costs().into_iter().map(u32::from).sum::<u32>() + 8 * u32::from(least_cost)
}

#[cfg(test)]
mod tests {
    use super::super::batch::BatchSearch;
    use super::super::board_form::Form16;
    use super::super::move_automaton::{MoveAutomaton, MoveHistory};
    use super::super::node::MoveTables;
    use super::*;
    use crate::domain::{Board, Packed64, Puzzle, Size, SplitMix, random_board};
    use crate::search::heuristic::pattern::additive::{AdditivePatterns, Costs};
    use crate::search::heuristic::{GoalClass, Heuristic, Partition, Tier};
    use crate::search::{Space, State};

    type Patterns<'t> = AdditivePatterns<'t>;

    /// A plain depth-first search below a board, within a number of moves: the least cost of an expanded node.
    fn least_cost(
        (space, patterns): (&Space<Packed64>, &Patterns<'_>),
        state: &State<Packed64>,
        history: MoveHistory,
        left: u32,
    ) -> u32 {
        let cost = Heuristic::<Packed64>::h(patterns, patterns.evaluate(state));
        let mut least = cost;
        for mv in space.moves_except(state.blank, history.refused()) {
            let mut next = *state;
            space.make(&mut next, mv);
            if left > 0 && Heuristic::<Packed64>::h(patterns, patterns.evaluate(&next)) < left {
                let history = MoveAutomaton::get().next(history, mv);
                least = least.min(least_cost((space, patterns), &next, history, left - 1));
            }
        }
        least
    }

    /// Compares all nodes of a frontier; returns how many there are.
    fn check(space: &Space<Packed64>, patterns: &Patterns<'_>, least_costs: &LeastCosts<Form16<0>>) -> usize {
        let LeastCosts { frontier, costs } = least_costs;
        for (number, cost) in (0..).zip(costs) {
            let mut moves: Vec<_> = frontier.moves_back(number).collect();
            moves.reverse();
            let (mut state, mut history) = (space.start(), MoveHistory::START);
            for mv in moves {
                space.make(&mut state, mv);
                history = MoveAutomaton::get().next(history, mv);
            }
            let left = u32::from(frontier.node(number).left());
            assert_eq!(u32::from(*cost), least_cost((space, patterns), &state, history, left), "node {number}");
        }
        frontier.len()
    }

    #[test]
    fn least_costs_are_those_of_a_plain_search_and_are_inherited() {
        let size = Size::try_from((3, 4)).unwrap();
        let goal = Board::blank_last(size);
        let class = GoalClass::of(size, goal.blank());
        let choice = Partition::choose(class, Tier::Small).unwrap();
        let partitions = Partition::build(class, &choice);
        let patterns = AdditivePatterns::new(size, goal.blank(), &partitions);
        let mut random = SplitMix(51);
        let mut nodes = 0;
        for _ in 0..20 {
            let space = Space::<Packed64>::new(&Puzzle::try_new(random_board(&goal, &mut random), goal).unwrap());
            let costs: Costs = patterns.evaluate(&space.start());
            let tables = MoveTables::<Form16<0>>::new(&patterns, &space, &costs);
            let mut search = BatchSearch::new(&tables);
            let mut before = None;
            let mut threshold = Heuristic::<Packed64>::h(&patterns, costs) as u8;
            loop {
                let parts = search.split(tables.root(threshold), 60, before.as_ref());
                search.run(&parts, &mut |_| Ok(u64::MAX)).unwrap();
                if parts.found().is_some() {
                    break;
                }
                let least_costs = parts.least_costs();
                nodes += check(&space, &patterns, &least_costs);
                // Its own nodes inherit their own costs.
                assert_eq!(least_costs.of(&least_costs.frontier), least_costs.costs);
                before = Some(least_costs);
                threshold += 2;
            }
        }
        assert!(nodes > 1000, "{nodes}");
    }
}
