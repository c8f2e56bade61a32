//! Memory limit for long responses that are still being sent.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Deref;
use std::sync::{Arc, Weak};

use parking_lot::{Mutex, MutexGuard};

use crate::service::job::Report;

/// Counts the memory of long responses until they are sent or their connection ends. A report counts once, however many
/// responses are written from it.
#[derive(Debug)]
pub(crate) struct ReplyMemory {
    capacity: u64,
    state: Mutex<HeldMemory>,
}

#[derive(Debug, Default)]
struct HeldMemory {
    held: u64,
    /// Bytes of the responses of each owner that has some.
    owned: HashMap<ReplyOwner, u64>,
    /// Held reports, by address.
    reports: HashMap<usize, Weak<Reservation>>,
}

/// The token of a response, as a digest. The responses of one owner leave a quarter of the memory to others.
pub type ReplyOwner = [u8; 32];

/// Memory of a response, released when this is dropped.
#[derive(Debug)]
pub struct Reservation {
    memory: Arc<ReplyMemory>,
    bytes: u64,
    owner: Option<ReplyOwner>,
    /// The report that it is for; keeps its address from being reused.
    report: Option<Arc<Report>>,
}

/// A report in memory while responses are written from it.
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
    /// Creates a limit of so many bytes.
    pub(crate) fn new(capacity: u64) -> Arc<Self> {
        Arc::new(Self { capacity, state: Mutex::default() })
    }

    /// Bytes in use.
    pub(crate) fn held(&self) -> u64 {
        self.state().held
    }

    /// Reserves memory if it is available, for an owner within its share. A request for more than that gets all of it.
    pub(crate) fn reserve(self: &Arc<Self>, owner: Option<ReplyOwner>, bytes: u64) -> Option<Reservation> {
        let mut state = self.state();
        let Some(key) = owner else { return state.take(self, bytes, None) };
        let share = self.capacity - self.capacity / 4;
        let bytes = bytes.min(share);
        let own = state.owned.get(&key).copied().unwrap_or_default();
        if bytes > share - own {
            return None;
        }
        let mut reservation = state.take(self, bytes, None)?;
        state.owned.insert(key, own + bytes);
        reservation.owner = owner;
        Some(reservation)
    }

    /// Reserves the memory of a report, unless it is held already.
    pub(crate) fn hold(self: &Arc<Self>, report: &Arc<Report>) -> Option<HeldReport> {
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

    fn state(&self) -> MutexGuard<'_, HeldMemory> {
        self.state.lock()
    }
}

impl HeldMemory {
    fn take(&mut self, memory: &Arc<ReplyMemory>, bytes: u64, report: Option<Arc<Report>>) -> Option<Reservation> {
        let bytes = bytes.min(memory.capacity);
        (bytes <= memory.capacity - self.held).then(|| {
            self.held += bytes;
            Reservation { memory: Arc::clone(memory), bytes, owner: None, report }
        })
    }

    fn give_back(&mut self, owner: ReplyOwner, bytes: u64) {
        if let Entry::Occupied(mut own) = self.owned.entry(owner) {
            *own.get_mut() -= bytes;
            if *own.get() == 0 {
                own.remove();
            }
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut state = self.memory.state();
        state.held -= self.bytes;
        if let Some(owner) = self.owner {
            state.give_back(owner, self.bytes);
        }
        if let Some(report) = &self.report {
            let key = Arc::as_ptr(report) as usize;
            // Another response may have reserved the report again meanwhile.
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
    use crate::service::{Job, Limits, Plan, SearchContext, Tables, solve};

    fn report() -> Arc<Report> {
        let board = Board::blank_last(Size::try_from((3, 3)).unwrap());
        let (puzzle, plan) = (Puzzle::try_new(board, board).unwrap(), Plan::auto(board.size()));
        let limits = Limits { time: Duration::from_secs(9), expanded: 1000, nodes: 1000 };
        let job = Job::new(puzzle, plan, limits);
        Arc::new(solve(&job, &Tables::default(), SearchContext::default()).unwrap())
    }

    #[test]
    fn memory_is_released_with_its_response() {
        let memory = ReplyMemory::new(100);
        let (first, second) = (memory.reserve(None, 60), memory.reserve(None, 60));
        assert!(first.is_some() && second.is_none());
        assert_eq!(memory.held(), 60);
        drop(first);
        let all = memory.reserve(None, u64::MAX);
        assert!(all.is_some() && memory.reserve(None, 1).is_none(), "a larger request gets all memory");
        drop(all);
        assert_eq!(memory.held(), 0);
    }

    #[test]
    fn an_owner_leaves_a_quarter_to_others() {
        let memory = ReplyMemory::new(100);
        let [one, other] = [1, 2].map(|byte| Some([byte; 32]));
        let large = memory.reserve(one, u64::MAX);
        assert!(large.is_some() && memory.held() == 75, "a larger request gets the whole share");
        assert!(memory.reserve(one, 1).is_none());
        let small = memory.reserve(other, 20);
        assert!(small.is_some() && memory.reserve(other, 20).is_none() && memory.reserve(None, 5).is_some());
        drop(large);
        let again = memory.reserve(one, 75);
        assert!(again.is_some());
        drop((again, small));
        assert_eq!(memory.held(), 0);
        assert!(memory.state().owned.is_empty(), "an owner without responses takes no memory");
    }

    #[test]
    fn a_report_counts_once_for_all_its_responses() {
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
