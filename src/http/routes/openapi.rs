//! The OpenAPI description, embedded at build time.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use parking_lot::Mutex;

use crate::http::media_type::MediaType;
use crate::http::negotiation::{Document, choose};
use crate::http::problem::Problem;
use crate::http::state::AppState;

const YAML: &str = include_str!("../../../openapi.yaml");

/// The server in the description, which clients resolve against its address.
const SERVER: &str = "\n  - url: /\n";

/// `/openapi.yaml`: the original file.
pub(crate) async fn yaml(State(state): State<AppState>, headers: HeaderMap) -> Result<Response, Problem> {
    let media_type = choose(&headers, &[MediaType::Yaml, MediaType::Text])?;
    Ok(contract(&state)[usize::from(media_type == MediaType::Text)].response(&headers))
}

/// `/openapi.json`: the description converted to JSON.
pub(crate) async fn json(State(state): State<AppState>, headers: HeaderMap) -> Result<Response, Problem> {
    let media_type = choose(&headers, &[MediaType::Json, MediaType::Text])?;
    Ok(contract(&state)[2 + usize::from(media_type == MediaType::Text)].response(&headers))
}

/// Links a response that introduces the service to its description (RFC 8631). The target is relative, so it is right
/// below any path of a proxy.
pub(crate) fn with_service_desc(mut response: Response) -> Response {
    let link = HeaderValue::from_static("<openapi.json>; rel=\"service-desc\"");
    response.headers_mut().insert(header::LINK, link);
    response
}

/// The documents of this service: YAML, JSON, each also as plain text. They are prepared once for each base path.
fn contract(state: &AppState) -> Arc<[Document; 4]> {
    static PREPARED: Mutex<BTreeMap<String, Arc<[Document; 4]>>> = Mutex::new(BTreeMap::new());
    let base_path = &state.site.base_path;
    let mut prepared = PREPARED.lock();
    if let Some(documents) = prepared.get(base_path) {
        return Arc::clone(documents);
    }
    let documents = Arc::new(all_documents(&below(base_path)));
    prepared.insert(base_path.clone(), Arc::clone(&documents));
    documents
}

/// The description of a service below a path, which may be empty.
fn below(base_path: &str) -> String {
    let path = if base_path.is_empty() { "/" } else { base_path };
    YAML.replacen(SERVER, &format!("\n  - url: {path}\n"), 1)
}

fn all_documents(yaml: &str) -> [Document; 4] {
    let [one, two] = documents(MediaType::Yaml, yaml.to_owned());
    let [three, four] = documents(MediaType::Json, to_json(yaml));
    [one, two, three, four]
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
        let below: serde_json::Value = serde_json::from_str(&to_json(&below("/taquin"))).unwrap();
        assert_eq!(below["servers"][0]["url"], "/taquin");
    }
}
