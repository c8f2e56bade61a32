//! Tests with NATS servers.

mod stub_workers;

use std::env;
use std::time::Instant;

use async_nats::jetstream::consumer::pull;
use async_nats::jetstream::stream::Config;

use super::*;
use crate::queue::tests::check_promises;
use crate::task::Work;

pub(crate) fn settings(server: &str) -> QueueSettings {
    QueueSettings { servers: vec![server.to_owned()], credentials: None, replicas: 1, role: QueueRole::Service }
}

/// Returns the URLs of the servers to test with. The oldest server version comes first.
pub(crate) fn servers() -> Vec<String> {
    let servers = env::var("TAQUIN_TEST_NATS").expect("TAQUIN_TEST_NATS is not set: use .ci/cluster");
    servers.split(',').map(str::to_owned).collect()
}

/// Creates a queue that has its own stream.
async fn queue(server: &str) -> JetStream {
    queue_with_leases(server, Duration::from_secs(2)).await
}

/// Creates a queue that has its own stream, with this lease time.
pub(crate) async fn queue_with_leases(server: &str, lease_time: Duration) -> JetStream {
    let name = format!("test-{:016x}", getrandom::u64().unwrap());
    let layout = Layout { prefix: format!("{name}.chunks"), stream: name, lease_time, replicas: 1 };
    JetStream::connect_with(&settings(server), layout).await.unwrap()
}

pub(crate) fn task() -> Task {
    let (job, folder) = ("1".repeat(32).parse().unwrap(), "2".repeat(32).parse().unwrap());
    Task { class: TaskClass::Bulk, job, folder, work: Work::Chunk(7) }
}

async fn take(queue: &JetStream) -> MessageLease {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(60) {
        if let Ok(Some(lease)) = queue.take(TaskClass::Bulk).await {
            return lease;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("no task is handed out");
}

#[tokio::test]
#[ignore = "needs a server: .ci/cluster"]
async fn a_stream_keeps_the_promises() {
    for server in servers() {
        let queue = queue(&server).await;
        check_promises(&queue).await;
        queue.context.delete_stream(&queue.layout.stream).await.unwrap();
    }
}

#[tokio::test]
#[ignore = "needs a server: .ci/cluster"]
async fn stream_and_consumers_are_created_whenever_they_are_missing() {
    for server in servers() {
        let queue = queue(&server).await;
        let stream = queue.layout.stream.clone();
        queue.offer(&task()).await.unwrap();
        queue.context.delete_stream(&stream).await.unwrap();
        assert_eq!(queue.tasks().await.unwrap(), HashSet::new());
        queue.offer(&task()).await.unwrap();
        queue.context.delete_stream(&stream).await.unwrap();
        queue.offer(&task()).await.unwrap();
        queue.context.delete_consumer_from_stream("workers", &stream).await.unwrap();
        assert_eq!(queue.counts(TaskClass::Bulk).await.unwrap().waiting, 1);
        queue.context.delete_consumer_from_stream("workers", &stream).await.unwrap();
        let lease = take(&queue).await;
        queue.context.delete_stream(&stream).await.unwrap();
        // Some servers report the missing consumer, and other servers do not answer.
        let _ = lease.done().await;
        // A waiting call gets a task of the new stream.
        let (lease, offered) = tokio::join!(take(&queue), async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            queue.offer(&task()).await
        });
        offered.unwrap();
        lease.done().await.unwrap();
        queue.context.delete_stream(&stream).await.unwrap();
    }
}

/// Replaces the consumer of bulk tasks with a consumer that delivers no tasks.
async fn replace_consumer(queue: &JetStream) {
    let Layout { stream, prefix, .. } = &queue.layout;
    queue.context.delete_consumer_from_stream("workers", stream).await.unwrap();
    let other = pull::Config {
        durable_name: Some("workers".to_owned()),
        filter_subject: format!("{prefix}.nothing.>"),
        ..pull::Config::default()
    };
    queue.context.create_consumer_on_stream(other, stream).await.unwrap();
}

#[tokio::test]
#[ignore = "needs a server: .ci/cluster"]
async fn a_worker_takes_nothing_from_a_consumer_with_another_configuration_and_leaves_it() {
    for server in servers() {
        let queue = queue(&server).await;
        queue.offer(&task()).await.unwrap();
        replace_consumer(&queue).await;
        let settings = QueueSettings { role: QueueRole::Worker, ..settings(&server) };
        let worker = JetStream::connect_with(&settings, queue.layout.clone()).await.unwrap();
        let error = worker.take(TaskClass::Bulk).await.unwrap_err();
        assert!(error.to_string().contains("another configuration"), "{error}");
        // A service replica replaces the consumer.
        assert_eq!(queue.counts(TaskClass::Bulk).await.unwrap().waiting, 1);
        take(&worker).await.done().await.unwrap();
        queue.context.delete_stream(&queue.layout.stream).await.unwrap();
    }
}

#[tokio::test]
#[ignore = "needs a server: .ci/cluster"]
async fn a_stream_and_a_consumer_with_another_configuration_are_mended() {
    for server in servers() {
        let queue = queue(&server).await;
        let stream = queue.layout.stream.clone();
        queue.offer(&task()).await.unwrap();
        replace_consumer(&queue).await;
        assert_eq!(queue.counts(TaskClass::Bulk).await.unwrap().waiting, 1);
        take(&queue).await.done().await.unwrap();
        queue.context.delete_stream(&stream).await.unwrap();
        let other = Config { subjects: vec![format!("{stream}.nothing.>")], ..queue.layout.stream_config() };
        queue.context.create_stream(other).await.unwrap();
        queue.offer(&task()).await.unwrap();
        take(&queue).await.done().await.unwrap();
        queue.context.delete_stream(&stream).await.unwrap();
    }
}

#[tokio::test]
#[ignore = "needs a server: .ci/cluster"]
async fn messages_that_are_no_tasks_are_removed() {
    for server in servers() {
        let queue = queue(&server).await;
        queue.offer(&task()).await.unwrap();
        let subject = format!("{}.bulk.nonsense", queue.layout.prefix);
        queue.context.publish(subject, Bytes::new()).await.unwrap().await.unwrap();
        take(&queue).await.done().await.unwrap();
        assert!(queue.take(TaskClass::Bulk).await.unwrap().is_none());
        let counts = queue.counts(TaskClass::Bulk).await.unwrap();
        assert_eq!((counts.waiting, counts.leased), (0, 0));
        queue.context.delete_stream(&queue.layout.stream).await.unwrap();
    }
}

#[tokio::test]
async fn an_absent_server_is_an_error_in_a_bounded_time_without_the_password() {
    let queue = JetStream::connect(&settings("nats://user:secret@127.0.0.1:1")).await.unwrap();
    let begun = Instant::now();
    let error = queue.offer(&task()).await.unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert!(!format!("{error} {error:?} {queue:?}").contains("secret"), "{error:?}");
}

#[tokio::test]
async fn wrong_settings_are_errors() {
    let error = JetStream::connect(&settings("nats://user:secret@:x")).await.unwrap_err();
    assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
    let credentials = Some(PathBuf::from("/missing/file"));
    let wrong = QueueSettings { credentials, ..settings("nats://127.0.0.1:1") };
    let error = JetStream::connect(&wrong).await.unwrap_err();
    assert!(error.to_string().contains("/missing/file"), "{error}");
}

#[tokio::test]
#[ignore = "needs a server: .ci/cluster"]
async fn a_worker_that_does_not_respond_is_known() {
    for server in servers() {
        let queue = queue(&server).await;
        assert!(!queue.has_worker().await.unwrap());
        let workers = queue.layout.workers();
        let _frozen = queue.client.queue_subscribe(workers.clone(), workers).await.unwrap();
        queue.client.flush().await.unwrap();
        let begun = Instant::now();
        assert!(queue.has_worker().await.unwrap());
        assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    }
}

#[tokio::test]
#[ignore = "needs a server: .ci/cluster"]
async fn workers_leave_the_replicas_of_a_stream_as_they_are() {
    for server in servers() {
        let queue = queue(&server).await;
        queue.offer(&task()).await.unwrap();
        let layout = Layout { replicas: 3, ..queue.layout.clone() };
        let worker = QueueSettings { role: QueueRole::Worker, ..settings(&server) };
        let worker = JetStream::connect_with(&worker, layout).await.unwrap();
        assert_eq!(worker.tasks().await.unwrap(), HashSet::from([task()]));
        let stream = queue.context.get_stream(&queue.layout.stream).await.unwrap();
        assert_eq!(stream.cached_info().config.num_replicas, 1);
        queue.context.delete_stream(&queue.layout.stream).await.unwrap();
    }
}

#[tokio::test]
async fn nothing_waits_for_ever_while_the_server_is_away() {
    let queue = JetStream::connect(&settings("nats://127.0.0.1:1")).await.unwrap();
    let message = async_nats::Message {
        subject: "taquin.chunks".into(),
        reply: Some("reply".into()),
        payload: Bytes::new(),
        headers: None,
        status: None,
        description: None,
        length: 0,
    };
    let message = Message { message, context: queue.context.clone() };
    let lease = MessageLease { task: task(), message };
    // Fills the client's send buffer.
    while let Some(extended) = tokio::task::unconstrained(lease.extend()).now_or_never() {
        extended.unwrap();
    }
    let begun = Instant::now();
    let (extended, released, done, ()) =
        tokio::join!(lease.extend(), lease.release(Duration::ZERO), lease.done(), queue.flush());
    assert!(extended.is_err() && released.is_err() && done.is_err());
    assert!(begun.elapsed() < 2 * REQUEST_TIME, "{:?}", begun.elapsed());
}
