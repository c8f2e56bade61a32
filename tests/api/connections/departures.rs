//! Clients that leave while bytes after their request are unread.

use std::io::Read;
use std::net::{Shutdown, TcpStream};

use rustix::net::sockopt::set_socket_linger;

use super::client::{Client, HARD, Service, gauge, until};

/// Closes the socket so that the system resets the connection.
fn reset(stream: TcpStream) {
    set_socket_linger(&stream, Some(std::time::Duration::ZERO)).expect("an option");
    drop(stream);
}

#[test]
fn bytes_after_a_request_do_not_hide_that_its_client_left() {
    let service = Service::start(&["--max-time=1h", "--time-limit=1h", "--max-body=1KiB"]);
    let get = format!("GET {HARD} HTTP/1.1\r\nHost: x\r\n");
    let post = format!("POST {HARD} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n");
    let stream = format!("{get}Accept: text/event-stream\r\n\r\nx");
    for request in [
        format!("{get}\r\n"),
        format!("{get}\r\nx"),
        format!("{get}\r\n\r\n"),
        format!("{get}\r\nGET /livez HTTP/1.1\r\nHost: x\r\n\r\n"),
        format!("{post}\r\nx"),
        // A body that no handler reads.
        format!("{get}Content-Length: 60000\r\n\r\nx"),
        stream,
    ] {
        let leave: [fn(TcpStream); 2] = [drop, reset];
        for leave in leave {
            let mut client = service.connect();
            client.write(&request);
            until("the search has begun", || gauge(service.addr, "taquin_jobs_in_progress") == 1);
            leave(client.stream);
            until("the search has stopped", || gauge(service.addr, "taquin_jobs_in_progress") == 0);
        }
        // The client closes its half and keeps the socket.
        let mut client = service.connect();
        client.write(&request);
        until("the search has begun", || gauge(service.addr, "taquin_jobs_in_progress") == 1);
        client.stream.shutdown(Shutdown::Write).expect("a connection");
        until("the search has stopped", || gauge(service.addr, "taquin_jobs_in_progress") == 0);
        client.rest();
    }
    until("the connections are closed", || gauge(service.addr, "taquin_http_connections") == 1);
}

#[test]
fn pipelined_requests_of_a_client_that_closed_its_half_are_answered() {
    const COUNT: usize = 100;
    let service = Service::start(&[]);
    let requests: String = (0..COUNT)
        .map(|nth| {
            format!(
                "GET /solve?board=867254301&algorithm=astar&limits.expanded={} HTTP/1.1\r\nHost: x\r\n\r\n",
                nth + 1
            )
        })
        .collect();
    let mut client: Client = service.connect();
    client.write(requests + "GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\nx");
    client.stream.shutdown(Shutdown::Write).expect("a connection");
    let mut answers = String::new();
    client.stream.read_to_string(&mut answers).expect("all answers");
    assert_eq!(answers.matches("HTTP/1.1 ").count(), COUNT + 1);
}

#[test]
fn a_response_that_is_ready_at_once_reaches_a_client_that_closed_its_half() {
    let service = Service::start(&[]);
    for nth in 0..100 {
        let mut client = service.connect();
        client.write("GET /solve?board=867254301 HTTP/1.1\r\nHost: x\r\n\r\n".repeat(1 + nth % 3));
        client.stream.shutdown(Shutdown::Write).expect("a connection");
        let mut answers = String::new();
        client.stream.read_to_string(&mut answers).expect("all answers");
        assert_eq!(answers.matches("HTTP/1.1 200 ").count(), 1 + nth % 3, "{nth}: {answers}");
    }
}
