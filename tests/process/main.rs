//! The binary as a process: command line, table cache, load and chaos.

mod batch;
mod batch_files;
#[cfg(feature = "cluster")]
mod billion;
mod chaos;
#[cfg(feature = "cluster")]
mod cluster;
#[cfg(feature = "cluster")]
mod cluster_faults;
mod command;
mod daily;
mod jobs;
mod log;
#[cfg(feature = "cluster")]
mod million;
mod readiness;
mod stalled_log;
mod table_cache;
