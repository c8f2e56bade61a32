//! An append-only file, with a checksum of the bytes written so far.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::{if_found, is_same_file, open_regular};
use crc32fast::Hasher;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::destination::has_bytes;

/// A file whose CRC-32 is known at any time. The checksum finds accidental changes between two runs.
#[derive(Debug)]
pub(crate) struct CheckedFile {
    path: PathBuf,
    /// The final name, if an earlier process has renamed the file already; otherwise `None`.
    name: Option<PathBuf>,
    writer: BufWriter<File>,
    checksum: Hasher,
    pub(crate) length: u64,
}

/// Length and checksum of the first lines of an input, or of the first bytes of a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Extent {
    /// Number of lines or of bytes.
    pub(crate) length: u64,
    /// CRC-32 of these lines or bytes.
    pub(crate) crc32: u32,
}

impl CheckedFile {
    pub(crate) fn create(path: PathBuf) -> io::Result<Self> {
        let writer = BufWriter::new(File::create_new(&path)?);
        Ok(Self { path, name: None, writer, checksum: Hasher::default(), length: 0 })
    }

    /// Resumes a file after the bytes of `extent`. These bytes must be unchanged. All later bytes are removed. If a
    /// killed process has renamed the file to the final name `name`, the file keeps this name until further bytes are
    /// written.
    ///
    /// # Errors
    /// Errors of the file system. [`ErrorKind::InvalidData`] if the bytes of `extent` have changed, or if a renamed
    /// file has further bytes.
    pub(crate) fn resume(path: PathBuf, name: &Path, extent: &Extent) -> io::Result<Self> {
        let name = (!path.exists() && name.exists()).then(|| name.to_owned());
        let mut file = open_regular(name.as_ref().unwrap_or(&path), OpenOptions::new().read(true).write(true))?;
        let (mut checksum, mut buffer, mut left) = (Hasher::default(), vec![0; 1 << 16], extent.length);
        while left > 0 {
            let most = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            file.read_exact(&mut buffer[..most])?;
            checksum.update(&buffer[..most]);
            left -= most as u64;
        }
        let is_longer = name.is_some() && file.metadata()?.len() != extent.length;
        if checksum.clone().finalize() != extent.crc32 || is_longer {
            return Err(changed());
        }
        file.set_len(extent.length)?;
        file.seek(SeekFrom::Start(extent.length))?;
        Ok(Self { path, name, writer: BufWriter::new(file), checksum, length: extent.length })
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(name) = self.name.take_if(|_| !bytes.is_empty()) {
            if !is_same_file(&self.writer.get_ref().metadata()?, &fs::metadata(&name)?) {
                return Err(changed());
            }
            fs::rename(name, &self.path)?;
        }
        self.writer.write_all(bytes)?;
        self.checksum.update(bytes);
        self.length += bytes.len() as u64;
        Ok(())
    }

    #[cfg(test)]
    pub(crate) fn write_to(&mut self, other: File) {
        self.writer = BufWriter::new(other);
    }

    /// Syncs all bytes to the disk. Returns the length and the checksum of all bytes.
    pub(crate) fn sync(&mut self) -> io::Result<Extent> {
        self.writer.flush()?;
        self.writer.get_ref().sync_data()?;
        Ok(Extent { length: self.length, crc32: self.checksum.clone().finalize() })
    }

    /// Renames a complete file to its final name. The file gets the permissions of a file that it replaces. Does
    /// nothing if an earlier process has renamed the file already.
    ///
    /// # Errors
    /// Errors of the file system. [`ErrorKind::AlreadyExists`] if the renaming would replace a file that must be kept.
    pub(crate) fn give_name(&self, name: &Path, overwrites: bool) -> io::Result<()> {
        if self.name.is_some() {
            return Ok(());
        }
        if let Ok(replaced) = fs::metadata(name) {
            fs::set_permissions(&self.path, replaced.permissions())?;
        }
        if overwrites {
            return fs::rename(&self.path, name);
        }
        remove_unless_lost(name, false)?;
        rename_new(&self.path, name)
    }
}

/// Removes a file that is empty or that may be overwritten. Does nothing if the file is missing.
///
/// # Errors
/// Errors of the file system. [`ErrorKind::AlreadyExists`] if the file has content and must not be overwritten.
pub(crate) fn remove_unless_lost(path: &Path, overwrites: bool) -> io::Result<()> {
    if !overwrites && has_bytes(path) {
        return Err(ErrorKind::AlreadyExists.into());
    }
    if_found(fs::remove_file(path)).map(drop)
}

/// Renames a file. Fails if a file with the new name exists.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // The file system cannot check and rename in one atomic operation, so this function checks first.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => match if_found(fs::symlink_metadata(to))? {
            Some(_) => Err(ErrorKind::AlreadyExists.into()),
            None => fs::rename(from, to),
        },
        renamed => Ok(renamed?),
    }
}

fn changed() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "the file was changed")
}
