//! Boards, searches, heuristics and tables, compared with slow [reference] implementations that share no code with
//! them.

mod reference;

mod anytime;
mod chosen_patterns;
mod distribution;
mod heuristics;
mod large_patterns;
mod memory;
mod multi_tile;
mod observer;
mod optimal_paths;
mod optimality;
mod parts;
mod pattern_tables;
mod patterns;
mod properties;
mod signature;
mod tutorials;
mod twins;

/// The allocator of the service, because [memory] measures it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
