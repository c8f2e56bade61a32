//! The file `end.json`: the end of a job and, for a complete job, the list of the parts and the counts of the rows.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::SystemTime;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::files::{Created, SMALL_FILE, invalid};
use crate::part::Row;
use crate::sealed::{SealWriter, check_seal, hex, read_sealed, seal, sha256_hex};
use crate::stored_job::{END, JobError, StoredJob};

/// The content of the file `end.json` of a complete job.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// State of the job, always `completed`.
    pub state: String,
    /// SHA-256 of `spec.json`, in hexadecimal.
    pub spec_sha256: String,
    /// The parts, in the order of the chunks.
    pub parts: Vec<ManifestPart>,
    /// Counts of the rows of all parts.
    pub totals: Totals,
}

/// The end of a job, as recorded in `end.json`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobEnd {
    /// State of the ended job.
    pub state: EndState,
    /// The reason why the job failed; `None` if the job has not failed.
    pub reason: Option<String>,
    /// Counts of the rows; `None` if the job is not complete.
    pub totals: Option<Totals>,
}

/// State of an ended job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndState {
    /// The job is complete: all parts exist.
    Completed,
    /// The job was cancelled before all parts existed.
    Cancelled,
    /// The job cannot continue, for example because its files are damaged.
    Failed,
}

/// The members of `end.json` except `parts`.
#[derive(Serialize, Deserialize)]
struct EndJson {
    state: EndState,
    spec_sha256: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    totals: Option<Totals>,
}

/// Name of the file that marks an ended job as damaged.
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
    /// Number of rows, including invalid rows.
    pub boards: u64,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// SHA-256 of the file, in hexadecimal.
    pub sha256: String,
}

/// Counts of rows.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Totals {
    /// Number of all rows, including invalid rows.
    pub boards: u64,
    /// Number of boards whose search failed or was skipped.
    pub failed: u64,
    /// Number of invalid rows of the input.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub invalid: u64,
    /// Number of solved boards whose solution is not proven optimal.
    pub unproven: u64,
    /// Number of solved boards, by the length of the solution in moves.
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

    /// Returns true if any row has no label.
    pub fn has_failures(&self) -> bool {
        self.failed + self.invalid > 0
    }

    /// Adds the counts of `other`.
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

/// The reason why the writing of a manifest stopped early.
enum Halt {
    /// The function `goes_on` that was passed to [`complete_while`](StoredJob::complete_while) returned false.
    Stopped,
    /// A part cannot be read.
    Part(JobError),
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires it")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl ManifestPart {
    pub(crate) fn new(chunk: u64, boards: usize, bytes: &[u8]) -> Self {
        Self { chunk, boards: boards as u64, bytes: bytes.len() as u64, sha256: sha256_hex(bytes) }
    }
}

impl StoredJob {
    /// Reads the manifest in `end.json`; `None` if the job is not complete.
    ///
    /// # Errors
    /// [`JobError`]. An invalid `end.json` is an error too.
    pub fn manifest(&self) -> Result<Option<Manifest>, JobError> {
        match self.read_end()? {
            Some((EndJson { state: EndState::Completed, .. }, bytes)) => self.parsed(END, &bytes).map(Some),
            _ => Ok(None),
        }
    }

    /// Reads the end of the job from `end.json`; `None` if the job has not ended.
    ///
    /// # Errors
    /// [`JobError`]. An invalid `end.json` is an error too.
    pub fn end(&self) -> Result<Option<JobEnd>, JobError> {
        let end = self.read_end()?;
        Ok(end.map(|(EndJson { state, reason, totals, .. }, _)| JobEnd { state, reason, totals }))
    }

    /// Reads `end.json`. Checks the checksum, and checks that the file belongs to this job. Returns all members except
    /// `parts`. Also returns the bytes of the file, from which the caller can parse `parts`. Returns `None` if the file
    /// is missing.
    fn read_end(&self) -> Result<Option<(EndJson, Vec<u8>)>, JobError> {
        /// Maximum size of `end.json` in bytes, without the entries of the parts.
        const COUNTS: u64 = 4 << 20;
        /// Maximum size of the entry of a part, in bytes.
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

    /// Returns the reason in `damaged.json`; `None` if the file is missing. The file marks an ended job as damaged, and
    /// overrides the state in `end.json`.
    ///
    /// # Errors
    /// [`JobError`] if the storage fails. An invalid `damaged.json` causes no error: the job counts as damaged, and the
    /// reason is the error of the file.
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

    /// Marks an ended job as damaged. Does nothing if the job is marked already.
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

    /// Creation time of `end.json`; `None` if the job has not ended.
    ///
    /// # Errors
    /// [`JobError::File`].
    pub fn ended_at(&self) -> Result<Option<SystemTime>, JobError> {
        self.created_at(END)
    }

    /// Ends an incomplete job: creates `end.json` with this state and this reason, but without counts of the rows. Does
    /// nothing if the job has ended.
    ///
    /// # Errors
    /// [`JobError::File`].
    pub fn abandon(&self, state: EndState, reason: Option<String>) -> Result<Created, JobError> {
        self.put_json(END, &EndJson { state, spec_sha256: hex(self.digest()), reason, totals: None })
    }

    /// Completes the job if all parts exist: reads all parts, and creates `end.json`. An existing `end.json` stays
    /// unchanged, even if the job was cancelled or failed. Returns true if all parts exist; false if a part is missing.
    ///
    /// # Errors
    /// [`JobError`]. A damaged part is an error too.
    pub fn complete(&self) -> Result<bool, JobError> {
        self.complete_while(|| true)
    }

    /// Completes the job like [`complete`](Self::complete), and calls `goes_on` before each part is read. Once
    /// `goes_on` returns false, stops without creating `end.json`, and returns false.
    ///
    /// # Errors
    /// [`JobError`]. A damaged part is an error too.
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

    /// Writes the manifest to `file`. Only one part is in memory at a time. If a part cannot be read or `goes_on`
    /// returns false, sets `halt`, and leaves the file incomplete.
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
                // Another process has removed the part since the parts were listed.
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
