//! Third floor: HTTP. Reads requests and writes responses; does not depend on the implementation of a search.
//!
//! A handler takes `RequestFields` and returns a response or a [`Problem`]. The outer layer,
//! `exchange`, adds the request id, access line, span and problem document.
//!
//! Modules, from the top down. A module uses only those below it:
//!
//! | module | holds |
//! |---|---|
//! | `router` | the HTTP services of both listeners |
//! | `routes` | the table of routes, and their handlers |
//! | `guard` | bearer tokens, rate limit, CORS |
//! | `exchange` | the outer layer: request id, access log, span, metrics, problem documents |
//! | `rows` | rows of a batch: boards as JSON lines and CSV, and what is found out about them |
//! | `reply` | results and failures as JSON and text |
//! | `request` | bodies, query strings, fields |
//! | `negotiation` | `Accept`, and cacheable documents with `ETag` |
//! | `problem` | RFC 9457 problem documents and their types |
//! | `routes_table` | the type of a route, and the lookup by path |
//! | `state` | state shared by all handlers |
//! | `payload`, `get_target`, `media_type` | the bytes of a response, the GET request for it, media types |

mod exchange;
mod get_target;
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
mod rows;
mod state;

pub use exchange::HttpService;
pub use guard::{Guards, Rate, Tokens};
pub use problem::{Problem, ProblemKind, RequestError};
pub(crate) use request::{NamedGoal, did_you_mean};
pub use router::HttpServices;
pub use routes::solve::read_solve_body;
#[cfg(test)]
pub(crate) use rows::RowGoal;
pub use rows::read_rows;
pub(crate) use rows::{
    CsvInput, InputRow, LabelLines, MAX_LINE, RowFormat, RowOptions, RowReader, goal_mismatch, other_goal, row_json,
    stored_problem, unserved,
};
pub use state::{BatchLimits, HttpSettings, Site};

#[cfg(test)]
mod tests;
