//! Clients that send a whole body before they read the response that refuses it.

use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};

use super::client::{Client, Service, until};

/// More than the buffers of both systems hold.
const LARGE: usize = 24 << 20;

fn head(line: &str, length: usize) -> String {
    format!("{line} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n")
}

/// A client whose body is refused, and which sends a byte of it now and then until the connection is reset.
fn refused(service: &Service) -> (Client, thread::JoinHandle<()>) {
    let mut client = service.connect();
    client.write(head("POST /solve", LARGE));
    client.answer().expect(413);
    let mut stream = client.stream.try_clone().expect("a stream");
    let writer = thread::spawn(move || {
        while stream.write_all(b"1").is_ok() {
            thread::sleep(Duration::from_millis(20));
        }
    });
    (client, writer)
}

#[test]
fn a_client_that_writes_first_can_read_why_its_body_is_refused() {
    let service = Service::start(&[]);
    let body = vec![b'1'; LARGE];
    for (line, status) in [("POST /solve", 413), ("POST /nowhere", 404), ("PUT /solve", 405)] {
        let mut client = service.connect();
        client.write(head(line, LARGE));
        client.stream.write_all(&body).unwrap_or_else(|error| panic!("{line}: the whole body is sent: {error}"));
        assert_eq!(client.answer().expect(status).connection, "close");
        client.end();
    }
    // hyper itself refuses these.
    let mut client = service.connect();
    client.stream.write_all(format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(LARGE)).as_bytes()).expect("it is read");
    client.answer().expect(431);
}

#[test]
fn a_body_that_comes_after_100_continue_is_read() {
    let service = Service::start(&[]);
    let mut client = service.connect();
    let post = "POST /solve HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nExpect: 100-continue\r\n";
    client.write(format!("{post}Content-Length: 17\r\n\r\n"));
    client.answer().expect(100);
    client.write("8 6 7/2 5 4/3 0 1");
    client.answer().expect(200);
    // A refused body is not asked for.
    client.write(format!("{post}Content-Length: {LARGE}\r\n\r\n"));
    client.answer().expect(413);
    client.end();
}

#[test]
fn lingering_connections_leave_places_for_others() {
    // A quarter of three connections is none.
    let service = Service::start(&["--max-connections=3"]);
    let begun = Instant::now();
    let (client, writer) = refused(&service);
    writer.join().expect("a writer");
    drop(client);
    assert!(begun.elapsed() < Duration::from_secs(20), "it does not linger: {:?}", begun.elapsed());
}

#[test]
fn lingering_does_not_delay_the_shutdown() {
    let mut service = Service::start(&["--shutdown-grace=1h"]);
    let (client, writer) = refused(&service);
    thread::sleep(Duration::from_millis(200));
    assert!(!writer.is_finished(), "it lingers");
    let begun = Instant::now();
    service.start_shutdown();
    until("the service has stopped", || service.has_stopped());
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    writer.join().expect("a writer");
    drop(client);
}
