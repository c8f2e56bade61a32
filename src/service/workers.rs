//! Permits to work, lent to searches that can use more than one.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

use crate::search::{Crew, Help, MainWork};

/// Workers, and the jobs that wait for one. A search may hire those that nobody waits for.
#[derive(Clone, Debug)]
pub(super) struct Workers {
    permits: Arc<Semaphore>,
    waiting: Arc<AtomicUsize>,
}

/// One job that waits.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Workers {
    /// So many.
    pub(super) fn new(count: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(count)), waiting: Arc::default() }
    }

    /// Waits for one.
    pub(super) async fn acquire(&self) -> Result<OwnedSemaphorePermit, AcquireError> {
        if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
            return Ok(permit);
        }
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = Waiting(&self.waiting);
        Arc::clone(&self.permits).acquire_owned().await
    }

    /// How many have nothing to do.
    #[cfg(test)]
    pub(super) fn idle(&self) -> usize {
        self.permits.available_permits()
    }

    fn is_wanted(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }
}

impl Crew for Workers {
    fn work(&self, main: MainWork<'_>, help: &Help<'_>) {
        std::thread::scope(|scope| {
            main(&|| {
                if self.is_wanted() {
                    return;
                }
                if let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() {
                    // A system that has no thread to spare is no reason to fail.
                    let _ = std::thread::Builder::new().spawn_scoped(scope, move || {
                        let _permit = permit;
                        help(&|| self.is_wanted());
                    });
                }
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn those_who_help_leave_when_a_job_waits() {
        let workers = Workers::new(2);
        let own = workers.acquire().await.unwrap();
        let helpers = Arc::new(AtomicUsize::new(0));
        let search = tokio::task::spawn_blocking({
            let (workers, helpers) = (workers.clone(), Arc::clone(&helpers));
            move || {
                let help = |is_wanted: &dyn Fn() -> bool| {
                    helpers.fetch_add(1, Ordering::Relaxed);
                    while !is_wanted() {
                        std::thread::yield_now();
                    }
                };
                // One helper, however often it asks: the other worker is its own.
                workers.work(&mut |ask| (0..10).for_each(|_| ask()), &help);
            }
        });
        while helpers.load(Ordering::Relaxed) == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(workers.idle(), 0);
        let other = workers.acquire().await.unwrap();
        search.await.unwrap();
        assert_eq!(helpers.load(Ordering::Relaxed), 1);
        drop((own, other));
        assert_eq!(workers.idle(), 2);
    }
}
