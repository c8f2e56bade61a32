//! Memory plan: the memory limit of the process, and how it is divided.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::choices::TableTier;
use super::parse::{MIB, SettingsParser};

#[derive(Args, Clone, Debug)]
pub(crate) struct MemoryFlags {
    /// Memory limit that the service plans with [default: the container's limit, or the machine's memory] [range: 64MiB
    /// or more]
    ///
    /// The service does not start if the workers and the tables do not fit.
    #[arg(long, env = "TAQUIN_MEMORY", value_name = "SIZE")]
    memory: Option<String>,

    /// Memory limit of one search [default: an equal share of the memory that remains, at most 512MiB] [range: 1MiB or
    /// more]
    #[arg(long, env = "TAQUIN_SEARCH_MEMORY", value_name = "SIZE")]
    search_memory: Option<String>,

    /// Memory for tables that are built on first use, for other board sizes and goals [default: 208MiB, or a quarter of
    /// the memory if that is less] [range: 64MiB or more]
    ///
    /// The least recently used are evicted. A pattern table takes up to 100 MB, and on boards of more than 16 cells
    /// building it takes up to as much again. If it does not fit, `auto` searches without it. 16 MiB are reserved for
    /// the stages of large boards.
    #[arg(long, env = "TAQUIN_TABLE_MEMORY", value_name = "SIZE")]
    table_memory: Option<String>,

    /// Memory for cached results; 0 turns the cache off [default: 32MiB, or a sixteenth of the memory if that is less]
    /// [range: 0 or more]
    ///
    /// An eighth of it holds the solutions that hints follow.
    #[arg(long, env = "TAQUIN_CACHE_MEMORY", value_name = "SIZE")]
    cache_memory: Option<String>,
}

/// Memory limits, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryPlan {
    /// The whole process.
    pub total: u64,
    /// Nodes of one search.
    pub search: u64,
    /// Tables that are built on first use.
    pub tables: u64,
    /// Cached results.
    pub cache: u64,
    /// Long responses that clients have not read yet.
    pub replies: u64,
}

/// One limit a line, in MiB.
impl fmt::Display for MemoryPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { total, search, tables, cache, replies } = self;
        let limits = [
            ("memory", total),
            ("search memory", search),
            ("table memory", tables),
            ("cache memory", cache),
            ("reply memory", replies),
        ];
        let lines = limits.map(|(name, bytes)| format!("{name}: {} MiB", bytes / MIB));
        f.write_str(&lines.join("\n"))
    }
}

/// Defaults if there is enough memory.
const SEARCH: u64 = 512 * MIB;
const TABLES: u64 = 208 * MIB;
const CACHE: u64 = 32 * MIB;
const REPLIES: u64 = 256 * MIB;
/// With less than this for each search the service does not start.
const MIN_SEARCH: u64 = 16 * MIB;
/// Total if neither a container's limit nor the machine's memory is known.
const UNKNOWN_TOTAL: u64 = 4096 * MIB;

/// Peak memory of the process and its tables while they are built.
fn base_memory(tier: TableTier) -> u64 {
    match tier {
        TableTier::Small => 64 * MIB,
        TableTier::Standard => 208 * MIB,
        TableTier::Large => 900 * MIB,
    }
}

impl MemoryFlags {
    /// Divides `--memory`, or the memory that is available. A tenth stays free: half of it for connections and for
    /// memory that the allocator returns late, half for long responses to slow clients. Then come the tables built
    /// at the start, those built on first use, and the result cache. The searches share the rest.
    pub(crate) fn parse(&self, parser: &mut SettingsParser, workers: u64, tier: TableTier) -> MemoryPlan {
        let sized = |parser: &mut SettingsParser, flag, text: &Option<String>, least| {
            text.as_deref().map(|text| parser.size(flag, text, least..=1 << 50))
        };
        let total =
            sized(parser, "memory", &self.memory, 64 * MIB).unwrap_or_else(|| available().unwrap_or(UNKNOWN_TOTAL));
        let usable = total / 10 * 9;
        let tables = sized(parser, "table-memory", &self.table_memory, 64 * MIB);
        let tables = tables.unwrap_or(TABLES.min(usable / 4));
        let cache = sized(parser, "cache-memory", &self.cache_memory, 0).unwrap_or(CACHE.min(usable / 16));
        let left = usable.saturating_sub(base_memory(tier) + tables + cache);
        let search = sized(parser, "search-memory", &self.search_memory, MIB);
        let each = left / workers.max(1);
        let is_valid =
            ["memory", "table-memory", "cache-memory", "search-memory"].iter().all(|flag| parser.is_valid(flag));
        if is_valid && search.unwrap_or(MIN_SEARCH) > each {
            let (flag, want) = if search.is_some() { ("search-memory", search) } else { ("memory", None) };
            let reason = format!(
                "tables and cache leave {1} MiB of {0} MiB for each of {workers} workers, but a search needs {2}; \
                 raise --memory, or reduce --workers, --tables or --table-memory",
                total / MIB,
                each / MIB,
                want.map_or_else(|| format!("at least {} MiB", MIN_SEARCH / MIB), |want| format!("{} MiB", want / MIB)),
            );
            parser.report(flag, reason);
        }
        let replies = REPLIES.min(total / 20);
        MemoryPlan { total, search: search.unwrap_or(SEARCH.min(each)), tables, cache, replies }
    }
}

/// The smallest memory limit among the process's control groups and the machine's memory.
fn available() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = groups.lines().filter_map(group_of).flat_map(|(root, file, group)| limits(root, file, &group));
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total_of(&text));
    limits.chain(machine).min()
}

/// Root, limit file and group of a line of `/proc/self/cgroup`. Version 2 has one group for all controllers,
/// version 1 one for memory.
fn group_of(line: &str) -> Option<(&'static str, &'static str, PathBuf)> {
    let mut fields = line.splitn(3, ':');
    let (number, controllers, group) = (fields.next()?, fields.next()?, fields.next()?);
    let group = PathBuf::from(group.trim_start_matches('/'));
    if number == "0" && controllers.is_empty() {
        Some(("/sys/fs/cgroup", "memory.max", group))
    } else if controllers.split(',').any(|controller| controller == "memory") {
        Some(("/sys/fs/cgroup/memory", "memory.limit_in_bytes", group))
    } else {
        None
    }
}

/// The limits of a group and of its ancestors. `max` is not a number and is left out; version 1 has a huge number
/// instead.
fn limits(root: &str, file: &str, group: &Path) -> Vec<u64> {
    let groups = group.ancestors().map(|group| Path::new(root).join(group).join(file));
    groups.filter_map(|path| fs::read_to_string(path).ok()?.trim().parse().ok()).collect()
}

/// The machine's memory in bytes, from the text of `/proc/meminfo`.
fn total_of(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| 1024 * kib)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cgroup_versions_1_and_2_are_parsed() {
        let group = |line| group_of(line).map(|(_, file, group)| (file, group.to_str().unwrap_or_default().to_owned()));
        assert_eq!(group("0::/a/b:c"), Some(("memory.max", "a/b:c".to_owned())));
        assert_eq!(group("7:cpu,memory:/x"), Some(("memory.limit_in_bytes", "x".to_owned())));
        assert_eq!(group("3:pids:/x"), None);
        assert_eq!(group("garbage"), None);
    }

    #[test]
    fn the_limits_of_all_ancestor_groups_count() {
        let root = std::env::temp_dir().join(format!("taquin-groups-{}", std::process::id()));
        fs::create_dir_all(root.join("a/b")).unwrap();
        for (group, limit) in [("", "max\n"), ("a", "1000\n"), ("a/b", "2000\n")] {
            fs::write(root.join(group).join("memory.max"), limit).unwrap();
        }
        assert_eq!(limits(root.to_str().unwrap(), "memory.max", Path::new("a/b")), [2000, 1000]);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn the_machines_memory_is_parsed() {
        assert_eq!(total_of("MemTotal:       24596792 kB\nMemFree: 1 kB\n"), Some(24_596_792 * 1024));
        assert_eq!(total_of("nothing"), None);
        #[cfg(target_os = "linux")]
        assert!(available().is_some_and(|bytes| bytes > 64 * MIB));
    }
}
