//! The handlers, one file a route.

pub(crate) mod compare;
pub(crate) mod health;
pub(crate) mod hint;
pub(crate) mod info;
pub(crate) mod openapi;
pub(crate) mod playground;
pub(crate) mod random;
pub(crate) mod solvable;
pub(crate) mod solve;
pub(crate) mod usage;
pub(crate) mod verify;
