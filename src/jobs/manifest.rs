//! `end.json`: that a job is complete, and what its parts hold.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::files::Created;
use super::hex::{hex, sha256_hex};
use super::part::Row;
use super::stored_job::{END, JobError, StoredJob};
use crate::search::{Named, named};

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
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EndState {
    /// All parts exist.
    Completed,
    /// It was cancelled before that.
    Cancelled,
    /// Its files are damaged, so that it cannot go on.
    Failed,
}

named!(EndState { Completed => "completed", Cancelled => "cancelled", Failed => "failed" });

/// The members of `end.json` of any job, without its parts.
#[derive(Serialize, Deserialize)]
struct EndJson {
    state: String,
    spec_sha256: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    totals: Option<Totals>,
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
        match self.end()? {
            Some(JobEnd { state: EndState::Completed, .. }) => {}
            _ => return Ok(None),
        }
        let Some(bytes) = self.get(END)? else { return Ok(None) };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| self.file_error(END, error.into()))
    }

    /// Reads how the job ended, if it has.
    ///
    /// # Errors
    /// [`JobError`], also if `end.json` does not say it.
    pub fn end(&self) -> Result<Option<JobEnd>, JobError> {
        let Some(bytes) = self.get(END)? else { return Ok(None) };
        let wrong = |error: serde_json::Error| self.file_error(END, error.into());
        let EndJson { state, reason, totals, .. } = serde_json::from_slice(&bytes).map_err(wrong)?;
        let unknown = || self.file_error(END, std::io::ErrorKind::InvalidData.into());
        Ok(Some(JobEnd { state: EndState::from_name(&state).ok_or_else(unknown)?, reason, totals }))
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
        let json = EndJson { state: state.name().to_owned(), spec_sha256: hex(self.digest()), reason, totals: None };
        self.put_with(END, |file| {
            serde_json::to_writer_pretty(&mut *file, &json)?;
            file.write_all(b"\n")
        })
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
        let mut file = std::io::BufWriter::new(file);
        let spec = hex(self.digest());
        write!(file, "{{\n\"state\": \"completed\",\n\"spec_sha256\": \"{spec}\",\n\"parts\": [")?;
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
        write!(file, "\n],\n\"totals\": {}\n}}\n", serde_json::to_string(&totals)?)?;
        file.flush()
    }
}
