//! The `Server-Timing` header.

use axum::http::HeaderName;

use crate::service::{Answer, Origin};

/// The header that says how long the job waited and searched.
pub(crate) const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");

/// What the time went by with: none was spent on what was kept.
pub(crate) fn server_timing(Answer { report, origin }: &Answer) -> String {
    if *origin == Origin::Cached {
        return "queue;dur=0, search;dur=0, cache;desc=hit".to_owned();
    }
    let mut text = String::with_capacity(64);
    for (name, time) in [("queue;dur=", report.queued), (", search;dur=", report.elapsed)] {
        // Milliseconds with three decimals; a one in front of them keeps their zeros.
        let micros = time.as_micros() as u64;
        text.push_str(name);
        text.push_str(itoa::Buffer::new().format(micros / 1000));
        text.push('.');
        text.push_str(&itoa::Buffer::new().format(1000 + micros % 1000)[1..]);
    }
    text
}
