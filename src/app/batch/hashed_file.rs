//! A file that is only appended to, and its digest.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::destination::has_bytes;
use crate::jobs::{hex, if_found, is_same_file, open_regular};

/// A file that is only appended to, and its digest.
#[derive(Debug)]
pub(super) struct HashedFile {
    path: PathBuf,
    /// The name of a whole file that it has already, and not its path.
    name: Option<PathBuf>,
    writer: BufWriter<File>,
    digest: Sha256,
    pub(super) length: u64,
}

/// The first lines or bytes of a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Extent {
    pub(super) length: u64,
    pub(super) sha256: String,
}

impl HashedFile {
    pub(super) fn create(path: PathBuf) -> io::Result<Self> {
        let writer = BufWriter::new(File::create_new(&path)?);
        Ok(Self { path, name: None, writer, digest: Sha256::default(), length: 0 })
    }

    /// Goes on behind the first bytes of a file, which must not have changed. A killed process may have given the file
    /// the name of a whole one, which it keeps until more is written.
    pub(super) fn resume(path: PathBuf, name: &Path, extent: &Extent) -> io::Result<Self> {
        let name = (!path.exists() && name.exists()).then(|| name.to_owned());
        let mut file = open_regular(name.as_ref().unwrap_or(&path), OpenOptions::new().read(true).write(true))?;
        let (mut digest, mut buffer, mut left) = (Sha256::default(), vec![0; 1 << 16], extent.length);
        while left > 0 {
            let most = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            file.read_exact(&mut buffer[..most])?;
            digest.update(&buffer[..most]);
            left -= most as u64;
        }
        if hex(&digest.clone().finalize()) != extent.sha256 || name.is_some() && file.metadata()?.len() != extent.length
        {
            return Err(changed());
        }
        file.set_len(extent.length)?;
        file.seek(SeekFrom::Start(extent.length))?;
        Ok(Self { path, name, writer: BufWriter::new(file), digest, length: extent.length })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(name) = self.name.take_if(|_| !bytes.is_empty()) {
            if !is_same_file(&self.writer.get_ref().metadata()?, &fs::metadata(&name)?) {
                return Err(changed());
            }
            fs::rename(name, &self.path)?;
        }
        self.writer.write_all(bytes)?;
        self.digest.update(bytes);
        self.length += bytes.len() as u64;
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn write_to(&mut self, other: File) {
        self.writer = BufWriter::new(other);
    }

    /// Brings all bytes to the disk.
    pub(super) fn sync(&mut self) -> io::Result<Extent> {
        self.writer.flush()?;
        self.writer.get_ref().sync_data()?;
        Ok(Extent { length: self.length, sha256: hex(&self.digest.clone().finalize()) })
    }

    /// Gives a whole file its name.
    ///
    /// # Errors
    /// Errors of the file system, and [`ErrorKind::AlreadyExists`] if a file of that name would be lost.
    pub(super) fn give_name(&self, name: &Path, overwrites: bool) -> io::Result<()> {
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

/// Removes a file if it is empty or may be overwritten.
///
/// # Errors
/// Errors of the file system, and [`ErrorKind::AlreadyExists`] if the file would be lost.
pub(super) fn remove_unless_lost(path: &Path, overwrites: bool) -> io::Result<()> {
    if !overwrites && has_bytes(path) {
        return Err(ErrorKind::AlreadyExists.into());
    }
    if_found(fs::remove_file(path)).map(drop)
}

/// Renames a file, unless there is a file of the new name.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // The file system cannot do both at once.
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
