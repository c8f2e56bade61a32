//! Settings of jobs.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::parse::{DAY, KIB, SettingsParser};
use crate::jobs::JobSettings;

#[derive(Args, Clone, Debug)]
pub(crate) struct JobsFlags {
    /// Where the jobs are that /jobs creates: a directory, or s3://BUCKET/PREFIX or gs://BUCKET/PREFIX with --nats;
    /// /jobs is off if not set
    ///
    /// Without --nats, this process runs the jobs itself, and no other process may use the directory. Unfinished jobs
    /// continue when the service starts again. Unless the service listens on a loopback address, tokens are required
    /// (--token-file). The credentials of a bucket are read from the variables of its vendor, such as
    /// AWS_ACCESS_KEY_ID. `taquin worker` needs the same place as the services, and --nats.
    #[arg(long, env = "TAQUIN_JOBS", value_name = "DIRECTORY|URL", global = true)]
    jobs: Option<String>,

    /// NATS servers with JetStream, separated by commas, such as nats://nats:4222: several replicas share the jobs, and
    /// `taquin worker` runs them; none if empty
    ///
    /// Each installation needs a NATS account or server of its own.
    #[arg(long, env = "TAQUIN_NATS", value_name = "LIST", global = true)]
    nats: Option<String>,

    /// File with the credentials for NATS (.creds); none if empty
    #[arg(long, env = "TAQUIN_NATS_CREDENTIALS", value_name = "FILE", global = true)]
    nats_credentials: Option<String>,

    /// Number of NATS servers that store each task [range: 1 to 5]
    #[arg(long, env = "TAQUIN_NATS_REPLICAS", default_value = "1", value_name = "N", global = true)]
    nats_replicas: String,

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

/// Minimum time for which an ended job is kept.
const SECOND: Duration = Duration::from_secs(1);

/// Valid settings of jobs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobsConfig {
    /// Place of the jobs, and the processes that run them.
    pub place: JobsPlace,
    /// Limits of the engine.
    pub settings: JobSettings,
}

/// The place of jobs, and the processes that run them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum JobsPlace {
    /// A directory. This process runs the jobs.
    Own(PathBuf),
    /// A directory or a bucket shared by several processes. Workers run the jobs.
    Shared {
        /// The path, or the URL.
        store: String,
        /// The queue of chunks.
        queue: QueueConfig,
    },
}

/// Valid settings of the queue. `Debug` omits the servers: URLs may contain passwords.
#[derive(Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the flags document them")]
pub struct QueueConfig {
    pub servers: Vec<String>,
    pub credentials: Option<PathBuf>,
    pub replicas: usize,
}

impl fmt::Debug for QueueConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueueConfig").field("replicas", &self.replicas).finish_non_exhaustive()
    }
}

/// The part of the process in jobs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum JobsRole {
    /// Serves `/jobs`, if configured.
    Serve,
    /// Makes chunks.
    Work,
    /// None.
    Ignore,
}

impl JobsFlags {
    /// Parses the settings; `None` without a place.
    pub(crate) fn parse(&self, role: JobsRole, parser: &mut SettingsParser) -> Option<JobsConfig> {
        let settings = JobSettings {
            keep: parser.duration_within("jobs-keep", &self.jobs_keep, SECOND..=3650 * DAY, "3650d"),
            max_unfinished: parser.number("max-jobs", &self.max_jobs, 1..=100_000),
            max_boards: parser.number("max-job-boards", &self.max_job_boards, 1..=1_000_000_000_000),
            max_body: parser.size("max-job-body", &self.max_job_body, KIB..=1 << 40) as usize,
        };
        let queue = self.queue(parser);
        if role == JobsRole::Ignore {
            return None;
        }
        let place = self.place(role, queue, parser)?;
        Some(JobsConfig { place, settings })
    }

    fn queue(&self, parser: &mut SettingsParser) -> Option<QueueConfig> {
        let replicas = parser.number("nats-replicas", &self.nats_replicas, 1..=5);
        let credentials = self.nats_credentials.as_deref().filter(|path| !path.is_empty()).map(PathBuf::from);
        let nats = self.nats.as_deref().filter(|list| !list.is_empty())?;
        let servers: Vec<String> = nats.split(',').map(|server| server.trim().to_owned()).collect();
        // The errors do not quote the URLs, which may contain passwords.
        let is_url = |server: &String| ["nats://", "tls://"].iter().any(|scheme| server.starts_with(scheme));
        if !servers.iter().all(is_url) {
            parser.report("nats", "is not a list of URLs such as nats://nats:4222 or tls://nats:4222".to_owned());
        }
        Some(QueueConfig { servers, credentials, replicas })
    }

    fn place(&self, role: JobsRole, queue: Option<QueueConfig>, parser: &mut SettingsParser) -> Option<JobsPlace> {
        let mut report = |flag, reason: &str| parser.report(flag, reason.to_owned());
        let store = self.jobs.as_deref().filter(|store| !store.is_empty());
        if role == JobsRole::Work && queue.is_none() {
            report("nats", "is missing: name the servers that hand out the chunks");
        }
        if queue.is_some() && !cfg!(feature = "cluster") {
            report("nats", "needs a build with the feature `cluster`, as the container image is");
        }
        if let Some(fault) = store.and_then(fault_of_place) {
            report("jobs", fault);
            return None;
        }
        match (store, queue) {
            (None, None) if role == JobsRole::Serve => None,
            (None, _) => {
                report("jobs", "is missing: name the directory or the bucket of the jobs");
                None
            }
            (Some(store), Some(queue)) => Some(JobsPlace::Shared { store: store.to_owned(), queue }),
            (Some(_), None) if role == JobsRole::Work => None,
            (Some(store), None) if store.contains("://") && !store.starts_with("file://") => {
                report("jobs", "needs --nats: without it, jobs are in a directory of this process alone");
                None
            }
            (Some(path), None) => Some(JobsPlace::Own(path.strip_prefix("file://").unwrap_or(path).into())),
        }
    }
}

/// The fault of a path or URL of a place for jobs.
fn fault_of_place(place: &str) -> Option<&'static str> {
    let scheme = ["s3", "gs", "file"]
        .into_iter()
        .find(|scheme| place.strip_prefix(scheme).is_some_and(|rest| rest.starts_with(':')));
    let Some(scheme) = scheme else {
        let unknown = "is not a path or a URL that begins with s3://, gs:// or file://";
        return place.contains("://").then_some(unknown);
    };
    match place[scheme.len()..].strip_prefix("://") {
        None => Some("is not a URL: two slashes are missing after the colon, as in s3://BUCKET/PREFIX"),
        Some(rest) if scheme == "file" => (!rest.starts_with('/')).then_some("is not file:// and an absolute path"),
        Some(rest) => rest.split('/').next().is_none_or(str::is_empty).then_some("names no bucket after the ://"),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::config::{Config, Flags};

    fn parsed(flags: &[&str]) -> Result<Option<JobsPlace>, Vec<String>> {
        let config = Config::try_from(&Flags::parse_from([&["taquin"], flags].concat()));
        let config = config.map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>())?;
        Ok(config.jobs.map(|jobs| jobs.place))
    }

    fn error_of(flags: &[&str]) -> String {
        let errors = parsed(flags).unwrap_err();
        assert_eq!(errors.len(), 1, "{errors:?}");
        errors[0].clone()
    }

    #[test]
    fn a_directory_is_that_of_this_process_without_a_queue() {
        let own = |path: &str| Ok(Some(JobsPlace::Own(path.into())));
        assert_eq!(parsed(&[]), Ok(None));
        assert_eq!(parsed(&["--jobs="]), Ok(None));
        assert_eq!(parsed(&["--jobs=/d"]), own("/d"));
        assert_eq!(parsed(&["--jobs=file:///d"]), own("/d"));
        assert_eq!(parsed(&["healthcheck", "--jobs=/d"]), Ok(None));
        assert!(error_of(&["--jobs=s3://bucket/jobs"]).contains("needs --nats"));
        assert!(error_of(&["worker", "--jobs=/d"]).starts_with("--nats (TAQUIN_NATS): is missing"));
        let errors = parsed(&["worker"]).unwrap_err();
        assert_eq!(errors.len(), 2, "both are reported: {errors:?}");
        for (place, fault) in [
            ("s3:bucket/p", "two slashes"),
            ("s3:/bucket", "two slashes"),
            ("s3://", "names no bucket"),
            ("gs:///prefix", "names no bucket"),
            ("file://host/d", "absolute path"),
            ("http://bucket", "begins with s3://"),
        ] {
            let error = error_of(&[&format!("--jobs={place}")]);
            assert!(error.starts_with("--jobs") && error.contains(fault), "{place}: {error}");
        }
        assert_eq!(parsed(&["--jobs=s3"]), own("s3"));
    }

    #[test]
    fn a_queue_needs_a_build_for_it() {
        if !cfg!(feature = "cluster") {
            assert!(error_of(&["--jobs=/d", "--nats=nats://a"]).contains("needs a build"));
            let errors = parsed(&["--jobs=s3:bucket", "--nats=nats://a"]).unwrap_err();
            assert_eq!(errors.len(), 2, "both are reported: {errors:?}");
        }
    }

    #[test]
    #[cfg(feature = "cluster")]
    fn several_processes_share_a_place_with_a_queue() {
        let flags = ["--nats=nats://a:4222, tls://u:secret@b", "--nats-credentials=/c", "--nats-replicas=3"];
        for store in ["/d", "file:///d", "s3://bucket", "gs://bucket/some/prefix"] {
            for command in [&[][..], &["worker"]] {
                let jobs = format!("--jobs={store}");
                let place = parsed(&[command, &[jobs.as_str()], &flags].concat()).unwrap().unwrap();
                assert!(!format!("{place:?}").contains("secret"));
                let JobsPlace::Shared { store: parsed, queue } = place else { panic!("{place:?}") };
                assert_eq!((parsed.as_str(), queue.replicas), (store, 3));
                assert_eq!(queue.servers, ["nats://a:4222", "tls://u:secret@b"]);
                assert_eq!(queue.credentials, Some(PathBuf::from("/c")));
            }
        }
        assert!(error_of(&["--jobs=http://bucket", "--nats=nats://a"]).starts_with("--jobs"));
        assert!(error_of(&["--nats=nats://a"]).starts_with("--jobs (TAQUIN_JOBS): is missing"));
        let error = error_of(&["--jobs=/d", "--nats=nats://a,secret"]);
        assert!(error.starts_with("--nats") && !error.contains("secret"));
        assert!(error_of(&["--jobs=/d", "--nats=nats://a", "--nats-replicas=6"]).starts_with("--nats-replicas"));
    }
}
