//! Taquin solves sliding-tile puzzles over HTTP.
//!
//! Four floors, every arrow points down; a test holds them to it:
//!
//! ```text
//! main → app → http → service → search → domain
//! config, telemetry: known to main and app alone
//! ```
//!
//! To read it, begin at the bottom: [`domain::Board`] and [`domain::Puzzle`], then
//! [`search::Space`] and the searches that walk it, then [`service::Service::submit`], by which a
//! job crosses to a blocking thread and comes back as a report, then [`http::router`], which turns
//! requests into jobs and reports into answers. `docs/ARCHITECTURE.md` draws the house.

pub mod app;
pub mod config;
pub mod domain;
pub mod healthcheck;
pub mod http;
pub mod search;
pub mod service;
pub mod telemetry;
