//! Rejects cross-site requests: requests that a foreign page makes a visitor's browser send to this service.
//!
//! Such a page cannot read the response, but each request could start a search (docs/adr/0018). Clients other than
//! browsers do not send the headers that the guard reads.

use std::net::IpAddr;

use axum::http::{HeaderMap, HeaderName, Method, Request, Uri, header};

use crate::http::problem::{Problem, ProblemKind};
use crate::http::routes_table::{Access, Route};
use crate::service::{Metrics, Refusal};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const SEC_FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");
const SEC_PURPOSE: HeaderName = HeaderName::from_static("sec-purpose");

/// Rules for pages that may use the service, by origin and by host name.
#[derive(Clone, Default, Debug)]
pub(crate) struct BrowserGuard {
    /// Allowed origins, in lower case, or `*` alone for all.
    origins: Vec<String>,
    /// Allowed host names, in lower case. If empty, all are allowed.
    hosts: Vec<String>,
}

impl BrowserGuard {
    /// Creates a guard. `*` as the only origin allows all origins; an empty list of host names allows all host names.
    pub(crate) fn new(origins: &[String], hosts: &[String]) -> Self {
        Self { origins: origins.to_vec(), hosts: hosts.to_vec() }
    }

    /// Checks a request to a route, and counts it if it is rejected.
    ///
    /// # Errors
    /// `unknown-host` or `cross-site-request`.
    pub(crate) fn check<B>(
        &self,
        route: Option<&Route>,
        request: &Request<B>,
        metrics: &Metrics,
    ) -> Result<(), Problem> {
        self.rejection(route, request).map_or(Ok(()), |(reason, problem)| {
            metrics.refused(reason);
            Err(problem)
        })
    }

    /// Returns reason and problem of a rejected request; `None` for an accepted request.
    fn rejection<B>(&self, route: Option<&Route>, request: &Request<B>) -> Option<(Refusal, Problem)> {
        let headers = request.headers();
        let is_probe = route.is_some_and(|route| route.probe);
        if !self.hosts.is_empty()
            && !is_probe
            && let Some(host) = self.unknown_host(request.uri(), headers)
        {
            return Some((Refusal::UnknownHost, unknown_host(host)));
        }
        // All other routes cost next to nothing, and other sites cannot read the responses.
        let works_on_boards = route.is_some_and(|route| matches!(route.access, Access::Counted | Access::Weighed));
        if works_on_boards && self.is_foreign(request.method(), headers) {
            let detail = "A page of another site sent this request, and its origin is not allowed. The operator can \
                          allow it with `--cors-origins`.";
            return Some((Refusal::CrossSite, Problem::new(ProblemKind::CrossSiteRequest, detail)));
        }
        None
    }

    /// The first host of a request whose name is not allowed.
    fn unknown_host<'r>(&self, uri: &'r Uri, headers: &'r HeaderMap) -> Option<&'r str> {
        // A target with a host overrides `Host` (RFC 9112, section 3.2.2).
        let of_target = uri.authority().map(|authority| authority.as_str());
        let lines = headers.get_all(header::HOST).iter().map(|host| host.to_str().unwrap_or_default());
        of_target.into_iter().chain(lines).find(|host| !self.allows_host(host))
    }

    /// True for an allowed name, with or without a port. No other site can have an IP address or `localhost` as name.
    fn allows_host(&self, host: &str) -> bool {
        let name = name_of(host);
        let is_address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().is_ok();
        let is = |known: &str| name.eq_ignore_ascii_case(known);
        is_address || is("localhost") || self.hosts.iter().any(|known| is(known))
    }

    /// True if a page of another site sent the request, other than by a link that the user followed.
    fn is_foreign(&self, method: &Method, headers: &HeaderMap) -> bool {
        let is = |name: HeaderName, value: &str| headers.get(name).is_some_and(|found| found == value);
        if !is(SEC_FETCH_SITE, "cross-site") || *method == Method::OPTIONS {
            return false;
        }
        let is_link = matches!(*method, Method::GET | Method::HEAD)
            && is(SEC_FETCH_MODE, "navigate")
            && is(SEC_FETCH_DEST, "document")
            && !headers.contains_key(SEC_PURPOSE);
        !is_link && !self.allows_origin(headers)
    }

    fn allows_origin(&self, headers: &HeaderMap) -> bool {
        self.origins == ["*"]
            || headers
                .get(header::ORIGIN)
                .is_some_and(|origin| self.origins.iter().any(|known| origin == known.as_str()))
    }
}

fn unknown_host(host: &str) -> Problem {
    let name: String = name_of(host).chars().take(40).collect();
    let detail = format!(
        "The service does not respond under the host name `{}`. The operator can allow it with `--allowed-hosts`.",
        name.escape_debug()
    );
    Problem::new(ProblemKind::UnknownHost, detail)
}

/// The name in `host:port`, without the dot that may end it.
fn name_of(host: &str) -> &str {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    name.strip_suffix('.').unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::routes_table::Listeners;

    const SEARCHES: Route = Route {
        path: "/solve",
        handler: || unreachable!(),
        access: Access::Counted,
        probe: false,
        listeners: Listeners::Main,
    };
    const PAGE: Route = Route { path: "/", access: Access::Open, ..SEARCHES };
    const PROBE: Route = Route { path: "/livez", access: Access::Open, probe: true, ..SEARCHES };

    fn check(guard: &BrowserGuard, route: &Route, line: &str, headers: &[(&str, &str)]) -> Option<ProblemKind> {
        let (method, target) = line.split_once(' ').unwrap();
        let request = Request::builder().method(method).uri(target);
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        guard.rejection(Some(route), &request.body(()).unwrap()).map(|(_, problem)| problem.kind)
    }

    const CROSS: (&str, &str) = ("sec-fetch-site", "cross-site");
    const NAVIGATE: (&str, &str) = ("sec-fetch-mode", "navigate");
    const DOCUMENT: (&str, &str) = ("sec-fetch-dest", "document");

    #[test]
    fn pages_of_other_sites_are_rejected_unless_the_user_follows_a_link() {
        let (guard, everybody) = (BrowserGuard::default(), BrowserGuard::new(&["*".to_owned()], &[]));
        let rejected = Some(ProblemKind::CrossSiteRequest);
        let no_cors = ("sec-fetch-mode", "no-cors");
        let link = [CROSS, NAVIGATE, DOCUMENT];
        for (line, headers, expected) in [
            ("POST /solve", &[CROSS, no_cors][..], rejected),
            ("GET /solve", &[CROSS, no_cors, ("sec-fetch-dest", "image")], rejected),
            ("GET /solve", &[CROSS, ("sec-fetch-mode", "cors"), ("origin", "https://a.example")], rejected),
            ("POST /solve", &link, rejected),
            ("GET /solve", &link, None),
            ("HEAD /solve", &link, None),
            ("GET /solve", &[CROSS, NAVIGATE, ("sec-fetch-dest", "iframe")], rejected),
            ("GET /solve", &[CROSS, NAVIGATE, DOCUMENT, ("sec-purpose", "prefetch")], rejected),
            ("OPTIONS /solve", &[CROSS, ("sec-fetch-mode", "cors")], None),
            ("POST /solve", &[("sec-fetch-site", "same-origin")], None),
            ("POST /solve", &[("sec-fetch-site", "same-site")], None),
            ("POST /solve", &[("sec-fetch-site", "none")], None),
            ("POST /solve", &[("origin", "https://a.example")], None),
        ] {
            assert_eq!(check(&guard, &SEARCHES, line, headers), expected, "{line} {headers:?}");
            assert_eq!(check(&guard, &PAGE, line, headers), None, "{line} {headers:?}");
            assert_eq!(check(&everybody, &SEARCHES, line, headers), None, "{line} {headers:?}");
        }
    }

    #[test]
    fn pages_of_allowed_origins_are_not_rejected() {
        let guard = BrowserGuard::new(&["https://a.example".to_owned()], &[]);
        let rejected = Some(ProblemKind::CrossSiteRequest);
        assert_eq!(check(&guard, &SEARCHES, "POST /solve", &[CROSS, ("origin", "https://a.example")]), None);
        assert_eq!(check(&guard, &SEARCHES, "POST /solve", &[CROSS, ("origin", "https://b.example")]), rejected);
        assert_eq!(check(&guard, &SEARCHES, "POST /solve", &[CROSS, ("origin", "null")]), rejected);
        assert_eq!(check(&guard, &SEARCHES, "GET /solve", &[CROSS]), rejected);
    }

    #[test]
    fn with_allowed_hosts_other_names_are_rejected_except_by_probes() {
        let guard = BrowserGuard::new(&[], &["taquin.example".to_owned()]);
        for (host, is_allowed) in [
            ("taquin.example", true),
            ("Taquin.Example.:8080", true),
            ("localhost:8080", true),
            ("127.0.0.1:8080", true),
            ("192.0.2.7", true),
            ("[::1]:8080", true),
            ("[::1]", true),
            ("evil.example", false),
            ("taquin.example.evil.example:8080", false),
            ("127.0.0.1.evil.example", false),
            ("localhost.evil.example", false),
            ("", false),
            ("taquin.example:x", false),
        ] {
            let expected = (!is_allowed).then_some(ProblemKind::UnknownHost);
            for route in [&SEARCHES, &PAGE] {
                assert_eq!(check(&guard, route, "GET /", &[("host", host)]), expected, "{host}");
            }
            assert_eq!(check(&guard, &PROBE, "GET /livez", &[("host", host)]), None, "{host}");
            assert_eq!(check(&BrowserGuard::default(), &SEARCHES, "GET /", &[("host", host)]), None, "{host}");
        }
        let of_target = check(&guard, &PAGE, "GET http://evil.example/", &[("host", "taquin.example")]);
        assert_eq!(of_target, Some(ProblemKind::UnknownHost));
    }
}
