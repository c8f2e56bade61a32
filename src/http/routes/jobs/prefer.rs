//! Clients that prefer to wait until a job has changed (RFC 7240).

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use tokio::time::timeout;

use super::reply::tag_of;
use crate::http::media_type::MediaType;
use crate::http::negotiation::{is_known, weak_etag};
use crate::jobs::{Job, JobEngine, JobView};

pub(super) const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

const PREFER: HeaderName = HeaderName::from_static("prefer");

/// Maximum wait, which caps the preference.
const MAX_WAIT: u64 = 60;

/// Interval of checks in addition to notifications of changes.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// Parses the preferred wait. An invalid preference is ignored.
pub(super) fn wait(headers: &HeaderMap) -> Option<Duration> {
    let values = headers.get_all(PREFER).iter().filter_map(|value| value.to_str().ok());
    let mut preferences = values.flat_map(|value| value.split(',')).filter_map(|preference| {
        let (name, value) = preference.split(';').next()?.split_once('=')?;
        name.trim().eq_ignore_ascii_case("wait").then(|| value.trim().trim_matches('"').parse::<u64>().ok())?
    });
    preferences.next().map(|seconds| Duration::from_secs(seconds.min(MAX_WAIT)))
}

/// Waits until the job differs from the client's `If-None-Match`, or without `If-None-Match` until the job has ended.
pub(super) async fn wait_for_change(engine: &JobEngine, job: &Job, headers: &HeaderMap, wait: Duration) {
    let has_tags = headers.contains_key(header::IF_NONE_MATCH);
    let is_new = |view: &JobView| view.state.is_ended() || (has_tags && !is_known(headers, &etag_of(view)));
    tokio::select! {
        _ = timeout(wait, wait_until(engine, job, is_new)) => (),
        () = engine.drained() => (),
    }
}

/// Waits until `is_new` is true of the job.
pub(super) async fn wait_until(engine: &JobEngine, job: &Job, is_new: impl Fn(&JobView) -> bool) -> JobView {
    let mut changes = job.changes();
    loop {
        let view = engine.view(job);
        if is_new(&view) {
            return view;
        }
        // The reason why a job waits can change without a notification.
        let _ = timeout(LOOK_AGAIN, changes.changed()).await;
    }
}

/// The tag of the response with the job.
pub(super) fn etag_of(view: &JobView) -> HeaderValue {
    weak_etag(&[MediaType::Json.content_type().as_bytes(), &tag_of(view)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_wait_counts_and_is_bounded() {
        let of = |value: &'static str| {
            let headers = HeaderMap::from_iter([(PREFER, HeaderValue::from_static(value))]);
            wait(&headers).map(|wait| wait.as_secs())
        };
        assert_eq!(of("wait=5"), Some(5));
        assert_eq!(of("respond-async, Wait = \"7\"; x=1, wait=8"), Some(7));
        assert_eq!(of("wait=100000"), Some(60));
        for ignored in ["", "wait", "wait=", "wait=-1", "wait=1.5", "waits=3", "return=minimal"] {
            assert_eq!(of(ignored), None, "{ignored}");
        }
    }
}
