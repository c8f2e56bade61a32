//! Boards that were seen not long ago.

/// Hashes of boards, of which the older ones give way.
///
/// A beam meets a board again on the same level or a few later, so what is older is not worth its memory. A board that
/// was never seen may be taken for another, once in some hundred million times.
#[derive(Debug)]
pub(super) struct Seen {
    /// The newest of those that fall to a place comes first.
    places: Vec<[u32; Self::WAYS]>,
}

impl Seen {
    const WAYS: usize = 4;
    const PLACES: std::ops::RangeInclusive<usize> = 1 << 10..=1 << 22;
    /// Memory for each board of a level, where their number is no power of two.
    pub(super) const BYTES_PER_BOARD: usize = 4 * size_of::<[u32; Self::WAYS]>();

    /// Room for some levels of so many boards.
    pub(super) fn for_levels_of(boards: usize) -> Self {
        let places = boards.saturating_mul(2).clamp(*Self::PLACES.start(), *Self::PLACES.end());
        Self { places: vec![[0; Self::WAYS]; places.next_power_of_two()] }
    }

    /// Notes a board; whether it is not known to have been seen.
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
    fn what_was_seen_a_level_ago_is_known() {
        let mut seen = Seen::for_levels_of(1_000);
        let hashes: Vec<u64> = (0..1_000).map(|nth| mix(nth, 0)).collect();
        assert!(hashes.iter().all(|hash| seen.insert(*hash)));
        let forgotten = hashes.iter().filter(|hash| seen.insert(**hash)).count();
        assert!(forgotten < 5, "{forgotten}");
    }

    #[test]
    fn what_is_older_gives_way() {
        let mut seen = Seen::for_levels_of(1);
        let hashes: Vec<u64> = (0..100_000).map(|nth| mix(nth, 0)).collect();
        assert!(hashes.iter().all(|hash| seen.insert(*hash)));
        assert!(seen.insert(hashes[0]) && !seen.insert(hashes[99_999]));
    }
}
