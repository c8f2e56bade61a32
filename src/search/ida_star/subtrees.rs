//! One iteration of IDA* in parts that can be searched at the same time.

use std::ops::AddAssign;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::board_form::Scale;
use super::frontier::Crown;
use super::node::Node;
use crate::domain::Move;
use crate::search::StopReason;

/// What a search spent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Spent {
    pub(super) expanded: u64,
    pub(super) generated: u64,
    /// The greatest g of an expanded node.
    pub(super) deepest: u32,
}

impl AddAssign for Spent {
    fn add_assign(&mut self, other: Self) {
        self.expanded += other.expanded;
        self.generated += other.generated;
        self.deepest = self.deepest.max(other.deepest);
    }
}

/// A part of the tree.
#[derive(Clone, Copy, Debug)]
struct Subtree {
    /// Which node of the crown is its root.
    root: u32,
    /// What a search of the whole tree spends above the subtree, after those before it.
    above: Spent,
}

/// A subtree that was searched in full, or up to the goal.
#[derive(Clone, Debug)]
pub(super) struct Searched {
    pub(super) spent: Spent,
    /// The moves from the start to the goal, if it was there.
    pub(super) found: Option<Vec<Move>>,
}

/// Parts of the tree, in the order in which a search of the whole comes to them, and how far they are.
///
/// They are searched in any order, by any number of threads. What comes of it is read in the order of
/// the whole and up to the first part that has the goal, so that it is the same, to the last count.
#[derive(Debug)]
pub(super) struct Subtrees<S: Scale> {
    crown: Arc<Crown<S>>,
    list: Vec<Subtree>,
    /// What a search of the whole spends after the last part.
    rest: Spent,
    next: AtomicUsize,
    returned: Mutex<Vec<usize>>,
    searched: Vec<OnceLock<Searched>>,
    /// The first part in which the goal was found.
    best: AtomicUsize,
    /// Nodes expanded by all threads.
    pub(super) expanded: AtomicU64,
    /// Nodes generated in parts that were searched.
    pub(super) generated: AtomicU64,
    pub(super) stopped: OnceLock<StopReason>,
    given_up: Mutex<Spent>,
}

impl<S: Scale> Subtrees<S> {
    /// The leaves of a crown.
    pub(super) fn of(crown: Crown<S>) -> Self {
        let mut list = Vec::with_capacity(crown.leaves());
        let mut above = Spent::default();
        for (number, branches) in crown.in_order() {
            if let Some(branches) = branches {
                let deepest = u32::from(crown.root().left - crown.node(number).left);
                above += Spent { expanded: 1, generated: u64::from(branches.generated), deepest };
            } else {
                list.push(Subtree { root: number, above: std::mem::take(&mut above) });
            }
        }
        Self::new(Arc::new(crown), list, above)
    }

    /// One alone.
    pub(super) fn one(&self, nth: usize) -> Self {
        let alone = Subtree { above: Spent::default(), ..self.list[nth] };
        Self::new(Arc::clone(&self.crown), vec![alone], Spent::default())
    }

    fn new(crown: Arc<Crown<S>>, list: Vec<Subtree>, rest: Spent) -> Self {
        Self {
            rest,
            next: AtomicUsize::new(0),
            returned: Mutex::default(),
            searched: list.iter().map(|_| OnceLock::new()).collect(),
            best: AtomicUsize::new(usize::MAX - 1),
            expanded: AtomicU64::new(0),
            generated: AtomicU64::new(0),
            stopped: OnceLock::new(),
            given_up: Mutex::default(),
            crown,
            list,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn threshold(&self) -> u8 {
        self.crown.root().left
    }

    /// What a search of the whole spends above a part, and after the last one.
    pub(super) fn above(&self, nth: usize) -> Spent {
        self.list.get(nth).map_or(self.rest, |subtree| subtree.above)
    }

    /// The last part that is still worth searching.
    #[inline(always)]
    pub(super) fn best(&self) -> usize {
        self.best.load(Ordering::Relaxed)
    }

    /// A part that nobody has, to be searched: its number, and its root.
    pub(super) fn take(&self) -> Option<(usize, &Node<S>)> {
        let returned = self.returned.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let nth = returned.unwrap_or_else(|| self.next.fetch_add(1, Ordering::Relaxed));
        let subtree = self.list.get(nth).filter(|_| nth <= self.best())?;
        Some((nth, self.crown.node(subtree.root)))
    }

    /// A part's root.
    pub(super) fn root(&self, nth: usize) -> &Node<S> {
        self.crown.node(self.list[nth].root)
    }

    /// Whether there is a part that nobody has.
    pub(super) fn is_any_left(&self) -> bool {
        let next = self.next.load(Ordering::Relaxed);
        let is_returned = |nth: &usize| *nth <= self.best();
        next < self.list.len() && next <= self.best()
            || self.returned.lock().unwrap_or_else(PoisonError::into_inner).iter().any(is_returned)
    }

    /// Tells of a part that was searched, and of the moves from its root to the goal, if it was there.
    pub(super) fn finish(&self, nth: usize, spent: Spent, below: Option<Vec<Move>>) {
        let found = below.map(|below| {
            let mut moves: Vec<Move> = self.crown.moves_back(self.list[nth].root).collect();
            moves.reverse();
            moves.extend(below);
            moves
        });
        if found.is_some() {
            self.best.fetch_min(nth, Ordering::Relaxed);
        }
        self.generated.fetch_add(spent.generated, Ordering::Relaxed);
        // Nobody else has it.
        let _ = self.searched[nth].set(Searched { spent, found });
    }

    /// Leaves a part to others, who begin it anew: what was expanded of it was in vain.
    pub(super) fn give_back(&self, nth: usize, expanded: u64) {
        self.expanded.fetch_sub(expanded, Ordering::Relaxed);
        self.returned.lock().unwrap_or_else(PoisonError::into_inner).push(nth);
    }

    /// Leaves a part to nobody.
    pub(super) fn give_up(&self, spent: Spent) {
        *self.given_up.lock().unwrap_or_else(PoisonError::into_inner) += spent;
    }

    /// What came of a part, once it was searched.
    pub(super) fn searched(&self, nth: usize) -> Option<&Searched> {
        self.searched[nth].get()
    }

    /// The moves to the goal, if it was found in any part.
    pub(super) fn found(&self) -> Option<&Vec<Move>> {
        self.searched.get(self.best())?.get()?.found.as_ref()
    }

    /// What was spent, by whomever, on parts from one on.
    pub(super) fn spent_from(&self, nth: usize) -> Spent {
        let mut spent = *self.given_up.lock().unwrap_or_else(PoisonError::into_inner);
        self.searched[nth..].iter().filter_map(OnceLock::get).for_each(|searched| spent += searched.spent);
        spent
    }
}
