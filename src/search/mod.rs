//! First floor: searches and heuristics. Standard library only; the clock is in [`budget`](Budget).
//!
//! Every search takes a [`Space`] (a proven puzzle, tiles named by goal cells), a [`Budget`] and a
//! [`Trace`], and returns an [`Outcome`]. Nothing is printed, nothing is global.

pub mod heuristic;

mod algorithm;
mod anytime;
mod beam;
mod best_first;
mod breadth_first;
mod budget;
mod closed_list;
mod constructive;
mod crew;
mod depth_first;
mod ida_star;
mod level;
mod move_automaton;
mod node;
mod open_list;
mod peel;
mod perfect;
mod rank;
mod seen;
mod space;
mod stage;
mod stages;
mod stats;
mod trace;
mod windows;
mod witness;

pub(crate) use algorithm::named;
pub use algorithm::{Algorithm, DuplicateDetection, Named, TieBreaking, Weight};
pub use anytime::{Aim, anytime, bytes_beside_nodes, bytes_per_beam_node};
pub use best_first::{Evaluation, best_first, bytes_per_node};
pub use breadth_first::breadth_first;
pub use budget::{Budget, Meter, StopReason};
pub use constructive::constructive;
pub use crew::{Crew, Help, MainWork};
pub use depth_first::depth_first;
pub use heuristic::{Heuristic, HeuristicKind};
pub use ida_star::ida_star;
pub use move_automaton::{MoveAutomaton, Past};
pub use node::Room;
pub use open_list::{BucketOpenList, HeapOpenList, OpenList};
pub use perfect::perfect;
pub use space::{Slide, Space, State};
pub use stages::Stages;
pub use stats::{Stats, effective_branching_factor};
pub use trace::{Expansion, Trace};
pub use witness::{Progress, Witness};

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
