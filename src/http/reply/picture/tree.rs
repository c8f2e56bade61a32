//! A search tree: the first generated nodes, from the start down.

use std::fmt::{Display, from_fn};

use taquin_solver::Size;
use taquin_solver::search::{GeneratedNode, GeneratedNodes, Verdict};

use super::{BOARD_STYLE, MARGIN, MAX_TILES, Picture, definitions, small_board, tile_side};
use crate::http::reply::solution::{SolveReply, node_figures};
use crate::service::Report;

/// Maximum number of nodes shown.
const MAX_NODES: usize = 250;
/// Gap between two nodes of a level.
const GAP: usize = 16;
/// Height of the line of figures below a board, and of the gap between two levels.
const FIGURES: usize = 18;
const LEVEL_GAP: usize = 34;
/// Height of the lines above the tree.
const HEAD: usize = 60;
/// Least width of a node, for its figures.
const LEAST_WIDTH: usize = 88;

const TREE_STYLE: &str = "
  .edge { stroke: var(--line); fill: none; }
  .solution { stroke: var(--mark); stroke-width: 3; }
  .duplicate { opacity: 0.45; }
  .goal { stroke: var(--mark); }
";

/// Draws the first generated nodes. Duplicates are pale, the goal has a frame, and the edges to it are marked.
pub(crate) fn of_tree(reply: &SolveReply<'_>, nodes: &GeneratedNodes) -> String {
    let report = reply.report;
    let size = reply.puzzle.size();
    let shown: Vec<GeneratedNode> = nodes.iter().take(MAX_NODES.min(MAX_TILES / size.cells())).collect();
    let plan = Plan::new(size, &shown);
    let levels = shown.iter().map(|node| node.g as usize + 1).max().unwrap_or(1);
    let generated = report.stats.generated;
    let which = match shown.len() as u64 == generated {
        true => format!("All {generated} generated nodes. Edges name the move of the blank."),
        false => format!("The first {} of {generated} generated nodes. Edges name the move of the blank.", shown.len()),
    };
    Picture {
        width: (plan.leaves * plan.step + 2 * MARGIN - GAP).max(480),
        height: HEAD + levels * plan.level - LEVEL_GAP + MARGIN,
        title: format!("Search tree of {}", reply.search.figures()),
        description: format!("From {}. {which}", reply.puzzle.start()),
        style: from_fn(|f| write!(f, "{BOARD_STYLE}{TREE_STYLE}")),
        body: from_fn(|f| {
            writeln!(f, "<text class=\"title\" x=\"{MARGIN}\" y=\"28\">{}</text>", reply.search.figures())?;
            writeln!(f, "<text x=\"{MARGIN}\" y=\"48\">{which}</text>{}", definitions(size))?;
            write!(f, "{}{}", edges(&shown, &plan), boards(&shown, report, &plan))
        }),
    }
    .svg()
}

/// Positions of the nodes.
struct Plan {
    side: usize,
    /// Width and height of a board.
    board: (usize, usize),
    /// Distance between the centers of two leaves, and between two levels.
    step: usize,
    level: usize,
    leaves: usize,
    /// Center of each node.
    centers: Vec<usize>,
    /// By node: it is on the path to the goal.
    is_on_path: Vec<bool>,
}

impl Plan {
    /// Gives each leaf a place of its own, and centers each parent over its children.
    fn new(size: Size, nodes: &[GeneratedNode]) -> Self {
        let side = tile_side(size, 84, 10, 24);
        let board = (size.cols() * side, size.rows() * side);
        let step = board.0.max(LEAST_WIDTH) + GAP;
        let mut children = vec![Vec::new(); nodes.len()];
        for (at, node) in nodes.iter().enumerate() {
            node.parent.into_iter().for_each(|parent| children[parent as usize].push(at));
        }
        let (mut leaves, mut centers) = (0, vec![0; nodes.len()]);
        // A node is entered before its children, and placed after them.
        let mut open: Vec<(usize, bool)> = nodes.first().map(|_| (0, false)).into_iter().collect();
        while let Some((at, is_placed_next)) = open.pop() {
            match (&children[at][..], is_placed_next) {
                ([], _) => {
                    centers[at] = MARGIN + leaves * step + (step - GAP) / 2;
                    leaves += 1;
                }
                ([first, .., last], true) => centers[at] = (centers[*first] + centers[*last]) / 2,
                ([only], true) => centers[at] = centers[*only],
                (all, false) => {
                    open.push((at, true));
                    open.extend(all.iter().rev().map(|child| (*child, false)));
                }
            }
        }
        let mut is_on_path = vec![false; nodes.len()];
        let mut next = nodes.iter().position(|node| node.verdict == Verdict::Goal);
        while let Some(at) = next {
            is_on_path[at] = true;
            next = nodes[at].parent.map(|parent| parent as usize);
        }
        let level = board.1 + FIGURES + LEVEL_GAP;
        Self { side, board, step, level, leaves, centers, is_on_path }
    }

    /// Height of the top of a node.
    fn top(&self, node: &GeneratedNode) -> usize {
        HEAD + node.g as usize * self.level
    }
}

/// An edge for each node but the start, with the move of the blank.
fn edges(nodes: &[GeneratedNode], plan: &Plan) -> impl Display {
    from_fn(move |f| {
        for (at, node) in nodes.iter().enumerate() {
            let (Some(parent), Some(mv)) = (node.parent, node.mv) else { continue };
            let (from, to, y) = (plan.centers[parent as usize], plan.centers[at], plan.top(node));
            let class = if plan.is_on_path[at] { "edge solution" } else { "edge" };
            write!(f, "<path class=\"{class}\" d=\"M{from} {}L{to} {}\"/>", y - LEVEL_GAP + 2, y - 4)?;
            // On the side from which no edge comes.
            let x = if from > to { to - 14 } else { to + 6 };
            writeln!(f, "<text x=\"{x}\" y=\"{}\">{}</text>", y - 7, mv.letter())?;
        }
        Ok(())
    })
}

/// The board of each node, and its figures.
fn boards(nodes: &[GeneratedNode], report: &Report, plan: &Plan) -> impl Display {
    from_fn(move |f| {
        for (at, node) in nodes.iter().enumerate() {
            let (center, y) = (plan.centers[at], plan.top(node));
            let ((width, height), x) = (plan.board, center - plan.board.0 / 2);
            let class = if node.verdict == Verdict::Duplicate { " class=\"duplicate\"" } else { "" };
            write!(f, "<g{class}>{}", small_board(&node.board, (x, y), plan.side, None))?;
            if node.verdict == Verdict::Goal {
                write!(f, "<rect class=\"frame goal\" x=\"{}\" y=\"{}\" width=\"{}\"", x - 4, y - 4, width + 8)?;
                write!(f, " height=\"{}\" rx=\"6\"/>", height + 8)?;
            }
            let (y, figures) = (y + height + FIGURES - 3, node_figures(report, node));
            writeln!(f, "<text class=\"middle\" x=\"{center}\" y=\"{y}\">{figures}</text></g>")?;
        }
        Ok(())
    })
}
