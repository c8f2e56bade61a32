//! `taquin batch`: signals, tables and memory of the command in `taquin-bulk`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

pub use taquin_bulk::command::errors_of;
use taquin_bulk::command::{self, Batch, BatchEnding, BatchError, BatchFlags, Session};
use taquin_bulk::{Resources, Want};
use taquin_solver::Board;
use tokio::runtime;
use tokio::sync::oneshot;

use super::signals::Signals;
use crate::config::Config;
use crate::service::{Metrics, Tables};

/// Runs a batch, and returns the exit code. Messages and progress go to the standard error.
pub fn run(flags: &BatchFlags, config: &Config) -> u8 {
    command::run(flags, |batch| until_signalled(batch, config))
}

/// Runs a batch on a thread. A signal cancels the batch and waits for its end; a second signal does not wait. Returns
/// the ending with the number of the signal, or 0.
fn until_signalled(batch: Batch, config: &Config) -> Result<(BatchEnding, u8), BatchError> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(BatchError::Start)?;
    let (config, cancel) = (config.clone(), Arc::new(AtomicBool::new(false)));
    let (done, mut ended) = oneshot::channel();
    runtime.block_on(async {
        let mut signals = Signals::install().map_err(BatchError::Start)?;
        let own = Arc::clone(&cancel);
        let work = move || drop(done.send(label(batch, &config, &own)));
        thread::Builder::new().spawn(work).map_err(BatchError::Start)?;
        let signal = tokio::select! {
            end = &mut ended => return end.expect("the batch does not panic").map(|end| (end, 0)),
            signal = signals.next() => signal,
        };
        cancel.store(true, Ordering::Relaxed);
        tokio::select! {
            end = ended => end.expect("the batch does not panic").map(|end| (end, signal)),
            signal = signals.next() => Ok((BatchEnding::Cancelled, signal)),
        }
    })
}

fn label(batch: Batch, config: &Config, cancel: &AtomicBool) -> Result<BatchEnding, BatchError> {
    let tables = Tables::new(config.memory.tables + config.memory.base, config.service.table_cache.clone());
    let tier = config.service.tables;
    let load_tables = |goal: &Board, want: Want| tables.load_for(goal, want, tier);
    let (threads, search_memory) = (config.service.workers, config.service.search_memory);
    let resources = Resources { tables: &tables, threads, search_memory, cancel, failures: &Metrics::default() };
    batch.run(&Session::new(resources, tier, &load_tables, env!("CARGO_PKG_VERSION")))
}
