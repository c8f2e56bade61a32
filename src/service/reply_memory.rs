//! Memory of long answers that clients have not yet taken.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::service::report::Report;

/// What long answers hold until the last of them is sent or their connection ends. A report that several answers are written
/// from counts once.
#[derive(Debug)]
pub(super) struct ReplyMemory {
    capacity: u64,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    held: u64,
    /// Reports that are held, by their address.
    reports: HashMap<usize, Weak<Reservation>>,
}

/// Memory that an answer takes, until this is dropped.
#[derive(Debug)]
pub struct Reservation {
    memory: Arc<ReplyMemory>,
    bytes: u64,
    /// What it is taken for; its address is no other's as long as it is here.
    report: Option<Arc<Report>>,
}

/// A report that an answer is written from while its client takes it.
#[derive(Clone, Debug)]
pub struct HeldReport {
    report: Arc<Report>,
    _reservation: Arc<Reservation>,
}

impl Deref for HeldReport {
    type Target = Report;

    fn deref(&self) -> &Report {
        &self.report
    }
}

impl ReplyMemory {
    /// So many bytes.
    pub(super) fn new(capacity: u64) -> Arc<Self> {
        Arc::new(Self { capacity, state: Mutex::new(State { held: 0, reports: HashMap::new() }) })
    }

    /// What is held.
    pub(super) fn held(&self) -> u64 {
        self.state().held
    }

    /// Takes memory, if there is any. What is larger than all of it may have all of it.
    pub(super) fn reserve(self: &Arc<Self>, bytes: u64) -> Option<Reservation> {
        self.state().take(self, bytes, None)
    }

    /// The same for a report, unless that is held already.
    pub(super) fn hold(self: &Arc<Self>, report: &Arc<Report>) -> Option<HeldReport> {
        let key = Arc::as_ptr(report) as usize;
        let mut state = self.state();
        let reservation = match state.reports.get(&key).and_then(Weak::upgrade) {
            Some(reservation) => reservation,
            None => {
                let reservation = state.take(self, report.bytes_with_job() as u64, Some(Arc::clone(report)))?;
                let reservation = Arc::new(reservation);
                state.reports.insert(key, Arc::downgrade(&reservation));
                reservation
            }
        };
        Some(HeldReport { report: Arc::clone(report), _reservation: reservation })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // What it guards is whole after a panic elsewhere.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take(&mut self, memory: &Arc<ReplyMemory>, bytes: u64, report: Option<Arc<Report>>) -> Option<Reservation> {
        let bytes = bytes.min(memory.capacity);
        (bytes <= memory.capacity - self.held).then(|| {
            self.held += bytes;
            Reservation { memory: Arc::clone(memory), bytes, report }
        })
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut state = self.memory.state();
        state.held -= self.bytes;
        if let Some(report) = &self.report {
            let key = Arc::as_ptr(report) as usize;
            // It may have been taken anew meanwhile.
            if state.reports.get(&key).is_some_and(|held| held.strong_count() == 0) {
                state.reports.remove(&key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::domain::{Board, Puzzle, Size};
    use crate::service::{Job, Limits, Means, Plan, Tables, solve};

    fn report() -> Arc<Report> {
        let board = Board::blank_last(Size::try_from((3, 3)).unwrap());
        let (puzzle, plan) = (Puzzle::try_new(board, board).unwrap(), Plan::auto(board.size()));
        let limits = Limits { time: Duration::from_secs(9), expanded: 1000, nodes: 1000 };
        let job = Job { puzzle, plan, limits, expansions: 0, states: false };
        Arc::new(solve(&job, &Tables::default(), Means::default()).unwrap())
    }

    #[test]
    fn memory_is_held_as_long_as_its_answer_and_no_more_than_there_is() {
        let memory = ReplyMemory::new(100);
        let (first, second) = (memory.reserve(60), memory.reserve(60));
        assert!(first.is_some() && second.is_none());
        assert_eq!(memory.held(), 60);
        drop(first);
        let all = memory.reserve(u64::MAX);
        assert!(all.is_some() && memory.reserve(1).is_none(), "what is larger than all has all");
        drop(all);
        assert_eq!(memory.held(), 0);
    }

    #[test]
    fn a_report_counts_once_for_all_answers_that_are_written_from_it() {
        let (one, other) = (report(), report());
        let bytes = one.bytes_with_job() as u64;
        let memory = ReplyMemory::new(bytes);
        let held: Vec<_> = (0..9).map(|_| memory.hold(&one).unwrap()).collect();
        assert_eq!(memory.held(), bytes);
        assert!(memory.hold(&other).is_none());
        drop(held);
        assert_eq!(memory.held(), 0);
        assert!(memory.state().reports.is_empty());
        assert!(memory.hold(&other).is_some());
    }
}
