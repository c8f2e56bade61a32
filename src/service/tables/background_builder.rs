//! The thread that builds tables.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use tracing::Level;

use super::Tables;
use crate::search::MoveAutomaton;
use crate::search::heuristic::{GoalClass, Tier};

/// Builds what a service wants to have from the start, and what turns out to be wanted.
pub(in crate::service) struct Builder {
    pub(in crate::service) tables: Arc<Tables>,
    /// Raised when the first tables are there.
    pub(in crate::service) is_ready: Arc<AtomicBool>,
    /// The strongest patterns to build.
    pub(in crate::service) tier: Tier,
}

impl Builder {
    /// Works until nobody can want anything any more.
    pub(in crate::service) fn run(self) {
        let Self { tables, is_ready, tier } = self;
        // Before anything is built, so that nothing is missed that is asked for meanwhile.
        let wanted = (tier >= Tier::Standard).then(|| {
            let (sender, wanted) = channel();
            tables.engage(sender);
            wanted
        });
        tables.build_for_start();
        is_ready.store(true, Ordering::Release);
        tell(&tables, "tables are ready");
        // A search that waits for what is built by those who stand back would wait too long.
        MoveAutomaton::get();
        stand_back();
        for tier in [Tier::Standard, Tier::Large].into_iter().filter(|wanted| *wanted <= tier) {
            if tier == Tier::Large {
                tables.build_distances();
            }
            tables.improve(GoalClass::corner_of_4x4(), tier);
            tell(&tables, if tier == Tier::Standard { "standard tables are ready" } else { "large tables are ready" });
            give_back();
        }
        tables.build_distances();
        give_back();
        // Those who ask hold the tables, and with them the other end.
        let weak = Arc::downgrade(&tables);
        drop(tables);
        for class in wanted.into_iter().flatten() {
            let Some(tables) = weak.upgrade() else { break };
            if tables.improve_later(class) {
                tell(&tables, "more tables are ready");
                give_back();
            }
        }
    }
}

/// From now on searches and connections go first where there are more threads than cores. Threads that this one begins do as
/// it does.
fn stand_back() {
    const NICENESS: i32 = 5;
    // On Linux a thread has a niceness of its own; elsewhere it would be that of the process.
    if cfg!(target_os = "linux") {
        // Where it may not, it goes on as it is.
        let _ = rustix::process::nice(NICENESS);
    }
}

fn tell(tables: &Tables, what: &'static str) {
    tracing::event!(target: "taquin::tables", Level::INFO, tables.bytes = tables.bytes(), "{what}");
}

/// Has the allocator return what building the tables took. It does so by itself when it is asked for
/// a large block some time after others were freed, which on an idle service nobody does.
fn give_back() {
    const LARGE: usize = 64 << 20;
    std::thread::sleep(Duration::from_millis(500));
    drop(std::hint::black_box(Vec::<u8>::with_capacity(LARGE)));
}
