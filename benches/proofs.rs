//! Proofs of 24-puzzles with tables of any partition.
//!
//! `cargo bench --bench proofs` proves the shortest solutions of 25 of Korf & Felner's (2002) boards on two cores.
//! Words after `--`: `boards=25,1` selects boards, `time=600` limits the seconds of each, and a partition such as
//! `1,2,5,6,7,12/3,4,…` replaces the standard one; `+` separates two partitions of which the maximum counts.

mod common;

use std::time::{Duration, Instant};

use taquin_solver::heuristic::{GoalClass, LargeAdditivePatterns, Partition, Patterns, Tier};
use taquin_solver::search::{Budget, Space, Trace, ida_star};
use taquin_solver::{Board, Packed128, Puzzle, Size};

use common::{OneHelper, board};

/// The allocator of the service.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// 25 of the 24-puzzles of Korf & Felner (2002).
const KORF: &str = include_str!("data/korf24.txt");

struct Instance {
    number: u8,
    start: Board,
    length: usize,
    /// Generated nodes in the paper.
    nodes: f64,
}

fn instances() -> Vec<Instance> {
    let lines = KORF.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let parsed = lines.map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let rows: Vec<String> = words[1..26].chunks(5).map(|row| row.join(" ")).collect();
        Instance {
            number: words[0].parse().expect("a number"),
            start: board(&rows.join("/")),
            length: words[26].parse().expect("a length"),
            nodes: words[27].parse().expect("nodes"),
        }
    });
    parsed.collect()
}

/// Processor time of this process so far.
fn processor_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("a file");
    let fields: Vec<&str> = stat.rsplit(')').next().expect("fields").split_whitespace().collect();
    fields[11..13].iter().map(|ticks| ticks.parse::<f64>().expect("ticks") / 100.0).sum()
}

/// Number of the instance, its length, and the nodes of the paper; then what the search found.
fn print_row(instance: &Instance, cells: [&str; 5]) {
    let Instance { number, length, nodes, .. } = instance;
    let [seconds, processor, expanded, generated, ratio] = cells;
    println!(
        "| {number:>5} | {length:>6} | {seconds:>7} | {processor:>9} | {expanded:>8} | {generated:>9} | {nodes:>14.1e} | \
         {ratio:>5} |"
    );
}

fn prove(instance: &Instance, heuristic: &LargeAdditivePatterns<'_, 5>, time: Duration) {
    let goal = Board::blank_first(instance.start.size());
    let puzzle = Puzzle::try_new(instance.start, goal).expect("solvable");
    let helper = OneHelper::default();
    let (begun, before) = (Instant::now(), processor_time());
    let budget = Budget { deadline: Some(begun + time), helpers: helper.unless_one_core(), ..Budget::UNLIMITED };
    let outcome = ida_star(&Space::<Packed128>::new(&puzzle), heuristic, &budget, &mut Trace::new(0));
    let seconds = format!("{:.1}", begun.elapsed().as_secs_f64());
    let processor = format!("{:.1}", processor_time() - before);
    let expanded = format!("{:.1e}", outcome.stats.expanded as f64);
    let generated = format!("{:.1e}", outcome.stats.generated as f64);
    match outcome.result {
        Ok(path) => {
            assert_eq!(path.len(), instance.length, "number {}", instance.number);
            let ratio = format!("{:.1}", instance.nodes / outcome.stats.generated as f64);
            print_row(instance, [&seconds, &processor, &expanded, &generated, &ratio]);
        }
        Err(_) => {
            assert!(outcome.lower_bound as usize <= instance.length);
            print_row(instance, [&format!("≥ {}", outcome.lower_bound), &processor, &expanded, &generated, "-"]);
        }
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let value = |key: &str| words.iter().find_map(|word| word.strip_prefix(key));
    let list = |text: &str| text.split(',').map(|tile| tile.parse::<u8>().expect("a number")).collect::<Vec<u8>>();
    let patterns = |text: &str| text.split('/').map(list).collect::<Patterns>();
    let size = Size::try_from((5, 5)).expect("a size");
    let class = GoalClass::of(size, 0);
    let given = words.iter().find(|word| word.contains('/')).map(|word| word.split('+').map(patterns).collect());
    let choice: Vec<Patterns> =
        given.unwrap_or_else(|| Partition::choose(class, Tier::Standard).expect("5×5 boards have standard tables"));
    let begun = Instant::now();
    let partitions = Partition::build(class, &choice);
    let megabytes = Partition::bytes_of(&partitions) as f64 / 1e6;
    println!("tables: {megabytes:.0} MB, built on one core in {:.1?}\n", begun.elapsed());
    println!("| board | length | seconds | processor | expanded | generated | Korf & Felner | ratio |");
    println!("|---|---|---|---|---|---|---|---|");
    let heuristic = LargeAdditivePatterns::new(size, class.goal_blank, &partitions);
    let selected = value("boards=").map(list);
    let time = Duration::from_secs(value("time=").map_or(600, |time| time.parse().expect("seconds")));
    let is_selected = |instance: &Instance| selected.as_ref().is_none_or(|boards| boards.contains(&instance.number));
    for instance in instances().iter().filter(|instance| is_selected(instance)) {
        prove(instance, &heuristic, time);
    }
}
