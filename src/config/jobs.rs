//! Settings of jobs.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::parse::{DAY, KIB, SettingsParser};

#[derive(Args, Clone, Debug)]
pub(crate) struct JobsFlags {
    /// Directory of the jobs that /jobs creates, which no other process may use; /jobs is off if not set
    ///
    /// Unfinished jobs go on when the service starts again. Unless the service listens on a loopback address, tokens are
    /// required (--token-file).
    #[arg(long, env = "TAQUIN_JOBS", value_name = "DIRECTORY")]
    jobs: Option<String>,

    /// Time after which a job that has ended is deleted [range: 1s to 3650d]
    #[arg(long, env = "TAQUIN_JOBS_KEEP", default_value = "7d", value_name = "DURATION")]
    jobs_keep: String,

    /// Maximum number of unfinished jobs of a token [range: 1 to 100000]
    #[arg(long, env = "TAQUIN_MAX_JOBS", default_value = "8", value_name = "N")]
    max_jobs: String,

    /// Maximum number of boards of a job [range: 1 to 1000000000000]
    #[arg(long, env = "TAQUIN_MAX_JOB_BOARDS", default_value = "1000000000", value_name = "N")]
    max_job_boards: String,

    /// Maximum size of the body of a request to /jobs that has the boards [range: 1KiB to 1024GiB]
    #[arg(long, env = "TAQUIN_MAX_JOB_BODY", default_value = "256MiB", value_name = "SIZE")]
    max_job_body: String,
}

/// Least time for which an ended job is kept.
const SECOND: Duration = Duration::from_secs(1);

/// Valid settings of jobs.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the flags document them")]
pub struct JobsConfig {
    pub directory: PathBuf,
    pub keep: Duration,
    pub max_unfinished: usize,
    pub max_boards: u64,
    pub max_body: usize,
}

impl JobsFlags {
    /// Parses the settings; `None` without a directory.
    pub(crate) fn parse(&self, parser: &mut SettingsParser) -> Option<JobsConfig> {
        let keep = parser.duration_within("jobs-keep", &self.jobs_keep, SECOND..=3650 * DAY, "3650d");
        let max_unfinished = parser.number("max-jobs", &self.max_jobs, 1..=100_000);
        let max_boards = parser.number("max-job-boards", &self.max_job_boards, 1..=1_000_000_000_000);
        let max_body = parser.size("max-job-body", &self.max_job_body, KIB..=1 << 40) as usize;
        let directory = self.jobs.as_deref().filter(|path| !path.is_empty()).map(PathBuf::from)?;
        Some(JobsConfig { directory, keep, max_unfinished, max_boards, max_body })
    }
}
