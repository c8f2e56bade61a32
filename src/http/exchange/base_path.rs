//! The path below which a proxy offers the service.

use std::sync::Arc;

use axum::http::Request;
use axum::http::uri::{PathAndQuery, Uri};
use axum::response::Redirect;

/// A path without a trailing slash, which is removed from the paths of requests; empty without a base path.
#[derive(Clone, Default, Debug)]
pub(crate) struct BasePath(Arc<str>);

/// The base path that was removed from the target of a request, in the extensions of the request.
#[derive(Clone, Debug)]
pub(crate) struct RemovedPrefix(pub(crate) Arc<str>);

impl BasePath {
    pub(crate) fn new(path: &str) -> Self {
        Self(path.into())
    }

    /// Removes the base path from the target of a request, and leaves a [`RemovedPrefix`]. Other targets are unchanged,
    /// because a proxy may have removed the base path.
    pub(crate) fn strip<B>(&self, request: &mut Request<B>) {
        let Some(rest) = self.rest(request.uri()) else { return };
        let mut parts = request.uri().clone().into_parts();
        parts.path_and_query = Some(rest);
        if let Ok(uri) = Uri::from_parts(parts) {
            *request.uri_mut() = uri;
            request.extensions_mut().insert(RemovedPrefix(Arc::clone(&self.0)));
        }
    }

    /// The rest of a target below the base path, with its slash.
    fn rest(&self, uri: &Uri) -> Option<PathAndQuery> {
        let rest = uri.path_and_query()?.as_str().strip_prefix(&*self.0).filter(|_| !self.0.is_empty())?;
        rest.starts_with('/').then(|| rest.parse().ok()).flatten()
    }

    /// Redirects requests for the base path itself: the links of the pages need a slash after it.
    pub(crate) fn redirect<B>(&self, request: &Request<B>) -> Result<(), Redirect> {
        if self.0.is_empty() || request.uri().path() != &*self.0 {
            return Ok(());
        }
        let query = request.uri().query().map_or_else(String::new, |query| format!("?{query}"));
        Err(Redirect::permanent(&format!("{}/{query}", self.0)))
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
            let removed = request.extensions().get().map(|RemovedPrefix(path)| &**path);
            assert_eq!(removed, (target != expected).then_some("/tools/taquin"), "{target}");
            let mut unchanged = Request::get(target).body(()).unwrap();
            BasePath::default().strip(&mut unchanged);
            assert_eq!(unchanged.uri(), &target.parse::<Uri>().unwrap());
        }
    }

    #[test]
    fn the_base_path_itself_redirects_to_its_pages() {
        let base = BasePath::new("/taquin");
        let place = |target: &str| {
            let redirect = base.redirect(&Request::get(target).body(()).unwrap()).err()?;
            assert_eq!(redirect.status_code(), 308);
            Some(redirect.location().to_owned())
        };
        assert_eq!(place("/taquin?a=b").as_deref(), Some("/taquin/?a=b"));
        assert_eq!(place("/taquin").as_deref(), Some("/taquin/"));
        assert_eq!(place("/taquin/"), None);
        assert!(BasePath::default().redirect(&Request::get("/").body(()).unwrap()).is_ok());
    }
}
