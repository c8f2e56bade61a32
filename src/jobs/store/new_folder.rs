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
/// A folder for a new job. Dropping the value removes the folder, unless a record may name the folder.
#[derive(Debug)]
pub struct NewFolder {
    name: FolderName,
    files: Arc<dyn Files>,
    making: Arc<Mutex<HashSet<FolderName>>>,
    /// Time at which the creation is given up; `None` in a directory of this process alone.
    pub(crate) deadline: Option<Instant>,
    pub(crate) is_kept: bool,
    /// Count against the owner's limit; `None` if the folder does not count.
    pub(crate) creation: Option<Creation>,
}

impl NewFolder {
    /// Registers an empty folder in `making` until the value is dropped.
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

    /// Checks that the time limit of the creation has not passed. Only a shared store has this limit, since other
    /// processes remove folders without a record after two hours.
    ///
    /// # Errors
    /// [`CreateError::TooLate`] after an hour.
    pub fn check_time(&self) -> Result<(), CreateError> {
        let is_late = self.deadline.is_some_and(|deadline| deadline <= Instant::now());
        if is_late { Err(CreateError::TooLate(MAKING_TIME)) } else { Ok(()) }
    }

    /// The files of the folder, to which the boards of an input are written.
    pub fn files(&self) -> &Arc<dyn Files> {
        &self.files
    }

    pub(crate) fn name(&self) -> FolderName {
        self.name
    }

    /// Writes the specification. An input must have been written before.
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
        // Remaining files are removed later, as a folder without a record.
        let remove = move || drop(files.remove_folder(""));
        match tokio::runtime::Handle::try_current() {
            // This may be a runtime thread, which must not block.
            Ok(runtime) => drop(runtime.spawn_blocking(remove)),
            Err(_) => remove(),
        }
    }
}
