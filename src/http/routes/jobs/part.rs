//! `GET /jobs/{id}/parts/{part}`: the stored file with the labels of a chunk (docs/JOB_FILES.md).

use std::ops::Range;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use taquin_bulk::{JobError, sha256_hex};

use super::caller::{Caller, blocking};
use crate::http::media_type::MediaType;
use crate::http::negotiation::{choose, is_known, is_matched};
use crate::http::problem::{Problem, ProblemKind};
use crate::http::reply::{reserve_if_long, with_reservation};
use crate::http::state::AppState;
use crate::jobs::{Job, JobState};

/// A part never changes, but a job that is created with the key of a deleted job has the path of the deleted job.
const CACHE_CONTROL: &str = "private, no-cache";

/// Handles GET.
pub(in crate::http::routes) async fn part(
    State(state): State<AppState>,
    caller: Caller,
    Path((id, part)): Path<(String, String)>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    choose(&headers, &[MediaType::Binary])?;
    let job = caller.job(&id).await?;
    let number = existing(number_of(&part), &job)?;
    // Reserve memory first: the digest needs all bytes, also for a range and for HEAD.
    let length = caller.read(&job, move |job| existing_part(job, number, job.stored().part_length(number)?)).await?;
    let length = length.ok_or_else(|| not_yet(&job, number))?;
    let reservation = reserve_if_long(&state.service, caller.token, usize::try_from(length).unwrap_or(usize::MAX))?;
    let read = caller.read(&job, move |job| existing_part(job, number, job.stored().part_bytes(number)?)).await?;
    let bytes = read.ok_or_else(|| not_yet(&job, number))?;
    let reader = Arc::clone(&caller.readers).acquire_owned().await.map_err(|_| Problem::internal())?;
    let digested = move || {
        let _reader = reader;
        (sha256_hex(&bytes), with_reservation(bytes, reservation))
    };
    let (digest, bytes) = blocking(digested).await?;
    let tag = HeaderValue::try_from(format!("\"{digest}\"")).map_err(|_| Problem::internal())?;
    respond(&method, &headers, bytes, &tag)
}

/// Checks that the job has a part of this number.
///
/// # Errors
/// `not-found`.
pub(super) fn existing(number: Option<u64>, job: &Job) -> Result<u64, Problem> {
    let parts = job.stored().spec().chunks();
    number.filter(|number| *number < parts).ok_or_else(|| {
        let detail = match parts.checked_sub(1) {
            Some(last) => format!("The job has no part of this number: its parts are 0 to {last}."),
            None => "The files of the job are damaged, so that its parts are not known.".to_owned(),
        };
        Problem::new(ProblemKind::NotFound, detail)
    })
}

/// Parses a number without sign and leading zeros.
pub(super) fn number_of(text: &str) -> Option<u64> {
    text.parse::<u64>().ok().filter(|number| number.to_string() == text)
}

/// Checks the result of reading a part.
///
/// # Errors
/// [`JobError`] if the part of a completed job is missing.
pub(super) fn existing_part<T>(job: &Job, number: u64, found: Option<T>) -> Result<Option<T>, JobError> {
    match found {
        None if job.state() == JobState::Completed => Err(job.stored().missing_part(number)),
        found => Ok(found),
    }
}

/// The problem of a part that is not stored.
pub(super) fn not_yet(job: &Job, number: u64) -> Problem {
    let when = if job.state().is_ended() { "does not exist" } else { "is not there yet" };
    let detail = format!("Part {number} {when}. `GET /jobs/{{id}}` has the state of the job.");
    Problem::new(ProblemKind::NotFound, detail)
}

/// Responds with bytes, or with a range of them (RFC 9110, section 14).
fn respond(method: &Method, headers: &HeaderMap, bytes: Bytes, tag: &HeaderValue) -> Result<Response, Problem> {
    if !is_matched(headers, Some(tag)) {
        let detail = "No tag in `If-Match` is the tag of the part.";
        return Err(Problem::new(ProblemKind::PreconditionFailed, detail));
    }
    let mut response = if is_known(headers, tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        // Only GET supports ranges (section 14.2).
        let range = if *method == Method::GET { range_of(headers, bytes.len(), tag)? } else { None };
        match range {
            None => bytes.into_response(),
            Some(range) => {
                let content = format!("bytes {}-{}/{}", range.start, range.end - 1, bytes.len());
                let mut response = (StatusCode::PARTIAL_CONTENT, bytes.slice(range)).into_response();
                if let Ok(content) = HeaderValue::try_from(content) {
                    response.headers_mut().insert(header::CONTENT_RANGE, content);
                }
                response
            }
        }
    };
    let own = response.headers_mut();
    own.insert(header::CONTENT_TYPE, HeaderValue::from_static(MediaType::Binary.content_type()));
    own.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    own.insert(header::CACHE_CONTROL, HeaderValue::from_static(CACHE_CONTROL));
    own.insert(header::ETAG, tag.clone());
    Ok(response)
}

/// The requested range; `None` for all bytes: without a range, with several, or if `If-Range` has another tag.
///
/// # Errors
/// `range-not-satisfiable` if the range begins after the end.
fn range_of(headers: &HeaderMap, length: usize, tag: &HeaderValue) -> Result<Option<Range<usize>>, Problem> {
    let is_current = headers.get(header::IF_RANGE).is_none_or(|other| other == tag);
    let Some(text) = headers.get(header::RANGE).filter(|_| is_current).and_then(|range| range.to_str().ok()) else {
        return Ok(None);
    };
    let Some((first, last)) = text.strip_prefix("bytes=").and_then(|range| range.split_once('-')) else {
        return Ok(None);
    };
    let range = match (first.trim().parse::<usize>(), last.trim().parse::<usize>()) {
        (Ok(first), Ok(last)) if first <= last => first..last.saturating_add(1).min(length),
        (Ok(first), Err(_)) if last.trim().is_empty() => first..length,
        (Err(_), Ok(most)) if first.trim().is_empty() => length - most.min(length)..length,
        _ => return Ok(None),
    };
    if range.start < range.end {
        return Ok(Some(range));
    }
    let detail = format!("The range begins behind the last byte of the part, which has {length} bytes.");
    let problem = Problem::new(ProblemKind::RangeNotSatisfiable, detail);
    Err(match HeaderValue::try_from(format!("bytes */{length}")) {
        Ok(content) => problem.with_header(header::CONTENT_RANGE, content),
        Err(_) => problem,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAG: HeaderValue = HeaderValue::from_static("\"a\"");

    fn range(text: &str) -> Result<Option<Range<usize>>, ProblemKind> {
        let headers = HeaderMap::from_iter([(header::RANGE, HeaderValue::from_str(text).unwrap())]);
        range_of(&headers, 100, &TAG).map_err(|problem| problem.kind)
    }

    #[test]
    fn a_range_is_cut_to_the_bytes() {
        assert_eq!(range("bytes=0-0"), Ok(Some(0..1)));
        assert_eq!(range("bytes=10-19"), Ok(Some(10..20)));
        assert_eq!(range("bytes=90-1000"), Ok(Some(90..100)));
        assert_eq!(range("bytes=90-18446744073709551615"), Ok(Some(90..100)));
        assert_eq!(range("bytes=99-"), Ok(Some(99..100)));
        assert_eq!(range("bytes=-5"), Ok(Some(95..100)));
        assert_eq!(range("bytes=-500"), Ok(Some(0..100)));
        for whole in ["bytes=", "bytes=-", "bytes=5-3", "bytes=a-b", "bytes=0-1,3-4", "lines=0-1", "bytes=+1x-"] {
            assert_eq!(range(whole), Ok(None), "{whole}");
        }
        for beyond in ["bytes=100-", "bytes=100-200", "bytes=-0"] {
            assert_eq!(range(beyond), Err(ProblemKind::RangeNotSatisfiable), "{beyond}");
        }
    }

    #[test]
    fn a_range_of_another_version_is_ignored() {
        let range = (header::RANGE, HeaderValue::from_static("bytes=1-2"));
        for (tag, expected) in [("\"a\"", Some(1..3)), ("\"b\"", None), ("W/\"a\"", None)] {
            let headers = HeaderMap::from_iter([range.clone(), (header::IF_RANGE, HeaderValue::from_static(tag))]);
            assert_eq!(range_of(&headers, 100, &TAG).unwrap(), expected, "{tag}");
        }
    }
}
