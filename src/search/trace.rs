//! Trace of the first expanded nodes, for display.

use std::collections::HashMap;

use super::{Slide, Space, State};
use crate::domain::{Board, Move, Packed, Tile};

/// One expanded node.
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

/// Records expansions up to a limit; a limit of 0 records nothing.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    cap: usize,
    expansions: Vec<Expansion>,
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
    /// The evaluation.
    pub f: f64,
}

impl Trace {
    /// Records the first `cap` expansions.
    pub fn new(cap: usize) -> Self {
        Self { cap, ..Self::default() }
    }

    /// True while the limit is not reached.
    #[inline]
    pub fn is_recording(&self) -> bool {
        self.expansions.len() < self.cap
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

    /// Associates a node of the arena with its latest expansion.
    pub fn name(&mut self, node: u32, index: u32) {
        self.by_node.insert(node, index);
    }

    /// The latest expansion of the arena's node `node`.
    pub fn index_of(&self, node: u32) -> Option<u32> {
        self.by_node.get(&node).copied()
    }

    /// The recorded expansions, in order.
    pub fn into_expansions(self) -> Vec<Expansion> {
        self.expansions
    }
}
