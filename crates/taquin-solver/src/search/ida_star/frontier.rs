//! Frontier of an iteration: the top of the search tree, whose leaves are the roots of its parts.

use std::collections::BinaryHeap;

use super::board_form::BoardForm;
use super::node::BatchNode;
use crate::domain::Move;

/// Nodes near the root, expanded by estimated subtree size until there are enough leaves. The leaves are the roots of
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
    children: Option<Children>,
}

/// Children of an expanded node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Children {
    first: u32,
    count: u32,
    /// Number of moves generated.
    pub generated: u32,
}

impl<S: BoardForm> Frontier<S> {
    /// Index of the root. Children have higher indices than their parents.
    pub(super) const ROOT: u32 = 0;

    /// A frontier that consists of the root.
    pub(super) fn new(root: BatchNode<S>) -> Self {
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
    pub(super) fn leaves(&self) -> usize {
        self.leaves
    }

    pub(super) fn root(&self) -> &BatchNode<S> {
        self.node(Self::ROOT)
    }

    pub(super) fn node(&self, number: u32) -> &BatchNode<S> {
        &self.nodes[number as usize]
    }

    /// Number of nodes.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The parent of a node other than the root.
    pub(super) fn parent(&self, number: u32) -> u32 {
        self.links[number as usize].parent
    }

    /// The child after a move of the blank, of a node that is not a leaf; none if it is not in the tree.
    pub(super) fn child(&self, children: Children, mv: Move) -> Option<u32> {
        (children.first..children.first + children.count).find(|child| self.node(*child).last() == mv)
    }

    /// The children of a node; none if it is a leaf.
    pub(super) fn children(&self, number: u32) -> Option<Children> {
        self.links[number as usize].children
    }

    /// Removes the leaf with the largest estimated subtree of those that can be expanded.
    pub(super) fn pop(&mut self) -> Option<u32> {
        self.open.pop().map(|(_, number)| number)
    }

    /// Adds the children of a leaf, for which `generated` moves were generated.
    pub(super) fn expand(&mut self, leaf: u32, generated: u32, below: impl Iterator<Item = BatchNode<S>>) {
        let first = self.nodes.len() as u32;
        below.for_each(|node| self.add(leaf, node));
        let count = self.nodes.len() as u32 - first;
        self.leaves = self.leaves + count as usize - 1;
        self.links[leaf as usize].children = Some(Children { first, count, generated });
    }

    /// All nodes in depth-first order: index, and children unless it is a leaf.
    pub(super) fn in_order(&self) -> impl Iterator<Item = (u32, Option<Children>)> {
        let mut pending = vec![Self::ROOT];
        std::iter::from_fn(move || {
            let number = pending.pop()?;
            let children = self.children(number);
            pending.extend(children.iter().flat_map(|Children { first, count, .. }| (*first..first + count).rev()));
            Some((number, children))
        })
    }

    /// The moves that lead to a node, last move first.
    pub(super) fn moves_back(&self, mut number: u32) -> impl Iterator<Item = Move> {
        std::iter::from_fn(move || {
            let this = number;
            number = self.parent(this);
            (this != Self::ROOT).then(|| self.node(this).last())
        })
    }
}

/// Estimate of the logarithm of a subtree's size, from the moves left and their excess over the cost. The weights were
/// chosen to minimize idle lanes.
fn estimated_size<S: BoardForm>(node: &BatchNode<S>) -> u32 {
    3 * node.slack() + u32::from(node.left())
}
