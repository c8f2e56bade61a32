//! Taquin.
pub mod domain;
pub mod search;
pub mod service;
