//! `taquin worker`.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use prometheus_client::metrics::gauge::Gauge;
use taquin_bulk::{JobSpec, LoadedTables, Resources};
use taquin_cluster::{JobSolver, QueueRole, Worker, WorkerMetrics, find_files};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::super::listener::{Listener, bind};
use super::super::open_connections::OpenConnections;
use super::super::signals::until_signalled;
use super::super::{AppError, Ending, MAX_ADMIN_CONNECTIONS, registry};
use super::connect;
use crate::config::{Config, JobsConfig, JobsPlace};
use crate::http::HttpServices;
use crate::service::Service;

/// Makes chunks until SIGTERM or SIGINT.
///
/// # Errors
/// If a setting is wrong, or the port of the admin listener cannot be bound.
pub async fn work(config: &Config) -> Result<Ending, AppError> {
    let Some(JobsConfig { place: JobsPlace::Shared { store, queue }, .. }) = &config.jobs else {
        return Err(AppError::Worker("--jobs and --nats are missing".into()));
    };
    let admin = bind_admin(config).await?;
    let (store, queue) = (store.clone(), queue.clone());
    let connect = move || Ok((find_files(&store, &Handle::current())?, connect(&queue, QueueRole::Worker)?));
    let connected = tokio::task::spawn_blocking(connect).await;
    let (store, queue) = connected.map_err(|error| AppError::Worker(error.into()))?.map_err(AppError::Worker)?;
    let service = Service::start(config.service.clone());
    let threads = config.threads.bulk.max(1);
    let metrics = Arc::new(WorkerMetrics::new(threads));
    let connections = Gauge::default();
    let mut registry = registry(&service, None, &connections, MAX_ADMIN_CONNECTIONS);
    metrics.register(registry.sub_registry_with_prefix("taquin"));
    let http = HttpServices::new(&service, None, config.http, config.site.clone(), &config.guards, registry);
    let admin =
        admin.map(|bound| Listener::new(bound, http.admin, config.timeouts, MAX_ADMIN_CONNECTIONS, connections));
    tracing::info!(
        threads,
        admin_addr = admin.as_ref().map(|admin| tracing::field::display(admin.addr())),
        version = env!("CARGO_PKG_VERSION"),
        tables = service.settings().tables.name(),
        "worker started"
    );
    let worker = Worker::new(queue, store, service, threads, metrics);
    let run = async |stop: oneshot::Receiver<()>| {
        let connections = OpenConnections::new();
        let working = worker.run(async { drop(stop.await) }, config.shutdown_grace);
        match &admin {
            Some(admin) => tokio::select! {
                () = working => {}
                () = admin.accept_connections(&connections) => {}
            },
            None => working.await,
        }
        tracing::info!("stopped");
    };
    until_signalled(run).await.map_err(AppError::Signals)
}

async fn bind_admin(config: &Config) -> Result<Option<(TcpListener, SocketAddr)>, AppError> {
    let Some(addr) = config.admin_listen else { return Ok(None) };
    let bound = bind(addr).await;
    bound.map(Some).map_err(|source| AppError::Bind { flag: "--admin-listen", addr, source })
}

impl JobSolver for Service {
    fn serves(&self, spec: &JobSpec) -> bool {
        spec.is_served_by(env!("CARGO_PKG_VERSION"), self.settings().tables)
    }

    /// Labels that depend on tables use the tables of the specification. Other tables must fit into the table memory.
    fn load_tables(&self, spec: &JobSpec) -> LoadedTables {
        let (settings, tables, goal) = (self.settings(), self.tables(), spec.boards.goal());
        if spec.has_unique_labels() {
            return Handle::current().block_on(tables.load_within_memory(goal, settings.default_time));
        }
        tables.load_for(goal, spec.want, settings.tables);
        LoadedTables::default()
    }

    fn resources<'a>(&'a self, cancel: &'a AtomicBool) -> Resources<'a> {
        let search_memory = self.settings().bulk.search_memory;
        Resources { tables: self.tables(), threads: 1, search_memory, cancel, failures: self.metrics() }
    }

    fn panicked(&self) {
        self.metrics().panicked();
    }
}
