//! Which node stands for a board.

/// A hash table of node indices by open addressing; the boards themselves stay in the arena.
#[derive(Clone, Debug)]
pub(super) struct ClosedList {
    slots: Vec<u32>,
    used: usize,
}

/// A place in the table, valid until the table grows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot(usize);

const FREE: u32 = u32::MAX;

impl ClosedList {
    /// Room for `nodes` before it first grows.
    pub(super) fn with_capacity(nodes: usize) -> Self {
        Self { slots: vec![FREE; (2 * nodes).next_power_of_two()], used: 0 }
    }

    /// The node of that hash which `is_same` accepts, and the slot where it is or belongs.
    #[inline]
    pub(super) fn find(&self, hash: u64, is_same: impl Fn(u32) -> bool) -> (Option<u32>, Slot) {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            match self.slots[at] {
                FREE => return (None, Slot(at)),
                node if is_same(node) => return (Some(node), Slot(at)),
                _ => at = (at + 1) & mask,
            }
        }
    }

    /// Lets `node` stand in a slot.
    #[inline]
    pub(super) fn put(&mut self, slot: Slot, node: u32) {
        self.used += usize::from(self.slots[slot.0] == FREE);
        self.slots[slot.0] = node;
    }

    /// Whether it is as full as is good for speed: half.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        2 * self.used > self.slots.len()
    }

    /// Doubles the table.
    #[cold]
    pub(super) fn grow(&mut self, hash_of: impl Fn(u32) -> u64) {
        let doubled = vec![FREE; 2 * self.slots.len()];
        let nodes = std::mem::replace(&mut self.slots, doubled);
        for node in nodes.into_iter().filter(|node| *node != FREE) {
            let slot = self.find(hash_of(node), |_| false).1;
            self.slots[slot.0] = node;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_is_found_again_after_growing() {
        let hash_of = |node: u32| u64::from(node / 3);
        let mut closed = ClosedList::with_capacity(2);
        for node in 0..500 {
            let (found, slot) = closed.find(hash_of(node), |other| other == node);
            assert_eq!(found, None);
            closed.put(slot, node);
            if closed.is_full() {
                closed.grow(hash_of);
            }
        }
        for node in 0..500 {
            assert_eq!(closed.find(hash_of(node), |other| other == node).0, Some(node));
        }
        assert_eq!(closed.find(hash_of(700), |other| other == 700).0, None);
    }
}
