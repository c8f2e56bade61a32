//! Jobs: many boards, labelled in chunks, and the files that hold the labels.
//!
//! A chunk is a pure function: from the description of the job and the number of the chunk to one part file. Files are
//! created once and never changed, so what exists is the state of the job (docs/adr/0043).
//!
//! The files, each of which uses only those below it:
//!
//! - `engine`: jobs of clients, made beside all other work of a service (docs/adr/0047)
//! - `card`: `README.md`, which says what the labels are
//! - `check`: labels that are computed again, to compare
//! - `manifest`: `end.json`, which ends a job
//! - `runner`: makes parts on threads of this process
//! - `stored_job`: the files of a job
//! - `chunk_size`: boards of a chunk, from the cost of a sample
//! - `spec`: the description of a job
//! - `input`: boards of an input, packed
//! - `input_problems`: why rows of an input are no boards
//! - `input_files`: the files of an input, and the list of their digests
//! - `recipe`: boards that a short text describes
//! - `lines`: labels as JSON and CSV
//! - `parquet_file`: labels as Parquet, in builds with the feature `parquet`
//! - `part`: the file of a chunk
//! - `directory`: a directory with such files
//! - `new_file`: files that get their names when they are whole
//! - `directory_lock`: which processes use a directory
//! - `folder`: a folder of such a place as a place of its own
//! - `file_system`: regular files, and whatever else has their names
//! - `files`: files that are created once
//! - `sealed`: checksums at the end of text files
//! - `hex`: digests in hexadecimal
//! - `ordered`: work on several threads, with results in order

mod card;
mod check;
mod chunk_size;
mod directory;
mod directory_lock;
mod engine;
mod file_system;
mod files;
mod folder;
mod hex;
mod input;
mod input_files;
mod input_problems;
mod lines;
mod manifest;
mod new_file;
mod ordered;
#[cfg(feature = "parquet")]
mod parquet_file;
mod part;
mod recipe;
mod runner;
mod sealed;
mod spec;
mod stored_job;

pub use card::data_set_card;
pub use check::{Check, CheckFinding, check};
pub use chunk_size::{SampledBoards, chunk_of_cost, chunk_size, cost_of_board};
pub use directory::Directory;
pub use directory_lock::{DIRECTORY_LOCK, DirectoryLock, DirectoryUse, OutputLock, canonical};
pub use engine::{
    CreateError, Dispatch, Draft, Ended, Ending, EngineError, FolderName, Job, JobCounts, JobEngine, JobId, JobLane,
    JobOwner, JobSettings, JobState, JobStore, JobView, NewFolder, WaitingFor,
};
pub use file_system::{if_found, is_same_file, open_regular, sync_folder_of};
#[cfg(all(test, feature = "cluster"))]
pub(crate) use files::tests::{FailingFiles, Failure, FilesInMemory, check_promises};
#[cfg(feature = "cluster")]
pub(crate) use files::too_long;
pub use files::{Created, Files, SMALL_FILE, WriteFile};
pub use folder::Folder;
pub use hex::{hex, sha256_hex};
pub use input::{InputBoards, InputRecord, InputWriter, PIECE_BOARDS, PieceError, decode_piece};
pub use input_problems::{InputProblems, InputProblemsWriter, StoredProblems};
pub use lines::{CsvColumns, board_json, label_json};
pub use manifest::{EndState, JobEnd, Manifest, ManifestPart, Totals};
pub use new_file::{NewFile, is_temporary};
pub use ordered::map_in_order;
#[cfg(feature = "parquet")]
pub use parquet_file::{DataFile, ParquetColumns, ParquetFile, ParquetRow, ParquetRows, data_files};
pub use part::{MAX_ROWS, Part, PartError, PartHeader, Row};
pub use recipe::{Recipe, RecipeError};
pub use runner::{Progress, Resources, RunEnd, Shard, label_boards, label_chunk, row_of, run};
pub use sealed::{
    FormatError, SealError, SealWriter, check_lines, check_seal, read_sealed, seal, seal_of_lines, unseal,
};
pub use spec::{JobBoards, JobSpec, SpecError};
pub use stored_job::{JobError, JobRows, StoredJob};
