//! Access control: bearer tokens, a rate limit for each client, and CORS. All guards are off by default. A guard
//! that is off adds no layer. `exchange` has the guard against pages of other sites, which is always on.

mod client;
mod cors;
mod rate;
mod tokens;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::Method;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use tower_http::catch_panic::CatchPanicLayer;

pub use rate::Rate;
pub use tokens::Tokens;
pub(crate) use tokens::token_digest;

use crate::http::exchange::panicked;
use crate::http::problem::Problem;
use crate::http::routes_table::{Access, Routes};
use crate::service::{Metrics, Refusal};
use rate::RateLimit;

/// Settings of the guards. By default all guards are off.
#[derive(Clone, Default, Debug)]
pub struct Guards {
    /// Accepted bearer tokens. If empty, no token is required.
    pub tokens: Tokens,
    /// Rate limit of a client on counted routes.
    pub rate: Option<Rate>,
    /// Number of proxies in front of the service. Each must append its peer to `X-Forwarded-For`.
    pub trusted_proxies: usize,
    /// Allowed origins, or `*` alone for all. If empty, CORS is off.
    pub cors_origins: Vec<String>,
    /// Host names under which the service responds, without ports. If empty, it responds under all.
    pub allowed_hosts: Vec<String>,
}

/// Wraps the routes in the layers of the enabled guards.
pub(crate) fn wrap<S>(router: Router<S>, guards: &Guards, jobs: &Metrics, routes: &Routes) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    let router = match Gate::new(guards, jobs, routes) {
        Some(gate) => router.layer(from_fn_with_state(Arc::new(gate), admit)),
        None => router,
    };
    // The CORS layer is outermost and panics are caught inside it, so that allowed pages can read every failure.
    // All layers form one stack, because each call of `layer` boxes the routes again.
    match cors::layer(&guards.cors_origins) {
        Some(cors) => {
            let jobs = jobs.clone();
            let panics = CatchPanicLayer::custom(move |_| panicked(&jobs));
            router.layer((from_fn_with_state(cors, cors::apply), panics))
        }
        None => router,
    }
}

/// Rejects requests without a valid token or above the rate limit.
struct Gate {
    tokens: Tokens,
    rate: Option<RateLimit>,
    trusted_proxies: usize,
    routes: Routes,
    jobs: Metrics,
}

async fn admit(State(gate): State<Arc<Gate>>, mut request: Request, next: Next) -> Result<Response, Problem> {
    let access = gate.check(&request)?;
    if access == Some(Access::Weighed) && gate.rate.is_some() {
        let client = gate.client(&request);
        request.extensions_mut().insert(RateTicket { gate, client });
    }
    Ok(next.run(request).await)
}

/// Takes more requests off the quota of the client of a large request.
#[derive(Clone)]
pub(crate) struct RateTicket {
    gate: Arc<Gate>,
    client: IpAddr,
}

impl RateTicket {
    /// Takes requests off the quota, at most the rest of the quota.
    pub(crate) fn take(&self, requests: u64) {
        let Some(rate) = &self.gate.rate else { return };
        for _ in 0..requests {
            if rate.check(self.client).is_err() {
                return;
            }
        }
    }
}

impl Gate {
    /// Creates the gate; `None` if it would accept every request.
    fn new(guards: &Guards, jobs: &Metrics, routes: &Routes) -> Option<Self> {
        let Guards { tokens, rate, trusted_proxies, .. } = guards;
        (!tokens.is_empty() || rate.is_some()).then(|| Self {
            tokens: tokens.clone(),
            rate: rate.map(RateLimit::new),
            trusted_proxies: *trusted_proxies,
            routes: routes.clone(),
            jobs: jobs.clone(),
        })
    }

    /// Returns the access of the route, if the path matches a route.
    ///
    /// # Errors
    /// The problem of a request without a valid token or above the rate limit.
    fn check(&self, request: &Request) -> Result<Option<Access>, Problem> {
        let access = self.routes.find(request.uri().path()).map(|route| route.access);
        // The response to OPTIONS is public, and browsers send preflights without a token.
        if request.method() == Method::OPTIONS || access == Some(Access::Open) {
            return Ok(access);
        }
        // Tokens first: requests without a valid token must not use up the quota of other clients at that address.
        if !self.tokens.is_empty() {
            self.tokens.check(request.headers()).inspect_err(|_| self.jobs.refused(Refusal::Unauthorized))?;
        }
        if let (Some(rate), Some(Access::Counted | Access::Weighed)) = (&self.rate, access) {
            rate.check(self.client(request)).inspect_err(|_| self.jobs.refused(Refusal::RateLimited))?;
        }
        Ok(access)
    }

    fn client(&self, request: &Request) -> IpAddr {
        let peer = request.extensions().get().map(|ConnectInfo::<SocketAddr>(peer)| peer.ip());
        // Without a peer address the connection is closed already and the response cannot be delivered.
        client::client(request.headers(), peer.unwrap_or(Ipv4Addr::UNSPECIFIED.into()), self.trusted_proxies)
    }
}

#[cfg(test)]
mod tests;
