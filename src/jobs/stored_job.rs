//! A job in a directory: what exists there is its state.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::chunk_size::SampledBoards;
use super::directory::{Created, Directory};
use super::input::InputBoards;
use super::part::{Part, PartError, PartHeader};
use super::recipe::Recipe;
use super::spec::{JobBoards, JobSpec, SpecError};
use crate::domain::Puzzle;

/// A job and the files of its directory: `spec.json` once it is accepted, a part for each chunk that is done, and
/// `end.json` once it is complete.
#[derive(Clone, Debug)]
pub struct StoredJob {
    directory: Directory,
    spec: JobSpec,
    digest: [u8; 32],
}

/// Why a job cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or the directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// There is no job in the directory.
    #[error("{} has no job: there is no spec.json", .0.display())]
    NoJob(PathBuf),
    /// `spec.json` is not the description of a job.
    #[error("{}: {source}", path.display())]
    Spec {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: SpecError,
    },
    /// The directory has another job.
    #[error("{} has another job: its `{member}` differs", path.display())]
    OtherJob {
        /// The directory.
        path: PathBuf,
        /// The member of the description that differs.
        member: &'static str,
    },
    /// A part is damaged, or belongs to another job.
    #[error("{}: {source}; remove the file, and run the job again", path.display())]
    Part {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: PartError,
    },
}

const SPEC: &str = "spec.json";
const PARTS: &str = "parts";
const PART_EXTENSION: &str = ".tqp";
/// Name of the file that ends a job.
pub(super) const END: &str = "end.json";

impl StoredJob {
    /// Opens the job of a directory, or creates it there. A job that exists keeps the size of its chunks.
    ///
    /// # Errors
    /// See [`JobError`].
    pub fn create(path: &Path, spec: &JobSpec) -> Result<Self, JobError> {
        let file = |source| JobError::File { path: path.to_owned(), source };
        let directory = Directory::create(path).map_err(file)?;
        directory.create_folder(PARTS).map_err(file)?;
        directory.put(SPEC, &spec.to_json()).map_err(file)?;
        let job = Self::open(path)?;
        match job.spec.difference(spec) {
            None => Ok(job),
            Some(member) => Err(JobError::OtherJob { path: path.to_owned(), member }),
        }
    }

    /// Opens the job of a directory.
    ///
    /// # Errors
    /// See [`JobError`].
    pub fn open(path: &Path) -> Result<Self, JobError> {
        let at = path.join(SPEC);
        let file = |source| JobError::File { path: at.clone(), source };
        if !path.try_exists().map_err(file)? {
            return Err(JobError::NoJob(path.to_owned()));
        }
        let directory = Directory::create(path).map_err(file)?;
        let bytes = directory.get(SPEC).map_err(file)?.ok_or_else(|| JobError::NoJob(path.to_owned()))?;
        let spec = JobSpec::of_json(&bytes).map_err(|source| JobError::Spec { path: at.clone(), source })?;
        Ok(Self { directory, spec, digest: Sha256::digest(&bytes).into() })
    }

    /// Its description.
    pub fn spec(&self) -> &JobSpec {
        &self.spec
    }

    /// SHA-256 of the bytes of `spec.json`.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// Its directory.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// By chunk: true if its part exists. Removes what killed processes left of parts that exist.
    ///
    /// # Errors
    /// [`JobError::File`].
    pub fn done(&self) -> Result<Vec<bool>, JobError> {
        let mut done = vec![false; self.spec.chunks() as usize];
        let mut mark = |name: &str| {
            if let Some(done) = chunk_of(name).and_then(|chunk| done.get_mut(chunk)) {
                *done = true;
            }
        };
        let file = |source| self.file_error(PARTS, source);
        self.directory.visit(PARTS, &mut mark, |_| false).map_err(file)?;
        let is_done = |name: &str| chunk_of(name).is_none_or(|chunk| done.get(chunk).is_none_or(|done| *done));
        self.directory.visit(PARTS, |_| {}, is_done).map_err(file)?;
        Ok(done)
    }

    /// Stores the part of a chunk, unless another process has.
    ///
    /// # Errors
    /// [`JobError::File`].
    pub fn put_part(&self, chunk: u64, part: &Part) -> Result<Created, JobError> {
        let boards = self.spec.boards_of(chunk);
        let header =
            PartHeader { spec: self.digest, chunk, first: boards.start, rows: (boards.end - boards.start) as u32 };
        let name = part_name(chunk);
        self.directory.put(&name, &part.encode(&header)).map_err(|source| self.file_error(&name, source))
    }

    /// True if the part of a chunk exists.
    ///
    /// # Errors
    /// [`JobError::File`].
    pub fn has_part(&self, chunk: u64) -> Result<bool, JobError> {
        let name = part_name(chunk);
        self.path().join(&name).try_exists().map_err(|source| self.file_error(&name, source))
    }

    /// Reads the bytes of the part of a chunk, if it exists, without a check.
    ///
    /// # Errors
    /// [`JobError::File`].
    pub fn part_bytes(&self, chunk: u64) -> Result<Option<Vec<u8>>, JobError> {
        self.get(&part_name(chunk))
    }

    /// Reads the part of a chunk, if it exists, and its bytes.
    ///
    /// # Errors
    /// [`JobError::File`] and [`JobError::Part`].
    pub fn part(&self, chunk: u64) -> Result<Option<(Part, Vec<u8>)>, JobError> {
        let name = part_name(chunk);
        let Some(bytes) = self.part_bytes(chunk)? else { return Ok(None) };
        let wrong = |source| JobError::Part { path: self.path().join(&name), source };
        let (header, part) = Part::decode(self.spec.want, &bytes).map_err(wrong)?;
        let is_own =
            header.spec == self.digest && header.chunk == chunk && header.boards() == self.spec.boards_of(chunk);
        if is_own { Ok(Some((part, bytes))) } else { Err(wrong(PartError::Columns)) }
    }

    /// The boards with these indices. A row of an input that is no board is `None`.
    ///
    /// # Errors
    /// [`JobError::File`] if an input cannot be read or is damaged.
    pub fn boards(&self, indices: Range<u64>) -> Result<JobRows, JobError> {
        Ok(match &self.spec.boards {
            JobBoards::Recipe(recipe) => JobRows::Drawn { recipe: recipe.clone(), indices },
            JobBoards::Input(input) => {
                JobRows::Read(input.read(&self.directory, indices).map_err(|source| self.file_error("input", source))?)
            }
        })
    }

    /// Reads a file of the directory.
    ///
    /// # Errors
    /// [`JobError::File`].
    pub(super) fn get(&self, name: &str) -> Result<Option<Vec<u8>>, JobError> {
        self.directory.get(name).map_err(|source| self.file_error(name, source))
    }

    /// Creates a file of the directory, unless it exists.
    ///
    /// # Errors
    /// [`JobError::File`].
    pub(super) fn put_with(
        &self,
        name: &str,
        write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) -> Result<Created, JobError> {
        self.directory.put_with(name, write).map_err(|source| self.file_error(name, source))
    }

    pub(super) fn file_error(&self, name: &str, source: io::Error) -> JobError {
        JobError::File { path: self.path().join(name), source }
    }
}

impl JobBoards {
    /// Some of the boards of a job that is to be created in a directory, which has the input.
    ///
    /// # Errors
    /// [`JobError::File`] if the input cannot be read.
    pub fn sample(&self, path: &Path) -> Result<SampledBoards, JobError> {
        let error = |source| JobError::File { path: path.join("input"), source };
        match self {
            Self::Recipe(recipe) => Ok(SampledBoards::of_recipe(recipe)),
            Self::Input(input) => {
                let directory = Directory::create(path).map_err(error)?;
                let board = |index| Ok(input.read(&directory, index..index + 1)?.next().flatten());
                SampledBoards::try_new(*input.goal(), input.count(), board).map_err(error)
            }
        }
    }
}

/// Boards of a job, one after another.
#[derive(Debug)]
pub enum JobRows {
    /// Drawn from a recipe.
    Drawn {
        /// The recipe.
        recipe: Recipe,
        /// Indices of the boards that are left.
        indices: Range<u64>,
    },
    /// Read from an input.
    Read(InputBoards),
}

impl Iterator for JobRows {
    type Item = Option<Puzzle>;

    fn next(&mut self) -> Option<Option<Puzzle>> {
        match self {
            Self::Drawn { recipe, indices } => indices.next().map(|index| Some(recipe.board(index))),
            Self::Read(boards) => boards.next(),
        }
    }
}

impl JobError {
    /// True if the disk is full, so that the job can go on once there is room.
    pub fn is_disk_full(&self) -> bool {
        let is_full = |kind| matches!(kind, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
        matches!(self, Self::File { source, .. } if is_full(source.kind()))
    }
}

/// Name of the file of a chunk. The names are in the order of the chunks.
fn part_name(chunk: u64) -> String {
    format!("{PARTS}/{chunk:010}{PART_EXTENSION}")
}

fn chunk_of(name: &str) -> Option<usize> {
    name.strip_suffix(PART_EXTENSION)?.parse().ok()
}
