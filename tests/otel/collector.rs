//! A collector: receives OTLP over HTTP and stores the spans. It decodes protobuf by field number, independently of the
//! exporter's library, so that the test sees the bytes on the wire.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A received span, with the attributes of its resource.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) resource: BTreeMap<String, Value>,
    pub(crate) trace_id: String,
    pub(crate) span_id: String,
    pub(crate) parent_id: String,
    pub(crate) trace_state: String,
    pub(crate) name: String,
    pub(crate) kind: u64,
    pub(crate) nanos: u64,
    pub(crate) is_error: bool,
    pub(crate) attributes: BTreeMap<String, Value>,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Value {
    Text(String),
    Number(i64),
}

impl Span {
    pub(crate) fn text(&self, name: &str) -> &str {
        match &self.attributes.get(name) {
            Some(Value::Text(text)) => text,
            other => panic!("{name} is {other:?}: {self:?}"),
        }
    }

    pub(crate) fn number(&self, name: &str) -> i64 {
        match self.attributes.get(name) {
            Some(Value::Number(number)) => *number,
            other => panic!("{name} is {other:?}: {self:?}"),
        }
    }
}

/// Listens until the process ends.
pub(crate) struct Collector {
    pub(crate) address: SocketAddr,
    spans: Arc<Mutex<Vec<Span>>>,
}

impl Collector {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, spans) = (listener.local_addr().unwrap(), Arc::<Mutex<Vec<Span>>>::default());
        let kept = Arc::clone(&spans);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let batch = take(&mut stream.unwrap());
                kept.lock().unwrap().extend(spans_of(&batch));
            }
        });
        Self { address, spans }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn spans(&self) -> Vec<Span> {
        self.spans.lock().unwrap().clone()
    }
}

/// Reads one request and answers it as OTLP wants; gives its body.
fn take(stream: &mut TcpStream) -> Vec<u8> {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut lines = reader.by_ref().lines().map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), "POST /v1/traces HTTP/1.1");
    let headers: BTreeMap<String, String> = lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned())))
        .collect();
    assert_eq!(headers["content-type"], "application/x-protobuf");
    assert_eq!(headers["host"], stream.local_addr().unwrap().to_string());
    let mut body = vec![0; headers["content-length"].parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n").unwrap();
    body
}

/// A field of a protobuf message: its number and what it holds.
enum Field<'b> {
    Number(u64),
    Bytes(&'b [u8]),
}

fn fields(mut message: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut fields = Vec::new();
    while !message.is_empty() {
        let tag = varint(&mut message);
        let field = match tag & 7 {
            0 => Field::Number(varint(&mut message)),
            1 => Field::Number(u64::from_le_bytes(bytes(&mut message, 8).try_into().unwrap())),
            5 => Field::Number(u32::from_le_bytes(bytes(&mut message, 4).try_into().unwrap()).into()),
            2 => {
                let length = varint(&mut message);
                Field::Bytes(bytes(&mut message, length as usize))
            }
            other => panic!("wire type {other}"),
        };
        fields.push((tag >> 3, field));
    }
    fields
}

fn varint(message: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = bytes(message, 1)[0];
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    number
}

fn bytes<'b>(message: &mut &'b [u8], count: usize) -> &'b [u8] {
    let (taken, rest) = message.split_at(count);
    *message = rest;
    taken
}

/// The sub-messages that are field `number`.
fn messages(message: &[u8], number: u64) -> impl Iterator<Item = &[u8]> {
    fields(message).into_iter().filter_map(move |(other, field)| match field {
        Field::Bytes(bytes) if other == number => Some(bytes),
        _ => None,
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn attributes<'m>(pairs: impl Iterator<Item = &'m [u8]>) -> BTreeMap<String, Value> {
    let value_of = |value: &[u8]| match fields(value).pop() {
        Some((1, Field::Bytes(bytes))) => Value::Text(text(bytes)),
        Some((3, Field::Number(number))) => Value::Number(number as i64),
        _ => panic!("another kind of value: {value:?}"),
    };
    pairs.map(|pair| (text(messages(pair, 1).next().unwrap()), value_of(messages(pair, 2).next().unwrap()))).collect()
}

/// `ExportTraceServiceRequest`.
fn spans_of(request: &[u8]) -> Vec<Span> {
    let mut spans = Vec::new();
    for resource_spans in messages(request, 1) {
        let resource = attributes(messages(resource_spans, 1).flat_map(|resource| messages(resource, 1)));
        for scope_spans in messages(resource_spans, 2) {
            spans.extend(messages(scope_spans, 2).map(|span| span_of(span, resource.clone())));
        }
    }
    spans
}

fn span_of(span: &[u8], resource: BTreeMap<String, Value>) -> Span {
    let first = |number| messages(span, number).next().unwrap_or_default();
    let number = |wanted| {
        let found = fields(span).into_iter().find(|(number, _)| *number == wanted);
        found.map_or(0, |(_, field)| if let Field::Number(number) = field { number } else { panic!("{wanted}") })
    };
    Span {
        resource,
        trace_id: hex(first(1)),
        span_id: hex(first(2)),
        trace_state: text(first(3)),
        parent_id: hex(first(4)),
        name: text(first(5)),
        kind: number(6),
        nanos: number(8) - number(7),
        is_error: fields(first(15)).iter().any(|(number, field)| *number == 3 && matches!(field, Field::Number(2))),
        attributes: attributes(messages(span, 9)),
    }
}
