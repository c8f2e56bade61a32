//! Flags of `taquin batch`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use taquin_solver::Size;

use super::values::{Format, Given, TextFormat, choice, duration, given, shard, size, whole_number};
use crate::{MAX_ROWS, Recipe, Shard, Want};

/// The flags. If a value is invalid, the field has the error message instead, so that the command reports all errors at
/// once.
#[derive(Args, Clone, PartialEq, Eq, Debug)]
pub struct BatchFlags {
    /// A file of boards, - for the standard input, or the directory of a job, to write the stored labels of the job as
    /// text or Parquet
    ///
    /// A line is a board in any notation, such as `8 6 7/2 5 4/3 0 1` or `[[8,6,7],[2,5,4],[3,0,1]]`, or an object
    /// `{"id": …, "board": …}`. A line of CSV has a board in one field, or one tile in each field.
    #[arg(value_name = "FILE|DIRECTORY|-")]
    pub(crate) input: Option<String>,

    /// Format of the input: ndjson or csv [default: csv for a file .csv, otherwise ndjson]
    #[arg(long, value_name = "FORMAT", value_parser = given(choice::<TextFormat>))]
    pub(crate) input_format: Option<Given<TextFormat>>,

    /// Size of boards that are written as a list without rows, such as 3x5 [default: square]
    #[arg(long, value_name = "RxC", value_parser = given(size))]
    pub(crate) size: Option<Given<Size>>,

    /// End at the first faulty row, with exit code 3
    #[arg(long)]
    pub(crate) strict: bool,

    /// Solve random boards of this shape, such as 4x4: board i, from 0, is the one that GET /random draws for seed S/i
    #[arg(long, value_name = "RxC", value_parser = given(size))]
    pub(crate) random: Option<Given<Size>>,

    /// Number of random boards, such as 1000000 or 1e6 [range: 1 to 1e12]
    #[arg(long, value_name = "N", value_parser = given(|text| whole_number(text, 1..=Recipe::MAX_COUNT)))]
    pub(crate) count: Option<Given<u64>>,

    /// Seed of the random boards
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<String>,

    /// Goal: blank_last, blank_first, snail, or a board such as '1 2 3/8 0 4/7 6 5' [default: blank_last]
    #[arg(long, value_name = "GOAL")]
    pub(crate) goal: Option<String>,

    /// What to find out about each board: length, moves, next, bounds or expanded [default: length]
    ///
    /// next: all first moves of optimal solutions, as the sum of U 1, L 2, D 4, R 8. bounds: without a search.
    #[arg(long, value_name = "WANT", value_parser = given(choice::<Want>))]
    pub(crate) want: Option<Given<Want>>,

    /// Time limit of each board, such as 100ms [default: none up to 16 cells, 100ms above]
    #[arg(long, value_name = "DURATION", value_parser = given(duration))]
    pub(crate) board_time: Option<Given<Duration>>,

    /// Maximum number of nodes that the search of a board expands
    #[arg(long, value_name = "N", value_parser = given(|text| whole_number(text, 1..=u64::MAX)))]
    pub(crate) board_expanded: Option<Given<u64>>,

    /// Where to write: a file, a directory, or - for the standard output [default: -]
    ///
    /// A text file gets its name when it is complete. Until then, the rows are in FILE.unfinished, and --resume
    /// continues an interrupted run. In a directory of packed labels, the boards are solved in chunks, and each chunk
    /// becomes a file. To continue an interrupted run there, repeat the same command. This also works after a power
    /// failure. A run that writes Parquet cannot be continued.
    #[arg(short, long, value_name = "FILE|DIRECTORY|-")]
    pub(crate) output: Option<String>,

    /// Format: ndjson, csv, parquet or packed [default: by the name of the output]
    ///
    /// packed is the format of directories. parquet in a directory is a data set: files of 10,485,760 rows, and a card.
    /// The format parquet needs a build with the feature `parquet`, such as the container image.
    #[arg(long, value_name = "FORMAT", value_parser = given(choice::<Format>))]
    pub(crate) format: Option<Given<Format>>,

    /// Go on with the rows of an interrupted run of the same command, or begin if there are none
    #[arg(long)]
    pub(crate) resume: bool,

    /// Replace the output file if it exists, and the rows of an interrupted run unless --resume is given
    #[arg(long)]
    pub(crate) overwrite: bool,

    /// Solve only every n-th chunk, beginning with chunk i, counted from 0, such as 17/100; other processes solve the
    /// other chunks into the same directory
    #[arg(long, value_name = "i/n", value_parser = given(shard))]
    pub(crate) shard: Option<Given<Shard>>,

    /// Number of boards in a chunk [default: at most about 20 seconds of work on a core] [range: 1 to 1048576]
    #[arg(long, value_name = "N", value_parser = given(|text| whole_number(text, 1..=MAX_ROWS.into()).map(|chunk| chunk as u32)))]
    pub(crate) chunk: Option<Given<u32>>,

    /// Check a directory: checksums, digests, counts, and labels of a sample, which is solved again
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) verify: Option<PathBuf>,

    /// Number of boards that --verify solves again [default: 1000]
    #[arg(long, value_name = "N", value_parser = given(|text| whole_number(text, 0..=u64::MAX)))]
    pub(crate) sample: Option<Given<u64>>,
}

impl BatchFlags {
    /// Returns the names of all given flags, except `verify`.
    pub(crate) fn given(&self) -> impl Iterator<Item = &'static str> {
        let flags = [
            ("random", self.random.is_some()),
            ("count", self.count.is_some()),
            ("seed", self.seed.is_some()),
            ("input-format", self.input_format.is_some()),
            ("size", self.size.is_some()),
            ("strict", self.strict),
            ("goal", self.goal.is_some()),
            ("want", self.want.is_some()),
            ("board-time", self.board_time.is_some()),
            ("board-expanded", self.board_expanded.is_some()),
            ("output", self.output.is_some()),
            ("format", self.format.is_some()),
            ("resume", self.resume),
            ("overwrite", self.overwrite),
            ("shard", self.shard.is_some()),
            ("chunk", self.chunk.is_some()),
            ("sample", self.sample.is_some()),
        ];
        flags.into_iter().filter(|(_, is_given)| *is_given).map(|(name, _)| name)
    }
}
