//! Settings: flags and environment, turned into proven values before anything is started.
//!
//! clap hands every value over as text, because it would stop at the first one it cannot read;
//! here all faults are found in one go.

use std::fmt;
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Parser, Subcommand};
use tracing_subscriber::filter::{LevelFilter, Targets};

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

    /// Address and port to listen on
    #[arg(long, env = "TAQUIN_LISTEN", default_value = "127.0.0.1:8080", value_name = "IP:PORT", global = true)]
    listen: String,

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

    /// Memory that one search may hold; all workers together hold at most so many times that
    #[arg(long, env = "TAQUIN_SEARCH_MEMORY", default_value = "512MiB", value_name = "SIZE")]
    search_memory: String,

    /// Most expansions that an answer lists, 0 to 1000000
    #[arg(long, env = "TAQUIN_MAX_EXPANSIONS", default_value = "10000", value_name = "N")]
    max_expansions: String,

    /// Largest request body that is read, up to 16MiB
    #[arg(long, env = "TAQUIN_MAX_BODY", default_value = "64KiB", value_name = "SIZE")]
    max_body: String,

    /// How long a request body may take to arrive
    #[arg(long, env = "TAQUIN_BODY_TIMEOUT", default_value = "10s", value_name = "DURATION")]
    body_timeout: String,

    /// How long a connection may take to send a request's headers, or stay idle
    #[arg(long, env = "TAQUIN_HEADER_TIMEOUT", default_value = "10s", value_name = "DURATION")]
    header_timeout: String,

    /// Refuse bodies without a content type, or with the one that `curl -d` sets
    #[arg(long, env = "TAQUIN_STRICT_CONTENT_TYPE", default_value = "false", value_name = "true|false")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    strict_content_type: String,

    /// Which tables to have: small, standard (40 MB, and 15-puzzles several times as fast), or large
    /// (205 MB, and the hardest of them four times as fast again; 0.85 GB while they are built)
    #[arg(long, env = "TAQUIN_TABLES", default_value = "standard", value_name = "TIER")]
    tables: String,

    /// Memory for tables that are built on first use; those asked for the longest ago give way
    #[arg(long, env = "TAQUIN_TABLE_MEMORY", default_value = "160MiB", value_name = "SIZE")]
    table_memory: String,

    /// Directory in which standard and large tables are kept between runs, instead of being built anew;
    /// none if empty
    #[arg(long, env = "TAQUIN_TABLE_CACHE", value_name = "DIRECTORY")]
    table_cache: Option<String>,

    /// Which log lines to write: a level, or a filter such as `info,taquin::access=off`
    #[arg(long, env = "TAQUIN_LOG", default_value = "info", value_name = "FILTER")]
    log: String,

    /// How to write them: json or pretty [default: pretty on a terminal, else json]
    #[arg(long, env = "TAQUIN_LOG_FORMAT", value_name = "FORMAT")]
    log_format: Option<String>,
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
    pub workers: usize,
    pub queue: usize,
    pub shutdown_grace: Duration,
    pub time_limit: Duration,
    pub max_time: Duration,
    pub max_expanded: u64,
    pub search_memory: u64,
    pub max_expansions: usize,
    pub max_body: usize,
    pub body_timeout: Duration,
    pub header_timeout: Duration,
    pub strict_content_type: bool,
    pub tables: TableTier,
    pub table_memory: u64,
    pub table_cache: Option<PathBuf>,
    pub log: Targets,
    pub log_format: LogFormat,
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

/// One bad setting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigFault {
    flag: &'static str,
    reason: String,
}

impl fmt::Display for ConfigFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variable = self.flag.to_uppercase().replace('-', "_");
        write!(f, "--{} (TAQUIN_{variable}): {}", self.flag, self.reason)
    }
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const MILLISECOND: Duration = Duration::from_millis(1);
const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

impl TryFrom<&Flags> for Config {
    type Error = Vec<ConfigFault>;

    /// Proves every setting, or names every fault.
    fn try_from(flags: &Flags) -> Result<Self, Vec<ConfigFault>> {
        let mut faults = Faults(Vec::new());
        let cores = || std::thread::available_parallelism().map_or(1, usize::from).min(256);
        let workers = flags.workers.as_deref();
        let log_format = flags.log_format.as_deref();
        let config = Self {
            listen: faults.listen(&flags.listen),
            workers: workers.map_or_else(cores, |text| faults.number("workers", text, 1..=256)),
            queue: faults.number("queue", &flags.queue, 0..=100_000),
            shutdown_grace: faults.duration("shutdown-grace", &flags.shutdown_grace, Duration::ZERO),
            time_limit: faults.duration("time-limit", &flags.time_limit, MILLISECOND),
            max_time: faults.duration("max-time", &flags.max_time, MILLISECOND),
            max_expanded: faults.number("max-expanded", &flags.max_expanded, 1..=u64::MAX),
            search_memory: faults.size("search-memory", &flags.search_memory, MIB..=1 << 50),
            max_expansions: faults.number("max-expansions", &flags.max_expansions, 0..=1_000_000),
            max_body: faults.size("max-body", &flags.max_body, KIB..=16 * MIB) as usize,
            body_timeout: faults.duration("body-timeout", &flags.body_timeout, MILLISECOND),
            header_timeout: faults.duration("header-timeout", &flags.header_timeout, MILLISECOND),
            strict_content_type: faults.switch("strict-content-type", &flags.strict_content_type),
            tables: faults.tables("tables", &flags.tables),
            table_memory: faults.size("table-memory", &flags.table_memory, 64 * MIB..=1 << 50),
            table_cache: flags.table_cache.as_deref().filter(|path| !path.is_empty()).map(PathBuf::from),
            log: faults.filter("log", &flags.log),
            log_format: log_format.map_or_else(LogFormat::of_stdout, |text| faults.log_format(text)),
        };
        let is_sound = |flag| !faults.0.iter().any(|fault| fault.flag == flag);
        if config.time_limit > config.max_time && is_sound("time-limit") && is_sound("max-time") {
            faults.add("time-limit", "is longer than --max-time allows".to_owned());
        }
        if faults.0.is_empty() { Ok(config) } else { Err(faults.0) }
    }
}

impl LogFormat {
    fn of_stdout() -> Self {
        if std::io::stdout().is_terminal() { Self::Pretty } else { Self::Json }
    }
}

/// Reads values, and goes on with a stand-in after a fault.
struct Faults(Vec<ConfigFault>);

impl Faults {
    fn add(&mut self, flag: &'static str, reason: String) {
        self.0.push(ConfigFault { flag, reason });
    }

    fn listen(&mut self, text: &str) -> SocketAddr {
        text.parse().unwrap_or_else(|_| {
            self.add("listen", format!("{text:?} is not an IP address and a port, such as 0.0.0.0:8080 or [::]:8080"));
            SocketAddr::from(([127, 0, 0, 1], 0))
        })
    }

    fn number<N>(&mut self, flag: &'static str, text: &str, range: RangeInclusive<N>) -> N
    where
        N: FromStr + PartialOrd + Copy + fmt::Display,
    {
        text.trim().parse().ok().filter(|number| range.contains(number)).unwrap_or_else(|| {
            self.add(flag, format!("{text:?} is not a whole number from {} to {}", range.start(), range.end()));
            *range.start()
        })
    }

    fn duration(&mut self, flag: &'static str, text: &str, least: Duration) -> Duration {
        let reason = match humantime::parse_duration(text.trim()) {
            Ok(duration) if (least..=DAY).contains(&duration) => return duration,
            Ok(_) => format!("{text:?} is not between {} and 24h", humantime::format_duration(least)),
            Err(_) => format!("{text:?} is not a duration with its unit, such as 500ms, 10s or 1m"),
        };
        self.add(flag, reason);
        least
    }

    fn size(&mut self, flag: &'static str, text: &str, range: RangeInclusive<u64>) -> u64 {
        let reason = match parse_size(text) {
            Some(bytes) if range.contains(&bytes) => return bytes,
            Some(_) => format!("{text:?} is not between {} and {} bytes", range.start(), range.end()),
            None => format!("{text:?} is not a size with its unit, such as 64KiB, 512MiB or 2GB"),
        };
        self.add(flag, reason);
        *range.start()
    }

    fn switch(&mut self, flag: &'static str, text: &str) -> bool {
        match text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => true,
            "false" | "0" | "no" | "off" => false,
            _ => {
                self.add(flag, format!("{text:?} is neither true nor false"));
                false
            }
        }
    }

    fn tables(&mut self, flag: &'static str, text: &str) -> TableTier {
        match text.trim() {
            "small" => TableTier::Small,
            "standard" => TableTier::Standard,
            "large" => TableTier::Large,
            _ => {
                self.add(flag, format!("{text:?} is none of small, standard and large"));
                TableTier::Small
            }
        }
    }

    fn filter(&mut self, flag: &'static str, text: &str) -> Targets {
        let parts: Vec<&str> = text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
        let filter = parts.iter().try_fold(Targets::new(), |filter, part| filtered(filter, part));
        filter.filter(|_| !parts.is_empty()).unwrap_or_else(|| {
            self.add(flag, format!("{text:?} is not a log filter such as info or info,taquin::access=off"));
            Targets::new()
        })
    }

    fn log_format(&mut self, text: &str) -> LogFormat {
        match text.trim() {
            "json" => LogFormat::Json,
            "pretty" => LogFormat::Pretty,
            _ => {
                self.add("log-format", format!("{text:?} is neither json nor pretty"));
                LogFormat::Json
            }
        }
    }
}

/// Reads a whole number of bytes, kB, KiB, MB, MiB, GB or GiB; without a unit it is bytes.
fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let unit = match text[digits..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1_000,
        "kib" => KIB,
        "mb" => 1_000_000,
        "mib" => MIB,
        "gb" => 1_000_000_000,
        "gib" => 1 << 30,
        _ => return None,
    };
    text[..digits].parse::<u64>().ok()?.checked_mul(unit)
}

/// A filter with one part more: a level, or a level for a target.
fn filtered(filter: Targets, part: &str) -> Option<Targets> {
    let (target, level) = part.split_once('=').map_or((None, part), |(target, level)| (Some(target.trim()), level));
    let level: LevelFilter = Some(level.trim()).filter(|level| !level.is_empty())?.parse().ok()?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'-');
    match target {
        None => Some(filter.with_default(level)),
        Some(target) => (!target.is_empty() && target.bytes().all(is_plain)).then(|| filter.with_target(target, level)),
    }
}

#[cfg(test)]
mod tests;
