//! Ids, folder names, and owners of jobs.

use std::fmt;
use std::io;
use std::str::FromStr;

use sha2::{Digest, Sha256};
use taquin_bulk::{hex, unhex};

/// The id of a job: 128 bits, 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId([u8; 16]);

/// The name of a job's folder: 128 random bits, 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FolderName([u8; 16]);

/// The owner of a job: the digest of a token, or none where tokens are not required.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct JobOwner(Option<[u8; 32]>);

impl JobId {
    /// A random id. Fails if the system provides no randomness.
    pub(crate) fn random() -> io::Result<Self> {
        random().map(Self)
    }

    /// The id for an owner's idempotency key.
    pub fn of_key(owner: JobOwner, key: &str) -> Self {
        let mut digest = Sha256::new();
        digest.update(owner.0.unwrap_or_default());
        digest.update(key);
        let mut id = [0; 16];
        id.copy_from_slice(&digest.finalize()[..16]);
        Self(id)
    }

    /// Spreads ids over `locks` locks.
    pub(crate) fn lock_index(self, locks: usize) -> usize {
        usize::from(self.0[0]) % locks
    }
}

impl FolderName {
    /// A random name. Fails if the system provides no randomness.
    pub(crate) fn random() -> io::Result<Self> {
        random().map(Self)
    }

    /// A placeholder for the folder of a job with a damaged record. Random names make it unique.
    pub(crate) fn standing_for(id: JobId) -> Self {
        Self(id.0)
    }
}

fn random() -> io::Result<[u8; 16]> {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).map_err(io::Error::other)?;
    Ok(bits)
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JobId({self})")
    }
}

impl FromStr for JobId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        unhex(text).map(Self).ok_or(())
    }
}

impl fmt::Display for FolderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for FolderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FolderName({self})")
    }
}

impl FromStr for FolderName {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        unhex(text).map(Self).ok_or(())
    }
}

impl JobOwner {
    /// The owner of the token with this SHA-256.
    pub fn of_token(digest: [u8; 32]) -> Self {
        // A digest of the digest: stored files must not help to find the token.
        Self(Some(Sha256::digest(digest).into()))
    }

    /// Formats as hexadecimal digits; empty without a token.
    pub(crate) fn to_hex(self) -> String {
        self.0.map_or_else(String::new, |digest| hex(&digest))
    }

    /// Parses the output of [`to_hex`](Self::to_hex).
    pub(crate) fn of_hex(text: &str) -> Option<Self> {
        if text.is_empty() { Some(Self(None)) } else { unhex(text).map(|digest| Self(Some(digest))) }
    }
}

/// Shows whether there is a token, but not its digest.
impl fmt::Debug for JobOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "JobOwner(…)" } else { "JobOwner(none)" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_written() {
        let id = JobId::random().unwrap();
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_ne!(id, JobId::random().unwrap());
        for wrong in ["", "0", &"0".repeat(31), &"0".repeat(33), &"A".repeat(32), "../../../../etc/passwd/././././.."] {
            assert_eq!(wrong.parse::<JobId>(), Err(()), "{wrong}");
        }
    }

    #[test]
    fn the_id_of_a_key_depends_on_key_and_owner() {
        let [one, other] = [[1; 32], [2; 32]].map(JobOwner::of_token);
        assert_eq!(JobId::of_key(one, "a"), JobId::of_key(one, "a"));
        assert_ne!(JobId::of_key(one, "a"), JobId::of_key(one, "b"));
        assert_ne!(JobId::of_key(one, "a"), JobId::of_key(other, "a"));
        assert_ne!(JobId::of_key(one, "a"), JobId::of_key(JobOwner::default(), "a"));
    }

    #[test]
    fn an_owner_is_read_as_written() {
        for owner in [JobOwner::default(), JobOwner::of_token([7; 32])] {
            assert_eq!(JobOwner::of_hex(&owner.to_hex()), Some(owner));
        }
        assert_eq!(JobOwner::of_hex("7"), None);
    }
}
