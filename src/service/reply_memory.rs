//! Memory limit for batches and for long responses in transfer.
//!
//! A part of the memory is only for small reservations, so that large reservations do not keep out small requests.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Permits for the memory of batches and long responses. A permit stands for one KiB.
#[derive(Debug)]
pub(crate) struct ReplyMemory {
    kib: u32,
    all: Arc<Semaphore>,
    /// Permits that a large reservation takes in addition. The number of permits leaves an eighth of the memory to
    /// small reservations.
    large: Arc<Semaphore>,
    /// Permits that the reservations of an owner take in addition. The number of permits leaves a quarter of the memory
    /// to other owners.
    owners: Mutex<HashMap<ReplyOwner, Weak<Semaphore>>>,
}

/// The owner of a response: the digest of the token in the request. The responses of one owner leave a quarter of the
/// memory to other owners.
pub type ReplyOwner = [u8; 32];

/// Memory reserved for a response or a batch. Dropping the reservation releases the memory.
#[derive(Debug)]
pub struct Reservation {
    memory: Arc<ReplyMemory>,
    kib: u32,
    owner: Option<Arc<Semaphore>>,
    /// Permits from `all`, from `large` if the reservation is large, and from the permits of the owner.
    permits: Vec<OwnedSemaphorePermit>,
}

impl ReplyMemory {
    /// Creates a limit of `bytes` bytes, rounded down to whole KiB.
    pub(crate) fn new(bytes: u64) -> Arc<Self> {
        let kib = u32::try_from(bytes >> 10).unwrap_or(u32::MAX);
        let permits = |kib| Arc::new(Semaphore::new(kib as usize));
        Arc::new(Self { kib, all: permits(kib), large: permits(kib - kib / 8), owners: Mutex::default() })
    }

    /// Returns the reserved memory, in bytes.
    pub(crate) fn held(&self) -> u64 {
        (u64::from(self.kib) - self.all.available_permits() as u64) << 10
    }

    /// Reserves `bytes` bytes, rounded up to whole KiB. Returns `None` if the memory is not available, or if the
    /// owner's share is used up. A request for more than the largest possible reservation receives the largest possible
    /// reservation.
    pub(crate) fn reserve(self: &Arc<Self>, owner: Option<ReplyOwner>, bytes: u64) -> Option<Reservation> {
        let owner = owner.map(|owner| self.owner(owner));
        let mut reservation = Reservation { memory: Arc::clone(self), kib: 0, owner, permits: Vec::new() };
        reservation.grow(bytes).then_some(reservation)
    }

    /// Returns the permits of an owner. All reservations of the owner share these permits.
    fn owner(&self, owner: ReplyOwner) -> Arc<Semaphore> {
        let mut owners = self.owners.lock();
        if let Some(permits) = owners.get(&owner).and_then(Weak::upgrade) {
            return permits;
        }
        owners.retain(|_, permits| permits.strong_count() > 0);
        let permits = Arc::new(Semaphore::new((self.kib - self.kib / 4) as usize));
        owners.insert(owner, Arc::downgrade(&permits));
        permits
    }

    /// Returns true if a reservation of `kib` KiB is large. The memory that is left to small reservations has room for
    /// at least four small reservations.
    fn is_large(&self, kib: u32) -> bool {
        /// Enough KiB for the results of a job of some thousand boards.
        const SMALL: u32 = 384;
        kib > (self.kib / 512).max(SMALL).min(self.kib / 32)
    }
}

impl Reservation {
    /// Grows the reservation to `bytes` bytes in total, or to the largest possible reservation. The reservation never
    /// shrinks. Returns false, and changes nothing, if the memory is not available.
    #[must_use = "without the memory, the work cannot go on"]
    pub(crate) fn grow(&mut self, bytes: u64) -> bool {
        let memory = &*self.memory;
        let most = memory.kib - if self.owner.is_some() { memory.kib / 4 } else { memory.kib / 8 };
        let kib = u32::try_from(bytes.div_ceil(1 << 10)).unwrap_or(u32::MAX).min(most).max(self.kib);
        let more = kib - self.kib;
        let of_large = match (memory.is_large(self.kib), memory.is_large(kib)) {
            (true, _) => more,
            (false, true) => kib,
            (false, false) => 0,
        };
        let owner = self.owner.as_ref().map(|owner| (owner, more));
        let take = |(permits, kib): (&Arc<Semaphore>, u32)| Arc::clone(permits).try_acquire_many_owned(kib).ok();
        let needs = [(&memory.all, more), (&memory.large, of_large)].into_iter().chain(owner);
        let Some(permits) = needs.map(take).collect::<Option<Vec<_>>>() else { return false };
        if self.permits.is_empty() {
            self.permits = permits;
        } else {
            self.permits.iter_mut().zip(permits).for_each(|(held, more)| held.merge(more));
        }
        self.kib = kib;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;

    fn large(memory: &ReplyMemory) -> usize {
        (memory.kib - memory.kib / 8) as usize - memory.large.available_permits()
    }

    #[test]
    fn memory_is_released_with_its_response() {
        let memory = ReplyMemory::new(100 * KIB);
        let (first, second) = (memory.reserve(None, 60 * KIB), memory.reserve(None, 60 * KIB));
        assert!(first.is_some() && second.is_none());
        assert_eq!(memory.held(), 60 * KIB);
        drop(first);
        let all = memory.reserve(None, u64::MAX);
        assert!(all.is_some() && memory.held() == 88 * KIB, "a larger request gets all memory for large ones");
        assert!(memory.reserve(None, 4 * KIB).is_none());
        drop(all);
        assert_eq!(memory.held(), 0);
        let _begun = memory.reserve(None, 1).unwrap();
        assert_eq!(memory.held(), KIB, "each KiB that is begun counts");
    }

    #[test]
    fn an_owner_leaves_a_quarter_to_others() {
        let memory = ReplyMemory::new(100 * KIB);
        let [one, other] = [1, 2].map(|byte| Some([byte; 32]));
        let large = memory.reserve(one, u64::MAX);
        assert!(large.is_some() && memory.held() == 75 * KIB, "a larger request gets the whole share");
        assert!(memory.reserve(one, KIB).is_none());
        let small = memory.reserve(other, 10 * KIB);
        assert!(
            small.is_some() && memory.reserve(other, 10 * KIB).is_none() && memory.reserve(None, 3 * KIB).is_some()
        );
        drop(large);
        let again = memory.reserve(one, 75 * KIB);
        assert!(again.is_some());
        drop((again, small));
        assert_eq!((memory.held(), large_and_owners(&memory)), (0, (0, 1)), "only the latest owner is known");
    }

    /// Returns the number of KiB in large reservations, and the number of known owners.
    fn large_and_owners(memory: &ReplyMemory) -> (usize, usize) {
        memory.owner([9; 32]);
        (large(memory), memory.owners.lock().len())
    }

    #[test]
    fn large_reservations_leave_an_eighth_to_small_ones() {
        let memory = ReplyMemory::new(256 * MIB);
        let large_ones: Vec<_> = std::iter::from_fn(|| memory.reserve(None, 20 * MIB)).collect();
        assert_eq!((large_ones.len(), memory.held()), (11, 220 * MIB));
        let has_room = |bytes| memory.reserve(None, bytes).is_some();
        assert!(has_room(MIB / 2) && has_room(4 * MIB) && !has_room(5 * MIB));
        let small: Vec<_> = std::iter::from_fn(|| memory.reserve(None, MIB / 2)).collect();
        assert_eq!(small.len(), 72, "they may use all memory");
        assert_eq!(memory.held(), 256 * MIB);
        drop((large_ones, small));
        assert_eq!((memory.held(), large(&memory)), (0, 0));
    }

    #[test]
    fn a_reservation_grows_as_far_as_there_is_memory() {
        let memory = ReplyMemory::new(100 * KIB);
        let owner = Some([1; 32]);
        let mut one = memory.reserve(owner, 0).unwrap();
        assert_eq!(memory.held(), 0, "nothing is reserved yet");
        assert!(one.grow(2 * KIB) && one.grow(50 * KIB) && one.grow(30 * KIB), "it may ask for less");
        assert_eq!((memory.held(), large(&memory)), (50 * KIB, 50));
        let mut other = memory.reserve(None, 3 * KIB).unwrap();
        assert!(other.grow(38 * KIB) && !other.grow(39 * KIB), "large ones leave a part");
        assert_eq!((memory.held(), large(&memory)), (88 * KIB, 88));
        assert!(!one.grow(51 * KIB) && one.grow(50 * KIB), "a rejected growth keeps the reservation");
        assert!(memory.reserve(owner, 3 * KIB).is_some());
        drop(other);
        assert!(one.grow(u64::MAX) && memory.reserve(owner, KIB).is_none(), "it has the share of its owner");
        drop(one);
        assert_eq!((memory.held(), large_and_owners(&memory)), (0, (0, 1)));
    }
}
