//! Parses values of settings, and collects every error, with an example of a valid value.

use std::fmt;
use std::io::{self, IsTerminal};
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use taquin_bulk::command::{parse_duration, with_unit};
use taquin_solver::heuristic::Tier;
use tracing_subscriber::filter::{LevelFilter, Targets};

use super::address::{every_address, quoted, resolve};

/// An invalid setting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError {
    flag: &'static str,
    reason: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let variable = self.flag.to_uppercase().replace('-', "_");
        write!(f, "--{} (TAQUIN_{variable}): {}", self.flag, self.reason)
    }
}

pub(crate) const DAY: Duration = Duration::from_secs(24 * 60 * 60);
pub(crate) const MILLISECOND: Duration = Duration::from_millis(1);
pub(crate) const KIB: u64 = 1 << 10;
pub(crate) const MIB: u64 = 1 << 20;

/// Parses values. After an error it returns a valid substitute, so that parsing continues.
#[derive(Default)]
pub(crate) struct SettingsParser(Vec<ConfigError>);

impl SettingsParser {
    /// True if no error was reported for the flag.
    pub(crate) fn is_valid(&self, flag: &str) -> bool {
        !self.0.iter().any(|error| error.flag == flag)
    }

    /// # Errors
    /// Returns all errors that were reported.
    pub(crate) fn finish(self) -> Result<(), Vec<ConfigError>> {
        if self.0.is_empty() { Ok(()) } else { Err(self.0) }
    }

    pub(crate) fn report(&mut self, flag: &'static str, reason: String) {
        self.0.push(ConfigError { flag, reason });
    }

    pub(crate) fn address(&mut self, flag: &'static str, text: &str) -> SocketAddr {
        resolve(text).unwrap_or_else(|reason| {
            self.report(flag, reason);
            SocketAddr::from(([127, 0, 0, 1], 0))
        })
    }

    /// All addresses with the port in the variable `PORT`, which stands for the flag.
    pub(crate) fn port(&mut self, flag: &'static str, text: &str) -> SocketAddr {
        every_address(text).unwrap_or_else(|| {
            let reason = format!(
                "the variable PORT has the value {}, which is not a port from 0 to 65535: correct PORT, or set \
                 TAQUIN_LISTEN",
                quoted(text)
            );
            self.report(flag, reason);
            SocketAddr::from(([127, 0, 0, 1], 0))
        })
    }

    /// A path without a slash at its end; empty for none.
    pub(crate) fn base_path(&mut self, flag: &'static str, text: &str) -> String {
        const MAX_BYTES: usize = 200;
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let is_segment = |segment: &str| !segment.is_empty() && segment.bytes().all(is_plain);
        let path = text.strip_suffix('/').unwrap_or(text);
        let segments = path.strip_prefix('/').map(|path| path.split('/').collect::<Vec<_>>()).unwrap_or_default();
        let is_valid =
            !segments.is_empty() && segments.iter().all(|name| is_segment(name) && !["..", "."].contains(name));
        if path.is_empty() || (is_valid && path.len() <= MAX_BYTES) {
            return path.to_owned();
        }
        let reason = format!(
            "{} is not a path such as /taquin: names of letters, digits, -, ., _ and ~, each after a slash, with at \
             most {MAX_BYTES} characters in all",
            quoted(text)
        );
        self.report(flag, reason);
        String::new()
    }

    pub(crate) fn number<N>(&mut self, flag: &'static str, text: &str, range: RangeInclusive<N>) -> N
    where
        N: FromStr + PartialOrd + Copy + fmt::Display,
    {
        text.trim().parse().ok().filter(|number| range.contains(number)).unwrap_or_else(|| {
            self.report(
                flag,
                format!("{} is not a whole number from {} to {}", quoted(text), range.start(), range.end()),
            );
            *range.start()
        })
    }

    pub(crate) fn ratio(&mut self, flag: &'static str, text: &str) -> f64 {
        text.trim().parse().ok().filter(|ratio| (0.0..=1.0).contains(ratio)).unwrap_or_else(|| {
            self.report(flag, format!("{} is not a number from 0 to 1", quoted(text)));
            0.0
        })
    }

    pub(crate) fn duration(&mut self, flag: &'static str, text: &str, least: Duration) -> Duration {
        self.duration_within(flag, text, least..=DAY, "24h")
    }

    /// A duration within bounds. `most` is the upper bound in words.
    pub(crate) fn duration_within(
        &mut self,
        flag: &'static str,
        text: &str,
        bounds: RangeInclusive<Duration>,
        most: &str,
    ) -> Duration {
        let least = *bounds.start();
        parse_duration(text, bounds, most).unwrap_or_else(|reason| {
            self.report(flag, format!("{} {reason}", quoted(text)));
            least
        })
    }

    pub(crate) fn size(&mut self, flag: &'static str, text: &str, range: RangeInclusive<u64>) -> u64 {
        let with_unit = || {
            with_unit(text, &["KiB", "MiB", "GiB"], |text| parse_size(text).is_some_and(|bytes| range.contains(&bytes)))
        };
        let reason = match parse_size(text) {
            Some(bytes) if range.contains(&bytes) => return bytes,
            Some(_) => {
                let hint = with_unit().map(|sizes| format!("; the unit is missing: write {sizes}")).unwrap_or_default();
                format!("{} is not between {} and {} bytes{hint}", quoted(text), range.start(), range.end())
            }
            None => format!("{} is not a size with a unit, such as 64KiB, 512MiB or 2GB", quoted(text)),
        };
        self.report(flag, reason);
        *range.start()
    }

    pub(crate) fn switch(&mut self, flag: &'static str, text: &str) -> bool {
        match text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => true,
            "false" | "0" | "no" | "off" => false,
            _ => {
                self.report(flag, format!("{} is not true or false", quoted(text)));
                false
            }
        }
    }

    pub(crate) fn tables(&mut self, flag: &'static str, text: &str) -> Tier {
        Tier::ALL.into_iter().find(|tier| tier.name() == text.trim()).unwrap_or_else(|| {
            self.report(flag, format!("{} is not small, standard or large", quoted(text)));
            Tier::Small
        })
    }

    /// Parses a log filter. Lines of the NATS client are off unless the filter names them: the client logs each of its
    /// many attempts.
    pub(crate) fn filter(&mut self, flag: &'static str, text: &str) -> Targets {
        let parts: Vec<&str> = text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
        let filter =
            parts.iter().try_fold(Targets::new().with_target("async_nats", LevelFilter::OFF), |filter, part| {
                add_directive(filter, part)
            });
        filter.filter(|_| !parts.is_empty()).unwrap_or_else(|| {
            self.report(flag, format!("{} is not a log filter such as info or info,taquin::access=off", quoted(text)));
            Targets::new()
        })
    }

    pub(crate) fn log_format(&mut self, text: &str) -> LogFormat {
        match text.trim() {
            "json" => LogFormat::Json,
            "pretty" => LogFormat::Pretty,
            _ => {
                self.report("log-format", format!("{} is not json or pretty", quoted(text)));
                LogFormat::Json
            }
        }
    }
}

/// Parses a whole number of B, kB, KiB, MB, MiB, GB or GiB. No unit means bytes.
pub(crate) fn parse_size(text: &str) -> Option<u64> {
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

/// Adds a directive to a filter: a level, or `target=level`.
fn add_directive(filter: Targets, part: &str) -> Option<Targets> {
    let (target, level) = part.split_once('=').map_or((None, part), |(target, level)| (Some(target.trim()), level));
    let level: LevelFilter = Some(level.trim()).filter(|level| !level.is_empty())?.parse().ok()?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'-');
    match target {
        None => Some(filter.with_default(level)),
        Some(target) => (!target.is_empty() && target.bytes().all(is_plain)).then(|| filter.with_target(target, level)),
    }
}

/// Format of log lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LogFormat {
    /// One JSON object a line.
    Json,
    /// Text for people, colored on a terminal.
    Pretty,
}

impl LogFormat {
    /// Text on a terminal, JSON elsewhere.
    pub(crate) fn of_stdout() -> Self {
        if io::stdout().is_terminal() { Self::Pretty } else { Self::Json }
    }
}
