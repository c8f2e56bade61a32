//! Streamed responses.

use std::net::{SocketAddr, TcpStream};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, SocketType, connect, socket, sockopt};

use super::client::{Client, HARD, Service, gauge, until};

const MILLISECOND: Duration = Duration::from_millis(1);

/// Requests the events of a search that runs for minutes.
fn ask(client: &mut Client) {
    client.write(format!("GET {HARD} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n"));
}

fn until_idle(service: &Service) {
    until("the search has stopped", || gauge(service.addr, "taquin_jobs_in_progress") == 0);
    until("its worker is free", || gauge(service.addr, "taquin_workers_busy") == 0);
    // The remaining connection reads the metrics.
    until("its connection is closed", || gauge(service.addr, "taquin_http_connections") == 1);
}

/// A connection with a minimal receive buffer.
pub(crate) fn narrow(addr: SocketAddr) -> Client {
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
    sockopt::set_socket_recv_buffer_size(&socket, 1).expect("an option");
    connect(&socket, &addr).expect("a connection");
    Client::of(TcpStream::from(socket))
}

#[test]
fn events_come_as_they_happen() {
    let service = Service::start(&[]);
    let rows: Vec<String> = service
        .get("/random?rows=6&cols=6&seed=a&as=text")
        .expect(200)
        .body
        .lines()
        .map(|row| row.trim().to_owned())
        .collect();
    let board = rows.join("/").split_whitespace().collect::<Vec<_>>().join("+");
    let mut client = service.connect();
    let begun = Instant::now();
    let head = "HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream";
    client.write(format!("GET /solve?board={board}&limits.time_ms=2000 {head}\r\n\r\n"));
    let came = ["\r\n\r\n", "event: solution\n", "event: progress\n", "event: result\n"].map(|text| {
        client.until(text);
        begun.elapsed()
    });
    assert!(came[3] >= 1900 * MILLISECOND, "{came:?}");
    assert!(came[1] < came[3] - 1000 * MILLISECOND, "well before the end: {came:?}");
    assert!(came[2] < came[3] - 700 * MILLISECOND, "well before the end: {came:?}");
    // The stream ends, and the connection stays open.
    client.until("\r\n0\r\n\r\n");
    let mut next = Client::of(client.stream.try_clone().expect("a stream"));
    next.get("/livez").expect(200);
}

#[test]
fn a_stream_that_is_cut_stops_its_search() {
    let service = Service::start(&["--max-time=1h", "--time-limit=1h"]);
    for _ in 0..3 {
        let mut client = service.connect();
        ask(&mut client);
        client.until("event: progress\n");
        assert_eq!(gauge(service.addr, "taquin_jobs_in_progress"), 1);
        drop(client);
        until_idle(&service);
    }
    // The client disconnects before the first byte of the response.
    let mut client = service.connect();
    ask(&mut client);
    until("the search has begun", || gauge(service.addr, "taquin_jobs_in_progress") == 1);
    drop(client);
    until_idle(&service);
    let left = "taquin_http_requests_total{method=\"GET\",route=\"/solve\",status=\"499\"}";
    assert_eq!(gauge(service.addr, left), 4, "each stream ends with an event");
}

#[test]
fn a_search_continues_for_the_remaining_clients() {
    let service = Service::start(&["--max-time=1h", "--time-limit=1h"]);
    let mut clients = [service.connect(), service.connect()];
    for client in &mut clients {
        ask(client);
        client.until("event: progress\n");
    }
    let [first, mut second] = clients;
    assert_eq!(gauge(service.addr, "taquin_jobs_in_progress"), 1, "they share one");
    drop(first);
    second.until("event: progress\n");
    sleep(300 * MILLISECOND);
    assert_eq!(gauge(service.addr, "taquin_jobs_in_progress"), 1);
    drop(second);
    until_idle(&service);
}

#[test]
fn a_client_that_does_not_read_is_disconnected_and_its_search_stops() {
    if !cfg!(target_os = "linux") {
        eprintln!("skipped: other systems wait until their buffers are full");
        return;
    }
    let service = Service::start(&["--max-time=1h", "--time-limit=1h", "--write-timeout=1s"]);
    let mut client = narrow(service.addr);
    ask(&mut client);
    let begun = Instant::now();
    until("the search has begun", || gauge(service.addr, "taquin_jobs_in_progress") == 1);
    until_idle(&service);
    assert!(begun.elapsed() >= 1000 * MILLISECOND, "{:?}", begun.elapsed());
    assert!(client.rest().len() < 64_000);
}

#[test]
fn a_stream_may_take_longer_than_any_time_out() {
    let service = Service::start(&[
        "--header-timeout=300ms",
        "--body-timeout=300ms",
        "--keep-alive-timeout=300ms",
        "--write-timeout=300ms",
    ]);
    let mut client = service.connect();
    let head = "HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nConnection: close";
    // Measured from before the request.
    let begun = Instant::now();
    client.write(format!("GET {HARD}&limits.time_ms=2500 {head}\r\n\r\n"));
    let stream = client.rest();
    assert!(begun.elapsed() >= 2500 * MILLISECOND);
    assert!(stream.matches("event: progress\n").count() >= 5, "{stream}");
    assert!(stream.contains("event: problem\n") && stream.contains("search-limit-exceeded"), "{stream}");
}
