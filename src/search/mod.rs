//! First floor: searches and heuristics. Standard library only; the clock is in [`budget`](Budget).
//!
//! Every search takes a [`Space`] (a proven puzzle, tiles named by goal cells), a [`Budget`] and a
//! [`Trace`], and returns an [`Outcome`]. Nothing is printed, nothing is global.

pub mod heuristic;

mod algorithm;
mod anytime;
mod beam;
mod best_first;
mod budget;
mod helpers;
mod ida_star;
mod observer;
mod space;
mod stats;
mod trace;

pub(crate) use algorithm::named;
pub use algorithm::{Algorithm, DuplicateDetection, Named, TieBreaking, Weight};
pub use anytime::{Aim, Stages, anytime, bytes_beside_nodes, bytes_per_beam_node, constructive};
pub use best_first::{
    BucketOpenList, Evaluation, HeapOpenList, OpenList, Room, best_first, breadth_first, bytes_per_node, depth_first,
    perfect,
};
pub use budget::{Budget, Meter, StopReason};
pub use helpers::{Crew, Help, MainWork};
pub use heuristic::{Heuristic, HeuristicKind};
pub use ida_star::{IdaStar, MoveAutomaton, Past, ida_star};
pub use observer::{Progress, Witness};
pub use space::{Slide, Space, State};
pub use stats::{Stats, effective_branching_factor};
pub use trace::{Expansion, Trace};

use crate::domain::Path;

/// What a search found, what it proved and what it spent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The path that was looked for, or why the search stopped without it.
    pub result: Result<Path, StopReason>,
    /// The shortest path to the goal that a search had when it was stopped, if it had any.
    pub best: Option<Path>,
    /// No path to the goal is shorter than this: proven, whatever the result.
    pub lower_bound: u32,
    /// The counters.
    pub stats: Stats,
}

impl Outcome {
    /// Whether a path was found and is proven to be as short as any.
    pub fn is_optimal(&self) -> bool {
        self.result.as_ref().is_ok_and(|path| path.len() == self.lower_bound as usize)
    }
}
