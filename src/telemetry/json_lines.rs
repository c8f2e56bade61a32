//! The JSON format of the log: one flat object a line, with the enclosing span.

use std::cell::{Cell, RefCell};
use std::fmt::{self, Write as _};
use std::io::Write as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use taquin_bulk::needs_escapes;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// A layer that writes each event as one line of JSON.
///
/// A span's fields are formatted once, when it begins, and an event's fields as they are visited. The JSON format of
/// tracing-subscriber collects both in maps for every line (docs/adr/0014).
#[derive(Debug)]
pub(crate) struct JsonLines<W>(pub(crate) W);

/// The span's part of a line, without its closing brace: `,"span":{…`. Stored with the span.
struct SpanText(String);

thread_local! {
    /// The buffer of the last line, reused for the next one.
    static LINE: Cell<String> = const { Cell::new(String::new()) };
}

impl<S, W> Layer<S> for JsonLines<W>
where
    S: Subscriber + for<'l> LookupSpan<'l>,
    W: for<'w> MakeWriter<'w> + 'static,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut text = String::with_capacity(128);
        for piece in [",\"span\":{\"name\":\"", attributes.metadata().name(), "\""] {
            text.push_str(piece);
        }
        attributes.record(&mut Members(&mut text));
        span.extensions_mut().insert(SpanText(text));
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        // Formatted before the span is locked: a value may log while it is formatted.
        let mut fields = String::new();
        values.record(&mut Members(&mut fields));
        if let Some(SpanText(text)) = span.extensions_mut().get_mut() {
            text.push_str(&fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let metadata = event.metadata();
        // Taken, not borrowed: a value may log while it is formatted.
        let mut line = LINE.take();
        line.push_str("{\"timestamp\":\"");
        write_time(&mut line);
        for piece in ["\",\"level\":\"", metadata.level().as_str(), "\",\"target\":\"", metadata.target(), "\""] {
            line.push_str(piece);
        }
        event.record(&mut Members(&mut line));
        if let Some(span) = context.event_span(event)
            && let Some(SpanText(text)) = span.extensions().get()
        {
            line.push_str(text);
            line.push('}');
        }
        line.push_str("}\n");
        // The log cannot log its own errors.
        let _ = self.0.make_writer_for(metadata).write_all(line.as_bytes());
        line.clear();
        LINE.set(line);
    }
}

/// Appends the time in UTC, to the microsecond. The part down to the second is formatted once a second.
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
    // The leading 1 keeps the zeros; it is cut off.
    line.push('.');
    line.push_str(&itoa::Buffer::new().format(1_000_000 + since.subsec_micros())[1..]);
    line.push('Z');
}

/// Writes fields as members of a JSON object, each with a leading comma.
struct Members<'l>(&'l mut String);

impl Members<'_> {
    /// Starts a member. Field names are literals of this program and need no escapes.
    fn name(&mut self, field: &Field) -> &mut String {
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
        // Writing to a string cannot fail.
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

/// Writes text as the inside of a JSON string, escaped.
struct Quoted<'l>(&'l mut String);

impl fmt::Write for Quoted<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if !needs_escapes(text) {
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

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use parking_lot::Mutex;
    use serde_json::{Value, json};
    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::registry;

    use super::*;

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().extend_from_slice(bytes);
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

    /// The lines that `events` logs, parsed, without their timestamps.
    fn lines_of(events: impl FnOnce()) -> Vec<Value> {
        let log = Log::default();
        tracing::subscriber::with_default(registry().with(JsonLines(log.clone())), events);
        let bytes = log.0.lock();
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
    fn any_text_is_escaped_into_one_line() {
        let all: String = (0..0x180).filter_map(char::from_u32).collect();
        let lines = lines_of(|| tracing::info!(text = all.as_str(), shown = %all, "say \"{}\"", "\\"));
        assert_eq!(lines.len(), 1);
        assert_eq!((lines[0]["text"].as_str(), lines[0]["shown"].as_str()), (Some(all.as_str()), Some(all.as_str())));
        assert_eq!(lines[0]["message"], "say \"\\\"");
    }

    #[test]
    fn a_line_contains_its_span() {
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

    #[test]
    fn fields_recorded_later_belong_to_the_span() {
        let lines = lines_of(|| {
            let span = tracing::error_span!("request", status = tracing::field::Empty);
            span.record("status", 200);
            tracing::info!(parent: &span, "inside");
        });
        assert_eq!(lines[0]["span"], json!({ "name": "request", "status": 200 }));
    }
}
