//! Code shared by the benchmarks.

#![allow(dead_code, reason = "each benchmark uses only a part")]

pub(crate) mod manhattan;

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use taquin::service::Tables;
use taquin_solver::heuristic::{GoalClass, Tier};
use taquin_solver::search::{Help, Helpers, MainWork};
use taquin_solver::{
    Algorithm, Board, Encoding, HeuristicKind, Limits, Plan, Puzzle, RawBoard, SearchOptions, SearchRequest, Sides,
};

/// No limits on time and expansions, and practically none on nodes.
pub(crate) const UNLIMITED: Limits = Limits { time: Duration::MAX, expanded: u64::MAX, nodes: 4_000_000_000 };

pub(crate) fn board(text: &str) -> Board {
    RawBoard::parse(text).board(Sides::default(), Encoding::Tiles).expect("a board")
}

pub(crate) fn job(
    start: Board,
    goal: Board,
    algorithm: Option<Algorithm>,
    heuristic: Option<HeuristicKind>,
) -> SearchRequest {
    let puzzle = Puzzle::try_new(start, goal).expect("solvable");
    let options = SearchOptions { algorithm, heuristic, ..SearchOptions::default() };
    let plan = Plan::try_new(&options, puzzle.size()).expect("a plan");
    SearchRequest::new(puzzle, plan, UNLIMITED)
}

pub(crate) fn build_standard(tables: &Tables) {
    tables.improve(GoalClass::corner_of_4x4(), Tier::Standard);
}

/// One helper thread, as in an idle service with two workers.
#[derive(Debug, Default)]
pub(crate) struct OneHelper {
    is_busy: AtomicBool,
}

impl Helpers for OneHelper {
    fn work(&self, main: MainWork<'_>, help: &Help<'_>) {
        std::thread::scope(|scope| {
            main(&|| {
                if !self.is_busy.swap(true, Ordering::AcqRel) {
                    scope.spawn(|| {
                        help(&|| false);
                        self.is_busy.store(false, Ordering::Release);
                    });
                }
            });
        });
    }
}

impl OneHelper {
    /// The helper, unless `ONE_CORE` is set. Then the second core stays idle.
    pub(crate) fn unless_one_core(&self) -> Option<&dyn Helpers> {
        std::env::var_os("ONE_CORE").is_none().then_some(self as &dyn Helpers)
    }
}

pub(crate) fn free_address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address")
}

/// A server process. It is killed when dropped.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
}

impl Server {
    /// Starts the server, and waits until it listens.
    pub(crate) fn start(mut command: Command, address: SocketAddr) -> Self {
        let server = Self { child: command.stdout(Stdio::null()).spawn().expect("a server"), address };
        let begun = Instant::now();
        while TcpStream::connect(address).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(10), "the server does not listen");
            std::thread::sleep(Duration::from_millis(1));
        }
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
