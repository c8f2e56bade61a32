//! A file of labels that gets its name when it is whole.
//!
//! Until then its rows are in the folder `FILE.unfinished`, beside a state that says which run wrote them and how far
//! the run came. A run that goes on proves by digests that neither the rows nor the input before that point have changed.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::destination::{Existing, problems_of, with_end};
use super::ending::BatchError;
use crate::jobs::{NewFile, hex, open_regular, read_sealed, seal};

/// A file of labels, and of the problems of rows without one, that are being written.
#[derive(Debug)]
pub(super) struct Unfinished {
    path: PathBuf,
    folder: PathBuf,
    /// Locked as long as it is open.
    _lock: File,
    run: Run,
    rows: HashedFile,
    problems: HashedFile,
    position: Position,
    /// Digest of the input that the interrupted run read.
    read: String,
    begun: Instant,
    /// When the state was last stored.
    saved: Instant,
}

/// What a run writes: the arguments on which its rows depend, by their names, and the version.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Run(pub(super) Map<String, Value>);

/// How far a run has come.
#[derive(Clone, Debug, Default)]
pub(super) struct Position {
    /// Rows that are written.
    pub(super) rows: u64,
    /// Rows of these without a label.
    pub(super) failed: u64,
    /// Where the input goes on.
    pub(super) input: InputPosition,
}

/// A place between two lines of an input.
#[derive(Clone, Debug, Default)]
pub(super) struct InputPosition {
    /// Number of lines before it.
    pub(super) lines: u64,
    /// The digest of these lines.
    pub(super) digest: Sha256,
}

/// The content of the state.
#[derive(Serialize, Deserialize)]
struct State {
    format: String,
    run: Run,
    rows: u64,
    failed: u64,
    input: Extent,
    output: Extent,
    problems: Extent,
}

/// The first lines or bytes of a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Extent {
    length: u64,
    sha256: String,
}

const FORMAT: &str = "taquin-unfinished-1";
const ROWS: &str = "rows";
const PROBLEMS: &str = "problems.ndjson";
const STATE: &str = "state.json";
/// Why an output is rejected that would be lost.
pub(super) const FILE_EXISTS: &str = "the file exists: --overwrite replaces it";
/// Largest state that is read, in bytes.
const MAX_STATE: u64 = 1 << 20;
/// Time between two states, which is what a killed run loses: this part of its time so far, within these bounds.
const SAVED_PART: u32 = 8;
const SAVE_PERIODS: [Duration; 2] = [Duration::from_millis(25), Duration::from_secs(1)];

impl Run {
    /// The first argument that differs from another run's, with both values.
    fn difference(&self, other: &Self) -> Option<String> {
        let value = |run: &Self, name: &str| run.0.get(name).map_or("not given".to_owned(), Value::to_string);
        let mut names = self.0.keys().chain(other.0.keys());
        let name = names.find(|name| self.0.get(*name) != other.0.get(*name))?;
        Some(format!("its `{name}` is {}, and this one's is {}", value(other, name), value(self, name)))
    }
}

impl Unfinished {
    /// The files that are written before the rows get their name.
    pub(super) fn files_of(path: &Path) -> [PathBuf; 3] {
        let folder = folder_of(path);
        [ROWS, PROBLEMS, STATE].map(|name| folder.join(name))
    }

    /// Begins a file of labels, or goes on with one.
    ///
    /// # Errors
    /// [`BatchError::File`], also if there is a file or an interrupted run and nothing says what to do, or if the
    /// interrupted run is another one.
    pub(super) fn open(path: &Path, run: Run, existing: Existing) -> Result<Self, BatchError> {
        let folder = folder_of(path);
        let error = |source| file_error(&folder, source);
        let is_interrupted = folder.join(STATE).exists();
        check_existing(path, is_interrupted, existing)?;
        match fs::create_dir(&folder) {
            Err(source) if !folder.is_dir() => return Err(error(source)),
            _ => {}
        }
        let lock = lock(&folder).map_err(error)?;
        if is_interrupted && existing.resumes {
            return Self::resume(path, folder, lock, run);
        }
        Self::begin(path, folder, lock, run)
    }

    fn begin(path: &Path, folder: PathBuf, lock: File, run: Run) -> Result<Self, BatchError> {
        let error = |source| file_error(&folder, source);
        clear(&folder).map_err(error)?;
        let create = |name| HashedFile::create(&folder.join(name));
        let (rows, problems) = (create(ROWS).map_err(error)?, create(PROBLEMS).map_err(error)?);
        let (path, position, read, begun) = (path.to_owned(), Position::default(), String::new(), Instant::now());
        let mut file = Self { path, folder, _lock: lock, run, rows, problems, position, read, begun, saved: begun };
        file.save()?;
        Ok(file)
    }

    fn resume(path: &Path, folder: PathBuf, lock: File, run: Run) -> Result<Self, BatchError> {
        let other = |reason: String| {
            let reason = format!("{reason}; --overwrite begins anew");
            file_error(&folder, io::Error::new(ErrorKind::InvalidData, reason))
        };
        let state = read_state(&folder.join(STATE)).map_err(|source| other(format!("{STATE}: {source}")))?;
        if let Some(difference) = run.difference(&state.run) {
            return Err(other(format!("another run wrote it: {difference}")));
        }
        if state.rows == 0 {
            return Self::begin(path, folder, lock, run);
        }
        let resume = |name: &str, whole: &Path, extent| {
            let resumed = HashedFile::resume(&folder.join(name), whole, extent);
            resumed.map_err(|source| other(format!("{name}: {source}")))
        };
        let rows = resume(ROWS, path, &state.output)?;
        let problems = resume(PROBLEMS, &problems_of(path), &state.problems)?;
        // The digest of the input is known when the input is read again.
        let input = InputPosition { lines: state.input.length, ..InputPosition::default() };
        let position = Position { rows: state.rows, failed: state.failed, input };
        let (path, read, begun) = (path.to_owned(), state.input.sha256, Instant::now());
        Ok(Self { path, folder, _lock: lock, run, rows, problems, position, read, begun, saved: begun })
    }

    /// How far the interrupted run came.
    pub(super) fn position(&self) -> &Position {
        &self.position
    }

    /// Compares the part of the input that the interrupted run read with the same part of this input.
    ///
    /// # Errors
    /// [`BatchError::File`] if they differ.
    pub(super) fn check_input(&self, input: &InputPosition) -> Result<(), BatchError> {
        let lines = self.position.input.lines;
        if self.position.rows == 0 || (input.lines == lines && input.sha256() == self.read) {
            return Ok(());
        }
        let reason = format!("another input was read: its first {lines} lines differ; --overwrite begins anew");
        Err(file_error(&self.folder, io::Error::new(ErrorKind::InvalidData, reason)))
    }

    /// True if nothing is written yet.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.length == 0
    }

    /// Appends lines of rows and of problems, after which the run has come to this position.
    ///
    /// # Errors
    /// [`BatchError::File`].
    pub(super) fn write(&mut self, rows: &[u8], problems: &[u8], position: &Position) -> Result<(), BatchError> {
        self.rows.write(rows).map_err(|source| file_error(&self.path, source))?;
        self.problems.write(problems).map_err(|source| file_error(&problems_of(&self.path), source))?;
        self.position.clone_from(position);
        let [least, most] = SAVE_PERIODS;
        let period = (self.begun.elapsed() / SAVED_PART).clamp(least, most);
        if self.saved.elapsed() >= period { self.save() } else { Ok(()) }
    }

    /// Brings all rows to the disk, and then the state.
    fn save(&mut self) -> Result<(), BatchError> {
        self.saved = Instant::now();
        let Position { rows, failed, input } = &self.position;
        let saved = self.rows.sync().and_then(|output| {
            let state = State {
                format: FORMAT.to_owned(),
                run: self.run.clone(),
                rows: *rows,
                failed: *failed,
                input: Extent { length: input.lines, sha256: input.sha256() },
                output,
                problems: self.problems.sync()?,
            };
            let mut text = serde_json::to_vec_pretty(&state)?;
            text.push(b'\n');
            let mut file = NewFile::begin(self.folder.join(STATE))?;
            file.write_all(&seal(&text))?;
            file.replace()
        });
        saved.map_err(|source| file_error(&self.folder, source))
    }

    /// Keeps the rows of a run that is interrupted, so that it can go on. Returns the folder that has them, or `None` if
    /// there are none.
    ///
    /// # Errors
    /// [`BatchError::File`].
    pub(super) fn interrupt(mut self) -> Result<Option<PathBuf>, BatchError> {
        if self.position.rows == 0 {
            self.remove()?;
            return Ok(None);
        }
        self.save()?;
        Ok(Some(self.folder))
    }

    /// Gives a whole file its name. Returns the file of problems, if there is any.
    ///
    /// # Errors
    /// [`BatchError::File`].
    pub(super) fn finish(mut self) -> Result<Option<PathBuf>, BatchError> {
        self.save()?;
        let problems = problems_of(&self.path);
        let named = |from: &str, to: &Path| {
            if let Ok(replaced) = fs::metadata(to) {
                fs::set_permissions(self.folder.join(from), replaced.permissions())?;
            }
            fs::rename(self.folder.join(from), to)
        };
        let has_problems = self.problems.length > 0;
        let moved = match has_problems {
            true => named(PROBLEMS, &problems),
            false => fs::remove_file(&problems).or_else(|error| missing_is_fine(&error)),
        };
        moved.and_then(|()| named(ROWS, &self.path)).map_err(|source| file_error(&self.path, source))?;
        self.remove()?;
        Ok(has_problems.then_some(problems))
    }

    fn remove(&self) -> Result<(), BatchError> {
        fs::remove_dir_all(&self.folder).map_err(|source| file_error(&self.folder, source))
    }
}

impl InputPosition {
    fn sha256(&self) -> String {
        hex(&self.digest.clone().finalize())
    }

    /// The position after more lines.
    pub(super) fn advance(&mut self, lines: u64, bytes: &[u8]) {
        self.lines += lines;
        self.digest.update(bytes);
    }
}

/// A file that is only appended to, and its digest.
#[derive(Debug)]
struct HashedFile {
    writer: BufWriter<File>,
    digest: Sha256,
    length: u64,
}

impl HashedFile {
    fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { writer: BufWriter::new(File::create_new(path)?), digest: Sha256::default(), length: 0 })
    }

    /// Goes on behind the first bytes of a file, which must not have changed. A killed process may have given the file
    /// the name that it has when it is whole.
    fn resume(path: &Path, whole: &Path, extent: &Extent) -> io::Result<Self> {
        let is_whole = !path.exists() && whole.exists();
        let mut file = open_regular(if is_whole { whole } else { path }, OpenOptions::new().read(true).write(true))?;
        let (mut digest, mut buffer, mut left) = (Sha256::default(), vec![0; 1 << 16], extent.length);
        while left > 0 {
            let most = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            file.read_exact(&mut buffer[..most])?;
            digest.update(&buffer[..most]);
            left -= most as u64;
        }
        if hex(&digest.clone().finalize()) != extent.sha256 || is_whole && file.metadata()?.len() != extent.length {
            return Err(io::Error::new(ErrorKind::InvalidData, "the file was changed"));
        }
        if is_whole {
            fs::rename(whole, path)?;
        }
        file.set_len(extent.length)?;
        file.seek(SeekFrom::Start(extent.length))?;
        Ok(Self { writer: BufWriter::new(file), digest, length: extent.length })
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writer.write_all(bytes)?;
        self.digest.update(bytes);
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Brings all bytes to the disk.
    fn sync(&mut self) -> io::Result<Extent> {
        self.writer.flush()?;
        self.writer.get_ref().sync_data()?;
        Ok(Extent { length: self.length, sha256: hex(&self.digest.clone().finalize()) })
    }
}

/// True for a file that is not empty.
pub(super) fn has_bytes(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| data.len() > 0)
}

fn folder_of(path: &Path) -> PathBuf {
    with_end(path, ".unfinished")
}

/// Rejects files and interrupted runs that would be lost.
fn check_existing(path: &Path, is_interrupted: bool, existing: Existing) -> Result<(), BatchError> {
    let Existing { resumes, overwrites } = existing;
    let folder = folder_of(path);
    let rejected =
        |path: &Path, reason: String| Err(file_error(path, io::Error::new(ErrorKind::AlreadyExists, reason)));
    if overwrites {
        return Ok(());
    }
    if is_interrupted && !resumes {
        let reason = "it has the rows of an interrupted run: --resume goes on with them, --overwrite begins anew";
        return rejected(&folder, reason.to_owned());
    }
    // A process that was killed at the end of a run leaves files without their copies in the folder.
    let is_in_folder = |name: &str| !is_interrupted || folder.join(name).exists();
    for (file, name) in [(path.to_owned(), ROWS), (problems_of(path), PROBLEMS)] {
        if has_bytes(&file) && is_in_folder(name) {
            let reason = match resumes {
                true => format!("it is not unfinished, for there is no {}: --overwrite replaces it", folder.display()),
                false => FILE_EXISTS.to_owned(),
            };
            return rejected(&file, reason);
        }
    }
    Ok(())
}

/// Locks a folder as long as the file is open.
fn lock(folder: &Path) -> io::Result<File> {
    let file = File::open(folder)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(io::Error::new(ErrorKind::ResourceBusy, "another process writes this file"))
        }
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Removes what another run left in a folder.
fn clear(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() { fs::remove_dir_all(entry.path())? } else { fs::remove_file(entry.path())? }
    }
    Ok(())
}

fn read_state(path: &Path) -> io::Result<State> {
    let mut text = Vec::new();
    open_regular(path, OpenOptions::new().read(true))?.take(MAX_STATE).read_to_end(&mut text)?;
    read_sealed(&text, FORMAT).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

fn missing_is_fine(error: &io::Error) -> io::Result<()> {
    if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error.kind().into()) }
}

fn file_error(path: &Path, source: io::Error) -> BatchError {
    BatchError::File { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Existing = Existing { resumes: false, overwrites: false };
    const RESUME: Existing = Existing { resumes: true, overwrites: false };

    /// A file of two rows, of which one has a problem, and the folder that it is in.
    fn written(name: &str) -> (PathBuf, PathBuf, Unfinished) {
        let folder = std::env::temp_dir().join(format!("taquin-unfinished-{name}-{:x}", getrandom::u64().unwrap()));
        fs::create_dir(&folder).unwrap();
        let path = folder.join("out.csv");
        let mut file = Unfinished::open(&path, Run::default(), NOTHING).unwrap();
        let mut position = Position { rows: 2, failed: 1, ..Position::default() };
        position.input.advance(2, b"a\nb\n");
        file.write(b"1\n2\n", b"{}\n", &position).unwrap();
        (folder, path, file)
    }

    #[test]
    fn a_run_that_was_killed_while_its_files_got_their_names_goes_on() {
        // Files that had got their names, by the number of names given.
        for named in 0..=2 {
            let (folder, path, file) = written("named");
            let unfinished = file.interrupt().unwrap().unwrap();
            for (from, to) in [(PROBLEMS, problems_of(&path)), (ROWS, path.clone())].iter().take(named) {
                fs::rename(unfinished.join(from), to).unwrap();
            }
            let file = Unfinished::open(&path, Run::default(), RESUME).unwrap();
            assert_eq!((file.position().rows, file.position().failed, file.position().input.lines), (2, 1, 2));
            assert!(!path.exists(), "the name is for whole files");
            assert_eq!(file.finish().unwrap(), Some(problems_of(&path)));
            assert_eq!(
                (fs::read(&path).unwrap(), fs::read(problems_of(&path)).unwrap()),
                (b"1\n2\n".into(), b"{}\n".into())
            );
            assert!(!unfinished.exists());
            fs::remove_dir_all(folder).unwrap();
        }
    }

    #[test]
    fn another_file_of_that_name_is_not_taken_for_the_rows() {
        let (folder, path, file) = written("other");
        let unfinished = file.interrupt().unwrap().unwrap();
        fs::remove_file(unfinished.join(ROWS)).unwrap();
        for other in ["1\n3\n", "1\n2\n3\n"] {
            fs::write(&path, other).unwrap();
            let error = Unfinished::open(&path, Run::default(), RESUME).unwrap_err();
            assert!(error.to_string().contains("the file was changed"), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), other);
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn the_input_is_compared_up_to_the_last_row() {
        let (folder, path, file) = written("input");
        drop(file.interrupt().unwrap());
        let file = Unfinished::open(&path, Run::default(), RESUME).unwrap();
        let check = |lines, bytes: &[u8]| {
            let mut input = InputPosition::default();
            input.advance(lines, bytes);
            file.check_input(&input)
        };
        check(2, b"a\nb\n").unwrap();
        assert!(check(2, b"a\nc\n").unwrap_err().to_string().contains("its first 2 lines differ"));
        assert!(check(1, b"a\n").is_err(), "the input is shorter");
        fs::remove_dir_all(folder).unwrap();
    }
}
