//! Searches and heuristics. This layer uses only `domain` and the standard library. [`Budget`] alone reads the clock.
//!
//! Every search takes a [`Space`] (a puzzle proven solvable, tiles named by goal cells), a [`Budget`] and a
//! [`Trace`], and returns an [`Outcome`]. A search prints nothing and holds no global state.
//!
//! Folders and files, in an order in which each uses only those after it:
//!
//! - `anytime`: a first solution at once, then shorter ones until one is proven optimal; the constructive solver
//! - `ida_star`: iterative deepening, sequential and parallel; pruning of duplicate move sequences
//! - `beam`: beam search, guided by a heuristic or by stages
//! - `best_first`: A\*, weighted A\*, greedy, breadth-first and depth-first search; open and closed lists
//! - `optimal_paths`: all optimal solutions of a known length
//! - `distribution`: the number of boards at each optimal length
//! - `heuristic`: estimates of the remaining moves; `heuristic::pattern`, additive pattern databases
//! - `trace`, `budget`, `observer`, `space`, `stats`, `algorithm`: types that all searches share

pub mod heuristic;

mod algorithm;
mod anytime;
mod beam;
mod best_first;
mod budget;
mod distribution;
mod generated;
mod ida_star;
mod multi_tile;
mod observer;
mod optimal_paths;
mod packed_boards;
mod prefetch;
mod space;
mod stats;
mod trace;

pub use algorithm::{Algorithm, DuplicateDetection, SortedMoves, SuccessorOrder, TieBreaking, Weight};
pub use anytime::{Objective, Stages, anytime, bytes_beside_nodes, bytes_per_beam_node, constructive};
pub use best_first::{
    BucketOpenList, Capacity, Evaluation, HeapOpenList, OpenList, best_first, breadth_first, bytes_per_node,
    depth_first, perfect,
};
pub use budget::{Budget, Help, Helpers, MainWork, Meter, Outcome, StopReason};
pub use distribution::{Distribution, LengthsSource};
pub use generated::{GeneratedNode, GeneratedNodes, Generation, Verdict};
pub use heuristic::{Heuristic, HeuristicKind};
pub use ida_star::{HeuristicSearch, MoveAutomaton, MoveHistory, ida_star};
pub use multi_tile::multi_tile;
pub use observer::{Observer, Progress};
pub use optimal_paths::{OptimalPaths, optimal_paths};
pub use space::{Slide, Space, State};
pub use stats::{IterationCounts, Stats, effective_branching_factor};
pub use trace::{Expansion, Expansions, ListSizes, Recorded, Trace};
