//! HTTP: reads requests and writes responses. Does not depend on the implementation of a search.
//!
//! A handler takes `RequestFields` and returns a response or a [`Problem`]. The layers around the router, which
//! `router` lists, do the same for every route.
//!
//! Modules, from the top down. A module uses only those below it:
//!
//! | module | holds |
//! |---|---|
//! | `router` | the HTTP services of both listeners: the list of layers |
//! | `routes` | the table of routes, and their handlers |
//! | `guard` | pages of other sites, bearer tokens, rate limit, CORS |
//! | `exchange` | request id, access log, span, metrics, problem documents, checks of the head |
//! | `reply` | results and failures as JSON and text |
//! | `request` | bodies, query strings, fields |
//! | `negotiation` | `Accept`, and cacheable documents with `ETag` |
//! | `problem` | RFC 9457 problem documents and their types |
//! | `routes_table` | the type of a route, and the lookup by path |
//! | `state` | state shared by all handlers |
//! | `media_type` | media types |

mod exchange;
mod guard;
mod media_type;
mod negotiation;
mod problem;
mod reply;
mod request;
mod router;
mod routes;
mod routes_table;
mod state;

pub use exchange::InfallibleService;
pub use guard::{Guards, Rate, Tokens};
pub use problem::{Problem, ProblemKind};
pub use router::{HttpService, HttpServices};
pub use routes::solve::read_solve_body;
pub use state::{BatchLimits, HttpSettings, Site};

#[cfg(test)]
mod tests;
