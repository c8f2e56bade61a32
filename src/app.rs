//! The service as a whole: a listener, the accept loop, and an orderly end.

mod process;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

use crate::config::{Config, RateConfig, TableTier, Token};
use crate::http::{self, Guards, HttpMetrics, HttpSettings, Rate, Tokens};
use crate::service::{Service, ServiceSettings, Tier};

/// The service with its port bound, not accepting yet.
#[derive(Debug)]
pub struct App {
    listener: TcpListener,
    addr: SocketAddr,
    service: Arc<Service>,
    router: Router,
    protocol: http1::Builder,
    /// Whether requests are told whose connection they came by.
    tells_peer: bool,
    shutdown_grace: Duration,
}

/// Why the service cannot start or go on.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// The listen address is taken, not ours, or not allowed.
    #[error("cannot listen on {addr}: {source}")]
    Bind {
        /// The address asked for.
        addr: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// Signals cannot be received.
    #[error("cannot listen for signals: {0}")]
    Signals(io::Error),
}

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// Everything in flight was finished, or cancelled when the grace period was over.
    Clean,
    /// A second signal cut it short; this is its number.
    CutShort(u8),
}

impl App {
    /// Binds the port and starts the workers. Port 0 takes any free one; see [`App::addr`].
    ///
    /// # Errors
    /// If the port cannot be bound.
    pub async fn build(config: &Config) -> Result<Self, AppError> {
        let bind = |source| AppError::Bind { addr: config.listen, source };
        let listener = TcpListener::bind(config.listen).await.map_err(bind)?;
        let addr = listener.local_addr().map_err(bind)?;
        let service = Service::start(service_settings(config));
        let metrics = HttpMetrics::new(registry(&service), service.metrics().clone());
        let router = http::router(Arc::clone(&service), http_settings(config), &guards(config), metrics);
        let mut protocol = http1::Builder::new();
        // Without a timer hyper forgets its time-outs, and says nothing.
        protocol.timer(TokioTimer::new()).header_read_timeout(config.header_timeout);
        let tells_peer = config.guard.rate.is_some();
        Ok(Self { listener, addr, service, router, protocol, tells_peer, shutdown_grace: config.shutdown_grace })
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Serves until `shutdown` completes, then drains: no new work, no new connections, at most the
    /// grace period for what is in flight, and in the end the searches still running are cancelled.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let settings = self.service.settings();
        tracing::info!(
            addr = %self.addr,
            version = env!("CARGO_PKG_VERSION"),
            workers = settings.workers,
            queue = settings.queue,
            memory_bytes = settings.memory,
            // What the nodes of all searches together may take; tables and the process come on top.
            searches_max_bytes = settings.search_memory.saturating_mul(settings.workers as u64),
            tables = settings.tables.name(),
            tables_max_bytes = settings.table_memory,
            "listening"
        );
        let connections = GracefulShutdown::new();
        let mut shutdown = pin!(shutdown);
        loop {
            tokio::select! {
                biased;
                () = &mut shutdown => break,
                stream = accept(&self.listener) => self.serve(stream, connections.watcher()),
            }
        }
        self.drain(connections).await;
    }

    /// As [`App::run`] until SIGTERM or SIGINT; a second one ends it at once.
    ///
    /// # Errors
    /// If signals cannot be received.
    pub async fn run_until_signalled(self) -> Result<Ending, AppError> {
        let mut signals = Signals::install().map_err(AppError::Signals)?;
        let (tell, told) = oneshot::channel();
        let twice = async {
            let first = signals.next().await;
            tracing::info!(signal = first, "shutting down");
            let _ = tell.send(());
            signals.next().await
        };
        let run = self.run(async {
            let _ = told.await;
        });
        tokio::select! {
            biased;
            () = run => Ok(Ending::Clean),
            second = twice => {
                tracing::warn!(signal = second, "shutdown cut short");
                Ok(Ending::CutShort(second))
            }
        }
    }

    /// Serves a connection in a task of its own. A cap on connections is a permit taken before
    /// `accept` and moved in here.
    fn serve(&self, stream: TcpStream, watcher: Watcher) {
        // Answers are small and whole: waiting to fill a packet only delays them.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "cannot set TCP_NODELAY");
        }
        // It costs an allocation a request, so it is told only if it is asked for.
        let peer = self.tells_peer.then(|| stream.peer_addr().ok()).flatten();
        let router = TowerToHyperService::new(self.router.clone());
        let service = service_fn(move |mut request: Request<Incoming>| {
            if let Some(peer) = peer {
                request.extensions_mut().insert(ConnectInfo(peer));
            }
            router.call(request)
        });
        let connection = watcher.watch(self.protocol.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "connection ended early");
            }
        });
    }

    async fn drain(self, connections: GracefulShutdown) {
        /// What a cancelled search needs to notice, and its answer to leave.
        const LAST_WORDS: Duration = Duration::from_millis(500);
        self.service.drain();
        drop(self.listener);
        tracing::info!(
            connections = connections.count(),
            grace_ms = self.shutdown_grace.as_millis() as u64,
            "draining"
        );
        let mut finished = pin!(connections.shutdown());
        if timeout(self.shutdown_grace, &mut finished).await.is_err() {
            tracing::warn!("the grace period is over; cancelling what is left");
            self.service.cancel_all();
            let _ = timeout(LAST_WORDS, finished).await;
        }
        // Work whose client has gone has no connection any more, but may hold a thread.
        self.service.cancel_all();
        tracing::info!("stopped");
    }
}

/// The next connection. No error of accepting is fatal: a connection that is gone already costs
/// nothing, and if the system is out of files or memory, waiting is what helps.
async fn accept(listener: &TcpListener) -> TcpStream {
    let mut pause = Duration::from_millis(10);
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) if is_about_one_connection(&error) => {}
            Err(error) => {
                tracing::warn!(%error, pause_ms = pause.as_millis() as u64, "cannot accept connections");
                sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(1));
            }
        }
    }
}

fn is_about_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

/// The signals that end the service.
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    fn install() -> io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// The number of the next one.
    async fn next(&mut self) -> u8 {
        tokio::select! {
            _ = self.terminate.recv() => 15,
            _ = self.interrupt.recv() => 2,
        }
    }
}

/// What is told at `/metrics`, beside exchanges.
fn registry(service: &Arc<Service>) -> Registry {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(process::Process));
    let own = registry.sub_registry_with_prefix("taquin");
    own.register("build", "The version that runs", Info::new([("version", env!("CARGO_PKG_VERSION"))]));
    service.register(own);
    registry
}

fn service_settings(config: &Config) -> ServiceSettings {
    ServiceSettings {
        workers: config.workers,
        queue: config.queue,
        default_time: config.time_limit,
        max_time: config.max_time,
        max_expanded: config.max_expanded,
        memory: config.memory.total,
        search_memory: config.memory.search,
        answer_memory: config.memory.answers,
        max_expansions: config.max_expansions,
        tables: match config.tables {
            TableTier::Small => Tier::Small,
            TableTier::Standard => Tier::Standard,
            TableTier::Large => Tier::Large,
        },
        table_memory: config.memory.tables,
        table_cache: config.table_cache.clone(),
        before_search: None,
    }
}

fn http_settings(config: &Config) -> HttpSettings {
    HttpSettings {
        max_body: config.max_body,
        body_timeout: config.body_timeout,
        strict_content_type: config.strict_content_type,
    }
}

fn guards(config: &Config) -> Guards {
    let guard = &config.guard;
    Guards {
        tokens: Tokens::new(guard.tokens.iter().map(Token::as_str)),
        rate: guard.rate.map(|RateConfig { requests, period, burst }| Rate { requests, period, burst }),
        trusted_proxies: guard.trusted_proxies,
        cors_origins: guard.cors_origins.clone(),
    }
}

#[cfg(test)]
mod tests;
