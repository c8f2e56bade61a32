//! Log lines as JSON: one flat object each, and the span around it.

use std::cell::{Cell, RefCell};
use std::fmt::{self, Write as _};
use std::io::Write as _;
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use slab::Slab;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};
use tracing_core::span::Current;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;

use super::lanes::{LANES, Lane, lane};

/// Writes events as JSON, each field as it comes.
///
/// It is a subscriber of its own, not a format of tracing-subscriber's: what a span says is written
/// once, when it begins, and a line is put together in one buffer. With the registry and its layers
/// a span and two lines took a fifth of what a request for a 3×3 board costs (docs/adr/0021).
#[derive(Debug)]
pub(super) struct JsonLines<W> {
    filter: Targets,
    writer: W,
    /// By the [`lane`] of the thread in which they began.
    spans: [Lane<Slab<Span>>; LANES],
}

/// A span that somebody holds.
#[derive(Debug)]
struct Span {
    metadata: &'static Metadata<'static>,
    member: Member,
    holders: usize,
}

/// What a span adds to a line within it: `,"span":{…}`.
type Member = Arc<str>;

/// A span that a thread is in.
struct Entered {
    id: Id,
    metadata: &'static Metadata<'static>,
    member: Member,
}

thread_local! {
    /// Innermost last.
    static ENTERED: RefCell<Vec<Entered>> = const { RefCell::new(Vec::new()) };
    /// The memory of the last line, for the next one.
    static LINE: Cell<String> = const { Cell::new(String::new()) };
}

impl<W> JsonLines<W> {
    pub(super) fn new(filter: Targets, writer: W) -> Self {
        Self { filter, writer, spans: Default::default() }
    }

    /// The spans among which one is, and its key there.
    fn spans(&self, id: &Id) -> (MutexGuard<'_, Slab<Span>>, usize) {
        let number = id.into_u64() as usize - 1;
        (self.spans[number % LANES].lock(), number / LANES)
    }

    /// The span that an event is in.
    fn member_around(&self, event: &Event<'_>) -> Option<Member> {
        match event.parent() {
            Some(id) => {
                let (spans, key) = self.spans(id);
                spans.get(key).map(|span| Arc::clone(&span.member))
            }
            None if event.is_root() => None,
            None => ENTERED.with_borrow(|entered| entered.last().map(|span| Arc::clone(&span.member))),
        }
    }
}

impl<W: for<'w> MakeWriter<'w> + 'static> Subscriber for JsonLines<W> {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.enabled(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.filter.would_enable(metadata.target(), metadata.level())
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        let of_targets = self.filter.iter().map(|(_, level)| level);
        of_targets.chain(self.filter.default_level()).max()
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let metadata = attributes.metadata();
        let mut member = String::with_capacity(128);
        for piece in [",\"span\":{\"name\":\"", metadata.name(), "\""] {
            member.push_str(piece);
        }
        attributes.record(&mut Members(&mut member));
        member.push('}');
        let lane = lane();
        let key = self.spans[lane].lock().insert(Span { metadata, member: member.into(), holders: 1 });
        Id::from_u64((key * LANES + lane) as u64 + 1)
    }

    /// For the sake of the contract: spans of this program are complete when they begin. Values must not
    /// touch spans while they are written, and threads that are in the span go on with what it said.
    fn record(&self, id: &Id, values: &Record<'_>) {
        let (mut spans, key) = self.spans(id);
        if let Some(span) = spans.get_mut(key) {
            let mut member = span.member.strip_suffix('}').unwrap_or_default().to_owned();
            values.record(&mut Members(&mut member));
            member.push('}');
            span.member = member.into();
        }
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let metadata = event.metadata();
        // Whoever logs while a field of a line is written has memory of its own.
        let mut line = LINE.take();
        line.push_str("{\"timestamp\":\"");
        write_time(&mut line);
        for piece in ["\",\"level\":\"", metadata.level().as_str(), "\",\"target\":\"", metadata.target(), "\""] {
            line.push_str(piece);
        }
        event.record(&mut Members(&mut line));
        if let Some(member) = self.member_around(event) {
            line.push_str(&member);
        }
        line.push_str("}\n");
        // There is nowhere to tell of a log that cannot be written.
        let _ = self.writer.make_writer_for(metadata).write_all(line.as_bytes());
        line.clear();
        LINE.set(line);
    }

    fn enter(&self, id: &Id) {
        let (spans, key) = self.spans(id);
        if let Some(Span { metadata, member, .. }) = spans.get(key) {
            let (metadata, member) = (*metadata, Arc::clone(member));
            drop(spans);
            ENTERED.with_borrow_mut(|entered| entered.push(Entered { id: id.clone(), metadata, member }));
        }
    }

    fn exit(&self, id: &Id) {
        ENTERED.with_borrow_mut(|entered| {
            if let Some(at) = entered.iter().rposition(|span| span.id == *id) {
                entered.remove(at);
            }
        });
    }

    fn clone_span(&self, id: &Id) -> Id {
        let (mut spans, key) = self.spans(id);
        if let Some(span) = spans.get_mut(key) {
            span.holders += 1;
        }
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        let (mut spans, key) = self.spans(&id);
        let Some(span) = spans.get_mut(key) else { return false };
        span.holders -= 1;
        let is_last = span.holders == 0;
        if is_last {
            spans.remove(key);
        }
        is_last
    }

    fn current_span(&self) -> Current {
        ENTERED.with_borrow(|entered| match entered.last() {
            Some(span) => Current::new(span.id.clone(), span.metadata),
            None => Current::none(),
        })
    }
}

/// The time in UTC, to the microsecond. What does not change for a second is written once in it.
fn write_time(line: &mut String) {
    thread_local! {
        static SECOND: RefCell<(u64, String)> = const { RefCell::new((u64::MAX, String::new())) };
    }
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    SECOND.with_borrow_mut(|(second, text)| {
        if *second != since.as_secs() {
            *second = since.as_secs();
            *text = humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(*second)).to_string();
        }
        line.push_str(text.strip_suffix('Z').unwrap_or(text));
    });
    // A one in front keeps the zeros.
    line.push('.');
    line.push_str(&itoa::Buffer::new().format(1_000_000 + since.subsec_micros())[1..]);
    line.push('Z');
}

/// Writes fields as members of a JSON object, a comma before each.
struct Members<'l>(&'l mut String);

impl Members<'_> {
    /// Begins a member; names are the program's own, and plain.
    fn name(&mut self, field: &Field) -> &mut String {
        // One by one: what is known beforehand is copied without a call.
        self.0.push_str(",\"");
        self.0.push_str(field.name());
        self.0.push_str("\":");
        self.0
    }

    fn number(&mut self, field: &Field, number: impl itoa::Integer) {
        self.name(field).push_str(itoa::Buffer::new().format(number));
    }
}

impl Visit for Members<'_> {
    fn record_f64(&mut self, field: &Field, value: f64) {
        let line = self.name(field);
        // Writing to a string does not fail, here and below.
        let _ = if value.is_finite() { write!(line, "{value}") } else { line.write_str("null") };
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.number(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.number(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.name(field).push_str(if value { "true" } else { "false" });
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let line = self.name(field);
        line.push('"');
        let _ = Quoted(line).write_str(value);
        line.push('"');
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let line = self.name(field);
        line.push('"');
        let _ = write!(Quoted(line), "{value:?}");
        line.push('"');
    }
}

/// The inside of a JSON string.
struct Quoted<'l>(&'l mut String);

impl fmt::Write for Quoted<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if !has_special(text.as_bytes()) {
            self.0.push_str(text);
            return Ok(());
        }
        for char in text.chars() {
            match char {
                '"' => self.0.push_str("\\\""),
                '\\' => self.0.push_str("\\\\"),
                '\n' => self.0.push_str("\\n"),
                control if control < ' ' => write!(self.0, "\\u{:04x}", u32::from(control))?,
                plain => self.0.push(plain),
            }
        }
        Ok(())
    }
}

/// Whether a byte is a control character, a quote or a backslash: eight at a time, as nearly all texts
/// have none.
fn has_special(text: &[u8]) -> bool {
    let is_special = |byte: &u8| *byte < b' ' || matches!(byte, b'"' | b'\\');
    let in_each = |byte: u8| u64::from_le_bytes([byte; 8]);
    // Not zero if any byte is less than another, which is at most 128.
    let less = |word: u64, than: u8| word.wrapping_sub(in_each(than)) & !word & in_each(0x80);
    let has_any = |eight: &[u8; 8]| {
        let word = u64::from_le_bytes(*eight);
        less(word, b' ') | less(word ^ in_each(b'"'), 1) | less(word ^ in_each(b'\\'), 1) != 0
    };
    match (text.as_chunks::<8>(), text.last_chunk::<8>()) {
        ((eights, _), Some(last)) => eights.iter().any(has_any) || has_any(last),
        _ => text.iter().any(is_special),
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use serde_json::{Value, json};
    use tracing_subscriber::fmt::MakeWriter;

    use super::*;

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl<'a> MakeWriter<'a> for Log {
        type Writer = Self;

        fn make_writer(&'a self) -> Self {
            self.clone()
        }
    }

    /// What the log has after `events`, a value for each line, without the times.
    fn lines_of(events: impl FnOnce()) -> Vec<Value> {
        let log = Log::default();
        let filter = Targets::new().with_default(tracing::Level::TRACE);
        tracing::subscriber::with_default(JsonLines::new(filter, log.clone()), events);
        let bytes = log.0.lock().unwrap();
        let lines = std::str::from_utf8(&bytes).unwrap().lines();
        lines
            .map(|line| {
                let mut value: Value = serde_json::from_str(line).expect(line);
                let time = value.as_object_mut().unwrap().remove("timestamp").unwrap();
                assert!(time.as_str().unwrap().ends_with('Z'), "{time}");
                value
            })
            .collect()
    }

    #[test]
    fn special_bytes_are_found_wherever_they_stand() {
        for length in 0..=20 {
            for at in 0..length {
                for byte in 0..=u8::MAX {
                    let mut text = vec![b'a'; length];
                    text[at] = byte;
                    let is_special = byte < b' ' || byte == b'"' || byte == b'\\';
                    assert_eq!(has_special(&text), is_special, "{byte} at {at} of {length}");
                }
            }
        }
    }

    #[test]
    fn every_kind_of_value_is_a_member() {
        let lines = lines_of(|| {
            let absent: Option<&str> = None;
            tracing::event!(
                target: "taquin::test",
                tracing::Level::WARN,
                job.count = 3_u64,
                job.change = -3,
                job.share = 0.5,
                job.ratio = f64::NAN,
                job.done = true,
                job.name = "n",
                job.shape = ?(1, 2),
                job.absent = absent,
                "{} lines", 2
            );
        });
        let expected = json!({
            "level": "WARN", "target": "taquin::test", "message": "2 lines", "job.count": 3, "job.change": -3,
            "job.share": 0.5, "job.ratio": null, "job.done": true, "job.name": "n", "job.shape": "(1, 2)",
        });
        assert_eq!(lines, [expected]);
    }

    #[test]
    fn whatever_a_text_holds_it_stays_one_line_and_one_string() {
        let all: String = (0..0x180).filter_map(char::from_u32).collect();
        let lines = lines_of(|| tracing::info!(text = all.as_str(), shown = %all, "say \"{}\"", "\\"));
        assert_eq!(lines.len(), 1);
        assert_eq!((lines[0]["text"].as_str(), lines[0]["shown"].as_str()), (Some(all.as_str()), Some(all.as_str())));
        assert_eq!(lines[0]["message"], "say \"\\\"");
    }

    #[test]
    fn a_line_tells_of_the_span_around_it() {
        let lines = lines_of(|| {
            let absent: Option<&str> = None;
            tracing::error_span!("request", http.request_id = "a\"b", trace_id = absent).in_scope(|| {
                tracing::info!("inside");
            });
            tracing::info!("outside");
        });
        assert_eq!(lines[0]["span"], json!({ "name": "request", "http.request_id": "a\"b" }));
        assert_eq!(lines[1].get("span"), None);
    }
}
