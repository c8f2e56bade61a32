//! `Content-Digest` (RFC 9530): the SHA-256 of a body, which a client sends beside it.

use axum::http::{HeaderMap, HeaderName};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use crate::http::problem::{Problem, ProblemKind};

const CONTENT_DIGEST: HeaderName = HeaderName::from_static("content-digest");
const SHA_256: &str = "sha-256";
const BYTES: usize = 32;

/// Compares a body with its digest.
#[derive(Clone, Debug)]
pub(crate) struct BodyDigest {
    expected: [u8; BYTES],
    hash: Sha256,
}

impl BodyDigest {
    /// Parses the SHA-256 in the headers; `None` without a SHA-256. Other digests are ignored.
    ///
    /// # Errors
    /// `invalid-header` for an invalid digest.
    pub(crate) fn of(headers: &HeaderMap) -> Result<Option<Self>, Problem> {
        let lines = headers.get_all(CONTENT_DIGEST).iter().filter_map(|line| line.to_str().ok());
        let mut members = lines.flat_map(|line| line.split(',')).filter_map(|member| member.trim().split_once('='));
        // Of equal names, the last entry counts (RFC 9651, section 4.2.2).
        let Some((_, value)) = members.rfind(|(name, _)| *name == SHA_256) else { return Ok(None) };
        let expected = bytes_of(value).ok_or_else(|| {
            let detail =
                "`Content-Digest` must be as in `sha-256=:BASE64:`, with the 32 bytes of a SHA-256 (RFC 9530).";
            Problem::new(ProblemKind::InvalidHeader, detail)
        })?;
        Ok(Some(Self { expected, hash: Sha256::new() }))
    }

    /// Adds bytes of the body.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
    }

    /// Checks the digest at the end of the body.
    ///
    /// # Errors
    /// `invalid-header` if the body has another digest.
    pub(crate) fn finish(self) -> Result<(), Problem> {
        let own: [u8; BYTES] = self.hash.finalize().into();
        if own == self.expected {
            return Ok(());
        }
        let detail = format!(
            "`Content-Digest` does not match the body, whose SHA-256 is {}. The body was changed in transit, or \
             the digest was computed from something else.",
            STANDARD.encode(own)
        );
        Err(Problem::new(ProblemKind::InvalidHeader, detail))
    }
}

/// The bytes between colons, in base64. Parameters are ignored.
fn bytes_of(value: &str) -> Option<[u8; BYTES]> {
    let (text, rest) = value.strip_prefix(':')?.split_once(':')?;
    let bytes = STANDARD.decode(text).ok()?;
    let is_item = rest.is_empty() || rest.trim_start().starts_with(';');
    bytes.try_into().ok().filter(|_| is_item)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the body `{"hello": "world"}` and a line end (RFC 9530, section 2).
    const HELLO: &str = "sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:";

    fn check(lines: &[&str], body: &str) -> Result<bool, ProblemKind> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(CONTENT_DIGEST, line.parse().unwrap());
        }
        let Some(mut digest) = BodyDigest::of(&headers).map_err(|problem| problem.kind)? else { return Ok(false) };
        body.bytes().for_each(|byte| digest.update(&[byte]));
        digest.finish().map(|()| true).map_err(|problem| problem.kind)
    }

    #[test]
    fn a_body_has_the_digest_of_its_header() {
        let body = "{\"hello\": \"world\"}\n";
        let with_others = format!("sha-512=:AAAA:, {HELLO};x=1");
        for lines in [&[HELLO][..], &[&with_others], &["sha-256=:AAAA:", HELLO], &["unixsum=5", HELLO]] {
            assert_eq!(check(lines, body), Ok(true), "{lines:?}");
        }
        assert_eq!(check(&[HELLO], &body[1..]), Err(ProblemKind::InvalidHeader));
        for none in [&[][..], &[""], &["sha-512=:AAAA:"], &["md5=x"]] {
            assert_eq!(check(none, body), Ok(false), "{none:?}");
        }
        for wrong in
            ["sha-256=:AAAA:", "sha-256=", "sha-256=::", "sha-256=5", &HELLO.replace("=:", "="), &format!("{HELLO}x")]
        {
            assert_eq!(check(&[wrong], body), Err(ProblemKind::InvalidHeader), "{wrong}");
        }
    }
}
