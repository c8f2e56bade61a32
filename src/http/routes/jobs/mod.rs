//! `/jobs`: many boards, solved on workers that no search could use, without a time limit (docs/adr/0023).

mod caller;
mod delete;
mod events;
mod failure;
mod list;
mod part;
mod prefer;
mod recipe;
mod reply;
mod results;
mod upload;

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;

use crate::http::media_type::MediaType;
use crate::http::negotiation::{Document, choose};
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::jobs::Job;
use caller::Caller;
pub(super) use delete::delete;
pub(super) use events::events;
pub(super) use list::list;
pub(super) use part::part;
use recipe::JobBody;
pub(super) use results::results;

/// Handles POST: creates a job from a recipe or from the rows of the body.
pub(super) async fn create(
    State(state): State<AppState>,
    caller: Caller,
    request: Request,
) -> Result<Response, Problem> {
    let (head, body) = request.into_parts();
    let (key, job_body) = read_head(&head.headers, &state)?;
    let draft = match job_body {
        JobBody::Recipe => recipe::draft(&head, body, &state, &caller).await?,
        JobBody::Rows(format) => upload::draft(&head, format, body, &state, &caller, key.as_deref()).await?,
    };
    let created = caller.engine.create(caller.owner, key.as_deref(), draft).await;
    let job = created.map_err(|error| failure::of_create(&error))?;
    let mut response = Response::new(Body::from(reply::json_of(&caller.engine.view(&job))));
    *response.status_mut() = StatusCode::ACCEPTED;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(MediaType::Json.content_type()));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(Document::NO_STORE));
    if let Ok(location) = HeaderValue::try_from(format!("{}/jobs/{}", state.site.base_path, job.id())) {
        headers.insert(header::LOCATION, location);
    }
    Ok(response)
}

fn read_head(headers: &HeaderMap, state: &AppState) -> Result<(Option<String>, JobBody), Problem> {
    choose(headers, &[MediaType::Json])?;
    let key = caller::idempotency_key(headers)?;
    Ok((key, JobBody::of(headers, state.settings.strict_content_type)?))
}

/// Handles GET: returns the job at once, or after its next change if the client prefers to wait.
pub(super) async fn job(caller: Caller, id: Path<String>, headers: HeaderMap) -> Result<Response, Problem> {
    choose(&headers, &[MediaType::Json])?;
    let mut job = caller.job(&id).await?;
    let wait = prefer::wait(&headers);
    if let Some(wait) = wait {
        prefer::wait_for_change(&caller.engine, &job, &headers, wait).await;
        // The job may have been deleted and created again meanwhile.
        job = caller.job(&id).await?;
    }
    let mut response = document(&caller, &job).response(&headers);
    if let Some(applied) = wait.and_then(|wait| HeaderValue::try_from(format!("wait={}", wait.as_secs())).ok()) {
        response.headers_mut().insert(prefer::PREFERENCE_APPLIED, applied);
    }
    Ok(response)
}

fn document(caller: &Caller, job: &Job) -> Document {
    let view = caller.engine.view(job);
    let tag = || reply::tag_of(&view);
    Document::tagged_by(MediaType::Json.content_type(), Document::NO_CACHE, reply::json_of(&view), tag)
}
