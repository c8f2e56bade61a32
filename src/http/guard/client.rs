//! The client address of a request, which the rate limit counts.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use axum::http::{HeaderMap, HeaderName};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Returns the address of the client: the peer of the connection or, behind proxies, the peer of the outermost proxy.
///
/// Each proxy appends its own peer to `X-Forwarded-For`. The entry of the outermost proxy is therefore number
/// `trusted_proxies` from the right; the client can forge every entry left of it. If that entry is missing or invalid,
/// the configured number of proxies is wrong and no entry can be trusted. The address is then the peer, which cannot be
/// forged, and all clients behind one proxy share a quota.
pub(crate) fn client(headers: &HeaderMap, peer: IpAddr, trusted_proxies: usize) -> IpAddr {
    let entry = trusted_proxies.checked_sub(1).and_then(|further| entries_from_the_right(headers).nth(further));
    network(entry.and_then(address).unwrap_or(peer))
}

/// All entries of all `X-Forwarded-For` lines, the last one first. Empty entries count: skipping one would shift the
/// position to an entry that the client wrote.
fn entries_from_the_right(headers: &HeaderMap) -> impl Iterator<Item = &[u8]> {
    headers.get_all(X_FORWARDED_FOR).iter().rev().flat_map(|line| line.as_bytes().rsplit(|byte| *byte == b','))
}

/// Parses an address, with or without a port; brackets around IPv6 are optional.
fn address(entry: &[u8]) -> Option<IpAddr> {
    let entry = std::str::from_utf8(entry).ok()?.trim();
    let in_brackets = || entry.strip_prefix('[')?.strip_suffix(']')?.parse().ok().map(IpAddr::V6);
    let with_port = || entry.parse().ok().map(|address: SocketAddr| address.ip());
    entry.parse().ok().or_else(in_brackets).or_else(with_port)
}

/// The unit of the rate limit: a whole IPv4 address, also if it is mapped to IPv6, or the first 64 bits of an IPv6
/// address, because the client chooses the rest.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: &str = "192.0.2.1";

    /// The client of a request with these `X-Forwarded-For` lines.
    fn behind(trusted_proxies: usize, lines: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(X_FORWARDED_FOR, axum::http::HeaderValue::from_bytes(line.as_bytes()).unwrap());
        }
        client(&headers, PEER.parse().unwrap(), trusted_proxies).to_string()
    }

    #[test]
    fn without_proxies_the_header_is_ignored() {
        assert_eq!(behind(0, &[]), PEER);
        assert_eq!(behind(0, &["203.0.113.7"]), PEER);
    }

    #[test]
    fn the_entry_of_the_outermost_proxy_counts() {
        assert_eq!(behind(1, &["203.0.113.7"]), "203.0.113.7");
        assert_eq!(behind(1, &["6.6.6.6, 203.0.113.7"]), "203.0.113.7");
        assert_eq!(behind(1, &["6.6.6.6", "7.7.7.7,203.0.113.7"]), "203.0.113.7");
        assert_eq!(behind(2, &["6.6.6.6, 203.0.113.7,  10.0.0.1 "]), "203.0.113.7");
        assert_eq!(behind(2, &["6.6.6.6, 203.0.113.7", "10.0.0.1"]), "203.0.113.7");
        assert_eq!(behind(1, &["garbage, , ü, 203.0.113.7"]), "203.0.113.7");
    }

    #[test]
    fn a_missing_or_invalid_entry_leaves_the_peer() {
        assert_eq!(behind(1, &[]), PEER);
        assert_eq!(behind(2, &["203.0.113.7"]), PEER);
        for last in ["", "unknown", "unix:", "203.0.113", "203.0.113.7:x", "[2001:db8::1", "ü", "203.0.113.7 6.6.6.6"]
        {
            assert_eq!(behind(1, &[&format!("6.6.6.6, {last}")]), PEER, "{last:?}");
        }
        assert_eq!(behind(1, &["6.6.6.6,"]), PEER, "an empty entry is not skipped");
        assert_eq!(behind(1, &["6.6.6.6", ""]), PEER);
    }

    #[test]
    fn an_entry_may_have_a_port() {
        assert_eq!(behind(1, &["203.0.113.7:4711"]), "203.0.113.7");
        for entry in ["2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:4711"] {
            assert_eq!(behind(1, &[entry]), "2001:db8::");
        }
    }

    #[test]
    fn ipv6_counts_by_network_and_mapped_ipv4_as_ipv4() {
        assert_eq!(behind(1, &["2001:db8:1:2:3:4:5:6"]), "2001:db8:1:2::");
        assert_eq!(behind(1, &["::ffff:203.0.113.7"]), "203.0.113.7");
        assert_eq!(behind(1, &["::1"]), "::");
    }
}
