//! Tests with many stub workers that only hold leases. With `TAQUIN_CHAOS=long`, a thousand stub workers run for five
//! minutes.

use std::collections::HashSet;
use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use futures_util::future::join_all;
use parking_lot::Mutex;
use taquin_solver::{RandomSource, SplitMix};

use super::*;
use crate::task::Work;

/// Number of workers and durations of a load test.
#[derive(Clone, Copy)]
struct Load {
    workers: u64,
    time: Duration,
    /// Time after which a lease expires unless the lease is extended.
    lease_time: Duration,
    /// Longest time for a task.
    work: Duration,
}

const SHORT: Load = Load {
    workers: 100,
    time: Duration::from_secs(20),
    lease_time: Duration::from_secs(15),
    work: Duration::from_secs(18),
};
const LONG: Load = Load {
    workers: 1000,
    time: Duration::from_secs(300),
    lease_time: Duration::from_secs(30),
    work: Duration::from_secs(40),
};
/// Tasks that a worker holds: one for its thread, and one in reserve.
const SLOTS: usize = 2;

/// Counts and errors of all stub workers.
#[derive(Default)]
struct Notes {
    is_over: AtomicBool,
    done: AtomicU64,
    extended: AtomicU64,
    /// Number of tasks that the queue had delivered at least once before their first lease.
    returned: AtomicU64,
    taken: Mutex<HashSet<Task>>,
    lost: Mutex<Vec<String>>,
}

impl Notes {
    fn lose(&self, what: impl fmt::Display) {
        self.lost.lock().push(what.to_string());
    }
}

/// Takes tasks, holds each task for a while, and acknowledges the task.
async fn stub(queue: Arc<JetStream>, load: Load, notes: Arc<Notes>, seed: u64) {
    let mut random = SplitMix(seed);
    while !notes.is_over.load(Ordering::Relaxed) {
        let lease = match queue.take(TaskClass::Bulk).await {
            Ok(Some(lease)) => lease,
            Ok(None) => continue,
            Err(error) => return notes.lose(error),
        };
        let task = *lease.task();
        // The first lease may be a later delivery: the server may have sent the task in response to a pull request
        // that had just expired.
        if !notes.taken.lock().insert(task) {
            notes.lose(format!("{task}, delivery {}", lease.deliveries()));
        } else if lease.deliveries() != 1 {
            notes.returned.fetch_add(1, Ordering::Relaxed);
        }
        let share = random.next_u64() as f64 / u64::MAX as f64;
        let until = Instant::now() + load.work.mul_f64(share);
        while Instant::now() < until {
            let left = until.saturating_duration_since(Instant::now());
            tokio::time::sleep(left.min(load.lease_time / 3)).await;
            if Instant::now() < until {
                notes.extended.fetch_add(1, Ordering::Relaxed);
                if let Err(error) = lease.extend().await {
                    notes.lose(error);
                }
            }
        }
        match lease.done().await {
            Ok(()) => drop(notes.done.fetch_add(1, Ordering::Relaxed)),
            Err(error) => notes.lose(error),
        }
    }
}

/// Keeps twice as many tasks in the queue as the workers hold.
async fn offer_tasks(queue: &JetStream, load: Load, notes: &Notes) {
    let most = 2 * load.workers * SLOTS as u64;
    let mut chunk = 0;
    while !notes.is_over.load(Ordering::Relaxed) {
        let counts = queue.counts(TaskClass::Bulk).await.unwrap();
        let missing = most.saturating_sub(counts.waiting + counts.leased);
        for _ in 0..missing {
            queue.offer(&Task { work: Work::Chunk(chunk), ..task() }).await.unwrap();
            chunk += 1;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs a server: .ci/cluster"]
async fn no_lease_of_many_workers_is_lost() {
    let load = if env::var("TAQUIN_CHAOS").is_ok_and(|form| form == "long") { LONG } else { SHORT };
    for server in servers() {
        let queue = queue_with_leases(&server, load.lease_time).await;
        queue.offer(&Task { class: TaskClass::Quick, ..task() }).await.unwrap();
        let notes = Arc::<Notes>::default();
        let mut workers = Vec::new();
        for nth in 0..load.workers {
            let worker = Arc::new(JetStream::connect_with(&settings(&server), queue.layout.clone()).await.unwrap());
            let attending = Arc::clone(&worker);
            let slots = (0..SLOTS as u64)
                .map(|slot| stub(Arc::clone(&worker), load, Arc::clone(&notes), SLOTS as u64 * nth + slot));
            let slots = join_all(slots);
            workers.push(tokio::spawn(async move {
                tokio::select! {
                    _ = slots => {}
                    () = attending.attend() => {}
                }
            }));
        }
        let begun = Instant::now();
        let stop = async {
            tokio::time::sleep(load.time).await;
            notes.is_over.store(true, Ordering::Relaxed);
        };
        tokio::join!(offer_tasks(&queue, load, &notes), stop);
        for worker in workers {
            worker.await.unwrap();
        }
        let (done, extended) = (notes.done.load(Ordering::Relaxed), notes.extended.load(Ordering::Relaxed));
        println!(
            "\n| {} workers at {server} | no lease lost | {} lost; {done} tasks, {extended} extensions, {} returned in {:.0?} |",
            load.workers,
            notes.lost.lock().len(),
            notes.returned.load(Ordering::Relaxed),
            begun.elapsed()
        );
        assert_eq!(*notes.lost.lock(), Vec::<String>::new(), "{server}");
        assert!(done > load.workers && extended > load.workers, "{done} tasks, {extended} extensions");
        queue.context.delete_stream(&queue.layout.stream).await.unwrap();
    }
}
