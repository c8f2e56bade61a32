//! Clients that disconnect at each stage.

use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::boards::{Random, by, eight, endless, greedy, hard, lasting};
use super::client::{Client, post};
use super::figures::{Times, alone, assert_within, print_row, short_or_long};
use super::taquin::Taquin;

const SLOT: Duration = Duration::from_millis(20);

/// Sends a request without waiting for the response.
fn begin(taquin: &Taquin, question: &Value) -> Client {
    let mut client = taquin.client();
    client.write(&post(question, "")).expect("a connection");
    client
}

/// Sends a request for a stream, and waits for its first byte.
fn begin_stream(taquin: &Taquin, question: &Value) -> Client {
    let mut client = taquin.client();
    client.write(&post(question, "Accept: text/event-stream\r\n")).expect("a connection");
    let mut byte = [0];
    assert_eq!(client.stream.peek(&mut byte).expect("a stream that begins"), 1);
    client
}

/// Disconnects, and repeats a request on another connection until it is admitted. Returns the duration, or `None` if a
/// place was free already: the search had ended or not yet started.
fn slot_after(leaving: Client, other: &mut Client, random: &mut Random) -> Option<Duration> {
    let quick = by(&eight(random), "ida_star");
    let is_full = (0..20).any(|_| other.solve(&quick).status == 503);
    let begun = Instant::now();
    drop(leaving);
    while other.solve(&quick).status != 200 {
        assert!(begun.elapsed() < Duration::from_secs(30), "the place is never free");
    }
    is_full.then(|| begun.elapsed())
}

fn print_latency(what: &str, times: Vec<Duration>) {
    let times = Times::new(times);
    let rest = format!(" (of {}; median {:.1?})", times.count(), times.percentile(50));
    assert_within(&format!("a client leaves {what}: its place is free within"), SLOT, times.worst(), rest);
}

/// Asserts that the service is idle without clients.
fn assert_idle(taquin: &Taquin) {
    taquin.wait_until_idle();
    sleep(Duration::from_millis(100));
    let percent = taquin.cpu_percent(Duration::from_millis(500));
    print_row("all clients have left: CPU", "0", format!("{percent:.0} % of a core"));
    assert!(percent <= 10.0, "{percent} %");
}

#[test]
fn a_client_that_leaves_a_search_frees_its_worker() {
    let _alone = alone();
    let taquin = Taquin::start(1024, &["--workers=1", "--queue=0", "--tables=small", "--cache-memory=0"]);
    let (mut other, mut random) = (taquin.client(), Random(3));
    type Search = fn(usize) -> Value;
    // By then, A* has a few dozen megabytes of nodes.
    let kinds: [(&str, Search, u64); 2] = [("during IDA*", endless, 20), ("during A*", greedy, 300)];
    for (what, search, millis) in kinds {
        let times = (0..short_or_long(5, 30)).map(|nth| {
            let searching = begin(&taquin, &search(nth));
            taquin.wait_for_gauge("taquin_jobs_in_progress", 1.0);
            sleep(Duration::from_millis(millis));
            slot_after(searching, &mut other, &mut random).expect("a running search")
        });
        print_latency(what, times.collect());
    }
    drop(other);
    assert_idle(&taquin);
    taquin.end("clients that leave searches");
}

#[test]
fn a_client_that_leaves_a_stream_frees_its_worker() {
    let _alone = alone();
    let taquin = Taquin::start(1024, &["--workers=1", "--queue=0", "--tables=small", "--cache-memory=0"]);
    let (mut other, mut random) = (taquin.client(), Random(7));
    type Search = fn(usize) -> Value;
    let kinds: [(&str, Search); 2] = [("a stream of IDA*", endless), ("a stream of A*", greedy)];
    for (what, search) in kinds {
        let times = (0..short_or_long(5, 30)).map(|nth| {
            let streaming = begin_stream(&taquin, &search(100 + nth));
            taquin.wait_for_gauge("taquin_jobs_in_progress", 1.0);
            // Between two events, and during one.
            sleep(Duration::from_millis(300 + 17 * nth as u64));
            slot_after(streaming, &mut other, &mut random).expect("a running search")
        });
        print_latency(what, times.collect());
    }
    drop(other);
    assert_idle(&taquin);
    taquin.end("clients that leave streams");
}

#[test]
fn a_client_that_leaves_the_queue_frees_its_place() {
    let _alone = alone();
    let taquin = Taquin::start(1024, &["--workers=1", "--queue=1", "--tables=small", "--cache-memory=0"]);
    let (mut other, mut random) = (taquin.client(), Random(4));
    // It may take all the memory, so the next search cannot start.
    let running = begin(&taquin, &lasting(&mut random));
    taquin.wait_for_gauge("taquin_jobs_in_progress", 1.0);
    let times = (0..short_or_long(10, 50)).map(|nth| {
        let queued = begin(&taquin, &greedy(nth));
        taquin.wait_for_gauge("taquin_queue_waiting", 1.0);
        slot_after(queued, &mut other, &mut random).expect("a full queue")
    });
    print_latency("the queue", times.collect());
    drop((running, other));
    assert_idle(&taquin);
    taquin.end("clients that leave the queue");
}

/// A request for a 2×8 board, whose small tables take a while to build, with the blank's goal in this cell.
fn with_tables(blank: usize) -> Value {
    let mut goal: Vec<usize> = (1..16).collect();
    goal.insert(blank, 0);
    let mut board = goal.clone();
    // Two swaps, so that the board is solvable.
    let mut tiles: Vec<usize> = (0..16).filter(|cell| *cell != blank).collect();
    tiles.truncate(4);
    board.swap(tiles[0], tiles[1]);
    board.swap(tiles[2], tiles[3]);
    json!({ "board": [board[..8], board[8..]], "goal": [goal[..8], goal[8..]], "heuristic": "pattern_database" })
}

#[test]
fn a_client_that_leaves_while_tables_are_built_frees_its_place() {
    let _alone = alone();
    let flags = ["--workers=1", "--queue=0", "--cache-memory=0"];
    let (mut waits, mut searches, mut random) = (Vec::new(), Vec::new(), Random(5));
    // Tables are built once, so each pass starts a new service.
    for pass in 0..short_or_long(1, 3) {
        let taquin = Taquin::start(1024, &flags);
        let mut other = taquin.client();
        for blank in 0..4 {
            let waiting = begin(&taquin, &with_tables(blank));
            sleep(Duration::from_millis(5));
            waits.extend(slot_after(waiting, &mut other, &mut random));
            // The tables are still being built, for later requests.
            let searching = begin(&taquin, &endless(10 * pass + blank));
            taquin.wait_for_gauge("taquin_jobs_in_progress", 1.0);
            searches.extend(slot_after(searching, &mut other, &mut random));
        }
        drop(other);
        taquin.wait_until_idle();
        taquin.end("clients that leave while tables are built");
    }
    print_latency("while it waits for tables", waits);
    print_latency("during IDA* while tables are built", searches);
}

#[test]
fn clients_that_leave_at_any_byte_leak_nothing() {
    let _alone = alone();
    let taquin = Taquin::start(1024, &["--workers=2", "--queue=8", "--tables=small"]);
    let mut random = Random(6);
    let large = json!({ "board": "867254301", "algorithm": "breadth_first", "include": ["expansions"] });
    let whole = [post(&by(&hard(0), "ida_star"), ""), post(&large, ""), post(&by(&eight(&mut random), "auto"), "")];
    let count = short_or_long(600, 10_000);
    for nth in 0..count {
        let request = &whole[nth % whole.len()];
        let mut client = taquin.client();
        // Within the headers, within the body, or after the request.
        let sent = if nth.is_multiple_of(4) { request.len() } else { random.below(request.len()) };
        client.write(&request[..sent]).expect("a connection");
        if nth.is_multiple_of(8) {
            // Within the response, or before it.
            let mut byte = [0];
            client.stream.set_read_timeout(Some(Duration::from_millis(5))).expect("an option");
            let _ = client.stream.peek(&mut byte);
        }
    }
    assert_idle(&taquin);
    taquin.client().solve(&by(&eight(&mut random), "ida_star")).expect(200);
    assert_eq!(taquin.metrics()["taquin_panics_total"], 0.0);
    print_row("clients that left at any byte: jobs, memory, connections that are held", 0, format!("0 (of {count})"));
    taquin.end("clients that leave at any byte");
}
