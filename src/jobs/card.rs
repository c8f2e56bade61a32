//! The data set card: `README.md` beside the labels, in the form of data set hubs.

use std::fmt::Write;

use super::manifest::Manifest;
use super::spec::JobSpec;
use super::stored_job::{JobError, StoredJob};
use crate::search::Named;
use crate::service::Want;

const CARD: &str = "README.md";

impl StoredJob {
    /// Creates the card of a complete job, unless there is one.
    ///
    /// # Errors
    /// [`JobError`].
    pub fn put_card(&self) -> Result<(), JobError> {
        let Some(manifest) = self.manifest()? else { return Ok(()) };
        let card = card(self.spec(), &manifest);
        self.put_with(CARD, |file| file.write_all(card.as_bytes())).map(|_| ())
    }
}

/// The text of the card.
fn card(spec: &JobSpec, manifest: &Manifest) -> String {
    let JobSpec { recipe, want, version, .. } = spec;
    let (goal, seed, count) = (recipe.goal(), recipe.seed(), recipe.count());
    let size = goal.size();
    let (rows, cols) = (size.rows(), size.cols());
    let totals = &manifest.totals;
    let solved = totals.boards - totals.failed;
    let (first, last) = (totals.lengths.keys().next(), totals.lengths.keys().last());
    let sum: u64 = totals.lengths.iter().map(|(length, boards)| u64::from(*length) * boards).sum();
    let mut card = String::new();
    let mut line = |line: std::fmt::Arguments<'_>| writeln!(card, "{line}").expect("a text takes all lines");
    line(format_args!("---\npretty_name: {count} random {rows}×{cols} sliding-tile puzzles"));
    line(format_args!("size_categories:\n- {}\ntags:\n- sliding-puzzle\n- search\n---\n", size_category(count)));
    line(format_args!("# {count} random {rows}×{cols} sliding-tile puzzles\n"));
    line(format_args!(
        "Board *i*, from 0, is the board that Taquin draws for the seed `{seed}/i`, uniformly over all boards from which \
         the goal `{goal}` can be reached. Each has {}.\n",
        meaning(*want)
    ));
    line(format_args!("- Boards: {}, of which {} failed.", totals.boards, totals.failed));
    line(format_args!("- Lengths not proven optimal: {} of {solved}.", totals.unproven));
    if let (Some(first), Some(last)) = (first, last) {
        line(format_args!("- Lengths: {first} to {last}, mean {:.3}.", sum as f64 / solved as f64));
    }
    line(format_args!("- Solver: Taquin {version}, `want` `{}`.\n", want.name()));
    line(format_args!("## Check a row\n\nA running Taquin draws board *i*, here 0, and solves it:\n"));
    let goal = goal.to_string().replace(' ', "+");
    line(format_args!(
        "```sh\ncurl -sG http://127.0.0.1:8080/random -d rows={rows} -d cols={cols} -d goal={goal} --data-urlencode \
         'seed={}/0'\n```\n",
        seed.replace('\'', "'\\''")
    ));
    line(format_args!(
        "`taquin batch --verify .` checks all checksums and solves a sample again. `taquin batch . -o labels.csv` writes \
         a line for each board.\n"
    ));
    line(format_args!("## Histogram\n\n| length | boards |\n|---:|---:|"));
    for (length, boards) in &totals.lengths {
        line(format_args!("| {length} | {boards} |"));
    }
    card
}

/// What a label is, in words.
fn meaning(want: Want) -> &'static str {
    match want {
        Want::Length => "the length of an optimal solution",
        Want::Moves => "a solution, as the moves of the blank",
        Want::Next => {
            "the length of an optimal solution, and all first moves of optimal solutions as the sum of U 1, L 2, D 4, \
             R 8"
        }
        Want::Bounds => "a lower bound on the length, and the length of a solution, both without a search",
        Want::Expanded => "the length of an optimal solution, and the number of nodes that the search expanded",
    }
}

/// The class of sizes that data set hubs know.
fn size_category(count: u64) -> &'static str {
    match count {
        0..1_000 => "n<1K",
        1_000..10_000 => "1K<n<10K",
        10_000..100_000 => "10K<n<100K",
        100_000..1_000_000 => "100K<n<1M",
        1_000_000..10_000_000 => "1M<n<10M",
        10_000_000..100_000_000 => "10M<n<100M",
        100_000_000..1_000_000_000 => "100M<n<1B",
        _ => "1B<n<10B",
    }
}
