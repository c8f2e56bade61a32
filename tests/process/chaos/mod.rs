//! Load and chaos tests of the binary: floods, disconnects, responses under load, signals, a full disk, panics, a storm
//! of expensive requests, and a soak.
//!
//! `cargo test --test process chaos::` runs the short form. `.ci/chaos` runs the long form in a release build with the
//! required bounds, and prints the measurements.

pub(crate) mod boards;
pub(crate) mod client;
mod departures;
mod differential;
mod disk;
mod endings;
pub(crate) mod figures;
mod flood;
mod memory;
mod panics;
mod soak;
mod storm;
pub(crate) mod taquin;
