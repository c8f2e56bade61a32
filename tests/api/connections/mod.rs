//! Connections as hostile, slow and broken clients make them: each is cut off by the time-out or the limit that is
//! meant for it, and nobody else notices.

mod caps;
mod client;
mod crowd;
mod framing;
mod slowness;
mod streams;
