//! Parallel map whose results are in the order of the items.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{Builder, scope};

use parking_lot::Mutex;

/// An item, and the sender for the result of the item.
type Task<I, T> = (I, SyncSender<T>);

/// Calls `work` on the items of `source`, on `threads` threads. Calls `sink` on the results, in the order of the items,
/// on the caller's thread. At most about `4 * threads` items and results are in memory at the same time. So the source
/// waits for a slow sink.
///
/// # Errors
/// The first error of `sink`. After an error, no further item is taken from the source.
///
/// # Panics
/// If the system refuses a thread for `source`, or refuses all threads for `work`. If `source` or `work` panics.
pub fn map_in_order<I: Send, T: Send, E>(
    threads: usize,
    source: impl Iterator<Item = I> + Send,
    work: impl Fn(I) -> T + Sync,
    mut sink: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let (in_order, results) = sync_channel::<Receiver<T>>(4 * threads);
    let (hand_out, tasks) = sync_channel::<Task<I, T>>(threads);
    let tasks = Mutex::new(tasks);
    let take = || tasks.lock().recv().ok();
    scope(|scope| {
        let feed = move || {
            for item in source {
                let (done, result) = sync_channel(1);
                // Sending fails only after the sink has failed, because the receiver is dropped then.
                if in_order.send(result).is_err() || hand_out.send((item, done)).is_err() {
                    return;
                }
            }
        };
        let solve = || {
            while let Some((item, done)) = take() {
                // After an error of the sink, sending fails, because the receiver is dropped.
                let _ = done.send(work(item));
            }
        };
        Builder::new().spawn_scoped(scope, feed).expect("a thread can be created");
        // If the system refuses some of the threads, fewer threads do the work.
        let created = (0..threads).map_while(|_| Builder::new().spawn_scoped(scope, solve).ok()).count();
        assert!(created > 0, "a thread can be created");
        for result in results {
            sink(result.recv().expect("the work does not panic"))?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        let mut results = Vec::new();
        // Some items are ready before earlier items.
        let work = |item: u64| {
            std::thread::sleep(std::time::Duration::from_micros(100 * (item % 7)));
            item * item
        };
        let end: Result<(), ()> = map_in_order(4, 0..500, work, |result| {
            results.push(result);
            Ok(())
        });
        assert_eq!(end, Ok(()));
        assert_eq!(results, (0..500).map(|item| item * item).collect::<Vec<_>>());
    }

    #[test]
    fn a_failing_sink_ends_the_source() {
        let taken = AtomicUsize::new(0);
        let source = (0..u64::MAX).inspect(|_| {
            taken.fetch_add(1, Ordering::Relaxed);
        });
        let end = map_in_order(3, source, |item| item, |result| if result == 10 { Err(result) } else { Ok(()) });
        assert_eq!(end, Err(10));
        assert!(taken.into_inner() < 10 + 4 * 3 + 3 + 3 + 2, "few items beyond the failure");
    }
}
