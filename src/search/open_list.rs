//! Nodes awaiting expansion.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::TieBreaking;

/// Gives out nodes by least f.
///
/// Nodes are numbered from 0, and pushed once each in the order of their numbers.
pub trait OpenList {
    /// Adds the next node.
    fn push(&mut self, node: u32, f: u32, h: u32);

    /// Takes a node of the least f.
    fn pop(&mut self) -> Option<u32>;
}

const NONE: u32 = u32::MAX;

/// An array of buckets, one for each f; within a bucket, chains of nodes through one shared array
/// of links, so that a push writes two words and allocates nothing.
#[derive(Clone, Debug)]
pub struct BucketOpenList {
    order: TieBreaking,
    /// The f of the first bucket.
    base: u32,
    buckets: Vec<Bucket>,
    links: Vec<u32>,
    /// No bucket before this one holds a node.
    lowest: usize,
}

#[derive(Clone, Debug)]
struct Bucket {
    /// Chains by h for [`TieBreaking::LowH`], otherwise a single one.
    heads: Vec<u32>,
    /// The last node of the single chain.
    tail: u32,
    /// No chain before this one holds a node.
    lowest: u32,
    len: u32,
}

impl Bucket {
    const EMPTY: Self = Self { heads: Vec::new(), tail: NONE, lowest: u32::MAX, len: 0 };

    #[cold]
    fn make_chain(&mut self, chain: u32) {
        self.heads.resize(chain as usize + 1, NONE);
    }
}

impl BucketOpenList {
    /// An empty list that breaks ties in the given order.
    ///
    /// # Panics
    /// On [`TieBreaking::Heap`], which is [`HeapOpenList`]'s.
    pub fn new(order: TieBreaking) -> Self {
        assert_ne!(order, TieBreaking::Heap, "a heap is no array of buckets");
        Self { order, base: 0, buckets: Vec::new(), links: Vec::with_capacity(64), lowest: 0 }
    }

    /// The bucket's place for an f that has none yet.
    #[cold]
    fn make_bucket(&mut self, f: u32) -> usize {
        if self.buckets.is_empty() {
            // Few searches meet more than some values of f beyond the first.
            self.buckets.reserve(8);
            self.base = f;
        } else if f < self.base {
            let missing = (self.base - f) as usize;
            self.buckets.splice(0..0, std::iter::repeat_n(Bucket::EMPTY, missing));
            self.base = f;
            self.lowest = 0;
        }
        let at = (f - self.base) as usize;
        if at >= self.buckets.len() {
            self.buckets.resize(at + 1, Bucket::EMPTY);
        }
        at
    }
}

impl OpenList for BucketOpenList {
    #[inline(always)]
    fn push(&mut self, node: u32, f: u32, h: u32) {
        debug_assert_eq!(node as usize, self.links.len());
        let mut at = f.wrapping_sub(self.base) as usize;
        if at >= self.buckets.len() {
            at = self.make_bucket(f);
        }
        self.lowest = self.lowest.min(at);
        let bucket = &mut self.buckets[at];
        bucket.len += 1;
        let chain = if self.order == TieBreaking::LowH { h } else { 0 };
        if chain as usize >= bucket.heads.len() {
            bucket.make_chain(chain);
        }
        bucket.lowest = bucket.lowest.min(chain);
        let head = &mut bucket.heads[chain as usize];
        if self.order == TieBreaking::Fifo {
            self.links.push(NONE);
            if *head == NONE {
                *head = node;
            } else {
                self.links[bucket.tail as usize] = node;
            }
            bucket.tail = node;
        } else {
            self.links.push(*head);
            *head = node;
        }
    }

    #[inline(always)]
    fn pop(&mut self) -> Option<u32> {
        while self.buckets.get(self.lowest)?.len == 0 {
            self.lowest += 1;
        }
        let bucket = &mut self.buckets[self.lowest];
        while bucket.heads[bucket.lowest as usize] == NONE {
            bucket.lowest += 1;
        }
        bucket.len -= 1;
        let head = &mut bucket.heads[bucket.lowest as usize];
        let node = *head;
        *head = self.links[node as usize];
        Some(node)
    }
}

/// A binary heap, for evaluations whose values lie too far apart for buckets, and for
/// [`TieBreaking::Heap`]: the textbook's heap, ordered by f alone, in which ties fall as its own
/// moves have them.
///
/// A pop moves the hole to the bottom along the better child, the right one on ties, and sifts
/// up; a push sifts up past strictly worse parents. That is what [`BinaryHeap`] does, and a test
/// of the counters fails if it ever does otherwise.
#[derive(Clone, Debug)]
pub struct HeapOpenList {
    order: TieBreaking,
    heap: BinaryHeap<Entry>,
}

impl HeapOpenList {
    /// Bytes that a node takes at most, right after the heap has doubled.
    pub(super) const MAX_BYTES_PER_NODE: usize = 2 * size_of::<Entry>();

    /// An empty list that breaks ties in the given order.
    pub fn new(order: TieBreaking) -> Self {
        Self { order, heap: BinaryHeap::new() }
    }
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    f: u32,
    /// Which of equal f goes first: the one of the least.
    tie: u64,
    node: u32,
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.f, other.tie).cmp(&(self.f, self.tie))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Entry {}

impl OpenList for HeapOpenList {
    fn push(&mut self, node: u32, f: u32, h: u32) {
        let newest_first = u64::from(u32::MAX - node);
        let tie = match self.order {
            TieBreaking::LowH => u64::from(h) << 32 | newest_first,
            TieBreaking::Lifo => newest_first,
            TieBreaking::Fifo => u64::from(node),
            TieBreaking::Heap => 0,
        };
        self.heap.push(Entry { f, tie, node });
    }

    fn pop(&mut self) -> Option<u32> {
        self.heap.pop().map(|entry| entry.node)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list without cleverness: scans all it holds.
    struct Twin(TieBreaking, Vec<(u32, u32, u32)>);

    impl OpenList for Twin {
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
    fn buckets_and_heaps_give_nodes_in_the_order_of_a_scan() {
        for order in [TieBreaking::LowH, TieBreaking::Lifo, TieBreaking::Fifo] {
            let (mut fast, mut slow) = (BucketOpenList::new(order), Twin(order, Vec::new()));
            let mut heap = HeapOpenList::new(order);
            let mut word = 1_u32;
            for node in 0..2_000 {
                word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let (f, h) = (word >> 8 & 15, word >> 16 & 7);
                fast.push(node, f, h);
                heap.push(node, f, h);
                slow.push(node, f, h);
                if word >> 28 < 7 {
                    let node = slow.pop();
                    assert_eq!((fast.pop(), heap.pop()), (node, node), "{order:?}");
                }
            }
            while let Some(node) = slow.pop() {
                assert_eq!((fast.pop(), heap.pop()), (Some(node), Some(node)), "{order:?}");
            }
            assert_eq!(fast.pop(), None);
        }
    }
}
