//! The records of jobs: `jobs/ID.json`.

use std::io::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::jobs::engine::id::{FolderName, JobId, JobOwner};

/// What the engine knows about a job beside its specification: the file `jobs/ID.json`.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::jobs::engine) struct JobRecord {
    pub(in crate::jobs::engine) owner: JobOwner,
    /// To the millisecond.
    pub(in crate::jobs::engine) created: SystemTime,
    /// Estimated processor time of the whole job.
    pub(in crate::jobs::engine) core_seconds: f64,
    /// Its folder.
    pub(in crate::jobs::engine) folder: FolderName,
}

#[derive(Serialize, Deserialize)]
struct RecordJson {
    format: String,
    owner: String,
    created_ms: u64,
    core_seconds: f64,
    folder: String,
}

const FORMAT: &str = "taquin-engine-job-2";
/// The folder of the records.
pub(super) const RECORDS: &str = "jobs";
const EXTENSION: &str = ".json";

/// The path of the record of a job.
pub(super) fn name_of(id: JobId) -> String {
    format!("{RECORDS}/{id}{EXTENSION}")
}

/// The job of a record, by its name in its folder.
pub(super) fn id_of(name: &str) -> Option<JobId> {
    name.strip_suffix(EXTENSION).and_then(|id| id.parse().ok())
}

impl JobRecord {
    /// The present time to the millisecond, as a record keeps it.
    pub(in crate::jobs::engine) fn now() -> SystemTime {
        of_millis(millis(SystemTime::now()))
    }

    pub(super) fn to_json(&self) -> Vec<u8> {
        let Self { owner, created, core_seconds, folder } = self;
        let json = RecordJson {
            format: FORMAT.to_owned(),
            owner: owner.to_hex(),
            created_ms: millis(*created),
            core_seconds: *core_seconds,
            folder: folder.to_string(),
        };
        let mut bytes = Vec::new();
        serde_json::to_writer_pretty(&mut bytes, &json).expect("it has only texts and finite numbers");
        let _ = bytes.write_all(b"\n");
        bytes
    }

    pub(super) fn of_json(bytes: &[u8]) -> Option<Self> {
        let RecordJson { format, owner, created_ms, core_seconds, folder } = serde_json::from_slice(bytes).ok()?;
        let owner = JobOwner::of_hex(&owner).filter(|_| format == FORMAT)?;
        let folder = folder.parse().ok()?;
        Some(Self { owner, created: of_millis(created_ms), core_seconds, folder })
    }
}

/// Milliseconds since 1970.
pub(in crate::jobs::engine) fn millis(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}

fn of_millis(millis: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(millis)
}
