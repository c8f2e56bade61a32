//! Hashes of recently generated boards.

use crate::search::prefetch::prefetch;

/// A set of board hashes in which newer hashes displace older ones.
///
/// A beam generates duplicates on the same level or a few levels later, so older hashes do not pay for their memory.
/// About one new board in some hundred million is mistaken for a known one.
#[derive(Debug)]
pub(crate) struct RecentHashes {
    /// Buckets of hashes, the newest first.
    buckets: Vec<[u32; Self::WAYS]>,
}

impl RecentHashes {
    const WAYS: usize = 4;
    const BUCKETS: std::ops::RangeInclusive<usize> = 1 << 10..=1 << 22;
    /// Maximum memory in bytes per board of a level, for numbers of boards just above a power of two.
    pub(crate) const BYTES_PER_BOARD: usize = 4 * size_of::<[u32; Self::WAYS]>();

    /// A set with room for several levels of this many boards.
    pub(crate) fn for_levels_of(boards: usize) -> Self {
        let buckets = boards.saturating_mul(2).clamp(*Self::BUCKETS.start(), *Self::BUCKETS.end());
        Self { buckets: vec![[0; Self::WAYS]; buckets.next_power_of_two()] }
    }

    /// Prefetches the bucket of a hash.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        prefetch(&self.buckets[self.bucket(hash)]);
    }

    #[inline]
    fn bucket(&self, hash: u64) -> usize {
        (hash >> u32::BITS) as usize & (self.buckets.len() - 1)
    }

    /// Inserts a hash; false if it is present already.
    pub(crate) fn insert(&mut self, hash: u64) -> bool {
        let nth = self.bucket(hash);
        let bucket = &mut self.buckets[nth];
        let tag = hash as u32 | 1;
        if bucket.contains(&tag) {
            return false;
        }
        bucket.copy_within(..Self::WAYS - 1, 1);
        bucket[0] = tag;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::mix;

    #[test]
    fn hashes_of_the_last_level_are_known() {
        let mut recent = RecentHashes::for_levels_of(1_000);
        let hashes: Vec<u64> = (0..1_000).map(|nth| mix(nth, 0)).collect();
        assert!(hashes.iter().all(|hash| recent.insert(*hash)));
        let displaced = hashes.iter().filter(|hash| recent.insert(**hash)).count();
        assert!(displaced < 5, "{displaced}");
    }

    #[test]
    fn older_hashes_are_displaced() {
        let mut recent = RecentHashes::for_levels_of(1);
        let hashes: Vec<u64> = (0..100_000).map(|nth| mix(nth, 0)).collect();
        assert!(hashes.iter().all(|hash| recent.insert(*hash)));
        assert!(recent.insert(hashes[0]) && !recent.insert(hashes[99_999]));
    }
}
