//! The service as a whole: its doors, and an orderly end.

mod listener;
mod open_files;
mod timeouts;

mod process;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::server::graceful::GracefulShutdown;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tokio::time::timeout;

use self::listener::{Door, bind};
use self::timeouts::Patience;
use crate::config::{Config, RateConfig, TableTier, Token};
use crate::http::{self, Guards, HttpMetrics, HttpSettings, Rate, Tokens};
use crate::service::{Hook, Service, ServiceSettings, Tier};

/// The most connections of the admin listener: those who look after one instance are few.
const ADMIN_CONNECTIONS: usize = 64;

/// What a cancelled search needs to notice, and its answer to leave.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The service with its ports bound, not accepting yet.
#[derive(Debug)]
pub struct App {
    door: Door,
    admin: Option<Door>,
    service: Arc<Service>,
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
    /// Binds the ports and starts the workers. Port 0 takes any free one; see [`App::addr`].
    ///
    /// # Errors
    /// If a port cannot be bound.
    pub async fn build(config: &Config) -> Result<Self, AppError> {
        Self::build_with(config, None).await
    }

    /// The same with something to be done before each search: tests want to know what happens if it panics.
    ///
    /// # Errors
    /// If a port cannot be bound.
    #[doc(hidden)]
    pub async fn build_with(config: &Config, before_search: Option<Hook>) -> Result<Self, AppError> {
        let main = bind(config.listen).await?;
        let admin = match config.admin_listen {
            Some(addr) => Some(bind(addr).await?),
            None => None,
        };
        let service = Service::start(ServiceSettings { before_search, ..service_settings(config) });
        let settings = http_settings(config);
        let patience = Patience {
            header: config.header_timeout,
            keep_alive: config.keep_alive_timeout,
            write: config.write_timeout,
        };
        let connections = Gauge::default();
        let places = open_files::make_room(config.max_connections);
        let most = places + admin.as_ref().map_or(0, |_| ADMIN_CONNECTIONS);
        let metrics = HttpMetrics::new(registry(&service, &connections, most), service.metrics().clone());
        let router = http::router(Arc::clone(&service), settings, &guards(config), metrics.clone());
        let door = Door::new(main, router, patience, places, connections.clone());
        let door = if config.guard.rate.is_some() { door.telling_peers() } else { door };
        let admin = admin.map(|bound| {
            let router = http::admin_router(Arc::clone(&service), settings, metrics);
            Door::new(bound, router, patience, ADMIN_CONNECTIONS, connections)
        });
        Ok(Self { door, admin, service, shutdown_grace: config.shutdown_grace })
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.door.addr()
    }

    /// Where it listens for those who look after it.
    pub fn admin_addr(&self) -> Option<SocketAddr> {
        self.admin.as_ref().map(Door::addr)
    }

    /// Serves until `shutdown` completes, then drains: no new work, no new connections, at most the
    /// grace period for what is in flight, and in the end the searches still running are cancelled.
    /// The admin listener is open until all that is over.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        self.announce();
        let Self { door, admin, service, shutdown_grace } = self;
        let admin_connections = GracefulShutdown::new();
        let work = async {
            let connections = GracefulShutdown::new();
            tokio::select! {
                biased;
                () = shutdown => {}
                () = door.keep_open(&connections) => {}
            }
            service.drain();
            door.close(&connections).await;
            drain(connections, &service, shutdown_grace).await;
        };
        match &admin {
            Some(admin) => tokio::select! {
                () = work => {}
                () = admin.keep_open(&admin_connections) => {}
            },
            None => work.await,
        }
        drop(admin);
        let _ = timeout(LAST_WORDS, admin_connections.shutdown()).await;
        tracing::info!("stopped");
    }

    fn announce(&self) {
        let settings = self.service.settings();
        tracing::info!(
            addr = %self.addr(),
            admin_addr = self.admin_addr().map(tracing::field::display),
            version = env!("CARGO_PKG_VERSION"),
            max_connections = self.door.max_connections(),
            workers = settings.workers,
            queue = settings.queue,
            memory_bytes = settings.memory,
            // What the nodes of all searches together may take; tables and the process come on top.
            searches_max_bytes = settings.search_memory.saturating_mul(settings.workers as u64),
            tables = settings.tables.name(),
            tables_max_bytes = settings.table_memory,
            "listening"
        );
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
}

async fn drain(connections: GracefulShutdown, service: &Service, grace: Duration) {
    tracing::info!(connections = connections.count(), grace_ms = grace.as_millis() as u64, "draining");
    let mut finished = pin!(connections.shutdown());
    if timeout(grace, &mut finished).await.is_err() {
        tracing::warn!("the grace period is over; cancelling what is left");
        service.cancel_all();
        let _ = timeout(LAST_WORDS, finished).await;
    }
    // Work whose client has gone has no connection any more, but may hold a thread.
    service.cancel_all();
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
fn registry(service: &Arc<Service>, connections: &Gauge, most_connections: usize) -> Registry {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(process::Process));
    let own = registry.sub_registry_with_prefix("taquin");
    own.register("build", "The version that runs", Info::new([("version", env!("CARGO_PKG_VERSION"))]));
    own.register("http_connections", "Open connections", connections.clone());
    let most = ConstGauge::new(most_connections as u64);
    own.register("http_connections_limit", "The most that can be open; further ones wait", most);
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
        reply_memory: config.memory.replies,
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
        traces: config.traces.is_some(),
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
