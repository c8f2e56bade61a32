//! The current level, shared with helpers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use super::guide::Guide;
use super::level::Level;
use super::level::{lock, spin_until};
use crate::domain::Packed;
use crate::search::StopReason;
use crate::search::budget::HELPER_POLL_INTERVAL;

/// The current level, shared with helpers.
pub(crate) struct SharedLevel<'a, P, G: Guide<P>> {
    state: Mutex<SharedLevelState<'a, P, G>>,
    /// `g` of the current level.
    g: AtomicUsize,
    changed: Condvar,
    helpers: AtomicUsize,
}

struct SharedLevelState<'a, P, G: Guide<P>> {
    level: Option<Arc<Level<'a, P, G>>>,
    is_closed: bool,
}

impl<P, G: Guide<P>> Default for SharedLevel<'_, P, G> {
    fn default() -> Self {
        let state = Mutex::new(SharedLevelState { level: None, is_closed: false });
        Self { state, g: AtomicUsize::new(0), changed: Condvar::new(), helpers: AtomicUsize::new(0) }
    }
}

/// Stops the helpers when dropped, so that they stop even if the main work panics.
pub(crate) struct CloseOnDrop<'w, 'a, P, G: Guide<P>>(pub &'w SharedLevel<'a, P, G>);

impl<P, G: Guide<P>> Drop for CloseOnDrop<'_, '_, P, G> {
    fn drop(&mut self) {
        let last = std::mem::replace(&mut *lock(&self.0.state), SharedLevelState { level: None, is_closed: true });
        // Helpers finish their current part and take no more.
        last.level.inspect(|level| level.members.withdraw());
        self.0.changed.notify_all();
    }
}

impl<'a, P: Packed, G: Guide<P>> SharedLevel<'a, P, G> {
    /// Number of helpers.
    pub(crate) fn helpers(&self) -> usize {
        self.helpers.load(Ordering::Relaxed)
    }

    /// Publishes a level to the helpers.
    pub(crate) fn publish(&self, level: &Arc<Level<'a, P, G>>) {
        lock(&self.state).level = Some(Arc::clone(level));
        self.g.store(level.g, Ordering::Release);
        self.changed.notify_all();
    }

    /// Expands parts of one level after another, until the search has ended or the thread must yield.
    pub(crate) fn help(&self, must_yield: &dyn Fn() -> bool) {
        self.helpers.fetch_add(1, Ordering::Relaxed);
        let mut last = 0;
        while !must_yield() {
            spin_until(|| self.g.load(Ordering::Acquire) > last);
            let state = lock(&self.state);
            if state.is_closed {
                break;
            }
            match state.level.as_ref().filter(|level| level.g > last).map(Arc::clone) {
                Some(level) => {
                    drop(state);
                    last = level.g;
                    let check_budget = |_| if must_yield() { Err(StopReason::Cancelled) } else { Ok(()) };
                    // A part that was taken is always finished.
                    let _ = level.work(check_budget);
                }
                None => drop(self.changed.wait_timeout(state, HELPER_POLL_INTERVAL)),
            }
        }
        self.helpers.fetch_sub(1, Ordering::Relaxed);
    }
}
