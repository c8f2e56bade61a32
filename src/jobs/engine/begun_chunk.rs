//! A chunk between its first board and its part, and the memory that it takes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use taquin_solver::BoardCodec;

use crate::jobs::part::Part;
use crate::jobs::spec::{JobBoards, JobSpec};
use crate::jobs::stored_job::{JobError, JobRows, StoredJob};
use crate::service::Want;

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

/// Memory of one begun chunk, until it is dropped.
pub(super) struct ChunkMemory {
    budget: ChunkBudget,
    bytes: u64,
}

/// Memory of all begun chunks, in bytes.
const MAX_BYTES: u64 = 64 << 20;

impl BegunChunk {
    /// Begins a chunk in this memory.
    ///
    /// # Errors
    /// [`JobError`] if its boards cannot be read.
    pub(super) fn new(job: &StoredJob, number: u64, memory: ChunkMemory) -> Result<Self, JobError> {
        let rows = job.boards(job.spec().boards_of(number))?;
        Ok(Self { number, rows, part: Part::new(job.spec().want), failed: 0, since: Instant::now(), _memory: memory })
    }
}

impl ChunkBudget {
    /// A budget of another owner.
    pub(super) fn of_owner(&self) -> Self {
        Self { all: Arc::clone(&self.all), own: Arc::default() }
    }

    /// True if a chunk has memory.
    #[cfg(test)]
    pub(super) fn is_used(&self) -> bool {
        self.all.load(Ordering::Relaxed) > 0
    }

    /// Takes the memory of a chunk of a job, if it may be begun: if there is so much, or the owner has none begun.
    pub(super) fn take(&self, spec: &JobSpec) -> Option<ChunkMemory> {
        let bytes = bytes_of(spec);
        let fitting = |all: u64| Some(all + bytes).filter(|all| *all <= MAX_BYTES);
        // Each is one step, as threads take memory at once.
        if self.all.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fitting).is_ok() {
            self.own.fetch_add(bytes, Ordering::Relaxed);
        } else if self.own.compare_exchange(0, bytes, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            self.all.fetch_add(bytes, Ordering::Relaxed);
        } else {
            return None;
        }
        Some(ChunkMemory { budget: self.clone(), bytes })
    }
}

impl Drop for ChunkMemory {
    fn drop(&mut self) {
        self.budget.all.fetch_sub(self.bytes, Ordering::Relaxed);
        self.budget.own.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Approximate memory of a chunk of a job. Columns that grow have up to twice the memory of their rows.
fn bytes_of(spec: &JobSpec) -> u64 {
    const LABEL: u64 = 16;
    let size = spec.boards.goal().size();
    // Four moves are a byte, and solutions have about half a move for each cell, row and column on average.
    let solution = match spec.want {
        Want::Moves => (size.cells() * (size.rows() + size.cols())) as u64 / 4,
        Want::Length | Want::Bounds | Want::Next | Want::Expanded => 0,
    };
    let board = match &spec.boards {
        JobBoards::Recipe(_) => 0,
        JobBoards::Input(input) => BoardCodec::new(*input.goal()).board_bytes() as u64,
    };
    u64::from(spec.chunk) * (LABEL + solution + board)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::Recipe;
    use crate::service::RequestedLimits;
    use taquin_solver::heuristic::Tier;
    use taquin_solver::{Board, Size};

    /// A job whose chunks take 16 MiB.
    fn spec() -> JobSpec {
        let goal = Board::blank_last(Size::try_from((3, 3)).unwrap());
        let boards = JobBoards::Recipe(Recipe::try_new(goal, "s", 1 << 30).unwrap());
        let limits = RequestedLimits::default();
        JobSpec { boards, want: Want::Length, limits, tables: Tier::Small, chunk: 1 << 20, version: String::new() }
    }

    #[test]
    fn each_owner_may_begin_a_chunk_and_more_while_there_is_memory() {
        let spec = spec();
        let (one, mut held) = (ChunkBudget::default(), Vec::new());
        while let Some(memory) = one.take(&spec) {
            held.push(memory);
        }
        assert_eq!(held.len() as u64, MAX_BYTES / (16 << 20));
        let other = one.of_owner();
        let _first = other.take(&spec).expect("an owner may begin one");
        assert!(other.take(&spec).is_none());
        held.truncate(2);
        assert!(one.take(&spec).is_some() && other.take(&spec).is_some());
    }

    #[test]
    fn solutions_take_memory_too() {
        assert_eq!(bytes_of(&spec()), 16 << 20);
        assert_eq!(bytes_of(&JobSpec { want: Want::Moves, ..spec() }), 29 << 20);
    }

    #[test]
    fn threads_that_take_memory_at_once_do_not_take_more_than_there_is() {
        let spec = spec();
        for _ in 0..200 {
            let budget = ChunkBudget::default();
            let taken: Vec<Option<ChunkMemory>> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| budget.take(&spec))).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert_eq!(taken.into_iter().flatten().count() as u64, MAX_BYTES / (16 << 20));
        }
    }
}
