//! Which node stands for a board.

/// A hash table of node indices by open addressing; the boards themselves stay in the arena.
///
/// Beside an index a slot keeps half of the hash, so that hardly ever a node is looked at in vain,
/// and none at all when the table grows.
#[derive(Clone, Debug)]
pub(super) struct ClosedList {
    /// The upper half of the hash above a node's index.
    slots: Vec<u64>,
    used: usize,
}

/// A place in the table, and what belongs there; valid until the table grows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    at: usize,
    tag: u64,
}

const FREE: u64 = u64::MAX;
const TAG: u64 = !(u32::MAX as u64);

impl ClosedList {
    /// Bytes that a node takes at most: two slots in a large table that is full, and four in the one of
    /// twice its size to which they are moving.
    pub(super) const MAX_BYTES_PER_NODE: usize = 6 * size_of::<u64>();

    /// Slots below which the table grows fourfold rather than twofold: small ones are cheap.
    const SMALL: usize = 1 << 14;

    /// Room for `nodes` before it first grows.
    pub(super) fn with_capacity(nodes: usize) -> Self {
        Self { slots: vec![FREE; (2 * nodes).next_power_of_two()], used: 0 }
    }

    /// The node of that hash which `is_same` accepts, and the slot where it is or belongs.
    #[inline]
    pub(super) fn find(&self, hash: u64, is_same: impl Fn(u32) -> bool) -> (Option<u32>, Slot) {
        let (mask, tag) = (self.slots.len() - 1, hash & TAG);
        let mut at = place(hash, mask);
        loop {
            let slot = self.slots[at];
            if slot == FREE {
                return (None, Slot { at, tag });
            }
            if slot & TAG == tag && is_same(slot as u32) {
                return (Some(slot as u32), Slot { at, tag });
            }
            at = (at + 1) & mask;
        }
    }

    /// Lets `node` stand in a slot, and makes room for the next one.
    #[inline]
    pub(super) fn put(&mut self, slot: Slot, node: u32) {
        self.used += usize::from(self.slots[slot.at] == FREE);
        self.slots[slot.at] = slot.tag | u64::from(node);
        if 2 * self.used > self.slots.len() {
            self.grow();
        }
    }

    #[cold]
    fn grow(&mut self) {
        let factor = if self.slots.len() < Self::SMALL { 4 } else { 2 };
        let grown = vec![FREE; factor * self.slots.len()];
        let mask = grown.len() - 1;
        for slot in std::mem::replace(&mut self.slots, grown).into_iter().filter(|slot| *slot != FREE) {
            let mut at = place(slot, mask);
            while self.slots[at] != FREE {
                at = (at + 1) & mask;
            }
            self.slots[at] = slot;
        }
    }
}

/// Where a hash belongs: told by its upper half alone, which is what a slot keeps.
#[inline]
fn place(hash: u64, mask: usize) -> usize {
    // A table of more than 2³² slots would hold more nodes than there are indices.
    (hash >> 32) as usize & mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_is_found_again_after_growing() {
        let hash_of = |node: u32| u64::from(node / 3) << 32;
        let mut closed = ClosedList::with_capacity(2);
        for node in 0..500 {
            let (found, slot) = closed.find(hash_of(node), |other| other == node);
            assert_eq!(found, None);
            closed.put(slot, node);
        }
        for node in 0..500 {
            assert_eq!(closed.find(hash_of(node), |other| other == node).0, Some(node));
        }
        assert_eq!(closed.find(hash_of(700), |other| other == 700).0, None);
    }
}
