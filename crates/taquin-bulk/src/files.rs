//! Storage of jobs. The storage has files that are created once and never changed. A file becomes visible when it is
//! complete.

use std::fmt;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::time::SystemTime;

/// Storage for the files of a job. Any number of processes may use the storage at the same time.
///
/// The methods block until the storage has responded.
pub trait Files: fmt::Debug + Send + Sync {
    /// Returns the path or the URL of a file, for messages. The empty name stands for the whole storage.
    fn path_of(&self, name: &str) -> PathBuf;

    /// Creates the folder `name`, and creates parent folders that are missing. Does nothing if the folder exists. The
    /// folder of a file must exist before the file is created.
    ///
    /// # Errors
    /// Errors of the storage.
    fn create_folder(&self, name: &str) -> io::Result<()>;

    /// Creates a file with the content that `write` writes. An existing file with this name stays unchanged; some
    /// storage calls `write` nevertheless. If there is no error, the new or existing file is durable when this function
    /// returns.
    ///
    /// # Errors
    /// Errors of the storage and of `write`. After an error, the name has no file, the previous file, or the complete
    /// new file.
    fn put_with(&self, name: &str, write: &mut WriteFile<'_>) -> io::Result<Created>;

    /// Creates a file with these bytes. An existing file with this name stays unchanged.
    ///
    /// # Errors
    /// Errors of [`put_with`](Self::put_with).
    fn put(&self, name: &str, bytes: &[u8]) -> io::Result<Created> {
        self.put_with(name, &mut |file| file.write_all(bytes))
    }

    /// Reads a file of at most `most` bytes; `None` if the file is missing.
    ///
    /// # Errors
    /// Errors of the storage, and [`io::ErrorKind::InvalidData`] if the file is larger or not a regular file.
    fn get_within(&self, name: &str, most: u64) -> io::Result<Option<Vec<u8>>>;

    /// Reads a file of at most [`SMALL_FILE`] bytes; `None` if the file is missing.
    ///
    /// # Errors
    /// Errors of [`get_within`](Self::get_within).
    fn get(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        self.get_within(name, SMALL_FILE)
    }

    /// Opens a file for reading from its start; `None` if the file is missing.
    ///
    /// # Errors
    /// Errors of the storage.
    fn open(&self, name: &str) -> io::Result<Option<Box<dyn BufRead + Send>>>;

    /// Returns the creation time of a file, by the clock of the storage; `None` if the file is missing.
    ///
    /// # Errors
    /// Errors of the storage.
    fn created_at(&self, name: &str) -> io::Result<Option<SystemTime>>;

    /// Returns the length of a file, in bytes; `None` if the file is missing.
    ///
    /// # Errors
    /// Errors of the storage.
    fn length(&self, name: &str) -> io::Result<Option<u64>>;

    /// Calls `visit` with the name of each file in a folder, if the name of the file is greater than `after`. Names are
    /// compared by their bytes. The order of the calls is arbitrary. The names are relative to the folder. A missing
    /// folder has no files.
    ///
    /// # Errors
    /// Errors of the storage.
    fn list_after(&self, folder: &str, after: &str, visit: &mut dyn FnMut(&str)) -> io::Result<()>;

    /// Calls `visit` with the name of each file in a folder, in any order. The names are relative to the folder. A
    /// missing folder has no files.
    ///
    /// # Errors
    /// Errors of the storage.
    fn list(&self, folder: &str, visit: &mut dyn FnMut(&str)) -> io::Result<()> {
        self.list_after(folder, "", visit)
    }

    /// Calls `visit` with the name of each folder in a folder. The order of the calls is arbitrary. The names are
    /// relative to the outer folder. A missing folder has no folders. In storage where a folder is only a prefix of
    /// names, a folder without files is missing.
    ///
    /// # Errors
    /// Errors of the storage.
    fn list_folders(&self, folder: &str, visit: &mut dyn FnMut(&str)) -> io::Result<()>;

    /// Removes a file. The removal is durable. Does nothing if the file is missing. To remove a folder, use
    /// [`remove_folder`](Self::remove_folder).
    ///
    /// # Errors
    /// Errors of the storage.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Removes a folder with its content. Does nothing if the folder is missing. After an error or a loss of power, a
    /// part of the content may remain.
    ///
    /// # Errors
    /// Errors of the storage.
    fn remove_folder(&self, name: &str) -> io::Result<()>;

    /// Removes temporary files that killed processes left in a folder. A missing folder has no such files.
    ///
    /// # Errors
    /// Errors of the storage.
    fn clean(&self, folder: &str) -> io::Result<()>;
}

/// Maximum size in bytes of a file that [`Files::get`] reads, such as `spec.json`.
pub const SMALL_FILE: u64 = 1 << 20;

/// Creates an error for a file with invalid content.
pub fn invalid(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}

/// Creates an error for a file that has more than `most` bytes.
pub fn too_long(most: u64) -> io::Error {
    invalid(format!("the file has more than {most} bytes, the most of its kind"))
}

/// Function that writes the content of a file.
pub type WriteFile<'w> = dyn FnMut(&mut dyn Write) -> io::Result<()> + 'w;

/// Result of creating a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Created {
    /// The file was created.
    New,
    /// A file of this name existed, and remains unchanged.
    Existed,
}
