//! Boards a second of `taquin batch` and of `POST /batch`, compared with the solver in this process.
//!
//! `cargo bench --bench batch` measures all in one run, in alternating rounds, and prints medians. "In process" calls
//! the solver for one board after another, on one thread for each core.

mod common;

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use common::{Server, UNLIMITED, build_standard, free_address};
use taquin::service::Tables;
use taquin_bulk::Recipe;
use taquin_solver::solver::solve;
use taquin_solver::{Board, Control, Plan, Puzzle, SearchRequest, Size};

/// The allocator of the service.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ROUNDS: usize = 5;
const SMALL: u64 = 2_000_000;
const LARGE: u64 = 20_000;
const REQUEST: u64 = 100_000;
/// Connections that send single boards.
const CONNECTIONS: usize = 32;

fn recipe(side: usize, count: u64) -> Recipe {
    let goal = Board::blank_last(Size::try_from((side, side)).expect("a size"));
    Recipe::try_new(goal, "bench", count).expect("a recipe")
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Boards a second of a function that is called for each index, on so many threads.
fn rate(threads: usize, count: u64, work: impl Fn(u64) + Sync) -> f64 {
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..threads as u64 {
            let work = &work;
            scope.spawn(move || (thread..count).step_by(threads).for_each(work));
        }
    });
    count as f64 / begun.elapsed().as_secs_f64()
}

fn solve_one(puzzle: &Puzzle, tables: &Tables) {
    let job = SearchRequest::new(*puzzle, Plan::auto(puzzle.size()), UNLIMITED);
    let report = solve(&job, tables, Control::default()).expect("a report");
    assert!(std::hint::black_box(report).is_optimal());
}

/// Boards a second of the command, with its start and its end.
fn command(count: u64, arguments: &str) -> f64 {
    let begun = Instant::now();
    let mut command = Command::new(env!("CARGO_BIN_EXE_taquin"));
    let output = command.arg("batch").args(arguments.split(' ')).output().expect("the binary");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    count as f64 / begun.elapsed().as_secs_f64()
}

/// Sends a request and reads its response to the end of the connection.
fn exchange(address: SocketAddr, request: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.write_all(request).expect("a request sent");
    let mut response = Vec::new();
    stream.read_to_end(&mut response).expect("a response");
    assert!(response.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&response));
    response
}

fn request(address: SocketAddr, path: &str, media_type: &str, connection: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nConnection: {connection}\r\nContent-Type: {media_type}\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// Boards a second of `POST /batch`.
fn batch_request(address: SocketAddr, lines: &str) -> f64 {
    let request = request(address, "/batch", "application/x-ndjson", "close", lines);
    let begun = Instant::now();
    let response = exchange(address, &request);
    let elapsed = begun.elapsed();
    let summary = format!("{{\"summary\":{{\"boards\":{REQUEST},\"solved\":{REQUEST},\"failed\":0");
    assert!(String::from_utf8_lossy(&response).contains(&summary), "the response is whole");
    REQUEST as f64 / elapsed.as_secs_f64()
}

/// Boards a second of `POST /solve` over keep-alive connections.
fn single_requests(address: SocketAddr, lines: &str) -> f64 {
    const TIME: Duration = Duration::from_secs(2);
    let requests: Vec<Vec<u8>> = lines
        .lines()
        .take(1_000)
        .map(|board| request(address, "/solve", "application/json", "keep-alive", board))
        .collect();
    let begun = Instant::now();
    let connection = || {
        let mut stream = TcpStream::connect(address).expect("a connection");
        stream.set_nodelay(true).expect("no delay");
        let (mut buffer, mut count) = (vec![0; 1 << 14], 0);
        for request in requests.iter().cycle().take_while(|_| begun.elapsed() < TIME) {
            stream.write_all(request).expect("a request sent");
            let mut filled = 0;
            // The last byte of a response is the end of its JSON.
            while filled == 0 || buffer[filled - 1] != b'}' {
                filled += stream.read(&mut buffer[filled..]).expect("a response");
            }
            count += 1;
        }
        count
    };
    let count: u64 = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(connection)).collect();
        threads.into_iter().map(|thread| thread.join().expect("a connection")).sum()
    });
    count as f64 / begun.elapsed().as_secs_f64()
}

/// Medians of alternating rounds of several measurements.
fn medians<const N: usize>(mut measure: [Box<dyn FnMut() -> f64 + '_>; N]) -> [f64; N] {
    let mut rates = vec![[0.0; N]; ROUNDS];
    for round in &mut rates {
        for (rate, measure) in round.iter_mut().zip(&mut measure) {
            *rate = measure();
        }
    }
    std::array::from_fn(|at| {
        let mut of_one: Vec<f64> = rates.iter().map(|round| round[at]).collect();
        of_one.sort_unstable_by(f64::total_cmp);
        of_one[ROUNDS / 2]
    })
}

fn print(what: &str, rate: f64, base: f64) {
    println!("{what:<60} {rate:>12.0} {:>8.2}", rate / base);
}

/// A directory that is removed at the end.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Scratch {
    /// A path at which there is nothing.
    fn fresh(&self, name: &str) -> String {
        let path = self.0.join(name);
        let _ = std::fs::remove_dir_all(&path);
        let _ = std::fs::remove_file(&path);
        path.display().to_string()
    }
}

fn boards(path: &Path, recipe: &Recipe) -> String {
    let mut lines = String::new();
    for index in 0..recipe.count() {
        let board = recipe.board(index);
        let rows: Vec<&[u8]> = board.start().rows().collect();
        let _ = writeln!(lines, "{rows:?}");
    }
    let lines = lines.replace(' ', "");
    std::fs::write(path, &lines).expect("a file");
    lines
}

fn main() {
    let scratch = Scratch(std::env::temp_dir().join(format!("taquin-bench-{}", std::process::id())));
    std::fs::create_dir_all(&scratch.0).expect("a directory");
    let tables = Tables::default();
    build_standard(&tables);
    println!("{:<60} {:>12} {:>8}", "", "boards/s", "ratio");
    small(&scratch, &tables);
    large(&scratch, &tables);
    over_http();
}

fn small(scratch: &Scratch, tables: &Tables) {
    let recipe = recipe(3, SMALL);
    let input = scratch.fresh("boards.ndjson");
    let _ = boards(Path::new(&input), &recipe);
    let random = format!("--random 3x3 --count {SMALL} --seed bench");
    let columns = scratch.fresh("boards.csv");
    command(SMALL, &format!("{random} -o {columns}"));
    let puzzles: Vec<Puzzle> = (0..SMALL).map(|index| recipe.board(index)).collect();
    tables.small().distances(recipe.goal().size(), recipe.goal().blank());
    let [solver, drawn, lines, csv, packed] = medians([
        Box::new(|| rate(cores(), SMALL, |index| solve_one(&puzzles[index as usize], tables))),
        Box::new(|| rate(cores(), SMALL, |index| solve_one(&recipe.board(index), tables))),
        Box::new(|| command(SMALL, &format!("{input} -o {}", scratch.fresh("out.ndjson")))),
        Box::new(|| command(SMALL, &format!("{columns} -o {}", scratch.fresh("out.csv")))),
        Box::new(|| command(SMALL, &format!("{random} -o {}", scratch.fresh("job")))),
    ]);
    print("3×3 in process", solver, solver);
    print("3×3 NDJSON to NDJSON", lines, solver);
    print("3×3 CSV to CSV", csv, solver);
    print("3×3 in process, boards drawn", drawn, drawn);
    print("3×3 recipe to parts", packed, drawn);
}

fn large(scratch: &Scratch, tables: &Tables) {
    let recipe = recipe(4, LARGE);
    let cache = scratch.fresh("tables");
    std::fs::create_dir(&cache).expect("a directory");
    let random = format!("--table-cache {cache} --random 4x4 --seed bench");
    command(1, &format!("{random} --count 1 -o {}", scratch.fresh("job")));
    let [one, all, packed] = medians([
        Box::new(|| rate(1, LARGE / cores() as u64, |index| solve_one(&recipe.board(index), tables))),
        Box::new(|| rate(cores(), LARGE, |index| solve_one(&recipe.board(index), tables))),
        Box::new(|| command(LARGE, &format!("{random} --count {LARGE} -o {}", scratch.fresh("job")))),
    ]);
    print("4×4 in process, one thread", one, one);
    print("4×4 in process, a thread for each core", all, one);
    print("4×4 recipe to parts, tables from a file", packed, one);
    print("4×4 recipe to parts, ratio to a thread for each core", packed, all);
}

fn over_http() {
    let address = free_address();
    let mut service = Command::new(env!("CARGO_BIN_EXE_taquin"));
    service.args(["--listen", &address.to_string(), "--max-batch-body", "16MiB"]);
    let _server = Server::start(service, address);
    let path = std::env::temp_dir().join(format!("taquin-bench-lines-{}", std::process::id()));
    let lines = boards(&path, &recipe(3, REQUEST));
    let _ = std::fs::remove_file(path);
    let [single, batch] =
        medians([Box::new(|| single_requests(address, &lines)), Box::new(|| batch_request(address, &lines))]);
    print("3×3 POST /solve, 32 connections", single, single);
    print("3×3 POST /batch, 100,000 boards", batch, single);
}
