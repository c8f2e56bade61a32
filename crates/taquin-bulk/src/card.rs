//! The data set card: the file `README.md` beside the labels, in the format of sites that host data sets.

use taquin_solver::Named;

use crate::label::Want;
use crate::manifest::Totals;
use crate::spec::{JobBoards, JobSpec};
use crate::stored_job::{JobError, StoredJob};

const CARD: &str = "README.md";

impl StoredJob {
    /// Creates the card of a complete job. Does nothing if the card exists, or if the job is not complete.
    ///
    /// # Errors
    /// [`JobError`].
    pub fn put_card(&self) -> Result<(), JobError> {
        let Some(manifest) = self.manifest()? else { return Ok(()) };
        let card = card(self.spec(), &manifest.totals, CardFiles::Parts);
        self.put_with(CARD, |file| file.write_all(card.as_bytes())).map(|_| ())
    }
}

/// The files that a card describes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CardFiles<'n> {
    /// The parts of a job.
    Parts,
    /// Parquet files. The value is the pattern of the file names, for the front matter.
    Parquet(&'n str),
}

/// Returns the card of a data set in Parquet files. `files` is the pattern of the file names, such as `data-*.parquet`.
/// The front matter of the card has this pattern.
pub fn data_set_card(spec: &JobSpec, totals: &Totals, files: &str) -> String {
    card(spec, totals, CardFiles::Parquet(files))
}

fn card(spec: &JobSpec, totals: &Totals, files: CardFiles<'_>) -> String {
    [head(spec, files), counts(spec, totals, files), check(spec, files), histogram(totals)].concat()
}

/// Returns the front matter, the title, and the description of the rows.
fn head(spec: &JobSpec, files: CardFiles<'_>) -> String {
    let (goal, count) = (spec.boards.goal(), spec.boards.count());
    let meaning = meaning(spec.want);
    let (kind, rows) = match &spec.boards {
        JobBoards::Recipe(recipe) => (
            "random ",
            format!(
                "Board *i*, from 0, is the board that Taquin draws for the seed `{}/i`, uniformly over all boards from \
                 which the goal `{goal}` can be reached. Each has {meaning}.",
                recipe.seed()
            ),
        ),
        JobBoards::Input(_) => {
            let place = if files == CardFiles::Parts { ", whose boards are in `input/`" } else { "" };
            (
                "",
                format!(
                    "Row *i*, from 0, is row *i* of an input{place}. The goal is `{goal}`. Each board has {meaning}."
                ),
            )
        }
    };
    let title = format!("{count} {kind}{}×{} sliding-tile puzzles", goal.size().rows(), goal.size().cols());
    let data_files = match files {
        CardFiles::Parts => String::new(),
        CardFiles::Parquet(files) => format!("configs:\n- config_name: default\n  data_files: {files}\n"),
    };
    format!(
        "---\npretty_name: {title}\n{data_files}size_categories:\n- {}\ntags:\n- sliding-puzzle\n- search\n---\n\n# {title}\n\n{rows}\n\n",
        size_category(count)
    )
}

/// Returns the list with the counts of the rows and the version of the solver.
fn counts(spec: &JobSpec, totals: &Totals, files: CardFiles<'_>) -> String {
    let Totals { boards, failed, invalid, unproven, lengths } = totals;
    let solved = boards - failed - invalid;
    let mut text = format!("- Boards: {}, of which {failed} failed.\n", boards - invalid);
    if *invalid > 0 {
        let place = if files == CardFiles::Parts { "`input/*.ndjson` say why" } else { "their `board` is null" };
        text += &format!("- Rows that are no boards: {invalid}; {place}.\n");
    }
    text += &format!("- Lengths not proven optimal: {unproven} of {solved}.\n");
    if let (Some(first), Some(last)) = (lengths.keys().next(), lengths.keys().last()) {
        let sum: u64 = lengths.iter().map(|(length, boards)| u64::from(*length) * boards).sum();
        text += &format!("- Lengths: {first} to {last}, mean {:.3}.\n", sum as f64 / solved as f64);
    }
    text + &format!("- Solver: Taquin {}, `want` `{}`.\n\n", spec.version, spec.want.name())
}

/// Returns the section that explains how to check a row.
fn check(spec: &JobSpec, files: CardFiles<'_>) -> String {
    let (goal, size) = (spec.boards.goal(), spec.boards.goal().size());
    let draw = match &spec.boards {
        JobBoards::Recipe(recipe) => format!(
            "A running Taquin draws board *i*, here 0:\n\n```sh\ncurl -sG http://127.0.0.1:8080/random -d rows={} -d \
             cols={} -d goal={} --data-urlencode 'seed={}/0'\n```\n\n",
            size.rows(),
            size.cols(),
            goal.to_string().replace(' ', "+"),
            recipe.seed().replace('\'', "'\\''")
        ),
        JobBoards::Input(_) => String::new(),
    };
    format!("## Check a row\n\n{draw}{}\n\n", use_of(files))
}

/// Returns a text that explains how to use the files.
fn use_of(files: CardFiles<'_>) -> &'static str {
    match files {
        CardFiles::Parts => {
            "`taquin batch --verify .` checks all checksums and solves a sample again. `taquin batch . -o labels.csv` \
             writes a line for each board."
        }
        CardFiles::Parquet(_) => {
            "In each row, `index` is *i*, `board` has the tiles row by row with 0 for the blank, and `length` is in \
             moves. `optimal` says that no solution is shorter; `lower_bound`, where it is a column, is proven. A value \
             is null if it is unknown."
        }
    }
}

fn histogram(totals: &Totals) -> String {
    let lines = totals.lengths.iter().map(|(length, boards)| format!("| {length} | {boards} |\n"));
    format!("## Histogram\n\n| length | boards |\n|---:|---:|\n{}", lines.collect::<String>())
}

/// Returns a description of the labels of a kind.
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

/// Returns the standard name for the size of a data set with `count` rows, as the front matter requires. There is a
/// single name for all sizes of a trillion rows or more.
fn size_category(count: u64) -> &'static str {
    match count {
        0..1_000 => "n<1K",
        1_000..10_000 => "1K<n<10K",
        10_000..100_000 => "10K<n<100K",
        100_000..1_000_000 => "100K<n<1M",
        1_000_000..10_000_000 => "1M<n<10M",
        10_000_000..100_000_000 => "10M<n<100M",
        100_000_000..1_000_000_000 => "100M<n<1B",
        1_000_000_000..10_000_000_000 => "1B<n<10B",
        10_000_000_000..100_000_000_000 => "10B<n<100B",
        100_000_000_000..1_000_000_000_000 => "100B<n<1T",
        _ => "n>1T",
    }
}
