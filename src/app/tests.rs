//! Tests of the real service on a free port.

use std::io::{Read, Write};
use std::net;

use clap::Parser;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::*;
use crate::config::Flags;

struct Running {
    addr: SocketAddr,
    stop: oneshot::Sender<()>,
    ended: JoinHandle<()>,
}

async fn start(flags: &[&str]) -> Running {
    let flags =
        Flags::parse_from([&["taquin", "--listen=127.0.0.1:0", "--workers=1", "--tables=small"], flags].concat());
    let app = App::build(&Config::try_from(&flags).unwrap()).await.unwrap();
    let addr = app.addr();
    let (stop, stopped) = oneshot::channel();
    let ended = tokio::spawn(app.run(async {
        let _ = stopped.await;
    }));
    Running { addr, stop, ended }
}

/// Sends bytes and returns everything received until the connection is closed.
async fn talk(addr: SocketAddr, bytes: &'static [u8]) -> String {
    tokio::task::spawn_blocking(move || {
        let mut stream = net::TcpStream::connect(addr).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        stream.write_all(bytes).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    })
    .await
    .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_service_responds_and_shuts_down() {
    let Running { addr, stop, ended } = start(&[]).await;
    let answer = talk(addr, b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    stop.send(()).unwrap();
    ended.await.unwrap();
    assert!(net::TcpStream::connect(addr).is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_incomplete_request_delays_the_shutdown_by_the_grace_period() {
    let Running { addr, stop, ended } = start(&["--shutdown-grace=200ms", "--header-timeout=1h"]).await;
    let mut stream = net::TcpStream::connect(addr).unwrap();
    stream.write_all(b"GET /livez HTTP/1.1\r\nHo").unwrap();
    sleep(Duration::from_millis(50)).await;
    let stopped = std::time::Instant::now();
    stop.send(()).unwrap();
    timeout(Duration::from_secs(5), ended).await.expect("the grace period is over").unwrap();
    assert!(stopped.elapsed() >= Duration::from_millis(200));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_body_gets_408_and_a_large_one_413() {
    let Running { addr, stop: _keep, .. } = start(&["--body-timeout=100ms", "--max-body=1KiB"]).await;
    let slow = b"POST /solve HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\n8 6";
    assert!(talk(addr, slow).await.starts_with("HTTP/1.1 408 "));
    let large = b"POST /solve HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Type: text/plain\r\nContent-Length: 1025\r\n\r\n";
    let answer = talk(addr, large).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "no 100 Continue comes first: {answer}");
    assert!(answer.contains("/problems/content-too-large"), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn responses_without_content_have_no_content_length() {
    let Running { addr, stop: _keep, .. } = start(&[]).await;
    let answer = talk(addr, b"OPTIONS /solve HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.to_lowercase();
    assert!(answer.starts_with("http/1.1 204 "), "{answer}");
    assert!(!answer.contains("content-length"), "{answer}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_port_in_use_is_an_error_that_names_it() {
    let taken = net::TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap();
    let flags = Flags::parse_from(["taquin", &format!("--listen={addr}")]);
    let error = App::build(&Config::try_from(&flags).unwrap()).await.unwrap_err();
    assert!(error.to_string().starts_with(&format!("cannot listen on {addr}: ")), "{error}");
    assert!(error.to_string().ends_with("; choose another address with --listen"), "{error}");
}
