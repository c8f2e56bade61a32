//! Tests that check the promises of every queue.

use std::time::{Duration, Instant};

use super::*;
use crate::memory_queue::MemoryQueue;
use crate::task::Work;

fn task(class: TaskClass, work: Work) -> Task {
    Task { class, job: "1".repeat(32).parse().unwrap(), folder: "2".repeat(32).parse().unwrap(), work }
}

fn chunk(number: u64) -> Task {
    task(TaskClass::Bulk, Work::Chunk(number))
}

async fn taken<Q: Queue>(queue: &Q, class: TaskClass) -> Q::Lease {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(20) {
        if let Some(lease) = queue.take(class).await.unwrap() {
            return lease;
        }
    }
    panic!("no task is handed out");
}

/// Checks that no task is handed out for a while.
async fn assert_none<Q: Queue>(queue: &Q, class: TaskClass, time: Duration) {
    if let Ok(Ok(Some(lease))) = tokio::time::timeout(time, queue.take(class)).await {
        panic!("{:?} is handed out", lease.task());
    }
}

/// Checks the promises of a queue. The queue must be empty. The lease time of the queue should be some seconds.
pub(crate) async fn check_promises<Q: Queue>(queue: &Q) {
    a_task_is_in_the_queue_once(queue).await;
    a_task_is_handed_out_until_it_is_done(queue).await;
    a_lease_ends_unless_it_is_extended(queue).await;
    lanes_are_apart(queue).await;
    many_workers_share_many_tasks(queue).await;
    workers_are_known_while_they_attend(queue).await;
    reports_reach_those_that_ask(queue).await;
}

async fn a_task_is_in_the_queue_once<Q: Queue>(queue: &Q) {
    assert_eq!(queue.tasks().await.unwrap(), HashSet::new());
    for _ in 0..3 {
        queue.offer(&chunk(1)).await.unwrap();
    }
    queue.offer(&task(TaskClass::Bulk, Work::End)).await.unwrap();
    let both = HashSet::from([chunk(1), task(TaskClass::Bulk, Work::End)]);
    assert_eq!(queue.tasks().await.unwrap(), both);
    let counts = queue.counts(TaskClass::Bulk).await.unwrap();
    assert_eq!((counts.waiting, counts.leased), (2, 0));
    let leases = [taken(queue, TaskClass::Bulk).await, taken(queue, TaskClass::Bulk).await];
    assert_eq!(HashSet::from(leases.each_ref().map(|lease| *lease.task())), both);
    // A leased task stays in the queue, so the offer changes nothing.
    queue.offer(&chunk(1)).await.unwrap();
    let counts = queue.counts(TaskClass::Bulk).await.unwrap();
    assert_eq!((counts.waiting, counts.leased), (0, 2));
    assert_eq!(queue.tasks().await.unwrap(), both);
    for lease in leases {
        lease.done().await.unwrap();
    }
    assert_eq!(queue.tasks().await.unwrap(), HashSet::new());
}

async fn a_task_is_handed_out_until_it_is_done<Q: Queue>(queue: &Q) {
    queue.offer(&chunk(2)).await.unwrap();
    let first = taken(queue, TaskClass::Bulk).await;
    assert_eq!(first.deliveries(), 1);
    assert_none(queue, TaskClass::Bulk, Duration::from_millis(200)).await;
    first.release(Duration::from_secs(1)).await.unwrap();
    let released = Instant::now();
    let second = taken(queue, TaskClass::Bulk).await;
    // Servers measure the pause coarsely.
    assert!(released.elapsed() > Duration::from_millis(500), "{:?}", released.elapsed());
    assert_eq!((*second.task(), second.deliveries()), (chunk(2), 2));
    second.release(Duration::ZERO).await.unwrap();
    let third = taken(queue, TaskClass::Bulk).await;
    third.done().await.unwrap();
    assert_none(queue, TaskClass::Bulk, queue.lease_time() + Duration::from_millis(500)).await;
    // A finished task may be offered again.
    queue.offer(&chunk(2)).await.unwrap();
    taken(queue, TaskClass::Bulk).await.done().await.unwrap();
}

async fn a_lease_ends_unless_it_is_extended<Q: Queue>(queue: &Q) {
    queue.offer(&chunk(3)).await.unwrap();
    let first = taken(queue, TaskClass::Bulk).await;
    for _ in 0..4 {
        tokio::time::sleep(queue.lease_time() / 2).await;
        first.extend().await.unwrap();
    }
    assert_none(queue, TaskClass::Bulk, queue.lease_time() / 4).await;
    let second = taken(queue, TaskClass::Bulk).await;
    assert_eq!((*second.task(), second.deliveries()), (chunk(3), 2));
    second.done().await.unwrap();
}

async fn lanes_are_apart<Q: Queue>(queue: &Q) {
    let quick = task(TaskClass::Quick, Work::Chunk(4));
    queue.offer(&quick).await.unwrap();
    assert_none(queue, TaskClass::Bulk, Duration::from_millis(200)).await;
    let (bulk, other) = (queue.counts(TaskClass::Bulk).await.unwrap(), queue.counts(TaskClass::Quick).await.unwrap());
    assert_eq!((bulk.waiting, other.waiting), (0, 1));
    let lease = taken(queue, TaskClass::Quick).await;
    assert_eq!(*lease.task(), quick);
    lease.done().await.unwrap();
}

async fn many_workers_share_many_tasks<Q: Queue>(queue: &Q) {
    const TASKS: u64 = 60;
    let offering = async {
        for number in 0..TASKS {
            queue.offer(&chunk(number)).await.unwrap();
        }
    };
    let working = async || {
        let mut done = Vec::new();
        while let Ok(Ok(Some(lease))) = tokio::time::timeout(Duration::from_secs(1), queue.take(TaskClass::Bulk)).await
        {
            done.push(*lease.task());
            lease.done().await.unwrap();
        }
        done
    };
    let ((), a, b, c) = tokio::join!(offering, working(), working(), working());
    let mut done = [a, b, c].concat();
    done.sort();
    assert_eq!(done, (0..TASKS).map(chunk).collect::<Vec<_>>());
}

async fn workers_are_known_while_they_attend<Q: Queue>(queue: &Q) {
    let until = async |is_known| {
        let begun = Instant::now();
        while queue.has_worker().await.unwrap() != is_known {
            assert!(begun.elapsed() < Duration::from_secs(20));
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    until(false).await;
    tokio::select! {
        () = queue.attend() => panic!("it attends until it is dropped"),
        () = until(true) => {}
    }
    until(false).await;
}

async fn reports_reach_those_that_ask<Q: Queue>(queue: &Q) {
    assert_eq!(queue.reports().await, HashSet::new());
    let (solver, missing) = (WorkerTrouble::Solver(chunk(1)), WorkerTrouble::Missing(chunk(2)));
    let (troubles, mut reported) =
        (HashSet::from([WorkerTrouble::Store(chunk(1).folder), solver, missing]), HashSet::new());
    let begun = Instant::now();
    while reported != troubles {
        assert!(begun.elapsed() < Duration::from_secs(20), "{reported:?}");
        for trouble in &troubles {
            queue.report(*trouble).await;
        }
        queue.flush().await;
        tokio::time::sleep(Duration::from_millis(10)).await;
        reported.extend(queue.reports().await);
    }
}

#[tokio::test]
async fn a_queue_in_memory_keeps_the_promises() {
    check_promises(&MemoryQueue::new(Duration::from_secs(2))).await;
}
