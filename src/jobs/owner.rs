//! Owners of jobs.

use std::fmt;

use sha2::{Digest, Sha256};
use taquin_bulk::{JobId, hex, unhex};

/// The owner of a job, identified by a digest of the owner's token. The digest is `None` if the service requires no
/// tokens.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct JobOwner(Option<[u8; 32]>);

impl JobOwner {
    /// Returns the owner of the token whose SHA-256 digest is `digest`.
    pub fn of_token(digest: [u8; 32]) -> Self {
        // The digest is hashed again, so that stored files do not help to find the token.
        Self(Some(Sha256::digest(digest).into()))
    }

    /// Returns the id of the job that this owner creates with an idempotency key.
    pub fn job_of_key(self, key: &str) -> JobId {
        let mut digest = Sha256::new();
        digest.update(self.0.unwrap_or_default());
        digest.update(key);
        let mut id = [0; 16];
        id.copy_from_slice(&digest.finalize()[..16]);
        JobId(id)
    }

    /// Formats the digest as hexadecimal digits. The result is empty for an owner without a token.
    pub(crate) fn to_hex(self) -> String {
        self.0.map_or_else(String::new, |digest| hex(&digest))
    }

    /// Parses the output of [`to_hex`](Self::to_hex). Returns `None` for any other text.
    pub(crate) fn of_hex(text: &str) -> Option<Self> {
        if text.is_empty() { Some(Self(None)) } else { unhex(text).map(|digest| Self(Some(digest))) }
    }
}

/// Shows whether the owner has a token, and hides the digest.
impl fmt::Debug for JobOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "JobOwner(…)" } else { "JobOwner(none)" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_key_depends_on_key_and_owner() {
        let [one, other] = [[1; 32], [2; 32]].map(JobOwner::of_token);
        assert_eq!(one.job_of_key("a"), one.job_of_key("a"));
        assert_ne!(one.job_of_key("a"), one.job_of_key("b"));
        assert_ne!(one.job_of_key("a"), other.job_of_key("a"));
        assert_ne!(one.job_of_key("a"), JobOwner::default().job_of_key("a"));
    }

    #[test]
    fn an_owner_is_read_as_written() {
        for owner in [JobOwner::default(), JobOwner::of_token([7; 32])] {
            assert_eq!(JobOwner::of_hex(&owner.to_hex()), Some(owner));
        }
        assert_eq!(JobOwner::of_hex("7"), None);
    }
}
