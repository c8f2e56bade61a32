//! Traces of the binary, as a collector receives them.

mod collector;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use collector::{Collector, Span, Value};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value as Json;

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";

const EASY: &str = "8 6 7/2 5 4/3 0 1";
/// Solved by a worker, in a moment.
const MEDIUM: &str = "1 2 3 4/5 6 7 8/9 10 11 12/13 0 14 15";
/// Takes hours without tables.
const HARD: &str = "0 12 9 13/15 11 10 14/3 7 2 5/4 8 6 1";

const SERVER: u64 = 2;
const INTERNAL: u64 = 1;

/// A service process, killed when dropped.
struct Service {
    child: Child,
    address: String,
    log: Option<JoinHandle<Vec<Json>>>,
}

impl Service {
    fn start(flags: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_taquin"))
            .args(["--listen=127.0.0.1:0", "--tables=small", "--log=info,taquin::access=debug", "--log-format=json"])
            .args(flags)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut lines = lines.map(|line| serde_json::from_str::<Json>(&line.unwrap()).unwrap());
        let mut begin = Vec::new();
        let address = loop {
            begin.push(lines.next().expect("it listens"));
            if let Some(address) = begin.last().unwrap()["addr"].as_str() {
                break address.to_owned();
            }
        };
        let log = thread::spawn(move || begin.into_iter().chain(lines).collect());
        let service = Self { child, address, log: Some(log) };
        while !service.ask("GET /readyz", "", "").starts_with("HTTP/1.1 200 ") {
            thread::sleep(Duration::from_millis(5));
        }
        service
    }

    /// Sends a request with these header lines on a new connection.
    fn send(&self, line: &str, headers: &str, body: &str) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let (length, address) = (body.len(), &self.address);
        let request = format!(
            "{line} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n{headers}\r\n{body}"
        );
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    fn ask(&self, line: &str, headers: &str, body: &str) -> String {
        let mut answer = String::new();
        self.send(line, headers, body).read_to_string(&mut answer).unwrap();
        answer
    }

    fn solve(&self, board: &str, headers: &str) -> String {
        self.ask("POST /solve", headers, &format!("{{\"board\":\"{board}\"}}"))
    }

    fn wait_for_jobs(&self, count: u32) {
        let wanted = format!("\ntaquin_jobs_in_progress {count}\n");
        while !self.ask("GET /metrics", "", "").contains(&wanted) {
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Stops the service by SIGTERM. Returns its log and the time that the exit took.
    fn end(mut self) -> (Vec<Json>, Duration) {
        let begun = Instant::now();
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        assert!(self.child.wait().unwrap().success());
        (self.log.take().unwrap().join().unwrap(), begun.elapsed())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn traceparent(flags: &str) -> String {
    format!("traceparent: 00-{TRACE}-{PARENT}-{flags}\r\n")
}

fn header<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    let lines = answer.lines().take_while(|line| !line.is_empty());
    lines.filter_map(|line| line.split_once(": ")).find(|(other, _)| *other == name).map(|(_, value)| value)
}

fn json(answer: &str) -> Json {
    serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).expect(answer)
}

fn only(spans: &[Span], matches: impl Fn(&Span) -> bool) -> &Span {
    let mut wanted = spans.iter().filter(|span| matches(span));
    let span = wanted.next().unwrap_or_else(|| panic!("not among {spans:#?}"));
    assert!(wanted.next().is_none(), "more than one: {spans:#?}");
    span
}

/// The server span of the request with this id.
fn exchange<'s>(spans: &'s [Span], id: &str) -> &'s Span {
    only(spans, |span| span.attributes.get("http.request_id") == Some(&Value::Text(id.to_owned())))
}

fn search_below<'s>(spans: &'s [Span], parent: &Span) -> &'s Span {
    only(spans, |span| span.parent_id == parent.span_id)
}

#[test]
fn spans_have_the_ids_and_counters_of_their_request() {
    let collector = Collector::start();
    let service = Service::start(&["--otlp-endpoint", &collector.url()]);
    let headers = |id: &str| format!("{}tracestate: a=1,b=2\r\nx-request-id: {id}\r\n", traceparent("01"));
    // A search that is answered at once has no line of its own.
    let boards = [("easy", EASY, "3×3", 1), ("medium", MEDIUM, "4×4", 2)];
    let answers = boards.map(|(id, board, ..)| service.solve(board, &headers(id)));
    // The process ends long before the next batch is due, so it sends the last batch on exit.
    let (log, _) = service.end();
    let spans = collector.spans();
    for ((id, _, size, lines_of_request), answer) in boards.into_iter().zip(&answers) {
        let server = exchange(&spans, id);
        assert_eq!((server.trace_id.as_str(), server.parent_id.as_str()), (TRACE, PARENT));
        assert_eq!((server.name.as_str(), server.kind, server.is_error), ("POST /solve", SERVER, false));
        assert_eq!(server.trace_state, "a=1,b=2");
        assert_eq!((server.text("http.request.method"), server.text("http.route")), ("POST", "/solve"));
        assert_eq!((server.text("url.scheme"), server.text("url.path")), ("http", "/solve"));
        assert_eq!(server.number("http.response.status_code"), 200);
        let resource = ["service.name", "service.version"].map(|name| server.resource[name].clone());
        assert_eq!(resource, ["taquin", env!("CARGO_PKG_VERSION")].map(|text| Value::Text(text.to_owned())));

        let (search, reply) = (search_below(&spans, server), json(answer));
        assert_eq!((search.trace_id.as_str(), search.name.as_str(), search.kind), (TRACE, "search", INTERNAL));
        assert!(search.nanos <= server.nanos, "{search:?} {server:?}");
        for name in ["expanded", "generated"] {
            assert_eq!(Some(search.number(&format!("search.{name}"))), reply["search"][name].as_i64(), "{answer}");
        }
        for name in ["algorithm", "heuristic"] {
            assert_eq!(Some(search.text(&format!("search.{name}"))), reply["search"][name].as_str(), "{answer}");
        }
        assert_eq!(Some(search.number("search.length")), reply["length"].as_i64());
        assert_eq!(Some(search.number("search.lower_bound")), reply["lower_bound"].as_i64());
        assert_eq!((search.text("puzzle.size"), search.text("job.outcome")), (size, "solved"));
        assert!(search.number("job.queued_us") >= 0);

        assert_eq!(header(answer, "traceresponse").unwrap(), format!("00-{TRACE}-{}-01", server.span_id));
        let names = |line: &&Json| line["http.request_id"] == *id || line["span"]["http.request_id"] == *id;
        let lines: Vec<&Json> = log.iter().filter(names).collect();
        assert_eq!(lines.len(), lines_of_request, "{id}: {log:#?}");
        for line in lines {
            let ids = if line["target"] == "taquin::access" { line } else { &line["span"] };
            assert_eq!((&ids["trace_id"], &ids["span_id"]), (&TRACE.into(), &server.span_id.as_str().into()), "{line}");
        }
    }
    assert_eq!(spans.len(), 4);
}

#[test]
fn a_request_without_traceparent_starts_a_trace_and_probes_have_none() {
    let collector = Collector::start();
    let service = Service::start(&["--otlp-endpoint", &collector.url()]);
    for probe in ["/livez", "/readyz", "/healthz", "/metrics"] {
        let answer = service.ask(&format!("GET {probe}"), &traceparent("01"), "");
        assert!(answer.starts_with("HTTP/1.1 200 ") && header(&answer, "traceresponse").is_none(), "{answer}");
    }
    // The client does not sample; no traceparent; an invalid one; an unknown path; an unknown method.
    let unsampled = service.solve(EASY, &traceparent("00"));
    let answers = [
        service.ask("GET /info", "", ""),
        service.ask("GET /info", "traceparent: nonsense\r\ntracestate: a=1\r\n", ""),
        service.ask("GET /secret/path", "x-request-id: nowhere\r\n", ""),
        service.ask("BREW /info", "x-request-id: coffee\r\n", ""),
    ];
    let (log, _) = service.end();
    let spans = collector.spans();
    assert_eq!(header(&unsampled, "traceresponse"), None);
    let unsampled_lines: Vec<&Json> = log.iter().filter(|line| line["trace_id"] == TRACE).collect();
    assert_eq!(unsampled_lines.len(), 5, "the log still has the trace id");
    assert!(unsampled_lines.iter().all(|line| line.get("span_id").is_none()));

    assert_eq!(spans.len(), answers.len(), "{spans:#?}");
    for answer in &answers {
        let id = header(answer, "x-request-id").unwrap();
        let server = exchange(&spans, id);
        let traceresponse = format!("00-{}-{}-01", server.trace_id, server.span_id);
        assert_eq!((server.parent_id.as_str(), header(answer, "traceresponse")), ("", Some(traceresponse.as_str())));
        assert_eq!((server.trace_state.as_str(), server.is_error), ("", false));
        let line = log.iter().find(|line| line["http.request_id"] == id).unwrap();
        assert_eq!(line["trace_id"], server.trace_id.as_str());
    }
    let nowhere = exchange(&spans, "nowhere");
    assert_eq!((nowhere.name.as_str(), nowhere.number("http.response.status_code")), ("GET", 404));
    assert!(!format!("{nowhere:?}").contains("secret"), "an unknown path is not recorded");
    let coffee = exchange(&spans, "coffee");
    assert_eq!((coffee.name.as_str(), coffee.text("http.request.method")), ("HTTP /info", "_OTHER"));
}

#[test]
fn rejected_and_cancelled_requests_have_spans() {
    let collector = Collector::start();
    let service = Service::start(&["--otlp-endpoint", &collector.url(), "--workers=1", "--queue=0"]);
    let body = format!("{{\"board\":\"{HARD}\",\"algorithm\":\"iterative_deepening\"}}");
    let gone = service.send("POST /solve", "x-request-id: gone\r\n", &body);
    service.wait_for_jobs(1);
    let refused = service.solve(MEDIUM, "x-request-id: refused\r\n");
    drop(gone);
    service.wait_for_jobs(0);
    assert!(refused.starts_with("HTTP/1.1 503 ") && header(&refused, "traceresponse").is_some(), "{refused}");
    service.end();
    let spans = collector.spans();
    let refused = only(&spans, |span| span.is_error);
    assert_eq!((refused.text("http.request_id"), refused.text("error.type")), ("refused", "503"));
    let gone = exchange(&spans, "gone");
    assert_eq!(gone.number("http.response.status_code"), 499);
    let search = search_below(&spans, gone);
    assert_eq!(search.text("job.outcome"), "cancelled");
    assert!(search.number("search.expanded") > 0);
}

#[test]
fn requests_are_sampled_and_traces_are_off_by_default() {
    let collector = Collector::start();
    let service = Service::start(&["--otlp-endpoint", &collector.url(), "--otlp-sample=0"]);
    let answers = [service.solve(EASY, ""), service.solve(EASY, &traceparent("01"))];
    service.end();
    assert_eq!(answers.map(|answer| header(&answer, "traceresponse").is_some()), [false, true]);
    assert!(collector.spans().iter().all(|span| span.trace_id == TRACE));
    assert_eq!(collector.spans().len(), 2);

    let service = Service::start(&["--otlp-endpoint="]);
    let answer = service.solve(EASY, &traceparent("01"));
    let (log, _) = service.end();
    assert!(answer.starts_with("HTTP/1.1 200 ") && header(&answer, "traceresponse").is_none(), "{answer}");
    assert!(log.iter().any(|line| line["trace_id"] == TRACE && line.get("span_id").is_none()), "{log:#?}");
}

#[test]
fn an_unreachable_collector_is_logged_once() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent_url = format!("http://{}", silent.local_addr().unwrap());
    // A privileged port: the service of another test could take a port that was free a moment ago.
    let closed_url = "http://127.0.0.1:1".to_owned();
    for (url, what) in [(closed_url, "refused"), (silent_url, "")] {
        let service = Service::start(&["--otlp-endpoint", &url]);
        let begun = Instant::now();
        // More than a batch each time, so that several are lost.
        for _ in 0..4 {
            for _ in 0..150 {
                assert!(service.solve(EASY, "").starts_with("HTTP/1.1 200 "));
            }
            thread::sleep(Duration::from_millis(300));
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
        let (log, took) = service.end();
        assert!(took < Duration::from_secs(4), "{took:?}");
        let warnings: Vec<&Json> = log.iter().filter(|line| line["target"] == "taquin::traces").collect();
        if what.is_empty() {
            assert!(warnings.len() <= 1, "{warnings:?}");
        } else {
            assert_eq!(warnings.len(), 1);
            assert_eq!(
                (&warnings[0]["level"], &warnings[0]["message"]),
                (&"WARN".into(), &"traces cannot be sent".into())
            );
            assert!(warnings[0]["error"].as_str().unwrap().contains(what), "{warnings:?}");
        }
    }
}
