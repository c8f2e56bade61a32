//! The background thread that builds tables.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use taquin_solver::heuristic::{GoalClass, Tier};
use taquin_solver::search::MoveAutomaton;
use tracing::Level;

use super::Tables;

/// Builds the tables that are needed at the start, then stronger patterns, and then the patterns of requested goals.
pub(crate) struct BackgroundBuilder {
    pub(crate) tables: Arc<Tables>,
    /// Set once the tables of the weaker of the tiers `ready` and `tier` are built.
    pub(crate) is_ready: Arc<AtomicBool>,
    pub(crate) ready: Tier,
    /// Strongest tier to build.
    pub(crate) tier: Tier,
}

impl BackgroundBuilder {
    /// Builds tables. Returns when the last user drops the tables. With a `tier` below [`Tier::Standard`], returns
    /// after the builds at the start, because there are no requests then.
    pub(crate) fn run(self) {
        let Self { tables, is_ready, ready, tier } = self;
        let note_built = |built| {
            if built == ready.min(tier) {
                is_ready.store(true, Ordering::Release);
            }
        };
        tables.set_strongest(tier);
        // The channel is registered before the builds, so that no request is lost during the builds.
        let requests = (tier >= Tier::Standard).then(|| {
            let (sender, requests) = channel();
            tables.pattern_cache.set_background_builder(sender);
            requests
        });
        tables.build_for_start();
        note_built(Tier::Small);
        log(&tables, "tables are ready");
        // The move automaton is built before the priority is lowered, because searches wait for the automaton.
        MoveAutomaton::get();
        lower_thread_priority();
        for tier in [Tier::Standard, Tier::Large].into_iter().filter(|wanted| *wanted <= tier) {
            if tier == Tier::Large {
                tables.build_distances();
            }
            tables.improve(GoalClass::corner_of_4x4(), tier);
            note_built(tier);
            log(&tables, if tier == Tier::Standard { "standard tables are ready" } else { "large tables are ready" });
            release_freed_memory();
        }
        tables.build_distances();
        release_freed_memory();
        // The tables own the sender of the channel. So this thread must not keep the tables alive.
        let weak = Arc::downgrade(&tables);
        drop(tables);
        for class in requests.into_iter().flatten() {
            let Some(tables) = weak.upgrade() else { break };
            if tables.pattern_cache.improve_later(class, Tier::Standard) {
                log(&tables, "more tables are ready");
                release_freed_memory();
            }
        }
    }
}

fn log(tables: &Tables, what: &'static str) {
    tracing::event!(target: "taquin::tables", Level::INFO, tables.bytes = tables.bytes(), "{what}");
}

/// Lowers the priority of this thread and of the threads that this thread starts, in favor of searches and connections.
///
/// A search or connection that wakes up preempts a thread of this niceness. Beside a busy thread of normal priority, a
/// thread of this niceness still gets a quarter of a core.
pub(crate) fn lower_thread_priority() {
    const NICENESS: i32 = 5;
    // Only Linux has a niceness per thread. On other systems, the call would change the niceness of the process.
    if cfg!(target_os = "linux") {
        // Without permission, the thread keeps its priority.
        let _ = rustix::process::nice(NICENESS);
    }
}

/// Makes the allocator return the freed memory of a build to the system. Without this call, the allocator would return
/// the memory only at a later large allocation, which an idle service never makes.
fn release_freed_memory() {
    const LARGE: usize = 64 << 20;
    std::thread::sleep(Duration::from_millis(500));
    drop(std::hint::black_box(Vec::<u8>::with_capacity(LARGE)));
}
