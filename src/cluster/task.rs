//! What a queue hands out.

use std::fmt;
use std::str::FromStr;

use taquin_solver::{Named, named};

use crate::jobs::{FolderName, JobId};

/// Tasks that are handed out beside those of other lanes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Lane {
    /// Those of jobs that take long.
    Bulk,
    /// Those of jobs of some seconds. Each worker does one of them at a time beside the others, so that they do not
    /// wait for chunks of long jobs.
    Quick,
}

named!(Lane { Bulk => "bulk", Quick => "quick" });

/// One piece of the work on a job.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Task {
    /// That of all tasks of the job.
    pub lane: Lane,
    /// The job.
    pub job: JobId,
    /// The folder with the job's files. A job that was deleted and created again has another one.
    pub folder: FolderName,
    /// What is to be done.
    pub work: Work,
}

/// What is to be done for a job.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Work {
    /// Label the boards of this chunk, and store its part.
    Chunk(u64),
    /// Check all parts, and end the job.
    End,
}

const END: &str = "end";

/// As the last tokens of a subject: `LANE.ID.FOLDER.CHUNK`, or `LANE.ID.FOLDER.end`.
impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lane, job, folder, work } = self;
        write!(f, "{}.{job}.{folder}.", lane.name())?;
        match work {
            Work::Chunk(chunk) => write!(f, "{chunk}"),
            Work::End => f.write_str(END),
        }
    }
}

/// Reads what [`Display`](fmt::Display) writes.
impl FromStr for Task {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut tokens = text.split('.');
        let [Some(lane), Some(job), Some(folder), Some(work), None] = std::array::from_fn(|_| tokens.next()) else {
            return Err(());
        };
        let work = if work == END { Work::End } else { Work::Chunk(work.parse().map_err(drop)?) };
        let lane = Lane::from_name(lane).ok_or(())?;
        Ok(Self { lane, job: job.parse()?, folder: folder.parse()?, work })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_read_as_written() {
        let (job, folder) = ("0".repeat(32).parse().unwrap(), "f".repeat(32).parse().unwrap());
        for work in [Work::Chunk(0), Work::Chunk(u64::MAX), Work::End] {
            for lane in [Lane::Bulk, Lane::Quick] {
                let task = Task { lane, job, folder, work };
                assert_eq!(task.to_string().parse(), Ok(task));
            }
        }
        let (job, folder) = ("0".repeat(32), "f".repeat(32));
        for wrong in ["", "end", "bulk", &format!("{job}.{folder}.1"), &format!("slow.{job}.{folder}.1")] {
            assert_eq!(wrong.parse::<Task>(), Err(()), "{wrong}");
        }
        for wrong in ["", ".", ".-1", ".1.2", ".End"] {
            assert_eq!(format!("bulk.{job}.{folder}{wrong}").parse::<Task>(), Err(()), "{wrong}");
        }
    }
}
