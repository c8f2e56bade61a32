//! Hash table from boards to nodes.

/// An open-addressing hash table of node indices. The boards themselves stay in the arena.
///
/// Eight slots form a group. Each slot has a one-byte tag, and one comparison tests all eight tags. So most new boards
/// are recognized without reading another board and without an unpredictable branch (after Abseil's Swiss tables,
/// 2017).
#[derive(Clone, Debug)]
pub(crate) struct ClosedList {
    /// The tags of each group; 0 marks a free slot.
    tags: Vec<u64>,
    nodes: Vec<[u32; GROUP]>,
    /// 64 minus the number of hash bits that select the group.
    shift: u32,
}

/// A position in the table and the tag to store there. A free slot is valid until the next insertion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    group: usize,
    position: usize,
    tag: u64,
}

/// Slots in a group.
const GROUP: usize = 8;
/// A one in each byte.
const ONES: u64 = u64::MAX / 0xff;
/// The bit that distinguishes a tag from a free slot, in each byte.
const TAKEN: u64 = 0x80 * ONES;

impl ClosedList {
    /// Average number of occupied slots per group when the table is full.
    const LOAD: usize = 6;

    /// Maximum bytes per node. The worst case is a number of groups just above a power of two, while the allocator
    /// still holds the smaller tables before it, which together are as large.
    pub(crate) const MAX_BYTES_PER_NODE: usize = 2 * 2 * (GROUP * (size_of::<u32>() + 1)).div_ceil(Self::LOAD);

    /// A table for this many nodes. Callers must not insert more.
    pub(crate) fn with_capacity(nodes: usize) -> Self {
        let groups = nodes.div_ceil(Self::LOAD).next_power_of_two().max(2);
        Self { tags: vec![0; groups], nodes: vec![[0; GROUP]; groups], shift: u64::BITS - groups.ilog2() }
    }

    /// The node with this hash that `is_same` accepts, and its slot. If there is none, a free slot for it.
    #[inline(always)]
    pub(crate) fn find(&self, hash: u64, is_same: impl Fn(u32) -> bool) -> (Option<u32>, Slot) {
        let (tag, group) = (hash & 0x7f | 0x80, (hash >> self.shift) as usize);
        let tags = self.tags[group];
        let free = !tags & TAKEN;
        if free != 0 && alike(tags, tag) == 0 {
            return (None, Slot { group, position: position(free), tag });
        }
        self.look_further(group, tag, is_same)
    }

    #[inline(never)]
    fn look_further(&self, mut group: usize, tag: u64, is_same: impl Fn(u32) -> bool) -> (Option<u32>, Slot) {
        loop {
            let tags = self.tags[group];
            let mut alike = alike(tags, tag);
            while alike != 0 {
                let position = position(alike);
                let node = self.nodes[group][position];
                if is_same(node) {
                    return (Some(node), Slot { group, position, tag });
                }
                alike &= alike - 1;
            }
            let free = !tags & TAKEN;
            if free != 0 {
                return (None, Slot { group, position: position(free), tag });
            }
            group = if group + 1 == self.tags.len() { 0 } else { group + 1 };
        }
    }

    /// Stores `node` in a slot.
    #[inline]
    pub(crate) fn put(&mut self, slot: Slot, node: u32) {
        let Slot { group, position, tag } = slot;
        // An occupied slot has the same tag already.
        self.tags[group] |= tag << (8 * position);
        self.nodes[group][position % GROUP] = node;
    }
}

/// The positions whose tag equals the given one. Borrows may add false positives above a match. Comparing boards
/// rejects them.
#[inline]
fn alike(tags: u64, tag: u64) -> u64 {
    let differing = tags ^ (tag * ONES);
    differing.wrapping_sub(ONES) & !differing & TAKEN
}

/// The first of some positions.
#[inline]
fn position(bits: u64) -> usize {
    bits.trailing_zeros() as usize / 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_nodes_are_found() {
        let hash_of = |node: u32| u64::from(node / 3).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut closed = ClosedList::with_capacity(500);
        for node in 0..500 {
            let (found, slot) = closed.find(hash_of(node), |other| other == node);
            assert_eq!(found, None);
            closed.put(slot, node);
        }
        for node in 0..500 {
            assert_eq!(closed.find(hash_of(node), |other| other == node).0, Some(node));
        }
        assert_eq!(closed.find(hash_of(7_000), |other| other == 7_000).0, None);
    }
}
