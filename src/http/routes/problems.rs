//! `/problems/{slug}`: descriptions of the problem types.

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::json;

use super::playground::security_headers;
use crate::http::media_type::MediaType;
use crate::http::negotiation::{Document, choose};
use crate::http::problem::{Problem, ProblemKind};

/// Describes a problem type. The `type` member of every problem document links here.
pub(crate) async fn problem(
    slug: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let kind = slug.ok().and_then(|Path(slug)| ProblemKind::from_slug(&slug)).ok_or_else(|| {
        let slugs: Vec<&str> = ProblemKind::ALL.iter().map(|kind| kind.slug()).collect();
        let detail = format!("No problem type has this name. The types are {}.", slugs.join(", "));
        Problem::new(ProblemKind::NotFound, detail)
    })?;
    let media_type = choose(&headers, &[MediaType::Json, MediaType::Text, MediaType::Html])?;
    let (slug, status, title, description) = (kind.slug(), kind.status().as_u16(), kind.title(), kind.description());
    let body = match media_type {
        MediaType::Text => format!("{title} ({slug}, status {status})\n\n{description}\n"),
        MediaType::Html => format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n\
             <h1>{title}</h1>\n<p><code>{slug}</code>, status {status}</p>\n<p>{}</p>\n</html>\n",
            escape(description)
        ),
        _ => json!({
            "type": format!("/problems/{slug}"), "title": title, "status": status, "description": description
        })
        .to_string(),
    };
    let mut response = Document::new(media_type.content_type(), Document::AN_HOUR, body).response(&headers);
    if media_type == MediaType::Html {
        response.headers_mut().extend(security_headers(POLICY, &[]));
    }
    Ok(response)
}

/// Content security policy of a page without styles, scripts, forms or any other resource.
const POLICY: &str = "default-src 'none'; base-uri 'none'; form-action 'none'";

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_in_a_page_is_escaped() {
        assert_eq!(escape("a < b & c > d"), "a &lt; b &amp; c &gt; d");
    }
}
