//! Tables of stages, kept from one search to the next.

use std::sync::{Arc, Mutex, PoisonError};

use crate::domain::{Cell, Size};
use crate::search::Stages;

/// The stages that were asked for last, as many as there is memory for.
#[derive(Debug)]
pub(super) struct KeptStages {
    memory: u64,
    /// What was asked for last comes first.
    kept: Mutex<Vec<Arc<Stages>>>,
}

impl KeptStages {
    /// So many bytes for all that are kept.
    pub(super) fn new(memory: u64) -> Self {
        Self { memory, kept: Mutex::default() }
    }

    /// Those of a shape and the blank's goal: what was made of their tables before is there.
    pub(super) fn get(&self, size: Size, goal_blank: Cell) -> Arc<Stages> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = kept.iter().position(|stages| stages.serve(size, goal_blank)) {
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

    /// All that are kept.
    pub(super) fn all(&self) -> Vec<Arc<Stages>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(side: usize) -> Size {
        Size::try_from((side, side)).unwrap()
    }

    #[test]
    fn what_was_asked_for_last_stays_as_far_as_memory_goes() {
        let [five, six, seven] = [5, 6, 7].map(|side| Stages::new(size(side), 0).bytes());
        let stages = KeptStages::new(six + seven);
        let first = stages.get(size(7), 0);
        assert!(Arc::ptr_eq(&first, &stages.get(size(7), 0)));
        let other = stages.get(size(6), 0);
        assert!(Arc::ptr_eq(&first, &stages.get(size(7), 0)));
        // The third is one too many: the second gives way, whose turn was before the first's last.
        assert!(five < six);
        stages.get(size(5), 0);
        assert!(Arc::ptr_eq(&first, &stages.get(size(7), 0)));
        assert!(!Arc::ptr_eq(&other, &stages.get(size(6), 0)));
        assert_eq!(Arc::strong_count(&other), 1);
    }

    #[test]
    fn goals_have_stages_of_their_own_and_what_is_too_large_is_not_kept() {
        let stages = KeptStages::new(Stages::new(size(5), 0).bytes());
        assert!(stages.get(size(5), 3).serve(size(5), 3));
        assert!(stages.get(size(9), 3).serve(size(9), 3));
        assert_eq!(stages.kept.lock().unwrap().len(), 0);
    }
}
