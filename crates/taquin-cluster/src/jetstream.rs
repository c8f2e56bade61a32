//! A queue on NATS JetStream.

mod layout;
mod publication;

use std::collections::HashSet;
use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_nats::client::RequestErrorKind;
use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::context::ContextBuilder;
use async_nats::jetstream::stream::Stream;
use async_nats::jetstream::{AckKind, Context, Message};
use async_nats::{Client, Request, ServerAddr, Subscriber};
use bytes::Bytes;
use futures_util::{FutureExt, StreamExt, TryStreamExt};
use tokio::sync::Mutex;
use tokio::time::timeout;

use self::layout::Layout;
use self::publication::{Published, Silence, of_publication};
use crate::connection::{Connection, common_login, options_of, without_login};
use crate::queue::{LEASE_TIME, Lease, Queue, QueueCounts, QueueError, WorkerTrouble};
use crate::task::{Task, TaskClass};

/// Servers, credentials and replication of a queue, and the role of this process.
#[derive(Clone)]
pub struct QueueSettings {
    /// Server URLs. A URL may contain a password.
    pub servers: Vec<String>,
    /// Path of a file with credentials, if the servers ask for credentials.
    pub credentials: Option<PathBuf>,
    /// Number of servers that store each task.
    pub replicas: usize,
    /// The role of this process. The role decides whether the process may change an existing stream and its consumers.
    pub role: QueueRole,
}

/// The role of a process in a queue. In every role, the process creates a missing stream or consumer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueRole {
    /// A service replica, which corrects the configuration of an existing stream or consumer.
    Service,
    /// A worker, which uses an existing stream or consumer as configured, and fails if the configuration does not suit
    /// tasks.
    Worker,
}

/// A work queue on JetStream: a stream with one subject per task, at most one message per subject, and a durable
/// consumer for each task class. If the stream or a consumer is missing, a later call creates the stream or the
/// consumer.
pub struct JetStream {
    client: Client,
    context: Context,
    layout: Layout,
    handles: Mutex<Option<Arc<Handles>>>,
    /// The publications that have timed out since the server last answered a publication.
    silence: parking_lot::Mutex<Silence>,
    role: QueueRole,
    connection: Arc<Connection>,
    /// The subscription to worker reports, opened by the first call of [`reports`](Queue::reports).
    reports: Mutex<Option<Subscriber>>,
}

struct Handles {
    stream: Stream,
    /// Consumers in the order of [`TaskClass::ALL`](taquin_solver::Named::ALL).
    consumers: [PullConsumer; 2],
}

/// A leased task, and the message that delivered the task.
pub struct MessageLease {
    task: Task,
    message: Message,
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Time limit of a request to a server.
const REQUEST_TIME: Duration = Duration::from_secs(5);

/// Expiry of a pull request. A server ignores a pull request for a missing consumer, so a missing consumer is noticed
/// after this time.
const TAKE_TIME: Duration = Duration::from_secs(10);

/// Time after [`TAKE_TIME`] in which the server should report that a pull request has expired.
const END_TIME: Duration = Duration::from_secs(1);

/// Time without an answer to publications after which the stream is deleted and created again. nats-server 2.15.1
/// stops answering once it has lost the stream's files.
const UNANSWERED_TIME: Duration = Duration::from_secs(30);

/// Pause after the deletion of a stream, in which the server removes the stream's files. Without the pause, nats-server
/// 2.9.10 would also remove the files of a new stream with the same name.
const DELETION_TIME: Duration = Duration::from_millis(200);

/// Time limit of a worker's response to a request of [`has_worker`](Queue::has_worker).
const WORKER_TIME: Duration = Duration::from_secs(1);

/// Time limit for sending buffered messages before the process exits.
const FLUSH_TIME: Duration = Duration::from_secs(2);

/// Longest pause between connection attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(4);

impl JetStream {
    /// Creates a queue that connects in the background, so the servers may still be down. Needs a tokio runtime.
    ///
    /// # Errors
    /// [`QueueError`] if a URL or the credentials file is wrong, or the servers have different logins.
    pub async fn connect(settings: &QueueSettings) -> Result<Self, QueueError> {
        let layout = Layout {
            stream: "taquin-chunks".to_owned(),
            prefix: "taquin.chunks".to_owned(),
            lease_time: LEASE_TIME,
            replicas: settings.replicas,
        };
        Self::connect_with(settings, layout).await
    }

    async fn connect_with(settings: &QueueSettings, layout: Layout) -> Result<Self, QueueError> {
        // The URL may contain a password, so the error does not quote it.
        let server =
            |url: &String| url.parse::<ServerAddr>().map_err(|_| QueueError::new("a URL of a server is wrong"));
        let servers: Vec<ServerAddr> = settings.servers.iter().map(server).collect::<Result<_, _>>()?;
        let connection = Arc::new(Connection::default());
        let noted = Arc::clone(&connection);
        let mut options = options_of(common_login(&servers)?)
            .name("taquin")
            .retry_on_initial_connect()
            .connection_timeout(REQUEST_TIME)
            .request_timeout(Some(REQUEST_TIME))
            .ping_interval(Duration::from_secs(10))
            .reconnect_delay_callback(|attempts| (Duration::from_millis(50) * attempts as u32).min(LONGEST_PAUSE))
            .event_callback(move |event| {
                noted.note(&event);
                std::future::ready(())
            });
        if let Some(path) = &settings.credentials {
            options = options.credentials_file(path).await.map_err(|error| {
                QueueError::new(format!("the credentials in {} cannot be read: {}", path.display(), error.kind()))
            })?;
        }
        let servers = servers.into_iter().map(without_login).collect::<Result<Vec<_>, _>>()?;
        let client = options.connect(servers).await.map_err(QueueError::new)?;
        let context = ContextBuilder::new().timeout(REQUEST_TIME).ack_timeout(REQUEST_TIME).build(client.clone());
        Ok(Self {
            client,
            context,
            layout,
            handles: Mutex::default(),
            silence: parking_lot::Mutex::default(),
            role: settings.role,
            connection,
            reports: Mutex::default(),
        })
    }

    /// Returns the stream and the consumers, and creates the stream or a consumer that is missing. If an existing
    /// stream or consumer has another configuration, a service replica corrects the configuration, and a worker
    /// fails.
    async fn handles(&self) -> Result<Arc<Handles>, BoxError> {
        let mut handles = self.handles.lock().await;
        if let Some(handles) = &*handles {
            return Ok(Arc::clone(handles));
        }
        let config = self.layout.stream_config();
        let mut stream = self.context.get_or_create_stream(config.clone()).await?;
        let existing = &stream.info().await?.config;
        let is_other = !self.layout.has(existing);
        if self.role == QueueRole::Service && (is_other || existing.num_replicas != config.num_replicas) {
            let updated = self.context.update_stream(config).await;
            updated.map_err(|error| format!("stream {} has another configuration: {error}", self.layout.stream))?;
        } else if is_other {
            return Err(format!("stream {} has another configuration", self.layout.stream).into());
        }
        let [bulk, quick] = [TaskClass::Bulk, TaskClass::Quick].map(|class| self.consumer(&stream, class));
        let created = Arc::new(Handles { consumers: [bulk.await?, quick.await?], stream });
        *handles = Some(Arc::clone(&created));
        Ok(created)
    }

    async fn consumer(&self, stream: &Stream, class: TaskClass) -> Result<PullConsumer, BoxError> {
        let config = self.layout.consumer_config(class);
        let name = config.durable_name.clone().unwrap_or_default();
        let consumer = stream.get_or_create_consumer(&name, config.clone()).await?;
        if self.layout.has_consumer(class, &consumer.cached_info().config) {
            return Ok(consumer);
        }
        // Workers do not replace a consumer, since many workers would do so at the same time.
        if self.role == QueueRole::Worker {
            return Err(format!("consumer {name} has another configuration").into());
        }
        // A consumer with another configuration delivers no tasks, or loses them.
        tracing::warn!(target: "taquin::queue", consumer = name, "a consumer has another configuration, and is replaced");
        stream.delete_consumer(&name).await?;
        Ok(stream.create_consumer(config).await?)
    }

    /// Calls `call` with the stream and the consumers. If `call` fails while the client is connected, opens or creates
    /// the stream and the consumers again, and retries once. A call that takes too long is not retried.
    async fn with_handles<T, F: Future<Output = Result<T, BoxError>>>(
        &self,
        call: impl Fn(Arc<Handles>) -> F,
    ) -> Result<T, QueueError> {
        let attempt = async || timeout(3 * REQUEST_TIME, async { call(self.handles().await?).await }).await;
        let first = match attempt().await {
            Ok(Ok(result)) => return Ok(result),
            Ok(Err(error)) => error,
            Err(_) => return Err(self.error("no response in time")),
        };
        *self.handles.lock().await = None;
        if !self.is_connected() {
            return Err(self.error(first));
        }
        match attempt().await {
            Ok(result) => result.map_err(QueueError::new),
            Err(_) => Err(QueueError::new("no response in time")),
        }
    }

    /// Deletes a stream that has lost its files, unless another call has already deleted the stream. The next call
    /// creates a new stream.
    async fn delete_stream(&self) -> Result<(), QueueError> {
        let mut handles = self.handles.lock().await;
        // Several calls may notice that the files are lost. The first of these calls deletes the stream.
        if handles.take().is_none() {
            return Ok(());
        }
        tracing::warn!(target: "taquin::queue", stream = self.layout.stream, "the queue has lost its files, and is created again");
        self.silence.lock().end();
        self.context.delete_stream(&self.layout.stream).await.map_err(QueueError::new)?;
        tokio::time::sleep(DELETION_TIME).await;
        Ok(())
    }

    /// Returns an error with the reason why there is no connection. If there is a connection, or the reason is unknown,
    /// returns the error of the request.
    fn error(&self, of_request: impl Into<BoxError>) -> QueueError {
        let trouble = self.connection.trouble().filter(|_| !self.is_connected());
        trouble.map_or_else(|| QueueError::new(of_request), |why| QueueError::new(format!("no connection: {why}")))
    }

    fn is_connected(&self) -> bool {
        self.client.connection_state() == async_nats::connection::State::Connected
    }

    fn task_of(&self, subject: &str) -> Option<Task> {
        subject.strip_prefix(&self.layout.prefix)?.strip_prefix('.')?.parse().ok()
    }

    /// Waits for a message of a class; `None` at the time limit, or once the client has connected again.
    async fn next(&self, class: TaskClass) -> Result<Option<Message>, QueueError> {
        let pull = self.with_handles(|handles| async move {
            // A request of `fetch` does not wait at the server, so [`QueueCounts::takers`] would not include the
            // request.
            Ok(handles.consumers[class as usize].batch().max_messages(1).expires(TAKE_TIME).messages().await?)
        });
        let mut connections = self.connection.count();
        // The client may count the first connection only after this line.
        let before = (*connections.borrow()).max(1);
        let mut messages = pull.await?;
        let message = tokio::select! {
            message = timeout(TAKE_TIME + END_TIME, messages.next()) => message,
            // The client has connected again, so the server no longer has the pull request.
            _ = connections.wait_for(|now| *now > before) => return Ok(None),
        };
        let Ok(message) = message else {
            *self.handles.lock().await = None;
            return Ok(None);
        };
        if let Some(Err(error)) = message {
            *self.handles.lock().await = None;
            return Err(QueueError::new(error));
        }
        Ok(message.and_then(Result::ok))
    }
}

impl Queue for JetStream {
    type Lease = MessageLease;

    async fn offer(&self, task: &Task) -> Result<(), QueueError> {
        let subject = format!("{}.{task}", self.layout.prefix);
        let published = self.with_handles(|_| async {
            let published = async { self.context.publish(subject.clone(), Bytes::new()).await?.await };
            published.await.map_or_else(of_publication, |_| Ok(Published::Stored))
        });
        let silent = match published.await? {
            Published::Unanswered if self.is_connected() => self.silence.lock().note(Instant::now()),
            published => {
                self.silence.lock().end();
                match published {
                    Published::Stored => return Ok(()),
                    Published::Broken => UNANSWERED_TIME,
                    Published::Unanswered => Duration::ZERO,
                }
            }
        };
        if silent >= UNANSWERED_TIME {
            self.delete_stream().await?;
        }
        Err(QueueError::new("a task cannot be stored"))
    }

    async fn tasks(&self) -> Result<HashSet<Task>, QueueError> {
        let all = format!("{}.>", self.layout.prefix);
        self.with_handles(|handles| {
            let all = all.clone();
            async move {
                let mut subjects = handles.stream.info_with_subjects(all).await?;
                let mut tasks = HashSet::new();
                while let Some((subject, _)) = subjects.try_next().await? {
                    tasks.extend(self.task_of(&subject));
                }
                Ok(tasks)
            }
        })
        .await
    }

    async fn counts(&self, class: TaskClass) -> Result<QueueCounts, QueueError> {
        self.with_handles(|handles| async move {
            let info = handles.consumers[class as usize].get_info().await?;
            if !self.layout.has_consumer(class, &info.config) {
                return Err("the consumer has another configuration".into());
            }
            let (leased, takers) = (info.num_ack_pending as u64, info.num_waiting as u64);
            Ok(QueueCounts { waiting: info.num_pending, leased, takers })
        })
        .await
    }

    async fn has_worker(&self) -> Result<bool, QueueError> {
        // Without a connection, the request would time out, and a time-out counts as an answer below.
        if !self.is_connected() && self.connection.trouble().is_some() {
            return Err(self.error("disconnected"));
        }
        let request = Request::new().payload(Bytes::new()).timeout(Some(WORKER_TIME));
        match self.client.send_request(self.layout.workers(), request).await {
            Ok(_) => Ok(true),
            // A time-out means that a worker has subscribed and does not answer. Other requests detect a server
            // that is down.
            Err(error) if error.kind() == RequestErrorKind::TimedOut => Ok(true),
            Err(error) if error.kind() == RequestErrorKind::NoResponders => Ok(false),
            Err(error) => Err(self.error(error)),
        }
    }

    /// Answers requests of [`has_worker`](Self::has_worker). The server delivers each request to one of the
    /// workers.
    async fn attend(&self) {
        let subject = self.layout.workers();
        // The call fails only for an invalid subject.
        let Ok(mut requests) = self.client.queue_subscribe(subject.clone(), subject).await else { return };
        while let Some(request) = requests.next().await {
            if let Some(reply) = request.reply {
                let _ = self.client.publish(reply, Bytes::new()).await;
            }
        }
    }

    async fn report(&self, trouble: WorkerTrouble) {
        // Without a connection, reports would fill the client's send buffer, and `publish` would block.
        if self.is_connected() {
            let report = self.client.publish(self.layout.reports(), trouble.to_string().into());
            let _ = timeout(REQUEST_TIME, report).await;
        }
    }

    async fn reports(&self) -> HashSet<WorkerTrouble> {
        let mut reports = self.reports.lock().await;
        if reports.is_none() {
            // The call fails only for an invalid subject.
            *reports = self.client.subscribe(self.layout.reports()).await.ok();
        }
        let mut troubles = HashSet::new();
        while let Some(Some(report)) = reports.as_mut().and_then(|reports| reports.next().now_or_never()) {
            troubles.extend(str::from_utf8(&report.payload).ok().and_then(|text| text.parse::<WorkerTrouble>().ok()));
        }
        troubles
    }

    fn lease_time(&self) -> Duration {
        self.layout.lease_time
    }

    async fn flush(&self) {
        let _ = timeout(FLUSH_TIME, self.client.flush()).await;
    }

    async fn take(&self, class: TaskClass) -> Result<Option<MessageLease>, QueueError> {
        let Some(message) = self.next(class).await? else { return Ok(None) };
        let Some(task) = self.task_of(&message.subject) else {
            tracing::warn!(target: "taquin::queue", subject = %message.subject, "no task has this subject");
            message.double_ack_with(AckKind::Term).await.map_err(QueueError::new)?;
            return Ok(None);
        };
        Ok(Some(MessageLease { task, message }))
    }
}

impl Lease for MessageLease {
    fn task(&self) -> &Task {
        &self.task
    }

    fn deliveries(&self) -> u64 {
        self.message.info().map_or(1, |info| info.delivered.max(1) as u64)
    }

    async fn extend(&self) -> Result<(), QueueError> {
        in_time(self.message.ack_with(AckKind::Progress)).await
    }

    async fn done(&self) -> Result<(), QueueError> {
        in_time(self.message.double_ack()).await
    }

    async fn release(&self, pause: Duration) -> Result<(), QueueError> {
        in_time(self.message.ack_with(AckKind::Nak(Some(pause)))).await
    }
}

/// Limits a call to [`REQUEST_TIME`]. While the server is away, the client's send buffer fills up, and the call would
/// block.
async fn in_time<T, E: Into<BoxError>>(call: impl Future<Output = Result<T, E>>) -> Result<T, QueueError> {
    timeout(REQUEST_TIME, call).await.map_err(|_| QueueError::new("no response in time"))?.map_err(QueueError::new)
}

impl fmt::Debug for JetStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JetStream").field("layout", &self.layout).finish_non_exhaustive()
    }
}

impl fmt::Debug for MessageLease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MessageLease").field("task", &self.task).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
