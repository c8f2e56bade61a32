//! Services with and without tokens, a rate limit, and allowed origins.

use std::path::PathBuf;

use hyper::Method;
use serde_json::json;

use crate::answer::Answer;
use crate::client::{Client, Service, shared};
use crate::load::{begin, hard, quick};
use crate::question::Question;

const BOARD: &str = "8 6 7/2 5 4/3 0 1";
const TOKENS: [&str; 2] = ["first-token-of-two", "SECOND/token+of~two=="];

/// A file with two tokens, removed after the test.
struct TokenFile(PathBuf);

impl TokenFile {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("taquin-api-{}-{name}", std::process::id()));
        let text = format!("# two of them\n{}\n\n{}\n", TOKENS[0], TOKENS[1]);
        std::fs::write(&path, text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        Self(path)
    }

    async fn service(&self, flags: &[&str]) -> Service {
        let path = self.0.to_string_lossy();
        Service::start(&[&["--token-file", &*path], flags].concat()).await
    }
}

impl Drop for TokenFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn solve() -> Question {
    Question::post("/solve").json(&json!({ "board": BOARD }))
}

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

#[tokio::test]
async fn pages_of_other_sites_cannot_start_searches() {
    let service = Service::start(&[]).await;
    let taquin = service.client();
    let from_page = |question: Question| {
        question
            .header("sec-fetch-site", "cross-site")
            .header("sec-fetch-mode", "no-cors")
            .header("sec-fetch-dest", "empty")
    };
    // What a page sends with `fetch(url, {method: 'POST', mode: 'no-cors', body: '8 6 7/2 5 4/3 0 1'})`.
    let answer = taquin.send(from_page(Question::post("/solve").body("text/plain;charset=UTF-8", BOARD))).await;
    let problem = answer.problem("cross-site-request");
    assert!(problem["detail"].as_str().unwrap_or_default().contains("--cors-origins"), "{problem}");
    for target in ["/solve?board=867254301", "/random", "/hint?board=867254301", "/compare?board=867254301"] {
        taquin.send(from_page(Question::get(target))).await.problem("cross-site-request");
    }
    // Each line that a page sends as text would be solved.
    let batch = Question::post("/batch").body("text/plain;charset=UTF-8", BOARD);
    taquin.send(from_page(batch)).await.problem("cross-site-request");
    for target in ["/", "/docs", "/livez", "/openapi.json", "/info"] {
        taquin.send(from_page(Question::get(target))).await.expect(200);
    }
    let link = Question::get("/solve?board=867254301").header("sec-fetch-site", "cross-site");
    taquin.send(link.header("sec-fetch-mode", "navigate").header("sec-fetch-dest", "document")).await.expect(200);
    taquin.send(solve().header("sec-fetch-site", "same-origin")).await.expect(200);
    let metrics = taquin.get("/metrics").await.expect(200);
    assert!(metrics.text().contains("taquin_refusals_total{reason=\"cross_site\"} 6\n"), "{metrics}");
    assert!(metrics.text().contains("taquin_search_expanded_total{"), "the link was followed");

    let service = Service::start(&["--cors-origins=https://example.org"]).await;
    let taquin = service.client();
    let from = |origin| from_page(solve()).header("origin", origin);
    taquin.send(from("https://example.org")).await.expect(200);
    taquin.send(from("https://example.com")).await.problem("cross-site-request");
}

#[tokio::test]
async fn with_allowed_hosts_other_host_names_are_rejected() {
    let service = Service::start(&["--allowed-hosts=taquin.example"]).await;
    let taquin = service.client();
    taquin.get("/random").await.expect(200);
    for (path, host, status) in [
        ("/solve?board=867254301", "taquin.example:8080", 200),
        ("/solve?board=867254301", "evil.example:8080", 421),
        ("/nowhere", "evil.example", 421),
        ("/", "evil.example", 421),
        ("/livez", "evil.example", 200),
    ] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let answer = taquin.raw(&request).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{host}{path}: {answer}");
        assert_eq!(answer.contains("/problems/unknown-host"), status == 421, "{answer}");
    }
}

/// Statuses of a request sent this many times.
async fn statuses(client: &Client, question: Question, times: usize) -> Vec<u16> {
    let mut statuses = Vec::new();
    for _ in 0..times {
        statuses.push(client.send(question.clone()).await.status);
    }
    statuses
}

#[tokio::test]
async fn without_guards_no_token_is_required_and_nothing_is_counted() {
    let taquin = shared().await;
    let question = solve().header("authorization", "Bearer x").header("origin", "https://example.org");
    let answer = taquin.send(question).await.expect(200);
    assert_eq!(answer.header("access-control-allow-origin"), "");
    assert_eq!(answer.header("vary"), "Accept");
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
    assert_eq!(statuses(&taquin, Question::get("/solvable?board=123456780"), 50).await, [200; 50]);
}

#[tokio::test]
async fn with_tokens_one_of_them_is_needed() {
    let file = TokenFile::new("needed");
    let service = file.service(&[]).await;
    let taquin = service.client();
    for token in TOKENS {
        for scheme in ["Bearer", "bearer", "BEARER"] {
            taquin.send(solve().header("authorization", &format!("{scheme} {token}"))).await.expect(200);
        }
    }
    let challenge = |answer: &Answer| answer.header("www-authenticate").to_owned();
    for question in [solve(), solve().header("authorization", "Basic Zmlyc3Q6dG9rZW4="), Question::get("/info")] {
        let answer = taquin.send(question).await;
        assert_eq!(challenge(&answer), r#"Bearer realm="taquin""#, "{answer}");
        answer.problem("unauthorized");
    }
    let first = bearer(TOKENS[0]);
    for wrong in [
        "Bearer",
        "Bearer ",
        "Bearer first-token-of-tw",
        "Bearer first-token-of-twoo",
        "Bearer FIRST-TOKEN-OF-TWO",
        "Bearer first-token-of-two,SECOND/token+of~two==",
        "Bearer SECOND/token+of~two",
        "Bearer # two of them",
    ] {
        let answer = taquin.send(solve().header("authorization", wrong)).await;
        assert_eq!(challenge(&answer), r#"Bearer realm="taquin", error="invalid_token""#, "{wrong}");
        answer.problem("unauthorized");
    }
    let twice = solve().header("authorization", &first).header("authorization", &first);
    taquin.send(twice).await.problem("unauthorized");
    let text = taquin.send(solve().accept("text/plain")).await.expect(401);
    assert!(text.text().starts_with("401 A valid token is required\n"), "{text}");
}

#[tokio::test]
async fn with_tokens_probes_and_documents_are_open_and_all_else_is_not() {
    let file = TokenFile::new("open");
    let service = file.service(&[]).await;
    let taquin = service.client();
    let open = ["/livez", "/readyz", "/healthz", "/", "/openapi.yaml", "/openapi.json", "/problems/unauthorized"];
    for path in open.into_iter().chain(["/docs", "/web/any/board.js"]) {
        taquin.get(path).await.expect(200);
    }
    for path in ["/solve", "/solvable?board=123456780", "/random", "/info", "/nowhere", "/solve/"] {
        taquin.get(path).await.problem("unauthorized");
    }
    taquin.send(Question::new(Method::DELETE, "/solve")).await.problem("unauthorized");
    taquin.send(Question::post("/batch").body("text/csv", BOARD)).await.problem("unauthorized");
    taquin.send(Question::new(Method::OPTIONS, "/solve")).await.expect(204);
    let known = |question: Question| question.header("authorization", &bearer(TOKENS[1]));
    taquin.send(known(Question::get("/nowhere"))).await.problem("not-found");
    taquin.send(known(Question::new(Method::DELETE, "/solve"))).await.problem("method-not-allowed");
    taquin.send(known(Question::get("/info"))).await.expect(200);
}

#[tokio::test]
async fn a_client_above_its_rate_limit_gets_retry_after() {
    let service = Service::start(&["--rate-limit=6/1m", "--rate-burst=3"]).await;
    let taquin = service.client();
    assert_eq!(statuses(&taquin, solve(), 5).await, [200, 200, 200, 429, 429]);
    let answer = taquin.get("/random").await;
    let seconds: u64 = answer.header("retry-after").parse().expect("seconds");
    assert!((1..=10).contains(&seconds), "{answer}");
    let problem = answer.problem("rate-limited");
    assert!(problem["detail"].as_str().unwrap_or_default().contains("6/60s"), "{problem}");
    // A second connection counts as the same client, and `X-Forwarded-For` is ignored.
    let other = service.client();
    other.send(solve().header("x-forwarded-for", "203.0.113.7")).await.problem("rate-limited");
    for path in ["/livez", "/readyz", "/healthz", "/", "/docs", "/openapi.json", "/problems/rate-limited", "/info"] {
        assert_eq!(statuses(&taquin, Question::get(path), 5).await, [200; 5], "{path}");
    }
    taquin.send(Question::new(Method::OPTIONS, "/solve")).await.expect(204);
}

#[tokio::test]
async fn a_client_that_waited_is_accepted_again() {
    let service = Service::start(&["--rate-limit=10/s", "--rate-burst=1"]).await;
    let taquin = service.client();
    assert_eq!(taquin.send(solve()).await.status, 200);
    let mut rejected = 0;
    while taquin.send(solve()).await.status == 429 {
        rejected += 1;
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        assert!(rejected < 1_000);
    }
}

#[tokio::test]
async fn behind_a_trusted_proxy_the_client_is_the_forwarded_address() {
    let service = Service::start(&["--rate-limit=1/h", "--trusted-proxies=1"]).await;
    let taquin = service.client();
    let by = |forwarded: &str| solve().header("x-forwarded-for", forwarded);
    assert_eq!(statuses(&taquin, by("203.0.113.1"), 2).await, [200, 429]);
    assert_eq!(statuses(&taquin, by("203.0.113.2"), 2).await, [200, 429]);
    // A client cannot forge its address: only the last entry, added by the proxy, counts.
    taquin.send(by("6.6.6.6, 203.0.113.1")).await.problem("rate-limited");
    taquin.send(by("6.6.6.6").header("x-forwarded-for", "203.0.113.2:4711")).await.problem("rate-limited");
    taquin.send(by("::ffff:203.0.113.1")).await.problem("rate-limited");
    // All addresses of an IPv6 network count as one client.
    assert_eq!(statuses(&taquin, by("2001:db8::1"), 1).await, [200]);
    taquin.send(by("[2001:db8::2]")).await.problem("rate-limited");
    assert_eq!(statuses(&taquin, by("2001:db8:0:1::1"), 1).await, [200]);
    // With an invalid header, the request counts for the address of the peer.
    assert_eq!(statuses(&taquin, solve(), 1).await, [200]);
    for forwarded in ["", "unknown", "6.6.6.6,", "6.6.6.6, x"] {
        taquin.send(by(forwarded)).await.problem("rate-limited");
    }
}

#[tokio::test]
async fn two_trusted_proxies_add_an_entry_each() {
    let service = Service::start(&["--rate-limit=1/h", "--trusted-proxies=2"]).await;
    let taquin = service.client();
    let by = |forwarded: &str| solve().header("x-forwarded-for", forwarded);
    assert_eq!(statuses(&taquin, by("203.0.113.1, 10.0.0.1"), 1).await, [200]);
    taquin.send(by("6.6.6.6, 203.0.113.1, 10.0.0.2")).await.problem("rate-limited");
    assert_eq!(statuses(&taquin, by("203.0.113.2"), 1).await, [200], "too few entries: the peer");
    taquin.send(by("203.0.113.3")).await.problem("rate-limited");
}

#[tokio::test]
async fn pages_of_allowed_origins_can_read_all_responses() {
    let file = TokenFile::new("origins");
    let origin = "https://example.org";
    let flags = ["--cors-origins=https://example.org,http://localhost:3000", "--rate-limit=2/h"];
    let service = file.service(&flags).await;
    let taquin = service.client();
    let preflight = || {
        let options = Question::new(Method::OPTIONS, "/solve").header("origin", origin);
        options
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "authorization,content-type")
    };
    for _ in 0..5 {
        let answer = taquin.send(preflight()).await.expect(204);
        assert_eq!(answer.header("access-control-allow-origin"), origin);
        let allowed: Vec<_> = answer.header("access-control-allow-headers").split(',').collect();
        for name in ["authorization", "if-match", "if-range", "idempotency-key", "content-digest", "last-event-id"] {
            assert!(allowed.contains(&name), "{name}: {answer}");
        }
        assert!(!answer.headers.contains_key("access-control-allow-credentials"), "{answer}");
    }
    let from = |question: Question| question.header("origin", origin);
    let known = |question: Question| from(question).header("authorization", &bearer(TOKENS[0]));
    for (question, status) in [
        (from(solve()), 401),
        (known(Question::post("/solve").json(&json!({ "board": "1 2 3/4 5 6/8 7 0" }))), 422),
        (known(solve()), 200),
        (known(solve()), 429),
        (from(Question::get("/livez")), 200),
    ] {
        let answer = taquin.send(question).await.expect(status);
        assert_eq!(answer.header("access-control-allow-origin"), origin, "{answer}");
        assert!(answer.header("access-control-expose-headers").contains("retry-after"), "{answer}");
        assert_eq!(answer.header("vary"), "Accept, origin");
    }
    let stranger = taquin.send(Question::get("/livez").header("origin", "https://example.com")).await.expect(200);
    assert_eq!(stranger.header("access-control-allow-origin"), "");
    assert_eq!(stranger.header("vary"), "Accept, origin");
}

#[tokio::test]
async fn pages_of_all_origins_can_read_an_overload() {
    let service = Service::start(&["--cors-origins=*", "--workers=1", "--queue=0"]).await;
    let taquin = service.client();
    let busy = begin(&taquin, &hard(&taquin, "a").await).await;
    let answer = taquin.send(quick().header("origin", "https://example.org")).await.expect(503);
    assert_eq!((answer.header("access-control-allow-origin"), answer.header("vary")), ("*", "Accept"));
    busy.hang_up();
}

#[tokio::test]
async fn a_page_for_a_browser_is_protected() {
    let taquin = shared().await;
    let page = taquin.send(Question::get("/problems/unauthorized").accept("text/html")).await.expect(200);
    assert!(page.header("content-security-policy").starts_with("default-src 'none';"), "{page}");
    assert!(page.header("content-security-policy").contains("frame-ancestors 'none'"), "{page}");
    for (name, value) in [
        ("referrer-policy", "no-referrer"),
        ("x-frame-options", "DENY"),
        ("cross-origin-opener-policy", "same-origin"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(page.header(name), value);
    }
}
