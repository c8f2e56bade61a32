//! A row of the table of routes, and the lookup of a row by path. The rows are in `routes`.

use std::sync::Arc;

use axum::routing::MethodRouter;

use super::state::AppState;

/// One route. Everything that depends on the route of a request reads it from here: the router, the guards, the labels of
/// metrics, spans and access lines.
#[derive(Debug)]
pub(crate) struct Route {
    /// The path pattern in axum's syntax; it is also the label in metrics and logs.
    pub(crate) path: &'static str,
    /// Makes the handler of all methods.
    pub(crate) handler: fn() -> MethodRouter<AppState>,
    /// Which guards apply.
    pub(crate) access: Access,
    /// Polled by monitoring: logged at DEBUG and without a span.
    pub(crate) probe: bool,
    /// Which listeners serve it.
    pub(crate) listeners: Listeners,
}

/// Which guards apply to a route, where they are switched on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Access {
    /// None.
    Open,
    /// A token is required; requests do not count against the rate limit.
    Free,
    /// A token is required, and requests count against the rate limit.
    Counted,
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

    /// Returns the route that the router would choose for a path.
    pub(crate) fn find(&self, path: &str) -> Option<&'static Route> {
        let exact = self.iter().find(|route| route.path == path);
        exact.or_else(|| self.iter().find(|route| fits(route.path, path)))
    }
}

/// Whether a path fits a pattern with names in it, each of which stands for one segment; the last one is not empty.
fn fits(pattern: &str, path: &str) -> bool {
    let fits = |(name, segment): (&str, &str)| name == segment || name.starts_with('{');
    pattern.contains('{')
        && !path.ends_with('/')
        && pattern.split('/').count() == path.split('/').count()
        && pattern.split('/').zip(path.split('/')).all(fits)
}
