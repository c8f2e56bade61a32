//! A running service, and clients that write arbitrary bytes.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use clap::Parser;
use taquin::app::App;
use taquin::config::{Config, Flags};
use tokio::sync::oneshot;

/// Maximum waiting time. A test that exceeds it fails with the awaited condition.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// A board with an 80-move solution that takes minutes to find with the requested heuristic.
pub(crate) const HARD: &str =
    "/solve?board=15,14,8,12,10,11,9,13,2,6,5,1,3,7,4,0&goal=blank_first&algorithm=ida_star&heuristic=manhattan";

/// A running service, owned by one test.
pub(crate) struct Service {
    pub(crate) addr: SocketAddr,
    pub(crate) admin_addr: Option<SocketAddr>,
    stop: Option<oneshot::Sender<()>>,
    thread: thread::JoinHandle<()>,
}

impl Service {
    /// Starts a service with these flags on a free port, and waits until it is ready.
    pub(crate) fn start(flags: &[&str]) -> Self {
        let args = ["taquin", "--listen=127.0.0.1:0", "--tables=small", "--workers=1"].into_iter();
        let flags = Flags::try_parse_from(args.chain(flags.iter().copied())).unwrap_or_else(|error| panic!("{error}"));
        let config = Config::try_from(&flags).unwrap_or_else(|faults| panic!("{faults:?}"));
        let (addr_sender, addr) = mpsc::channel();
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
            runtime.expect("a runtime").block_on(async {
                let app = App::build(&config).await.expect("a service");
                addr_sender.send((app.addr(), app.admin_addr())).expect("a test that waits");
                app.run(async { stopped.await.unwrap_or(()) }).await;
            });
        });
        let (addr, admin_addr) = addr.recv().expect("an address");
        until("the service is ready", || get(addr, "/readyz").status == 200);
        Self { addr, admin_addr, stop: Some(stop), thread }
    }

    pub(crate) fn connect(&self) -> Client {
        Client::connect(self.addr)
    }

    /// One request on a connection of its own.
    pub(crate) fn get(&self, target: &str) -> Answer {
        get(self.addr, target)
    }

    /// Starts a shutdown, as a signal would.
    pub(crate) fn start_shutdown(&mut self) {
        drop(self.stop.take());
    }

    pub(crate) fn has_stopped(&self) -> bool {
        self.thread.is_finished()
    }
}

/// One request on a connection of its own.
pub(crate) fn get(addr: SocketAddr, target: &str) -> Answer {
    let mut client = Client::connect(addr);
    client.write(format!("GET {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
    client.answer()
}

/// The value of a metric.
pub(crate) fn gauge(addr: SocketAddr, name: &str) -> u64 {
    let metrics = get(addr, "/metrics").expect(200).body;
    let value = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok());
    value.unwrap_or_else(|| panic!("no {name} in {metrics}"))
}

/// Polls until the condition holds.
pub(crate) fn until(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < TIMEOUT, "timed out: {what}");
        sleep(Duration::from_millis(10));
    }
}

/// A connection with a read buffer.
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    unread: Vec<u8>,
}

impl Client {
    pub(crate) fn connect(addr: SocketAddr) -> Self {
        let stream = TcpStream::connect(addr).unwrap_or_else(|error| panic!("{addr}: {error}"));
        Self::of(stream)
    }

    pub(crate) fn of(stream: TcpStream) -> Self {
        stream.set_nodelay(true).expect("an option");
        stream.set_read_timeout(Some(TIMEOUT)).expect("an option");
        Self { stream, unread: Vec::new() }
    }

    /// Writes bytes. Ignores errors, because the server may have closed the connection.
    pub(crate) fn write(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).unwrap_or_default();
    }

    /// Sends a GET request, and keeps the connection open.
    pub(crate) fn get(&mut self, target: &str) -> Answer {
        self.write(format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n"));
        self.answer()
    }

    /// Reads until the text has arrived completely.
    pub(crate) fn until(&mut self, text: &str) {
        while !self.text().contains(text) {
            assert_ne!(self.read().expect("more"), 0, "closed before {text:?} came: {:?}", self.text());
        }
    }

    /// The next response, delimited by its framing only.
    pub(crate) fn answer(&mut self) -> Answer {
        let answer = loop {
            if let Some(end) = self.unread.windows(4).position(|window| window == b"\r\n\r\n") {
                break self.unread.drain(..end + 4).collect::<Vec<u8>>();
            }
            assert_ne!(self.read().expect("an answer"), 0, "closed within the head of an answer: {:?}", self.text());
        };
        let head = String::from_utf8_lossy(&answer).to_lowercase();
        let header = |name: &str| {
            let line = head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.unwrap_or_default().trim().to_owned()
        };
        let length = header("content-length").parse().unwrap_or(0);
        while self.unread.len() < length {
            assert_ne!(self.read().expect("an answer"), 0, "closed within an answer: {head}");
        }
        let body = String::from_utf8_lossy(&self.unread[..length]).into_owned();
        self.unread.drain(..length);
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Answer { status, connection: header("connection"), head, body }
    }

    /// Everything received until the connection ends in any way.
    pub(crate) fn rest(&mut self) -> String {
        while self.read().is_ok_and(|length| length > 0) {}
        self.text()
    }

    /// Asserts that the connection ends without a response.
    pub(crate) fn end(&mut self) {
        match self.read() {
            Ok(0) => {}
            Ok(_) => panic!("more than an end: {:?}", self.text()),
            Err(error) => assert!(is_end(&error), "the connection goes on: {error}"),
        }
    }

    /// True if nothing arrives within this time.
    pub(crate) fn is_quiet(&mut self, time: Duration) -> bool {
        self.stream.set_read_timeout(Some(time)).expect("an option");
        let read = self.read();
        self.stream.set_read_timeout(Some(TIMEOUT)).expect("an option");
        read.is_err_and(|error| !is_end(&error))
    }

    fn read(&mut self) -> io::Result<usize> {
        let mut buffer = vec![0; 1 << 16];
        let length = self.stream.read(&mut buffer)?;
        self.unread.extend_from_slice(&buffer[..length]);
        Ok(length)
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.unread).into_owned()
    }
}

fn is_end(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe)
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) connection: String,
    /// In lower case.
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// Asserts the status.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }
}
