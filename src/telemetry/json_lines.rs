//! Log lines as JSON: one flat object each, and the span around it.

use std::cell::RefCell;
use std::fmt::{self, Write};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

/// Writes events as JSON, each field as it comes.
///
/// The JSON format that tracing-subscriber brings collects fields in maps, and reads the span's
/// fields back from text for every line: a quarter of what a request costs when it asks for a
/// 3×3 board. What this one writes is the same but for the order.
#[derive(Clone, Copy, Debug)]
pub(super) struct JsonLines;

impl<S, N> FormatEvent<S, N> for JsonLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, context: &FmtContext<'_, S, N>, mut line: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let metadata = event.metadata();
        line.write_str("{\"timestamp\":\"")?;
        write_time(&mut line)?;
        for piece in ["\",\"level\":\"", metadata.level().as_str(), "\",\"target\":\"", metadata.target(), "\""] {
            line.write_str(piece)?;
        }
        write_fields(&mut line, |fields| event.record(fields))?;
        if let Some(span) = context.parent_span() {
            for piece in [",\"span\":{\"name\":\"", span.name(), "\""] {
                line.write_str(piece)?;
            }
            if let Some(fields) = span.extensions().get::<FormattedFields<N>>() {
                line.write_str(fields)?;
            }
            line.write_char('}')?;
        }
        line.write_str("}\n")
    }
}

/// The time in UTC, to the microsecond. What does not change for a second is written once in it.
fn write_time(line: &mut Writer<'_>) -> fmt::Result {
    thread_local! {
        static SECOND: RefCell<(u64, String)> = const { RefCell::new((u64::MAX, String::new())) };
    }
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    SECOND.with_borrow_mut(|(second, text)| {
        if *second != since.as_secs() {
            *second = since.as_secs();
            *text = humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(*second)).to_string();
        }
        line.write_str(text.strip_suffix('Z').unwrap_or(text))
    })?;
    // A one in front keeps the zeros.
    line.write_char('.')?;
    line.write_str(&itoa::Buffer::new().format(1_000_000 + since.subsec_micros())[1..])?;
    line.write_char('Z')
}

/// Writes the fields of a span as [`JsonLines`] puts them into a line: members, a comma before each.
#[derive(Clone, Copy, Debug)]
pub(super) struct JsonMembers;

impl<'a> FormatFields<'a> for JsonMembers {
    fn format_fields<R: tracing_subscriber::field::RecordFields>(
        &self,
        mut writer: Writer<'a>,
        fields: R,
    ) -> fmt::Result {
        write_fields(&mut writer, |members| fields.record(members))
    }
}

fn write_fields(line: &mut Writer<'_>, record: impl FnOnce(&mut dyn Visit)) -> fmt::Result {
    let mut members = Members { line, result: Ok(()) };
    record(&mut members);
    members.result
}

/// Members of a JSON object, a comma before each.
struct Members<'l, 'w> {
    line: &'l mut Writer<'w>,
    result: fmt::Result,
}

impl Members<'_, '_> {
    fn member(&mut self, field: &Field, value: impl FnOnce(&mut Writer<'_>) -> fmt::Result) {
        if self.result.is_ok() {
            self.result = self.name(field).and_then(|()| value(self.line));
        }
    }

    /// Names are the program's own, and plain.
    fn name(&mut self, field: &Field) -> fmt::Result {
        [",\"", field.name(), "\":"].iter().try_for_each(|piece| self.line.write_str(piece))
    }
}

impl Visit for Members<'_, '_> {
    fn record_f64(&mut self, field: &Field, value: f64) {
        let is_number = value.is_finite();
        self.member(field, |line| if is_number { write!(line, "{value}") } else { line.write_str("null") });
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.member(field, |line| line.write_str(itoa::Buffer::new().format(value)));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.member(field, |line| line.write_str(itoa::Buffer::new().format(value)));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.member(field, |line| line.write_str(if value { "true" } else { "false" }));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.member(field, |line| {
            line.write_char('"')?;
            Quoted(line).write_str(value)?;
            line.write_char('"')
        });
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.member(field, |line| Quoted(line).quote(format_args!("{value:?}")));
    }
}

/// The inside of a JSON string.
struct Quoted<'l, 'w>(&'l mut Writer<'w>);

impl Quoted<'_, '_> {
    fn quote(&mut self, value: fmt::Arguments<'_>) -> fmt::Result {
        self.0.write_char('"')?;
        self.write_fmt(value)?;
        self.0.write_char('"')
    }
}

impl Write for Quoted<'_, '_> {
    fn write_str(&mut self, mut text: &str) -> fmt::Result {
        let is_special = |byte: u8| byte < b' ' || byte == b'"' || byte == b'\\';
        while let Some(at) = text.bytes().position(is_special) {
            let (plain, rest) = text.split_at(at);
            let (special, after) = rest.split_at(1);
            self.0.write_str(plain)?;
            match special {
                "\"" => self.0.write_str("\\\"")?,
                "\\" => self.0.write_str("\\\\")?,
                "\n" => self.0.write_str("\\n")?,
                control => write!(self.0, "\\u{:04x}", control.as_bytes()[0])?,
            }
            text = after;
        }
        self.0.write_str(text)
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
        let builder = tracing_subscriber::fmt().event_format(JsonLines).fmt_fields(JsonMembers);
        tracing::subscriber::with_default(builder.with_writer(log.clone()).finish(), events);
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
