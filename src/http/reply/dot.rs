//! A search tree in the DOT language of Graphviz.

use std::fmt::{Display, from_fn};

use taquin_solver::search::{GeneratedNode, GeneratedNodes, Verdict};

use super::notation::grid;
use super::solution::{SolveReply, node_figures};
use crate::service::Report;

/// The graph of the generated nodes.
pub(super) fn graph(reply: &SolveReply<'_>) -> impl Display {
    let report = reply.report;
    from_fn(move |f| {
        write!(f, "{}", head(reply, report))?;
        let Some(nodes) = &report.generated else { return Ok(()) };
        nodes.iter().enumerate().try_for_each(|(at, node_at)| write!(f, "{}", node(at, &node_at, report)))?;
        write!(f, "{}", tail(nodes))
    })
}

/// First part of the graph. `strict` lets [`tail`] change edges.
fn head(reply: &SolveReply<'_>, report: &Report) -> impl Display {
    let listed = report.generated.as_ref().map_or(0, GeneratedNodes::len);
    let figures = reply.search.figures();
    from_fn(move |f| {
        write!(f, "strict digraph search {{\n  label=\"{figures}")?;
        if (listed as u64) < report.stats.generated {
            write!(f, "\\nthe first {listed} generated nodes")?;
        }
        f.write_str("\";\n  labelloc=t;\n  node [shape=box, fontname=\"monospace\"];\n")?;
        f.write_str("  edge [fontname=\"monospace\"];\n")
    })
}

/// A node with its board and figures, and the edge from its parent with the move of the blank. Duplicates are dashed;
/// the goal has a double border.
fn node(at: usize, node: &GeneratedNode, report: &Report) -> impl Display {
    let figures = node_figures(report, node);
    let attributes = match node.verdict {
        Verdict::New => "",
        Verdict::Duplicate => ", style=dashed, color=gray50, fontcolor=gray50",
        Verdict::Reopened => ", style=bold",
        Verdict::Goal => ", peripheries=2",
    };
    let edge = node.parent.zip(node.mv);
    from_fn(move |f| {
        let board = grid(&node.board).replace('\n', "\\n");
        writeln!(f, "  {at} [label=\"{board}{figures}\"{attributes}];")?;
        edge.map_or(Ok(()), |(parent, mv)| writeln!(f, "  {parent} -> {at} [label=\"{}\"];", mv.letter()))
    })
}

/// Last part of the graph: the edges to the goal, bold.
fn tail(nodes: &GeneratedNodes) -> impl Display {
    let mut edges = Vec::new();
    let goal = (0..nodes.len()).rev().find(|at| nodes.get(*at).is_some_and(|node| node.verdict == Verdict::Goal));
    let mut next = goal;
    while let Some((at, parent)) = next.and_then(|at| Some((at, nodes.get(at)?.parent? as usize))) {
        edges.push((parent, at));
        next = Some(parent);
    }
    from_fn(move |f| {
        edges.iter().rev().try_for_each(|(parent, at)| writeln!(f, "  {parent} -> {at} [penwidth=3];"))?;
        f.write_str("}\n")
    })
}
