//! Settings: flags and environment, turned into proven values before anything is started.
//!
//! clap hands every value over as text, because it would stop at the first one it cannot read;
//! here all faults are found in one go.

mod guard;
mod memory;
mod parse;
mod traces;
mod unknown_variables;

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand};
use tracing_subscriber::filter::Targets;

use guard::GuardFlags;
pub use guard::{GuardConfig, RateConfig, Token};
pub use memory::MemoryPlan;
pub use parse::ConfigFault;
use parse::{Faults, KIB, MIB, MILLISECOND};
pub use traces::TraceConfig;
use traces::TraceFlags;
pub use unknown_variables::strays;

/// Solves sliding-tile puzzles over HTTP.
///
/// Every setting is a flag and an environment variable; a flag wins. Durations take units (500ms,
/// 10s, 1m), and so do sizes (64KiB, 512MiB, 2GB).
///
/// Exit codes: 0 after a clean shutdown, 1 when the service fails, 2 for bad settings, 130 or 143
/// when a second SIGINT or SIGTERM cuts the shutdown short.
#[derive(Parser, Clone, Debug)]
#[command(name = "taquin", version)]
pub struct Flags {
    /// What to do; without a subcommand, serve.
    #[command(subcommand)]
    pub command: Option<Command>,

    /// Say whether the settings are sound, and do nothing else; exit code 0 or 2
    #[arg(long)]
    pub check_config: bool,

    /// Address and port to listen on
    #[arg(long, env = "TAQUIN_LISTEN", default_value = "127.0.0.1:8080", value_name = "IP:PORT", global = true)]
    listen: String,

    /// Address and port of a second listener, for probes, /metrics and /info alone, without tokens; none if empty
    #[arg(long, env = "TAQUIN_ADMIN_LISTEN", value_name = "IP:PORT")]
    admin_listen: Option<String>,

    /// Most connections at the same time, 1 to 1000000; further ones wait
    #[arg(long, env = "TAQUIN_MAX_CONNECTIONS", default_value = "16384", value_name = "N")]
    max_connections: String,

    /// Searches that run at the same time, 1 to 256 [default: the number of cores]
    #[arg(long, env = "TAQUIN_WORKERS", value_name = "N")]
    workers: Option<String>,

    /// Requests that may wait for a worker, 0 to 100000
    #[arg(long, env = "TAQUIN_QUEUE", default_value = "256", value_name = "N")]
    queue: String,

    /// How long a shutdown waits for what is in flight
    #[arg(long, env = "TAQUIN_SHUTDOWN_GRACE", default_value = "10s", value_name = "DURATION")]
    shutdown_grace: String,

    /// Time limit of a search that asks for none
    #[arg(long, env = "TAQUIN_TIME_LIMIT", default_value = "10s", value_name = "DURATION")]
    time_limit: String,

    /// Longest time limit that a search may ask for
    #[arg(long, env = "TAQUIN_MAX_TIME", default_value = "60s", value_name = "DURATION")]
    max_time: String,

    /// Most nodes that a search may expand
    #[arg(long, env = "TAQUIN_MAX_EXPANDED", default_value = "10000000000", value_name = "N")]
    max_expanded: String,

    /// Memory that the whole process plans with [default: the container's limit, or the machine's memory]
    #[arg(long, env = "TAQUIN_MEMORY", value_name = "SIZE")]
    memory: Option<String>,

    /// Memory that one search may hold [default: what is left for each worker, 512MiB at most]
    #[arg(long, env = "TAQUIN_SEARCH_MEMORY", value_name = "SIZE")]
    search_memory: Option<String>,

    /// Memory for answers that are kept, 0 for none [default: 32MiB, or a share of little memory]
    #[arg(long, env = "TAQUIN_CACHE_MEMORY", value_name = "SIZE")]
    cache_memory: Option<String>,

    /// Most expansions that an answer lists, 0 to 1000000
    #[arg(long, env = "TAQUIN_MAX_EXPANSIONS", default_value = "10000", value_name = "N")]
    max_expansions: String,

    /// Largest request body that is read, up to 16MiB
    #[arg(long, env = "TAQUIN_MAX_BODY", default_value = "64KiB", value_name = "SIZE")]
    max_body: String,

    /// How long a request body may take to arrive
    #[arg(long, env = "TAQUIN_BODY_TIMEOUT", default_value = "10s", value_name = "DURATION")]
    body_timeout: String,

    /// How long a request's headers may take to arrive, from its first byte or, for the first
    /// request, from the start of the connection
    #[arg(long, env = "TAQUIN_HEADER_TIMEOUT", default_value = "10s", value_name = "DURATION")]
    header_timeout: String,

    /// How long a connection may be idle between two requests
    #[arg(long, env = "TAQUIN_KEEP_ALIVE_TIMEOUT", default_value = "75s", value_name = "DURATION")]
    keep_alive_timeout: String,

    /// How long a client may take nothing of its answer
    #[arg(long, env = "TAQUIN_WRITE_TIMEOUT", default_value = "30s", value_name = "DURATION")]
    write_timeout: String,

    /// Refuse bodies with the content type that `curl -d` sets; those without any are refused always
    #[arg(long, env = "TAQUIN_STRICT_CONTENT_TYPE", default_value = "false", value_name = "true|false")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    strict_content_type: String,

    /// Which tables to have: small, standard (36 MB, and 15-puzzles several times as fast), or large
    /// (197 MB, and the hardest of them four times as fast again; 0.8 GB while they are built)
    #[arg(long, env = "TAQUIN_TABLES", default_value = "standard", value_name = "TIER")]
    tables: String,

    /// Memory for tables that are built on first use; those asked for the longest ago give way
    /// [default: 192MiB, or a quarter of little memory]
    #[arg(long, env = "TAQUIN_TABLE_MEMORY", value_name = "SIZE")]
    table_memory: Option<String>,

    /// Directory in which standard and large tables are kept between runs, instead of being built anew;
    /// none if empty
    #[arg(long, env = "TAQUIN_TABLE_CACHE", value_name = "DIRECTORY")]
    table_cache: Option<String>,

    #[command(flatten)]
    guard: GuardFlags,

    /// Which log lines to write: a level, or a filter such as `info,taquin::access=off`
    #[arg(long, env = "TAQUIN_LOG", default_value = "info", value_name = "FILTER")]
    log: String,

    /// How to write them: json or pretty [default: pretty on a terminal, else json]
    #[arg(long, env = "TAQUIN_LOG_FORMAT", value_name = "FORMAT")]
    log_format: Option<String>,

    #[command(flatten)]
    traces: TraceFlags,
}

/// What the binary can do beside serving.
#[derive(Subcommand, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Command {
    /// Ask the service at the listen address whether it is alive; exit code 0 or 1
    Healthcheck,
}

/// Proven settings.
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "the flags of the same names say what each one is")]
pub struct Config {
    pub listen: SocketAddr,
    pub admin_listen: Option<SocketAddr>,
    pub max_connections: usize,
    pub workers: usize,
    pub queue: usize,
    pub shutdown_grace: Duration,
    pub time_limit: Duration,
    pub max_time: Duration,
    pub max_expanded: u64,
    pub memory: MemoryPlan,
    pub max_expansions: usize,
    pub max_body: usize,
    pub body_timeout: Duration,
    pub header_timeout: Duration,
    pub keep_alive_timeout: Duration,
    pub write_timeout: Duration,
    pub strict_content_type: bool,
    pub tables: TableTier,
    pub table_cache: Option<PathBuf>,
    pub guard: GuardConfig,
    pub log: Targets,
    pub log_format: LogFormat,
    pub traces: Option<TraceConfig>,
}

/// Which tables to have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableTier {
    /// Those that are built in a fraction of a second.
    Small,
    /// And the patterns that make 15-puzzles easy.
    Standard,
    /// And those that make the hardest of them easy.
    Large,
}

/// How log lines look.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogFormat {
    /// One JSON object a line.
    Json,
    /// For a person's eyes.
    Pretty,
}

impl TryFrom<&Flags> for Config {
    type Error = Vec<ConfigFault>;

    /// Proves every setting, or names every fault.
    fn try_from(flags: &Flags) -> Result<Self, Vec<ConfigFault>> {
        let mut faults = Faults::default();
        let cores = || std::thread::available_parallelism().map_or(1, usize::from).min(256);
        let admin_listen = flags.admin_listen.as_deref().filter(|text| !text.is_empty());
        let workers = flags.workers.as_deref();
        let listen = faults.address("listen", &flags.listen);
        let worker_count = workers.map_or_else(cores, |text| faults.number("workers", text, 1..=256));
        let tables = faults.tables("tables", &flags.tables);
        let log_format = flags.log_format.as_deref();
        let config = Self {
            listen,
            admin_listen: admin_listen.map(|text| faults.address("admin-listen", text)),
            max_connections: faults.number("max-connections", &flags.max_connections, 1..=1_000_000),
            workers: worker_count,
            queue: faults.number("queue", &flags.queue, 0..=100_000),
            shutdown_grace: faults.duration("shutdown-grace", &flags.shutdown_grace, Duration::ZERO),
            time_limit: faults.duration("time-limit", &flags.time_limit, MILLISECOND),
            max_time: faults.duration("max-time", &flags.max_time, MILLISECOND),
            max_expanded: faults.number("max-expanded", &flags.max_expanded, 1..=u64::MAX),
            memory: MemoryPlan::read(&mut faults, flags, worker_count as u64, tables),
            max_expansions: faults.number("max-expansions", &flags.max_expansions, 0..=1_000_000),
            max_body: faults.size("max-body", &flags.max_body, KIB..=16 * MIB) as usize,
            body_timeout: faults.duration("body-timeout", &flags.body_timeout, MILLISECOND),
            header_timeout: faults.duration("header-timeout", &flags.header_timeout, MILLISECOND),
            keep_alive_timeout: faults.duration("keep-alive-timeout", &flags.keep_alive_timeout, MILLISECOND),
            write_timeout: faults.duration("write-timeout", &flags.write_timeout, MILLISECOND),
            strict_content_type: faults.switch("strict-content-type", &flags.strict_content_type),
            tables,
            table_cache: flags.table_cache.as_deref().filter(|path| !path.is_empty()).map(PathBuf::from),
            guard: flags.guard.prove(flags.command.is_none(), &mut faults),
            log: faults.filter("log", &flags.log),
            log_format: log_format.map_or_else(LogFormat::of_stdout, |text| faults.log_format(text)),
            traces: flags.traces.prove(&mut faults),
        };
        config.compare(&mut faults);
        faults.found()?;
        Ok(config)
    }
}

impl Config {
    /// Finds settings that do not go together.
    fn compare(&self, faults: &mut Faults) {
        if self.time_limit > self.max_time && faults.is_sound("time-limit") && faults.is_sound("max-time") {
            faults.add("time-limit", "is longer than --max-time allows".to_owned());
        }
        let is_taken = |admin: SocketAddr| {
            let (ip, main) = (admin.ip(), self.listen.ip());
            let is_same = ip == main || ip.is_unspecified() || main.is_unspecified();
            is_same && admin.port() == self.listen.port() && admin.port() != 0
        };
        if self.admin_listen.is_some_and(is_taken) {
            faults.add("admin-listen", "is the address of --listen; give it a port of its own".to_owned());
        }
    }
}

impl LogFormat {
    fn of_stdout() -> Self {
        if std::io::stdout().is_terminal() { Self::Pretty } else { Self::Json }
    }
}

#[cfg(test)]
mod tests;
