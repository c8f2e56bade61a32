//! What the process may take of memory, and how that is shared out.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use super::parse::{Faults, MIB};
use super::{Flags, TableTier};

/// Shares of memory, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MemoryPlan {
    /// For the whole process.
    pub total: u64,
    /// For the nodes of one search.
    pub search: u64,
    /// For tables that are built on first use.
    pub tables: u64,
    /// For answers that are kept.
    pub answers: u64,
    /// For long answers that clients have not yet taken.
    pub replies: u64,
}

/// The shares, a line each.
impl fmt::Display for MemoryPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { total, search, tables, answers, replies } = self;
        let shares = [
            ("memory", total),
            ("search memory", search),
            ("table memory", tables),
            ("cache memory", answers),
            ("reply memory", replies),
        ];
        let lines = shares.map(|(name, bytes)| format!("{name}: {} MiB", bytes / MIB));
        f.write_str(&lines.join("\n"))
    }
}

/// What a search gets if there is plenty, and what it must have at least.
const SEARCH: u64 = 512 * MIB;
const LEAST_SEARCH: u64 = 16 * MIB;
const TABLES: u64 = 208 * MIB;
const ANSWERS: u64 = 32 * MIB;
const REPLIES: u64 = 256 * MIB;
/// If nothing says how much there is.
const UNKNOWN: u64 = 4096 * MIB;

/// The process with its tables while they are built, at most.
fn standing(tier: TableTier) -> u64 {
    match tier {
        TableTier::Small => 64 * MIB,
        TableTier::Standard => 208 * MIB,
        TableTier::Large => 900 * MIB,
    }
}

impl MemoryPlan {
    /// Shares out what was asked for, or what there is: a tenth stays free, half of it for connections and for
    /// what the allocator cannot give back at once, half of it for long answers that clients take slowly; then
    /// come the tables of the start, those built on first use, and answers; the searches get the rest.
    pub(super) fn read(faults: &mut Faults, flags: &Flags, workers: u64, tier: TableTier) -> Self {
        let sized = |faults: &mut Faults, flag, text: &Option<String>, least| {
            text.as_deref().map(|text| faults.size(flag, text, least..=1 << 50))
        };
        let total = sized(faults, "memory", &flags.memory, 64 * MIB).unwrap_or_else(|| available().unwrap_or(UNKNOWN));
        let usable = total / 10 * 9;
        let tables = sized(faults, "table-memory", &flags.table_memory, 64 * MIB);
        let tables = tables.unwrap_or(TABLES.min(usable / 4));
        let answers = sized(faults, "cache-memory", &flags.cache_memory, 0).unwrap_or(ANSWERS.min(usable / 16));
        let left = usable.saturating_sub(standing(tier) + tables + answers);
        let search = sized(faults, "search-memory", &flags.search_memory, MIB);
        let each = left / workers.max(1);
        let is_sound =
            ["memory", "table-memory", "cache-memory", "search-memory"].iter().all(|flag| faults.is_sound(flag));
        if is_sound && search.unwrap_or(LEAST_SEARCH) > each {
            let (flag, want) = if search.is_some() { ("search-memory", search) } else { ("memory", None) };
            let reason = format!(
                "of {} MiB, tables and kept answers leave {} MiB for each of {workers} workers, and a search is to have {}: \
                 give --memory more, or take fewer --workers, smaller --tables, or less --table-memory",
                total / MIB,
                each / MIB,
                want.map_or_else(
                    || format!("at least {} MiB", LEAST_SEARCH / MIB),
                    |want| format!("{} MiB", want / MIB)
                ),
            );
            faults.add(flag, reason);
        }
        let replies = REPLIES.min(total / 20);
        Self { total, search: search.unwrap_or(SEARCH.min(each)), tables, answers, replies }
    }
}

/// What the process can have: the least limit of the control groups that it is in, or the machine's
/// memory if that is less.
fn available() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = groups.lines().filter_map(group_of).flat_map(|(root, file, group)| limits(root, file, &group));
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total_of(&text));
    limits.chain(machine).min()
}

/// Where the memory limits of a line of `/proc/self/cgroup` are: version 2 has one group for all, and
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

/// The limits of a group and of all around it; those that are no limit are no numbers, or beyond all
/// memory.
fn limits(root: &str, file: &str, group: &Path) -> Vec<u64> {
    let groups = group.ancestors().map(|group| Path::new(root).join(group).join(file));
    groups.filter_map(|path| fs::read_to_string(path).ok()?.trim().parse().ok()).collect()
}

/// The machine's memory, as `/proc/meminfo` has it.
fn total_of(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| 1024 * kib)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_of_control_groups_are_understood() {
        let group = |line| group_of(line).map(|(_, file, group)| (file, group.to_str().unwrap_or_default().to_owned()));
        assert_eq!(group("0::/a/b:c"), Some(("memory.max", "a/b:c".to_owned())));
        assert_eq!(group("7:cpu,memory:/x"), Some(("memory.limit_in_bytes", "x".to_owned())));
        assert_eq!(group("3:pids:/x"), None);
        assert_eq!(group("garbage"), None);
    }

    #[test]
    fn the_limits_of_all_groups_around_count() {
        let root = std::env::temp_dir().join(format!("taquin-groups-{}", std::process::id()));
        fs::create_dir_all(root.join("a/b")).unwrap();
        for (group, limit) in [("", "max\n"), ("a", "1000\n"), ("a/b", "2000\n")] {
            fs::write(root.join(group).join("memory.max"), limit).unwrap();
        }
        assert_eq!(limits(root.to_str().unwrap(), "memory.max", Path::new("a/b")), [2000, 1000]);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn the_machine_tells_its_memory() {
        assert_eq!(total_of("MemTotal:       24596792 kB\nMemFree: 1 kB\n"), Some(24_596_792 * 1024));
        assert_eq!(total_of("nothing"), None);
        #[cfg(target_os = "linux")]
        assert!(available().is_some_and(|bytes| bytes > 64 * MIB));
    }
}
