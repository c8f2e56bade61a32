//! Settings of connections: their timeouts and their maximum age.

use std::time::Duration;

use clap::Args;

use super::parse::{MILLISECOND, SettingsParser};

#[derive(Args, Clone, Debug)]
pub(crate) struct ConnectionFlags {
    /// Time the headers of a request may take to arrive [range: 1ms to 24h]
    ///
    /// It is counted from the request's first byte; for the first request of a connection, from the start of the
    /// connection.
    #[arg(long, env = "TAQUIN_HEADER_TIMEOUT", default_value = "10s", value_name = "DURATION")]
    header_timeout: String,

    /// Time a connection may be idle between two requests [range: 1ms to 24h]
    ///
    /// Behind a load balancer, set it longer than the balancer's own idle timeout.
    #[arg(long, env = "TAQUIN_KEEP_ALIVE_TIMEOUT", default_value = "75s", value_name = "DURATION")]
    keep_alive_timeout: String,

    /// Age at which a connection ends, after its next response; no limit if empty [range: 1ms to 24h]
    ///
    /// That response says `Connection: close`. Each connection has a maximum of its own, up to a tenth shorter or
    /// longer. A connection of that age without requests ends too, once it has been idle for --header-timeout. Set it
    /// where a load balancer chooses an instance for each connection, so that new instances get a share. Connections to
    /// --admin-listen have no such limit.
    #[arg(long, env = "TAQUIN_MAX_CONNECTION_AGE", value_name = "DURATION")]
    max_connection_age: Option<String>,

    /// Time a client may take to read the next part of a response [range: 1ms to 24h]
    #[arg(long, env = "TAQUIN_WRITE_TIMEOUT", default_value = "30s", value_name = "DURATION")]
    write_timeout: String,
}

/// Timeouts of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timeouts {
    /// Headers of a request, from its first byte; for the first request, from the start of the connection.
    pub header: Duration,
    /// Between a response and the first byte of the next request.
    pub keep_alive: Duration,
    /// Maximum age of a connection, if any.
    pub age: Option<Duration>,
    /// Until the client reads the next part of a response.
    pub write: Duration,
}

impl ConnectionFlags {
    pub(crate) fn parse(&self, parser: &mut SettingsParser) -> Timeouts {
        let mut parse = |flag, text: &str| parser.duration(flag, text, MILLISECOND);
        let max_age = self.max_connection_age.as_deref().filter(|text| !text.is_empty());
        Timeouts {
            header: parse("header-timeout", &self.header_timeout),
            keep_alive: parse("keep-alive-timeout", &self.keep_alive_timeout),
            age: max_age.map(|text| parse("max-connection-age", text)),
            write: parse("write-timeout", &self.write_timeout),
        }
    }
}
