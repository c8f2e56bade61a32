//! The lists of a `/solve` response, except for its states.

use std::fmt::{self, Display, from_fn};

use taquin_solver::search::{Expansion, GeneratedNode, IterationCounts, Verdict};
use taquin_solver::{Encoding, Named, Size, Tile};

use super::notation::{EncodedBoard, Letter, Number, line};
use crate::service::Report;

/// Maximum number of entries of a list on boards of this size. At the maximum, the JSON of expansions, generated nodes
/// or states has some 640 KB, and a response with all lists some 2 MB.
pub(crate) fn max_entries(size: Size) -> usize {
    const BYTES: usize = 640_000;
    /// The maximum for boards of 16 cells.
    const MOST: usize = 5_000;
    let bytes_of_entry = 3 * size.cells() + 80;
    (BYTES / bytes_of_entry).min(MOST)
}

/// The lists that a search records, if they were requested.
#[derive(Debug, serde::Serialize)]
pub(crate) struct ListsReply {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) expansions: Option<Vec<ExpansionReply>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) generated_nodes: Option<Vec<GeneratedReply>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) iterations: Option<Vec<IterationReply>>,
}

#[derive(Clone, Debug, serde::Serialize)]
pub(super) struct ExpansionReply {
    board: EncodedBoard,
    #[serde(rename = "move")]
    mv: Option<Letter>,
    tile: Option<Tile>,
    parent: Option<u32>,
    g: u32,
    h: u32,
    f: Number,
    open: Option<u32>,
    closed: Option<u32>,
}

#[derive(Clone, Debug, serde::Serialize)]
pub(super) struct GeneratedReply {
    id: usize,
    parent: Option<u32>,
    #[serde(rename = "move")]
    mv: Option<Letter>,
    board: EncodedBoard,
    g: u32,
    h: u32,
    manhattan: u32,
    verdict: &'static str,
}

/// An iteration of IDA\* or iterative deepening.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub(super) struct IterationReply {
    threshold: u32,
    expanded: u64,
    generated: u64,
}

impl ListsReply {
    pub(crate) fn new(report: &Report, encoding: Encoding) -> Self {
        let expansion = |expansion| ExpansionReply::new(&expansion, encoding);
        let node = |(id, node)| GeneratedReply::new(id, &node, encoding);
        Self {
            expansions: report.expansions.as_ref().map(|list| list.iter().map(expansion).collect()),
            generated_nodes: report.generated.as_ref().map(|list| list.iter().enumerate().map(node).collect()),
            iterations: report.iterations.as_ref().map(|list| list.iter().map(IterationReply::from).collect()),
        }
    }

    /// Removes empty lists.
    pub(super) fn without_empty(self) -> Self {
        Self {
            expansions: self.expansions.filter(|list| !list.is_empty()),
            generated_nodes: self.generated_nodes.filter(|list| !list.is_empty()),
            iterations: self.iterations.filter(|list| !list.is_empty()),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.expansions.is_none() && self.generated_nodes.is_none() && self.iterations.is_none()
    }

    /// The lines of each list, after this text.
    pub(super) fn lines(&self, before: &'static str) -> impl Display {
        from_fn(move |f| {
            if let Some(expansions) = &self.expansions {
                f.write_str(before)?;
                expansions.iter().enumerate().try_for_each(|(index, expansion)| expansion.write_line(index, f))?;
            }
            if let Some(nodes) = &self.generated_nodes {
                f.write_str(before)?;
                nodes.iter().try_for_each(|node| write!(f, "{node}"))?;
            }
            if let Some(iterations) = &self.iterations {
                f.write_str(before)?;
                iterations.iter().try_for_each(|counts| write!(f, "{counts}"))?;
            }
            Ok(())
        })
    }
}

impl ExpansionReply {
    fn new(expansion: &Expansion, encoding: Encoding) -> Self {
        Self {
            board: EncodedBoard { board: expansion.board, encoding },
            mv: expansion.arrived_by.map(|(mv, _)| Letter(mv)),
            tile: expansion.arrived_by.map(|(_, tile)| tile),
            parent: expansion.parent,
            g: expansion.g,
            h: expansion.h,
            f: Number(expansion.f),
            open: expansion.lists.map(|lists| lists.open),
            closed: expansion.lists.map(|lists| lists.closed),
        }
    }

    /// Writes a line of text, which starts with the index of the node.
    fn write_line(&self, index: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (board, g, h, sum) = (self.board.board, self.g, self.h, self.f.0);
        write!(f, "{index}: {board}  g {g}  h {h}  f {sum}")?;
        if let (Some(Letter(mv)), Some(parent)) = (self.mv, self.parent) {
            write!(f, " from {parent} by {}", mv.letter())?;
        }
        if let (Some(open), Some(closed)) = (self.open, self.closed) {
            write!(f, ", open {open}, closed {closed}")?;
        }
        writeln!(f)
    }
}

impl GeneratedReply {
    /// Creates the entry of a node at an index of the list.
    fn new(id: usize, node: &GeneratedNode, encoding: Encoding) -> Self {
        let GeneratedNode { board, mv, parent, g, h, manhattan, verdict } = *node;
        let board = EncodedBoard { board, encoding };
        Self { id, parent, mv: mv.map(Letter), board, g, h, manhattan, verdict: verdict.name() }
    }
}

/// A line of text, as tutorials write it, and the verdict unless the node is new.
impl Display for GeneratedReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, board: EncodedBoard { board, .. }, g, manhattan, verdict, .. } = self;
        write!(f, "{id} - Node {{ {} | D: {g}, MD: {manhattan} }}", line(board))?;
        if *verdict == Verdict::New.name() { writeln!(f) } else { writeln!(f, " {verdict}") }
    }
}

impl From<&IterationCounts> for IterationReply {
    fn from(counts: &IterationCounts) -> Self {
        let IterationCounts { threshold, expanded, generated } = *counts;
        Self { threshold, expanded, generated }
    }
}

impl Display for IterationReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { threshold, expanded, generated } = self;
        writeln!(f, "threshold {threshold}: {expanded} expanded, {generated} generated")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_json_of_a_full_list_has_800_kb_at_most() {
        use taquin_solver::search::ListSizes;
        use taquin_solver::{Board, Move};

        for size in Size::all() {
            let (board, large) = (Board::blank_last(size), 999_999);
            let entries = max_entries(size);
            let expansion = Expansion {
                board,
                arrived_by: Some((Move::Up, 1)),
                parent: Some(entries as u32),
                g: 999,
                h: 999,
                f: 1998.0,
                lists: Some(ListSizes { open: large, closed: large }),
            };
            let json = serde_json::to_vec(&ExpansionReply::new(&expansion, Encoding::Tiles)).unwrap();
            assert!((json.len() + 1) * entries <= 800_000, "{size}: {entries} entries of {} bytes", json.len());
        }
    }
}
