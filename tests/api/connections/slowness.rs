//! Slow clients.

use std::io::Write;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use super::client::{Client, HARD, Service, TIMEOUT, until};

/// Lists the first expansions of a 3×3 search.
const LARGE: &str = "/solve?board=867254301&algorithm=breadth_first&include=expansions";
/// Requests for it, whose responses together are larger than the buffers of the system.
const REQUESTS: usize = 32;

const MILLISECOND: Duration = Duration::from_millis(1);

/// Asserts a minimum duration. The upper bound is loose, because the machine may be busy.
fn took(begun: Instant, least: Duration) {
    let time = begun.elapsed();
    assert!((least..TIMEOUT / 2).contains(&time), "{time:?}");
}

/// Writes a byte at intervals until the connection is closed.
fn drip(client: &mut Client, byte: u8) {
    let mut stream = client.stream.try_clone().expect("a stream");
    let writer = thread::spawn(move || {
        while stream.write_all(&[byte]).is_ok() {
            sleep(20 * MILLISECOND);
        }
    });
    client.end();
    writer.join().expect("a writer");
}

#[test]
fn headers_that_do_not_end_are_cut_off() {
    let service = Service::start(&["--header-timeout=400ms", "--keep-alive-timeout=1h"]);
    let begun = Instant::now();
    let mut client = service.connect();
    client.write("GET /livez HTTP/1.1\r\nHost: ");
    drip(&mut client, b'x');
    took(begun, 400 * MILLISECOND);
    service.get("/livez").expect(200);
}

#[test]
fn a_silent_connection_is_closed() {
    let service = Service::start(&["--header-timeout=400ms", "--keep-alive-timeout=1h"]);
    let begun = Instant::now();
    service.connect().end();
    took(begun, 400 * MILLISECOND);
}

#[test]
fn a_body_that_does_not_end_is_answered_408() {
    let service = Service::start(&["--body-timeout=300ms", "--header-timeout=1h", "--keep-alive-timeout=1h"]);
    for framing in ["Content-Length: 60000", "Transfer-Encoding: chunked"] {
        let mut client = service.connect();
        client
            .write(format!("POST /solve HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\n{framing}\r\n\r\n3\r\n8 6"));
        let answer = client.answer().expect(408);
        assert!(answer.body.contains("/problems/request-timeout"), "{answer:?}");
        // The rest of the body must not be read as a request.
        assert_eq!(answer.connection, "close");
        client.end();
    }
}

#[test]
fn a_connection_may_be_idle_for_the_keep_alive_timeout_and_no_longer() {
    let service = Service::start(&["--header-timeout=200ms", "--keep-alive-timeout=3s"]);
    let mut client = service.connect();
    client.get("/livez").expect(200);
    for _ in 0..3 {
        assert!(client.is_quiet(600 * MILLISECOND), "the header time-out does not count here");
        client.get("/livez").expect(200);
    }
    let begun = Instant::now();
    client.get("/livez").expect(200);
    client.end();
    took(begun, Duration::from_secs(3));
}

#[test]
fn later_headers_have_the_header_timeout_from_their_first_byte() {
    let service = Service::start(&["--header-timeout=1500ms", "--keep-alive-timeout=1h"]);
    let mut client = service.connect();
    client.get("/livez").expect(200);
    assert!(client.is_quiet(1700 * MILLISECOND));
    client.write("GET /livez HTT");
    sleep(50 * MILLISECOND);
    client.write("P/1.1\r\nHost: x\r\n\r\n");
    client.answer().expect(200);
    assert!(client.is_quiet(1700 * MILLISECOND));
    let begun = Instant::now();
    drip(&mut client, b'G');
    took(begun, 1500 * MILLISECOND);
}

#[test]
fn headers_that_begin_with_the_request_before_have_the_header_timeout() {
    let service = Service::start(&["--header-timeout=1s", "--keep-alive-timeout=1h"]);
    let begun = Instant::now();
    let mut client = service.connect();
    client.write("GET /livez HTTP/1.1\r\nHost: x\r\n\r\nGET /livez HTT");
    client.answer().expect(200);
    client.end();
    took(begun, 1000 * MILLISECOND);
    // An empty line is no request.
    let mut client = service.connect();
    client.write("GET /livez HTTP/1.1\r\nHost: x\r\n\r\n\r\n");
    client.answer().expect(200);
    assert!(client.is_quiet(1500 * MILLISECOND));
    client.get("/livez").expect(200);
}

#[test]
fn a_client_that_does_not_read_is_disconnected() {
    let service = Service::start(&["--write-timeout=1500ms"]);
    let begun = Instant::now();
    let request = format!("GET {LARGE} HTTP/1.1\r\nHost: x\r\n\r\n");
    let mut stalled = service.connect();
    stalled.write(request.repeat(REQUESTS));
    assert_ne!(stalled.stream.peek(&mut [0]).expect("an answer that begins"), 0);
    service.get("/solve?board=867254301").expect(200);
    // The response waits in memory, so a stalled client blocks no worker.
    service.get("/solve?board=867254301&algorithm=ida_star").expect(200);
    until("the connection is reset", || stalled.stream.take_error().expect("an option").is_some());
    took(begun, 1500 * MILLISECOND);
    assert!(stalled.rest().len() < 10_000_000, "the system's buffers do not hold it all");

    let mut slow = service.connect();
    slow.write(request.repeat(REQUESTS - 1));
    slow.write(format!("GET {LARGE} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
    sleep(500 * MILLISECOND);
    let answers = slow.rest();
    assert_eq!(answers.matches("HTTP/1.1 200 OK\r\n").count(), REQUESTS);
    assert!(answers.len() > 10_000_000 && answers.ends_with("]}"), "a client that reads in time gets every byte");
}

#[test]
fn a_search_may_take_longer_than_any_of_these() {
    let service = Service::start(&[
        "--header-timeout=300ms",
        "--body-timeout=300ms",
        "--keep-alive-timeout=1s",
        "--write-timeout=300ms",
    ]);
    let mut client = service.connect();
    for _ in 0..2 {
        let begun = Instant::now();
        client.get(&format!("{HARD}&limits.time_ms=1500")).expect(422);
        took(begun, 1500 * MILLISECOND);
    }
    client.get("/livez").expect(200);
}

#[test]
fn idle_and_silent_connections_end_at_once_when_the_service_does() {
    let mut service = Service::start(&["--shutdown-grace=1h", "--header-timeout=1h", "--keep-alive-timeout=1h"]);
    let mut clients = [service.connect(), service.connect(), service.connect()];
    clients[1].get("/livez").expect(200);
    clients[2].get("/livez").expect(200);
    clients[2].get("/livez").expect(200);
    service.start_shutdown();
    for client in &mut clients {
        client.end();
    }
    until("the service has stopped", || service.has_stopped());
}
