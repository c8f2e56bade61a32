//! Connections that reach their maximum age.

use std::thread::sleep;
use std::time::Duration;

use super::client::{Client, HARD, Service, gauge, until};

const GET: &str = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";

/// Every connection is older than this before its first request.
const NO_AGE: &str = "--max-connection-age=1ms";

/// A connection that has its maximum age.
fn old(service: &Service) -> Client {
    let client = service.connect();
    sleep(Duration::from_millis(20));
    client
}

/// A connection that began this request before its maximum age, which is a second or more. A machine that is very busy
/// may need several attempts.
fn young(service: &Service, request: &str) -> Client {
    for _ in 0..20 {
        let mut client = service.connect();
        client.write(request);
        client.until("\r\n\r\n");
        if !client.text().contains("connection: close") {
            return client;
        }
    }
    panic!("all connections end with their first response");
}

/// Another client on this connection, which has read nothing yet.
fn anew(client: &Client) -> Client {
    Client::of(client.stream.try_clone().expect("a stream"))
}

#[test]
fn the_next_response_of_an_old_connection_is_its_last() {
    let service = Service::start(&[NO_AGE, "--header-timeout=1h", "--keep-alive-timeout=1h"]);
    let post =
        "POST /solve HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 17\r\n\r\n8 6 7/2 5 4/3 0 1";
    let stream = "GET /solve?board=867254301 HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n";
    for (request, end) in [(GET, "{\"status\":\"ok\"}"), (post, "}}"), (stream, "\r\n0\r\n\r\n")] {
        let mut client = old(&service);
        client.write(request);
        let response = client.rest();
        assert!(response.starts_with("HTTP/1.1 200 ") && response.contains("\r\nconnection: close\r\n"), "{response}");
        assert!(response.ends_with(end), "{response:?}");
    }
}

#[test]
fn connections_have_no_maximum_age_by_default_and_keep_theirs_until_it_is_over() {
    for flags in [[].as_slice(), &["--max-connection-age=24h"]] {
        let service = Service::start(flags);
        let mut client = old(&service);
        for _ in 0..200 {
            assert_eq!(client.get("/livez").expect(200).connection, "");
        }
    }
}

#[test]
fn requests_that_have_arrived_get_their_responses_first() {
    let service = Service::start(&[NO_AGE, "--header-timeout=1h", "--keep-alive-timeout=1h"]);
    let body =
        "POST /solvable HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 17\r\n\r\n8 6 7/2 5 4/3 0 1";
    let chunks = "POST /solvable HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n\
                  5\r\n8 6 7\r\nc\r\n/2 5 4/3 0 1\r\n0\r\n\r\n";
    let search = format!("GET {HARD}&limits.time_ms=50 HTTP/1.1\r\nHost: x\r\n\r\n");
    let mut client = old(&service);
    client.write([GET, body, chunks, &search, body, GET].concat());
    let answers: Vec<(u16, String)> = (0..6).map(|_| client.answer()).map(|it| (it.status, it.connection)).collect();
    let statuses: Vec<u16> = answers.iter().map(|(status, _)| *status).collect();
    assert_eq!(statuses, [200, 200, 200, 422, 200, 200]);
    let announced: Vec<&str> = answers.iter().map(|(_, connection)| &connection[..]).collect();
    assert_eq!(announced, ["", "", "", "", "", "close"]);
    client.end();
}

#[test]
fn a_request_that_arrives_during_a_search_gets_its_response() {
    let service = Service::start(&[NO_AGE]);
    let mut client = old(&service);
    client.write(format!("GET {HARD}&limits.time_ms=3000 HTTP/1.1\r\nHost: x\r\n\r\n"));
    until("the search has begun", || gauge(service.addr, "taquin_workers_busy") == 1);
    client.write(GET);
    assert_eq!(client.answer().expect(422).connection, "");
    assert_eq!(client.answer().expect(200).connection, "close");
    client.end();
}

#[test]
fn a_client_that_pipelines_without_end_is_cut_off_in_time() {
    let service = Service::start(&[NO_AGE]);
    let mut client = old(&service);
    client.write(GET.repeat(400));
    let response = client.rest();
    let answers = response.matches("HTTP/1.1 200 OK\r\n").count();
    assert!((100..400).contains(&answers), "{answers}");
    assert_eq!(response.matches("\r\nconnection: close\r\n").count(), 1);
    assert!(response.ends_with("{\"status\":\"ok\"}"), "the last response is whole: {response:?}");
}

#[test]
fn a_response_that_has_begun_is_not_cut() {
    let service = Service::start(&["--max-connection-age=1s", "--max-time=1h"]);
    let ask = format!("GET {HARD}&limits.time_ms=2500 HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n");
    let mut client = young(&service, &ask);
    client.until("\r\n0\r\n\r\n");
    assert!(client.text().contains("event: problem\n"), "the stream has its end");
    // The connection remains until a response has announced its end.
    let mut client = anew(&client);
    assert_eq!(client.get("/livez").expect(200).connection, "close");
    client.end();
}

#[test]
fn an_old_connection_without_requests_is_closed() {
    let service = Service::start(&["--max-connection-age=1s", "--header-timeout=300ms", "--keep-alive-timeout=1h"]);
    let client = young(&service, GET);
    anew(&client).end();
    // An empty line is no request, although it may be the beginning of one.
    let service = Service::start(&[NO_AGE, "--header-timeout=300ms", "--keep-alive-timeout=1h"]);
    let mut client = old(&service);
    client.write(format!("{GET}\r\n"));
    assert_eq!(client.answer().expect(200).connection, "");
    client.end();
}

#[test]
fn connections_to_the_admin_listener_have_no_maximum_age() {
    let service = Service::start(&[NO_AGE, "--admin-listen=127.0.0.1:0"]);
    let mut client = Client::connect(service.admin_addr.expect("an address"));
    sleep(Duration::from_millis(20));
    for _ in 0..3 {
        assert_eq!(client.get("/metrics").expect(200).connection, "");
    }
}
