//! Bearer tokens (RFC 6750).

use std::fmt;
use std::sync::Arc;

use axum::http::{HeaderMap, HeaderValue, header};
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

use crate::http::problem::{Problem, ProblemKind};

/// The tokens that open the service; of each its SHA-256 alone is kept.
#[derive(Clone, Default)]
pub struct Tokens(Arc<[[u8; 32]]>);

/// What a request carries.
enum Credentials<'h> {
    /// Nothing, or nothing of our kind.
    None,
    Token(&'h str),
    /// A token that cannot be read, or more than one header.
    Unreadable,
}

impl Tokens {
    /// Tokens, in plain.
    pub fn new<T: AsRef<str>>(tokens: impl IntoIterator<Item = T>) -> Self {
        Self(tokens.into_iter().map(|token| Sha256::digest(token.as_ref()).into()).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Passes if the request carries one of the tokens.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<(), Problem> {
        match credentials(headers) {
            Credentials::Token(token) if self.knows(token) => Ok(()),
            // RFC 6750, section 3.1: no error code if there is no token.
            Credentials::None => Err(refusal(
                r#"Bearer realm="taquin""#,
                "This path requires a token. Send `Authorization: Bearer …` with a valid token.",
            )),
            Credentials::Token(_) | Credentials::Unreadable => Err(refusal(
                r#"Bearer realm="taquin", error="invalid_token""#,
                "The token in the `Authorization` header is not valid.",
            )),
        }
    }

    /// Takes as long for one token as for any other of its length: digests are compared, all of
    /// them, and each to its end.
    fn knows(&self, token: &str) -> bool {
        let digest: [u8; 32] = Sha256::digest(token).into();
        self.0.iter().fold(Choice::from(0), |found, known| found | known.ct_eq(&digest)).into()
    }
}

fn credentials(headers: &HeaderMap) -> Credentials<'_> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Credentials::None };
    let Ok(value) = value.to_str() else { return Credentials::Unreadable };
    if values.next().is_some() {
        return Credentials::Unreadable;
    }
    let (scheme, token) = value.split_once(' ').unwrap_or((value, ""));
    if scheme.eq_ignore_ascii_case("Bearer") { Credentials::Token(token.trim_matches(' ')) } else { Credentials::None }
}

fn refusal(challenge: &'static str, detail: &'static str) -> Problem {
    let challenge = HeaderValue::from_static(challenge);
    Problem::new(ProblemKind::Unauthorized, detail).with_header(header::WWW_AUTHENTICATE, challenge)
}

/// Tells how many there are, and nothing else.
impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tokens({})", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "abcdefghijklmnop";
    const OTHER: &str = "0123456789-._~+/==";

    /// Whether these headers open a door with two tokens, and the challenge if they do not.
    fn answer_to(authorization: &[&str]) -> Result<(), String> {
        let mut headers = HeaderMap::new();
        for value in authorization {
            headers.append(header::AUTHORIZATION, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        let answer = Tokens::new([TOKEN, OTHER]).check(&headers);
        answer.map_err(|problem| {
            assert_eq!(problem.kind, ProblemKind::Unauthorized);
            let response = axum::response::IntoResponse::into_response(problem);
            response.headers()["www-authenticate"].to_str().unwrap().to_owned()
        })
    }

    #[test]
    fn each_token_opens_under_any_spelling_of_the_scheme() {
        for scheme in ["Bearer", "bearer", "BEARER", "Bearer  "] {
            assert_eq!(answer_to(&[&format!("{scheme} {TOKEN}")]), Ok(()), "{scheme}");
            assert_eq!(answer_to(&[&format!("{scheme} {OTHER}")]), Ok(()), "{scheme}");
        }
    }

    #[test]
    fn no_token_is_told_that_one_is_needed() {
        for values in [&[][..], &["Basic abcdefghijklmnop"], &[TOKEN], &["Bearerabcdefghijklmnop"], &[""]] {
            assert_eq!(answer_to(values).unwrap_err(), r#"Bearer realm="taquin""#, "{values:?}");
        }
    }

    #[test]
    fn any_other_token_is_invalid() {
        let (long, twice) = (format!("Bearer {TOKEN}x"), format!("Bearer {TOKEN} {TOKEN}"));
        let right = format!("Bearer {TOKEN}");
        for values in [
            &["Bearer"][..],
            &["Bearer "],
            &["Bearer abcdefghijklmno"],
            &[&long],
            &["Bearer ABCDEFGHIJKLMNOP"],
            &["Bearer \"abcdefghijklmnop\""],
            &["Bearer abcdefghijklmnoü"],
            &[&twice],
            &[&right, &right],
            &[&right, "Basic x"],
        ] {
            assert_eq!(answer_to(values).unwrap_err(), r#"Bearer realm="taquin", error="invalid_token""#, "{values:?}");
        }
    }

    #[test]
    fn what_is_kept_tells_no_token() {
        assert_eq!(format!("{:?}", Tokens::new([TOKEN, OTHER])), "Tokens(2)");
    }
}
