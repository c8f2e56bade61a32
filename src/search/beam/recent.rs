//! Recently seen boards.

/// A set of board hashes in which newer hashes displace older ones.
///
/// A beam generates duplicates on the same level or a few levels later, so older hashes are not worth their memory.
/// About once in some hundred million boards, a new board is mistaken for a known one.
#[derive(Debug)]
pub(super) struct RecentHashes {
    /// Buckets of hashes, the newest first.
    places: Vec<[u32; Self::WAYS]>,
}

impl RecentHashes {
    const WAYS: usize = 4;
    const PLACES: std::ops::RangeInclusive<usize> = 1 << 10..=1 << 22;
    /// Memory per board of a level, when the number of boards is not a power of two.
    pub(super) const BYTES_PER_BOARD: usize = 4 * size_of::<[u32; Self::WAYS]>();

    /// Capacity for several levels of this many boards.
    pub(super) fn for_levels_of(boards: usize) -> Self {
        let places = boards.saturating_mul(2).clamp(*Self::PLACES.start(), *Self::PLACES.end());
        Self { places: vec![[0; Self::WAYS]; places.next_power_of_two()] }
    }

    /// Inserts a hash; false if it is present already.
    pub(super) fn insert(&mut self, hash: u64) -> bool {
        let mask = self.places.len() - 1;
        let place = &mut self.places[(hash >> u32::BITS) as usize & mask];
        let mark = hash as u32 | 1;
        if place.contains(&mark) {
            return false;
        }
        place.copy_within(..Self::WAYS - 1, 1);
        place[0] = mark;
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
        let forgotten = hashes.iter().filter(|hash| recent.insert(**hash)).count();
        assert!(forgotten < 5, "{forgotten}");
    }

    #[test]
    fn older_hashes_are_displaced() {
        let mut recent = RecentHashes::for_levels_of(1);
        let hashes: Vec<u64> = (0..100_000).map(|nth| mix(nth, 0)).collect();
        assert!(hashes.iter().all(|hash| recent.insert(*hash)));
        assert!(recent.insert(hashes[0]) && !recent.insert(hashes[99_999]));
    }
}
