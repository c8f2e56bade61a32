//! Quotes values of settings in errors, without the secrets that they may have.

use std::borrow::Cow;

/// Quotes a value. User, password, query and fragment of a URL are left out.
pub(crate) fn quoted(value: &str) -> String {
    format!("{:?}", without_secrets(value))
}

fn without_secrets(value: &str) -> Cow<'_, str> {
    let place = value.find("://").map_or(0, |end| end + 3);
    // A password may contain any character.
    let user_info = value.rfind('@').filter(|at| place > 0 || value[..*at].contains(':'));
    let host = user_info.map_or(place, |at| at.max(place));
    let end = value[host..].find(['?', '#']).filter(|_| host > 0).map_or(value.len(), |length| host + length);
    if user_info.is_none() && end == value.len() {
        return value.into();
    }
    let scheme = if user_info.is_some_and(|at| at < place) { "" } else { &value[..place] };
    let [before, after] = [user_info.is_some(), end < value.len()].map(|is_hidden| if is_hidden { "…" } else { "" });
    format!("{scheme}{before}{}{after}", &value[host..end]).into()
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
        ] {
            assert_eq!(quoted(value), format!("{shown:?}"), "{value}");
        }
    }

    #[test]
    fn other_values_are_whole() {
        for value in ["", "512", "a@b", "/run/secrets/x@1?#", "info,taquin::access=off", "https://host:1/path", "ü?"] {
            assert_eq!(quoted(value), format!("{value:?}"));
        }
    }
}
