//! Quotes values of settings in errors, without secrets.

use std::borrow::Cow;

/// Quotes a value without the user, password, query and fragment of a URL.
pub(crate) fn quoted(value: &str) -> String {
    format!("{:?}", without_secrets(value, false))
}

/// Quotes a URL or an address, which may contain a user or a query even without a scheme.
pub(crate) fn quoted_url(value: &str) -> String {
    format!("{:?}", without_secrets(value, true))
}

fn without_secrets(value: &str, is_url: bool) -> Cow<'_, str> {
    let place = value.find("://").map_or(0, |end| end + 3);
    // A password may contain any character.
    let user_info = value.rfind('@').filter(|at| is_url || place > 0 || value[..*at].contains(':'));
    let host = user_info.map_or(place, |at| at.max(place));
    let end = value[host..].find(['?', '#']).filter(|_| is_url || host > 0);
    let end = end.map_or(value.len(), |length| host + length);
    if user_info.is_none() && end == value.len() {
        return value.into();
    }
    let scheme = &value[..place];
    let is_shown = user_info.is_none_or(|at| at > place) && scheme.strip_suffix("://").is_some_and(is_scheme);
    let [before, after] = [user_info.is_some(), end < value.len()].map(|is_hidden| if is_hidden { "…" } else { "" });
    format!("{}{before}{}{after}", if is_shown { scheme } else { "" }, &value[host..end]).into()
}

/// True for a URI scheme (RFC 3986), in lower case.
pub(crate) fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'+' | b'.' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_urls_are_left_out() {
        for (value, shown) in [
            ("nats://user:pass@host:4222", "nats://…@host:4222"),
            ("nats://user:p@ss/w?rd#@host:4222/p", "nats://…@host:4222/p"),
            ("nats://u:secret@a,nats://u:secret@b", "nats://…@b"),
            ("https://token@host", "https://…@host"),
            ("user:pass@host:4222", "…@host:4222"),
            ("u:pass@nats://host", "…host"),
            ("https://host/path?key=secret", "https://host/path…"),
            ("https://u@host/#secret", "https://…@host/…"),
            ("user:SEC://RET@host", "…@host"),
            ("SECRET token://x@host", "…@host"),
            ("user:SEC://RET?@host#x", "…@host…"),
        ] {
            assert_eq!(quoted(value), format!("{shown:?}"), "{value}");
        }
    }

    #[test]
    fn a_url_has_secrets_also_without_a_scheme() {
        for (value, shown) in [
            ("SECRET@host:4222", "…@host:4222"),
            ("host:4222?SECRET", "host:4222…"),
            ("SECRET@host#SECRET", "…@host…"),
            ("http://SECRET@host", "http://…@host"),
            ("http://host:4318/path", "http://host:4318/path"),
            ("collector:4318", "collector:4318"),
        ] {
            assert_eq!(quoted_url(value), format!("{shown:?}"), "{value}");
        }
    }

    #[test]
    fn other_values_are_whole() {
        for value in ["", "512", "a@b", "/run/secrets/x@1?#", "info,taquin::access=off", "https://host:1/path", "ü?"] {
            assert_eq!(quoted(value), format!("{value:?}"));
        }
    }
}
