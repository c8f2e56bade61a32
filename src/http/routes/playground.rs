//! The pages for browsers: the playground at `/`, the contract's viewer at `/docs`, and what they are made of.
//!
//! All of it is in `web/` as it is served, and built into the binary. The parts lie under a path that names all their
//! bytes, so that a browser keeps them for good and never mixes two releases; relative imports stay below that path.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;

use super::page_headers::protection;
use crate::http::media_type::MediaType;
use crate::http::negotiation::{Document, choose, weak_etag};
use crate::http::problem::{Problem, ProblemKind};

/// A file of `web/`: its name and its bytes.
type File = (&'static str, &'static [u8]);

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_bytes!(concat!("../../../web/", $name)) as &[u8])),*]
    };
}

const PARTS: &[File] = &files![
    "base.css",
    "board.js",
    "chart.js",
    "compare.js",
    "docs.css",
    "docs.js",
    "dom.js",
    "editing.js",
    "editor.js",
    "expansions.js",
    "icon.svg",
    "link.js",
    "main.js",
    "method.js",
    "operation.js",
    "picture.js",
    "play.js",
    "player.js",
    "playground.css",
    "prose.js",
    "puzzle.js",
    "schema.js",
    "search.js",
    "service.js",
    "setup.js",
    "snippets.js",
    "stoppable.js",
    "storage.js",
    "tabs.js",
    "token.js",
    "tree.js",
];

const PLAYGROUND: &str = include_str!("../../../web/index.html");
const VIEWER: &str = include_str!("../../../web/docs.html");

/// Where the pages look for their parts; the name of the version takes the place of these words.
const VERSION: &str = "{version}";

/// What the pages may do: load what this service gives them, show pictures that a person chose, and ask this service.
/// No text becomes markup or script.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types 'none'";

/// Everything in `web/`, ready to be sent.
struct Web {
    version: String,
    playground: Document,
    viewer: Document,
    parts: Vec<(&'static str, Document)>,
}

static WEB: LazyLock<Web> = LazyLock::new(Web::new);

impl Web {
    fn new() -> Self {
        let version = version(PARTS);
        let page = |html: &str| {
            let html = html.replace(VERSION, &version);
            Document::new(MediaType::Html.content_type(), "no-cache", html).compressed()
        };
        let (playground, viewer) = (page(PLAYGROUND), page(VIEWER));
        let part = |&(name, bytes): &File| {
            let document = Document::new(content_type(name), "public, max-age=31536000, immutable", bytes);
            (name, document.compressed())
        };
        Self { version, playground, viewer, parts: PARTS.iter().map(part).collect() }
    }
}

/// The name of these very files.
fn version(files: &[File]) -> String {
    let each = |(name, bytes): &File| [name.as_bytes(), &bytes.len().to_le_bytes(), bytes].concat();
    let bytes: Vec<u8> = files.iter().flat_map(each).collect();
    let tag = weak_etag(&bytes);
    tag.to_str().unwrap_or_default().chars().filter(char::is_ascii_hexdigit).collect()
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.') {
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "js")) => "text/javascript; charset=utf-8",
        Some((_, "svg")) => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

/// The playground.
pub(crate) fn playground(headers: &HeaderMap) -> Response {
    protected(WEB.playground.answer(headers))
}

/// `/docs`: the contract, to read and to try.
pub(crate) async fn docs(headers: HeaderMap) -> Result<Response, Problem> {
    choose(&headers, &[MediaType::Html])?;
    Ok(protected(WEB.viewer.answer(&headers)))
}

fn protected(mut page: Response) -> Response {
    page.headers_mut().extend(protection(POLICY));
    page
}

/// `/web/{version}/{part}`: what the pages are made of, whatever `Accept` says.
pub(crate) async fn part(
    names: Result<Path<(String, String)>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (version, name) = names.map(|Path(names)| names).unwrap_or_default();
    let Some((_, document)) = WEB.parts.iter().find(|(part, _)| *part == name) else {
        return Err(Problem::new(ProblemKind::NotFound, "There is no asset of this name.".to_owned()));
    };
    let mut response = document.answer(&headers);
    let own = response.headers_mut();
    if version != WEB.version {
        // A page of another release that asks this one, while it is replaced: better this than nothing, but for now.
        own.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    }
    // A picture is a document of its own when it is opened by itself, and this one does nothing either.
    own.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'"));
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_directory_is_served() {
        let directory = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/web")).unwrap();
        let mut there: Vec<String> = directory.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        there.retain(|name| !name.ends_with(".html"));
        there.sort();
        assert_eq!(there, PARTS.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    }

    #[test]
    fn pages_name_no_part_that_is_not_there() {
        for page in [PLAYGROUND, VIEWER] {
            for rest in page.split("/web/{version}/").skip(1) {
                let name = rest.split('"').next().unwrap();
                assert!(PARTS.iter().any(|(part, _)| *part == name), "{name}");
            }
        }
    }

    #[test]
    fn another_byte_is_another_version() {
        let names = [version(&[("a", b"1")]), version(&[("a", b"2")]), version(PARTS)];
        assert!(names[0] != names[1] && names.iter().all(|name| name.len() == 16), "{names:?}");
    }
}
