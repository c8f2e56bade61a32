//! `GET /jobs`: the jobs of a client, page by page.

use axum::extract::Request;
use axum::response::Response;
use serde::Serialize;
use taquin_bulk::JobId;
use taquin_bulk::fields::FieldReader;

use super::caller::Caller;
use super::failure;
use super::reply::JobReply;
use crate::http::media_type::MediaType;
use crate::http::negotiation::{Document, choose};
use crate::http::problem::Problem;
use crate::http::reply::json;
use crate::http::request::parse_query;
use crate::jobs::{JobEngine, JobState};

#[derive(Debug, Serialize)]
struct ListReply {
    jobs: Vec<JobReply>,
    /// The cursor of the next page, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

const FIELDS: [&str; 3] = ["state", "limit", "cursor"];
const MAX_LIMIT: i64 = 100;
const DEFAULT_LIMIT: u64 = 20;

/// Handles GET: the jobs of the client, the newest first.
pub(in crate::http::routes) async fn list(caller: Caller, request: Request) -> Result<Response, Problem> {
    let headers = request.headers();
    choose(headers, &[MediaType::Json])?;
    let query = parse_query(request.uri().query().unwrap_or_default())?;
    let mut fields = FieldReader::new(query, None, &FIELDS);
    let state: Option<JobState> = fields.choice("state", None);
    let limit = fields.integer("limit", 1..=MAX_LIMIT).unwrap_or(DEFAULT_LIMIT) as usize;
    let after = fields.parsed("cursor", cursor_of);
    fields.finish(Some(()))?;
    let is_after = |rank| after.is_none_or(|after| rank < after);
    let jobs = caller.engine.jobs(caller.owner).await.map_err(|error| failure::of_store(&error))?;
    let jobs = jobs.into_iter().filter(|job| is_after(JobEngine::rank(job)));
    let mut jobs = jobs.filter(|job| state.is_none_or(|state| job.state() == state)).peekable();
    let (mut page, mut last) = (Vec::new(), None);
    while page.len() < limit
        && let Some(job) = jobs.next()
    {
        page.push(JobReply::new(&caller.engine.view(&job)));
        last = Some(JobEngine::rank(&job));
    }
    let next = last.filter(|_| jobs.peek().is_some()).map(|(created, id)| format!("{created:x}-{id}"));
    let body = json(&ListReply { jobs: page, next });
    Ok(Document::new(MediaType::Json.content_type(), Document::NO_STORE, body).response(headers))
}

/// Parses a cursor that an earlier response had as `next`.
fn cursor_of(text: &str) -> Result<(u64, JobId), (&'static str, String)> {
    let parts =
        text.split_once('-').and_then(|(created, id)| Some((u64::from_str_radix(created, 16).ok()?, id.parse().ok()?)));
    parts.ok_or_else(|| ("unknown-value", "`cursor` must be the `next` of an earlier list".to_owned()))
}
