//! Checks of a request's head that hyper leaves to the service.

use std::net::Ipv6Addr;

use axum::http::{HeaderMap, HeaderValue, Version, header};

use crate::http::problem::{Problem, ProblemKind};

/// Checks `Host` (RFC 9112, section 3.2) and `Transfer-Encoding` (section 6.1).
///
/// # Errors
/// Returns `invalid-header` or `not-implemented`; the connection then ends after the response.
pub(crate) fn check(version: Version, headers: &HeaderMap) -> Result<(), Problem> {
    check_host(version, headers).and_then(|()| check_codings(headers)).map_err(|problem| {
        // The client may frame the following bytes differently.
        problem.with_header(header::CONNECTION, HeaderValue::from_static("close"))
    })
}

fn check_host(version: Version, headers: &HeaderMap) -> Result<(), Problem> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let detail = match (hosts.next(), hosts.next()) {
        (Some(host), None) if is_host(host.as_bytes()) => return Ok(()),
        (None, _) if version < Version::HTTP_11 => return Ok(()),
        (None, _) => "The request has no `Host` header, which HTTP/1.1 requires.",
        (Some(_), Some(_)) => "The request has more than one `Host` header. Send exactly one.",
        (Some(_), None) => "The value of `Host` is not a host, or a host and a port, such as `127.0.0.1:8080`.",
    };
    Err(Problem::new(ProblemKind::InvalidHeader, detail))
}

/// True for a host with or without a port (RFC 9110, section 7.2). The empty value stands for a target without a host.
fn is_host(value: &[u8]) -> bool {
    let port = value.iter().rposition(|byte| !byte.is_ascii_digit()).filter(|at| value[*at] == b':');
    let host = &value[..port.unwrap_or(value.len())];
    match host.strip_prefix(b"[").and_then(|host| host.strip_suffix(b"]")) {
        Some(ip) => std::str::from_utf8(ip).is_ok_and(|ip| ip.parse::<Ipv6Addr>().is_ok()),
        None => (!host.is_empty() || port.is_none()) && host.iter().all(|byte| is_of_name(*byte)),
    }
}

/// True for the characters of a registered name (RFC 3986, section 3.2.2).
fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=%".contains(&byte)
}

/// Rejects codings other than `chunked`. hyper decodes the last coding, and has checked that it is `chunked`.
fn check_codings(headers: &HeaderMap) -> Result<(), Problem> {
    let mut chunked = 0;
    for value in headers.get_all(header::TRANSFER_ENCODING) {
        let codings = value.as_bytes().split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
        for coding in codings.filter(|coding| !coding.is_empty()) {
            if !coding.eq_ignore_ascii_case(b"chunked") {
                let coding = String::from_utf8_lossy(coding).escape_debug().to_string();
                let detail = format!(
                    "The transfer coding `{coding}` is not implemented. Send the body with `Transfer-Encoding: \
                     chunked` alone, or with `Content-Length`."
                );
                return Err(Problem::new(ProblemKind::NotImplemented, detail));
            }
            chunked += 1;
        }
    }
    if chunked > 1 {
        let detail = "`Transfer-Encoding` names `chunked` more than once. Apply it once.";
        return Err(Problem::new(ProblemKind::InvalidHeader, detail));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(version: Version, headers: &[(header::HeaderName, &str)]) -> Option<ProblemKind> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, value.parse().unwrap());
        }
        check(version, &map).err().map(|problem| problem.kind)
    }

    #[test]
    fn http_1_1_needs_exactly_one_host() {
        let kind = |version, hosts: &[&str]| {
            kind_of(version, &hosts.iter().map(|host| (header::HOST, *host)).collect::<Vec<_>>())
        };
        assert_eq!(kind(Version::HTTP_11, &["x"]), None);
        assert_eq!(kind(Version::HTTP_10, &[]), None);
        for (version, hosts) in [
            (Version::HTTP_11, [].as_slice()),
            (Version::HTTP_11, &["x", "x"]),
            (Version::HTTP_10, &["x", "y"]),
            (Version::HTTP_10, &["x/y"]),
        ] {
            assert_eq!(kind(version, hosts), Some(ProblemKind::InvalidHeader), "{version:?} {hosts:?}");
        }
    }

    #[test]
    fn a_host_has_the_form_of_the_standard() {
        for host in ["", "a", "a.example:8080", "a:", "127.0.0.1:80", "[::1]", "[::1]:80", "a_b", "x%41", "12", "12:80"]
        {
            assert!(is_host(host.as_bytes()), "{host:?}");
        }
        for host in [
            "a b", "a/b", "http://a", "user@a", "a:b", "a:80:80", ":80", "::1", "[::1", "[x]", "[::1]x", "a\"",
            "\u{e9}",
        ] {
            assert!(!is_host(host.as_bytes()), "{host:?}");
        }
    }

    #[test]
    fn chunked_is_the_only_coding() {
        let kind = |codings: &[&str]| {
            let headers: Vec<_> = codings.iter().map(|coding| (header::TRANSFER_ENCODING, *coding)).collect();
            kind_of(Version::HTTP_10, &headers)
        };
        for codings in [[].as_slice(), &["chunked"], &["Chunked"], &[", chunked,"]] {
            assert_eq!(kind(codings), None, "{codings:?}");
        }
        for codings in [["gzip, chunked"].as_slice(), &["gzip", "chunked"], &["identity,chunked"], &["chunked;a=b"]] {
            assert_eq!(kind(codings), Some(ProblemKind::NotImplemented), "{codings:?}");
        }
        assert_eq!(kind(&["chunked, chunked"]), Some(ProblemKind::InvalidHeader));
        assert_eq!(kind(&["chunked", "chunked"]), Some(ProblemKind::InvalidHeader));
    }
}
