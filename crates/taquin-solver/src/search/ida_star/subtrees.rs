//! Work queue of one iteration of parallel IDA\*.

use std::ops::AddAssign;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::board_form::BoardForm;
use super::frontier::Frontier;
use super::frontier::{LeastCosts, promise};
use super::node::BatchNode;
use crate::domain::Move;
use crate::search::StopReason;

/// Counters of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct NodeCounts {
    pub expanded: u64,
    pub generated: u64,
    /// The greatest g of an expanded node.
    pub deepest: u32,
}

impl AddAssign for NodeCounts {
    fn add_assign(&mut self, other: Self) {
        self.expanded += other.expanded;
        self.generated += other.generated;
        self.deepest = self.deepest.max(other.deepest);
    }
}

/// Result of a part that was searched completely, or up to the goal.
#[derive(Clone, Debug)]
pub(crate) struct SubtreeResult {
    pub spent: NodeCounts,
    /// The least cost of an expanded node.
    least_cost: u8,
    /// The moves from the start to the goal, if it was found.
    pub found: Option<Vec<Move>>,
}

/// Parts of the tree in order of promise, and their results.
///
/// One thread begins. Its traversals divide parts among each other, and stop at the goal. Once the parts are
/// [shared](Self::share), any number of threads search them in any order, and results are read in order of promise up
/// to the first part that contains the goal. So solution and counters do not depend on the threads.
#[derive(Debug)]
pub(crate) struct Subtrees<S: BoardForm> {
    frontier: Arc<Frontier<S>>,
    /// By part: index of its root in the frontier.
    roots: Vec<u32>,
    /// Nodes above the parts.
    above: NodeCounts,
    is_shared: AtomicBool,
    next: AtomicUsize,
    /// Parts that were put back.
    returned: Mutex<Vec<usize>>,
    searched: Vec<OnceLock<SubtreeResult>>,
    /// The first part in which the goal was found.
    best: AtomicUsize,
    /// Nodes expanded by all threads.
    pub expanded: AtomicU64,
    /// Nodes generated in completed parts.
    pub generated: AtomicU64,
    /// The reason of an early stop.
    pub stopped: OnceLock<StopReason>,
    /// True if the search must continue with stronger tables.
    pub is_outdated: AtomicBool,
    /// Counters of abandoned parts.
    abandoned: Mutex<NodeCounts>,
}

impl<S: BoardForm> Subtrees<S> {
    /// The leaves of a frontier, the most promising ones first by the previous iteration's least costs.
    pub(crate) fn of(frontier: Frontier<S>, before: Option<&LeastCosts<S>>) -> Self {
        let mut roots = Vec::with_capacity(frontier.leaves());
        let mut above = NodeCounts::default();
        for (number, children) in frontier.in_order() {
            if let Some(children) = children {
                let deepest = u32::from(frontier.root().left() - frontier.node(number).left());
                above += NodeCounts { expanded: 1, generated: u64::from(children.generated), deepest };
            } else {
                roots.push(number);
            }
        }
        let least_costs = before.map(|before| before.of(&frontier));
        roots.sort_by_cached_key(|number| {
            let root = frontier.node(*number);
            promise(root, least_costs.as_ref().map_or(root.cost(), |costs| costs[*number as usize]))
        });
        Self::new(Arc::new(frontier), roots, above)
    }

    /// A shared queue that consists of one part only.
    pub(crate) fn one(&self, nth: usize) -> Self {
        let one = Self::new(Arc::clone(&self.frontier), vec![self.roots[nth]], NodeCounts::default());
        one.share();
        one
    }

    fn new(frontier: Arc<Frontier<S>>, roots: Vec<u32>, above: NodeCounts) -> Self {
        Self {
            above,
            is_shared: AtomicBool::new(false),
            next: AtomicUsize::new(0),
            returned: Mutex::default(),
            searched: roots.iter().map(|_| OnceLock::new()).collect(),
            best: AtomicUsize::new(usize::MAX - 1),
            expanded: AtomicU64::new(0),
            generated: AtomicU64::new(0),
            stopped: OnceLock::new(),
            is_outdated: AtomicBool::new(false),
            abandoned: Mutex::default(),
            frontier,
            roots,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.roots.len()
    }

    pub(crate) fn threshold(&self) -> u8 {
        self.frontier.root().left()
    }

    /// Nodes above the parts.
    pub(crate) fn above(&self) -> NodeCounts {
        self.above
    }

    /// Lets other threads take parts. The thread that began calls it while there are parts that it has not taken.
    pub(crate) fn share(&self) {
        self.is_shared.store(true, Ordering::Relaxed);
    }

    #[inline(always)]
    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared.load(Ordering::Relaxed)
    }

    /// True while the parts are not shared, and may still be. Node counts depend on that decision.
    pub(crate) fn is_undecided(&self) -> bool {
        !self.is_shared() && self.is_any_left()
    }

    /// The last part that is still worth searching.
    #[inline(always)]
    pub(crate) fn best(&self) -> usize {
        self.best.load(Ordering::Relaxed)
    }

    /// Takes a part that no thread has. Returns its index and root.
    pub(crate) fn take(&self) -> Option<(usize, &BatchNode<S>)> {
        let returned = self.returned.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let nth = returned.unwrap_or_else(|| self.next.fetch_add(1, Ordering::Relaxed));
        let root = self.roots.get(nth).filter(|_| nth <= self.best())?;
        Some((nth, self.frontier.node(*root)))
    }

    /// The root of a part.
    pub(crate) fn root(&self, nth: usize) -> &BatchNode<S> {
        self.frontier.node(self.roots[nth])
    }

    /// True if there is a part that no thread has taken.
    pub(crate) fn is_any_left(&self) -> bool {
        let next = self.next.load(Ordering::Relaxed);
        let is_returned = |nth: &usize| *nth <= self.best();
        next < self.roots.len() && next <= self.best()
            || self.returned.lock().unwrap_or_else(PoisonError::into_inner).iter().any(is_returned)
    }

    /// The moves from the start to the root of a part.
    pub(crate) fn moves_to_root(&self, nth: usize) -> Vec<Move> {
        let mut moves: Vec<Move> = self.frontier.moves_back(self.roots[nth]).collect();
        moves.reverse();
        moves
    }

    /// Stores the result of a part: its counters, the least cost of an expanded node, and the moves from the start to
    /// the goal if it was found.
    pub(crate) fn finish(&self, nth: usize, spent: NodeCounts, least_cost: u8, found: Option<Vec<Move>>) {
        if found.is_some() {
            self.best.fetch_min(nth, Ordering::Relaxed);
        }
        self.generated.fetch_add(spent.generated, Ordering::Relaxed);
        // Two traversals may find the goal in one part, at the same time.
        if self.searched[nth].set(SubtreeResult { spent, least_cost, found }).is_err() {
            self.abandon(spent);
        }
    }

    /// Puts a part back, for another thread to search from its root. Its expansions so far do not count.
    pub(crate) fn put_back(&self, nth: usize, expanded: u64) {
        self.expanded.fetch_sub(expanded, Ordering::Relaxed);
        self.returned.lock().unwrap_or_else(PoisonError::into_inner).push(nth);
    }

    /// Counts the nodes of a part that is not completed.
    pub(crate) fn abandon(&self, spent: NodeCounts) {
        *self.abandoned.lock().unwrap_or_else(PoisonError::into_inner) += spent;
    }

    /// The least costs in this iteration, once all parts were searched.
    pub(crate) fn least_costs(&self) -> LeastCosts<S> {
        let found = self.roots.iter().zip(&self.searched);
        let leaves = found.filter_map(|(root, searched)| Some((*root, searched.get()?.least_cost)));
        LeastCosts::new(Arc::clone(&self.frontier), leaves)
    }

    /// True if all parts were searched.
    pub(crate) fn is_completed(&self) -> bool {
        self.searched.iter().all(|searched| searched.get().is_some())
    }

    /// The result of a part, if completed.
    pub(crate) fn searched(&self, nth: usize) -> Option<&SubtreeResult> {
        self.searched[nth].get()
    }

    /// The moves to the goal, if it was found in any part.
    pub(crate) fn found(&self) -> Option<&Vec<Move>> {
        self.searched.get(self.best())?.get()?.found.as_ref()
    }

    /// True if the search ended before all parts were searched, because stronger tables have arrived.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.is_outdated.load(Ordering::Relaxed)
            && self.stopped.get().is_none()
            && self.best() >= self.roots.len()
            && !self.is_completed()
    }

    /// Nodes expanded in all parts and above them.
    pub(crate) fn spent(&self) -> NodeCounts {
        let mut spent = self.spent_from(0);
        spent += self.above;
        spent
    }

    /// Nodes expanded in all parts from one on, completed or abandoned.
    pub(crate) fn spent_from(&self, nth: usize) -> NodeCounts {
        let mut spent = *self.abandoned.lock().unwrap_or_else(PoisonError::into_inner);
        self.searched[nth..].iter().filter_map(OnceLock::get).for_each(|searched| spent += searched.spent);
        spent
    }
}
