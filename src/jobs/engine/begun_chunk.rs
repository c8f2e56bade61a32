//! A chunk between its first board and its part, and the memory that it takes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::domain::BoardCodec;
use crate::jobs::part::Part;
use crate::jobs::spec::{JobBoards, JobSpec};
use crate::jobs::stored_job::{JobError, JobRows, StoredJob};

/// A chunk that was begun.
pub(super) struct BegunChunk {
    pub(super) number: u64,
    /// Boards that have no label yet.
    pub(super) rows: JobRows,
    pub(super) part: Part,
    /// Rows of the part without a label.
    pub(super) failed: u64,
    pub(super) since: Instant,
    _memory: ChunkMemory,
}

/// Memory of begun chunks: of all, and of those of one owner.
#[derive(Clone, Debug, Default)]
pub(super) struct ChunkBudget {
    all: Arc<AtomicU64>,
    own: Arc<AtomicU64>,
}

/// Memory of one begun chunk.
struct ChunkMemory {
    budget: ChunkBudget,
    bytes: u64,
}

/// Memory of all begun chunks, in bytes.
const MAX_BYTES: u64 = 64 << 20;

impl BegunChunk {
    /// Begins a chunk.
    ///
    /// # Errors
    /// [`JobError`] if its boards cannot be read.
    pub(super) fn new(job: &StoredJob, number: u64, budget: &ChunkBudget) -> Result<Self, JobError> {
        let _memory = budget.take(bytes_of(job.spec()));
        let rows = job.boards(job.spec().boards_of(number))?;
        Ok(Self { number, rows, part: Part::new(job.spec().want), failed: 0, since: Instant::now(), _memory })
    }
}

impl ChunkBudget {
    /// A budget of another owner.
    pub(super) fn of_owner(&self) -> Self {
        Self { all: Arc::clone(&self.all), own: Arc::default() }
    }

    /// True if a chunk of a job may be begun: if there is memory, or the owner has none begun.
    pub(super) fn has_room(&self, spec: &JobSpec) -> bool {
        let fits = self.all.load(Ordering::Relaxed) + bytes_of(spec) <= MAX_BYTES;
        fits || self.own.load(Ordering::Relaxed) == 0
    }

    fn take(&self, bytes: u64) -> ChunkMemory {
        self.all.fetch_add(bytes, Ordering::Relaxed);
        self.own.fetch_add(bytes, Ordering::Relaxed);
        ChunkMemory { budget: self.clone(), bytes }
    }
}

impl Drop for ChunkMemory {
    fn drop(&mut self) {
        self.budget.all.fetch_sub(self.bytes, Ordering::Relaxed);
        self.budget.own.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Approximate memory of a chunk of a job.
fn bytes_of(spec: &JobSpec) -> u64 {
    const LABEL: u64 = 16;
    let board = match &spec.boards {
        JobBoards::Recipe(_) => 0,
        JobBoards::Input(input) => BoardCodec::new(*input.goal()).board_bytes() as u64,
    };
    u64::from(spec.chunk) * (LABEL + board)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Board, Size};
    use crate::jobs::Recipe;
    use crate::service::{RequestedLimits, Tier, Want};

    #[test]
    fn each_owner_may_begin_a_chunk_and_more_while_there_is_memory() {
        let goal = Board::blank_last(Size::try_from((3, 3)).unwrap());
        let boards = JobBoards::Recipe(Recipe::try_new(goal, "s", 1 << 30).unwrap());
        let limits = RequestedLimits::default();
        let spec =
            JobSpec { boards, want: Want::Length, limits, tables: Tier::Small, chunk: 1 << 20, version: String::new() };
        let (one, mut held) = (ChunkBudget::default(), Vec::new());
        while one.has_room(&spec) {
            held.push(one.take(bytes_of(&spec)));
        }
        assert_eq!(held.len() as u64, MAX_BYTES / (16 << 20));
        let other = one.of_owner();
        assert!(other.has_room(&spec));
        let _first = other.take(bytes_of(&spec));
        assert!(!other.has_room(&spec));
        held.truncate(2);
        assert!(one.has_room(&spec) && other.has_room(&spec));
    }
}
