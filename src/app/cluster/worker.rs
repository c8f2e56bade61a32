//! `taquin worker`.

use std::net::SocketAddr;
use std::sync::Arc;

use prometheus_client::metrics::gauge::Gauge;
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::super::listener::{Listener, bind};
use super::super::open_connections::OpenConnections;
use super::super::signals::until_signalled;
use super::super::{AppError, Ending, MAX_ADMIN_CONNECTIONS, registry};
use super::connect;
use crate::cluster::{Maker, QueueRole, Worker, WorkerFigures, find_files};
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
    let connect = move || connect(find_files(&store, &Handle::current())?, &queue, QueueRole::Worker);
    let connected = tokio::task::spawn_blocking(connect).await;
    let (store, queue) = connected.map_err(|error| AppError::Worker(error.into()))?.map_err(AppError::Worker)?;
    let service = Service::start(config.service.clone());
    let threads = config.threads.bulk.max(1);
    let figures = Arc::new(WorkerFigures::new(threads));
    let connections = Gauge::default();
    let mut registry = registry(&service, None, &connections, MAX_ADMIN_CONNECTIONS);
    figures.register(registry.sub_registry_with_prefix("taquin"));
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
    let worker = Worker::new(queue, Maker::new(store, service), threads, figures);
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
