//! Counts jobs in creation: uploads in transfer, and jobs whose cost is being estimated.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::owner::JobOwner;

/// Number of jobs in creation, by owner.
#[derive(Clone, Debug, Default)]
pub(crate) struct Creations(Arc<Mutex<HashMap<JobOwner, usize>>>);

/// A job in creation. The job counts until the `Creation` is dropped.
#[derive(Debug)]
pub(crate) struct Creation {
    creations: Creations,
    owner: JobOwner,
}

impl Creations {
    /// Counts a creation if the owner has fewer than `most` creations. Otherwise returns the number of the owner's
    /// creations as the error.
    pub(crate) fn begin(&self, owner: JobOwner, most: usize) -> Result<Creation, usize> {
        let mut creations = self.0.lock();
        let own = creations.entry(owner).or_default();
        if *own >= most {
            return Err(*own);
        }
        *own += 1;
        Ok(Creation { creations: self.clone(), owner })
    }
}

impl Drop for Creation {
    fn drop(&mut self) {
        let mut creations = self.creations.0.lock();
        if let Some(own) = creations.get_mut(&self.owner) {
            *own -= 1;
            if *own == 0 {
                creations.remove(&self.owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn creations_of_an_owner_are_counted_until_they_end() {
        let creations = Creations::default();
        let [one, other] = [[1; 32], [2; 32]].map(JobOwner::of_token);
        let first = creations.begin(one, 2).unwrap();
        let _second = creations.begin(one, 2).unwrap();
        assert_eq!(creations.begin(one, 2).err(), Some(2));
        assert!(creations.begin(other, 2).is_ok());
        drop(first);
        assert!(creations.begin(one, 2).is_ok());
        assert_eq!(creations.0.lock().len(), 1, "an owner without creations takes no memory");
    }
}
