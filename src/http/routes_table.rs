//! The patterns of all routes, and the one that a path fits.

use std::sync::Arc;

/// The patterns of all routes, which metrics have as labels.
pub(crate) const ROUTES: [&str; 17] = [
    "/",
    "/solve",
    "/solvable",
    "/verify",
    "/hint",
    "/compare",
    "/random",
    "/info",
    "/livez",
    "/readyz",
    "/healthz",
    "/metrics",
    "/openapi.yaml",
    "/openapi.json",
    "/problems/{slug}",
    "/docs",
    "/web/{version}/{part}",
];

/// The patterns of the routes that one listener has.
pub(crate) type Known = Arc<[&'static str]>;

/// The pattern that a path fits, as the router would find it.
pub(crate) fn route_of(known: &[&'static str], path: &str) -> Option<&'static str> {
    let exact = known.iter().find(|route| **route == path);
    exact.or_else(|| known.iter().find(|route| fits(route, path))).copied()
}

/// Whether a path fits a pattern with names in it, each of which stands for one part; the last one is not empty.
fn fits(pattern: &str, path: &str) -> bool {
    let fits = |(name, part): (&str, &str)| name == part || name.starts_with('{');
    pattern.contains('{')
        && !path.ends_with('/')
        && pattern.split('/').count() == path.split('/').count()
        && pattern.split('/').zip(path.split('/')).all(fits)
}
