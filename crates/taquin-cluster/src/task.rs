//! The tasks that a queue hands out.

use std::fmt;
use std::str::FromStr;

use taquin_bulk::{FolderName, JobId};
use taquin_solver::{Named, named};

/// Class of a task. Workers take the tasks of each class separately.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TaskClass {
    /// Tasks of long jobs.
    Bulk,
    /// Tasks of jobs that take some seconds. Each worker does one quick task at a time beside its bulk tasks, so that a
    /// quick task does not wait for chunks of long jobs.
    Quick,
}

named!(TaskClass { Bulk => "bulk", Quick => "quick" });

/// A unit of work on a job.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Task {
    /// Class of the task. All tasks of a job have the same class.
    pub class: TaskClass,
    /// Id of the job.
    pub job: JobId,
    /// The job's folder. If a job is deleted and created again, the new job has another folder.
    pub folder: FolderName,
    /// The work to do.
    pub work: Work,
}

/// The work of a task.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Work {
    /// Label the boards of the chunk with this number, and store the labels as a part.
    Chunk(u64),
    /// Check all parts, and end the job.
    End,
}

const END: &str = "end";

/// Formats the task as the last tokens of a NATS subject: `CLASS.ID.FOLDER.CHUNK`, or `CLASS.ID.FOLDER.end`.
impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { class, job, folder, work } = self;
        write!(f, "{}.{job}.{folder}.", class.name())?;
        match work {
            Work::Chunk(chunk) => write!(f, "{chunk}"),
            Work::End => f.write_str(END),
        }
    }
}

/// Parses the output of [`Display`](fmt::Display).
impl FromStr for Task {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut tokens = text.split('.');
        let [Some(class), Some(job), Some(folder), Some(work), None] = std::array::from_fn(|_| tokens.next()) else {
            return Err(());
        };
        let work = if work == END { Work::End } else { Work::Chunk(work.parse().map_err(drop)?) };
        let class = TaskClass::from_name(class).ok_or(())?;
        Ok(Self { class, job: job.parse()?, folder: folder.parse()?, work })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_read_as_written() {
        let (job, folder) = ("0".repeat(32).parse().unwrap(), "f".repeat(32).parse().unwrap());
        for work in [Work::Chunk(0), Work::Chunk(u64::MAX), Work::End] {
            for class in [TaskClass::Bulk, TaskClass::Quick] {
                let task = Task { class, job, folder, work };
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
