//! Boards, searches, heuristics and tables, checked against slow [twins](twins) that share no code with them.

mod twins;

mod anytime;
mod heuristics;
mod memory;
mod observer;
mod optimality;
mod pattern_tables;
mod patterns;
mod properties;
mod signature;
mod wide_patterns;

/// The allocator of the service, because [memory] measures it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
