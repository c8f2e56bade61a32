//! LRU cache of stage tables.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::domain::{Cell, Size};
use crate::search::Stages;

/// The stages used last, as many as memory allows.
#[derive(Debug)]
pub(crate) struct StageCache {
    memory: u64,
    /// Most recently used first.
    kept: Mutex<Vec<Arc<Stages>>>,
}

impl StageCache {
    /// Creates a cache of at most `memory` bytes.
    pub(crate) fn new(memory: u64) -> Self {
        Self { memory, kept: Mutex::default() }
    }

    /// Returns the stages of a size and goal cell of the blank, with the tables that earlier searches built.
    pub(crate) fn get(&self, size: Size, goal_blank: Cell) -> Arc<Stages> {
        let mut kept = self.lock();
        if let Some(at) = kept.iter().position(|stages| stages.serves(size, goal_blank)) {
            kept[..=at].rotate_right(1);
        } else {
            kept.insert(0, Arc::new(Stages::new(size, goal_blank)));
        }
        let first = Arc::clone(&kept[0]);
        let mut bytes = 0;
        kept.retain(|stages| {
            bytes += stages.bytes();
            bytes <= self.memory
        });
        first
    }

    /// Memory of all cached stages, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.lock().iter().map(|stages| stages.bytes()).sum()
    }

    /// The list is whole even after a panic, which can only come between its changes.
    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Stages>>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All cached stages.
    pub(crate) fn all(&self) -> Vec<Arc<Stages>> {
        self.lock().clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(side: usize) -> Size {
        Size::try_from((side, side)).unwrap()
    }

    #[test]
    fn the_least_recently_used_stages_are_evicted() {
        let [five, six, seven] = [5, 6, 7].map(|side| Stages::new(size(side), 0).bytes());
        let stages = StageCache::new(six + seven);
        let first = stages.get(size(7), 0);
        assert!(Arc::ptr_eq(&first, &stages.get(size(7), 0)));
        let other = stages.get(size(6), 0);
        assert!(Arc::ptr_eq(&first, &stages.get(size(7), 0)));
        // The third entry evicts the second, which is the least recently used.
        assert!(five < six);
        stages.get(size(5), 0);
        assert!(Arc::ptr_eq(&first, &stages.get(size(7), 0)));
        assert!(!Arc::ptr_eq(&other, &stages.get(size(6), 0)));
        assert_eq!(Arc::strong_count(&other), 1);
    }

    #[test]
    fn each_goal_has_its_stages_and_too_large_ones_are_not_cached() {
        let stages = StageCache::new(Stages::new(size(5), 0).bytes());
        assert!(stages.get(size(5), 3).serves(size(5), 3));
        assert!(stages.get(size(9), 3).serves(size(9), 3));
        assert_eq!(stages.lock().len(), 0);
    }
}
