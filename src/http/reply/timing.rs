//! The `Server-Timing` header.

use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;

use crate::service::{Answer, Origin};

const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// Adds the header with the durations of queue and search. They are 0 for a cached response.
pub(crate) fn add_server_timing(response: &mut Response, answer: &Answer) {
    if let Ok(timing) = HeaderValue::try_from(server_timing(answer)) {
        response.headers_mut().insert(SERVER_TIMING, timing);
    }
}

fn server_timing(Answer { report, origin }: &Answer) -> String {
    if *origin == Origin::Cached {
        return "queue;dur=0, search;dur=0, cache;desc=hit".to_owned();
    }
    let mut text = String::with_capacity(64);
    for (name, time) in [("queue;dur=", report.queued), (", search;dur=", report.elapsed)] {
        // Milliseconds with three decimals. Adding 1000 keeps their leading zeros.
        let micros = time.as_micros() as u64;
        text.push_str(name);
        text.push_str(itoa::Buffer::new().format(micros / 1000));
        text.push('.');
        text.push_str(&itoa::Buffer::new().format(1000 + micros % 1000)[1..]);
    }
    text
}
