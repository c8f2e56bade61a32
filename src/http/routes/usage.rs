//! Text pages: usage, and an explanation of each problem type.

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::Response;
use serde_json::json;

use super::playground;
use crate::http::negotiation::{Document, Offer, choose};
use crate::http::problem::{Problem, ProblemKind};

/// `/`: the usage page, or the playground for a browser.
pub(crate) async fn home(headers: HeaderMap) -> Result<Response, Problem> {
    let offer = choose(&headers, &[Offer::Text, Offer::Html])?;
    if offer == Offer::Html {
        return Ok(playground::playground(&headers));
    }
    let base = format!("http://{}", host(&headers).unwrap_or("127.0.0.1:8080"));
    let text = USAGE.replace("{version}", env!("CARGO_PKG_VERSION")).replace("{base}", &base);
    Ok(Document::new(offer.content_type(), "no-cache", text).answer(&headers))
}

const USAGE: &str = "\
taquin {version}: solves sliding-tile puzzles, optimally where that can be proven

Solve a board (0 is the blank; moves are those of the blank: U, L, D, R):
  curl --json '{\"board\": [[8,6,7],[2,5,4],[3,0,1]]}' {base}/solve
  curl -H 'Accept: text/plain' -d '8 6 7/2 5 4/3 0 1' {base}/solve
  curl '{base}/solve?board=867254301'
  curl -N -H 'Accept: text/event-stream' '{base}/solve?board=867254301'

Test whether a board is solvable:
  curl '{base}/solvable?board=123456870'

Get the next move; check moves and the remaining distance:
  curl '{base}/hint?board=867254301'
  curl '{base}/verify?board=867254301&moves=RULL'

Compare several methods on one board:
  curl -H 'Accept: text/plain' '{base}/compare?board=867254301&preset=older_systems'

Draw a random board; pipe one into the solver:
  curl '{base}/random?rows=4&cols=4'
  curl '{base}/random?as=request' | curl --json @- {base}/solve

More:
  {base}/                the playground, in a browser
  {base}/docs            the API, to read and to try, in a browser
  {base}/info            limits, algorithms, heuristics
  {base}/openapi.yaml    every field and every response
  {base}/readyz          whether this server accepts requests
";

/// The Host header, if it can be a host and a port; it goes into text that people paste into a shell.
fn host(headers: &HeaderMap) -> Option<&str> {
    let host = headers.get(header::HOST)?.to_str().ok()?;
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b':' | b'[' | b']');
    ((1..=255).contains(&host.len()) && host.bytes().all(is_plain)).then_some(host)
}

/// `/problems/{slug}`: the page to which a problem's `type` links.
pub(crate) async fn problem(
    slug: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let kind = slug.ok().and_then(|Path(slug)| ProblemKind::from_slug(&slug)).ok_or_else(|| {
        let slugs: Vec<&str> = ProblemKind::ALL.iter().map(|kind| kind.slug()).collect();
        Problem::new(
            ProblemKind::NotFound,
            format!("No problem type has this name. The types are {}.", slugs.join(", ")),
        )
    })?;
    let offer = choose(&headers, &[Offer::Json, Offer::Text, Offer::Html])?;
    let (slug, status, title, description) = (kind.slug(), kind.status().as_u16(), kind.title(), kind.description());
    let body = match offer {
        Offer::Text => format!("{title} ({slug}, status {status})\n\n{description}\n"),
        Offer::Html => format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
             <h1>{title}</h1>\n<p><code>{slug}</code>, status {status}</p>\n<p>{}</p>\n</html>\n",
            escape(description)
        ),
        _ => json!({
            "type": format!("/problems/{slug}"), "title": title, "status": status, "description": description
        })
        .to_string(),
    };
    let mut response = Document::new(offer.content_type(), Document::AN_HOUR, body).answer(&headers);
    if offer == Offer::Html {
        response.headers_mut().extend(protection(NOTHING_BUT_TEXT));
    }
    Ok(response)
}

/// The policy of a page that loads nothing and has neither style nor script nor form.
const NOTHING_BUT_TEXT: &str = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What every page for a browser is sent with: what it may load, that nobody may frame it or hold
/// on to its window, and that where it links to is not told of it.
pub(crate) fn protection(policy: &'static str) -> [(HeaderName, HeaderValue); 4] {
    [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ]
    .map(|(name, value)| (name, HeaderValue::from_static(value)))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
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

    #[test]
    fn text_in_a_page_is_escaped() {
        assert_eq!(escape("a < b & c > d"), "a &lt; b &amp; c &gt; d");
    }
}
