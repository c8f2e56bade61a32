//! Access control: the guard against pages of other sites, which is always on, and bearer tokens, a rate limit for each
//! client, and CORS, which are off by default and then add no layer.

mod browser;
pub(crate) mod cors;
mod rate;
mod tokens;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request};
use axum::http::Method;

pub(crate) use browser::BrowserGuard;
pub use rate::Rate;
pub use tokens::Tokens;
pub(crate) use tokens::token_digest;

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

/// Rejects requests without a valid token or above the rate limit.
#[derive(Debug)]
pub(crate) struct Gate {
    tokens: Tokens,
    rate: Option<RateLimit>,
    trusted_proxies: usize,
    routes: Routes,
    jobs: Metrics,
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
    pub(crate) fn new(guards: &Guards, jobs: &Metrics, routes: &Routes) -> Option<Arc<Self>> {
        let Guards { tokens, rate, trusted_proxies, .. } = guards;
        (!tokens.is_empty() || rate.is_some()).then(|| {
            Arc::new(Self {
                tokens: tokens.clone(),
                rate: rate.map(RateLimit::new),
                trusted_proxies: *trusted_proxies,
                routes: routes.clone(),
                jobs: jobs.clone(),
            })
        })
    }

    /// Checks a request, and gives a large one its ticket.
    ///
    /// # Errors
    /// The problem of a request without a valid token or above the rate limit.
    pub(crate) fn admit(self: &Arc<Self>, request: &mut Request) -> Result<(), Problem> {
        if self.check(request)? == Some(Access::Weighed) && self.rate.is_some() {
            let ticket = RateTicket { client: self.client(request), gate: Arc::clone(self) };
            request.extensions_mut().insert(ticket);
        }
        Ok(())
    }

    /// Returns the access of the route, if the path matches a route.
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
        rate::client(request.headers(), peer.unwrap_or(Ipv4Addr::UNSPECIFIED.into()), self.trusted_proxies)
    }
}

#[cfg(test)]
mod tests;
