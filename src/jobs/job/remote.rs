//! Jobs whose chunks are made by other processes.

use std::time::{Duration, Instant};

use taquin_bulk::JobError;
use tracing::Level;

use super::{Blocked, ChunkQueue, Job, Phase};
use crate::jobs::view::WaitingFor;

/// Interval of listings of all parts of a job while all parts are known to exist and the job has not ended.
const LIST_PERIOD: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 300 });

impl Job {
    /// Finds out which parts other processes have stored, and whether the job has ended. Returns true if there are new
    /// parts.
    ///
    /// # Errors
    /// [`JobError`] if the files cannot be read.
    pub fn read_progress(&self) -> Result<bool, JobError> {
        self.read_end()?;
        let (from, is_due) = {
            let progress = self.progress.lock();
            match progress.phase {
                Phase::Ended { .. } => return Ok(false),
                Phase::Finalizing => (None, progress.listed.elapsed() >= LIST_PERIOD),
                _ => (progress.chunks.missing().next(), false),
            }
        };
        if is_due {
            self.list_again()?;
        }
        let stored = match from {
            Some(from) => self.stored.stored_from(from)?,
            None => Vec::new(),
        };
        Ok(self.note_stored(&stored))
    }

    /// Lists all parts of a job that waits for its end. If a part is missing, the job runs again until the part is made
    /// again.
    fn list_again(&self) -> Result<(), JobError> {
        let is_done = self.stored.done()?;
        let mut progress = self.progress.lock();
        progress.listed = Instant::now();
        if !matches!(progress.phase, Phase::Finalizing) || !is_done.contains(&false) {
            return Ok(());
        }
        let message = "a part was removed, and is made again";
        tracing::event!(target: "taquin::jobs", Level::WARN, message, job.id = %self.id);
        progress.chunks = ChunkQueue::new(&is_done);
        progress.counts.stored_parts = progress.chunks.done();
        progress.counts.done = self.stored.spec().boards_in(&is_done);
        progress.samples.clear();
        progress.phase = Phase::Open;
        self.has_changed();
        Ok(())
    }

    fn note_stored(&self, stored: &[u64]) -> bool {
        let mut progress = self.progress.lock();
        let spec = self.stored.spec();
        let new = stored.iter().filter(|chunk| progress.chunks.note_done(**chunk));
        let boards: u64 = new.map(|chunk| spec.boards_of(*chunk)).map(|boards| boards.end - boards.start).sum();
        if boards > 0 {
            progress.count_done(boards);
            progress.touched = Instant::now();
        }
        let is_finalizing = matches!(progress.phase, Phase::Open) && progress.chunks.is_finished();
        if is_finalizing {
            progress.phase = Phase::Finalizing;
        }
        if boards > 0 || is_finalizing {
            self.has_changed();
        }
        boards > 0
    }

    /// Calls `visit` with the number of each chunk whose part is missing, in ascending order, until `visit` returns
    /// false.
    pub fn missing_chunks(&self, mut visit: impl FnMut(u64) -> bool) {
        self.progress.lock().chunks.missing().take_while(|chunk| visit(*chunk)).for_each(drop);
    }

    /// Records the number of the job's tasks in the queue, whether the queue has a worker, and the present obstacle. If
    /// `obstacle` is `None`, the job is no longer blocked.
    pub fn note_tasks(&self, tasks: usize, has_worker: bool, obstacle: Option<WaitingFor>) {
        let mut progress = self.progress.lock();
        let before = progress.blocked.map(|blocked| blocked.by);
        progress.slices = tasks;
        progress.blocked = obstacle.map(|by| Blocked { by, until: None });
        let begins = tasks > 0 && has_worker && progress.samples.is_empty();
        if begins {
            let sample = (Instant::now(), progress.counts.done);
            progress.samples.push_back(sample);
            progress.touched = sample.0;
        }
        if begins || before != obstacle {
            self.has_changed();
        }
    }

    /// Records the present obstacle, unless the job has ended.
    pub fn note_obstacle(&self, by: WaitingFor) {
        let mut progress = self.progress.lock();
        if matches!(progress.phase, Phase::Ended { .. }) || progress.blocked.is_some_and(|blocked| blocked.by == by) {
            return;
        }
        progress.blocked = Some(Blocked { by, until: None });
        self.has_changed();
    }
}
