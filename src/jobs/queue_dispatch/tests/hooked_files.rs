//! Files that call a hook before each call.

use std::io::{self, BufRead};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use taquin_bulk::{Created, Files, WriteFile};

/// A method of [`Files`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Call {
    Put,
    Get,
    CreatedAt,
    Other,
}

type Hook = dyn Fn(Call, &str) -> io::Result<()> + Send + Sync;

/// Files that call a hook before each call. If the hook fails, the call fails with the error of the hook.
pub(crate) struct HookedFiles {
    files: Arc<dyn Files>,
    hook: Box<Hook>,
}

impl HookedFiles {
    pub(crate) fn over(
        files: &Arc<dyn Files>,
        hook: impl Fn(Call, &str) -> io::Result<()> + Send + Sync + 'static,
    ) -> Arc<dyn Files> {
        Arc::new(Self { files: Arc::clone(files), hook: Box::new(hook) })
    }
}

impl std::fmt::Debug for HookedFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HookedFiles").finish_non_exhaustive()
    }
}

impl Files for HookedFiles {
    fn path_of(&self, name: &str) -> PathBuf {
        self.files.path_of(name)
    }

    fn create_folder(&self, name: &str) -> io::Result<()> {
        (self.hook)(Call::Other, name)?;
        self.files.create_folder(name)
    }

    fn put_with(&self, name: &str, write: &mut WriteFile<'_>) -> io::Result<Created> {
        (self.hook)(Call::Put, name)?;
        self.files.put_with(name, write)
    }

    fn get_within(&self, name: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
        (self.hook)(Call::Get, name)?;
        self.files.get_within(name, most)
    }

    fn open(&self, name: &str) -> io::Result<Option<Box<dyn BufRead + Send>>> {
        (self.hook)(Call::Get, name)?;
        self.files.open(name)
    }

    fn created_at(&self, name: &str) -> io::Result<Option<SystemTime>> {
        (self.hook)(Call::CreatedAt, name)?;
        self.files.created_at(name)
    }

    fn length(&self, name: &str) -> io::Result<Option<u64>> {
        (self.hook)(Call::Other, name)?;
        self.files.length(name)
    }

    fn list_after(&self, folder: &str, after: &str, visit: &mut dyn FnMut(&str)) -> io::Result<()> {
        (self.hook)(Call::Other, folder)?;
        self.files.list_after(folder, after, visit)
    }

    fn list_folders(&self, folder: &str, visit: &mut dyn FnMut(&str)) -> io::Result<()> {
        (self.hook)(Call::Other, folder)?;
        self.files.list_folders(folder, visit)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        (self.hook)(Call::Other, name)?;
        self.files.remove(name)
    }

    fn remove_folder(&self, name: &str) -> io::Result<()> {
        (self.hook)(Call::Other, name)?;
        self.files.remove_folder(name)
    }

    fn clean(&self, folder: &str) -> io::Result<()> {
        (self.hook)(Call::Other, folder)?;
        self.files.clean(folder)
    }
}
