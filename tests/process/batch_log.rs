//! The log lines of `POST /batch`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// Longest wait for a line.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A running service, and its log.
struct Logged {
    service: Child,
    lines: Receiver<Value>,
}

impl Logged {
    fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taquin"));
        command.args(["--listen=127.0.0.1:0", "--tables=small", "--workers=1", "--log-format=json"]);
        let mut service = command.stdout(Stdio::piped()).spawn().expect("the binary runs");
        let log = BufReader::new(service.stdout.take().expect("a log"));
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            let lines = log.lines().map_while(Result::ok);
            lines.filter_map(|line| serde_json::from_str(&line).ok()).all(|line| sender.send(line).is_ok())
        });
        Self { service, lines }
    }

    /// The next line with this target.
    fn line(&self, target: &str) -> Value {
        loop {
            let line = self.lines.recv_timeout(TIMEOUT).unwrap_or_else(|error| panic!("no line of {target}: {error}"));
            if line["target"] == target {
                return line;
            }
        }
    }
}

impl Drop for Logged {
    fn drop(&mut self) {
        let _ = self.service.kill().and_then(|()| self.service.wait());
    }
}

/// Sends a batch with this request id.
fn send(addr: SocketAddr, id: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(addr).expect("a connection");
    let head = format!("POST /batch HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\nX-Request-Id: {id}");
    write!(stream, "{head}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        .expect("a connection");
    stream
}

#[test]
fn a_batch_has_a_line_with_its_numbers_and_an_access_line() {
    let log = Logged::start();
    let addr: SocketAddr = log.line("taquin::app")["addr"].as_str().and_then(|addr| addr.parse().ok()).expect("one");
    let mut response = String::new();
    send(addr, "whole", "867254301\n\n[[2,1],[3,0]]\nno\n123456780").read_to_string(&mut response).expect("a response");
    assert!(response.contains("\"boards\":4,\"solved\":2,\"failed\":2"), "{response}");
    let batch = log.line("taquin::batch");
    assert_eq!((&batch["level"], &batch["message"]), (&"INFO".into(), &"batch finished".into()), "{batch}");
    assert_eq!(batch["http.request_id"], "whole", "{batch}");
    assert_eq!(
        [&batch["batch.boards"], &batch["batch.solved"], &batch["batch.failed"]],
        [&Value::from(4), &Value::from(2), &Value::from(2)],
        "{batch}"
    );
    let access = log.line("taquin::access");
    assert_eq!((&access["http.route"], &access["http.method"]), (&"/batch".into(), &"POST".into()), "{access}");
    assert_eq!((&access["http.status"], &access["http.request_id"]), (&200.into(), &"whole".into()), "{access}");
    assert!(access["elapsed_us"].as_u64() >= batch["elapsed_us"].as_u64(), "{access} {batch}");

    let hard = "{\"board\":\"15 14 8 12/10 11 9 13/2 6 5 1/3 7 4 0\",\"goal\":\"blank_first\"}\n";
    let mut leaving = send(addr, "left", &format!("867254301\n{}", hard.repeat(100)));
    let mut first = [0; 12];
    leaving.read_exact(&mut first).expect("a response that begins");
    assert_eq!(&first, b"HTTP/1.1 200");
    drop(leaving);
    let batch = log.line("taquin::batch");
    assert_eq!(
        (&batch["message"], &batch["http.request_id"]),
        (&"batch cancelled: the client left".into(), &"left".into())
    );
    let access = log.line("taquin::access");
    assert_eq!((&access["http.status"], &access["http.request_id"]), (&499.into(), &"left".into()), "{access}");
}
