//! Folders in which jobs are made.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::jobs::engine::creations::Creation;
use crate::jobs::engine::id::FolderName;
use crate::jobs::engine::settings::CreateError;
use crate::jobs::files::Files;
use crate::jobs::spec::JobSpec;
use crate::jobs::stored_job::{JobError, StoredJob};

/// Time after which a job that is being made is given up, if other processes use the place too.
const MAKING_TIME: Duration = Duration::from_secs(3600);
/// A folder in which a job is made. It is removed when dropped, unless a record may name it.
#[derive(Debug)]
pub struct NewFolder {
    name: FolderName,
    files: Arc<dyn Files>,
    making: Arc<Mutex<HashSet<FolderName>>>,
    /// When it is given up, if other processes use the place too.
    pub(super) deadline: Option<Instant>,
    pub(super) is_kept: bool,
    /// Counts for the quota of the owner.
    pub(in crate::jobs::engine) creation: Option<Creation>,
}

impl NewFolder {
    /// An empty folder, which is in the set of those in which this process makes jobs until it is dropped.
    pub(super) fn new(
        name: FolderName,
        files: Arc<dyn Files>,
        making: Arc<Mutex<HashSet<FolderName>>>,
        is_shared: bool,
    ) -> Self {
        making.lock().insert(name);
        let deadline = is_shared.then(|| Instant::now() + MAKING_TIME);
        Self { name, files, making, deadline, is_kept: false, creation: None }
    }

    /// Checks that the job can be created in time: while other processes may remove folders without a record, it has an
    /// hour.
    ///
    /// # Errors
    /// [`CreateError::TooLate`].
    pub fn check_time(&self) -> Result<(), CreateError> {
        let is_late = self.deadline.is_some_and(|deadline| deadline <= Instant::now());
        if is_late { Err(CreateError::TooLate(MAKING_TIME)) } else { Ok(()) }
    }

    /// Its files, for the boards of an input.
    pub fn files(&self) -> &Arc<dyn Files> {
        &self.files
    }

    pub(in crate::jobs::engine) fn name(&self) -> FolderName {
        self.name
    }

    /// Writes the specification, after the input.
    ///
    /// # Errors
    /// [`JobError`].
    pub(in crate::jobs::engine) fn write(&self, spec: &JobSpec) -> Result<(), JobError> {
        StoredJob::create_in(Arc::clone(&self.files), spec).map(drop)
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        self.making.lock().remove(&self.name);
        if self.is_kept {
            return;
        }
        let files = Arc::clone(&self.files);
        // What is left is removed later, as a folder without a record.
        let remove = move || drop(files.remove_folder(""));
        match tokio::runtime::Handle::try_current() {
            // This may be a thread of the runtime, which must not block.
            Ok(runtime) => drop(runtime.spawn_blocking(remove)),
            Err(_) => remove(),
        }
    }
}
