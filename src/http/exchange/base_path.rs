//! The path below which a proxy offers the service.

use axum::body::Body;
use axum::http::uri::{PathAndQuery, Uri};
use axum::http::{HeaderValue, Request, StatusCode, header};
use axum::response::Response;

/// A path without a trailing slash, which is removed from the paths of requests; empty without a base path.
#[derive(Clone, Default, Debug)]
pub(crate) struct BasePath(String);

impl BasePath {
    pub(crate) fn new(path: &str) -> Self {
        Self(path.to_owned())
    }

    /// Removes the base path from the target of a request. Other targets are unchanged, because a proxy may have
    /// removed the base path.
    pub(crate) fn strip<B>(&self, request: &mut Request<B>) {
        let Some(rest) = self.rest(request.uri()) else { return };
        let mut parts = request.uri().clone().into_parts();
        parts.path_and_query = Some(rest);
        if let Ok(uri) = Uri::from_parts(parts) {
            *request.uri_mut() = uri;
        }
    }

    /// The rest of a target below the base path, with its slash.
    fn rest(&self, uri: &Uri) -> Option<PathAndQuery> {
        let rest = uri.path_and_query()?.as_str().strip_prefix(self.0.as_str()).filter(|_| !self.0.is_empty())?;
        rest.starts_with('/').then(|| rest.parse().ok()).flatten()
    }

    /// The response to a request for the base path itself: the links of the pages need a slash after it.
    pub(crate) fn redirect<B>(&self, request: &Request<B>) -> Option<Response> {
        if self.0.is_empty() || request.uri().path() != self.0 {
            return None;
        }
        let query = request.uri().query().map_or_else(String::new, |query| format!("?{query}"));
        let place = HeaderValue::try_from(format!("{}/{query}", self.0)).ok()?;
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
        response.headers_mut().insert(header::LOCATION, place);
        Some(response)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_segments_are_removed() {
        let base = BasePath::new("/tools/taquin");
        for (target, expected) in [
            ("/tools/taquin/solve?board=1", "/solve?board=1"),
            ("/tools/taquin/", "/"),
            ("/tools/taquin", "/tools/taquin"),
            ("/tools/taquins/solve", "/tools/taquins/solve"),
            ("/solve", "/solve"),
            ("/", "/"),
            ("/tools/taquin/tools/taquin/x", "/tools/taquin/x"),
            ("*", "*"),
            ("http://example.org/tools/taquin/solve", "http://example.org/solve"),
        ] {
            let mut request = Request::get(target).body(()).unwrap();
            base.strip(&mut request);
            assert_eq!(request.uri(), &expected.parse::<Uri>().unwrap(), "{target}");
            let mut unchanged = Request::get(target).body(()).unwrap();
            BasePath::default().strip(&mut unchanged);
            assert_eq!(unchanged.uri(), &target.parse::<Uri>().unwrap());
        }
    }

    #[test]
    fn the_base_path_itself_redirects_to_its_pages() {
        let base = BasePath::new("/taquin");
        let place = |target: &str| {
            let response = base.redirect(&Request::get(target).body(()).unwrap())?;
            Some(response.headers()[header::LOCATION].to_str().unwrap().to_owned())
        };
        assert_eq!(place("/taquin?a=b").as_deref(), Some("/taquin/?a=b"));
        assert_eq!(place("/taquin").as_deref(), Some("/taquin/"));
        assert_eq!(place("/taquin/"), None);
        assert!(BasePath::default().redirect(&Request::get("/").body(()).unwrap()).is_none());
    }
}
