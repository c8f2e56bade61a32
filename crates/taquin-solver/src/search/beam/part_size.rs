//! Size of the parts of a level.

/// Number of boards that one thread expands at a time; a power of two, small on small levels.
#[derive(Clone, Copy)]
pub(super) struct PartSize {
    bits: u32,
}

impl PartSize {
    /// Large enough to be worth distributing, and small enough that no thread waits long for the last part.
    const BITS: std::ops::RangeInclusive<u32> = 6..=8;

    /// For a level of at most this many boards.
    pub(super) fn of(count: usize) -> Self {
        Self { bits: (count / 32).max(1).ilog2().clamp(*Self::BITS.start(), *Self::BITS.end()) }
    }

    pub(super) fn boards(self) -> usize {
        1 << self.bits
    }

    /// The part of a board, and its index in that part.
    pub(super) fn locate(self, nth: usize) -> (usize, usize) {
        (nth >> self.bits, nth & (self.boards() - 1))
    }
}
