//! Taquin solves sliding-tile puzzles over HTTP.
//!
//! Four layers above the crates `taquin-cluster`, `taquin-bulk` and `taquin-solver`. Every dependency points down, and
//! a test rejects others:
//!
//! ```text
//! main → app → config → http → jobs → service → taquin-bulk → taquin-solver
//!        app, jobs → taquin-cluster → taquin-bulk, with the feature `cluster`
//!        app, main → telemetry → config: only app and main use these two
//! ```
//!
//! To read the code from the bottom: [`taquin_solver::Solver`]; [`service::Service::submit`], which runs a search on
//! the worker pool and returns its report; [`http::HttpServices`], which turns requests into searches and reports into
//! responses; [`app::App`]. `docs/ARCHITECTURE.md` describes the folders and the path of a request.

// Tests may do these. `expect` says why it cannot fail, and the log is the only output.
#![cfg_attr(not(test), warn(clippy::too_many_lines, clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr))]

pub mod app;
pub mod config;
pub mod healthcheck;
pub mod http;
pub mod jobs;
pub mod service;
pub mod telemetry;
