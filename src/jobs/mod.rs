//! Jobs: many boards, labelled in chunks, and the files that hold the labels.
//!
//! A chunk is a pure function: from the description of the job and the number of the chunk to one part file. Files are
//! created once and never changed, so what exists in the directory is the state of the job (docs/adr/0043).
//!
//! - `chunk_size`: boards of a chunk, from the cost of a sample
//! - `check`: labels that are computed again, to compare
//! - `manifest`: `end.json`, which ends a job
//! - `runner`: makes parts on threads of this process
//! - `stored_job`: the files of a job
//! - `spec`: the description of a job
//! - `recipe`: boards that a short text describes
//! - `part`: the file of a chunk
//! - `directory`: files that are created once

mod check;
mod chunk_size;
mod directory;
mod manifest;
mod part;
mod recipe;
mod runner;
mod spec;
mod stored_job;

pub use check::{Check, CheckFinding, check};
pub use chunk_size::chunk_size;
pub use directory::{Created, Directory};
pub use manifest::{Manifest, ManifestPart, Totals};
pub use part::{MAX_ROWS, Part, PartError, PartHeader, Row};
pub use recipe::{Recipe, RecipeError};
pub use runner::{Progress, Resources, RunEnd, Shard, label_chunk, run};
pub use spec::{JobSpec, SpecError};
pub use stored_job::{JobError, StoredJob};
