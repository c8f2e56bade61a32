//! Batches of clients that send all before they read, wait before they send, leave, or never read.

use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::client::{Client, Service, gauge, until};
use super::streams::narrow;

/// Boards of a large batch, as many as the default allows.
const MANY: usize = 100_000;

const HEAD: &str = "POST /batch HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n";

/// A 15-puzzle whose search takes seconds.
const HARD: &str = "{\"board\":\"15 14 8 12/10 11 9 13/2 6 5 1/3 7 4 0\",\"goal\":\"blank_first\"}\n";

/// A body of some megabytes, whose response has some more.
fn large() -> String {
    let id = "x".repeat(50);
    (0..MANY).map(|at| format!("{{\"id\":\"{id}{at}\",\"board\":[[8,6,7],[2,5,4],[3,0,1]]}}\n")).collect()
}

fn request(body: &str) -> String {
    format!("{HEAD}Content-Length: {}\r\n\r\n{body}", body.len())
}

/// The lines of JSON in a response, whose chunks end with lines.
fn json_lines(response: &str) -> Vec<Value> {
    let lines = response.lines().filter(|line| line.starts_with('{'));
    lines.map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

fn until_over(service: &Service) {
    until("the batch is over", || gauge(service.addr, "taquin_bulk_works") == 0);
    until("its workers are free", || gauge(service.addr, "taquin_bulk_workers_busy") == 0);
    until("its memory is free", || gauge(service.addr, "taquin_reply_memory_bytes") == 0);
    // The remaining connection reads the metrics.
    until("its connection is closed", || gauge(service.addr, "taquin_http_connections") == 1);
}

#[test]
fn a_client_may_send_all_before_it_reads() {
    let service = Service::start(&[]);
    let body = large();
    let chunked: String = body.as_bytes().chunks(70_001).fold(String::new(), |mut text, chunk| {
        text.push_str(&format!("{:x}\r\n{}\r\n", chunk.len(), String::from_utf8_lossy(chunk)));
        text
    });
    for request in [request(&body), format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n{chunked}0\r\n\r\n")] {
        let mut client = service.connect();
        client.stream.set_write_timeout(Some(super::client::TIMEOUT)).expect("an option");
        client.stream.write_all(request.as_bytes()).expect("the whole body is read");
        let response = client.rest();
        assert!(response.starts_with("HTTP/1.1 200 ") && response.ends_with("\r\n0\r\n\r\n"), "{}", response.len());
        let lines = json_lines(&response);
        assert_eq!(lines.len(), MANY + 1);
        for (at, line) in lines[..MANY].iter().enumerate() {
            assert_eq!((&line["line"], &line["length"]), (&Value::from(at + 1), &Value::from(31)));
            assert!(line["id"].as_str().is_some_and(|id| id.ends_with(&format!("x{at}"))), "{line}");
        }
        assert_eq!(lines[MANY]["summary"]["solved"], MANY);
    }
    until_over(&service);
}

#[test]
fn a_client_that_waits_for_100_continue_gets_it_at_once() {
    let service = Service::start(&["--max-batch-body=1KiB"]);
    let body = "867254301\n";
    let mut client = service.connect();
    client.write(format!("{HEAD}Expect: 100-continue\r\nContent-Length: {}\r\n\r\n", body.len()));
    client.until("HTTP/1.1 100 Continue\r\n\r\n");
    client.write(body);
    let response = client.rest();
    assert!(response.contains("HTTP/1.1 200 ") && response.contains("\"length\":31"), "{response}");
    for (head, status) in [
        (format!("{HEAD}Content-Length: 1025\r\n"), 413),
        (format!("{}Content-Length: 10\r\n", HEAD.replace("x-ndjson", "xml")), 415),
        (format!("{}Content-Length: 10\r\n", HEAD.replace("/batch", "/batch?x=1")), 400),
    ] {
        let mut client = service.connect();
        client.write(format!("{head}Expect: 100-continue\r\n\r\n"));
        let response = client.rest();
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "without a body: {response}");
    }
}

#[test]
fn a_body_without_a_length_has_the_same_limit() {
    let service = Service::start(&["--max-batch-body=1KiB", "--body-timeout=300ms"]);
    let head = format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n");
    let (mut fits, mut too_large, mut stuck) = (service.connect(), service.connect(), service.connect());
    fits.write(format!("{head}3f6\r\n{}\r\na\r\n867254301\n\r\n0\r\n\r\n", "\n".repeat(0x3f6)));
    let response = fits.rest();
    assert!(response.starts_with("HTTP/1.1 200 ") && response.contains("\"line\":1015,\"length\":31"), "{response}");
    too_large.write(format!("{head}3f6\r\n{}\r\nb\r\n867254301\n\n\r\n", "\n".repeat(0x3f6)));
    let answer = too_large.answer().expect(413);
    assert!(answer.connection == "close" && answer.body.contains("1024 bytes"), "{answer:?}");
    stuck.write(format!("{head}a\r\n867254301\n\r\n"));
    let answer = stuck.answer().expect(408);
    assert!(answer.connection == "close" && answer.body.contains("each mebibyte"), "{answer:?}");
    drop((fits, too_large, stuck));
    until_over(&service);
}

#[test]
fn a_client_that_leaves_ends_its_batch() {
    let service = Service::start(&["--body-timeout=1h"]);
    let hard = HARD.repeat(100);
    let whole = request(&hard);
    // Half of the body, which is solved while the rest is awaited.
    let half = &whole[..whole.len() - hard.len() / 2];
    // Bytes after the request do not hide that its client left.
    let more = format!("{whole}x");
    for request in [&whole, half, &more] {
        let leave: [fn(TcpStream); 2] = [drop, |stream| stream.shutdown(Shutdown::Write).expect("a connection")];
        for leave in leave {
            let mut client = service.connect();
            client.write(request);
            until("the batch has begun", || gauge(service.addr, "taquin_bulk_workers_busy") == 1);
            assert!(gauge(service.addr, "taquin_reply_memory_bytes") > 0);
            leave(client.stream);
            until_over(&service);
        }
    }
}

#[test]
fn a_client_that_does_not_read_is_disconnected_and_its_memory_is_free() {
    if !cfg!(target_os = "linux") {
        eprintln!("skipped: other systems wait until their buffers are full");
        return;
    }
    let service = Service::start(&["--write-timeout=1s"]);
    let mut client = narrow(service.addr);
    let begun = Instant::now();
    client.write(request(&large()));
    until("the batch has begun", || gauge(service.addr, "taquin_bulk_works") == 1);
    assert!(gauge(service.addr, "taquin_reply_memory_bytes") > 0);
    until_over(&service);
    assert!(begun.elapsed() >= Duration::from_secs(1), "{:?}", begun.elapsed());
    let lines = client.rest().lines().filter(|line| line.starts_with("{\"line\"")).count();
    assert!(lines < MANY, "the system's buffers do not hold it all: {lines}");
}

#[test]
fn batches_take_turns() {
    const ROWS: usize = 150;
    let service = Service::start(&["--max-time=1h", "--time-limit=1h"]);
    let boards = service.get(&format!("/random?rows=4&cols=4&count={ROWS}&seed=turns&as=line")).expect(200);
    let lines = boards.body.lines().filter(|line| line.contains('/'));
    let body: String = lines.map(|line| format!("{line}\n")).collect();
    assert_eq!(body.lines().count(), ROWS);
    // A search has the worker until both batches are there.
    let mut search = service.connect();
    search.write(format!("GET {} HTTP/1.1\r\nHost: x\r\n\r\n", super::client::HARD));
    until("the search has begun", || gauge(service.addr, "taquin_workers_busy") == 1);
    let mut clients: [Client; 2] = [service.connect(), service.connect()];
    clients.iter_mut().for_each(|client| client.write(request(&body)));
    until("both batches wait", || gauge(service.addr, "taquin_bulk_works") == 2);
    // The rows that each client has, and those that the other had when the first one had all.
    let (rows, of_other) = ([AtomicUsize::new(0), AtomicUsize::new(0)], AtomicUsize::new(usize::MAX));
    thread::scope(|scope| {
        for (own, client) in clients.iter().enumerate() {
            let (rows, of_other) = (&rows, &of_other);
            scope.spawn(move || {
                for line in BufReader::new(&client.stream).lines().map_while(Result::ok) {
                    if line.starts_with("{\"line\"") && rows[own].fetch_add(1, Ordering::SeqCst) + 1 == ROWS {
                        let other = rows[1 - own].load(Ordering::SeqCst);
                        let _ = of_other.compare_exchange(usize::MAX, other, Ordering::SeqCst, Ordering::SeqCst);
                    }
                }
            });
        }
        drop(search);
    });
    let other = of_other.into_inner();
    assert!(rows.iter().all(|rows| rows.load(Ordering::SeqCst) == ROWS), "{rows:?}");
    assert!((ROWS / 2..=ROWS).contains(&other), "when one batch is done, the other has {other} of {ROWS} rows");
}
