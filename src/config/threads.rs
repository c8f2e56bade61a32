//! The number of threads that the system allows, and its division.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

/// The division of threads between connections and searches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThreadPlan {
    /// The limit that leaves fewest threads, if there is any.
    pub limit: Option<ThreadLimit>,
    /// Threads of the runtime, which serve connections.
    pub connections: usize,
    /// Maximum number of threads that run searches, or hold paused ones.
    pub searches: usize,
    /// Maximum number of threads of bulk work, each with a worker or waiting for one.
    pub bulk: usize,
}

/// A limit on threads, and the threads that it leaves to this process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThreadLimit {
    /// Source of the limit.
    pub source: LimitSource,
    /// Maximum number of threads, of this process and others.
    pub limit: u64,
    /// Threads that may still be created.
    pub free: u64,
}

/// Source of a limit on threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LimitSource {
    /// A control group, such as a container's.
    ControlGroup,
    /// The resource limit of the user.
    User,
}

/// Threads besides connections and searches: the log, the builders of tables, the export of traces, and a health check
/// in the same container.
const OTHERS: u64 = 12;
/// Maximum number of paused searches.
const PAUSED: usize = 240;

impl ThreadPlan {
    /// Divides the threads that the system allows.
    pub(crate) fn new(cores: usize, workers: usize, bulk_workers: usize) -> Self {
        Self::within(most_restrictive(), cores, workers, bulk_workers)
    }

    /// Divides the threads that a limit leaves. Connections and helpers of searches get at most a quarter each, and
    /// bulk work an eighth.
    fn within(limit: Option<ThreadLimit>, cores: usize, workers: usize, bulk_workers: usize) -> Self {
        let free = limit.map_or(u64::MAX, |limit| limit.free).saturating_sub(OTHERS);
        let free = usize::try_from(free).unwrap_or(usize::MAX);
        let connections = cores.min(free / 4).max(1);
        let helpers = (workers - 1).min(free / 4);
        let bulk = bulk_workers.min((free / 8).max(1));
        let searches = free.saturating_sub(connections + helpers + bulk).clamp(1, workers + PAUSED);
        let is_limiting = connections < cores || searches < workers + PAUSED || bulk < bulk_workers;
        Self { limit: limit.filter(|_| is_limiting), connections, searches, bulk }
    }
}

impl LimitSource {
    /// The name used in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::ControlGroup => "control group",
            Self::User => "user",
        }
    }
}

impl fmt::Display for ThreadPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limit, connections, searches, bulk } = self;
        write!(f, "threads: at most {connections} for connections, {searches} for searches and {bulk} for bulk work")?;
        match limit {
            None => Ok(()),
            Some(limit) => write!(f, ", because {limit}"),
        }
    }
}

impl fmt::Display for ThreadLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, limit, free } = self;
        write!(f, "the {} may have {limit} threads, and {free} are left", source.name())
    }
}

/// The limit that leaves the fewest threads.
fn most_restrictive() -> Option<ThreadLimit> {
    control_groups("pids").into_iter().filter_map(group_limit).chain(user_limit()).min_by_key(|limit| limit.free)
}

/// The limit of a control group. A group without a limit has `max` instead of a number.
fn group_limit(group: PathBuf) -> Option<ThreadLimit> {
    let number = |file| fs::read_to_string(group.join(file)).ok()?.trim().parse::<u64>().ok();
    let (limit, used) = (number("pids.max")?, number("pids.current")?);
    Some(ThreadLimit { source: LimitSource::ControlGroup, limit, free: limit.saturating_sub(used) })
}

/// Directories of the process's control groups for a controller, and of their ancestors.
pub(crate) fn control_groups(controller: &str) -> Vec<PathBuf> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let groups = groups.lines().filter_map(|line| group_of(line, controller));
    groups.flat_map(|(root, group)| with_ancestors(&root, &group)).collect()
}

/// Root and group of a line of `/proc/self/cgroup`. Version 2 has one group for all controllers, version 1 one for
/// each.
fn group_of(line: &str, controller: &str) -> Option<(PathBuf, PathBuf)> {
    let mut fields = line.splitn(3, ':');
    let (number, controllers, group) = (fields.next()?, fields.next()?, fields.next()?);
    let is_version_2 = number == "0" && controllers.is_empty();
    let is_version_1 = || controllers.split(',').any(|other| other == controller);
    let root = Path::new("/sys/fs/cgroup").join(if is_version_2 { "" } else { controller });
    (is_version_2 || is_version_1()).then(|| (root, group.trim_start_matches('/').into()))
}

/// A group and its ancestors. Inside a container the group's path may not exist; then the root is the container's
/// group.
fn with_ancestors(root: &Path, group: &Path) -> Vec<PathBuf> {
    group.ancestors().map(|group| root.join(group)).collect()
}

/// `RLIMIT_NPROC`, which counts the threads of all the user's processes. It does not apply to root.
#[cfg(target_os = "linux")]
fn user_limit() -> Option<ThreadLimit> {
    use procfs::process::{Process, all_processes};
    /// `CAP_SYS_ADMIN` and `CAP_SYS_RESOURCE`, which exempt a process.
    const EXEMPT: u64 = 1 << 21 | 1 << 24;
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nproc).current?;
    let own = Process::myself().ok()?.status().ok()?;
    if own.ruid == 0 || own.capeff & EXEMPT != 0 {
        return None;
    }
    let all = all_processes().ok()?.filter_map(|process| process.ok()?.status().ok());
    let used: u64 = all.filter(|status| status.ruid == own.ruid).map(|status| status.threads).sum();
    Some(ThreadLimit { source: LimitSource::User, limit, free: limit.saturating_sub(used) })
}

#[cfg(not(target_os = "linux"))]
fn user_limit() -> Option<ThreadLimit> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(free: Option<u64>, cores: usize, workers: usize) -> (usize, usize, usize) {
        let limit = free.map(|free| ThreadLimit { source: LimitSource::ControlGroup, limit: 1000, free });
        let plan = ThreadPlan::within(limit, cores, workers, workers);
        (plan.connections, plan.searches, plan.bulk)
    }

    #[test]
    fn all_parts_fit_into_the_limit() {
        assert_eq!(plan(None, 16, 16), (16, 256, 16));
        assert_eq!(plan(Some(100_000), 2, 2), (2, 242, 2));
        // 16 for connections, 15 for helpers.
        assert_eq!(plan(Some(255), 16, 16), (16, 196, 16));
        assert_eq!(plan(Some(59), 2, 2), (2, 42, 2));
        assert_eq!(plan(Some(28), 16, 16), (4, 6, 2));
        // The service always has a thread of each kind, if the system grants it.
        for free in 0..13 {
            assert_eq!(plan(Some(free), 16, 16), (1, 1, 1));
        }
        assert_eq!(ThreadPlan::within(None, 2, 2, 0).bulk, 0);
        for (free, cores) in (16..400).flat_map(|free| [1, 2, 7, 64].map(|cores| (free, cores))) {
            let (connections, searches, bulk) = plan(Some(free), cores, cores);
            let helpers = (cores - 1).min((free - OTHERS) as usize / 4);
            assert!((connections + searches + bulk + helpers) as u64 + OTHERS <= free, "{free} for {cores}");
        }
    }

    #[test]
    fn a_limit_is_reported_where_it_changes_the_plan() {
        let limit = |free| Some(ThreadLimit { source: LimitSource::ControlGroup, limit: 64, free });
        let text = ThreadPlan::within(limit(60), 2, 2, 1).to_string();
        let expected = "threads: at most 2 for connections, 44 for searches and 1 for bulk work, because the control group \
                        may have 64 threads, and 60 are left";
        assert_eq!(text, expected);
        assert_eq!(ThreadPlan::within(limit(1000), 2, 2, 2).limit, None);
    }

    #[test]
    fn cgroup_versions_1_and_2_are_parsed() {
        let group = |line, controller| group_of(line, controller);
        let found = |root: &str, group: &str| Some((root.into(), group.into()));
        for controller in ["pids", "memory"] {
            assert_eq!(group("0::/a/b:c", controller), found("/sys/fs/cgroup", "a/b:c"));
            assert_eq!(group("garbage", controller), None);
            assert_eq!(group("7:cpu:/x", controller), None);
        }
        assert_eq!(group("8:pids:/x", "pids"), found("/sys/fs/cgroup/pids", "x"));
        assert_eq!(group("7:cpu,memory:/x", "memory"), found("/sys/fs/cgroup/memory", "x"));
        assert_eq!(group("7:cpu,memory:/x", "pids"), None);
    }

    #[test]
    fn the_limits_of_all_ancestor_groups_count() {
        let root = std::env::temp_dir().join(format!("taquin-threads-{}", std::process::id()));
        fs::create_dir_all(root.join("a/b")).unwrap();
        for (group, limit, used) in [("", "max\n", "900\n"), ("a", "100\n", "70\n"), ("a/b", "50\n", "10\n")] {
            fs::write(root.join(group).join("pids.max"), limit).unwrap();
            fs::write(root.join(group).join("pids.current"), used).unwrap();
        }
        let free = |root: &Path, group: &str| -> Vec<u64> {
            let groups = with_ancestors(root, Path::new(group));
            groups.into_iter().filter_map(group_limit).map(|limit| limit.free).collect()
        };
        assert_eq!(free(&root, "a/b"), [40, 30]);
        // A path of the host that does not exist inside a container.
        assert_eq!(free(&root.join("a"), "docker/7"), [30]);
        fs::remove_dir_all(root).unwrap();
    }
}
