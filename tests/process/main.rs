//! The binary as a process: command line, table cache, load and chaos.

mod chaos;
mod command;
mod stalled_log;
mod table_cache;
