//! Flags of `taquin batch`.

use clap::Args;

/// The flags as text. The command parses them, and reports all errors at once.
#[derive(Args, Clone, PartialEq, Eq, Debug, Default)]
pub struct BatchFlags {
    /// A file of boards, - for the standard input, or the directory of a job whose labels are written as text or
    /// Parquet
    ///
    /// A line is a board in any notation, such as `8 6 7/2 5 4/3 0 1` or `[[8,6,7],[2,5,4],[3,0,1]]`, or an object
    /// `{"id": …, "board": …}`. A line of CSV has a board, or a tile for each cell.
    #[arg(value_name = "FILE|DIRECTORY|-")]
    pub input: Option<String>,

    /// Format of the input: ndjson or csv [default: csv for a file .csv, otherwise ndjson]
    #[arg(long, value_name = "FORMAT")]
    pub input_format: Option<String>,

    /// Size of boards that are written as a list without rows, such as 3x5 [default: square]
    #[arg(long, value_name = "RxC")]
    pub size: Option<String>,

    /// End at the first faulty row, with exit code 3
    #[arg(long)]
    pub strict: bool,

    /// Solve random boards of this shape, such as 4x4: board i, from 0, is the one that GET /random draws for seed S/i
    #[arg(long, value_name = "RxC")]
    pub random: Option<String>,

    /// Number of random boards, such as 1000000 or 1e6 [range: 1 to 1e12]
    #[arg(long, value_name = "N")]
    pub count: Option<String>,

    /// Seed of the random boards
    #[arg(long, value_name = "S")]
    pub seed: Option<String>,

    /// Goal: blank_last, blank_first, snail, or a board such as '1 2 3/8 0 4/7 6 5' [default: blank_last]
    #[arg(long, value_name = "GOAL")]
    pub goal: Option<String>,

    /// What to find out about each board: length, moves, next, bounds or expanded [default: length]
    ///
    /// next: all first moves of optimal solutions, as the sum of U 1, L 2, D 4, R 8. bounds: without a search.
    #[arg(long, value_name = "WANT")]
    pub want: Option<String>,

    /// Time limit of each board, such as 100ms [default: none up to 16 cells, 100ms above]
    #[arg(long, value_name = "DURATION")]
    pub board_time: Option<String>,

    /// Maximum number of nodes that the search of a board expands
    #[arg(long, value_name = "N")]
    pub board_expanded: Option<String>,

    /// Where to write: a file, a directory, or - for the standard output [default: -]
    ///
    /// A file gets its name when it is whole; until then its rows are in FILE.unfinished. In a directory the boards are
    /// solved in chunks, each of which becomes a file. The same command again goes on where it ended, also after the
    /// machine lost power.
    #[arg(short, long, value_name = "FILE|DIRECTORY|-")]
    pub output: Option<String>,

    /// Format: ndjson, csv, parquet or packed [default: by the name of the output]
    ///
    /// packed is the format of directories. parquet in a directory is a data set: files of 10,485,760 rows, and a card.
    /// It needs a build with the feature `parquet`, as the container image is.
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<String>,

    /// Go on with the rows of an interrupted run of the same command, or begin if there are none
    #[arg(long)]
    pub resume: bool,

    /// Replace the output file if it exists, and the rows of an interrupted run unless --resume is given
    #[arg(long)]
    pub overwrite: bool,

    /// Solve every n-th chunk, the i-th first, from 0, such as 17/100; other processes solve the others into the same
    /// directory
    #[arg(long, value_name = "i/n")]
    pub shard: Option<String>,

    /// Boards of a chunk [default: as many as take about 20 seconds on a core] [range: 1 to 1048576]
    #[arg(long, value_name = "N")]
    pub chunk: Option<String>,

    /// Check a directory: checksums, digests, counts, and labels of a sample, which is solved again
    #[arg(long, value_name = "DIRECTORY")]
    pub verify: Option<String>,

    /// Number of boards that --verify solves again [default: 1000]
    #[arg(long, value_name = "N")]
    pub sample: Option<String>,
}
