//! Search counters, defined once for responses, logs and metrics.

use std::ops::AddAssign;

/// Counters of a search. Iterative searches sum over their iterations, except for the counters of the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stats {
    /// Nodes taken from the open list whose successors were generated. Taking the goal does not count. A node that is
    /// expanded again counts again.
    pub expanded: u64,
    /// Nodes created: the start, and every successor except the undoing of the last move, before duplicate
    /// detection.
    pub generated: u64,
    /// Generated nodes dropped by duplicate detection.
    pub duplicates: u64,
    /// Expanded nodes reached again by a shorter path and reopened.
    pub reopened: u64,
    /// Maximum number of nodes awaiting expansion. For IDA\* and iterative deepening, the number of nodes on the
    /// longest path. For anytime search, the maximum over its parts.
    pub peak_open: u64,
    /// Nodes awaiting expansion when the search ended, including a node kept from expansion by a limit. 0 for
    /// searches without an open list: IDA\*, iterative deepening, anytime and constructive search.
    pub open_at_end: u64,
    /// Nodes in memory when the search ended; [`Budget::nodes`](super::Budget::nodes) bounds them. 0 for searches that
    /// store no nodes, and for anytime search, which drops the nodes of each part.
    pub nodes_held: u64,
    /// Iterations started; 1 for searches that do not iterate. For anytime search, iterations of its IDA\* plus one.
    pub iterations: u32,
    /// Heuristic value of the start.
    pub initial_h: u32,
}

impl AddAssign for Stats {
    /// Adds the counters of the next part of a search.
    fn add_assign(&mut self, other: Self) {
        self.expanded += other.expanded;
        self.generated += other.generated;
        self.duplicates += other.duplicates;
        self.reopened += other.reopened;
        self.peak_open = self.peak_open.max(other.peak_open);
        self.open_at_end = other.open_at_end;
        self.nodes_held = other.nodes_held;
        self.iterations += other.iterations;
    }
}

/// Counters of one iteration of IDA\* or iterative deepening.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IterationCounts {
    /// The limit on f.
    pub threshold: u32,
    /// Nodes expanded.
    pub expanded: u64,
    /// Nodes generated, including the start.
    pub generated: u64,
}

/// Branching factor b of a uniform tree of depth `length` with `generated` − 1 nodes below its root: b + b² + … +
/// b^length = generated − 1 (Nilsson 1971).
///
/// `None` if `length` is 0.
pub fn effective_branching_factor(generated: u64, length: usize) -> Option<f64> {
    if length == 0 {
        return None;
    }
    let (nodes, depth) = (generated.saturating_sub(1) as f64, length as f64);
    // The tree's size is convex in b, so Newton's method converges from above, and its step from b = 1 leads to an
    // upper bound. Another one is the b of a last layer as large as the tree.
    let mut b = nodes.powf(1.0 / depth).min(1.0 + 2.0 * (nodes - depth) / (depth * (depth + 1.0)));
    for _ in 0..NEWTON_STEPS {
        let (tree, slope) = tree_and_slope(b, length);
        let step = (tree - nodes) / slope;
        b -= step;
        if step.abs() < 1e-12 * b {
            break;
        }
    }
    Some(b)
}

/// Number of nodes of a uniform tree below its root, and the derivative of that number by the branching factor.
fn tree_and_slope(b: f64, depth: usize) -> (f64, f64) {
    let excess = b - 1.0;
    if excess < 1e-3 {
        // Sum layer by layer: the closed form divides by almost zero.
        return (0..depth).fold((0.0, 0.0), |(tree, slope), _| ((tree + 1.0) * b, slope * b + tree + 1.0));
    }
    let last = b.powi(depth as i32);
    let tree = b * (last - 1.0) / excess;
    (tree, ((depth as f64 + 1.0) * last - 1.0 - tree) / excess)
}

/// Several times as many steps as convergence takes.
const NEWTON_STEPS: usize = 64;

#[cfg(test)]
mod tests {
    use super::{effective_branching_factor, tree_and_slope};

    #[test]
    fn a_uniform_tree_has_its_own_branching_factor() {
        for (b, length) in [(2_u64, 5_usize), (3, 7), (1, 20)] {
            let nodes: u64 = (1..=length as u32).map(|depth| b.pow(depth)).sum();
            let found = effective_branching_factor(nodes + 1, length).unwrap();
            assert!((found - b as f64).abs() < 1e-9, "{found}");
        }
    }

    #[test]
    fn a_tree_is_the_sum_of_its_layers() {
        for b in [1.0, 1.000_9, 1.001_1, 1.1, 1.7, 3.0] {
            for depth in [1, 2, 31, 80] {
                let power = |exponent: usize| f64::powi(b, exponent as i32);
                let tree: f64 = (1..=depth).map(power).sum();
                let slope: f64 = (1..=depth).map(|layer| layer as f64 * power(layer - 1)).sum();
                let found = tree_and_slope(b, depth);
                assert!((found.0 / tree - 1.0).abs() < 1e-11, "{b}, {depth}: {} for {tree}", found.0);
                assert!((found.1 / slope - 1.0).abs() < 1e-8, "{b}, {depth}: {} for {slope}", found.1);
            }
        }
    }

    #[test]
    fn no_moves_have_no_branching_factor() {
        assert_eq!(effective_branching_factor(1, 0), None);
    }
}
