//! Ids of jobs, and names of the folders of jobs in a store.

use std::fmt;
use std::io;
use std::str::FromStr;
use std::sync::Arc;

use crate::files::Files;
use crate::folder::Folder;
use crate::sealed::{hex, unhex};

/// The id of a job, 128 bits. As text, the id has 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(pub [u8; 16]);

/// The name of a job's folder in a store, 128 random bits. As text, the name has 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FolderName(pub [u8; 16]);

impl FolderName {
    /// Name of the folder that contains the folders of all jobs in a store.
    pub const PARENT: &str = "data";

    /// Returns a view of the files in this folder of a store.
    pub fn in_store(self, store: &Arc<dyn Files>) -> Folder {
        Folder::new(store, format!("{}/{self}", Self::PARENT))
    }
}

/// Implements random creation, formatting and parsing for a type of 128 bits.
macro_rules! hexadecimal {
    ($name:ident) => {
        impl $name {
            /// Creates a value of random bits.
            ///
            /// # Errors
            /// If the system provides no randomness.
            pub fn random() -> io::Result<Self> {
                let mut bits = [0; 16];
                getrandom::fill(&mut bits).map_err(io::Error::other)?;
                Ok(Self(bits))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&hex(&self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }

        impl FromStr for $name {
            type Err = ();

            fn from_str(text: &str) -> Result<Self, ()> {
                unhex(text).map(Self).ok_or(())
            }
        }
    };
}

hexadecimal!(JobId);
hexadecimal!(FolderName);

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
}
