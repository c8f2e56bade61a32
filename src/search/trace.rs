//! Trace of the first expanded nodes, for display.

use std::collections::HashMap;

use super::{Slide, Space, State};
use crate::domain::{Board, Move, Packed, Tile};

/// A recorded expansion of a node.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Expansion {
    /// The board.
    pub board: Board,
    /// The move that led here and the tile that slid; `None` for the start.
    pub arrived_by: Option<(Move, Tile)>,
    /// Index of the parent's expansion, from 0; `None` for the start.
    pub parent: Option<u32>,
    /// Moves from the start.
    pub g: u32,
    /// The heuristic's value.
    pub h: u32,
    /// The value by which the search orders or limits nodes.
    pub f: f64,
}

/// Records expansions up to a limit. The default limit of 0 records nothing.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    limit: usize,
    expansions: Vec<Expansion>,
    /// By node of the arena: the index of its latest expansion.
    by_node: HashMap<u32, u32>,
}

/// A node about to be expanded.
#[derive(Clone, Copy, Debug)]
pub struct Visit<'a, P> {
    /// The state.
    pub state: &'a State<P>,
    /// The slide that led here.
    pub slide: Option<Slide>,
    /// Index of the parent's expansion.
    pub parent: Option<u32>,
    /// Moves from the start.
    pub g: u32,
    /// The heuristic's value.
    pub h: u32,
    /// The value by which the search orders or limits nodes.
    pub f: f64,
}

impl Trace {
    /// A trace of the first `limit` expansions.
    pub fn new(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// True while the limit is not reached.
    #[inline]
    pub fn is_recording(&self) -> bool {
        self.expansions.len() < self.limit
    }

    /// Records one expansion and returns its index.
    pub fn record<P: Packed>(&mut self, space: &Space<P>, visit: &Visit<'_, P>) -> u32 {
        let index = self.expansions.len() as u32;
        self.expansions.push(Expansion {
            board: space.board(visit.state),
            arrived_by: visit.slide.map(|slide| (slide.mv, space.tile(slide.label))),
            parent: visit.parent,
            g: visit.g,
            h: visit.h,
            f: visit.f,
        });
        index
    }

    /// Sets the index of a node's latest expansion.
    pub fn set_index(&mut self, node: u32, index: u32) {
        self.by_node.insert(node, index);
    }

    /// The index of a node's latest expansion, if it was recorded.
    pub fn index_of(&self, node: u32) -> Option<u32> {
        self.by_node.get(&node).copied()
    }

    /// The recorded expansions, in order.
    pub fn into_expansions(self) -> Vec<Expansion> {
        self.expansions
    }
}
