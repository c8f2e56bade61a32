//! The lists of a `/solve` response, which are written entry by entry.

use std::fmt::Display;
use std::io::Write;

use serde::Serialize;
use taquin_solver::search::{Expansions, GeneratedNodes};

use super::dot;
use super::json::put_json;
use super::layout::Layout;
use super::path::{PathForm, TileTexts};
use super::solution::{ExpansionReply, GeneratedReply, IterationReply};
use super::states::States;
use crate::http::media_type::MediaType;
use crate::service::Report;

/// A list of the report, which is written entry by entry.
#[derive(Debug)]
pub(super) enum List {
    /// The solution. Its index counts moves or tiles, those of the scramble from the end.
    Path(PathForm),
    /// The states of the solution path.
    States(States),
    Expansions,
    Generated,
    Iterations,
}

/// The lists that a search records, by member.
pub(super) const RECORDED: [(&str, List); 3] =
    [("expansions", List::Expansions), ("generated_nodes", List::Generated), ("iterations", List::Iterations)];

impl List {
    /// Number of entries of a recorded list; `None` if it was not requested.
    pub(super) fn length(&self, report: &Report) -> Option<usize> {
        match self {
            Self::Path(_) | Self::States(_) => None,
            Self::Expansions => report.expansions.as_ref().map(Expansions::len),
            Self::Generated => report.generated.as_ref().map(GeneratedNodes::len),
            Self::Iterations => report.iterations.as_ref().map(Vec::len),
        }
    }

    /// Appends the entries from an index on, until the text has at least `limit` bytes or the list ends. Returns the
    /// index of the next entry.
    #[inline]
    pub(super) fn write(
        &mut self,
        report: &Report,
        layout: Layout,
        from: usize,
        text: &mut Vec<u8>,
        limit: usize,
    ) -> usize {
        let is_text = layout.is_text();
        match self {
            Self::Path(form) => report.solution.as_ref().map_or(from, |solution| {
                form.write(solution, if is_text { TileTexts::LINE } else { TileTexts::JSON }, from, text, limit)
            }),
            Self::States(states) if is_text => write_state_rows(states, report, from, text, limit),
            Self::States(states) => {
                let states = (from..).map_while(|at| states.next(report, at));
                append(text, limit, from, states, |text, at, state| {
                    separate(text, at, b',');
                    put_json(text, &state);
                })
            }
            Self::Expansions => write_expansions(report, layout, from, text, limit),
            Self::Generated if layout.media_type == MediaType::Dot => {
                let nodes = report.generated.iter().flat_map(|all| all.starting_at(from));
                append(text, limit, from, nodes, |text, at, node| put(text, &dot::node(at, &node, report)))
            }
            Self::Generated => {
                let nodes = report.generated.iter().flat_map(|all| all.starting_at(from));
                let nodes = nodes.zip(from..).map(|(node, at)| GeneratedReply::new(at, &node, layout.encoding));
                append(text, limit, from, nodes, |text, at, node| put_entry(text, is_text, at, &node))
            }
            Self::Iterations => {
                let iterations = report.iterations.iter().flatten().skip(from).map(IterationReply::from);
                append(text, limit, from, iterations, |text, at, counts| put_entry(text, is_text, at, &counts))
            }
        }
    }
}

/// Appends the states of a report side by side from an index on, as [`List::write`] does.
fn write_state_rows(states: &mut States, report: &Report, from: usize, text: &mut Vec<u8>, limit: usize) -> usize {
    let (mut at, mut row) = (from, String::new());
    while text.len() < limit && at < report.heights.len() {
        row.clear();
        at += states.write_row(report, at, &mut row);
        put(text, &format_args!("\n{row}"));
    }
    at
}

/// Appends the expansions of a report from an index on, as [`List::write`] does.
fn write_expansions(report: &Report, layout: Layout, from: usize, text: &mut Vec<u8>, limit: usize) -> usize {
    let expansions = report.expansions.iter().flat_map(|all| all.starting_at(from));
    append(text, limit, from, expansions, |text, at, expansion| {
        let expansion = ExpansionReply::new(&expansion, layout.encoding);
        if layout.is_text() {
            put(text, &expansion.line(at));
        } else {
            separate(text, at, b',');
            put_json(text, &expansion);
        }
    })
}

/// Appends an entry of a list: a line of text, or JSON.
fn put_entry(text: &mut Vec<u8>, is_text: bool, at: usize, entry: &(impl Display + Serialize)) {
    if is_text {
        put(text, entry);
    } else {
        separate(text, at, b',');
        put_json(text, entry);
    }
}

/// Appends the entries of a list from an index on, as [`List::write`] does.
#[inline]
fn append<T>(
    text: &mut Vec<u8>,
    limit: usize,
    from: usize,
    mut entries: impl Iterator<Item = T>,
    mut write: impl FnMut(&mut Vec<u8>, usize, T),
) -> usize {
    let mut at = from;
    while text.len() < limit
        && let Some(entry) = entries.next()
    {
        write(text, at, entry);
        at += 1;
    }
    at
}

fn separate(text: &mut Vec<u8>, at: usize, separator: u8) {
    if at > 0 {
        text.push(separator);
    }
}

/// Appends what is displayed.
pub(super) fn put(text: &mut Vec<u8>, entry: &impl Display) {
    write!(text, "{entry}").expect("writing to memory does not fail");
}
