//! Settings of the guards: tokens, rate, origins. All of them are off by default.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroU32;
use std::time::Duration;

use clap::Args;

use super::parse::{DAY, Faults, MIB, MILLISECOND};

#[derive(Args, Clone, Debug)]
pub(super) struct GuardFlags {
    /// File with a bearer token a line: requests then need one of them, but for probes, documentation
    /// and metrics; none if empty
    #[arg(long, env = "TAQUIN_TOKEN_FILE", value_name = "FILE")]
    token_file: Option<String>,

    /// How often one client may ask for a board or a solution, such as 100/1m or 20/s; as often as it
    /// likes if empty
    #[arg(long, env = "TAQUIN_RATE_LIMIT", value_name = "N/PERIOD")]
    rate_limit: Option<String>,

    /// How many of these requests may come at once, 1 to 100000 [default: the N of --rate-limit]
    #[arg(long, env = "TAQUIN_RATE_BURST", value_name = "N")]
    rate_burst: Option<String>,

    /// Proxies in front that add to X-Forwarded-For, 0 to 16; the client is whom the outermost saw
    #[arg(long, env = "TAQUIN_TRUSTED_PROXIES", default_value = "0", value_name = "N")]
    trusted_proxies: String,

    /// Origins whose pages may ask, with commas, such as https://example.org; * for all, none if empty
    #[arg(long, env = "TAQUIN_CORS_ORIGINS", value_name = "LIST")]
    cors_origins: Option<String>,
}

/// Proven settings of the guards.
#[derive(Clone, PartialEq, Debug)]
#[expect(missing_docs, reason = "the flags say what each one is")]
pub struct GuardConfig {
    pub tokens: Vec<Token>,
    pub rate: Option<RateConfig>,
    pub trusted_proxies: usize,
    pub cors_origins: Vec<String>,
}

/// Requests in a period, and at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the flags say what each one is")]
pub struct RateConfig {
    pub requests: NonZeroU32,
    pub period: Duration,
    pub burst: NonZeroU32,
}

/// A bearer token; its text is nowhere but where it is asked for.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// Requests of one client in a period or at once; a day for one, so many times, is still a number.
const MOST_REQUESTS: NonZeroU32 = NonZeroU32::new(100_000).expect("it is not 0");
const MOST_PROXIES: usize = 16;
const MOST_TOKENS: usize = 1024;
const MOST_TOKEN_BYTES: u64 = MIB;
/// How many bad lines of a file are told.
const MOST_LINES_TOLD: usize = 10;

impl GuardFlags {
    /// Proves the settings. Who does not serve needs no tokens, and perhaps may not read them.
    pub(super) fn prove(&self, serves: bool, faults: &mut Faults) -> GuardConfig {
        let given = |setting: &Option<String>| setting.clone().filter(|text| !text.trim().is_empty());
        let burst =
            given(&self.rate_burst).map(|text| faults.number("rate-burst", &text, NonZeroU32::MIN..=MOST_REQUESTS));
        let rate = given(&self.rate_limit).and_then(|text| faults.rate("rate-limit", &text));
        GuardConfig {
            tokens: given(&self.token_file)
                .filter(|_| serves)
                .map(|path| faults.tokens("token-file", &path))
                .unwrap_or_default(),
            rate: rate.map(|(requests, period)| RateConfig { requests, period, burst: burst.unwrap_or(requests) }),
            trusted_proxies: faults.number("trusted-proxies", &self.trusted_proxies, 0..=MOST_PROXIES),
            cors_origins: given(&self.cors_origins)
                .map(|text| faults.origins("cors-origins", &text))
                .unwrap_or_default(),
        }
    }
}

impl Faults {
    fn rate(&mut self, flag: &'static str, text: &str) -> Option<(NonZeroU32, Duration)> {
        let rate = parse_rate(text);
        if rate.is_none() {
            let reason = format!(
                "{text:?} is not a number of requests, up to {MOST_REQUESTS}, in a time from 1ms to 24h, such as \
                 100/1m or 20/s"
            );
            self.add(flag, reason);
        }
        rate
    }

    /// The tokens in a file. A fault names the line, never what stands there.
    fn tokens(&mut self, flag: &'static str, path: &str) -> Vec<Token> {
        let text = match read(path) {
            Ok(text) => text,
            Err(error) => {
                self.add(flag, format!("{path:?} cannot be read: {error}"));
                return Vec::new();
            }
        };
        let lines = (1..).zip(text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii));
        let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with(b"#"));
        let (good, bad): (Vec<_>, Vec<_>) =
            lines.map(|(number, line)| (number, Token::parse(line))).partition(|(_, token)| token.is_some());
        for (number, _) in bad.iter().take(MOST_LINES_TOLD) {
            self.add(
                flag,
                format!(
                    "{path:?}, line {number}: a token has {} characters or more of {}",
                    Token::LEAST,
                    Token::ALPHABET
                ),
            );
        }
        if good.is_empty() && bad.is_empty() {
            self.add(flag, format!("{path:?} has no token"));
        }
        if good.len() > MOST_TOKENS {
            self.add(flag, format!("{path:?} has {} tokens, {MOST_TOKENS} are the most", good.len()));
        }
        good.into_iter().filter_map(|(_, token): (usize, _)| token).collect()
    }

    fn origins(&mut self, flag: &'static str, text: &str) -> Vec<String> {
        let origins: Vec<&str> = text.split(',').map(str::trim).filter(|origin| !origin.is_empty()).collect();
        if origins == ["*"] {
            return vec!["*".to_owned()];
        }
        if origins.is_empty() {
            self.add(flag, format!("{text:?} has no origin"));
        }
        origins.into_iter().filter_map(|origin| self.origin(flag, origin)).collect()
    }

    fn origin(&mut self, flag: &'static str, text: &str) -> Option<String> {
        let origin = text.to_ascii_lowercase();
        let reason = match origin.split_once("://") {
            _ if origin == "*" => "* stands for all origins, so it stands alone".to_owned(),
            Some((scheme, place)) if is_scheme(scheme) && is_host_and_port(place) => {
                match (scheme, place.rsplit_once(':')) {
                    ("http", Some((_, "80"))) | ("https", Some((_, "443"))) => {
                        format!("{text:?} has the port that browsers leave out: leave it out too")
                    }
                    _ => return Some(origin),
                }
            }
            _ => format!(
                "{text:?} is not an origin, which is a scheme, a host and perhaps a port, and nothing behind them, such \
                 as https://example.org or http://localhost:3000"
            ),
        };
        self.add(flag, reason);
        None
    }
}

/// Reads a file, no more of it than could be tokens.
fn read(path: &str) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    File::open(path)?.take(MOST_TOKEN_BYTES + 1).read_to_end(&mut text)?;
    if text.len() as u64 > MOST_TOKEN_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {MOST_TOKEN_BYTES} bytes")));
    }
    Ok(text)
}

/// Reads `100/1m`; a period without a number is one of its unit.
fn parse_rate(text: &str) -> Option<(NonZeroU32, Duration)> {
    let (requests, period) = text.split_once('/')?;
    let requests = requests.trim().parse().ok().filter(|requests| *requests <= MOST_REQUESTS)?;
    let period = period.trim();
    let one = if period.starts_with(|first: char| first.is_ascii_alphabetic()) { "1" } else { "" };
    let period = humantime::parse_duration(&format!("{one}{period}")).ok()?;
    (MILLISECOND..=DAY).contains(&period).then_some((requests, period))
}

/// As RFC 3986 has it, in lower case.
fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'+' | b'.' | b'-'))
}

pub(super) fn is_host_and_port(text: &str) -> bool {
    // The colons of an IPv6 address are in brackets.
    let (host, port) = match text.rfind(':') {
        Some(colon) if !text.ends_with(']') => (&text[..colon], Some(&text[colon + 1..])),
        _ => (text, None),
    };
    let is_name =
        !host.is_empty() && host.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-' | b'_'));
    let in_brackets = || host.strip_prefix('[')?.strip_suffix(']')?.parse::<std::net::Ipv6Addr>().ok();
    let is_port =
        |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|port| port > 0);
    (is_name || in_brackets().is_some()) && port.is_none_or(is_port)
}

impl Token {
    const LEAST: usize = 16;
    const ALPHABET: &str = "A-Z a-z 0-9 - . _ ~ + /, and = at its end";

    /// A `b64token` of RFC 6750, not too short to be secret.
    fn parse(text: &[u8]) -> Option<Self> {
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~+/".contains(byte);
        let plain = text.iter().take_while(|byte| is_plain(byte)).count();
        let is_sound = text.len() >= Self::LEAST && plain > 0 && text[plain..].iter().all(|byte| *byte == b'=');
        is_sound.then(|| String::from_utf8(text.to_vec()).ok().map(Self))?
    }

    /// The text of it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests;
