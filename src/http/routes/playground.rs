//! Pages for browsers: the playground at `/`, the viewer of the API description at `/docs`, and their assets.
//!
//! `web/` holds the files as they are served; they are embedded in the binary. The path of an asset contains a hash of
//! all assets. Browsers therefore cache them forever and never mix two releases. Relative imports stay below that path.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::Response;

use super::openapi::with_service_desc;
use crate::http::media_type::MediaType;
use crate::http::negotiation::{Document, choose, weak_etag};
use crate::http::problem::{Problem, ProblemKind};

/// Name and bytes of a file in `web/`.
type File = (&'static str, &'static [u8]);

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_bytes!(concat!("../../../web/", $name)) as &[u8])),*]
    };
}

const PARTS: &[File] = &files![
    "aids.js",
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
    "experiment.js",
    "icon.svg",
    "job.js",
    "jobs.js",
    "languages.js",
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
    "track.js",
    "tree.js",
];

const PLAYGROUND: &str = include_str!("../../../web/index.html");
const VIEWER: &str = include_str!("../../../web/docs.html");

/// Placeholder of the version in the asset paths of the pages.
const VERSION: &str = "{version}";

/// Content security policy of the pages. They may load assets from this service, send requests to it, and show pictures
/// that the user selects. No text becomes markup or script.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; \
                      connect-src 'self'; base-uri 'none'; form-action 'none'; \
                      require-trusted-types-for 'script'; trusted-types 'none'";

/// The prepared documents of `web/`.
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

/// Hash of the names and contents of files.
fn version(files: &[File]) -> String {
    let each = |(name, bytes): &File| [name.as_bytes(), &bytes.len().to_le_bytes(), bytes].concat();
    let bytes: Vec<u8> = files.iter().flat_map(each).collect();
    let tag = weak_etag(&[&bytes]);
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

/// Returns the playground, which the pages of these origins may frame.
pub(crate) fn playground(headers: &HeaderMap, frame_origins: &[String]) -> Response {
    with_security_headers(WEB.playground.response(headers), frame_origins)
}

/// `/docs`: the viewer of the API description.
pub(crate) async fn docs(headers: HeaderMap) -> Result<Response, Problem> {
    choose(&headers, &[MediaType::Html])?;
    Ok(with_service_desc(with_security_headers(WEB.viewer.response(&headers), &[])))
}

fn with_security_headers(mut page: Response, frame_origins: &[String]) -> Response {
    page.headers_mut().extend(security_headers(POLICY, frame_origins));
    page
}

/// `/web/{version}/{part}`: an asset of the pages. Ignores `Accept`.
pub(crate) async fn part(
    names: Result<Path<(String, String)>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (version, name) = names.map(|Path(names)| names).unwrap_or_default();
    let Some((_, document)) = WEB.parts.iter().find(|(part, _)| *part == name) else {
        return Err(Problem::new(ProblemKind::NotFound, "There is no asset with this name."));
    };
    let mut response = document.response(&headers);
    let own = response.headers_mut();
    if version != WEB.version {
        // During an upgrade, a page of another release may request its assets here. These assets work, but must not be
        // cached.
        own.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    }
    // An SVG opened directly is a document of its own; it must not load anything either.
    own.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'"));
    Ok(response)
}

/// Security headers of a page: its content security policy, which pages may frame it, no opener from another origin, no
/// `Referer`. `policy` has no `frame-ancestors`; `frame_origins` are the origins of framing pages, or `*` alone for
/// all.
pub(crate) fn security_headers(policy: &str, frame_origins: &[String]) -> HeaderMap {
    let framing = if frame_origins.is_empty() { "'none'".to_owned() } else { frame_origins.join(" ") };
    let policy = HeaderValue::try_from(format!("{policy}; frame-ancestors {framing}"));
    let mut headers = HeaderMap::from_iter([
        (header::CONTENT_SECURITY_POLICY, policy.expect("an origin has no control characters")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    ]);
    // Older browsers know only this header, which cannot name origins.
    if frame_origins.is_empty() {
        headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_directory_is_served() {
        let directory = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/web")).unwrap();
        let mut files: Vec<String> = directory.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        files.retain(|name| !name.ends_with(".html"));
        files.sort();
        assert_eq!(files, PARTS.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    }

    #[test]
    fn every_asset_of_a_page_exists() {
        for page in [PLAYGROUND, VIEWER] {
            for rest in page.split("\"web/{version}/").skip(1) {
                let name = rest.split('"').next().unwrap();
                assert!(PARTS.iter().any(|(part, _)| *part == name), "{name}");
            }
        }
    }

    #[test]
    fn the_version_depends_on_every_byte() {
        let names = [version(&[("a", b"1")]), version(&[("a", b"2")]), version(PARTS)];
        assert!(names[0] != names[1] && names.iter().all(|name| name.len() == 16), "{names:?}");
    }
}
