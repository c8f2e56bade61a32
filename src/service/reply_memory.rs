//! Memory limit for batches, and for long responses that are still being sent.
//!
//! A part of the memory is for small reservations only, so that large ones cannot keep small requests out.

use std::collections::HashMap;
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
    /// Bytes of the large reservations among them.
    large: u64,
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

    /// Reserves memory if it is available, for an owner within its share. A request for more than there is for one
    /// reservation gets all of that.
    pub(crate) fn reserve(self: &Arc<Self>, owner: Option<ReplyOwner>, bytes: u64) -> Option<Reservation> {
        let mut reservation = Reservation { memory: Arc::clone(self), bytes: 0, owner, report: None };
        reservation.grow(bytes).then_some(reservation)
    }

    /// True if memory can be reserved at this moment.
    pub(crate) fn has_room(&self, owner: Option<ReplyOwner>, bytes: u64) -> bool {
        self.state().admits(self, owner, 0, self.within(owner, bytes))
    }

    /// Bytes of the share of an owner. It leaves a quarter to others.
    fn owner_share(&self) -> u64 {
        self.capacity - self.capacity / 4
    }

    /// Bytes of all large reservations together. They leave an eighth to small ones.
    fn large_share(&self) -> u64 {
        self.capacity - self.capacity / 8
    }

    /// True if a reservation of so many bytes is large. The share of the small ones has room for four at least.
    fn is_large(&self, bytes: u64) -> bool {
        /// Suffices for the results of a job of some thousand boards.
        const SMALL: u64 = 384 << 10;
        bytes > (self.capacity / 512).max(SMALL).min(self.capacity / 32)
    }

    /// So many bytes, or the most for one reservation.
    fn within(&self, owner: Option<ReplyOwner>, bytes: u64) -> u64 {
        bytes.min(if owner.is_some() { self.owner_share() } else { self.large_share() })
    }

    /// Reserves the memory of a report, unless it is held already.
    pub(crate) fn hold(self: &Arc<Self>, report: &Arc<Report>) -> Option<HeldReport> {
        let key = Arc::as_ptr(report) as usize;
        let mut state = self.state();
        let reservation = match state.reports.get(&key).and_then(Weak::upgrade) {
            Some(reservation) => reservation,
            None => {
                let bytes = self.within(None, report.bytes_with_request() as u64);
                if !state.resize(self, None, 0, bytes) {
                    return None;
                }
                let report = Some(Arc::clone(report));
                let reservation = Arc::new(Reservation { memory: Arc::clone(self), bytes, owner: None, report });
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
    /// True if a reservation of `old` bytes may have `new` ones.
    fn admits(&self, memory: &ReplyMemory, owner: Option<ReplyOwner>, old: u64, new: u64) -> bool {
        let own = owner.and_then(|owner| self.owned.get(&owner)).copied().unwrap_or_default();
        let large = |bytes| if memory.is_large(bytes) { bytes } else { 0 };
        self.held - old + new <= memory.capacity
            && (large(new) == 0 || self.large - large(old) + new <= memory.large_share())
            && (owner.is_none() || own - old + new <= memory.owner_share())
    }

    /// Changes a reservation from `old` bytes to `new` ones. Returns false if it may not have them. It always may have
    /// less.
    fn resize(&mut self, memory: &ReplyMemory, owner: Option<ReplyOwner>, old: u64, new: u64) -> bool {
        if new > old && !self.admits(memory, owner, old, new) {
            return false;
        }
        let large = |bytes| if memory.is_large(bytes) { bytes } else { 0 };
        self.held = self.held - old + new;
        self.large = self.large - large(old) + large(new);
        if let Some(owner) = owner {
            let own = self.owned.entry(owner).or_default();
            *own = *own - old + new;
            if *own == 0 {
                self.owned.remove(&owner);
            }
        }
        true
    }
}

impl Reservation {
    /// Reserves more, so many bytes in all, if they are available. It never reserves less.
    #[must_use = "without the memory, the work cannot go on"]
    pub(crate) fn grow(&mut self, bytes: u64) -> bool {
        let bytes = self.memory.within(self.owner, bytes).max(self.bytes);
        let has_grown = self.memory.state().resize(&self.memory, self.owner, self.bytes, bytes);
        if has_grown {
            self.bytes = bytes;
        }
        has_grown
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut state = self.memory.state();
        state.resize(&self.memory, self.owner, self.bytes, 0);
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
    use crate::service::Tables;
    use taquin_solver::solver::solve;
    use taquin_solver::{Board, Control, Limits, Plan, Puzzle, SearchRequest, Size};

    fn report() -> Arc<Report> {
        let board = Board::blank_last(Size::try_from((3, 3)).unwrap());
        let (puzzle, plan) = (Puzzle::try_new(board, board).unwrap(), Plan::auto(board.size()));
        let limits = Limits { time: Duration::from_secs(9), expanded: 1000, nodes: 1000 };
        let job = SearchRequest::new(puzzle, plan, limits);
        Arc::new(Report::new(solve(&job, &Tables::default(), Control::default()).unwrap(), limits))
    }

    #[test]
    fn memory_is_released_with_its_response() {
        let memory = ReplyMemory::new(100);
        let (first, second) = (memory.reserve(None, 60), memory.reserve(None, 60));
        assert!(first.is_some() && second.is_none());
        assert_eq!(memory.held(), 60);
        drop(first);
        let all = memory.reserve(None, u64::MAX);
        assert!(all.is_some() && memory.held() == 88, "a larger request gets all memory for large ones");
        assert!(memory.reserve(None, 4).is_none());
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
        let small = memory.reserve(other, 10);
        assert!(small.is_some() && memory.reserve(other, 10).is_none() && memory.reserve(None, 3).is_some());
        drop(large);
        let again = memory.reserve(one, 75);
        assert!(again.is_some());
        drop((again, small));
        assert_eq!(memory.held(), 0);
        assert!(memory.state().owned.is_empty(), "an owner without responses takes no memory");
    }

    #[test]
    fn large_reservations_leave_an_eighth_to_small_ones() {
        const MIB: u64 = 1 << 20;
        let memory = ReplyMemory::new(256 * MIB);
        let large: Vec<_> = std::iter::from_fn(|| memory.reserve(None, 20 * MIB)).collect();
        assert_eq!((large.len(), memory.held()), (11, 220 * MIB));
        assert!(memory.has_room(None, MIB / 2) && memory.has_room(None, 4 * MIB) && !memory.has_room(None, 5 * MIB));
        let small: Vec<_> = std::iter::from_fn(|| memory.reserve(None, MIB / 2)).collect();
        assert_eq!(small.len(), 72, "they may use all memory");
        assert_eq!(memory.held(), 256 * MIB);
        drop((large, small));
        assert_eq!((memory.held(), memory.state().large), (0, 0));
    }

    #[test]
    fn a_reservation_grows_as_far_as_there_is_memory() {
        let memory = ReplyMemory::new(100);
        let owner = Some([1; 32]);
        let mut one = memory.reserve(owner, 0).unwrap();
        assert!(memory.state().owned.is_empty(), "nothing is reserved yet");
        assert!(one.grow(2) && one.grow(50) && one.grow(30), "it may ask for less");
        assert_eq!((memory.held(), memory.state().large), (50, 50));
        let mut other = memory.reserve(None, 3).unwrap();
        assert!(other.grow(38) && !other.grow(39), "large ones leave a part");
        assert_eq!((memory.held(), memory.state().large), (88, 88));
        assert!(!one.grow(51) && one.grow(50), "it keeps what it has");
        assert!(memory.reserve(owner, 3).is_some());
        drop(other);
        assert!(one.grow(u64::MAX) && memory.reserve(owner, 1).is_none(), "it has the share of its owner");
        drop(one);
        let state = memory.state();
        assert_eq!((state.held, state.large, state.owned.len()), (0, 0, 0));
    }

    #[test]
    fn a_report_counts_once_for_all_its_responses() {
        let (one, other) = (report(), report());
        let bytes = one.bytes_with_request() as u64;
        let memory = ReplyMemory::new(2 * bytes);
        let held: Vec<_> = (0..9).map(|_| memory.hold(&one).unwrap()).collect();
        assert_eq!(memory.held(), bytes);
        assert!(memory.hold(&other).is_none());
        drop(held);
        assert_eq!(memory.held(), 0);
        assert!(memory.state().reports.is_empty());
        assert!(memory.hold(&other).is_some());
    }
}
