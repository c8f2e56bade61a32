//! What keeps strangers and floods out: bearer tokens, a rate for each client, and which pages of
//! other origins may ask. All of it is off by default, and what is off is no layer at all.

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

use crate::http::exchange::panicked;
use crate::http::problem::Problem;
use crate::http::routes_table::{Access, Routes};
use crate::service::{Metrics, Refusal};
use rate::RateLimit;

/// Which guards are on; none by default.
#[derive(Clone, Default, Debug)]
pub struct Guards {
    /// A request needs one of these, if there are any.
    pub tokens: Tokens,
    /// How often one client may ask for what costs something.
    pub rate: Option<Rate>,
    /// How many proxies stand in front, each of which adds to `X-Forwarded-For` who asked it.
    pub trusted_proxies: usize,
    /// Origins whose pages may ask, or `*` alone for all; none if empty.
    pub cors_origins: Vec<String>,
}

/// Puts the layers around the routes that are on.
pub(crate) fn surround<S>(router: Router<S>, guards: &Guards, jobs: &Metrics, routes: &Routes) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    let router = match Gate::new(guards, jobs, routes) {
        Some(gate) => router.layer(from_fn_with_state(Arc::new(gate), admit)),
        None => router,
    };
    // The layer of other origins is around every refusal, and panics become one within it, so that
    // their pages can read them all. In one stack: each call of `layer` would box the routes again.
    match cors::layer(&guards.cors_origins) {
        Some(cors) => {
            let jobs = jobs.clone();
            let panics = CatchPanicLayer::custom(move |_| panicked(&jobs));
            router.layer((from_fn_with_state(cors, cors::share), panics))
        }
        None => router,
    }
}

/// Turns away who has no token, or has asked too often.
struct Gate {
    tokens: Tokens,
    rate: Option<RateLimit>,
    trusted_proxies: usize,
    routes: Routes,
    jobs: Metrics,
}

async fn admit(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Result<Response, Problem> {
    gate.check(&request)?;
    Ok(next.run(request).await)
}

impl Gate {
    /// None if it would let everybody in.
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

    fn check(&self, request: &Request) -> Result<(), Problem> {
        let access = self.routes.find(request.uri().path()).map(|route| route.access);
        // OPTIONS tells what the contract tells, and no browser sends a token along when it asks so.
        if request.method() == Method::OPTIONS || access == Some(Access::Open) {
            return Ok(());
        }
        // Tokens first: who has none must not spend what the others behind the same address have.
        if !self.tokens.is_empty() {
            self.tokens.check(request.headers()).inspect_err(|_| self.jobs.refused(Refusal::Unauthorized))?;
        }
        match (&self.rate, access) {
            (Some(rate), Some(Access::Counted)) => {
                rate.check(self.client(request)).inspect_err(|_| self.jobs.refused(Refusal::RateLimited))
            }
            _ => Ok(()),
        }
    }

    fn client(&self, request: &Request) -> IpAddr {
        let peer = request.extensions().get().map(|ConnectInfo::<SocketAddr>(peer)| peer.ip());
        // Without an address the connection is gone already, and so is whoever would read the answer.
        client::client(request.headers(), peer.unwrap_or(Ipv4Addr::UNSPECIFIED.into()), self.trusted_proxies)
    }
}

#[cfg(test)]
mod tests;
