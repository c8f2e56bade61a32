//! Settings: flags and environment variables, parsed and validated before anything is started.
//!
//! clap passes every value as text, because it would stop at the first invalid one. [`Config::try_from`] parses them
//! and reports all errors together.

mod address;
mod bulk;
mod connection;
mod guard;
mod jobs;
mod memory;
mod parse;
mod reference;
mod threads;
mod traces;

use std::env;
use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use taquin_bulk::command::BatchFlags;
use tracing_subscriber::filter::Targets;

pub use address::reachable;
use bulk::BulkFlags;
use connection::ConnectionFlags;
pub use connection::Timeouts;
use guard::GuardFlags;
pub use jobs::{JobsConfig, JobsPlace, QueueConfig};
use jobs::{JobsFlags, JobsRole};
use memory::MemoryFlags;
pub use memory::MemoryPlan;
pub use parse::{ConfigError, LogFormat};
use parse::{KIB, MIB, MILLISECOND, SettingsParser};
pub use threads::{LimitSource, ThreadLimit, ThreadPlan};
pub use traces::TraceConfig;
use traces::TraceFlags;

use crate::http::{Guards, HttpSettings, Site};
use crate::service::{BulkSettings, ServiceSettings};

/// HTTP service that solves sliding-tile puzzles.
///
/// Every setting is a flag and an environment variable; the flag takes precedence. Durations and sizes need a
/// unit: 500ms, 10s, 1m; 64KiB, 512MiB, 2GB.
///
/// Exit codes: 0 after a clean shutdown, 1 if the service fails, 2 if a setting is invalid, 130 or 143 if a
/// second SIGINT or SIGTERM cuts the shutdown short.
// Text in brackets at the end of a help text becomes the default and the range in docs/CONFIGURATION.md. Tests compare
// it with the code.
#[derive(Parser, Clone, Debug)]
#[command(name = "taquin", version)]
// Any value may contain a secret, if only by mistake.
#[command(mut_args(|arg| arg.hide_env_values(true)))]
pub struct Flags {
    /// What to do; without a subcommand, serve.
    #[command(subcommand)]
    pub command: Option<Command>,

    /// Check the settings, print how memory is divided, and exit with code 0 or 2
    #[arg(long)]
    pub check_config: bool,

    /// Address and port to listen on: `127.0.0.1:8080`, `localhost:8080`, or `:8080` for all addresses
    /// [default: 127.0.0.1:8080]
    ///
    /// A name is looked up once, at the start; of its addresses the service listens on the first IPv4 address, or else
    /// on the first. Without an address, or if it is empty, the service listens on the port in the variable PORT, on
    /// all addresses; cloud platforms set PORT. An empty PORT counts as absent.
    #[arg(long, env = "TAQUIN_LISTEN", value_name = "[HOST]:PORT", global = true)]
    listen: Option<String>,

    /// The variable PORT.
    #[arg(skip = env::var_os("PORT"))]
    port: Option<OsString>,

    /// Address and port, as in --listen, of a second listener that serves only probes, /metrics and /info, without
    /// tokens; none if empty
    ///
    /// It still responds when the first listener is full, and it closes last.
    #[arg(long, env = "TAQUIN_ADMIN_LISTEN", value_name = "[HOST]:PORT", global = true)]
    admin_listen: Option<String>,

    /// Path below which a proxy offers the service, such as /taquin; none if empty
    ///
    /// Requests are served with and without it, so the proxy may remove it or not.
    #[arg(long, env = "TAQUIN_BASE_PATH", value_name = "PATH")]
    base_path: Option<String>,

    /// Maximum number of open connections; further ones wait [range: 1 to 1000000]
    ///
    /// The limit is lower if the system allows fewer open files.
    #[arg(long, env = "TAQUIN_MAX_CONNECTIONS", default_value = "16384", value_name = "N")]
    max_connections: String,

    /// Number of searches that run at the same time [default: the number of cores] [range: 1 to 256]
    #[arg(long, env = "TAQUIN_WORKERS", value_name = "N", global = true)]
    workers: Option<String>,

    #[command(flatten)]
    bulk: BulkFlags,

    #[command(flatten)]
    jobs: JobsFlags,

    /// Maximum number of requests that wait for a worker [range: 0 to 100000]
    #[arg(long, env = "TAQUIN_QUEUE", default_value = "256", value_name = "N")]
    queue: String,

    /// Time a shutdown waits for open requests [range: 0s to 24h]
    #[arg(long, env = "TAQUIN_SHUTDOWN_GRACE", default_value = "10s", value_name = "DURATION", global = true)]
    shutdown_grace: String,

    /// Time limit of a search whose request sets none [range: 1ms to 24h]
    #[arg(long, env = "TAQUIN_TIME_LIMIT", default_value = "10s", value_name = "DURATION")]
    time_limit: String,

    /// Longest time limit that a request may set [range: 1ms to 24h]
    #[arg(long, env = "TAQUIN_MAX_TIME", default_value = "60s", value_name = "DURATION")]
    max_time: String,

    /// Maximum number of nodes that a search expands [range: 1 or more]
    #[arg(long, env = "TAQUIN_MAX_EXPANDED", default_value = "10000000000", value_name = "N")]
    max_expanded: String,

    #[command(flatten)]
    memory: MemoryFlags,

    /// Maximum number of expansions, and of generated nodes, that a response lists [range: 0 to 5000]
    ///
    /// On boards of more than 16 cells fewer are listed: 1684 on 10×10 boards.
    #[arg(long, env = "TAQUIN_MAX_EXPANSIONS", default_value = "5000", value_name = "N")]
    max_expansions: String,

    /// Maximum size of a request body [range: 1KiB to 16MiB]
    #[arg(long, env = "TAQUIN_MAX_BODY", default_value = "64KiB", value_name = "SIZE")]
    max_body: String,

    /// Time a request body may take to arrive; in /batch and in uploads to /jobs, each MiB of it [range: 1ms to 24h]
    #[arg(long, env = "TAQUIN_BODY_TIMEOUT", default_value = "10s", value_name = "DURATION")]
    body_timeout: String,

    #[command(flatten)]
    connection: ConnectionFlags,

    /// Reject bodies with the content type that `curl -d` sets by default, and JSON sent as text/plain
    ///
    /// Bodies without a content type are always rejected.
    #[arg(long, env = "TAQUIN_STRICT_CONTENT_TYPE", default_value = "false", value_name = "true|false")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    strict_content_type: String,

    /// Heuristic tables to build at startup: small, standard or large
    ///
    /// small: 5 MB, ready at startup. standard: 36 MB, ready a second later; 15-puzzles are solved several times as
    /// fast. large: 197 MB (0.8 GB while they are built), ready another seven seconds later; the hardest 15-puzzles
    /// are solved nearly three times as fast again.
    #[arg(long, env = "TAQUIN_TABLES", default_value = "standard", value_name = "TIER", global = true)]
    tables: String,

    /// Tables that must be built before /readyz succeeds: small, standard or large; not more than --tables
    ///
    /// Requests that come earlier are served with the tables there are. Set it where other instances can take the
    /// requests meanwhile.
    #[arg(long, env = "TAQUIN_READY", default_value = "small", value_name = "TIER")]
    ready: String,

    /// Directory that keeps standard and large tables between runs, so that they are not built again; no files if not
    /// set
    #[arg(long, env = "TAQUIN_TABLE_CACHE", value_name = "DIRECTORY", global = true)]
    table_cache: Option<String>,

    #[command(flatten)]
    guard: GuardFlags,

    /// Log lines to write: a level, or a filter such as `info,taquin::access=off`
    #[arg(long, env = "TAQUIN_LOG", default_value = "info", value_name = "FILTER", global = true)]
    log: String,

    /// Format of the log: json or pretty [default: pretty on a terminal, otherwise json]
    #[arg(long, env = "TAQUIN_LOG_FORMAT", value_name = "FORMAT", global = true)]
    log_format: Option<String>,

    #[command(flatten)]
    traces: TraceFlags,
}

impl Flags {
    fn jobs_role(&self) -> JobsRole {
        match self.command {
            None => JobsRole::Serve,
            Some(Command::Worker) => JobsRole::Work,
            Some(_) => JobsRole::Ignore,
        }
    }

    /// The address to listen on: `--listen`, or all addresses with the port in `PORT`, or else port 8080 of loopback.
    /// Empty values count as absent. Other commands than the service and its health check do not read `PORT`.
    fn listen(&self, parser: &mut SettingsParser) -> SocketAddr {
        let listens = matches!(self.command, None | Some(Command::Healthcheck));
        let address = self.listen.as_deref().filter(|text| !text.is_empty());
        let port = self.port.as_deref().filter(|port| !port.is_empty());
        match (address, port) {
            (Some(text), _) => parser.address("listen", text),
            (None, Some(port)) if listens => parser.port("listen", &port.to_string_lossy()),
            (None, _) => SocketAddr::from(([127, 0, 0, 1], 8080)),
        }
    }

    /// The memory limit in bytes, if it is valid.
    pub fn memory_limit(&self) -> Option<u64> {
        let mut parser = SettingsParser::default();
        let total = self.memory.total(&mut parser);
        parser.is_valid("memory").then_some(total)
    }

    /// Divides threads and memory, and builds the settings of the service.
    fn service(&self, parser: &mut SettingsParser) -> (ServiceSettings, MemoryPlan, ThreadPlan) {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from).min(256);
        let workers = self.workers.as_deref().map_or_else(cores, |text| parser.number("workers", text, 1..=256));
        let threads = ThreadPlan::new(cores(), workers, self.bulk.workers(parser, workers));
        let tables = parser.tables("tables", &self.tables);
        let max_expansions = parser.number("max-expansions", &self.max_expansions, 0..=5_000);
        let memory = self.memory.parse(parser, [workers, threads.bulk], tables, max_expansions as u64);
        let settings = ServiceSettings {
            workers,
            queue: parser.number("queue", &self.queue, 0..=100_000),
            job_threads: threads.searches,
            default_time: parser.duration("time-limit", &self.time_limit, MILLISECOND),
            max_time: parser.duration("max-time", &self.max_time, MILLISECOND),
            max_expanded: parser.number("max-expanded", &self.max_expanded, 1..=u64::MAX),
            memory: memory.total,
            search_memory: memory.search,
            searches_memory: memory.search_memory(),
            bulk: BulkSettings { workers: threads.bulk, search_memory: memory.bulk_search },
            answer_memory: memory.cache,
            reply_memory: memory.replies,
            max_expansions,
            tables,
            ready: parser.tables("ready", &self.ready),
            table_memory: memory.tables,
            table_cache: self.table_cache.as_deref().filter(|path| !path.is_empty()).map(Into::into),
            before_search: None,
        };
        (settings, memory, threads)
    }

    /// Builds the settings of requests. Batches get a part of the memory for long responses.
    fn http(&self, parser: &mut SettingsParser, replies: u64, traces: bool) -> HttpSettings {
        HttpSettings {
            max_body: parser.size("max-body", &self.max_body, KIB..=16 * MIB) as usize,
            body_timeout: parser.duration("body-timeout", &self.body_timeout, MILLISECOND),
            strict_content_type: parser.switch("strict-content-type", &self.strict_content_type),
            traces,
            batch: self.bulk.limits(parser, replies),
        }
    }
}

/// Subcommands of the binary.
#[derive(Subcommand, Clone, PartialEq, Eq, Debug)]
pub enum Command {
    /// Solve many boards, from a file or random, into a file or a directory; write the labels of a directory
    ///
    /// Exit codes: 0 if all boards were solved, 1 if the run fails, 2 if an argument is invalid, 3 if boards failed or
    /// a check found faults, 130 after SIGINT and 143 after SIGTERM. What was finished remains.
    Batch(Box<BatchFlags>),
    /// Run the chunks of jobs that services with the same --jobs and --nats have created, until SIGTERM or SIGINT
    ///
    /// --workers is the number of its threads. On --admin-listen it serves probes and metrics. Within --shutdown-grace
    /// it finishes what it has begun, and gives back the rest.
    Worker,
    /// Check whether the service at the listen address is alive; exit with code 0 or 1
    Healthcheck,
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the man page
    Man,
}

/// Valid settings of the process and of its layers.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the flags of the same names, or the types, document them")]
pub struct Config {
    pub listen: SocketAddr,
    pub admin_listen: Option<SocketAddr>,
    pub max_connections: usize,
    pub timeouts: Timeouts,
    pub shutdown_grace: Duration,
    pub memory: MemoryPlan,
    pub threads: ThreadPlan,
    pub service: ServiceSettings,
    pub jobs: Option<JobsConfig>,
    pub http: HttpSettings,
    pub site: Site,
    pub guards: Guards,
    pub log: Targets,
    pub log_format: LogFormat,
    pub traces: Option<TraceConfig>,
}

impl TryFrom<&Flags> for Config {
    type Error = Vec<ConfigError>;

    /// Parses every setting, or returns every error.
    fn try_from(flags: &Flags) -> Result<Self, Vec<ConfigError>> {
        let mut parser = SettingsParser::default();
        let admin_listen = flags.admin_listen.as_deref().filter(|text| !text.is_empty());
        let listen = flags.listen(&mut parser);
        let (service, memory, threads) = flags.service(&mut parser);
        let traces = flags.traces.parse(&mut parser);
        let config = Self {
            listen,
            admin_listen: admin_listen.map(|text| parser.address("admin-listen", text)),
            max_connections: parser.number("max-connections", &flags.max_connections, 1..=1_000_000),
            timeouts: flags.connection.parse(&mut parser),
            shutdown_grace: parser.duration("shutdown-grace", &flags.shutdown_grace, Duration::ZERO),
            memory,
            threads,
            service,
            jobs: flags.jobs.parse(flags.jobs_role(), &mut parser),
            http: flags.http(&mut parser, memory.replies, traces.is_some()),
            site: Site {
                base_path: parser.base_path("base-path", flags.base_path.as_deref().unwrap_or_default()),
                frame_origins: flags.guard.frame_origins(&mut parser),
            },
            guards: flags.guard.parse(flags.command.is_none(), &mut parser),
            log: parser.filter("log", &flags.log),
            log_format: flags.log_format.as_deref().map_or_else(LogFormat::of_stdout, |text| parser.log_format(text)),
            traces,
        };
        config.check_conflicts(flags.command.is_none(), &mut parser);
        parser.finish().map(|()| config)
    }
}

impl Config {
    /// Reports settings that contradict each other.
    fn check_conflicts(&self, serves: bool, parser: &mut SettingsParser) {
        let ServiceSettings { default_time, max_time, tables, ready, .. } = self.service;
        if default_time > max_time && parser.is_valid("time-limit") && parser.is_valid("max-time") {
            parser.report("time-limit", "is longer than --max-time: lower it, or raise --max-time".to_owned());
        }
        if ready > tables && parser.is_valid("ready") && parser.is_valid("tables") {
            parser.report("ready", "names tables that --tables does not build: lower it, or raise --tables".to_owned());
        }
        let is_main = |admin: SocketAddr| {
            let (ip, main) = (admin.ip(), self.listen.ip());
            let is_same = ip == main || ip.is_unspecified() || main.is_unspecified();
            is_same && admin.port() == self.listen.port() && admin.port() != 0
        };
        if self.admin_listen.is_some_and(is_main) {
            parser.report("admin-listen", "is the address of --listen; use another port".to_owned());
        }
        if self.jobs.is_some() && serves {
            self.check_jobs(parser);
        }
    }

    /// Reports settings that would keep jobs from running, or let requests without a token create them.
    fn check_jobs(&self, parser: &mut SettingsParser) {
        if self.guards.tokens.is_empty() && !self.listen.ip().is_loopback() && parser.is_valid("token-file") {
            let reason =
                "needs --token-file, since --listen is no loopback address: requests from anywhere could fill the disk";
            parser.report("jobs", reason.to_owned());
        }
        let is_own = matches!(self.jobs, Some(JobsConfig { place: JobsPlace::Own(_), .. }));
        if is_own && self.threads.bulk == 0 && parser.is_valid("bulk-share") {
            parser.report("jobs", "needs workers for bulk work: raise --bulk-share".to_owned());
        }
    }
}

/// Sorted names that start with `TAQUIN_` but belong to no setting. They have no effect, and are most likely
/// misspelled.
///
/// Omits variables that Kubernetes sets for services whose names start with `taquin`.
pub fn unknown_variables(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let flags = Flags::command();
    let settings: Vec<_> = flags.get_arguments().filter_map(clap::Arg::get_env).collect();
    let is_unknown = |name: &String| {
        name.starts_with("TAQUIN_") && !is_kubernetes(name) && !settings.iter().any(|setting| *setting == name.as_str())
    };
    let mut unknown: Vec<String> = names.into_iter().filter(is_unknown).collect();
    unknown.sort_unstable();
    unknown
}

/// True for names such as `TAQUIN_SERVICE_HOST`, `TAQUIN_ADMIN_SERVICE_PORT_HTTP`, `TAQUIN_PORT`,
/// `TAQUIN_PORT_80_TCP_ADDR`.
fn is_kubernetes(name: &str) -> bool {
    name.ends_with("_SERVICE_HOST")
        || name.ends_with("_PORT")
        || ["_SERVICE_PORT", "_PORT_"].iter().any(|part| name.contains(part))
}

/// The completion script for a shell.
pub fn completions(shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Flags::command(), "taquin", &mut script);
    script
}

/// The man page, in roff.
///
/// # Errors
/// Only if writing to memory fails.
pub fn man_page() -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(Flags::command()).render(&mut page)?;
    Ok(page)
}

#[cfg(test)]
mod tests;
