//! A job as JSON.

use std::time::SystemTime;

use serde::Serialize;
use serde_json::Value;
use taquin_bulk::JobSpec;
use taquin_solver::Named;

use crate::http::reply::json;
use crate::jobs::JobView;

#[derive(Debug, Serialize)]
pub(super) struct JobReply {
    id: String,
    state: &'static str,
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spec: Option<Value>,
    counts: CountsReply,
    parts: PartsReply,
    estimate: EstimateReply,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_per_second: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    eta_seconds: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting_for: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Debug, Serialize)]
struct CountsReply {
    total: u64,
    done: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    failed: Option<u64>,
}

#[derive(Debug, Serialize)]
struct PartsReply {
    total: u64,
    done: u64,
}

#[derive(Debug, Serialize)]
struct EstimateReply {
    core_seconds: f64,
}

impl JobReply {
    pub(super) fn new(view: &JobView) -> Self {
        let counts = view.counts;
        Self {
            id: view.id.to_string(),
            state: view.state.name(),
            created_at: time(view.created),
            ended_at: view.ended.map(time),
            expires_at: view.expires.map(time),
            folder: view.folder.map(|folder| folder.to_string()),
            spec: view.spec.as_ref().map(spec),
            counts: CountsReply { total: counts.boards, done: counts.done, failed: counts.failed },
            parts: PartsReply { total: counts.parts, done: counts.stored_parts },
            estimate: EstimateReply { core_seconds: rounded(view.core_seconds, 1e6) },
            rate_per_second: view.rate.map(|rate| rounded(rate, 1e3)),
            eta_seconds: view.eta_seconds(),
            waiting_for: view.waiting_for.map(Named::name),
            reason: view.reason.clone(),
        }
    }
}

/// The JSON of a job.
pub(super) fn json_of(view: &JobView) -> Vec<u8> {
    json(&JobReply::new(view))
}

/// Entity tag of a job. The tag does not depend on the rate, which changes all the time.
pub(super) fn tag_of(view: &JobView) -> Vec<u8> {
    json(&JobReply { rate_per_second: None, eta_seconds: None, ..JobReply::new(view) })
}

/// The members of `spec.json` that describe the job.
fn spec(spec: &JobSpec) -> Value {
    let mut json: Value = serde_json::from_slice(&spec.to_json()).unwrap_or_default();
    if let Some(members) = json.as_object_mut() {
        for of_file in ["format", "sha256"] {
            members.shift_remove(of_file);
        }
        if let Some(input) = members.get_mut("input").and_then(Value::as_object_mut) {
            for of_files in ["problems_before", "sums_sha256"] {
                input.shift_remove(of_files);
            }
        }
    }
    json
}

/// A time in UTC, to the millisecond (RFC 3339).
fn time(time: SystemTime) -> String {
    humantime::format_rfc3339_millis(time).to_string()
}

fn rounded(number: f64, unit: f64) -> f64 {
    (number * unit).round() / unit
}
