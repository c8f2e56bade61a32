//! Settings of the guards: tokens, rate limit, CORS origins, host names. All of them are off by default.

use std::fs::File;
use std::io::{self, Read};
use std::num::NonZeroU32;
use std::time::Duration;

use clap::Args;

use super::address::{is_scheme, quoted, quoted_url};
use super::parse::{DAY, MIB, MILLISECOND, SettingsParser};
use crate::http::{Guards, Rate, Tokens};

#[derive(Args, Clone, Debug)]
pub(crate) struct GuardFlags {
    /// File with one bearer token per line; each request must send one of them; no tokens are required if not set
    ///
    /// Probes, documentation and metrics need none. Lines that start with # are comments.
    #[arg(long, env = "TAQUIN_TOKEN_FILE", value_name = "FILE")]
    token_file: Option<String>,

    /// Rate limit per client for the requests that work on boards, such as 100/1m or 20/s; no limit if empty
    #[arg(long, env = "TAQUIN_RATE_LIMIT", value_name = "N/PERIOD")]
    rate_limit: Option<String>,

    /// Number of rate-limited requests that a client may send at once [default: the N of --rate-limit] [range: 1 to
    /// 100000]
    #[arg(long, env = "TAQUIN_RATE_BURST", value_name = "N")]
    rate_burst: Option<String>,

    /// Number of proxies in front of the service that append to X-Forwarded-For [range: 0 to 16]
    ///
    /// The client's address is the one from which the outermost proxy received the request.
    #[arg(long, env = "TAQUIN_TRUSTED_PROXIES", default_value = "0", value_name = "N")]
    trusted_proxies: String,

    /// Origins whose pages may call the service, separated by commas, such as https://example.org; * for all; none if
    /// empty
    #[arg(long, env = "TAQUIN_CORS_ORIGINS", value_name = "LIST")]
    cors_origins: Option<String>,

    /// Origins whose pages may show the playground in a frame, separated by commas; * for all; none if empty
    #[arg(long, env = "TAQUIN_FRAME_ORIGINS", value_name = "LIST")]
    frame_origins: Option<String>,

    /// Host names under which the service may be reached, separated by commas, such as taquin.example.org; any name if
    /// empty
    ///
    /// IP addresses and localhost are always allowed. Set it where browsers on this machine or network could be misled
    /// by DNS rebinding.
    #[arg(long, env = "TAQUIN_ALLOWED_HOSTS", value_name = "LIST")]
    allowed_hosts: Option<String>,
}

/// Upper limit of requests in a period, and of a burst. Times one day, the longest period, it does not overflow.
const MAX_REQUESTS: NonZeroU32 = NonZeroU32::new(100_000).expect("a number above 0");
const MAX_PROXIES: usize = 16;
const MAX_TOKENS: usize = 1024;
const MAX_TOKEN_BYTES: u64 = MIB;
const MIN_TOKEN_LENGTH: usize = 16;
/// Number of invalid lines reported for a token file.
const MAX_LINES_REPORTED: usize = 10;

impl GuardFlags {
    /// Parses the settings. Without `serves`, the token file is not read: the health check may lack the permission.
    pub(crate) fn parse(&self, serves: bool, parser: &mut SettingsParser) -> Guards {
        let burst = parser
            .given("rate-burst", &self.rate_burst)
            .map(|text| parser.number("rate-burst", text, NonZeroU32::MIN..=MAX_REQUESTS));
        let rate = parser.given("rate-limit", &self.rate_limit).and_then(|text| parser.rate("rate-limit", text));
        let token_file = parser.given("token-file", &self.token_file).filter(|_| serves);
        Guards {
            tokens: token_file.map(|path| parser.tokens("token-file", path)).unwrap_or_default(),
            rate: rate.map(|(requests, period)| Rate { requests, period, burst: burst.unwrap_or(requests) }),
            trusted_proxies: parser.number("trusted-proxies", &self.trusted_proxies, 0..=MAX_PROXIES),
            cors_origins: parser.origins("cors-origins", &self.cors_origins),
            allowed_hosts: parser
                .given("allowed-hosts", &self.allowed_hosts)
                .map(|text| parser.hosts("allowed-hosts", text))
                .unwrap_or_default(),
        }
    }

    /// Origins whose pages may show the playground in a frame.
    pub(crate) fn frame_origins(&self, parser: &mut SettingsParser) -> Vec<String> {
        parser.origins("frame-origins", &self.frame_origins)
    }
}

impl SettingsParser {
    /// The text of a guard's setting; `None` if it is unset or empty. A blank text is an error, so that no mistake
    /// turns a guard off.
    fn given<'t>(&mut self, flag: &'static str, setting: &'t Option<String>) -> Option<&'t str> {
        let text = setting.as_deref().filter(|text| !text.is_empty())?;
        if text.trim().is_empty() {
            self.report(flag, format!("{} is blank; give a value, or leave it empty to turn it off", quoted(text)));
            return None;
        }
        Some(text)
    }

    fn hosts(&mut self, flag: &'static str, text: &str) -> Vec<String> {
        let names: Vec<String> =
            text.split(',').map(|name| name.trim().to_ascii_lowercase()).filter(|name| !name.is_empty()).collect();
        if names.is_empty() {
            self.report(flag, format!("{} contains no host name", quoted(text)));
        }
        for name in names.iter().filter(|name| name.contains(':') || !is_host_and_port(name)) {
            self.report(
                flag,
                format!("{} is not a host name without a port, such as taquin.example.org", quoted_url(name)),
            );
        }
        names
    }

    fn rate(&mut self, flag: &'static str, text: &str) -> Option<(NonZeroU32, Duration)> {
        let rate = parse_rate(text);
        if rate.is_none() {
            let reason = format!(
                "{} is not a rate: a number of requests, at most {MAX_REQUESTS}, and a period of 1ms to 24h with its \
                 unit, such as 100/1m or 20/s",
                quoted(text)
            );
            self.report(flag, reason);
        }
        rate
    }

    /// Reads the tokens of a file. Errors name the line, never its text.
    fn tokens(&mut self, flag: &'static str, path: &str) -> Tokens {
        let text = match read(path) {
            Ok(text) => text,
            Err(error) => {
                self.report(flag, format!("{} cannot be read: {error}", quoted(path)));
                return Tokens::default();
            }
        };
        let lines = (1..).zip(text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii));
        let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with(b"#"));
        let (good, bad): (Vec<_>, Vec<_>) =
            lines.map(|(number, line)| (number, parse_token(line))).partition(|(_, token)| token.is_some());
        for (number, _) in bad.iter().take(MAX_LINES_REPORTED) {
            self.report(
                flag,
                format!(
                    "{}, line {number}: a token must have at least {MIN_TOKEN_LENGTH} characters, all of these: \
                     A-Z a-z 0-9 - . _ ~ + /, and = at the end",
                    quoted(path)
                ),
            );
        }
        if good.is_empty() && bad.is_empty() {
            self.report(flag, format!("{} contains no token", quoted(path)));
        }
        if good.len() > MAX_TOKENS {
            self.report(flag, format!("{} contains {} tokens, the limit is {MAX_TOKENS}", quoted(path), good.len()));
        }
        Tokens::new(good.into_iter().filter_map(|(_, token): (usize, _)| token))
    }

    fn origins(&mut self, flag: &'static str, setting: &Option<String>) -> Vec<String> {
        let Some(text) = self.given(flag, setting) else { return Vec::new() };
        let origins: Vec<&str> = text.split(',').map(str::trim).filter(|origin| !origin.is_empty()).collect();
        if origins == ["*"] {
            return vec!["*".to_owned()];
        }
        if origins.is_empty() {
            self.report(flag, format!("{} contains no origin", quoted(text)));
        }
        origins.into_iter().filter_map(|origin| self.origin(flag, origin)).collect()
    }

    fn origin(&mut self, flag: &'static str, text: &str) -> Option<String> {
        let origin = text.to_ascii_lowercase();
        let reason = match origin.split_once("://") {
            _ if origin == "*" => "* allows all origins and must be alone".to_owned(),
            Some((scheme, place)) if is_scheme(scheme) && is_host_and_port(place) => {
                match (scheme, place.rsplit_once(':')) {
                    ("http", Some((_, "80"))) | ("https", Some((_, "443"))) => {
                        format!(
                            "{} has the default port of its scheme, which browsers omit; omit it too",
                            quoted_url(text)
                        )
                    }
                    _ => return Some(origin),
                }
            }
            _ => format!(
                "{} is not an origin; an origin is a scheme, a host and an optional port, such as https://example.org or \
                 http://localhost:3000",
                quoted_url(text)
            ),
        };
        self.report(flag, reason);
        None
    }
}

/// Reads a file of at most [`MAX_TOKEN_BYTES`].
fn read(path: &str) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    File::open(path)?.take(MAX_TOKEN_BYTES + 1).read_to_end(&mut text)?;
    if text.len() as u64 > MAX_TOKEN_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is longer than {MAX_TOKEN_BYTES} bytes")));
    }
    Ok(text)
}

/// Parses `100/1m`. A period without a number is one unit: `20/s`.
fn parse_rate(text: &str) -> Option<(NonZeroU32, Duration)> {
    let (requests, period) = text.split_once('/')?;
    let requests = requests.trim().parse().ok().filter(|requests| *requests <= MAX_REQUESTS)?;
    let period = period.trim();
    let one = if period.starts_with(|first: char| first.is_ascii_alphabetic()) { "1" } else { "" };
    let period = humantime::parse_duration(&format!("{one}{period}")).ok()?;
    (MILLISECOND..=DAY).contains(&period).then_some((requests, period))
}

pub(crate) fn is_host_and_port(text: &str) -> bool {
    // An IPv6 address has its colons in brackets.
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

/// Parses a `b64token` (RFC 6750) of at least [`MIN_TOKEN_LENGTH`] characters.
fn parse_token(text: &[u8]) -> Option<&str> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~+/".contains(byte);
    let plain = text.iter().take_while(|byte| is_plain(byte)).count();
    let is_valid = text.len() >= MIN_TOKEN_LENGTH && plain > 0 && text[plain..].iter().all(|byte| *byte == b'=');
    str::from_utf8(text).ok().filter(|_| is_valid)
}

#[cfg(test)]
mod tests;
