//! Pages for browsers: the playground, the viewer of the API description, and their assets.

use std::io::Read;

use flate2::read::GzDecoder;
use hyper::Method;

use crate::answer::Answer;
use crate::client::shared;
use crate::question::Question;

/// `Accept` of Chromium.
const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8";

const PAGES: [&str; 2] = ["/", "/docs"];

async fn page(path: &str) -> Answer {
    shared().await.send(Question::get(path).accept(BROWSER)).await.expect(200)
}

/// Addresses of the assets that a page loads.
fn parts(page: &Answer) -> Vec<String> {
    let text = page.text();
    let named = text.split(['"', ' ']).filter(|word| word.starts_with("web/"));
    named.map(|name| format!("/{name}")).collect()
}

#[tokio::test]
async fn a_browser_gets_a_page_and_all_other_clients_the_usage_text() {
    let taquin = shared().await;
    let answer = page("/").await;
    assert_eq!(answer.media_type(), "text/html");
    assert_eq!(answer.header("vary"), "Accept, Accept-Encoding");
    for accept in ["*/*", "text/plain", "text/*"] {
        let usage = taquin.send(Question::get("/").accept(accept)).await.expect(200);
        assert_eq!(usage.media_type(), "text/plain", "{accept}");
        assert!(usage.text().contains("curl --json"), "{accept}: {usage}");
        assert_ne!(usage.header("etag"), answer.header("etag"));
    }
    assert_eq!(taquin.get("/").await.expect(200).media_type(), "text/plain");
    assert_eq!(taquin.get("/docs").await.expect(200).media_type(), "text/html");
    for path in PAGES {
        taquin.send(Question::get(path).accept("image/png")).await.problem("not-acceptable");
        let head = taquin.send(Question::new(Method::HEAD, path).accept(BROWSER)).await.expect(200);
        assert!(head.body.is_empty());
        assert_eq!(head.header("content-length"), page(path).await.body.len().to_string(), "{path}");
    }
}

#[tokio::test]
async fn a_page_may_load_only_from_this_service() {
    for path in PAGES {
        let answer = page(path).await;
        let policy = answer.header("content-security-policy");
        for rule in [
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "connect-src 'self'",
            "img-src 'self' data: blob:",
            "frame-ancestors 'none'",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
        ] {
            assert!(policy.split(';').any(|own| own.trim() == rule), "{path}: {rule} in {policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(answer.header("referrer-policy"), "no-referrer");
        assert_eq!(answer.header("x-frame-options"), "DENY");
        assert_eq!(answer.header("cache-control"), "no-cache", "{path}");
        let text = answer.text();
        for needs_leave in ["<style", "style=", "<script>", "onload=", "onclick=", "http://", "https://"] {
            assert!(!text.contains(needs_leave), "{path}: {needs_leave}");
        }
    }
}

#[tokio::test]
async fn parts_are_kept_for_good_under_the_version_that_the_page_names() {
    let taquin = shared().await;
    for path in PAGES {
        let parts = parts(&page(path).await);
        assert!(parts.len() > 5, "{parts:?}");
        for part in &parts {
            let answer = taquin.get(part).await.expect(200);
            assert_eq!(answer.header("cache-control"), "public, max-age=31536000, immutable", "{part}");
            let media_type = match part.rsplit_once('.').map(|(_, ending)| ending) {
                Some("js") => "text/javascript",
                Some("css") => "text/css",
                _ => "image/svg+xml",
            };
            assert_eq!(answer.media_type(), media_type, "{part}");
            let again = taquin.send(Question::get(part).header("if-none-match", answer.header("etag"))).await;
            assert_eq!(again.status, 304, "{part}");
        }
    }
    let other = taquin.get("/web/0123456789abcdef/board.js").await.expect(200);
    assert_eq!(other.header("cache-control"), "no-cache", "another version is not the one it is called");
    taquin.get("/web/0123456789abcdef/nothing.js").await.problem("not-found");
    taquin.get("/web/board.js").await.problem("not-found");
}

#[tokio::test]
async fn documents_are_compressed_for_clients_that_accept_gzip() {
    let taquin = shared().await;
    for target in ["/docs", "/openapi.yaml", "/openapi.json", "/web/any/main.js", "/web/any/playground.css"] {
        let plain = taquin.get(target).await.expect(200);
        assert_eq!(plain.header("content-encoding"), "", "{target}");
        let ask = Question::get(target).header("accept-encoding", "gzip, deflate, br, zstd");
        let packed = crate::client::unchecked(taquin.addr(), &ask).await.expect(200);
        assert_eq!(packed.header("content-encoding"), "gzip", "{target}");
        assert!(packed.header("vary").contains("Accept-Encoding"), "{target}");
        assert_eq!(packed.header("etag"), plain.header("etag"), "{target}: a weak tag is that of the content");
        let mut unpacked = Vec::new();
        GzDecoder::new(&packed.body[..]).read_to_end(&mut unpacked).expect("gzip");
        assert_eq!(unpacked, plain.body, "{target}");
    }
}

#[tokio::test]
async fn a_page_is_light() {
    let taquin = shared().await;
    let mut weight = 0;
    for target in parts(&page("/").await) {
        let ask = Question::get(&target).header("accept-encoding", "gzip");
        weight += crate::client::unchecked(taquin.addr(), &ask).await.expect(200).body.len();
    }
    assert!((10_000..100_000).contains(&weight), "{weight} bytes");
}
