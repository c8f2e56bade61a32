//! Taquin.
pub mod domain;
