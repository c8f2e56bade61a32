//! `/`: the usage page.

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::Response;

use super::openapi::with_service_desc;
use super::playground;
use crate::http::media_type::MediaType;
use crate::http::negotiation::{Document, choose};
use crate::http::problem::Problem;
use crate::http::state::AppState;

/// Returns the playground to browsers, and the usage page to all other clients.
pub(crate) async fn usage(State(state): State<AppState>, headers: HeaderMap) -> Result<Response, Problem> {
    let site = &state.site;
    let media_type = choose(&headers, &[MediaType::Text, MediaType::Html])?;
    if media_type == MediaType::Html {
        return Ok(with_service_desc(playground::playground(&headers, &site.frame_origins)));
    }
    let base = format!("http://{}{}", host(&headers).unwrap_or("127.0.0.1:8080"), site.base_path);
    let jobs = if state.jobs.is_some() { JOBS } else { "" };
    let text = USAGE.replace("{jobs}", jobs).replace("{version}", env!("CARGO_PKG_VERSION")).replace("{base}", &base);
    Ok(with_service_desc(Document::new(media_type.content_type(), "no-cache", text).response(&headers)))
}

const USAGE: &str = "\
taquin {version}: solves sliding-tile puzzles, with proof of optimality where possible

Solve a board (0 is the blank; its moves are U, L, D, R):
  curl --json '{\"board\": [[8,6,7],[2,5,4],[3,0,1]]}' {base}/solve
  curl -H 'Accept: text/plain' -d '8 6 7/2 5 4/3 0 1' {base}/solve
  curl '{base}/solve?board=867254301'
  curl -H 'Accept: text/plain' '{base}/solve?board=867254301&include=states&width=80'
  curl -N -H 'Accept: text/event-stream' '{base}/solve?board=867254301'

Test whether a board is solvable:
  curl '{base}/solvable?board=123456870'

Get the next move; check moves and the remaining distance:
  curl '{base}/hint?board=867254301'
  curl '{base}/verify?board=867254301&moves=RULL'

List the legal moves, best first; check a player's moves for mistakes:
  curl '{base}/moves?board=867254301'
  curl '{base}/verify?board=867254301&moves=RULD&include=steps'

Compare several methods on one board:
  curl -H 'Accept: text/plain' '{base}/compare?board=867254301&preset=older_systems'

Watch a search, node by node:
  curl -H 'Accept: text/plain' '{base}/solve?board=123406758&algorithm=astar&heuristic=manhattan&include=generated'

Explain the estimate of each heuristic; count the boards at each optimal length:
  curl -H 'Accept: text/plain' '{base}/explain?board=867254301'
  curl -H 'Accept: text/plain' '{base}/distances?rows=3'

Draw a random board, or one with a given optimal length; pipe one into the solver:
  curl '{base}/random?rows=4&cols=4'
  curl '{base}/random?rows=4&cols=4&length=40..45'
  curl '{base}/random?as=request' | curl --json @- {base}/solve
  curl '{base}/random?count=5&as=line'

Solve many boards, a line each:
  curl '{base}/random?count=5&as=line' | curl -H 'Content-Type: application/x-ndjson' --data-binary @- {base}/batch

{jobs}Draw a picture of a solution, or of a search tree; a search tree for Graphviz:
  curl -H 'Accept: image/svg+xml' '{base}/solve?board=867254301'
  curl -H 'Accept: image/svg+xml' '{base}/solve?board=123406758&include=generated'
  curl -H 'Accept: text/vnd.graphviz' '{base}/solve?board=123406758&algorithm=breadth_first'

More:
  {base}/                the playground, in a browser
  {base}/docs            the API reference, with a form to try each operation, in a browser
  {base}/info            limits, algorithms, heuristics
  {base}/openapi.yaml    every field and every response
  {base}/readyz          whether this server accepts requests
";

const JOBS: &str = "\
Solve up to a billion boards while you do something else:
  curl --json '{\"random\": {\"rows\": 4, \"cols\": 4, \"seed\": \"s\", \"count\": 1000}}' {base}/jobs

";

/// The `Host` header, if it consists of characters of a host and a port. Users paste the text that contains it into a
/// shell.
fn host(headers: &HeaderMap) -> Option<&str> {
    let host = headers.get(header::HOST)?.to_str().ok()?;
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b':' | b'[' | b']');
    ((1..=255).contains(&host.len()) && host.bytes().all(is_plain)).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host_of(value: &str) -> Option<String> {
        host(&HeaderMap::from_iter([(header::HOST, value.parse().unwrap())])).map(str::to_owned)
    }

    #[test]
    fn a_host_that_could_break_a_shell_line_is_not_repeated() {
        for good in ["localhost:8080", "[::1]:80", "taquin.example.org"] {
            assert_eq!(host_of(good).as_deref(), Some(good));
        }
        for bad in ["", "a b", "$(id)", "x;rm", "a'b", "a/b", &"x".repeat(256)] {
            assert_eq!(host_of(bad), None, "{bad}");
        }
    }
}
