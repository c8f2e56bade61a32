//! A file of labels that is renamed to its final name when the file is complete.
//!
//! Until then, the file is in the folder `FILE.unfinished`. The folder also has a state file with the identity and the
//! position of the run. A resumed run uses checksums to check that the rows and the input before the position are
//! unchanged.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::{CsvColumns, Label, NewFile, open_regular, read_sealed, seal, sync_folder_of};
use crc32fast::Hasher;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use taquin_solver::Board;

use super::checked_file::{CheckedFile, Extent, remove_unless_lost};
use super::destination::{Existing, Output, has_bytes, problems_of};
use super::ending::BatchError;
use super::unfinished_folder::{PROBLEMS, ROWS, STATE, UnfinishedFolder, folder_of, is_interrupted};
use super::values::Format;

/// A file of labels in progress, with a file for the problems of rows without a label.
#[derive(Debug)]
pub(crate) struct Unfinished {
    path: PathBuf,
    /// Final path of the file of problems; `None` if the lines of the rows contain the problems.
    problems_path: Option<PathBuf>,
    folder: UnfinishedFolder,
    run: RunIdentity,
    rows: CheckedFile,
    problems: CheckedFile,
    position: Position,
    /// CRC-32 of the lines of the input before the position of the interrupted run. Zero for a new run.
    read: u32,
    begun: Instant,
    /// Time at which the state was last stored, and the number of rows in this state.
    saved: (Instant, u64),
    /// True after an error of a write. The last stored state is valid, but later bytes may be wrong.
    is_broken: bool,
    overwrites: bool,
}

/// Lines of rows, separate lines of problems, and counts of the rows.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    pub(crate) rows: Vec<u8>,
    pub(crate) problems: Vec<u8>,
    pub(crate) count: u64,
    /// Number of rows without a label.
    pub(crate) failed: u64,
}

/// The identity of a run: the version of the program, the tier of the tables, and the values, by name, of all flags on
/// which the rows depend.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct RunIdentity(pub(crate) Map<String, Value>);

/// Progress of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Position {
    /// Number of written rows.
    pub(crate) rows: u64,
    /// Number of written rows without a label.
    pub(crate) failed: u64,
    /// Position in the input after the rows that are written.
    pub(crate) input: InputPosition,
}

/// A position between two lines of an input.
#[derive(Clone, Debug, Default)]
pub(crate) struct InputPosition {
    /// Number of lines before the position.
    pub(crate) lines: u64,
    /// CRC-32 of the lines before the position.
    pub(crate) checksum: Hasher,
}

/// The content of `state.json`.
#[derive(Serialize, Deserialize)]
struct RunState {
    format: String,
    run: RunIdentity,
    rows: u64,
    failed: u64,
    input: Extent,
    output: Extent,
    problems: Extent,
}

const FORMAT: &str = "taquin-unfinished-2";
/// Message for an existing output that the run would replace.
pub(crate) const FILE_EXISTS: &str = "the file exists: --overwrite replaces it";
/// Advice for a run that cannot be resumed.
const BEGIN_ANEW: &str = "without --resume, --overwrite begins anew";
/// Maximum size of a state in bytes.
const MAX_STATE: u64 = 1 << 20;
/// Divisor of the running time so far. The quotient, limited by `SAVE_PERIODS`, is the time between two stored states.
/// A killed run loses at most the rows of this time.
const SAVED_PART: u32 = 8;
/// Minimum and maximum time between two stored states.
const SAVE_PERIODS: [Duration; 2] = [Duration::from_millis(25), Duration::from_secs(1)];

impl RunIdentity {
    /// Describes the first name whose values differ between two runs, with both values. Returns `None` if the
    /// identities are equal.
    fn difference(&self, other: &Self) -> Option<String> {
        let value = |run: &Self, name: &str| run.0.get(name).map_or("not given".to_owned(), Value::to_string);
        let mut names = self.0.keys().chain(other.0.keys());
        let name = names.find(|name| self.0.get(*name) != other.0.get(*name))?;
        Some(format!("its `{name}` is {}, and this one's is {}", value(other, name), value(self, name)))
    }
}

impl Lines {
    /// Appends a row. If `csv` is `None`, the row is a line of JSON. Otherwise the row is a line of CSV, and the
    /// problem of a row without a label is a separate line of JSON. `json` appends the line of JSON.
    pub(crate) fn append(
        &mut self,
        csv: Option<&CsvColumns>,
        board: Option<&Board>,
        label: Option<&Label>,
        json: impl FnOnce(&mut Vec<u8>),
    ) {
        self.count += 1;
        self.failed += u64::from(label.is_none());
        let Some(columns) = csv else { return json(&mut self.rows) };
        columns.line(board, label, &mut self.rows);
        if label.is_none() {
            json(&mut self.problems);
        }
    }
}

impl Unfinished {
    /// Creates a file of labels, or resumes an unfinished file.
    ///
    /// # Errors
    /// [`BatchError::File`]. Errors include an existing file without `--overwrite`, an interrupted run without
    /// `--overwrite` or `--resume`, and an interrupted run with another identity.
    pub(crate) fn open(path: &Path, output: &Output, run: RunIdentity) -> Result<Self, BatchError> {
        Self::check(path, output)?;
        let folder = folder_of(path);
        let folder = UnfinishedFolder::lock(folder.clone()).map_err(|source| file_error(&folder, source))?;
        // Another process may have written the file before this process locked the folder, so the check is repeated.
        let is_interrupted = Self::check_locked(path, output)?;
        if is_interrupted && output.existing.resumes {
            return Self::resume(path, output, folder, run);
        }
        Self::begin(path, output, folder, run)
    }

    /// Rejects the output if an existing file or an interrupted run would be lost.
    ///
    /// # Errors
    /// [`BatchError::File`]. A folder that another process has locked is an error too.
    pub(crate) fn check(path: &Path, output: &Output) -> Result<(), BatchError> {
        let folder = folder_of(path);
        let lock = match is_interrupted(&folder) {
            Ok(true) => UnfinishedFolder::lock(folder.clone()).map(Some),
            is_interrupted => is_interrupted.map(|_| None),
        };
        let _lock = lock.map_err(|source| file_error(&folder, source))?;
        Self::check_locked(path, output).map(drop)
    }

    /// Rejects the output like [`check`](Self::check), without locking the folder. Returns true if the folder has an
    /// interrupted run.
    fn check_locked(path: &Path, output: &Output) -> Result<bool, BatchError> {
        let Existing { resumes, overwrites } = output.existing;
        let folder = folder_of(path);
        let is_interrupted = is_interrupted(&folder).map_err(|source| file_error(&folder, source))?;
        let rejected = |path: &Path, reason| Err(file_error(path, io::Error::new(ErrorKind::AlreadyExists, reason)));
        if overwrites {
            return Ok(is_interrupted);
        }
        // A process may be killed between the renaming of two files. A file that was renamed is missing in the folder.
        // Such a file is not rejected, because the file belongs to the interrupted run.
        let is_in_folder = |name: &str| !is_interrupted || folder.join(name).exists();
        if is_interrupted && !resumes {
            let reason = match has_bytes(path) && !is_in_folder(ROWS) {
                true => "a run was killed when its file was whole: --resume ends it, --overwrite begins anew",
                false => "it has the rows of an interrupted run: --resume goes on with them, --overwrite begins anew",
            };
            return rejected(&folder, reason);
        }
        let problems = (output.format == Format::Csv).then(|| (problems_of(path), PROBLEMS));
        for (file, name) in [(path.to_owned(), ROWS)].into_iter().chain(problems) {
            if has_bytes(&file) && is_in_folder(name) {
                let reason = match (resumes, is_interrupted) {
                    (true, true) => "the file exists beside an interrupted run: --resume --overwrite replaces it",
                    (true, false) => "it is not unfinished: --overwrite replaces it",
                    (false, _) => FILE_EXISTS,
                };
                return rejected(&file, reason);
            }
        }
        Ok(is_interrupted)
    }

    fn begin(path: &Path, output: &Output, folder: UnfinishedFolder, run: RunIdentity) -> Result<Self, BatchError> {
        let error = |source| file_error(folder.path(), source);
        folder.clear().map_err(error)?;
        let create = |name| CheckedFile::create(folder.join(name));
        let (rows, problems) = (create(ROWS).map_err(error)?, create(PROBLEMS).map_err(error)?);
        let mut file = Self::of(path, output, folder, run, (rows, problems), Position::default(), 0);
        file.save()?;
        Ok(file)
    }

    fn resume(path: &Path, output: &Output, folder: UnfinishedFolder, run: RunIdentity) -> Result<Self, BatchError> {
        let other = |reason: String| {
            let reason = format!("{reason}; {BEGIN_ANEW}");
            file_error(folder.path(), io::Error::new(ErrorKind::InvalidData, reason))
        };
        let state = read_state(&folder.join(STATE)).map_err(|source| other(format!("{STATE}: {source}")))?;
        if let Some(difference) = run.difference(&state.run) {
            return Err(other(format!("another run wrote it: {difference}")));
        }
        if state.rows == 0 {
            return Self::begin(path, output, folder, run);
        }
        let resume = |name: &str, whole: &Path, extent| {
            let resumed = CheckedFile::resume(folder.join(name), whole, extent);
            resumed.map_err(|source| other(format!("{name}: {source}")))
        };
        let rows = resume(ROWS, path, &state.output)?;
        let problems = resume(PROBLEMS, &problems_of(path), &state.problems)?;
        // The checksum is computed later, when the input is read again.
        let input = InputPosition { lines: state.input.length, ..InputPosition::default() };
        let position = Position { rows: state.rows, failed: state.failed, input };
        Ok(Self::of(path, output, folder, run, (rows, problems), position, state.input.crc32))
    }

    fn of(
        path: &Path,
        output: &Output,
        folder: UnfinishedFolder,
        run: RunIdentity,
        (rows, problems): (CheckedFile, CheckedFile),
        position: Position,
        read: u32,
    ) -> Self {
        let begun = Instant::now();
        let saved = (begun, position.rows);
        let problems_path = (output.format == Format::Csv).then(|| problems_of(path));
        let (path, overwrites) = (path.to_owned(), output.existing.overwrites);
        let is_broken = false;
        Self { path, problems_path, folder, run, rows, problems, position, read, begun, saved, is_broken, overwrites }
    }

    /// Returns the position after the written rows. The written rows include the rows of a resumed run.
    pub(crate) fn position(&self) -> &Position {
        &self.position
    }

    /// Checks that the input is unchanged up to the position of the interrupted run. `input` is the position after the
    /// same number of lines in the input of this run.
    ///
    /// # Errors
    /// [`BatchError::File`] if the input has changed.
    pub(crate) fn check_input(&mut self, input: &InputPosition) -> Result<(), BatchError> {
        let lines = self.position.input.lines;
        if self.position.rows == 0 || (input.lines == lines && input.crc32() == self.read) {
            self.position.input.clone_from(input);
            return Ok(());
        }
        let reason = format!("another input was read: its first {lines} lines differ; {BEGIN_ANEW}");
        Err(file_error(self.folder.path(), io::Error::new(ErrorKind::InvalidData, reason)))
    }

    /// Returns true if the file of labels has no bytes, neither of this run nor of a resumed run.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.length == 0
    }

    /// Appends lines, and advances the position of the run. `input` is the position in the input after the rows of
    /// these lines.
    ///
    /// # Errors
    /// [`BatchError::File`].
    pub(crate) fn write(&mut self, lines: &Lines, input: &InputPosition) -> Result<(), BatchError> {
        let written = self.append(lines, input);
        self.is_broken |= written.is_err();
        written
    }

    fn append(&mut self, lines: &Lines, input: &InputPosition) -> Result<(), BatchError> {
        self.rows.write(&lines.rows).map_err(|source| file_error(&self.path, source))?;
        self.problems.write(&lines.problems).map_err(|source| file_error(&problems_of(&self.path), source))?;
        self.position.rows += lines.count;
        self.position.failed += lines.failed;
        self.position.input.clone_from(input);
        let [least, most] = SAVE_PERIODS;
        let period = (self.begun.elapsed() / SAVED_PART).clamp(least, most);
        if self.saved.0.elapsed() >= period { self.save() } else { Ok(()) }
    }

    /// Syncs all rows to the disk, and then stores the state.
    fn save(&mut self) -> Result<(), BatchError> {
        let begun = Instant::now();
        let Position { rows, failed, input } = &self.position;
        let saved = self.rows.sync().and_then(|output| {
            let state = RunState {
                format: FORMAT.to_owned(),
                run: self.run.clone(),
                rows: *rows,
                failed: *failed,
                input: Extent { length: input.lines, crc32: input.crc32() },
                output,
                problems: self.problems.sync()?,
            };
            let mut text = serde_json::to_vec_pretty(&state)?;
            text.push(b'\n');
            let mut file = NewFile::begin(self.folder.join(STATE))?;
            file.write_all(&seal(&text))?;
            file.replace()
        });
        saved.map_err(|source| self.folder_error(source))?;
        self.saved = (begun, self.position.rows);
        Ok(())
    }

    /// Ends an incomplete run, and keeps the rows, so that a later run can resume them. Returns the path of the folder
    /// and the number of kept rows. If no rows are kept, removes the folder and returns `None`. After an error of a
    /// write, only the rows of the last stored state are kept.
    ///
    /// # Errors
    /// [`BatchError::File`].
    pub(crate) fn interrupt(mut self) -> Result<Option<(PathBuf, u64)>, BatchError> {
        // The state is stored only if there are new rows. Before the input is checked, `position` lacks the checksum of
        // the input, but the last stored state has this checksum.
        if !self.is_broken && self.position.rows > self.saved.1 {
            self.save()?;
        }
        let (_, rows) = self.saved;
        if rows == 0 {
            self.remove()?;
            return Ok(None);
        }
        Ok(Some((self.folder.path().to_owned(), rows)))
    }

    /// Renames the complete files to their final names. Returns the path of the file of problems; `None` if no problems
    /// are stored in a separate file.
    ///
    /// # Errors
    /// [`BatchError::File`].
    pub(crate) fn finish(mut self) -> Result<Option<PathBuf>, BatchError> {
        self.save()?;
        let has_problems = self.problems.length > 0;
        if let Some(problems) = &self.problems_path {
            let named = match has_problems {
                true => self.problems.give_name(problems, self.overwrites),
                false => remove_unless_lost(problems, self.overwrites),
            };
            named.map_err(|source| self.name_error(problems, source))?;
        }
        let named = self.rows.give_name(&self.path, self.overwrites).and_then(|()| sync_folder_of(&self.path));
        named.map_err(|source| self.name_error(&self.path, source))?;
        self.remove()?;
        Ok(self.problems_path.filter(|_| has_problems))
    }

    fn remove(&self) -> Result<(), BatchError> {
        self.folder.remove().map_err(|source| self.folder_error(source))
    }

    fn name_error(&self, name: &Path, source: io::Error) -> BatchError {
        if source.kind() != ErrorKind::AlreadyExists {
            return file_error(name, source);
        }
        let folder = self.folder.path().display();
        let reason = format!(
            "another program wrote the file during the run; the rows are in {folder}: --resume --overwrite replaces \
             the file"
        );
        file_error(name, io::Error::new(ErrorKind::AlreadyExists, reason))
    }

    fn folder_error(&self, source: io::Error) -> BatchError {
        file_error(self.folder.path(), source)
    }
}

impl InputPosition {
    fn crc32(&self) -> u32 {
        self.checksum.clone().finalize()
    }

    /// Advances the position by `lines` lines. `bytes` is the content of these lines.
    pub(crate) fn advance(&mut self, lines: u64, bytes: &[u8]) {
        self.lines += lines;
        self.checksum.update(bytes);
    }
}

fn read_state(path: &Path) -> io::Result<RunState> {
    let mut text = Vec::new();
    open_regular(path, OpenOptions::new().read(true))?.take(MAX_STATE).read_to_end(&mut text)?;
    read_sealed(&text, FORMAT).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

fn file_error(path: &Path, source: io::Error) -> BatchError {
    BatchError::File { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::command::destination::Destination;
    use crate::test_files::Scratch;

    const NOTHING: Existing = Existing { resumes: false, overwrites: false };
    const RESUME: Existing = Existing { resumes: true, overwrites: false };

    fn open(path: &Path, existing: Existing) -> Result<Unfinished, BatchError> {
        let output = Output { destination: Destination::File(path.to_owned()), format: Format::Csv, existing };
        Unfinished::open(path, &output, RunIdentity::default())
    }

    fn write(file: &mut Unfinished, rows: &[u8], problems: &[u8], [count, failed]: [u64; 2]) -> Result<(), BatchError> {
        let input = file.position().input.clone();
        file.write(&Lines { rows: rows.to_vec(), problems: problems.to_vec(), count, failed }, &input)
    }

    /// Writes a file with two rows. One of the rows has a problem. Returns the folder, the path and the file.
    fn written() -> (Scratch, PathBuf, Unfinished) {
        let folder = Scratch::new();
        let path = folder.0.path().join("out.csv");
        let mut file = open(&path, NOTHING).unwrap();
        let mut input = InputPosition::default();
        input.advance(2, b"a\nb\n");
        let lines = Lines { rows: b"1\n2\n".into(), problems: b"{}\n".into(), count: 2, failed: 1 };
        file.write(&lines, &input).unwrap();
        (folder, path, file)
    }

    #[test]
    fn a_run_that_was_killed_while_its_files_got_their_names_goes_on() {
        // Number of files that were renamed before the process was killed.
        for named in 0..=2 {
            let (_folder, path, file) = written();
            let (unfinished, _) = file.interrupt().unwrap().unwrap();
            for (from, to) in [(PROBLEMS, problems_of(&path)), (ROWS, path.clone())].iter().take(named) {
                fs::rename(unfinished.join(from), to).unwrap();
            }
            let file = open(&path, RESUME).unwrap();
            assert_eq!((file.position().rows, file.position().failed, file.position().input.lines), (2, 1, 2));
            assert_eq!(path.exists(), named == 2, "a whole file keeps its name");
            assert_eq!(file.finish().unwrap(), Some(problems_of(&path)));
            assert_eq!(
                (fs::read(&path).unwrap(), fs::read(problems_of(&path)).unwrap()),
                (b"1\n2\n".into(), b"{}\n".into())
            );
            assert!(!unfinished.exists());
        }
    }

    #[test]
    fn a_file_that_had_its_name_loses_it_when_more_rows_come() {
        let (_folder, path, file) = written();
        let (unfinished, _) = file.interrupt().unwrap().unwrap();
        fs::rename(unfinished.join(PROBLEMS), problems_of(&path)).unwrap();
        fs::rename(unfinished.join(ROWS), &path).unwrap();
        let error = open(&path, NOTHING).unwrap_err().to_string();
        assert!(error.contains("when its file was whole: --resume ends it"), "{error}");
        let mut file = open(&path, RESUME).unwrap();
        write(&mut file, b"", b"", [0, 0]).unwrap();
        assert!(path.exists(), "nothing was written");
        write(&mut file, b"3\n", b"", [1, 0]).unwrap();
        assert!(!path.exists(), "the name is for whole files");
        assert_eq!(file.finish().unwrap(), Some(problems_of(&path)));
        assert_eq!(fs::read(&path).unwrap(), b"1\n2\n3\n");
        assert_eq!(fs::read(problems_of(&path)).unwrap(), b"{}\n");
    }

    #[test]
    fn a_killed_removal_of_the_folder_leaves_nothing_in_the_way() {
        let (_folder, path, file) = written();
        let unfinished = folder_of(&path);
        file.finish().unwrap();
        // All files are renamed, and the state is removed. The state is the first file that is removed.
        fs::create_dir(&unfinished).unwrap();
        fs::write(unfinished.join(PROBLEMS), "").unwrap();
        let error = open(&path, NOTHING).unwrap_err().to_string();
        assert!(error.contains(FILE_EXISTS), "{error}");
    }

    #[test]
    fn no_state_is_stored_after_an_error() {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let (_folder, path, mut file) = written();
        file.save().unwrap();
        file.problems.write_to(full);
        write(&mut file, b"3\n", &[b'x'; 1 << 14], [1, 1]).unwrap_err();
        assert_eq!(file.interrupt().unwrap(), Some((folder_of(&path), 2)));
        let mut file = open(&path, RESUME).unwrap();
        assert_eq!(file.position().rows, 2);
        write(&mut file, b"3\n", b"", [1, 0]).unwrap();
        file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"1\n2\n3\n", "the row is there once");
    }

    #[test]
    fn a_file_that_comes_during_a_run_stays() {
        for is_problems in [false, true] {
            let (_folder, path, file) = written();
            let came = if is_problems { problems_of(&path) } else { path.clone() };
            fs::write(&came, "mine").unwrap();
            let error = file.finish().unwrap_err().to_string();
            assert!(error.starts_with(&format!("{}: another program wrote", came.display())), "{error}");
            assert_eq!(fs::read(&came).unwrap(), b"mine");
            fs::remove_file(came).unwrap();
            let file = open(&path, RESUME).unwrap();
            assert_eq!(file.finish().unwrap(), Some(problems_of(&path)));
            assert_eq!(fs::read(&path).unwrap(), b"1\n2\n");
        }
    }

    #[test]
    fn another_file_of_that_name_is_not_taken_for_the_rows() {
        let (_folder, path, file) = written();
        let (unfinished, _) = file.interrupt().unwrap().unwrap();
        fs::remove_file(unfinished.join(ROWS)).unwrap();
        for other in ["1\n3\n", "1\n2\n3\n"] {
            fs::write(&path, other).unwrap();
            let error = open(&path, RESUME).unwrap_err();
            assert!(error.to_string().contains("the file was changed"), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), other);
        }
    }

    #[test]
    fn the_input_is_compared_up_to_the_last_row() {
        let (_folder, path, file) = written();
        drop(file.interrupt().unwrap());
        // A run that is interrupted before the check of its input keeps the checksum of the input.
        drop(open(&path, RESUME).unwrap().interrupt().unwrap());
        let mut file = open(&path, RESUME).unwrap();
        let mut check = |lines, bytes: &[u8]| {
            let mut input = InputPosition::default();
            input.advance(lines, bytes);
            file.check_input(&input)
        };
        check(2, b"a\nb\n").unwrap();
        assert!(check(2, b"a\nc\n").unwrap_err().to_string().contains("its first 2 lines differ"));
        assert!(check(1, b"a\n").is_err(), "the input is shorter");
    }
}
