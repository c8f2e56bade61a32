//! The API, asked as anybody would ask it: the real service on a free port, over real connections.
//!
//! Every exchange that the [client](client::Client) makes is held against `openapi.yaml`, and every solution is
//! replayed by a [simulator] that shares no code with the service. So each test below is a test of the contract too.

mod answer;
mod client;
mod contract;
mod question;
mod simulator;

mod boards;
mod compare;
mod connections;
mod guards;
mod hint;
mod limits;
mod load;
mod operations;
mod pages;
mod problems;
mod protocol;
mod random;
mod solvable;
mod solving;
mod streaming;
mod text;
mod verify;
