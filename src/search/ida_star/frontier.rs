//! The top of an iteration's tree.

use std::collections::BinaryHeap;

use super::board_form::BoardForm;
use super::node::BatchNode;
use crate::domain::Move;

/// The nodes near the root, expanded where most is likely to be below until there are enough leaves:
/// those are roots of parts that can be searched at the same time.
#[derive(Debug)]
pub(super) struct Frontier<S: BoardForm> {
    nodes: Vec<BatchNode<S>>,
    /// Of each node.
    links: Vec<FrontierLink>,
    /// Leaves that can be expanded, by what they promise.
    open: BinaryHeap<(u32, u32)>,
    leaves: usize,
}

#[derive(Clone, Copy, Debug)]
struct FrontierLink {
    /// The node that it comes from; of the root, itself.
    parent: u32,
    branches: Option<Children>,
}

/// What comes of an expanded node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Children {
    first: u32,
    count: u32,
    /// How many moves were worth making.
    pub(super) generated: u32,
}

impl<S: BoardForm> Frontier<S> {
    const ROOT: u32 = 0;

    /// A root alone.
    pub(super) fn new(root: BatchNode<S>) -> Self {
        let mut frontier = Self { nodes: Vec::new(), links: Vec::new(), open: BinaryHeap::new(), leaves: 1 };
        frontier.add(Self::ROOT, root);
        frontier
    }

    fn add(&mut self, parent: u32, node: BatchNode<S>) {
        if !node.is_goal() {
            self.open.push((promise(&node), self.nodes.len() as u32));
        }
        self.nodes.push(node);
        self.links.push(FrontierLink { parent, branches: None });
    }

    /// How many leaves there are.
    pub(super) fn leaves(&self) -> usize {
        self.leaves
    }

    pub(super) fn root(&self) -> &BatchNode<S> {
        self.node(Self::ROOT)
    }

    pub(super) fn node(&self, number: u32) -> &BatchNode<S> {
        &self.nodes[number as usize]
    }

    /// The next leaf to expand, if any can be.
    pub(super) fn pop(&mut self) -> Option<u32> {
        self.open.pop().map(|(_, number)| number)
    }

    /// Puts on a leaf what it leads to; so many moves were worth making.
    pub(super) fn branch(&mut self, leaf: u32, generated: u32, below: impl Iterator<Item = BatchNode<S>>) {
        let first = self.nodes.len() as u32;
        below.for_each(|node| self.add(leaf, node));
        let count = self.nodes.len() as u32 - first;
        self.leaves = self.leaves + count as usize - 1;
        self.links[leaf as usize].branches = Some(Children { first, count, generated });
    }

    /// All nodes as a depth-first search comes to them: of each its number, and what comes of it unless it is a leaf.
    pub(super) fn in_order(&self) -> impl Iterator<Item = (u32, Option<Children>)> {
        let mut ahead = vec![Self::ROOT];
        std::iter::from_fn(move || {
            let number = ahead.pop()?;
            let branches = self.links[number as usize].branches;
            ahead.extend(branches.iter().flat_map(|Children { first, count, .. }| (*first..first + count).rev()));
            Some((number, branches))
        })
    }

    /// The moves that lead to a node, the last one first.
    pub(super) fn moves_back(&self, mut number: u32) -> impl Iterator<Item = Move> {
        std::iter::from_fn(move || {
            let this = number;
            number = self.links[this as usize].parent;
            (this != Self::ROOT).then(|| self.node(this).last())
        })
    }
}

/// About the logarithm of how many nodes are below one: what counts is how far its cost is below the
/// moves left, and how many these are. The weights leave a thread's lanes idle least often.
fn promise<S: BoardForm>(node: &BatchNode<S>) -> u32 {
    3 * node.slack() + 2 * u32::from(node.left)
}
