//! The type of a route, and the lookup of a route by path. The table itself is in `routes`.

use std::sync::Arc;

use axum::routing::MethodRouter;

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
