//! Selects the next chunk of a job.

use std::collections::VecDeque;

use fixedbitset::FixedBitSet;

/// The chunks of a job. A chunk is new, active in a slice, parked between slices, dropped, or done. A dropped chunk has
/// lost its labels. `B` is a begun chunk with its labels.
#[derive(Debug)]
pub(crate) struct ChunkQueue<B> {
    is_done: FixedBitSet,
    done: u64,
    /// First chunk that may be new. All earlier chunks are done, begun, or dropped.
    next: usize,
    /// Numbers of dropped chunks. Dropped chunks begin again before new chunks begin.
    dropped: Vec<u64>,
    /// Begun chunks that wait for a slice, in the order in which they were parked.
    parked: VecDeque<B>,
    /// Number of chunks that are active in slices.
    active: usize,
}

/// A chunk handed to a slice.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Taken<B> {
    /// Number of a chunk that this slice begins.
    New(u64),
    /// A chunk that an earlier slice began.
    Parked(B),
}

impl<B> ChunkQueue<B> {
    pub(crate) fn new(chunks: &[bool]) -> Self {
        let mut is_done = FixedBitSet::with_capacity(chunks.len());
        is_done.extend((0..chunks.len()).filter(|chunk| chunks[*chunk]));
        let done = is_done.count_ones(..) as u64;
        Self { is_done, done, next: 0, dropped: Vec::new(), parked: VecDeque::new(), active: 0 }
    }

    pub(crate) fn has_parked(&self) -> bool {
        !self.parked.is_empty()
    }

    /// Takes the first parked chunk. If no chunk is parked and `may_begin` is true, begins a dropped or new chunk.
    /// Returns `None` if there is no chunk to take.
    pub(crate) fn take(&mut self, may_begin: bool) -> Option<Taken<B>> {
        let taken = match self.parked.pop_front() {
            Some(parked) => Taken::Parked(parked),
            None if may_begin => Taken::New(self.begin()?),
            None => return None,
        };
        self.active += 1;
        Some(taken)
    }

    fn begin(&mut self) -> Option<u64> {
        if let Some(dropped) = self.dropped.pop() {
            return Some(dropped);
        }
        let first = self.missing().next()?;
        self.next = first as usize + 1;
        Some(first)
    }

    /// Puts an unfinished chunk back into the queue, with its labels.
    pub(crate) fn park(&mut self, chunk: B) {
        self.active -= 1;
        self.parked.push_back(chunk);
    }

    /// Puts a begun chunk back into the queue as dropped, without its labels.
    pub(crate) fn drop_chunk(&mut self, number: u64) {
        self.active -= 1;
        self.dropped.push(number);
    }

    /// Marks an active chunk as done.
    pub(crate) fn finish(&mut self, number: u64) {
        self.active -= 1;
        self.set_done(number);
    }

    /// Marks a chunk as done by another process. Returns false if the chunk was marked before, or does not exist.
    pub(crate) fn note_done(&mut self, number: u64) -> bool {
        let is_new = self.set_done(number);
        while self.is_done.contains(self.next) {
            self.next += 1;
        }
        is_new
    }

    /// Marks a chunk as done. Returns false if the chunk was marked before, or does not exist.
    fn set_done(&mut self, number: u64) -> bool {
        let is_new = (number as usize) < self.is_done.len() && !self.is_done.put(number as usize);
        self.done += u64::from(is_new);
        is_new
    }

    /// Returns the numbers of the new chunks, in ascending order.
    pub(crate) fn missing(&self) -> impl Iterator<Item = u64> {
        (self.next..self.is_done.len()).filter(|chunk| !self.is_done[*chunk]).map(|chunk| chunk as u64)
    }

    pub(crate) fn done(&self) -> u64 {
        self.done
    }

    #[cfg(test)]
    pub(crate) fn begun(&self) -> usize {
        self.active + self.parked.len()
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.done == self.is_done.len() as u64
    }

    /// Removes all chunks, so that no chunk begins any more. The counts of done and active chunks do not change.
    pub(crate) fn clear(&mut self) {
        let done = self.done;
        *self = Self { done, active: self.active, ..Self::new(&[]) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_chunks_are_made_once_whatever_happens_to_them() {
        let mut random = 7_u32;
        let mut next = move || {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            random >> 16
        };
        for chunks in [1, 2, 50] {
            let is_done: Vec<bool> = (0..chunks).map(|_| next() % 3 == 0).collect();
            let mut made: Vec<u32> = is_done.iter().map(|is_done| u32::from(*is_done)).collect();
            let (mut queue, mut active) = (ChunkQueue::<u64>::new(&is_done), Vec::new());
            while !queue.is_finished() {
                match queue.take(active.len() < 4) {
                    Some(Taken::New(number) | Taken::Parked(number)) => active.push(number),
                    None => assert!(!active.is_empty(), "there is always something to do"),
                }
                assert!(queue.begun() >= active.len());
                if active.is_empty() || next() % 3 == 0 {
                    continue;
                }
                let number = active.swap_remove(next() as usize % active.len());
                match next() % 3 {
                    0 => queue.park(number),
                    1 => queue.drop_chunk(number),
                    _ => {
                        queue.finish(number);
                        made[number as usize] += 1;
                    }
                }
            }
            assert_eq!(made, vec![1; chunks]);
            assert_eq!((queue.done(), queue.take(true)), (chunks as u64, None));
        }
    }

    #[test]
    fn parked_chunks_come_first_in_their_order() {
        let mut queue = ChunkQueue::new(&[false, true, false, false]);
        assert_eq!([queue.take(true), queue.take(true)], [Some(Taken::New(0)), Some(Taken::New(2))]);
        queue.park("two");
        queue.park("zero");
        assert_eq!([queue.take(false), queue.take(true)], [Some(Taken::Parked("two")), Some(Taken::Parked("zero"))]);
        assert_eq!(queue.take(false), None);
        assert_eq!((queue.take(true), queue.begun()), (Some(Taken::New(3)), 3));
    }
}
