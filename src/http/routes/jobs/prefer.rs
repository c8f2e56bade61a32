//! Clients that prefer to wait until a job has changed (RFC 7240).

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName};
use tokio::time::{Instant, timeout_at};

use super::reply::tag_of;
use crate::http::negotiation::{is_known, weak_etag};
use crate::jobs::{Job, JobEngine};

pub(super) const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

const PREFER: HeaderName = HeaderName::from_static("prefer");

/// Longest wait, whatever is preferred.
const MAX_WAIT: u64 = 60;

/// How long a client prefers to wait. A preference that cannot be read is ignored.
pub(super) fn wait(headers: &HeaderMap) -> Option<Duration> {
    let values = headers.get_all(PREFER).iter().filter_map(|value| value.to_str().ok());
    let mut preferences = values.flat_map(|value| value.split(',')).filter_map(|preference| {
        let (name, value) = preference.split(';').next()?.split_once('=')?;
        name.trim().eq_ignore_ascii_case("wait").then(|| value.trim().trim_matches('"').parse::<u64>().ok())?
    });
    preferences.next().map(|seconds| Duration::from_secs(seconds.min(MAX_WAIT)))
}

/// Waits until the job is no longer what the client has, or, if it has nothing, until the job has ended.
pub(super) async fn wait_for_change(engine: &JobEngine, job: &Job, headers: &HeaderMap, wait: Duration) {
    let deadline = Instant::now() + wait;
    let mut changes = job.changes();
    let has_tags = headers.contains_key(axum::http::header::IF_NONE_MATCH);
    loop {
        let view = engine.view(job);
        let is_over = match view.state.is_ended() {
            true => true,
            false if has_tags => !is_known(headers, &weak_etag_of(&view)),
            false => false,
        };
        if is_over {
            return;
        }
        tokio::select! {
            changed = timeout_at(deadline, changes.changed()) => if changed.is_err() { return },
            () = engine.drained() => return,
        }
    }
}

fn weak_etag_of(view: &crate::jobs::JobView) -> axum::http::HeaderValue {
    weak_etag(&[crate::http::media_type::MediaType::Json.content_type().as_bytes(), &tag_of(view)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_wait_counts_and_is_bounded() {
        let of = |value: &'static str| {
            let headers = HeaderMap::from_iter([(PREFER, axum::http::HeaderValue::from_static(value))]);
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
