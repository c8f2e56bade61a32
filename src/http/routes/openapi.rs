//! The OpenAPI description, embedded at build time.

use std::sync::LazyLock;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;

use crate::http::media_type::MediaType;
use crate::http::negotiation::{Document, choose};
use crate::http::problem::Problem;
use crate::http::state::AppState;

const YAML: &str = include_str!("../../../openapi.yaml");

/// The server in the description, which clients resolve against its address.
const SERVER: &str = "\n  - url: /\n";

/// `/openapi.yaml`: the original file.
pub(crate) async fn yaml(State(state): State<AppState>, headers: HeaderMap) -> Result<Response, Problem> {
    static DOCUMENTS: LazyLock<[Document; 2]> = LazyLock::new(|| documents(MediaType::Yaml, YAML.to_owned()));
    let media_type = choose(&headers, &[MediaType::Yaml, MediaType::Text])?;
    if let Some(text) = below(&state.site().base_path) {
        return Ok(Document::new(media_type.content_type(), Document::AN_HOUR, text).response(&headers));
    }
    Ok(DOCUMENTS[usize::from(media_type == MediaType::Text)].response(&headers))
}

/// `/openapi.json`: the description converted to JSON.
pub(crate) async fn json(State(state): State<AppState>, headers: HeaderMap) -> Result<Response, Problem> {
    static DOCUMENTS: LazyLock<[Document; 2]> = LazyLock::new(|| documents(MediaType::Json, to_json(YAML)));
    let media_type = choose(&headers, &[MediaType::Json, MediaType::Text])?;
    if let Some(text) = below(&state.site().base_path) {
        return Ok(Document::new(media_type.content_type(), Document::AN_HOUR, to_json(&text)).response(&headers));
    }
    Ok(DOCUMENTS[usize::from(media_type == MediaType::Text)].response(&headers))
}

/// Links a response that introduces the service to its description (RFC 8631). The target is relative, so it is right
/// below any path of a proxy.
pub(crate) fn with_service_desc(mut response: Response) -> Response {
    let link = HeaderValue::from_static("<openapi.json>; rel=\"service-desc\"");
    response.headers_mut().insert(header::LINK, link);
    response
}

/// The description of a service below a path; `None` if the path is empty.
fn below(base_path: &str) -> Option<String> {
    (!base_path.is_empty()).then(|| YAML.replacen(SERVER, &format!("\n  - url: {base_path}/\n"), 1))
}

/// The text with its own media type, and as plain text.
fn documents(media_type: MediaType, text: String) -> [Document; 2] {
    [media_type, MediaType::Text]
        .map(|media_type| Document::new(media_type.content_type(), Document::AN_HOUR, text.clone()).compressed())
}

fn to_json(yaml: &str) -> String {
    let value: serde_json::Value = serde_saphyr::from_str(yaml).expect("a test reads the file that was built in");
    format!("{value:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contract_is_an_openapi_document_in_json_too() {
        let json: serde_json::Value = serde_json::from_str(&to_json(YAML)).unwrap();
        assert!(json["openapi"].as_str().unwrap().starts_with("3.1"), "{}", json["openapi"]);
        assert!(json["paths"]["/solve"].is_object());
        assert_eq!(json["servers"][0]["url"], "/");
        let below: serde_json::Value = serde_json::from_str(&to_json(&below("/taquin").unwrap())).unwrap();
        assert_eq!(below["servers"][0]["url"], "/taquin/");
        assert_eq!(super::below(""), None);
    }
}
