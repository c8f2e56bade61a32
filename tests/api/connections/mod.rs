//! Connections of hostile, slow and broken clients. Each is closed by the intended timeout or limit, without effect on
//! other clients.

mod age;
mod batches;
mod caps;
mod client;
mod crowd;
mod departures;
mod flood;
mod framing;
mod lingering;
mod slowness;
mod streams;
