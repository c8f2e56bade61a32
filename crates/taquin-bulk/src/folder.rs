//! `Files` in a folder of other `Files`.

use std::io::{self, BufRead};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use crate::files::{Created, Files, WriteFile};

/// The files of a folder in other [`Files`]. The names are relative to the folder.
#[derive(Clone, Debug)]
pub struct Folder {
    files: Arc<dyn Files>,
    name: String,
}

impl Folder {
    /// Creates a view of the folder `name`. The folder may be missing.
    pub fn new(files: &Arc<dyn Files>, name: String) -> Self {
        Self { files: Arc::clone(files), name }
    }

    fn of(&self, name: &str) -> String {
        // Joining an empty name would append a slash to the name of the folder.
        if name.is_empty() { self.name.clone() } else { format!("{}/{name}", self.name) }
    }
}

impl Files for Folder {
    fn path_of(&self, name: &str) -> PathBuf {
        self.files.path_of(&self.of(name))
    }

    fn create_folder(&self, name: &str) -> io::Result<()> {
        self.files.create_folder(&self.of(name))
    }

    fn put_with(&self, name: &str, write: &mut WriteFile<'_>) -> io::Result<Created> {
        self.files.put_with(&self.of(name), write)
    }

    fn get_within(&self, name: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
        self.files.get_within(&self.of(name), most)
    }

    fn open(&self, name: &str) -> io::Result<Option<Box<dyn BufRead + Send>>> {
        self.files.open(&self.of(name))
    }

    fn created_at(&self, name: &str) -> io::Result<Option<SystemTime>> {
        self.files.created_at(&self.of(name))
    }

    fn length(&self, name: &str) -> io::Result<Option<u64>> {
        self.files.length(&self.of(name))
    }

    fn list_after(&self, folder: &str, after: &str, visit: &mut dyn FnMut(&str)) -> io::Result<()> {
        self.files.list_after(&self.of(folder), after, visit)
    }

    fn list_folders(&self, folder: &str, visit: &mut dyn FnMut(&str)) -> io::Result<()> {
        self.files.list_folders(&self.of(folder), visit)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.files.remove(&self.of(name))
    }

    fn remove_folder(&self, name: &str) -> io::Result<()> {
        self.files.remove_folder(&self.of(name))
    }

    fn clean(&self, folder: &str) -> io::Result<()> {
        self.files.clean(&self.of(folder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_files::{FilesInMemory, check_promises};

    #[test]
    fn a_folder_keeps_the_promises_and_all_files_are_in_it() {
        let files: Arc<dyn Files> = Arc::new(FilesInMemory::default());
        check_promises(&Folder::new(&files, "a/b".to_owned()));
        let mut folders = Vec::new();
        for folder in ["", "a", "a/b"] {
            files.list_folders(folder, &mut |name| folders.push(name.to_owned())).unwrap();
        }
        folders.sort();
        assert_eq!(folders, ["a", "b", "one", "some"]);
    }
}
