//! The binary as a process: its command line, its table cache, and load and chaos against it.

mod chaos;
mod command;
mod table_cache;
