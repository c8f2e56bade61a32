//! Third floor: HTTP. Reads questions, writes answers, and knows nothing of how a search works.
//!
//! A handler takes a [`Question`](request::Question), and returns a response or a [`Problem`]; ids, access lines and
//! problem documents are written around it, by `exchange`.

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
