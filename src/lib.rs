//! Taquin.
pub mod domain;
pub mod search;
