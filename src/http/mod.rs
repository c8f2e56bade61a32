//! Third floor: HTTP. Reads requests and writes responses; knows nothing of how a search works.
//!
//! A handler takes [`RequestFields`](request::RequestFields) and returns a response or a [`Problem`]. The outer layer,
//! [`exchange`], adds request id, access line, span and problem document.
//!
//! Wings, from the top down. A wing uses only those below it:
//!
//! | wing | holds |
//! |---|---|
//! | `router` | the HTTP services of both listeners |
//! | `routes` | the table of routes, and one handler each |
//! | `guard` | tokens, rate limit, origins |
//! | `exchange` | the outer layer: request id, access log, span, metrics, problem documents |
//! | `reply` | results and failures on the wire, and their bytes |
//! | `request` | bodies, query strings, fields |
//! | `negotiation` | `Accept`, and documents with `ETag` |
//! | `problem` | RFC 9457 problem documents and their types |
//! | `routes_table` | the type of a row, and the lookup by path |
//! | `state` | what handlers share |
//! | `payload`, `media_type` | the bytes of a response, and their type |

mod exchange;
mod guard;
mod media_type;
mod negotiation;
mod payload;
mod problem;
mod reply;
mod request;
mod router;
mod routes;
mod routes_table;
mod state;

pub use exchange::HttpService;
pub use guard::{Guards, Rate, Tokens};
pub use problem::{Fault, Problem, ProblemKind};
pub use router::HttpServices;
pub use routes::solve::read_solve_body;
pub use state::HttpSettings;

#[cfg(test)]
mod tests;
