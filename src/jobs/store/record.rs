//! Records of jobs, the files `jobs/ID.json`.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use taquin_bulk::{FolderName, FormatError, JobId, read_sealed, seal};

use crate::jobs::owner::JobOwner;
use crate::jobs::time::{bounded, millis, of_millis};

/// The record of a job. The record has all data that the engine stores beside the specification.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct JobRecord {
    /// The owner. The job appears in the owner's list.
    pub(crate) owner: JobOwner,
    /// Creation time, with millisecond precision.
    pub(crate) created: SystemTime,
    /// Estimated core time of the whole job, in seconds.
    pub(crate) core_seconds: f64,
    pub(crate) folder: FolderName,
}

#[derive(Serialize, Deserialize)]
struct RecordJson {
    format: String,
    owner: String,
    created_ms: u64,
    core_seconds: f64,
    folder: String,
}

const FORMAT: &str = "taquin-engine-job-3";
/// Folder of the records.
pub(crate) const RECORDS: &str = "jobs";
const EXTENSION: &str = ".json";

pub(crate) fn name_of(id: JobId) -> String {
    format!("{RECORDS}/{id}{EXTENSION}")
}

/// Parses the id from the name of a record in the folder [`RECORDS`]. Returns `None` if the file is not a record.
pub(crate) fn id_of(name: &str) -> Option<JobId> {
    name.strip_suffix(EXTENSION).and_then(|id| id.parse().ok())
}

impl JobRecord {
    /// Returns the present time with millisecond precision, the precision of records.
    pub(crate) fn now() -> SystemTime {
        let now = bounded(SystemTime::now());
        of_millis(millis(now)).unwrap_or(now)
    }

    pub(crate) fn to_json(&self) -> Vec<u8> {
        let Self { owner, created, core_seconds, folder } = self;
        let json = RecordJson {
            format: FORMAT.to_owned(),
            owner: owner.to_hex(),
            created_ms: millis(*created),
            core_seconds: *core_seconds,
            folder: folder.to_string(),
        };
        let mut text = serde_json::to_vec_pretty(&json).expect("it has only texts and finite numbers");
        text.push(b'\n');
        seal(&text)
    }

    pub(crate) fn of_json(bytes: &[u8]) -> Result<Self, RecordError> {
        let RecordJson { owner, created_ms, core_seconds, folder, .. } = read_sealed(bytes, FORMAT)?;
        Ok(Self {
            owner: JobOwner::of_hex(&owner).ok_or(RecordError::Member("owner"))?,
            created: of_millis(created_ms).ok_or(RecordError::Member("created_ms"))?,
            core_seconds,
            folder: folder.parse().map_err(|()| RecordError::Member("folder"))?,
        })
    }

    /// Creates a placeholder for a damaged record. `bytes` are the readable bytes of the record. If the owner is
    /// readable in these bytes, the placeholder has that owner, so that the job appears in the owner's list. Damage
    /// cannot turn one digest into the digest of another owner. The real folder is unknown, so `folder` names a folder
    /// that does not exist.
    pub(crate) fn standing_for(id: JobId, bytes: &[u8], created: SystemTime) -> Self {
        let owner = owner_in(bytes).unwrap_or_default();
        Self { owner, created: bounded(created), core_seconds: 0.0, folder: FolderName(id.0) }
    }
}

/// The reason why bytes are not a valid record.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum RecordError {
    /// The bytes are not JSON in the sealed format of records.
    #[error(transparent)]
    Text(#[from] FormatError),
    /// A member has an invalid value.
    #[error("`{0}` has an invalid value")]
    Member(&'static str),
}

/// Finds the owner in a damaged record; `None` if the owner is unreadable.
fn owner_in(bytes: &[u8]) -> Option<JobOwner> {
    let text = String::from_utf8_lossy(bytes);
    let (_, owner) = text.split_once("\"owner\": \"")?;
    JobOwner::of_hex(owner.split_once('"')?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> JobRecord {
        let folder = FolderName::random().unwrap();
        JobRecord { owner: JobOwner::of_token([7; 32]), created: JobRecord::now(), core_seconds: 1.5, folder }
    }

    #[test]
    fn a_record_is_read_as_written_and_each_changed_bit_is_found() {
        let record = record();
        let bytes = record.to_json();
        assert_eq!(JobRecord::of_json(&bytes), Ok(record));
        for bit in 0..8 * bytes.len() {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(JobRecord::of_json(&damaged).is_err(), "bit {bit}");
            assert!(JobRecord::of_json(&bytes[..bit / 8]).is_err(), "{} bytes", bit / 8);
        }
    }

    #[test]
    fn other_formats_and_times_are_named() {
        let text = |format: &str, created_ms: u64| {
            format!(
                "{{\n  \"format\": \"{format}\",\n  \"owner\": \"\",\n  \"created_ms\": {created_ms},\n  \
                 \"core_seconds\": 1,\n  \"folder\": \"{}\"\n}}\n",
                record().folder
            )
        };
        let of = |format, created_ms| JobRecord::of_json(&seal(text(format, created_ms).as_bytes()));
        assert!(of(FORMAT, 0).is_ok());
        assert!(of(FORMAT, 253_402_300_799_999).is_ok(), "the end of the year 9999");
        for beyond in [253_402_300_800_000, u64::MAX] {
            assert_eq!(of(FORMAT, beyond), Err(RecordError::Member("created_ms")));
        }
        let older = "taquin-engine-job-2";
        let error = Err(FormatError::Format(older.to_owned(), FORMAT).into());
        assert_eq!((of(older, 0), JobRecord::of_json(text(older, 0).as_bytes())), (error.clone(), error));
    }

    #[test]
    fn a_damaged_record_is_its_owners_if_that_is_readable() {
        let (id, own) = (JobId::random().unwrap(), record());
        let of = |bytes: &[u8]| JobRecord::standing_for(id, bytes, SystemTime::UNIX_EPOCH);
        let mut bytes = own.to_json();
        let last = bytes.len() - 10;
        bytes[last] ^= 1;
        assert_eq!((of(&bytes).owner, of(&bytes).folder), (own.owner, of(b"").folder));
        assert_ne!(of(&bytes).folder, own.folder);
        for unreadable in [&bytes[..60], &[0xff; 300], b"", b"{\"owner\": \"xyz\"}"] {
            assert_eq!(of(unreadable).owner, JobOwner::default());
        }
    }
}
