//! A job and its files. The existing files are the state of the job.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use sha2::{Digest, Sha256};
use taquin_solver::heuristic::Tier;
use taquin_solver::{Board, Puzzle, Size, WrongSolution};

use crate::chunk_size::SampledBoards;
#[cfg(unix)]
use crate::directory::Directory;
use crate::files::{Created, Files, SMALL_FILE};
use crate::input::InputRecord;
use crate::input_files::{self, SPEC};
use crate::label::{RequestedLimits, Want};
use crate::part::{Part, PartError, PartHeader, Row};
use crate::spec::{JobBoards, JobSpec, SpecError};

/// A job and its files. `spec.json` exists once the job is accepted. A part exists for each chunk that is done.
/// `end.json` exists once the job has ended.
#[derive(Clone, Debug)]
pub struct StoredJob {
    files: Arc<dyn Files>,
    spec: JobSpec,
    digest: [u8; 32],
}

/// The reason why an operation on a job failed.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// A file cannot be read or written, or has invalid content.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or the directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The directory has no job. The value is the path of the directory.
    #[error("{} has no job: there is no spec.json", .0.display())]
    NoJob(PathBuf),
    /// The record of a job in the store of a service is damaged.
    #[error("{}: {source}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// `spec.json` is not a valid description of a job.
    #[error("{}: {source}", path.display())]
    Spec {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: SpecError,
    },
    /// The directory has another job than the requested job.
    #[error("{} has another job: its `{member}` differs", path.display())]
    OtherJob {
        /// The directory.
        path: PathBuf,
        /// Name of the member in which the descriptions differ.
        member: &'static str,
    },
    /// A part is damaged, or belongs to another job or to another chunk.
    #[error("{}: {source}; remove the file, and run the job again", path.display())]
    Part {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: PartError,
    },
    /// A search returned a wrong solution, so the labels of this run may be wrong.
    #[error("a search returned a wrong solution, because of a bug or of damaged memory")]
    WrongSolution,
}

/// Iterator over boards of a job. The item of an invalid row of an input is `None`.
pub type JobRows = Box<dyn Iterator<Item = Option<Puzzle>> + Send>;

impl From<WrongSolution> for JobError {
    fn from(_: WrongSolution) -> Self {
        Self::WrongSolution
    }
}

const PARTS: &str = "parts";
const PART_EXTENSION: &str = ".tqp";
pub(crate) const END: &str = "end.json";

impl StoredJob {
    /// Opens the job in a directory. If the directory has no job, creates the job from `spec`. An existing job must
    /// describe the same labels as `spec`. The existing job keeps its number of boards in a chunk.
    ///
    /// # Errors
    /// See [`JobError`].
    #[cfg(unix)]
    pub fn create(path: &Path, spec: &JobSpec) -> Result<Self, JobError> {
        let directory = Directory::create(path).map_err(|source| JobError::File { path: path.to_owned(), source })?;
        let job = Self::create_in(Arc::new(directory), spec)?;
        job.clean();
        Ok(job)
    }

    /// Opens the job in a directory.
    ///
    /// # Errors
    /// See [`JobError`].
    #[cfg(unix)]
    pub fn open(path: &Path) -> Result<Self, JobError> {
        Self::open_in(Arc::new(Directory::at(path)))
    }

    /// Opens the job with these files. If there is no `spec.json`, creates the job from `spec`. An existing job must
    /// describe the same labels as `spec`. The existing job keeps its number of boards in a chunk.
    ///
    /// # Errors
    /// See [`JobError`].
    pub fn create_in(files: Arc<dyn Files>, spec: &JobSpec) -> Result<Self, JobError> {
        let path = files.path_of("");
        let file = |source| JobError::File { path: path.clone(), source };
        files.create_folder(PARTS).map_err(file)?;
        files.put(SPEC, &spec.to_json()).map_err(file)?;
        let job = Self::open_in(files)?;
        match job.spec.difference(spec) {
            None => Ok(job),
            Some(member) => Err(JobError::OtherJob { path, member }),
        }
    }

    /// Opens the job with these files.
    ///
    /// # Errors
    /// See [`JobError`].
    pub fn open_in(files: Arc<dyn Files>) -> Result<Self, JobError> {
        let path = files.path_of(SPEC);
        let bytes = files.get(SPEC).map_err(|source| JobError::File { path: path.clone(), source })?;
        let bytes = bytes.ok_or_else(|| JobError::NoJob(files.path_of("")))?;
        let spec = JobSpec::of_json(&bytes).map_err(|source| JobError::Spec { path, source })?;
        Ok(Self { files, spec, digest: Sha256::digest(&bytes).into() })
    }

    /// The description of the job.
    pub fn spec(&self) -> &JobSpec {
        &self.spec
    }

    /// Returns a placeholder without boards for a job whose `spec.json` or record is damaged. Creates no files.
    pub fn damaged(files: Arc<dyn Files>) -> Self {
        let smallest = Size::try_from((Size::MIN_SIDE, Size::MIN_SIDE)).expect("it is a size");
        let goal = Board::blank_last(smallest);
        let boards = JobBoards::Input(InputRecord::new(goal, 0, [0; 32], [0; 32]));
        let (want, limits) = (Want::default(), RequestedLimits::default());
        let spec = JobSpec { boards, want, limits, tables: Tier::Small, chunk: 1, version: String::new() };
        Self { files, spec, digest: [0; 32] }
    }

    /// SHA-256 of the bytes of `spec.json`.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// The files of the job.
    pub fn files(&self) -> &dyn Files {
        &*self.files
    }

    /// Removes temporary files that killed processes left. Errors are ignored, because a remaining file only takes disk
    /// space.
    pub fn clean(&self) {
        for folder in ["", PARTS, input_files::FOLDER] {
            let _ = self.files.clean(folder);
        }
    }

    /// Returns a value for each chunk. The value is true if the part of the chunk exists.
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
        self.files.list(PARTS, &mut mark).map_err(|source| self.file_error(PARTS, source))?;
        Ok(done)
    }

    /// Returns the numbers of all chunks that have a part and whose number is at least `chunk`. The order is arbitrary.
    ///
    /// # Errors
    /// [`JobError::File`].
    pub fn stored_from(&self, chunk: u64) -> Result<Vec<u64>, JobError> {
        let mut stored = Vec::new();
        // `list_after` lists only names after the name of the previous chunk.
        let after = chunk.checked_sub(1).map_or_else(String::new, file_name);
        let mut note = |name: &str| stored.extend(chunk_of(name).map(|chunk| chunk as u64));
        let listed = self.files.list_after(PARTS, &after, &mut note);
        listed.map_err(|source| self.file_error(PARTS, source))?;
        Ok(stored)
    }

    /// Returns true if the job has ended, or if the job was deleted after the job was opened.
    ///
    /// # Errors
    /// [`JobError::File`].
    pub fn is_over(&self) -> Result<bool, JobError> {
        if self.created_at(END)?.is_some() {
            return Ok(true);
        }
        // If a bucket is missing, every file in the bucket seems to be missing, but the attempt to read a file returns
        // an error.
        Ok(self.created_at(SPEC)?.is_none() && self.get_within(SPEC, SMALL_FILE)?.is_none())
    }

    /// Stores the part of a chunk. An existing part stays unchanged.
    ///
    /// # Errors
    /// [`JobError::File`].
    ///
    /// # Panics
    /// If the part has another number of rows than the chunk.
    pub fn put_part(&self, chunk: u64, part: &Part) -> Result<Created, JobError> {
        let boards = self.spec.boards_of(chunk);
        let header =
            PartHeader { spec: self.digest, chunk, first: boards.start, rows: (boards.end - boards.start) as u32 };
        let name = part_name(chunk);
        self.files.put(&name, &part.encode(&header)).map_err(|source| self.file_error(&name, source))
    }

    /// Returns true if the part of a chunk exists.
    ///
    /// # Errors
    /// [`JobError::File`].
    pub fn has_part(&self, chunk: u64) -> Result<bool, JobError> {
        self.created_at(&part_name(chunk)).map(|created| created.is_some())
    }

    /// Returns the length of the part of a chunk in bytes; `None` if the part is missing.
    ///
    /// # Errors
    /// [`JobError::File`], and [`JobError::Part`] if the part is too long.
    pub fn part_length(&self, chunk: u64) -> Result<Option<u64>, JobError> {
        let name = part_name(chunk);
        let length = self.files.length(&name).map_err(|source| self.file_error(&name, source))?;
        if length.is_some_and(|length| length > self.most_part_bytes()) {
            return Err(JobError::Part { path: self.files.path_of(&name), source: PartError::Length });
        }
        Ok(length)
    }

    fn most_part_bytes(&self) -> u64 {
        let spec = &self.spec;
        Part::most_bytes(spec.want, spec.boards.goal().size(), spec.chunk.into())
    }

    /// Creates an error for a missing part.
    pub fn missing_part(&self, chunk: u64) -> JobError {
        self.file_error(&part_name(chunk), io::Error::new(io::ErrorKind::NotFound, "the file is missing"))
    }

    /// Reads the file with the part of a chunk, and checks the header and all checksums. Returns the bytes of the file;
    /// `None` if the file is missing.
    ///
    /// # Errors
    /// [`JobError::File`] and [`JobError::Part`].
    pub fn part_bytes(&self, chunk: u64) -> Result<Option<Vec<u8>>, JobError> {
        let name = part_name(chunk);
        let Some(bytes) = self.get_within(&name, self.most_part_bytes())? else { return Ok(None) };
        let checked = Part::check(&bytes).and_then(|header| self.check_own(&header, chunk));
        checked.map_err(|source| JobError::Part { path: self.files.path_of(&name), source })?;
        Ok(Some(bytes))
    }

    fn check_own(&self, header: &PartHeader, chunk: u64) -> Result<(), PartError> {
        let is_own =
            header.spec == self.digest && header.chunk == chunk && header.boards() == self.spec.boards_of(chunk);
        if is_own { Ok(()) } else { Err(PartError::Columns) }
    }

    /// Reads the part of a chunk. Returns the part and the bytes of its file; `None` if the file is missing.
    ///
    /// # Errors
    /// [`JobError::File`] and [`JobError::Part`].
    pub fn part(&self, chunk: u64) -> Result<Option<(Part, Vec<u8>)>, JobError> {
        let name = part_name(chunk);
        let Some(bytes) = self.get_within(&name, self.most_part_bytes())? else { return Ok(None) };
        let decoded = Part::decode(self.spec.want, &bytes);
        let own = decoded.and_then(|(header, part)| self.check_own(&header, chunk).map(|()| part));
        let part = own.map_err(|source| JobError::Part { path: self.files.path_of(&name), source })?;
        Ok(Some((part, bytes)))
    }

    /// Returns the boards with these indices. The item of an invalid row of an input is `None`.
    ///
    /// # Errors
    /// [`JobError::File`] if an input cannot be read or is damaged.
    ///
    /// # Panics
    /// If the indices end after the last row of an input. For a recipe, the iterator panics at the first index that is
    /// not below the number of boards.
    pub fn boards(&self, indices: Range<u64>) -> Result<JobRows, JobError> {
        Ok(match &self.spec.boards {
            JobBoards::Recipe(recipe) => {
                let recipe = recipe.clone();
                Box::new(indices.map(move |index| Some(recipe.board(index))))
            }
            JobBoards::Input(input) => {
                let read = input.reader(self.files()).and_then(|reader| reader.read(indices));
                Box::new(read.map_err(|source| self.input_error(source))?)
            }
        })
    }

    /// Returns the rows of a chunk. Each item has the index of the row in the job, the board, and the stored row. The
    /// board of an invalid row is `None`.
    ///
    /// # Errors
    /// [`JobError::File`] and [`JobError::Part`]. A missing part is an error too.
    pub fn rows(
        &self,
        chunk: u64,
    ) -> Result<impl Iterator<Item = (u64, Option<Puzzle>, Row)> + Send + use<>, JobError> {
        let (part, _) = self.part(chunk)?.ok_or_else(|| self.missing_part(chunk))?;
        let indices = self.spec.boards_of(chunk);
        let boards = self.boards(indices.clone())?;
        Ok(indices.zip(boards).zip(part.into_rows()).map(|((index, board), row)| (index, board, row)))
    }

    /// Reads a file of at most `most` bytes; `None` if the file is missing.
    ///
    /// # Errors
    /// [`JobError::File`].
    pub fn get_within(&self, name: &str, most: u64) -> Result<Option<Vec<u8>>, JobError> {
        self.files.get_within(name, most).map_err(|source| self.file_error(name, source))
    }

    /// Returns the creation time of a file; `None` if the file is missing.
    ///
    /// # Errors
    /// [`JobError::File`].
    pub fn created_at(&self, name: &str) -> Result<Option<SystemTime>, JobError> {
        self.files.created_at(name).map_err(|source| self.file_error(name, source))
    }

    /// Creates a file with the content that `write` writes. An existing file with this name stays unchanged.
    ///
    /// # Errors
    /// [`JobError::File`].
    pub fn put_with(
        &self,
        name: &str,
        mut write: impl FnMut(&mut dyn io::Write) -> io::Result<()>,
    ) -> Result<Created, JobError> {
        self.files.put_with(name, &mut write).map_err(|source| self.file_error(name, source))
    }

    /// Converts an error that occurred while an input was read. Adds the path of the input's folder; the error itself
    /// names the file.
    pub fn input_error(&self, source: io::Error) -> JobError {
        self.file_error(input_files::FOLDER, source)
    }

    /// Converts an error of the file `name`. Adds the path of the file.
    pub fn file_error(&self, name: &str, source: io::Error) -> JobError {
        JobError::File { path: self.files.path_of(name), source }
    }
}

impl JobBoards {
    /// Takes a sample of the boards before the job is created. If the boards are an input, `files` must have the parts
    /// of the input.
    ///
    /// # Errors
    /// [`JobError::File`] if the input cannot be read.
    pub fn sample(&self, files: &dyn Files) -> Result<SampledBoards, JobError> {
        match self {
            Self::Recipe(recipe) => Ok(SampledBoards::of_recipe(recipe)),
            Self::Input(input) => {
                let error = |source| JobError::File { path: files.path_of(input_files::FOLDER), source };
                let reader = input.reader(files).map_err(error)?;
                let board = |index| Ok(reader.read(index..index + 1)?.next().flatten());
                SampledBoards::try_new(*input.goal(), input.count(), board).map_err(error)
            }
        }
    }
}

impl JobError {
    /// Returns true if a retry may succeed because the error is a failure of the storage. The error of a damaged or
    /// missing file is not temporary.
    pub fn is_temporary(&self) -> bool {
        // A file in place of a folder is damage too.
        use io::ErrorKind::{InvalidData, NotADirectory, NotFound, UnexpectedEof};
        let is_damage = |kind| matches!(kind, InvalidData | NotADirectory | NotFound | UnexpectedEof);
        matches!(self, Self::File { source, .. } if !is_damage(source.kind()))
    }

    /// Returns the message for clients. The message names files by their paths in the folder of the job, contains no
    /// other paths, and advises the client to create the job again.
    pub fn for_clients(&self, files: &dyn Files) -> String {
        let root = files.path_of("");
        let name = |path: &Path| path.strip_prefix(&root).unwrap_or(Path::new("a file")).display().to_string();
        let what = match self {
            Self::File { path, source } => format!("{}: {source}", name(path)),
            Self::NoJob(_) => format!("{SPEC} is missing"),
            Self::Record { source, .. } => format!("the record of the job: {source}"),
            Self::Spec { source, .. } => format!("{SPEC}: {source}"),
            Self::OtherJob { member, .. } => format!("the files belong to another job: its `{member}` differs"),
            Self::Part { path, source } => format!("{}: {source}", name(path)),
            Self::WrongSolution => self.to_string(),
        };
        format!("{what}; delete the job, and create it again")
    }

    /// Returns true if the operation failed because another process is doing the same work.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::File { source, .. } if source.kind() == io::ErrorKind::ResourceBusy)
    }

    /// Returns true if the disk or a disk quota is full. The job can continue once space is free.
    pub fn is_disk_full(&self) -> bool {
        let is_full = |kind| matches!(kind, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded);
        matches!(self, Self::File { source, .. } if is_full(source.kind()))
    }
}

fn part_name(chunk: u64) -> String {
    format!("{PARTS}/{}", file_name(chunk))
}

/// Returns the name of the part of a chunk in the folder of parts. The order of the names is the order of the chunks.
fn file_name(chunk: u64) -> String {
    format!("{chunk:010}{PART_EXTENSION}")
}

fn chunk_of(name: &str) -> Option<usize> {
    name.strip_suffix(PART_EXTENSION)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::Recipe;
    use crate::test_files::FilesInMemory;

    #[test]
    fn a_wrong_solution_ends_a_job() {
        let error = JobError::from(WrongSolution);
        assert!(matches!(error, JobError::WrongSolution) && !error.is_temporary());
        let reason = error.for_clients(&FilesInMemory::default());
        assert!(reason.starts_with("a search returned a wrong solution"), "{reason}");
    }

    #[test]
    fn a_job_whose_bucket_is_missing_is_not_over() {
        let files = Arc::new(FilesInMemory::default());
        let goal = Board::blank_last(Size::try_from((3, 3)).unwrap());
        let boards = JobBoards::Recipe(Recipe::try_new(goal, "s", 4).unwrap());
        let spec = JobSpec { boards, ..StoredJob::damaged(files.clone()).spec().clone() };
        let job = StoredJob::create_in(files.clone(), &spec).unwrap();
        assert!(!job.is_over().unwrap());
        files.lose_bucket();
        assert!(job.is_over().unwrap_err().is_temporary());
        let deleted = StoredJob::damaged(Arc::new(FilesInMemory::default()));
        assert!(deleted.is_over().unwrap());
    }
}
