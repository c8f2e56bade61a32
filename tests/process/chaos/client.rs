//! Clients that report how their connection ends.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// Maximum waiting time for a response.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// A connection, closed when dropped.
pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    unread: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// In lower case.
    pub(crate) head: String,
    pub(crate) body: String,
}

/// Reason for a missing response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// Connection refused.
    Refused,
    /// Closed before the first byte of the response.
    Closed,
    /// Reset before the first byte of the response.
    Reset,
    /// Ended within the response.
    Torn,
}

impl Client {
    pub(crate) fn try_connect(addr: SocketAddr) -> Result<Self, End> {
        let stream = TcpStream::connect(addr).map_err(|error| match error.kind() {
            ErrorKind::ConnectionRefused => End::Refused,
            // The connection was in the backlog when the listener closed.
            ErrorKind::ConnectionReset => End::Reset,
            _ => panic!("no connection: {error}"),
        })?;
        stream.set_nodelay(true).expect("an option");
        stream.set_read_timeout(Some(TIMEOUT)).expect("an option");
        Ok(Self { stream, unread: Vec::new() })
    }

    pub(crate) fn connect(addr: SocketAddr) -> Self {
        Self::try_connect(addr).unwrap_or_else(|end| panic!("{addr}: {end:?}"))
    }

    /// Writes bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), End> {
        self.stream.write_all(bytes).map_err(|_| End::Reset)
    }

    /// The next response, or how the connection ends instead.
    pub(crate) fn answer(&mut self) -> Result<Answer, End> {
        let end = loop {
            if let Some(end) = self.unread.windows(4).position(|window| window == b"\r\n\r\n") {
                break end + 4;
            }
            self.read()?;
        };
        let head = String::from_utf8_lossy(&self.unread[..end]).to_lowercase();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
        let mut answer = Answer { status, head, body: String::new() };
        if answer.header("transfer-encoding") == "chunked" {
            self.unread.drain(..end);
            answer.body = self.chunks()?;
            return Ok(answer);
        }
        let length: usize = answer.header("content-length").parse().unwrap_or(0);
        while self.unread.len() < end + length {
            self.read()?;
        }
        answer.body = String::from_utf8_lossy(&self.unread[end..end + length]).into_owned();
        self.unread.drain(..end + length);
        Ok(answer)
    }

    /// Reads a chunked body.
    fn chunks(&mut self) -> Result<String, End> {
        let mut body = Vec::new();
        loop {
            let Some(line) = self.unread.windows(2).position(|window| window == b"\r\n") else {
                self.read()?;
                continue;
            };
            let length = String::from_utf8_lossy(&self.unread[..line]).into_owned();
            let length = usize::from_str_radix(&length, 16).expect("a length");
            let (begin, end) = (line + 2, line + 2 + length);
            while self.unread.len() < end + 2 {
                self.read()?;
            }
            body.extend_from_slice(&self.unread[begin..end]);
            self.unread.drain(..end + 2);
            if length == 0 {
                return Ok(String::from_utf8_lossy(&body).into_owned());
            }
        }
    }

    fn read(&mut self) -> Result<(), End> {
        let mut buffer = [0; 1 << 14];
        let end = match self.stream.read(&mut buffer) {
            Ok(0) => End::Closed,
            Ok(length) => {
                self.unread.extend_from_slice(&buffer[..length]);
                return Ok(());
            }
            Err(error) if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe) => End::Reset,
            Err(error) => panic!("no answer: {error}"),
        };
        Err(if self.unread.is_empty() { end } else { End::Torn })
    }

    pub(crate) fn exchange(&mut self, request: &[u8]) -> Result<Answer, End> {
        self.write(request)?;
        self.answer()
    }

    pub(crate) fn get(&mut self, target: &str) -> Answer {
        let request = format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n");
        self.exchange(request.as_bytes()).unwrap_or_else(|end| panic!("{target}: {end:?}"))
    }

    pub(crate) fn solve(&mut self, question: &Value) -> Answer {
        self.exchange(&post(question, "")).unwrap_or_else(|end| panic!("{question}: {end:?}"))
    }
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> &str {
        let mut lines = self.head.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        lines.next().unwrap_or_default().trim()
    }

    /// Asserts the status.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        self
    }
}

/// A `POST /solve` request with additional headers, each terminated by CRLF.
pub(crate) fn post(question: &Value, headers: &str) -> Vec<u8> {
    request("POST", "/solve", Some(question), headers)
}

/// A request with additional headers, each terminated by CRLF.
pub(crate) fn request(method: &str, target: &str, question: Option<&Value>, headers: &str) -> Vec<u8> {
    let body = question.map(Value::to_string).unwrap_or_default();
    let content = match question {
        Some(_) => format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()),
        None => String::new(),
    };
    format!("{method} {target} HTTP/1.1\r\nHost: x\r\n{content}{headers}\r\n{body}").into_bytes()
}
