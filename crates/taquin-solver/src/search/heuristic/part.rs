//! Parts of an estimate.

/// A part of an estimate. The costs of all parts of a board add up to h.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// The scope of the part.
    pub of: PartOf,
    /// The tiles, by their goal cells. The blank is one of them only if the heuristic counts it. Empty for all tiles.
    pub labels: Vec<u8>,
    /// The cost in moves.
    pub cost: u32,
}

/// The scope of a part of an estimate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PartOf {
    /// One tile.
    Tile,
    /// The tiles of a line that are reversed, in their order.
    Conflict {
        /// The line.
        line: Line,
        /// Labels of the tiles that must leave the line, two moves each.
        leaving: Vec<u8>,
    },
    /// The tiles of a cycle of the permutation.
    Cycle,
    /// The vertical moves of all tiles.
    Rows,
    /// The horizontal moves of all tiles.
    Columns,
    /// The tiles of a pattern.
    Pattern,
}

/// A row or a column, numbered from 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Line {
    /// A row.
    Row(usize),
    /// A column.
    Col(usize),
}

impl Part {
    /// The cost of one tile.
    pub(crate) fn tile(label: u8, cost: u32) -> Self {
        Self { of: PartOf::Tile, labels: vec![label], cost }
    }

    /// The cost of all vertical, or of all horizontal moves.
    pub(crate) fn lines(of: PartOf, cost: impl Into<u32>) -> Self {
        Self { of, labels: Vec::new(), cost: cost.into() }
    }
}
