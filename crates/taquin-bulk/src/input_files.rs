//! The files of an input, and the list of the files' digests. `spec.json` has the digest of the list. So every reader
//! detects a file of another input.

use std::collections::BTreeMap;
use std::io;

use sha2::{Digest, Sha256};

use crate::files::{Created, Files, invalid};
use crate::sealed::{hex, unhex};

/// Name of the file that describes a job. While this file is missing, the files of an input belong to no job.
pub const SPEC: &str = "spec.json";
pub(crate) const FOLDER: &str = "input";
/// Name of the list of digests, which has the format of `sha256sum`.
const SUMS: &str = "SHA256SUMS";
/// Message for a file whose digest differs from the list.
pub(crate) const OTHER_INPUT: &str = "the file is a part of another input";
/// Separator between the digest and the file name in a line of the list.
const SEPARATOR: &str = "  ";
/// Maximum number of bytes of a line of the list.
const LINE: u64 = 128;

/// SHA-256 of each file of an input, by the name of the file in the folder of the input.
#[derive(Debug, Default)]
pub(crate) struct InputSums(BTreeMap<String, [u8; 32]>);

impl InputSums {
    /// Reads the list of digests of at most `most` files. Checks that the SHA-256 of the list is `digest`.
    ///
    /// # Errors
    /// Errors of the storage; [`io::ErrorKind::InvalidData`] if the list has another digest, is too long, or cannot be
    /// parsed; [`io::ErrorKind::NotFound`] if the list is missing. The message of an error names the file of the list.
    pub(crate) fn read(files: &dyn Files, most: u64, digest: &[u8; 32]) -> io::Result<Self> {
        let text = files.get_within(&name_of(SUMS), LINE * most).map_err(|error| of_file(SUMS, &error))?;
        let text = text.ok_or_else(|| missing(SUMS))?;
        let of_list = |what: &str| of_file(SUMS, &invalid(what));
        if Sha256::digest(&text)[..] != digest[..] {
            return Err(of_list("the file is damaged, or it is the list of another input"));
        }
        Self::parse(&text).ok_or_else(|| of_list("the file is not a list of digests"))
    }

    fn parse(text: &[u8]) -> Option<Self> {
        let line = |line: &str| {
            let (digest, name) = line.split_once(SEPARATOR)?;
            Some((name.to_owned(), unhex(digest)?))
        };
        std::str::from_utf8(text).ok()?.lines().map(line).collect::<Option<_>>().map(Self)
    }

    pub(crate) fn of(&self, file: &str) -> Option<&[u8; 32]> {
        self.0.get(file)
    }

    pub(crate) fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Stores a file of the input, and records the digest of the file. Returns false if a file with this name has other
    /// bytes.
    ///
    /// # Errors
    /// Errors of the storage.
    pub(crate) fn put(&mut self, files: &dyn Files, file: &str, bytes: &[u8]) -> io::Result<bool> {
        self.0.insert(file.to_owned(), Sha256::digest(bytes).into());
        let name = name_of(file);
        if files.put(&name, bytes)? == Created::New {
            return Ok(true);
        }
        has_bytes(files, &name, bytes)
    }

    /// Stores a file of the input like [`put`](Self::put). If `spec.json` is missing, an existing file with other bytes
    /// belongs to an interrupted command, and is replaced. If `spec.json` exists, such a file stays unchanged, and the
    /// result is false.
    ///
    /// # Errors
    /// Errors of the storage.
    pub(crate) fn put_anew(&mut self, files: &dyn Files, file: &str, bytes: &[u8]) -> io::Result<bool> {
        if self.put(files, file, bytes)? {
            return Ok(true);
        }
        if files.created_at(SPEC)?.is_some() {
            return Ok(false);
        }
        files.remove(&name_of(file))?;
        self.put(files, file, bytes)
    }

    /// Stores the list in `self`, and returns the SHA-256 of this list. If `spec.json` exists, a stored list with other
    /// content stays unchanged, and its SHA-256 differs from the result.
    ///
    /// # Errors
    /// Errors of the storage.
    pub(crate) fn store(&self, files: &dyn Files) -> io::Result<[u8; 32]> {
        let line = |(name, digest): (&String, &[u8; 32])| format!("{}{SEPARATOR}{name}\n", hex(digest));
        let text = self.0.iter().map(line).collect::<String>();
        Self::default().put_anew(files, SUMS, text.as_bytes())?;
        Ok(Sha256::digest(&text).into())
    }
}

fn has_bytes(files: &dyn Files, name: &str, bytes: &[u8]) -> io::Result<bool> {
    let length = bytes.len() as u64;
    Ok(files.length(name)? == Some(length) && files.get_within(name, length)?.is_some_and(|existing| existing == bytes))
}

/// Returns the name of a file of an input, relative to the folder of the job.
pub(crate) fn name_of(file: &str) -> String {
    format!("{FOLDER}/{file}")
}

/// Adds the name of a file to the message of an error.
pub(crate) fn of_file(file: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{file}: {error}"))
}

/// Creates an error for a missing file.
pub(crate) fn missing(file: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("{file} is missing"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_files::FilesInMemory;

    #[test]
    fn the_list_is_read_as_written_and_each_changed_bit_is_found() {
        let files = FilesInMemory::default();
        let mut sums = InputSums::default();
        assert!(sums.put(&files, "b", b"bytes").unwrap() && sums.put(&files, "a", b"").unwrap());
        let digest = sums.store(&files).unwrap();
        let whole = files.get("input/SHA256SUMS").unwrap().unwrap();
        assert!(whole.starts_with(b"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a\n"));
        let read = InputSums::read(&files, 2, &digest).unwrap();
        assert_eq!((&read.0, read.of("c")), (&sums.0, None));
        for damaged in (0..whole.len()).map(|at| {
            let mut damaged = whole.clone();
            damaged[at] ^= 1 << (at % 8);
            damaged
        }) {
            let other = FilesInMemory::default();
            other.put("input/SHA256SUMS", &damaged).unwrap();
            let error = InputSums::read(&other, 2, &digest).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");
        }
        let error = InputSums::read(&FilesInMemory::default(), 2, &digest).unwrap_err();
        assert_eq!(error.to_string(), "SHA256SUMS is missing");
    }

    #[test]
    fn a_file_is_replaced_as_long_as_there_is_no_job() {
        let files = FilesInMemory::default();
        let put = |bytes: &[u8]| InputSums::default().put_anew(&files, "a", bytes).unwrap();
        assert!(put(b"half") && put(b"whole") && put(b"whole"));
        files.put(SPEC, b"").unwrap();
        assert!(put(b"whole") && !put(b"half") && !put(b"other") && !put(b"longer than it"));
        assert_eq!(files.get("input/a").unwrap().unwrap(), b"whole");
        assert!(!InputSums::default().put(&files, "a", b"other").unwrap());
    }
}
