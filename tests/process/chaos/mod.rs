//! Load and chaos against the binary itself: floods, departures, signals, a full disk, panics, and a soak.
//!
//! `cargo test --test process chaos::` is the short form. `.ci/chaos` runs the long one, in a release build and with the bounds as
//! they are required, and prints what was measured.

mod boards;
mod client;
mod departures;
mod disk;
mod endings;
mod figures;
mod flood;
mod memory;
mod panics;
mod soak;
mod taquin;
