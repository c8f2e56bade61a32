//! Frontier of an iteration: the root's subtree down to the roots of parts.

use std::collections::BinaryHeap;

use super::board_form::BoardForm;
use super::node::BatchNode;
use crate::domain::Move;

/// Expands nodes near the root, the most promising first, until there are enough leaves. The leaves are roots of
/// subtrees that are searched in parallel.
#[derive(Debug)]
pub(super) struct Frontier<S: BoardForm> {
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
    branches: Option<Children>,
}

/// Children of an expanded node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Children {
    first: u32,
    count: u32,
    /// Number of moves generated.
    pub(super) generated: u32,
}

impl<S: BoardForm> Frontier<S> {
    const ROOT: u32 = 0;

    /// A frontier that consists of the root.
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

    /// Number of leaves.
    pub(super) fn leaves(&self) -> usize {
        self.leaves
    }

    pub(super) fn root(&self) -> &BatchNode<S> {
        self.node(Self::ROOT)
    }

    pub(super) fn node(&self, number: u32) -> &BatchNode<S> {
        &self.nodes[number as usize]
    }

    /// Removes the most promising leaf that can be expanded.
    pub(super) fn pop(&mut self) -> Option<u32> {
        self.open.pop().map(|(_, number)| number)
    }

    /// Adds the children of a leaf, for which `generated` moves were generated.
    pub(super) fn branch(&mut self, leaf: u32, generated: u32, below: impl Iterator<Item = BatchNode<S>>) {
        let first = self.nodes.len() as u32;
        below.for_each(|node| self.add(leaf, node));
        let count = self.nodes.len() as u32 - first;
        self.leaves = self.leaves + count as usize - 1;
        self.links[leaf as usize].branches = Some(Children { first, count, generated });
    }

    /// All nodes in depth-first order: index, and children unless it is a leaf.
    pub(super) fn in_order(&self) -> impl Iterator<Item = (u32, Option<Children>)> {
        let mut ahead = vec![Self::ROOT];
        std::iter::from_fn(move || {
            let number = ahead.pop()?;
            let branches = self.links[number as usize].branches;
            ahead.extend(branches.iter().flat_map(|Children { first, count, .. }| (*first..first + count).rev()));
            Some((number, branches))
        })
    }

    /// The moves that lead to a node, last move first.
    pub(super) fn moves_back(&self, mut number: u32) -> impl Iterator<Item = Move> {
        std::iter::from_fn(move || {
            let this = number;
            number = self.links[this as usize].parent;
            (this != Self::ROOT).then(|| self.node(this).last())
        })
    }
}

/// Estimate of the logarithm of a subtree's size, from the slack between cost and moves left, and from the moves
/// left. The weights minimize idle lanes.
fn promise<S: BoardForm>(node: &BatchNode<S>) -> u32 {
    3 * node.slack() + 2 * u32::from(node.left)
}
