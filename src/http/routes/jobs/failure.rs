//! Problems of rejected jobs and of unusable files.

use taquin_bulk::JobError;

use crate::http::problem::{Problem, ProblemKind};
use crate::http::reply::service_failure;
use crate::jobs::{CreateError, Job};

/// `Retry-After` of a failed store, in seconds.
const STORE_RETRY: u64 = 5;

/// The problem of a rejected job.
pub(super) fn of_create(error: &CreateError) -> Problem {
    match error {
        CreateError::TooMany(unfinished) => {
            let detail = format!(
                "You have {unfinished} unfinished jobs, with those that are being made: the maximum of this server. Wait \
                 for one, or cancel one with `DELETE`; `GET /jobs` lists them."
            );
            Problem::new(ProblemKind::TooManyJobs, detail)
        }
        CreateError::TooLate(most) => {
            let detail = format!(
                "The upload took longer than {} minutes. Send the boards in several jobs, or over a faster connection.",
                most.as_secs() / 60
            );
            Problem::new(ProblemKind::RequestTimeout, detail)
        }
        CreateError::OtherJob(_) => {
            let detail = "There is a job with this `Idempotency-Key` that has other boards, another goal, another `want` or other \
                          limits. Choose a new key.";
            Problem::new(ProblemKind::IdempotencyKeyReused, detail)
        }
        CreateError::TooManyChunks => {
            let detail = "The boards are too many for one job, since each of them takes long to solve. Create several jobs, or use \
                          the command `taquin batch` with a larger `--chunk`.";
            Problem::new(ProblemKind::ContentTooLarge, detail)
        }
        CreateError::Service(error) => service_failure(error),
        CreateError::Store(error) => of_store(error),
    }
}

/// The problem of files that cannot be read or written.
pub(super) fn of_store(error: &JobError) -> Problem {
    if error.is_disk_full() {
        let detail =
            "The disk of the jobs is full. Delete jobs that are no longer needed, or ask the operator for room.";
        return Problem::new(ProblemKind::StorageFull, detail);
    }
    if error.is_temporary() {
        tracing::warn!(target: "taquin::jobs", %error, "the store of jobs cannot be used now");
        let detail = "The store of the jobs cannot be used now. Retry after the number of seconds in `Retry-After`.";
        return Problem::new(ProblemKind::Overloaded, detail).with_retry_after(STORE_RETRY);
    }
    tracing::error!(target: "taquin::jobs", %error, "files of jobs cannot be used");
    Problem::internal()
}

/// The problem of a job whose files are damaged.
pub(super) fn of_damage(job: &Job, error: &JobError) -> Problem {
    let reason = error.for_clients(job.stored().files());
    Problem::new(ProblemKind::NotFound, format!("The files of the job are damaged, and it has failed: {reason}."))
}

/// The problem of a job that could not be cancelled.
pub(super) fn of_cancel(error: &JobError) -> Problem {
    if error.is_disk_full() {
        let detail = "The disk of the jobs is full, so that the end of the job cannot be stored. The job is as it was. Delete a \
                      job that has ended, which needs no room, or ask the operator for room, and send the request again.";
        return Problem::new(ProblemKind::StorageFull, detail);
    }
    of_store(error)
}

/// The problem of a job that exceeds a limit.
pub(super) fn too_large(what: &str) -> Problem {
    let detail = format!("{what}. Create several jobs, or use the command `taquin batch`, which has no limit.");
    Problem::new(ProblemKind::ContentTooLarge, detail)
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn what_to_do_about_a_full_disk_depends_on_the_request() {
        let full = JobError::File { path: "jobs".into(), source: io::ErrorKind::StorageFull.into() };
        let (created, cancelled) = (of_store(&full), of_cancel(&full));
        assert_eq!((created.kind, cancelled.kind), (ProblemKind::StorageFull, ProblemKind::StorageFull));
        assert!(created.detail.contains("no longer needed"), "{}", created.detail);
        assert!(cancelled.detail.contains("a job that has ended"), "{}", cancelled.detail);
    }
}
