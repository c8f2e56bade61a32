//! Locks, and short waits.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks data. What a thread that panicked has left is not used any more.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Spins briefly until a condition holds, because levels follow each other faster than a thread wakes up. Returns
/// false if the condition does not hold in time.
pub(super) fn spin_until(condition: impl Fn() -> bool) -> bool {
    const SPINS: u32 = 4096;
    (0..SPINS).any(|_| {
        std::hint::spin_loop();
        condition()
    })
}
