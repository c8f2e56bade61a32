//! Reads the progress of several jobs concurrently, since each read sends some requests to the store.

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use taquin_bulk::{JobError, map_in_order};

use crate::jobs::job::Job;

/// Maximum number of concurrent reads.
const CONCURRENT_READS: usize = 16;

/// Time since the start of the first read after which no further read begins if the store has failed.
const READ_TIME: Duration = Duration::from_millis(if cfg!(test) { 200 } else { 5000 });

/// Reads the progress of these jobs. The result of a job is true if the job has new parts. If the store fails, the jobs
/// whose reads have not begun within [`READ_TIME`] get an error.
pub(crate) fn read_jobs<'j>(jobs: &[&'j Arc<Job>]) -> Vec<(&'j Arc<Job>, Result<bool, JobError>)> {
    read_each(jobs, |job| job.read_progress(), |job| job.stored().file_error("", ErrorKind::TimedOut.into()))
}

fn read_each<J: Copy + Send + Sync>(
    jobs: &[J],
    read: impl Fn(J) -> Result<bool, JobError> + Sync,
    given_up: impl Fn(J) -> JobError + Sync,
) -> Vec<(J, Result<bool, JobError>)> {
    let (begun, has_failed) = (Instant::now(), AtomicBool::new(false));
    let read = |job: J| {
        if has_failed.load(Ordering::Relaxed) && begun.elapsed() > READ_TIME {
            return (job, Err(given_up(job)));
        }
        let read = read(job);
        if read.as_ref().is_err_and(JobError::is_temporary) {
            has_failed.store(true, Ordering::Relaxed);
        }
        (job, read)
    };
    let threads = CONCURRENT_READS.min(jobs.len());
    if threads <= 1 {
        return jobs.iter().copied().map(read).collect();
    }
    let mut all = Vec::with_capacity(jobs.len());
    let collect = |read| {
        all.push(read);
        Ok::<_, io::Error>(())
    };
    let _ = map_in_order(threads, jobs.iter().copied(), read, collect);
    all
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    fn error() -> JobError {
        JobError::File { path: "store".into(), source: ErrorKind::TimedOut.into() }
    }

    #[test]
    fn jobs_are_read_at_once() {
        let slow = |_: usize| {
            std::thread::sleep(Duration::from_millis(100));
            Ok(true)
        };
        let (jobs, begun): (Vec<usize>, _) = ((0..64).collect(), Instant::now());
        let read = read_each(&jobs, slow, |_| error());
        assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
        assert_eq!(read.iter().map(|(job, _)| *job).collect::<Vec<_>>(), jobs);
        assert!(read.iter().all(|(_, read)| matches!(read, Ok(true))));
    }

    #[test]
    fn a_store_that_hangs_is_given_up() {
        let reads = AtomicUsize::new(0);
        let hanging = |_: usize| {
            reads.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(READ_TIME);
            Err(error())
        };
        let jobs: Vec<usize> = (0..1000).collect();
        let read = read_each(&jobs, hanging, |_| error());
        assert!(reads.into_inner() <= CONCURRENT_READS, "a thread began a second read");
        assert!(read.len() == jobs.len() && read.iter().all(|(_, read)| read.is_err()));
    }
}
