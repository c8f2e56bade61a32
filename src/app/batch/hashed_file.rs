//! A file that is only appended to, and its digest.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::jobs::{hex, open_regular};

/// A file that is only appended to, and its digest.
#[derive(Debug)]
pub(super) struct HashedFile {
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
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        Ok(Self { writer: BufWriter::new(File::create_new(path)?), digest: Sha256::default(), length: 0 })
    }

    /// Goes on behind the first bytes of a file, which must not have changed. A killed process may have given the file
    /// the name that it has when it is whole.
    pub(super) fn resume(path: &Path, whole: &Path, extent: &Extent) -> io::Result<Self> {
        let is_whole = !path.exists() && whole.exists();
        let mut file = open_regular(if is_whole { whole } else { path }, OpenOptions::new().read(true).write(true))?;
        let (mut digest, mut buffer, mut left) = (Sha256::default(), vec![0; 1 << 16], extent.length);
        while left > 0 {
            let most = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            file.read_exact(&mut buffer[..most])?;
            digest.update(&buffer[..most]);
            left -= most as u64;
        }
        if hex(&digest.clone().finalize()) != extent.sha256 || is_whole && file.metadata()?.len() != extent.length {
            return Err(io::Error::new(ErrorKind::InvalidData, "the file was changed"));
        }
        if is_whole {
            fs::rename(whole, path)?;
        }
        file.set_len(extent.length)?;
        file.seek(SeekFrom::Start(extent.length))?;
        Ok(Self { writer: BufWriter::new(file), digest, length: extent.length })
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.writer.write_all(bytes)?;
        self.digest.update(bytes);
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// Brings all bytes to the disk.
    pub(super) fn sync(&mut self) -> io::Result<Extent> {
        self.writer.flush()?;
        self.writer.get_ref().sync_data()?;
        Ok(Extent { length: self.length, sha256: hex(&self.digest.clone().finalize()) })
    }
}
