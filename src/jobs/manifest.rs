//! `end.json`: that a job is complete, and what its parts hold.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::SystemTime;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::files::{Created, SMALL_FILE, invalid};
use super::hex::{hex, sha256_hex};
use super::part::Row;
use super::sealed::{SealWriter, check_seal, read_sealed, seal};
use super::stored_job::{END, JobError, StoredJob};

/// The content of `end.json` of a complete job.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// `completed`.
    pub state: String,
    /// SHA-256 of `spec.json`, in hexadecimal.
    pub spec_sha256: String,
    /// The parts in their order.
    pub parts: Vec<ManifestPart>,
    /// Counts of all labels.
    pub totals: Totals,
}

/// How a job ended, as `end.json` says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobEnd {
    /// What became of it.
    pub state: EndState,
    /// Why it failed.
    pub reason: Option<String>,
    /// Counts of the labels of a complete job.
    pub totals: Option<Totals>,
}

/// What became of a job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndState {
    /// All parts exist.
    Completed,
    /// It was cancelled before that.
    Cancelled,
    /// Its files are damaged, so that it cannot go on.
    Failed,
}

/// The members of `end.json` of any job, without its parts.
#[derive(Serialize, Deserialize)]
struct EndJson {
    state: EndState,
    spec_sha256: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    totals: Option<Totals>,
}

/// The file that says that files of an ended job are damaged.
const DAMAGED: &str = "damaged.json";
const DAMAGED_FORMAT: &str = "taquin-damaged-1";

#[derive(Serialize, Deserialize)]
struct DamagedJson {
    format: String,
    reason: String,
}

/// A part in a manifest.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ManifestPart {
    /// Number of the chunk.
    pub chunk: u64,
    /// Number of its boards.
    pub boards: u64,
    /// Size of the file.
    pub bytes: u64,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
}

/// Counts of labels.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Totals {
    /// All boards.
    pub boards: u64,
    /// Boards whose search failed.
    pub failed: u64,
    /// Rows of the input that are no boards.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub invalid: u64,
    /// Solved boards whose length is not proven optimal.
    pub unproven: u64,
    /// Number of solved boards by length.
    pub lengths: BTreeMap<u32, u64>,
}

impl Totals {
    /// Counts a row.
    pub fn count(&mut self, row: &Row) {
        self.boards += 1;
        match row {
            Row::Solved(label) => {
                self.unproven += u64::from(!label.is_optimal());
                *self.lengths.entry(label.length).or_default() += 1;
            }
            Row::Failed => self.failed += 1,
            Row::Invalid => self.invalid += 1,
        }
    }

    /// True if a row has no label.
    pub fn has_failures(&self) -> bool {
        self.failed + self.invalid > 0
    }

    /// Adds the counts of other rows.
    pub fn add(&mut self, other: &Self) {
        self.boards += other.boards;
        self.failed += other.failed;
        self.invalid += other.invalid;
        self.unproven += other.unproven;
        for (length, boards) in &other.lengths {
            *self.lengths.entry(*length).or_default() += boards;
        }
    }
}

/// Why a manifest is not written to its end.
enum Halt {
    /// It was to go on no longer.
    Stopped,
    /// A part cannot be read.
    Part(JobError),
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires it")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl ManifestPart {
    pub(super) fn new(chunk: u64, boards: usize, bytes: &[u8]) -> Self {
        Self { chunk, boards: boards as u64, bytes: bytes.len() as u64, sha256: sha256_hex(bytes) }
    }
}

impl StoredJob {
    /// Reads `end.json`, if the job is complete.
    ///
    /// # Errors
    /// [`JobError`], also if it is not a manifest.
    pub fn manifest(&self) -> Result<Option<Manifest>, JobError> {
        match self.read_end()? {
            Some((EndJson { state: EndState::Completed, .. }, bytes)) => self.parsed(END, &bytes).map(Some),
            _ => Ok(None),
        }
    }

    /// Reads how the job ended, if it has, as `end.json` says.
    ///
    /// # Errors
    /// [`JobError`], also if `end.json` does not say it.
    pub fn end(&self) -> Result<Option<JobEnd>, JobError> {
        let end = self.read_end()?;
        Ok(end.map(|(EndJson { state, reason, totals, .. }, _)| JobEnd { state, reason, totals }))
    }

    /// Reads the `end.json` of this job, with a right checksum: its members without the parts, and its bytes.
    fn read_end(&self) -> Result<Option<(EndJson, Vec<u8>)>, JobError> {
        /// Most bytes of the counts, and of a part.
        const COUNTS: u64 = 4 << 20;
        const PART: u64 = 256;
        let Some(bytes) = self.get_within(END, COUNTS + PART * self.spec().chunks())? else { return Ok(None) };
        check_seal(&bytes).map_err(|error| self.file_error(END, invalid(error.to_string())))?;
        let end: EndJson = self.parsed(END, &bytes)?;
        if end.spec_sha256 != hex(self.digest()) {
            return Err(self.file_error(END, invalid("the file belongs to another job")));
        }
        Ok(Some((end, bytes)))
    }

    fn parsed<T: DeserializeOwned>(&self, name: &str, bytes: &[u8]) -> Result<T, JobError> {
        serde_json::from_slice(bytes).map_err(|error| self.file_error(name, invalid(error.to_string())))
    }

    /// Why the files of a job that has ended are known to be damaged, if they are: `damaged.json` says it. Its end does
    /// not count any more then.
    ///
    /// # Errors
    /// [`JobError`] if the place fails. A damaged mark is a mark too.
    pub fn damage(&self) -> Result<Option<String>, JobError> {
        let read = self.get_within(DAMAGED, SMALL_FILE).and_then(|bytes| {
            let Some(bytes) = bytes else { return Ok(None) };
            let json = read_sealed(&bytes, DAMAGED_FORMAT);
            json.map(Some).map_err(|error| self.file_error(DAMAGED, invalid(error.to_string())))
        });
        match read {
            Ok(json) => Ok(json.map(|DamagedJson { reason, .. }| reason)),
            Err(error) if error.is_temporary() => Err(error),
            Err(error) => Ok(Some(error.for_clients(self.files()))),
        }
    }

    /// Notes that the files of a job that has ended are damaged, unless that was noted before.
    ///
    /// # Errors
    /// [`JobError::File`].
    pub fn mark_damaged(&self, reason: &str) -> Result<Created, JobError> {
        let json = DamagedJson { format: DAMAGED_FORMAT.to_owned(), reason: reason.to_owned() };
        self.put_json(DAMAGED, &json)
    }

    fn put_json(&self, name: &str, json: &impl Serialize) -> Result<Created, JobError> {
        let mut text = serde_json::to_vec_pretty(json).expect("it has only texts and numbers");
        text.push(b'\n');
        let sealed = seal(&text);
        self.put_with(name, |file| file.write_all(&sealed))
    }

    /// When the job ended, if it has: the time of `end.json`.
    ///
    /// # Errors
    /// [`JobError::File`].
    pub fn ended_at(&self) -> Result<Option<SystemTime>, JobError> {
        self.created_at(END)
    }

    /// Ends the job before it is complete, unless it has ended.
    ///
    /// # Errors
    /// [`JobError::File`].
    pub fn abandon(&self, state: EndState, reason: Option<String>) -> Result<Created, JobError> {
        self.put_json(END, &EndJson { state, spec_sha256: hex(self.digest()), reason, totals: None })
    }

    /// Ends the job if all parts exist: reads them, and creates `end.json`. Returns false if one is missing.
    ///
    /// # Errors
    /// [`JobError`], also of a damaged part.
    pub fn complete(&self) -> Result<bool, JobError> {
        self.complete_while(|| true)
    }

    /// Does what [`complete`](Self::complete) does, as long as `goes_on` returns true, which is called before each
    /// part. Returns false if it did not, or a part is missing.
    ///
    /// # Errors
    /// [`JobError`], also of a damaged part.
    pub fn complete_while(&self, mut goes_on: impl FnMut() -> bool) -> Result<bool, JobError> {
        if self.done()?.contains(&false) {
            return Ok(false);
        }
        let mut halt = None;
        let created = self.put_with(END, |file| {
            let written = self.write_manifest(file, &mut goes_on, &mut halt);
            if halt.is_some() { Err(std::io::ErrorKind::Other.into()) } else { written }
        });
        match halt {
            Some(Halt::Stopped) => Ok(false),
            Some(Halt::Part(error)) => Err(error),
            None => created.map(|_| true),
        }
    }

    /// Writes the manifest part by part, so that it takes little memory.
    fn write_manifest(
        &self,
        file: &mut dyn Write,
        goes_on: &mut dyn FnMut() -> bool,
        halt: &mut Option<Halt>,
    ) -> std::io::Result<()> {
        let mut file = SealWriter::new(std::io::BufWriter::new(file));
        let spec = hex(self.digest());
        write!(file, "{{\n  \"state\": \"completed\",\n  \"spec_sha256\": \"{spec}\",\n  \"parts\": [")?;
        let mut totals = Totals::default();
        for chunk in 0..self.spec().chunks() {
            if !goes_on() {
                *halt = Some(Halt::Stopped);
                return Ok(());
            }
            let (part, bytes) = match self.part(chunk) {
                Ok(Some(part)) => part,
                // Another process has removed it since.
                Ok(None) => return Err(std::io::ErrorKind::NotFound.into()),
                Err(error) => {
                    *halt = Some(Halt::Part(error));
                    return Ok(());
                }
            };
            part.rows().for_each(|row| totals.count(&row));
            file.write_all(if chunk == 0 { b"\n" } else { b",\n" })?;
            serde_json::to_writer(&mut file, &ManifestPart::new(chunk, part.len(), &bytes))?;
        }
        write!(file, "\n  ],\n  \"totals\": {}", serde_json::to_string(&totals)?)?;
        file.finish()
    }
}
