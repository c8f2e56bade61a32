//! Reading values: every fault is kept, with what would have done.

use std::fmt;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use tracing_subscriber::filter::{LevelFilter, Targets};

use super::{LogFormat, TableTier};

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

pub(super) const DAY: Duration = Duration::from_secs(24 * 60 * 60);
pub(super) const MILLISECOND: Duration = Duration::from_millis(1);
pub(super) const KIB: u64 = 1 << 10;
pub(super) const MIB: u64 = 1 << 20;

/// Reads values, and goes on with a stand-in after a fault.
#[derive(Default)]
pub(super) struct Faults(Vec<ConfigFault>);

impl Faults {
    /// Whether a flag's value could be read.
    pub(super) fn is_sound(&self, flag: &str) -> bool {
        !self.0.iter().any(|fault| fault.flag == flag)
    }

    /// All of them, if there are any.
    pub(super) fn found(self) -> Result<(), Vec<ConfigFault>> {
        if self.0.is_empty() { Ok(()) } else { Err(self.0) }
    }

    pub(super) fn add(&mut self, flag: &'static str, reason: String) {
        self.0.push(ConfigFault { flag, reason });
    }

    pub(super) fn address(&mut self, flag: &'static str, text: &str) -> SocketAddr {
        text.parse().unwrap_or_else(|_| {
            self.add(flag, format!("{text:?} is not an IP address and a port, such as 0.0.0.0:8080 or [::]:8080"));
            SocketAddr::from(([127, 0, 0, 1], 0))
        })
    }

    pub(super) fn number<N>(&mut self, flag: &'static str, text: &str, range: RangeInclusive<N>) -> N
    where
        N: FromStr + PartialOrd + Copy + fmt::Display,
    {
        text.trim().parse().ok().filter(|number| range.contains(number)).unwrap_or_else(|| {
            self.add(flag, format!("{text:?} is not a whole number from {} to {}", range.start(), range.end()));
            *range.start()
        })
    }

    pub(super) fn duration(&mut self, flag: &'static str, text: &str, least: Duration) -> Duration {
        let reason = match humantime::parse_duration(text.trim()) {
            Ok(duration) if (least..=DAY).contains(&duration) => return duration,
            Ok(_) => format!("{text:?} is not between {} and 24h", humantime::format_duration(least)),
            Err(_) => format!("{text:?} is not a duration with its unit, such as 500ms, 10s or 1m"),
        };
        self.add(flag, reason);
        least
    }

    pub(super) fn size(&mut self, flag: &'static str, text: &str, range: RangeInclusive<u64>) -> u64 {
        let reason = match parse_size(text) {
            Some(bytes) if range.contains(&bytes) => return bytes,
            Some(_) => format!("{text:?} is not between {} and {} bytes", range.start(), range.end()),
            None => format!("{text:?} is not a size with its unit, such as 64KiB, 512MiB or 2GB"),
        };
        self.add(flag, reason);
        *range.start()
    }

    pub(super) fn switch(&mut self, flag: &'static str, text: &str) -> bool {
        match text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "on" => true,
            "false" | "0" | "no" | "off" => false,
            _ => {
                self.add(flag, format!("{text:?} is neither true nor false"));
                false
            }
        }
    }

    pub(super) fn tables(&mut self, flag: &'static str, text: &str) -> TableTier {
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

    pub(super) fn filter(&mut self, flag: &'static str, text: &str) -> Targets {
        let parts: Vec<&str> = text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
        let filter = parts.iter().try_fold(Targets::new(), |filter, part| filtered(filter, part));
        filter.filter(|_| !parts.is_empty()).unwrap_or_else(|| {
            self.add(flag, format!("{text:?} is not a log filter such as info or info,taquin::access=off"));
            Targets::new()
        })
    }

    pub(super) fn log_format(&mut self, text: &str) -> LogFormat {
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
pub(super) fn parse_size(text: &str) -> Option<u64> {
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
