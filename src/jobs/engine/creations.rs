//! Jobs that are being made: uploads that are received, and recipes whose cost is estimated.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;

use super::id::JobOwner;

/// Number of jobs that are being made, by owner.
#[derive(Clone, Debug, Default)]
pub(super) struct Uploads(Arc<Mutex<HashMap<JobOwner, usize>>>);

/// A job that is being made, which counts until this is dropped.
pub(super) struct Upload {
    uploads: Uploads,
    owner: JobOwner,
}

impl Uploads {
    /// Begins one if the owner has less than `most`. Returns their number otherwise.
    pub(super) fn begin(&self, owner: JobOwner, most: usize) -> Result<Upload, usize> {
        let mut uploads = self.0.lock();
        let own = uploads.entry(owner).or_default();
        if *own >= most {
            return Err(*own);
        }
        *own += 1;
        Ok(Upload { uploads: self.clone(), owner })
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        let mut uploads = self.uploads.0.lock();
        if let Some(own) = uploads.get_mut(&self.owner) {
            *own -= 1;
            if *own == 0 {
                uploads.remove(&self.owner);
            }
        }
    }
}

impl fmt::Debug for Upload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upload").field("owner", &self.owner).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uploads_of_an_owner_are_counted_until_they_end() {
        let uploads = Uploads::default();
        let [one, other] = [[1; 32], [2; 32]].map(JobOwner::of_token);
        let first = uploads.begin(one, 2).unwrap();
        let _second = uploads.begin(one, 2).unwrap();
        assert_eq!(uploads.begin(one, 2).err(), Some(2));
        assert!(uploads.begin(other, 2).is_ok());
        drop(first);
        assert!(uploads.begin(one, 2).is_ok());
        assert_eq!(uploads.0.lock().len(), 1, "an owner without uploads takes no memory");
    }
}
