//! The service as a whole: listeners, start and shutdown; and the command `taquin batch`.

pub mod batch;
mod client_socket;
#[cfg_attr(not(feature = "cluster"), path = "app/no_cluster.rs")]
pub mod cluster;
mod connection;
mod connection_age;
mod departure;
mod jobs;
mod linger;
mod listener;
mod open_connections;
mod process;
mod repoll;
mod request_body;
mod shared_jobs;
mod signals;
mod timeouts;

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;
use tokio::sync::oneshot;
use tokio::time::timeout;

pub use self::jobs::JobsError;
use self::jobs::{JobGauges, OpenJobs};
use self::listener::{Listener, bind};
use self::open_connections::OpenConnections;
pub use self::signals::Ending;
use self::signals::until_signalled;
use self::timeouts::Timeouts;
use crate::config::{Config, ThreadPlan, reachable};
use crate::http::HttpServices;
use crate::jobs::JobEngine;
use crate::service::Service;

/// Connection limit of the admin listener.
const MAX_ADMIN_CONNECTIONS: usize = 64;

/// Time for a cancelled search to stop and for its response to be sent.
const CANCEL_TIME: Duration = Duration::from_millis(500);

/// The service with its ports bound. It does not accept connections yet.
#[derive(Debug)]
pub struct App {
    main: Listener,
    admin: Option<Listener>,
    service: Arc<Service>,
    jobs: Option<Arc<JobEngine>>,
    shutdown_grace: Duration,
    threads: ThreadPlan,
}

/// The service cannot start.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// The listen address is in use, not an address of this machine, or not permitted.
    #[error("cannot listen on {addr}: {source}; choose another address with {flag}")]
    Bind {
        /// The flag that gives the address.
        flag: &'static str,
        /// The listen address.
        addr: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// The place of the jobs cannot be used.
    #[error("--jobs: {0}")]
    Jobs(#[from] JobsError),
    /// A worker cannot start.
    #[error("the worker cannot start: {0}")]
    Worker(Box<dyn std::error::Error + Send + Sync>),
    /// The signal handlers cannot be installed.
    #[error("cannot listen for signals: {0}")]
    Signals(io::Error),
}

impl App {
    /// Binds the ports and starts the workers. Port 0 binds any free port; see [`App::addr`].
    ///
    /// # Errors
    /// If a port cannot be bound, or the place of the jobs cannot be used.
    pub async fn build(config: &Config) -> Result<Self, AppError> {
        let bind = async |flag, addr| bind(addr).await.map_err(|source| AppError::Bind { flag, addr, source });
        let bound = bind("--listen", config.listen).await?;
        let admin_bound = match config.admin_listen {
            Some(addr) => Some(bind("--admin-listen", addr).await?),
            None => None,
        };
        let service = Service::start(config.service.clone());
        let mut jobs = open_jobs(&service, config).await?;
        let connections = Gauge::default();
        let max_connections = open_connections::raise_limit(config.max_connections);
        let limit = max_connections + admin_bound.as_ref().map_or(0, |_| MAX_ADMIN_CONNECTIONS);
        let registry = registry(&service, jobs.as_mut(), &connections, limit);
        let jobs = jobs.map(|jobs| jobs.engine);
        let http =
            HttpServices::new(&service, jobs.clone(), config.http, config.site.clone(), &config.guards, registry);
        let mut main = Listener::new(bound, http.main, config.timeouts, max_connections, connections.clone());
        main.has_peer_addresses = config.guards.rate.is_some();
        // The admin listener has no load balancer in front of it.
        let admin = Timeouts { age: None, ..config.timeouts };
        let admin =
            admin_bound.map(|bound| Listener::new(bound, http.admin, admin, MAX_ADMIN_CONNECTIONS, connections));
        Ok(Self { main, admin, service, jobs, shutdown_grace: config.shutdown_grace, threads: config.threads })
    }

    /// The address of the main listener.
    pub fn addr(&self) -> SocketAddr {
        self.main.addr()
    }

    /// The address of the admin listener.
    pub fn admin_addr(&self) -> Option<SocketAddr> {
        self.admin.as_ref().map(Listener::addr)
    }

    /// Serves until `shutdown` completes, then drains: rejects new work and connections, waits for open requests for at
    /// most the grace period, and cancels the remaining searches. The admin listener closes last.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        self.log_start();
        let Self { main, admin, service, jobs, shutdown_grace, .. } = self;
        let engine = jobs.clone().map(|jobs| tokio::spawn(jobs.run()));
        let admin_connections = OpenConnections::new();
        let work = async {
            let connections = OpenConnections::new();
            tokio::select! {
                biased;
                () = shutdown => {}
                () = main.accept_connections(&connections) => {}
            }
            service.drain();
            if let Some(jobs) = jobs {
                jobs.drain();
            }
            main.close(&connections).await;
            drain(connections, &service, shutdown_grace).await;
        };
        match &admin {
            Some(admin) => tokio::select! {
                () = work => {}
                () = admin.accept_connections(&admin_connections) => {}
            },
            None => work.await,
        }
        drop(admin);
        let _ = timeout(CANCEL_TIME, admin_connections.end()).await;
        if let Some(engine) = engine {
            let _ = timeout(CANCEL_TIME, engine).await;
        }
        tracing::info!("stopped");
    }

    fn log_start(&self) {
        let settings = self.service.settings();
        tracing::info!(
            url = %format_args!("http://{}/", reachable(self.addr())[0]),
            addr = %self.addr(),
            admin_addr = self.admin_addr().map(tracing::field::display),
            version = env!("CARGO_PKG_VERSION"),
            max_connections = self.main.max_connections(),
            workers = settings.workers,
            queue = settings.queue,
            memory_bytes = settings.memory,
            // Limit of all searches together, without tables and the rest of the process.
            searches_max_bytes = settings.searches_memory.total(),
            bulk_workers = settings.bulk.workers,
            bulk_search_max_bytes = settings.bulk.search_memory,
            connection_threads = self.threads.connections,
            search_threads = self.threads.searches,
            tables = settings.tables.name(),
            tables_max_bytes = settings.table_memory,
            "listening"
        );
        if let Some(limit) = self.threads.limit {
            tracing::warn!(
                limit = limit.limit,
                free = limit.free,
                set_by = limit.source.name(),
                "the system allows fewer threads than the service would use: long searches may delay others; raise the limit"
            );
        }
    }

    /// Runs until SIGTERM or SIGINT, then shuts down like [`App::run`]. A second signal ends it at once.
    ///
    /// # Errors
    /// If the signal handlers cannot be installed.
    pub async fn run_until_signalled(self) -> Result<Ending, AppError> {
        let run = |stopped: oneshot::Receiver<()>| self.run(async { drop(stopped.await) });
        until_signalled(run).await.map_err(AppError::Signals)
    }
}

/// Opens the place of the jobs, which may block.
async fn open_jobs(service: &Arc<Service>, config: &Config) -> Result<Option<OpenJobs>, AppError> {
    let (service, config) = (Arc::clone(service), config.jobs.clone());
    let opened = tokio::task::spawn_blocking(move || jobs::open(&service, config.as_ref())).await;
    Ok(opened.map_err(|error| JobsError::Shared(error.into()))??)
}

async fn drain(connections: OpenConnections, service: &Service, grace: Duration) {
    tracing::info!(connections = connections.count(), grace_ms = grace.as_millis() as u64, "draining");
    let mut finished = pin!(connections.end());
    if timeout(grace, &mut finished).await.is_err() {
        tracing::warn!("grace period over, cancelling the remaining requests");
        service.cancel_all();
        let _ = timeout(CANCEL_TIME, finished).await;
    }
    // A job without a connection may still occupy a thread. Its log line follows at its end.
    service.cancel_all();
    let _ = timeout(CANCEL_TIME, service.idle()).await;
}

/// The metrics of process, connections and service. [`HttpMetrics`] adds metrics of requests.
fn registry(
    service: &Arc<Service>,
    jobs: Option<&mut OpenJobs>,
    connections: &Gauge,
    max_connections: usize,
) -> Registry {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(process::Process));
    let own = registry.sub_registry_with_prefix("taquin");
    own.register("build", "Version of the service", Info::new([("version", env!("CARGO_PKG_VERSION"))]));
    own.register("http_connections", "Open connections", connections.clone());
    let limit = ConstGauge::new(max_connections as u64);
    own.register("http_connections_limit", "Limit on open connections; further ones wait", limit);
    service.register(own);
    if let Some(jobs) = jobs {
        own.register_collector(Box::new(JobGauges(Arc::clone(&jobs.engine))));
        jobs.queue_gauges.take().into_iter().for_each(|gauges| own.register_collector(gauges));
    }
    registry
}

#[cfg(test)]
mod tests;
