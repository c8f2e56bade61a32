//! Memory plan: the memory limit of the process, and its division.

use std::fmt;
use std::fs;
use std::path::PathBuf;

use clap::Args;
use taquin_solver::Size;
use taquin_solver::heuristic::Tier;
use taquin_solver::search::{GeneratedNodes, Trace};

use super::parse::{MIB, SettingsParser};
use super::threads::control_groups;
use crate::service::SearchMemory;

#[derive(Args, Clone, Debug)]
pub(crate) struct MemoryFlags {
    /// Memory limit that the service plans with [default: the container's limit, or the machine's memory] [range: 64MiB
    /// or more]
    ///
    /// The service does not start if the workers and the tables do not fit.
    #[arg(long, env = "TAQUIN_MEMORY", value_name = "SIZE", global = true)]
    memory: Option<String>,

    /// Memory limit of one search [default: an equal share of the memory that remains, at most 512MiB] [range: 1MiB or
    /// more]
    #[arg(long, env = "TAQUIN_SEARCH_MEMORY", value_name = "SIZE")]
    search_memory: Option<String>,

    /// Memory for tables that are built on first use, for other board sizes and goals [default: 208MiB, or a quarter of
    /// the memory if that is less] [range: 64MiB or more]
    ///
    /// The least recently used are evicted. The pattern tables of a goal take up to 76 MB, and on boards of more than
    /// 16 cells each thread that builds them takes up to 83 MB more. If they do not fit, `auto` searches without them.
    /// 16 MiB are reserved for the stages of large boards.
    #[arg(long, env = "TAQUIN_TABLE_MEMORY", value_name = "SIZE")]
    table_memory: Option<String>,

    /// Memory for cached results; 0 turns the cache off [default: 32MiB, or a sixteenth of the memory if that is less]
    /// [range: 0 or more]
    ///
    /// An eighth of it holds the solutions that hints follow.
    #[arg(long, env = "TAQUIN_CACHE_MEMORY", value_name = "SIZE")]
    cache_memory: Option<String>,
}

/// The memory limit of the process, in bytes, and its parts.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct MemoryPlan {
    /// The whole process.
    pub total: u64,
    /// The program, its connections, and the tables built at the start.
    pub base: u64,
    /// Tables built on first use, from the start of their build until their last search ends.
    pub tables: u64,
    /// Cached results.
    pub cache: u64,
    /// All searches, including recorded expansions.
    pub searches: u64,
    /// Nodes of one search.
    pub search: u64,
    /// Part of `searches` for small searches, and the largest size of a small search.
    pub small_searches: u64,
    /// Part of `searches` for searches that store no nodes.
    pub light_searches: u64,
    /// Part of `searches` for bulk work.
    pub bulk_searches: u64,
    /// Nodes of one bulk search.
    pub bulk_search: u64,
    /// Long responses that clients have not read yet.
    pub replies: u64,
    /// Request bodies, and values parsed from them.
    pub requests: u64,
    /// Maximum number of expansions in a response.
    pub expansions: u64,
}

impl MemoryPlan {
    /// Memory outside all parts: freed memory that the allocator has not returned.
    pub fn free(&self) -> u64 {
        let Self { total, base, tables, cache, searches, replies, requests, .. } = *self;
        total - (base + tables + cache + searches + replies + requests).min(total)
    }

    /// Memory of all searches, without bulk work.
    pub(crate) fn search_memory(&self) -> SearchMemory {
        let Self { searches, small_searches: small, light_searches: light, bulk_searches: bulk, .. } = *self;
        SearchMemory { shared: searches - small - light - bulk, small, light }
    }
}

/// Lists the total and its parts in MiB, one per line.
impl fmt::Display for MemoryPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: u64| bytes / MIB;
        let Self { total, base, tables, cache, searches, search, bulk_search, replies, requests, .. } = *self;
        writeln!(f, "memory: {} MiB", mib(total))?;
        writeln!(f, "  process, connections and first tables: {} MiB", mib(base))?;
        writeln!(f, "  tables built on first use: {} MiB", mib(tables))?;
        writeln!(f, "  cached results: {} MiB", mib(cache))?;
        let each = format!("at most {} MiB each for nodes, {} in bulk work", mib(search), mib(bulk_search));
        writeln!(f, "  searches: {} MiB, {each}", mib(searches))?;
        writeln!(f, "  long responses: {} MiB", mib(replies))?;
        writeln!(f, "  requests: {} MiB", mib(requests))?;
        write!(f, "  free, for the allocator: {} MiB", mib(self.free()))
    }
}

/// Bytes of an expansion and of a generated node together, on the largest boards, while a search records them.
pub(crate) fn recorded_expansion() -> u64 {
    let largest = Size::try_from((10, 10)).expect("a valid size");
    Trace::most_bytes(largest, 1) + GeneratedNodes::most_bytes(largest, 1)
}

/// Defaults with enough memory.
const SEARCH: u64 = 512 * MIB;
const TABLES: u64 = 208 * MIB;
const CACHE: u64 = 32 * MIB;
const REPLIES: u64 = 256 * MIB;
const REQUESTS: u64 = 128 * MIB;
const SMALL_SEARCHES: u64 = 32 * MIB;
const LIGHT_SEARCHES: u64 = 64 * MIB;
const BULK_SEARCH: u64 = 32 * MIB;
/// Minimum memory of a bulk search without nodes.
const MIN_BULK_SEARCH: u64 = 2 * MIB;
/// Minimum memory of a search. With less, the service does not start.
const MIN_SEARCH: u64 = 16 * MIB;
/// Assumed total if neither a container limit nor the machine's memory is known.
const UNKNOWN_TOTAL: u64 = 4096 * MIB;

/// Peak memory of the process and of building its tables.
fn base_memory(tier: Tier) -> u64 {
    match tier {
        Tier::Small => 64 * MIB,
        Tier::Standard => 208 * MIB,
        Tier::Large => 900 * MIB,
    }
}

/// An optional size of at least `least` bytes.
fn sized(parser: &mut SettingsParser, flag: &'static str, text: Option<&String>, least: u64) -> Option<u64> {
    text.map(|text| parser.size(flag, text, least..=1 << 50))
}

impl MemoryFlags {
    /// `--memory`, or the available memory.
    pub(crate) fn total(&self, parser: &mut SettingsParser) -> u64 {
        sized(parser, "memory", self.memory.as_ref(), 64 * MIB).unwrap_or_else(|| available().unwrap_or(UNKNOWN_TOTAL))
    }

    /// Divides the memory. A tenth is for long responses, for requests, and for memory that the allocator returns late.
    /// Then follow the tables built at start, the tables built on first use, and the result cache. The searches share
    /// the rest.
    pub(crate) fn parse(
        &self,
        parser: &mut SettingsParser,
        [workers, bulk_workers]: [usize; 2],
        tier: Tier,
        expansions: u64,
    ) -> MemoryPlan {
        let (workers, bulk_workers) = (workers as u64, bulk_workers as u64);
        let total = self.total(parser);
        let usable = total / 10 * 9;
        let tables = sized(parser, "table-memory", self.table_memory.as_ref(), 64 * MIB);
        let tables = tables.unwrap_or(TABLES.min(usable / 4));
        let cache = sized(parser, "cache-memory", self.cache_memory.as_ref(), 0).unwrap_or(CACHE.min(usable / 16));
        let base = base_memory(tier);
        let (replies, requests) = (REPLIES.min(total / 20), REQUESTS.min(total / 40));
        let plan = MemoryPlan { total, base, tables, cache, replies, requests, expansions, ..MemoryPlan::default() };
        let search = sized(parser, "search-memory", self.search_memory.as_ref(), MIB);
        let left = usable.saturating_sub(base + tables + cache);
        let plan = plan.with_bulk(left, bulk_workers).with_searches(left, search, workers);
        let flags = ["memory", "table-memory", "cache-memory", "search-memory", "max-expansions"];
        if flags.iter().all(|flag| parser.is_valid(flag)) {
            plan.check(parser, search, workers);
        }
        plan
    }
}

impl MemoryPlan {
    /// Reserves memory for bulk work: up to 32 MiB for each of its searches, but at most an eighth of the memory left.
    fn with_bulk(self, left: u64, workers: u64) -> Self {
        let each = (left / 8).checked_div(workers).map_or(0, |each| each.clamp(MIN_BULK_SEARCH, BULK_SEARCH));
        Self { bulk_searches: each * workers, bulk_search: each, ..self }
    }

    /// Divides the memory of the searches. Parts are for the expansions of one search, for searches without nodes (a
    /// quarter, up to 64 MiB), and for small searches: up to 32 MiB, which A\* on boards of nine cells needs, or a
    /// thirty-second of all searches' nodes if that is more, but at most an eighth of the memory left.
    fn with_searches(self, left: u64, search: Option<u64>, workers: u64) -> Self {
        let recorded = self.expansions * recorded_expansion();
        let left = left.saturating_sub(recorded + self.bulk_searches);
        let light = LIGHT_SEARCHES.min(left / 4);
        // Small is relative to all searches' nodes, which may need far less than the memory left.
        let nodes = search.unwrap_or(SEARCH).saturating_mul(workers).min(left);
        let small = (nodes / 32).max(SMALL_SEARCHES.min(nodes / 4)).min(left / 8);
        let each = (left - light - small) / workers.max(1);
        let search = search.unwrap_or(SEARCH.min(each));
        let beside = recorded + self.bulk_searches + small + light;
        let searches = beside.saturating_add(search.saturating_mul(workers));
        Self { search, searches, small_searches: small, light_searches: light, ..self }
    }

    /// Reports parts that do not fit.
    fn check(&self, parser: &mut SettingsParser, search: Option<u64>, workers: u64) {
        let Self { total, base, tables, cache, .. } = *self;
        let left = (total / 10 * 9).saturating_sub(base + tables + cache);
        if self.searches > left || self.search < search.unwrap_or(MIN_SEARCH) {
            let (flag, want) = if search.is_some() { ("search-memory", search) } else { ("memory", None) };
            let reason = format!(
                "tables and cache leave {} MiB of {} MiB for {workers} workers, but a search needs {} and short ones, bulk work and \
                 expansions {}; raise --memory, or reduce --workers, --bulk-share, --tables, --table-memory or \
                 --max-expansions",
                left / MIB,
                total / MIB,
                want.map_or_else(|| format!("at least {} MiB", MIN_SEARCH / MIB), |want| format!("{} MiB", want / MIB)),
                (self.searches - self.search.saturating_mul(workers).min(self.searches)) / MIB,
            );
            parser.report(flag, reason);
        }
    }
}

/// The smallest memory limit among the process's control groups and the machine's memory.
fn available() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| total_of(&text));
    control_groups("memory").into_iter().filter_map(limit).chain(machine).min()
}

/// The limit of a control group; `None` for `max`, which is not a number. Version 1 has a huge number instead.
fn limit(group: PathBuf) -> Option<u64> {
    let text = fs::read_to_string(group.join("memory.max"));
    text.or_else(|_| fs::read_to_string(group.join("memory.limit_in_bytes"))).ok()?.trim().parse().ok()
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
    fn the_limit_of_a_control_group_has_a_file_in_each_version() {
        let root = std::env::temp_dir().join(format!("taquin-groups-{}", std::process::id()));
        let groups = ["memory.max", "memory.limit_in_bytes"].map(|file| (root.join(file), file));
        for (group, file) in &groups {
            fs::create_dir_all(group).unwrap();
            fs::write(group.join(file), "1000\n").unwrap();
            assert_eq!(limit(group.clone()), Some(1000));
        }
        fs::write(groups[0].0.join("memory.max"), "max\n").unwrap();
        assert_eq!(limit(groups[0].0.clone()), None);
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
