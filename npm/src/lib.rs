//! The WebAssembly module of the npm package `taquin`. `taquin/` has the JavaScript around it.
//!
//! - `module`: the exports of the module
//! - `solve`, `hint`, `verify`, `random`, `explain`: the operations, with the requests and responses of the HTTP API
//! - `reply`: values as JSON
//! - `problem`: errors as problem documents
//! - `tables`: the tables of the module

// Only tests may unwrap and print. The message of an `expect` gives the reason why the call cannot fail.
#![cfg_attr(not(test), warn(clippy::too_many_lines, clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr))]

mod explain;
mod hint;
#[cfg(target_family = "wasm")]
pub mod module;
mod problem;
mod random;
mod reply;
mod solve;
mod tables;
mod verify;

use serde_json::Value;
use taquin_bulk::fields::{FieldReader, WrittenFields};
use taquin_solver::Observer;

use problem::Problem;

/// Runs the operation `solve`, `hint`, `verify`, `random` or `explain`. The request and the response are JSON, as in the
/// HTTP API. `observer` receives the progress of searches.
///
/// # Errors
/// A problem document (RFC 9457) as JSON.
pub fn run(operation: &str, request: &str, observer: Option<&dyn Observer>) -> Result<String, String> {
    let response = match operation {
        "solve" => read(request, &solve::FIELDS).and_then(|fields| solve::solve(fields, observer)),
        "hint" => read(request, &hint::FIELDS).and_then(|fields| hint::hint(fields, observer)),
        "verify" => read(request, &verify::FIELDS).and_then(|fields| verify::verify(fields, observer)),
        "random" => read(request, &random::FIELDS).and_then(random::random),
        "explain" => read(request, &explain::FIELDS).and_then(explain::explain),
        _ => Err(Problem::internal(&format!("there is no operation `{operation}`"))),
    };
    response.map(|value: Value| value.to_string()).map_err(|problem| problem.to_json())
}

/// Parses a request. `known` names all fields.
fn read(request: &str, known: &[&str]) -> Result<FieldReader, Problem> {
    Ok(FieldReader::new(Vec::new(), Some(WrittenFields::parse(request)?), known))
}
