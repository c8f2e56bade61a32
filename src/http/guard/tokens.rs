//! Bearer tokens (RFC 6750).

use std::fmt;
use std::sync::Arc;

use axum::http::{HeaderMap, HeaderValue, header};
use sha2::{Digest, Sha256};
use subtle::{Choice, ConstantTimeEq};

use crate::http::problem::{Problem, ProblemKind};

/// The accepted tokens, stored as SHA-256 digests.
#[derive(Clone, Default)]
pub struct Tokens(Arc<[[u8; 32]]>);

/// Credentials of a request.
enum Credentials<'h> {
    /// No credentials of the scheme `Bearer`.
    None,
    Token(&'h str),
    /// Not visible ASCII, or more than one `Authorization` header.
    Unreadable,
}

impl Tokens {
    /// Hashes the given plain-text tokens.
    pub fn new<T: AsRef<str>>(tokens: impl IntoIterator<Item = T>) -> Self {
        Self(tokens.into_iter().map(|token| Sha256::digest(token.as_ref()).into()).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Checks the `Authorization` header of a request.
    ///
    /// # Errors
    /// `unauthorized`, with `WWW-Authenticate`, if the request does not have an accepted token.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<(), Problem> {
        match credentials(headers) {
            Credentials::Token(token) if self.has(token) => Ok(()),
            // RFC 6750, section 3.1: no error code if the request has no token.
            Credentials::None => Err(unauthorized(
                r#"Bearer realm="taquin""#,
                "This path requires a token. Send `Authorization: Bearer …` with a valid token.",
            )),
            Credentials::Token(_) | Credentials::Unreadable => Err(unauthorized(
                r#"Bearer realm="taquin", error="invalid_token""#,
                "The token in the `Authorization` header is not valid.",
            )),
        }
    }

    /// Compares the token with all digests in constant time. The duration depends only on the length of the token.
    fn has(&self, token: &str) -> bool {
        let digest: [u8; 32] = Sha256::digest(token).into();
        self.0.iter().fold(Choice::from(0), |found, known| found | known.ct_eq(&digest)).into()
    }
}

/// The SHA-256 of the token of a request.
pub(crate) fn token_digest(headers: &HeaderMap) -> Option<[u8; 32]> {
    match credentials(headers) {
        Credentials::Token(token) => Some(Sha256::digest(token).into()),
        Credentials::None | Credentials::Unreadable => None,
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

fn unauthorized(challenge: &'static str, detail: &'static str) -> Problem {
    let challenge = HeaderValue::from_static(challenge);
    Problem::new(ProblemKind::Unauthorized, detail).with_header(header::WWW_AUTHENTICATE, challenge)
}

/// Shows only the number of tokens.
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

    /// Checks these headers against two accepted tokens. The error is the challenge.
    fn check(authorization: &[&str]) -> Result<(), String> {
        let mut headers = HeaderMap::new();
        for value in authorization {
            headers.append(header::AUTHORIZATION, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        Tokens::new([TOKEN, OTHER]).check(&headers).map_err(|problem| {
            assert_eq!(problem.kind, ProblemKind::Unauthorized);
            let response = axum::response::IntoResponse::into_response(problem);
            response.headers()["www-authenticate"].to_str().unwrap().to_owned()
        })
    }

    #[test]
    fn each_token_is_accepted_with_any_spelling_of_the_scheme() {
        for scheme in ["Bearer", "bearer", "BEARER", "Bearer  "] {
            assert_eq!(check(&[&format!("{scheme} {TOKEN}")]), Ok(()), "{scheme}");
            assert_eq!(check(&[&format!("{scheme} {OTHER}")]), Ok(()), "{scheme}");
        }
    }

    #[test]
    fn a_request_without_a_token_gets_a_challenge() {
        for values in [&[][..], &["Basic abcdefghijklmnop"], &[TOKEN], &["Bearerabcdefghijklmnop"], &[""]] {
            assert_eq!(check(values).unwrap_err(), r#"Bearer realm="taquin""#, "{values:?}");
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
            assert_eq!(check(values).unwrap_err(), r#"Bearer realm="taquin", error="invalid_token""#, "{values:?}");
        }
    }

    #[test]
    fn debug_output_has_no_token() {
        assert_eq!(format!("{:?}", Tokens::new([TOKEN, OTHER])), "Tokens(2)");
    }
}
