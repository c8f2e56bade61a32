//! Work queue of one iteration of parallel IDA\*.

use std::ops::AddAssign;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::board_form::BoardForm;
use super::frontier::Frontier;
use super::node::BatchNode;
use crate::domain::Move;
use crate::search::StopReason;

/// Counters of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct NodeCounts {
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

/// A part of the tree.
#[derive(Clone, Copy, Debug)]
struct Subtree {
    /// Index of its root in the frontier.
    root: u32,
    /// Nodes that a sequential search expands between the previous part and this one.
    above: NodeCounts,
}

/// Result of a part that was searched completely, or up to the goal.
#[derive(Clone, Debug)]
pub(super) struct SubtreeResult {
    pub spent: NodeCounts,
    /// The moves from the start to the goal, if it was found.
    pub found: Option<Vec<Move>>,
}

/// Parts of the tree in sequential order, and their results.
///
/// Any number of threads search them in any order. Results are read in sequential order up to the first part that
/// contains the goal, so solution and counters equal those of a sequential search.
#[derive(Debug)]
pub(super) struct Subtrees<S: BoardForm> {
    frontier: Arc<Frontier<S>>,
    list: Vec<Subtree>,
    /// Nodes that a sequential search expands after the last part.
    rest: NodeCounts,
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
    /// Why the search stopped early, if it did.
    pub stopped: OnceLock<StopReason>,
    /// True if the search is to continue with stronger tables.
    pub is_outdated: AtomicBool,
    /// Counters of abandoned parts.
    abandoned: Mutex<NodeCounts>,
}

impl<S: BoardForm> Subtrees<S> {
    /// The leaves of a frontier.
    pub(super) fn of(frontier: Frontier<S>) -> Self {
        let mut list = Vec::with_capacity(frontier.leaves());
        let mut above = NodeCounts::default();
        for (number, children) in frontier.in_order() {
            if let Some(children) = children {
                let deepest = u32::from(frontier.root().left - frontier.node(number).left);
                above += NodeCounts { expanded: 1, generated: u64::from(children.generated), deepest };
            } else {
                list.push(Subtree { root: number, above: std::mem::take(&mut above) });
            }
        }
        Self::new(Arc::new(frontier), list, above)
    }

    /// A queue that consists of one part only.
    pub(super) fn one(&self, nth: usize) -> Self {
        let alone = Subtree { above: NodeCounts::default(), ..self.list[nth] };
        Self::new(Arc::clone(&self.frontier), vec![alone], NodeCounts::default())
    }

    fn new(frontier: Arc<Frontier<S>>, list: Vec<Subtree>, rest: NodeCounts) -> Self {
        Self {
            rest,
            next: AtomicUsize::new(0),
            returned: Mutex::default(),
            searched: list.iter().map(|_| OnceLock::new()).collect(),
            best: AtomicUsize::new(usize::MAX - 1),
            expanded: AtomicU64::new(0),
            generated: AtomicU64::new(0),
            stopped: OnceLock::new(),
            is_outdated: AtomicBool::new(false),
            abandoned: Mutex::default(),
            frontier,
            list,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn threshold(&self) -> u8 {
        self.frontier.root().left
    }

    /// Nodes that a sequential search expands above a part, or after the last one.
    pub(super) fn above(&self, nth: usize) -> NodeCounts {
        self.list.get(nth).map_or(self.rest, |subtree| subtree.above)
    }

    /// The last part that is still worth searching.
    #[inline(always)]
    pub(super) fn best(&self) -> usize {
        self.best.load(Ordering::Relaxed)
    }

    /// Takes a part that no thread has. Returns its index and root.
    pub(super) fn take(&self) -> Option<(usize, &BatchNode<S>)> {
        let returned = self.returned.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let nth = returned.unwrap_or_else(|| self.next.fetch_add(1, Ordering::Relaxed));
        let subtree = self.list.get(nth).filter(|_| nth <= self.best())?;
        Some((nth, self.frontier.node(subtree.root)))
    }

    /// The root of a part.
    pub(super) fn root(&self, nth: usize) -> &BatchNode<S> {
        self.frontier.node(self.list[nth].root)
    }

    /// True if there is a part that no thread has taken.
    pub(super) fn is_any_left(&self) -> bool {
        let next = self.next.load(Ordering::Relaxed);
        let is_returned = |nth: &usize| *nth <= self.best();
        next < self.list.len() && next <= self.best()
            || self.returned.lock().unwrap_or_else(PoisonError::into_inner).iter().any(is_returned)
    }

    /// Stores the result of a part, with the moves from its root to the goal if it was found.
    pub(super) fn finish(&self, nth: usize, spent: NodeCounts, below: Option<Vec<Move>>) {
        let found = below.map(|below| {
            let mut moves: Vec<Move> = self.frontier.moves_back(self.list[nth].root).collect();
            moves.reverse();
            moves.extend(below);
            moves
        });
        if found.is_some() {
            self.best.fetch_min(nth, Ordering::Relaxed);
        }
        self.generated.fetch_add(spent.generated, Ordering::Relaxed);
        // No other thread has this part.
        let _ = self.searched[nth].set(SubtreeResult { spent, found });
    }

    /// Puts a part back, for another thread to search from its root. Its expansions so far do not count.
    pub(super) fn put_back(&self, nth: usize, expanded: u64) {
        self.expanded.fetch_sub(expanded, Ordering::Relaxed);
        self.returned.lock().unwrap_or_else(PoisonError::into_inner).push(nth);
    }

    /// Abandons a part when the search stops.
    pub(super) fn abandon(&self, spent: NodeCounts) {
        *self.abandoned.lock().unwrap_or_else(PoisonError::into_inner) += spent;
    }

    /// The result of a part, if completed.
    pub(super) fn searched(&self, nth: usize) -> Option<&SubtreeResult> {
        self.searched[nth].get()
    }

    /// The moves to the goal, if it was found in any part.
    pub(super) fn found(&self) -> Option<&Vec<Move>> {
        self.searched.get(self.best())?.get()?.found.as_ref()
    }

    /// True if the search ended before all parts were searched, because stronger tables have arrived.
    pub(super) fn is_abandoned(&self) -> bool {
        let is_searched = |searched: &OnceLock<_>| searched.get().is_some();
        self.is_outdated.load(Ordering::Relaxed)
            && self.stopped.get().is_none()
            && self.best() >= self.list.len()
            && !self.searched.iter().all(is_searched)
    }

    /// Nodes expanded in all parts and above them.
    pub(super) fn spent(&self) -> NodeCounts {
        let mut spent = self.spent_from(0);
        (0..=self.len()).for_each(|nth| spent += self.above(nth));
        spent
    }

    /// Nodes expanded in all parts from one on, completed or abandoned.
    pub(super) fn spent_from(&self, nth: usize) -> NodeCounts {
        let mut spent = *self.abandoned.lock().unwrap_or_else(PoisonError::into_inner);
        self.searched[nth..].iter().filter_map(OnceLock::get).for_each(|searched| spent += searched.spent);
        spent
    }
}
