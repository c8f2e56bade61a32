//! Folders for new jobs.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use taquin_bulk::{Files, FolderName, JobError, JobSpec, StoredJob};

use crate::jobs::creations::Creation;
use crate::jobs::settings::CreateError;

/// Time limit for the creation of a job in a shared store.
const MAKING_TIME: Duration = Duration::from_secs(3600);
/// A folder for a new job. Dropping the `NewFolder` removes the folder, unless a record may name the folder.
#[derive(Debug)]
pub struct NewFolder {
    name: FolderName,
    files: Arc<dyn Files>,
    making: Arc<Mutex<HashSet<FolderName>>>,
    /// Time limit for the creation of the job; `None` in a directory of this process alone.
    pub(crate) deadline: Option<Instant>,
    pub(crate) is_kept: bool,
    /// Counts the job against the owner's limit; `None` if the folder does not count.
    pub(crate) creation: Option<Creation>,
}

impl NewFolder {
    /// Registers a folder in `making` until the `NewFolder` is dropped. This function does not create the folder.
    pub(crate) fn new(
        name: FolderName,
        files: Arc<dyn Files>,
        making: Arc<Mutex<HashSet<FolderName>>>,
        is_shared: bool,
    ) -> Self {
        making.lock().insert(name);
        let deadline = is_shared.then(|| Instant::now() + MAKING_TIME);
        Self { name, files, making, deadline, is_kept: false, creation: None }
    }

    /// Checks that the time limit of the creation has not passed. Only a shared store has a limit, because other
    /// processes remove folders without a record after two hours.
    ///
    /// # Errors
    /// [`CreateError::TooLate`] after an hour.
    pub fn check_time(&self) -> Result<(), CreateError> {
        let is_late = self.deadline.is_some_and(|deadline| deadline <= Instant::now());
        if is_late { Err(CreateError::TooLate(MAKING_TIME)) } else { Ok(()) }
    }

    /// Returns the files of the folder. The boards of an upload are written there.
    pub fn files(&self) -> &Arc<dyn Files> {
        &self.files
    }

    pub(crate) fn name(&self) -> FolderName {
        self.name
    }

    /// Writes the specification. The caller must have written the boards of an upload first.
    pub(crate) fn write(&self, spec: &JobSpec) -> Result<(), JobError> {
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
        // Files that cannot be removed now are removed later, with the folders that have no record.
        let remove = move || drop(files.remove_folder(""));
        match tokio::runtime::Handle::try_current() {
            // The current thread may be a thread of the runtime, which must not block.
            Ok(runtime) => drop(runtime.spawn_blocking(remove)),
            Err(_) => remove(),
        }
    }
}
