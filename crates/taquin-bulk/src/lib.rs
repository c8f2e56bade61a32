//! Labels many sliding-tile puzzles. The puzzles are rows of an input or boards of a recipe. Jobs store labels as
//! files.
//!
//! ```
//! use std::convert::Infallible;
//! use taquin_bulk::{BatchSolver, LabelControl, LabelLimits, LabelledRow, Recipe, RequestedLimits, Want, label_rows};
//! use taquin_solver::{Board, LazyTables, Size};
//!
//! let goal = Board::blank_last(Size::try_from((3, 3))?);
//! let recipe = Recipe::try_new(goal, "seed", 100)?;
//! let tables = LazyTables::default();
//! let limits = LabelLimits::of(RequestedLimits::default(), 64 << 20);
//! let mut solver = BatchSolver::new(&tables, Want::Length, limits);
//! let rows = (0..recipe.count()).map(|index| (index, Ok::<_, Infallible>(recipe.board(index))));
//! let mut longest = 0;
//! label_rows(rows, &mut solver, LabelControl::default(), |_, row| {
//!     if let LabelledRow::Solved(_, label) = row {
//!         longest = longest.max(label.length);
//!     }
//!     Ok::<_, Infallible>(())
//! })?;
//! assert!(longest > 20);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`label_rows`] is the only loop that labels rows. A source yields puzzles or row errors, and a sink receives the
//! labels. A job ([`StoredJob`]) stores labels in [`Files`], such as a directory. A *chunk* is a range of boards that
//! is labelled as a whole. A *part* is the file with the labels of a chunk. A *shard* is every n-th chunk, for one of n
//! processes. The bytes of a part depend only on the description of the job and the number of the chunk, unless a time
//! limit ends a search, or a search fails or is skipped. Files are created once and never changed, so the existing
//! files are the state of the job (docs/adr/0023).
//!
//! Each module uses only the modules below it in this list:
//!
//! - `command`: the command `taquin batch`, in builds with the feature `command`
//! - `card`: the data set card `README.md`
//! - `check`: checks of a job's files and of a sample of its labels
//! - `manifest`: `end.json`, which has the state of an ended job, and the list of parts of a complete job
//! - `runner`: makes the parts of a job on threads of this process
//! - `stored_job`: the files of a job
//! - `chunk_size`: selects the number of boards of a chunk, by the cost of a sample of boards
//! - `spec`: the description of a job
//! - `input`: the boards of an input, in a packed format
//! - `input_problems`: the errors of the invalid rows of an input
//! - `input_files`: the files of an input, and the list of the files' digests
//! - [`rows`]: reads lines of JSON or CSV as puzzles, and writes labels as lines
//! - [`fields`]: reads the fields of a row or of a request, and reports all errors at once
//! - `draw`: random boards from seeds, also by optimal length or percentile, or by random walks
//! - `recipe`: uniform random boards from one seed
//! - `lines`: labels as JSON and CSV
//! - `parquet_file`: labels as Parquet, in builds with the feature `parquet`
//! - `label_rows`: the loop that labels rows
//! - `batch_solver`: the solver that labels boards, with any goals
//! - `part`: the file of a chunk
//! - `row_error`: the errors of a row
//! - `label`: the label of a board, and the limits of its search
//! - [`test_files`]: implementations of `Files` for tests
//! - `directory`: `Files` in a directory
//! - `new_file`: files that are written under a temporary name first
//! - `directory_lock`: locks on directories, against conflicting use by other processes
//! - `job_id`: ids of jobs, and names of their folders
//! - `folder`: `Files` in a folder of other `Files`
//! - `file_system`: opens and compares regular files, removes files and folders, and syncs folders
//! - `files`: the trait `Files`, files that are created once
//! - `sealed`: digests, and checksums at the end of text files
//! - `ordered`: parallel map with the results in order

// Only tests may unwrap and print. The message of an `expect` gives the reason why the call cannot fail.
#![cfg_attr(not(test), warn(clippy::too_many_lines, clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr))]

mod batch_solver;
mod card;
mod check;
mod chunk_size;
#[cfg(feature = "command")]
pub mod command;
#[cfg(unix)]
mod directory;
#[cfg(unix)]
mod directory_lock;
mod draw;
pub mod fields;
#[cfg(unix)]
mod file_system;
mod files;
mod folder;
mod input;
mod input_files;
mod input_problems;
mod job_id;
mod label;
mod label_rows;
mod lines;
mod manifest;
#[cfg(unix)]
mod new_file;
mod ordered;
#[cfg(feature = "parquet")]
mod parquet_file;
mod part;
mod recipe;
mod row_error;
pub mod rows;
mod runner;
mod sealed;
mod spec;
mod stored_job;
#[cfg(unix)]
pub mod test_files;

pub use batch_solver::{BatchSolver, LoadedTables};
pub use card::data_set_card;
pub use check::{Check, CheckFinding, check};
pub use chunk_size::{SampledBoards, chunk_of_cost, chunk_size, cost_of_board};
#[cfg(unix)]
pub use directory::Directory;
#[cfg(unix)]
pub use directory_lock::{DIRECTORY_LOCK, DirectoryLock, DirectoryUse, OutputLock, canonical};
pub use draw::{Draw, DrawError, DrawnBoard, Seeds, Solvability, Walk, draw_boards, draw_boards_with, fresh_seed};
#[cfg(unix)]
pub use file_system::{if_found, is_same_file, open_regular, sync_folder_of};
pub use files::{Created, Files, SMALL_FILE, WriteFile, invalid, too_long};
pub use folder::Folder;
pub use input::{INPUT_PART_ROWS, InputBoards, InputPartError, InputRecord, InputWriter, decode_input_part};
pub use input_files::SPEC;
pub use input_problems::{InputProblems, InputProblemsWriter, StoredProblems};
pub use job_id::{FolderName, JobId};
pub use label::{FailureObserver, Label, LabelControl, LabelError, LabelLimits, RequestedLimits, Want};
pub use label_rows::{LabelledRow, RowsEnd, label_rows};
pub use lines::{CsvColumns, board_json, label_json, needs_escapes};
pub use manifest::{EndState, JobEnd, Manifest, ManifestPart, Totals};
#[cfg(unix)]
pub use new_file::{NewFile, is_temporary};
pub use ordered::map_in_order;
#[cfg(feature = "parquet")]
pub use parquet_file::{DataFile, ParquetColumns, ParquetFile, ParquetRow, ParquetRows, data_files};
pub use part::{MAX_ROWS, Part, PartError, PartHeader, Row};
pub use recipe::{Recipe, RecipeError, Seeded, board_of_seed};
pub use row_error::{ErrorKind, FieldError, ProblemDocument, RowError, counted, parity, reason, sentence};
pub use runner::{Progress, Resources, RunEnd, Shard, label_boards, label_chunk, run};
pub use sealed::{
    FormatError, SealError, SealWriter, check_lines, check_seal, hex, read_sealed, seal, seal_of_lines, sha256_hex,
    unhex, unseal,
};
pub use spec::{JobBoards, JobSpec, SpecError};
pub use stored_job::{JobError, JobRows, StoredJob};
