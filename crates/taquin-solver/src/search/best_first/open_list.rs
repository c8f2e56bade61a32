//! Nodes awaiting expansion.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::node::Capacity;
use crate::search::TieBreaking;

/// A priority queue that returns nodes by least f.
///
/// Nodes are numbered from 0 and pushed once each in ascending order.
pub trait OpenList {
    /// Reserves space for a number of nodes.
    fn reserve(&mut self, capacity: Capacity);

    /// Adds the next node, for which space is reserved.
    fn push(&mut self, node: u32, f: u32, h: u32);

    /// Removes a node of least f.
    fn pop(&mut self) -> Option<u32>;
}

const NONE: u32 = u32::MAX;

/// An array of buckets, one per f.
///
/// Each bucket has a linked list of nodes per h, and a bit that is set if the list is not empty. All links share one
/// array. So push and pop neither search nor allocate, and have no unpredictable branch.
#[derive(Clone, Debug)]
pub struct BucketOpenList {
    /// Mask of the bits of h that select a list: all for [`TieBreaking::LowH`], otherwise none.
    chains: u32,
    is_queue: bool,
    /// The f of the first bucket.
    base: u32,
    buckets: Vec<Bucket>,
    /// By node: the next node of its list.
    links: Vec<u32>,
    /// No bucket before this one holds a node.
    lowest: usize,
}

#[derive(Clone, Debug)]
struct Bucket {
    /// One bit per list: set if it holds a node.
    occupied: [u64; Bucket::WORDS],
    /// The first node of each list.
    heads: Vec<u32>,
    /// The last node of a queue's only list.
    tail: u32,
}

impl Bucket {
    /// Number of lists per bucket: more than the values of h where [`Evaluation`](crate::search::Evaluation) suits
    /// buckets.
    const CHAINS: usize = 256;
    const WORDS: usize = Self::CHAINS / 64;

    const EMPTY: Self = Self { occupied: [0; _], heads: Vec::new(), tail: NONE };

    /// Moves a node from the front of a queue to its end.
    fn append(&mut self, node: u32, first: u32, links: &mut [u32]) {
        if first != NONE {
            self.heads[0] = first;
            links[self.tail as usize] = node;
            links[node as usize] = NONE;
        }
        self.tail = node;
    }

    /// The first list that holds a node.
    #[inline]
    fn first(&self) -> Option<usize> {
        if self.occupied[0] != 0 {
            return Some(self.occupied[0].trailing_zeros() as usize);
        }
        let (word, bits) = self.occupied.iter().enumerate().find(|(_, bits)| **bits != 0)?;
        Some(64 * word + bits.trailing_zeros() as usize)
    }
}

impl BucketOpenList {
    /// An empty list with the given tie breaking.
    ///
    /// # Panics
    /// On [`TieBreaking::Heap`]; use [`HeapOpenList`].
    pub fn new(order: TieBreaking) -> Self {
        assert_ne!(order, TieBreaking::Heap, "TieBreaking::Heap needs a HeapOpenList");
        let chains = if order == TieBreaking::LowH { Bucket::CHAINS as u32 - 1 } else { 0 };
        let is_queue = order == TieBreaking::Fifo;
        Self { chains, is_queue, base: 0, buckets: Vec::new(), links: Vec::new(), lowest: 0 }
    }

    /// Creates the list of a chain in the bucket of `f`.
    #[cold]
    #[inline(never)]
    fn make_chain(&mut self, f: u32, chain: usize) {
        if self.buckets.is_empty() {
            // Most searches have only a few values of f.
            self.buckets.reserve(8);
            self.base = f;
        } else if f < self.base {
            let missing = (self.base - f) as usize;
            self.buckets.splice(0..0, std::iter::repeat_n(Bucket::EMPTY, missing));
            self.lowest += missing;
            self.base = f;
        }
        let at = (f - self.base) as usize;
        if at >= self.buckets.len() {
            self.buckets.resize(at + 1, Bucket::EMPTY);
        }
        let heads = &mut self.buckets[at].heads;
        if chain >= heads.len() {
            heads.resize(chain + 1, NONE);
        }
    }
}

impl OpenList for BucketOpenList {
    fn reserve(&mut self, capacity: Capacity) {
        // If the reservation fails, `resize` allocates memory for `nodes` alone.
        let _ = self.links.try_reserve_exact(capacity.more(self.links.len()).max);
        self.links.resize(capacity.nodes, NONE);
    }

    #[inline(always)]
    fn push(&mut self, node: u32, f: u32, h: u32) {
        debug_assert!(h < Bucket::CHAINS as u32, "h is {h}");
        let chain = (h & self.chains) as usize;
        loop {
            let at = f.wrapping_sub(self.base) as usize;
            let Some(bucket) = self.buckets.get_mut(at).filter(|bucket| chain < bucket.heads.len()) else {
                self.make_chain(f, chain);
                continue;
            };
            self.lowest = self.lowest.min(at);
            bucket.occupied[chain / 64 % Bucket::WORDS] |= 1 << (chain % 64);
            let next = std::mem::replace(&mut bucket.heads[chain], node);
            self.links[node as usize] = next;
            if self.is_queue {
                bucket.append(node, next, &mut self.links);
            }
            return;
        }
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<u32> {
        loop {
            let bucket = self.buckets.get_mut(self.lowest)?;
            let Some(chain) = bucket.first() else {
                self.lowest += 1;
                continue;
            };
            let head = &mut bucket.heads[chain];
            let node = *head;
            *head = self.links[node as usize];
            bucket.occupied[chain / 64 % Bucket::WORDS] &= !(u64::from(*head == NONE) << (chain % 64));
            return Some(node);
        }
    }
}

/// A binary heap, for evaluations whose values are too sparse for buckets.
///
/// [`TieBreaking::Heap`] is the textbook heap, ordered by f alone, in which the heap's own operations decide ties. Pop
/// moves the hole down along the better child, the right one on ties, and sifts up. Push sifts up past strictly worse
/// parents. [`BinaryHeap`] works this way, and a test of the counters fails if that changes.
#[derive(Clone, Debug)]
pub struct HeapOpenList {
    order: TieBreaking,
    heap: BinaryHeap<HeapEntry>,
}

impl HeapOpenList {
    /// Memory per node in bytes.
    pub(crate) const MAX_BYTES_PER_NODE: usize = size_of::<HeapEntry>();

    /// An empty list with the given tie breaking.
    pub fn new(order: TieBreaking) -> Self {
        Self { order, heap: BinaryHeap::new() }
    }
}

#[derive(Clone, Copy, Debug)]
struct HeapEntry {
    f: u32,
    /// Among equal f, the least comes first.
    tie: u64,
    node: u32,
}

impl Ord for HeapEntry {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.f, other.tie).cmp(&(self.f, self.tie))
    }
}

impl PartialOrd for HeapEntry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for HeapEntry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for HeapEntry {}

impl OpenList for HeapOpenList {
    fn push(&mut self, node: u32, f: u32, h: u32) {
        let newest_first = u64::from(u32::MAX - node);
        let tie = match self.order {
            TieBreaking::LowH => u64::from(h) << 32 | newest_first,
            TieBreaking::Lifo => newest_first,
            TieBreaking::Fifo => u64::from(node),
            TieBreaking::Heap => 0,
        };
        self.heap.push(HeapEntry { f, tie, node });
    }

    fn reserve(&mut self, capacity: Capacity) {
        // If that much memory is not available, the heap grows as needed.
        let _ = self.heap.try_reserve_exact(capacity.more(self.heap.len()).max);
    }

    fn pop(&mut self) -> Option<u32> {
        self.heap.pop().map(|entry| entry.node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reference implementation that scans all nodes.
    struct ReferenceOpenList(TieBreaking, Vec<(u32, u32, u32)>);

    impl OpenList for ReferenceOpenList {
        fn reserve(&mut self, _: Capacity) {}

        fn push(&mut self, node: u32, f: u32, h: u32) {
            self.1.push((node, f, h));
        }

        fn pop(&mut self) -> Option<u32> {
            let key = |(node, f, h): &(u32, u32, u32)| match self.0 {
                TieBreaking::LowH => (*f, *h, u32::MAX - node),
                TieBreaking::Lifo => (*f, 0, u32::MAX - node),
                TieBreaking::Fifo => (*f, 0, *node),
                TieBreaking::Heap => unreachable!(),
            };
            let best = (0..self.1.len()).min_by_key(|at| key(&self.1[*at]))?;
            Some(self.1.remove(best).0)
        }
    }

    #[test]
    fn buckets_and_heaps_return_nodes_in_the_order_of_a_scan() {
        for order in [TieBreaking::LowH, TieBreaking::Lifo, TieBreaking::Fifo] {
            let (mut buckets, mut reference) = (BucketOpenList::new(order), ReferenceOpenList(order, Vec::new()));
            let mut heap = HeapOpenList::new(order);
            buckets.reserve(Capacity { nodes: 2_000, limit: 2_000 });
            let mut word = 1_u32;
            for node in 0..2_000 {
                word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let (f, h) = (word >> 8 & 15, word >> 16 & 7);
                buckets.push(node, f, h);
                heap.push(node, f, h);
                reference.push(node, f, h);
                if word >> 28 < 7 {
                    let node = reference.pop();
                    assert_eq!((buckets.pop(), heap.pop()), (node, node), "{order:?}");
                }
            }
            while let Some(node) = reference.pop() {
                assert_eq!((buckets.pop(), heap.pop()), (Some(node), Some(node)), "{order:?}");
            }
            assert_eq!(buckets.pop(), None);
        }
    }
}
