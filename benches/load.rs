//! `POST /solve` on 3×3 boards, compared with a bare axum handler, over loopback in one run.
//!
//! `cargo bench --bench load` starts the service and two bare axum handlers, each in a process of its own: one parses
//! the body and returns a constant, the other also solves the board and writes the solution. The bodies of all
//! responses have equal sizes. 32 keep-alive connections send requests to each in turn. With
//! `TAQUIN_BENCH_AGAINST=PATH`, another program of the service takes the place of the handlers, in more and shorter
//! rounds.

mod common;

use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::post;
use common::{Server, board, free_address, job};
use serde::{Deserialize, Serialize};
use taquin::service::Tables;
use taquin_solver::solver::solve;
use taquin_solver::{Board, Control, Size, SplitMix, random_board};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The allocator of the service.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const CONNECTIONS: usize = 32;
/// Environment variable with the path of another program of the service.
const AGAINST: &str = "TAQUIN_BENCH_AGAINST";
/// Environment variables that turn this program into a server: its address, and whether it solves the boards.
const BARE: &str = "TAQUIN_BENCH_BARE";
const SOLVES: &str = "TAQUIN_BENCH_SOLVES";
/// Average size in bytes of the bodies of the service's responses to these boards.
const RESPONSE_BYTES: usize = 686;
const SPACES: [u8; RESPONSE_BYTES] = [b' '; RESPONSE_BYTES];

/// Parses the body and returns a constant.
async fn constant(body: axum::body::Bytes) -> impl IntoResponse {
    let parsed: serde_json::Value = serde_json::from_slice(&body).expect("the load sends JSON");
    std::hint::black_box(parsed);
    ([(CONTENT_TYPE, "application/json")], &SPACES[..])
}

#[derive(Deserialize)]
struct Question {
    board: Vec<Vec<u8>>,
}

#[derive(Serialize)]
struct Reply {
    board: Vec<Vec<u8>>,
    moves: String,
    tiles: Vec<u8>,
    length: usize,
    expanded: u64,
    generated: u64,
}

/// Solves the board and returns the solution. It has no limits, guards, log, metrics or caches.
async fn solution(State(tables): State<Arc<Tables>>, body: axum::body::Bytes) -> impl IntoResponse {
    let Question { board: rows } = serde_json::from_slice(&body).expect("the load sends JSON");
    let text: Vec<String> = rows.iter().map(|row| format!("{} {} {}", row[0], row[1], row[2])).collect();
    let start = board(&text.join("/"));
    let job = job(start, Board::blank_last(start.size()), None, None);
    let report = solve(&job, &*tables, Control::default()).expect("a report");
    let solution = report.solution.expect("a solution");
    let (length, moves) = (solution.path.len(), solution.path.to_string());
    let (expanded, generated) = (report.stats.expanded, report.stats.generated);
    let reply = Reply { board: rows, moves, tiles: solution.tiles, length, expanded, generated };
    let mut json = serde_json::to_vec(&reply).expect("JSON");
    json.extend_from_slice(&SPACES[json.len()..]);
    ([(CONTENT_TYPE, "application/json")], json)
}

/// Response times of the requests on one connection until the deadline.
async fn connection(address: SocketAddr, requests: Vec<Vec<u8>>, deadline: Instant) -> Vec<Duration> {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    stream.set_nodelay(true).expect("no delay");
    let mut times = Vec::new();
    let mut buffer = vec![0; 16 * 1024];
    for request in requests.iter().cycle() {
        let begun = Instant::now();
        if begun >= deadline {
            break;
        }
        stream.write_all(request).await.expect("a request sent");
        let mut filled = 0;
        loop {
            let read = stream.read(&mut buffer[filled..]).await.expect("a response");
            assert!(read > 0, "the server closed the connection");
            filled += read;
            if is_complete(&buffer[..filled]) {
                break;
            }
        }
        assert!(buffer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&buffer[..filled]));
        times.push(begun.elapsed());
    }
    times
}

fn is_complete(response: &[u8]) -> bool {
    let Some(end) = response.windows(4).position(|bytes| bytes == b"\r\n\r\n") else { return false };
    let head = std::str::from_utf8(&response[..end]).expect("an ASCII head").to_ascii_lowercase();
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()).expect("a length");
    response.len() >= end + 4 + length.trim().parse::<usize>().expect("a number")
}

/// Responses per second, and the 50th and 99th percentile of their times.
async fn load(address: SocketAddr, requests: &[Vec<u8>], time: Duration) -> (f64, Duration, Duration) {
    let begun = Instant::now();
    let tasks: Vec<_> = (0..CONNECTIONS)
        .map(|task| {
            let mut own = requests.to_vec();
            own.rotate_left(task * requests.len() / CONNECTIONS);
            tokio::spawn(connection(address, own, begun + time))
        })
        .collect();
    let mut times = Vec::new();
    for task in tasks {
        times.extend(task.await.expect("a connection"));
    }
    let rate = times.len() as f64 / begun.elapsed().as_secs_f64();
    times.sort_unstable();
    (rate, times[times.len() / 2], times[times.len() * 99 / 100])
}

fn requests(address: SocketAddr) -> Vec<Vec<u8>> {
    let goal = Board::blank_last(Size::try_from((3, 3)).expect("a size"));
    let mut random = SplitMix(1);
    (0..1_000)
        .map(|_| {
            let board = random_board(&goal, &mut random);
            let rows: Vec<_> = board.rows().map(<[u8]>::to_vec).collect();
            let body = serde_json::json!({ "board": rows }).to_string();
            let length = body.len();
            format!(
                "POST /solve HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
            )
            .into_bytes()
        })
        .collect()
}

#[tokio::main]
async fn main() {
    if let Ok(address) = std::env::var(BARE) {
        return serve(&address).await;
    }
    let other = std::env::var(AGAINST).ok();
    let (base, rounds, time) = match &other {
        Some(other) => (vec![("other", service(other, free_address()))], 30, Duration::from_secs(1)),
        None => (vec![("constant", bare(false)), ("solution", bare(true))], 5, Duration::from_secs(3)),
    };
    let mut servers = base;
    servers.push(("taquin", service(env!("CARGO_BIN_EXE_taquin"), free_address())));

    println!("{:<10} {:>12} {:>12} {:>12} {:>20}", "server", "responses/s", "p50 µs", "p99 µs", "processor µs each");
    let mut figures = vec![Vec::new(); servers.len()];
    for round in 0..rounds {
        // The one that begins alternates.
        for nth in (0..servers.len()).map(|nth| (nth + round) % servers.len()) {
            let (name, server) = &servers[nth];
            let worked = processor_time(server);
            let (rate, p50, p99) = load(server.address, &requests(server.address), time).await;
            let each = (processor_time(server) - worked).as_secs_f64() * 1e6 / (rate * time.as_secs_f64());
            println!("{name:<10} {rate:>12.0} {:>12} {:>12} {each:>20.1}", p50.as_micros(), p99.as_micros());
            figures[nth].push((rate, each));
        }
    }
    let (taquin, others) = figures.split_last().expect("servers");
    for ((name, _), other) in servers.iter().zip(others) {
        let ratios = |of: fn(&(f64, f64)) -> f64| -> Vec<f64> {
            taquin.iter().zip(other).map(|(taquin, other)| of(taquin) / of(other)).collect()
        };
        for (what, mut ratios) in [
            ("responses a second", ratios(|figures| figures.0)),
            ("processor time a response", ratios(|figures| figures.1)),
        ] {
            ratios.sort_unstable_by(f64::total_cmp);
            let [low, median, high] = [rounds / 4, rounds / 2, rounds * 3 / 4].map(|nth| ratios[nth]);
            println!("taquin ÷ {name}, {what}: {median:.3} (median of {rounds}; quartiles {low:.3} and {high:.3})");
        }
    }
}

/// Runs a bare handler.
async fn serve(address: &str) {
    let listener = TcpListener::bind(address).await.expect("the port");
    let routes = if std::env::var_os(SOLVES).is_some() {
        let tables = Tables::default();
        tables.build_for_start();
        Router::new().route("/solve", post(solution)).with_state(Arc::new(tables))
    } else {
        Router::new().route("/solve", post(constant))
    };
    axum::serve(listener, routes).await.expect("a server");
}

/// Starts a bare handler.
fn bare(solves: bool) -> Server {
    let address = free_address();
    let mut command = Command::new(std::env::current_exe().expect("this bench"));
    command.env(BARE, address.to_string());
    if solves {
        command.env(SOLVES, "1");
    }
    Server::start(command, address)
}

/// Starts a program of the service with the arguments of this bench.
fn service(program: &str, address: SocketAddr) -> Server {
    let mut command = Command::new(program);
    command.args(["--listen", &address.to_string()]).args(std::env::args().skip(1).filter(|arg| arg != "--bench"));
    Server::start(command, address)
}

/// Processor time of a server so far, in hundredths of a second; zero where there is no `/proc`.
fn processor_time(server: &Server) -> Duration {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{}/stat", server.child.id())) else { return Duration::ZERO };
    // The second field, in parentheses, may contain spaces. User and system time are the 14th and 15th.
    let fields = stat.rsplit(')').next().expect("a part").split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).map(|ticks| ticks.parse::<u64>().expect("a number")).sum();
    Duration::from_millis(10 * ticks)
}
