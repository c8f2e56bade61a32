//! Boundaries between requests on a connection.

use std::fmt::Write;
use std::time::{Duration, Instant};

use super::client::{Client, Service};

/// A smuggled request, the last one on its connection. A 404 response shows that it was read as a request of its own,
/// which is correct only after a complete request.
const SMUGGLED: &str = "GET /smuggled HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

fn headers(count: usize) -> String {
    (0..count).fold(String::new(), |mut text, n| {
        write!(text, "X-{n}: {n}\r\n").expect("a string");
        text
    })
}

/// Statuses of all responses to these bytes, until the connection ends.
fn statuses(service: &Service, bytes: &str) -> Vec<u16> {
    let mut client = service.connect();
    client.write(bytes);
    let answers = client.rest();
    let starts = answers.match_indices("HTTP/1.1 ").map(|(at, found)| &answers[at + found.len()..]);
    starts.map(|rest| rest[..3].parse().expect("a status")).collect()
}

#[test]
fn pipelined_requests_get_responses_in_order() {
    let service = Service::start(&[]);
    let mut client = service.connect();
    let body = "8 6 7/2 5 4/3 0 1";
    let rest = &body[1..];
    client.write(format!(
        "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n\
         POST /solve HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{body}\
         POST /solve HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n\
         1\r\n8\r\n{:x}\r\n{rest}\r\n0\r\n\r\n\
         GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n\
         GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        body.len(),
        rest.len(),
    ));
    assert!(client.answer().expect(200).body.contains("ok"));
    for _ in 0..2 {
        assert!(client.answer().expect(200).body.contains("\"length\":31"));
    }
    client.answer().expect(404);
    assert_eq!(client.answer().expect(200).connection, "close");
    client.end();
}

#[test]
fn an_unread_body_closes_the_connection() {
    let directory = std::env::temp_dir().join(format!("taquin-unread-body-{}", std::process::id()));
    let service = Service::start(&[&format!("--jobs={}", directory.display())]);
    let body = "x".repeat(60_000);
    for (line, status) in [
        ("POST /nowhere", 404),
        ("PUT /solve", 405),
        ("GET /livez", 200),
        ("POST /solve", 415),
        ("POST /solve?board=%zz", 400),
    ] {
        let mut client = service.connect();
        let length = body.len();
        client.write(format!(
            "{line} HTTP/1.1\r\nHost: x\r\nContent-Type: image/png\r\nContent-Length: {length}\r\n\r\n{body}"
        ));
        assert_eq!(client.answer().expect(status).connection, "close", "{line}");
        client.end();
    }
    for (line, content_type, status) in [
        ("POST /solve", "text/plain", 422),
        ("POST /batch", "text/csv", 422),
        ("POST /jobs", "application/json", 400),
        ("POST /jobs", "application/x-ndjson", 422),
    ] {
        let mut client = service.connect();
        client.write(format!(
            "{line} HTTP/1.1\r\nHost: x\r\nContent-Type: {content_type}\r\nContent-Length: 6\r\n\r\nab,cd\n"
        ));
        assert_eq!(client.answer().expect(status).connection, "", "{line} has read {content_type} to its end");
        client.get("/livez").expect(200);
    }
    drop(service);
    std::fs::remove_dir_all(directory).expect("the directory of the service");
}

#[test]
fn a_broken_body_closes_the_connection() {
    let directory = std::env::temp_dir().join(format!("taquin-broken-body-{}", std::process::id()));
    let service = Service::start(&[&format!("--jobs={}", directory.display())]);
    for (path, content_type) in [
        ("/solve", "application/json"),
        ("/solve", "text/plain"),
        ("/random", "application/json"),
        ("/batch", "application/x-ndjson"),
        ("/jobs", "application/json"),
        ("/jobs", "text/csv"),
    ] {
        for chunks in ["zz\r\n", "5\r\n1230\nx\r\n", "10000000000000011\r\n", "-1\r\n"] {
            let mut client = service.connect();
            client.write(format!(
                "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {content_type}\r\nTransfer-Encoding: \
                 chunked\r\n\r\n{chunks}"
            ));
            let answer = client.answer().expect(400);
            assert_eq!(answer.connection, "close", "{path} {content_type} {chunks:?}");
            client.end();
        }
    }
    drop(service);
    std::fs::remove_dir_all(directory).expect("the directory of the service");
}

#[test]
fn the_path_of_a_problem_is_a_reference() {
    let service = Service::start(&[]);
    for (target, instance) in [
        ("/a\"b", "/a%22b"),
        ("/caf\u{e9}", "/caf%C3%A9"),
        ("/%2e%22", "/%2e%22"),
        ("/50%off", "/50%25off"),
        ("//a:b", "/.//a:b"),
    ] {
        let answer = service.connect().get(target).expect(404);
        assert!(answer.body.contains(&format!("\"instance\":\"{instance}\"")), "{answer:?}");
    }
}

#[test]
fn a_request_has_at_most_a_hundred_headers() {
    let service = Service::start(&[]);
    let mut client = service.connect();
    client.write(format!("GET /livez HTTP/1.1\r\nHost: x\r\n{}\r\n", headers(99)));
    client.answer().expect(200);
    client.write(format!("GET /livez HTTP/1.1\r\nHost: x\r\n{}\r\n", headers(100)));
    expect_rejection(&mut client, 431);
}

#[test]
fn line_and_headers_have_at_most_16_kib() {
    let service = Service::start(&[]);
    for (header, target, status) in [(15 << 10, 0, 200), (20 << 10, 0, 431), (0, 15 << 10, 200), (0, 70_000, 431)] {
        let mut client = service.connect();
        let (header, target) = ("x".repeat(header), "x".repeat(target));
        client.write(format!("GET /livez?{target} HTTP/1.1\r\nHost: x\r\nX: {header}\r\n\r\n"));
        if status == 200 {
            client.answer().expect(200);
        } else {
            expect_rejection(&mut client, status);
        }
    }
    let mut client = service.connect();
    client.write(format!("GET /livez HTTP/1.1\r\n{}", "X: y\r\n".repeat(20_000)));
    expect_rejection(&mut client, 431);
}

/// Asserts a response by hyper itself: a status, no body, and a closed connection.
fn expect_rejection(client: &mut Client, status: u16) {
    let answer = client.answer().expect(status);
    assert_eq!((answer.connection.as_str(), answer.body.as_str()), ("close", ""), "{answer:?}");
    assert!(answer.head.contains("content-length: 0\r\n"), "{answer:?}");
    client.end();
}

#[test]
fn a_request_without_a_valid_host_is_refused() {
    let service = Service::start(&[]);
    for host in ["", "Host: x\r\nHost: x\r\n", "Host: a b\r\n", "Host: http://a/\r\n", "Host: a:b\r\n"] {
        let mut client = service.connect();
        client.write(format!("GET /livez HTTP/1.1\r\n{host}\r\n"));
        let answer = client.answer().expect(400);
        assert!(answer.body.contains("/problems/invalid-header") && answer.body.contains("Host"), "{answer:?}");
        assert!(answer.head.contains("x-request-id: "), "{answer:?}");
        client.end();
    }
    service.connect().get("http://a.example/livez").expect(200);
    let mut client = service.connect();
    client.write("GET /livez HTTP/1.0\r\n\r\n");
    client.until("ok");
}

#[test]
fn a_transfer_coding_other_than_chunked_is_not_implemented() {
    let service = Service::start(&[]);
    for (codings, status, problem) in [
        ("Transfer-Encoding: gzip, chunked", 501, "/problems/not-implemented"),
        ("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", 501, "/problems/not-implemented"),
        ("Transfer-Encoding: chunked, chunked", 400, "/problems/invalid-header"),
    ] {
        let mut client = service.connect();
        let post = "POST /solve HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n";
        client.write(format!("{post}{codings}\r\n\r\n11\r\n8 6 7/2 5 4/3 0 1\r\n0\r\n\r\n{SMUGGLED}"));
        let answer = client.answer().expect(status);
        assert!(answer.body.contains(problem), "{answer:?}");
        client.end();
    }
}

#[test]
fn a_length_of_any_size_is_refused() {
    let service = Service::start(&[]);
    for (length, status) in [
        ("9223372036854775808", 413),
        ("18446744073709551613", 413),
        // hyper itself refuses these.
        ("18446744073709551614", 431),
        ("18446744073709551615", 431),
        ("18446744073709551616", 400),
        ("100000000000000000000000000000", 400),
    ] {
        let mut client = service.connect();
        client.write(format!(
            "POST /solve HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n{SMUGGLED}"
        ));
        assert_eq!(client.answer().expect(status).connection, "close", "{length}");
        client.end();
    }
}

#[test]
fn bytes_that_are_not_http_are_rejected() {
    let service = Service::start(&[]);
    for bytes in [
        "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\u{fc}\u{3}\u{3}\r\n\r\n",
        "GET /livez\r\n\r\n",
        "GET /livez HTTP/2.0\r\n\r\n",
        "GET  /livez HTTP/1.1\r\n\r\n",
        "G(T /livez HTTP/1.1\r\n\r\n",
        "GET /li vez HTTP/1.1\r\n\r\n",
        "GET /livez HTTP/1.1\r\nHost : x\r\n\r\n",
        "GET /livez HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n",
        "GET /livez HTTP/1.1\r\nHost: x\ry\r\n\r\n",
        "GET /livez HTTP/1.1\r\nHost: x\0y\r\n\r\n",
        "GET /livez HTTP/1.1\r\nno colon\r\n\r\n",
        "GET /livez HTTP/1.1\r\n: no name\r\n\r\n",
    ] {
        let mut client = service.connect();
        client.write(bytes);
        expect_rejection(&mut client, 400);
    }
}

#[test]
fn connect_and_upgrade_are_rejected() {
    let service = Service::start(&[]);
    let mut client = service.connect();
    client.write("CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n");
    client.answer().expect(404);
    client.get("/livez").expect(200);
}

#[test]
fn the_preface_of_http_2_ends_the_connection() {
    let service = Service::start(&[]);
    let mut client = service.connect();
    let begun = Instant::now();
    client.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    client.end();
    assert!(begun.elapsed() < Duration::from_secs(3), "the connection lingers: {:?}", begun.elapsed());
    let mut client = service.connect();
    client.write("GET /livez HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n");
    client.answer().expect(200);
    client.get("/livez").expect(200);
}

#[test]
fn no_request_hides_in_another() {
    let service = Service::start(&[]);
    let post = "POST /solve HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n";
    let board = "8 6 7/2 5 4/3 0 1";
    let length = board.len();
    let hidden = SMUGGLED.len();
    for (case, bytes, expected) in [
        (
            "two lengths that differ",
            format!("{post}Content-Length: {length}\r\nContent-Length: {}\r\n\r\n{board}{SMUGGLED}", length + hidden),
            vec![400],
        ),
        ("a list of lengths", format!("{post}Content-Length: {length}, {length}\r\n\r\n{board}{SMUGGLED}"), vec![400]),
        ("a length with a sign", format!("{post}Content-Length: +{length}\r\n\r\n{board}{SMUGGLED}"), vec![400]),
        (
            "a length too large",
            format!("{post}Content-Length: 18446744073709551617\r\n\r\n{board}{SMUGGLED}"),
            vec![400],
        ),
        ("chunked, not last", format!("{post}Transfer-Encoding: chunked, identity\r\n\r\n{SMUGGLED}"), vec![400]),
        ("an unknown coding", format!("{post}Transfer-Encoding: xchunked\r\n\r\n{SMUGGLED}"), vec![400]),
        (
            "a space before the colon",
            format!("{post}Transfer-Encoding : chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n{SMUGGLED}"),
            vec![400],
        ),
        (
            "a folded coding",
            format!("{post}Transfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n{SMUGGLED}"),
            vec![400],
        ),
        (
            "chunked in HTTP/1.0",
            format!("{post}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n{SMUGGLED}").replacen("HTTP/1.1", "HTTP/1.0", 1),
            vec![400],
        ),
        // With both a length and chunks, the connection closes after the body; the rest is not read.
        (
            "a length and chunks",
            format!(
                "{post}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n{length:x}\r\n{board}\r\n0\r\n\r\n{SMUGGLED}"
            ),
            vec![200],
        ),
        (
            "chunks and a length",
            format!(
                "{post}Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n{length:x}\r\n{board}\r\n0\r\n\r\n{SMUGGLED}"
            ),
            vec![200],
        ),
        (
            "a chunk size too large",
            format!("{post}Transfer-Encoding: chunked\r\n\r\n10000000000000011\r\n{board}\r\n0\r\n\r\n{SMUGGLED}"),
            vec![400],
        ),
        (
            "a chunk size that is none",
            format!("{post}Transfer-Encoding: chunked\r\n\r\n0x11\r\n{board}\r\n0\r\n\r\n{SMUGGLED}"),
            vec![400],
        ),
        (
            "a chunk longer than its size",
            format!("{post}Transfer-Encoding: chunked\r\n\r\n1\r\n{board}\r\n0\r\n\r\n{SMUGGLED}"),
            vec![400],
        ),
        (
            "chunks whose lines end with LF alone",
            format!("{post}Transfer-Encoding: chunked\r\n\r\n{length:x}\n{board}\n0\n\n{SMUGGLED}"),
            vec![400],
        ),
        // Unambiguous: equal duplicate lengths, and header lines that end with only LF.
        (
            "the same length twice",
            format!("{post}Content-Length: {length}\r\nContent-Length: {length}\r\n\r\n{board}{SMUGGLED}"),
            vec![200, 404],
        ),
        (
            "lines that end with LF",
            format!("{post}Content-Length: {length}\r\n\r\n{board}{SMUGGLED}").replace("\r\n", "\n"),
            vec![200, 404],
        ),
        // An unread body is not parsed as a request, and the connection closes after it.
        (
            "a body where none is read",
            format!("GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: {hidden}\r\n\r\n{SMUGGLED}{SMUGGLED}"),
            vec![200],
        ),
        (
            "a body of an unsupported method",
            format!("PUT /livez HTTP/1.1\r\nHost: x\r\nContent-Length: {hidden}\r\n\r\n{SMUGGLED}{SMUGGLED}"),
            vec![405],
        ),
    ] {
        assert_eq!(statuses(&service, &bytes), expected, "{case}: {bytes:?}");
    }
}
