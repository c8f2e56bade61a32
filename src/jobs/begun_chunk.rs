//! A begun chunk, and the memory that it reserves.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use taquin_bulk::{JobBoards, JobError, JobRows, JobSpec, Part, StoredJob, Want};
use taquin_solver::BoardCodec;

/// A begun chunk. The part of the chunk is not stored yet.
pub(crate) struct BegunChunk {
    pub(crate) number: u64,
    /// Rows that are not labelled yet. An invalid row is `None`.
    pub(crate) rows: JobRows,
    pub(crate) part: Part,
    /// Number of failed and invalid rows in `part`.
    pub(crate) failed: u64,
    pub(crate) since: Instant,
    _memory: ChunkMemory,
}

/// Memory that is reserved for begun chunks, in bytes: `all` for the chunks of all owners, and `own` for the chunks of
/// one owner.
#[derive(Clone, Debug, Default)]
pub(crate) struct ChunkBudget {
    all: Arc<AtomicU64>,
    own: Arc<AtomicU64>,
}

/// Memory that is reserved for one begun chunk. Dropping the `ChunkMemory` releases the memory.
pub(crate) struct ChunkMemory {
    budget: ChunkBudget,
    bytes: u64,
}

/// Limit of the memory that is reserved for all begun chunks, in bytes. An owner without a begun chunk may exceed the
/// limit.
const MAX_BYTES: u64 = 64 << 20;

impl BegunChunk {
    /// Begins a chunk. Fails if the boards of the chunk cannot be read.
    pub(crate) fn new(job: &StoredJob, number: u64, memory: ChunkMemory) -> Result<Self, JobError> {
        let rows = job.boards(job.spec().boards_of(number))?;
        Ok(Self { number, rows, part: Part::new(job.spec().want), failed: 0, since: Instant::now(), _memory: memory })
    }
}

impl ChunkBudget {
    /// Creates the budget of another owner. All budgets share the count `all`.
    pub(crate) fn of_owner(&self) -> Self {
        Self { all: Arc::clone(&self.all), own: Arc::default() }
    }

    #[cfg(test)]
    pub(crate) fn is_used(&self) -> bool {
        self.all.load(Ordering::Relaxed) > 0
    }

    /// Reserves the memory of one chunk of a job. Returns `None` if too little memory is free and the owner already has
    /// a begun chunk.
    pub(crate) fn take(&self, spec: &JobSpec) -> Option<ChunkMemory> {
        let bytes = bytes_of(spec);
        let fitting = |all: u64| Some(all + bytes).filter(|all| *all <= MAX_BYTES);
        // Each check also reserves the memory in one atomic operation, since several threads call this function
        // concurrently.
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

/// Estimates the memory of one chunk of a job, in bytes. The estimate includes the free capacity of growing columns: a
/// column may take twice the memory of its rows.
fn bytes_of(spec: &JobSpec) -> u64 {
    const LABEL: u64 = 16;
    let size = spec.boards.goal().size();
    // A solution has about cells * (rows + columns) / 2 moves, and a byte holds four moves. The estimate is doubled,
    // since the column may take twice the memory of its rows.
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
    use taquin_bulk::{Recipe, RequestedLimits};
    use taquin_solver::heuristic::Tier;
    use taquin_solver::{Board, Size};

    /// A specification whose chunks take 16 MiB each.
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
