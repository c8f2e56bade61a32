//! What a queue hands out.

use std::fmt;
use std::str::FromStr;

use crate::jobs::{FolderName, JobId};

/// One piece of the work on a job.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Task {
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

/// As the last tokens of a subject: `ID.FOLDER.CHUNK`, or `ID.FOLDER.end`.
impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { job, folder, work } = self;
        match work {
            Work::Chunk(chunk) => write!(f, "{job}.{folder}.{chunk}"),
            Work::End => write!(f, "{job}.{folder}.{END}"),
        }
    }
}

/// Reads what [`Display`](fmt::Display) writes.
impl FromStr for Task {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut tokens = text.split('.');
        let [Some(job), Some(folder), Some(work), None] = std::array::from_fn(|_| tokens.next()) else {
            return Err(());
        };
        let work = if work == END { Work::End } else { Work::Chunk(work.parse().map_err(drop)?) };
        Ok(Self { job: job.parse()?, folder: folder.parse()?, work })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_read_as_written() {
        let (job, folder) = ("0".repeat(32).parse().unwrap(), "f".repeat(32).parse().unwrap());
        for work in [Work::Chunk(0), Work::Chunk(u64::MAX), Work::End] {
            let task = Task { job, folder, work };
            assert_eq!(task.to_string().parse(), Ok(task));
        }
        let (id, text) = ("0".repeat(32), "1".repeat(32));
        for wrong in ["", "end", &format!("{id}.{text}"), &format!("{id}.{text}.-1"), &format!("{id}.{text}.1.2")] {
            assert_eq!(wrong.parse::<Task>(), Err(()), "{wrong}");
        }
    }
}
