//! The type of a route, and the lookup of a route by path. The table itself is in `routes`.

use std::sync::Arc;

use axum::routing::MethodRouter;
use taquin_bulk::fields::most_like;

use super::state::AppState;

/// One route. The router, the guards, and the labels of metrics, spans and access lines all read this row.
#[derive(Debug)]
pub(crate) struct Route {
    /// The path pattern in axum's syntax; it is also the label in metrics and logs.
    pub(crate) path: &'static str,
    /// Creates the handler for all methods.
    pub(crate) handler: fn() -> MethodRouter<AppState>,
    /// Which guards apply.
    pub(crate) access: Access,
    /// True for a route that monitoring polls: requests are logged at DEBUG and have no span.
    pub(crate) probe: bool,
    /// Which listeners serve the route.
    pub(crate) listeners: Listeners,
}

/// Which of the enabled guards apply to a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    /// No guards.
    Open,
    /// A token is required; requests do not count against the rate limit.
    Free,
    /// A token is required, and requests count against the rate limit.
    Counted,
    /// As `Counted`, and the handler gets a ticket by which large requests count as several.
    Weighed,
}

/// Which listeners serve a route.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Listeners {
    /// The main listener only.
    Main,
    /// The main and the admin listener.
    Both,
}

/// The routes of one listener.
#[derive(Clone, Debug)]
pub(crate) struct Routes(Arc<[&'static Route]>);

impl Routes {
    /// The routes of the main listener: the whole table.
    pub(crate) fn main(table: &'static [Route]) -> Self {
        Self(table.iter().collect())
    }

    /// The routes of the admin listener.
    pub(crate) fn admin(table: &'static [Route]) -> Self {
        Self(table.iter().filter(|route| route.listeners == Listeners::Both).collect())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static Route> {
        self.0.iter().copied()
    }

    /// Returns the route that the router chooses for a path.
    pub(crate) fn find(&self, path: &str) -> Option<&'static Route> {
        let exact = self.iter().find(|route| route.path == path);
        exact.or_else(|| self.iter().find(|route| fits(route.path, path)))
    }

    /// Returns the path for which an unknown path may stand. The unknown path may have other slashes, capital letters,
    /// a prefix such as `/api/v1`, or a typing error. Returns `None` if no route is similar, or if the path is a route.
    pub(crate) fn similar(&self, path: &str) -> Option<String> {
        /// The comparison takes quadratic time.
        const MAX_LENGTH: usize = 200;
        if path.len() > MAX_LENGTH || self.find(path).is_some() {
            return None;
        }
        let segments: Vec<&str> = segments_of(path).collect();
        let longest = self.iter().map(|route| segments_of(route.path).count()).max().unwrap_or_default();
        let from = |first: usize| format!("/{}", segments[first..].join("/"));
        let candidates = (segments.len().saturating_sub(longest)..segments.len()).map(from);
        // Identifiers keep their capital letters where the rest of the path has none.
        let mut spellings = candidates.flat_map(|path| [path.clone(), path.to_ascii_lowercase()]);
        if let Some(known) = spellings.find(|spelling| self.find(spelling).is_some()) {
            return Some(known);
        }
        let names: Vec<&str> = self.iter().filter_map(|route| route.path.strip_prefix('/')).collect();
        let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty() && !name.contains('{')).collect();
        most_like(&segments.join("/"), &names).map(|name| format!("/{name}"))
    }
}

/// The segments of a path, without empty ones.
fn segments_of(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|segment| !segment.is_empty())
}

/// True if a path matches a pattern with placeholders. A placeholder stands for one segment; the last segment is not
/// empty.
fn fits(pattern: &str, path: &str) -> bool {
    let fits = |(name, segment): (&str, &str)| name == segment || name.starts_with('{');
    pattern.contains('{')
        && !path.ends_with('/')
        && pattern.split('/').count() == path.split('/').count()
        && pattern.split('/').zip(path.split('/')).all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::routes::ROUTES;

    #[test]
    fn an_unknown_path_is_similar_to_another_spelling_of_a_route() {
        let routes = Routes::main(&ROUTES);
        for (path, expected) in [
            ("/solve/", "/solve"),
            ("//solve", "/solve"),
            ("/Solve", "/solve"),
            ("/SOLVE/", "/solve"),
            ("/solv", "/solve"),
            ("/slove", "/solve"),
            ("/solver", "/solve"),
            ("/solve/3", "/solve"),
            ("/api/v1/solve", "/solve"),
            ("/v1/Jobs/0123/results/", "/jobs/0123/results"),
            ("/jobs/0123/", "/jobs/0123"),
            ("/api/jobs/0aB3/results", "/jobs/0aB3/results"),
            ("/Jobs/0aB3/results", "/jobs/0ab3/results"),
            (&format!("{}/solve", "/a".repeat(90)), "/solve"),
            ("/health", "/healthz"),
            ("/readyz/", "/readyz"),
            ("/metric", "/metrics"),
            ("/openapi.yml", "/openapi.yaml"),
        ] {
            assert_eq!(routes.similar(path).as_deref(), Some(expected), "{path}");
        }
        for path in [
            "",
            "/",
            "//",
            "*",
            "/solve",
            &"/solve".repeat(40),
            "/nowhere",
            "/favicon.ico",
            "/%2e%2e/etc",
            "/wp-login.php",
        ] {
            assert_eq!(routes.similar(path), None, "{path}");
        }
    }

    #[test]
    fn only_routes_of_the_listener_are_similar() {
        let routes = Routes::admin(&ROUTES);
        assert_eq!((routes.similar("/solv"), routes.similar("/Livez").as_deref()), (None, Some("/livez")));
    }
}
