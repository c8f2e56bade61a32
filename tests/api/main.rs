//! The API, tested from outside: a running service on a free port, over real connections.
//!
//! The [client](client::Client) checks every exchange against `openapi.yaml`, and replays every solution with a
//! [simulator] that shares no code with the service. Every test is therefore also a test of the contract.

mod answer;
mod client;
mod contract;
mod question;
mod simulator;

mod batch;
mod boards;
mod compare;
mod connections;
mod distances;
mod examples;
mod experiments;
mod explain;
mod guards;
mod hint;
mod jobs;
mod jobs_damage;
mod jobs_progress;
mod jobs_results;
mod limits;
mod load;
mod moves;
mod older_systems;
mod operations;
mod own_patterns;
mod pages;
mod pictures;
mod problems;
mod protocol;
mod random;
mod replicas;
mod search_steps;
mod solutions;
mod solvable;
mod solving;
mod streaming;
mod text;
mod vectors;
mod verify;
