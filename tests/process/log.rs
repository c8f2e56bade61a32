//! The log lines of requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

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

    fn addr(&self) -> SocketAddr {
        self.line("taquin::app")["addr"].as_str().and_then(|addr| addr.parse().ok()).expect("an address")
    }

    /// The address of the service, once its tables are loaded.
    fn ready_addr(&self) -> SocketAddr {
        let (addr, begun) = (self.addr(), Instant::now());
        while !ask(addr, "/readyz", ("ready", ""), "").starts_with("HTTP/1.1 200 ") {
            assert!(begun.elapsed() < TIMEOUT, "never ready");
            thread::sleep(Duration::from_millis(10));
        }
        addr
    }

    /// The lines of requests and searches up to the access line of a request.
    fn lines_until(&self, id: &str) -> Vec<Value> {
        let mut lines = Vec::new();
        loop {
            let line = self.lines.recv_timeout(TIMEOUT).unwrap_or_else(|error| panic!("no line of {id}: {error}"));
            let is_last = line["http.request_id"] == id;
            if line["target"] == "taquin::access" || line["target"] == "taquin::job" {
                lines.push(line);
            }
            if is_last {
                return lines;
            }
        }
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
    request(addr, "/batch", &format!("Content-Type: application/x-ndjson\r\nX-Request-Id: {id}"), body)
}

/// Sends a request with these headers. One without a body is a GET.
fn request(addr: SocketAddr, path: &str, headers: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(addr).expect("a connection");
    let method = if body.is_empty() { "GET" } else { "POST" };
    let head = format!("{method} {path} HTTP/1.1\r\nHost: x\r\n{headers}\r\nConnection: close");
    write!(stream, "{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).expect("a connection");
    stream
}

/// Sends a JSON request with this id. Returns the response.
fn ask(addr: SocketAddr, path: &str, (id, headers): (&str, &str), body: &str) -> String {
    let headers = format!("Content-Type: application/json\r\nX-Request-Id: {id}{headers}");
    let mut response = String::new();
    request(addr, path, &headers, body).read_to_string(&mut response).expect("a response");
    response
}

#[test]
fn a_batch_has_a_line_with_its_numbers_and_an_access_line() {
    let log = Logged::start();
    let addr = log.addr();
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

#[test]
fn an_8_puzzle_has_one_line_with_the_counters_of_its_search() {
    let log = Logged::start();
    let addr = log.ready_addr();
    const BOARD: &str = r#"{"board":[[8,6,7],[2,5,4],[3,0,1]]}"#;
    const FEW: &str = r#"{"board":[[8,6,7],[2,5,4],[3,0,1]],"require":"optimal","limits":{"expanded":5}}"#;
    for (path, headers, body, outcome) in [
        ("/solve", "", BOARD, "solved"),
        ("/solve", "\r\nAccept: text/event-stream", BOARD, "solved"),
        ("/hint", "", BOARD, "solved"),
        ("/solve", "", FEW, "solved by fallback"),
        ("/solve", "\r\nAccept: text/event-stream", FEW, "solved by fallback"),
    ] {
        let response = ask(addr, path, ("small", headers), body);
        let lines = log.lines_until("small");
        let [line] = &lines[..] else { panic!("{path} {headers}: {lines:#?}") };
        assert_eq!((&line["target"], &line["http.status"]), (&"taquin::access".into(), &200.into()), "{line}");
        assert_eq!((&line["puzzle.size"], &line["job.outcome"]), (&"3×3".into(), &outcome.into()), "{line}");
        let json = response.rsplit("\"search\":").next().expect("a part");
        let search: Value = serde_json::Deserializer::from_str(json).into_iter().next().expect("JSON").expect("JSON");
        for name in ["algorithm", "heuristic", "expanded", "generated", "nodes_held", "elapsed_us"] {
            assert!(!search[name].is_null(), "{name}: {response}");
            assert_eq!(line[format!("search.{name}")], search[name], "{name}: {line} {response}");
        }
        assert_eq!(line["search.length"], 31, "{line}");
        assert_eq!((&line["search.lower_bound"], &line["job.queued_us"]), (&31.into(), &0.into()), "{line}");
    }
}

#[test]
fn other_searches_have_lines_of_their_own() {
    let log = Logged::start();
    let addr = log.ready_addr();
    const LARGER: &str = r#"{"board":"1 2 3 4/5 6 7 8/9 10 11 12/13 0 14 15"}"#;
    const SEVERAL: &str = r#"{"board":"867254301","methods":[{},{"heuristic":"manhattan","algorithm":"astar"}]}"#;
    for (path, body, searches) in [("/solve", LARGER, 1), ("/solve", LARGER, 0), ("/compare", SEVERAL, 2)] {
        let response = ask(addr, path, ("larger", ""), body);
        assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
        let mut lines = log.lines_until("larger");
        let access = lines.pop().expect("a line");
        assert_eq!(
            (&access["target"], &access["search.expanded"]),
            (&"taquin::access".into(), &Value::Null),
            "{access}"
        );
        assert_eq!(lines.len(), searches, "{path}: {lines:#?}");
        for line in lines {
            assert_eq!((&line["target"], &line["message"]), (&"taquin::job".into(), &"job finished".into()), "{line}");
            assert_eq!(line["span"]["http.request_id"], "larger", "{line}");
            assert!(line["search.expanded"].is_u64() && line["job.outcome"] == "solved", "{line}");
        }
    }
}
