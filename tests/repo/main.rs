//! The rules of the source tree.

mod layering;
mod links;
