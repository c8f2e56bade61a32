//! The files of an input, and the list of their digests, which `spec.json` seals with a digest of its own. So a file of
//! another input is found by all that read one.

use std::collections::BTreeMap;
use std::io;

use sha2::{Digest, Sha256};

use super::files::{Created, Files, invalid};
use super::hex::{hex, unhex};

/// Name of the file that describes a job. Before it exists, the files of an input belong to no job.
pub(super) const SPEC: &str = "spec.json";
pub(super) const FOLDER: &str = "input";
/// The list, as `sha256sum` writes and checks it.
const SUMS: &str = "SHA256SUMS";
/// The error of a file whose digest is not in the list.
pub(super) const OTHER_INPUT: &str = "the file is a piece of another input";
/// What is between a digest and the name of its file.
const SEPARATOR: &str = "  ";
/// Most bytes of a line of the list.
const LINE: u64 = 128;

/// Digests of the files of an input, by their names in its folder.
#[derive(Debug, Default)]
pub(super) struct InputSums(BTreeMap<String, [u8; 32]>);

impl InputSums {
    /// Reads the list with this digest, which has at most so many files.
    ///
    /// # Errors
    /// Errors of the place, and [`io::ErrorKind::InvalidData`] or [`io::ErrorKind::NotFound`] if there is another
    /// list, or none. They name the file.
    pub(super) fn read(files: &dyn Files, most: u64, digest: &[u8; 32]) -> io::Result<Self> {
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

    /// The digest of a file; `None` if the input has no file of this name.
    pub(super) fn of(&self, file: &str) -> Option<&[u8; 32]> {
        self.0.get(file)
    }

    /// Adds the digests of other files.
    pub(super) fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Stores a file of the input, and notes its digest. Returns false if another file has its name.
    ///
    /// # Errors
    /// Errors of the place.
    pub(super) fn put(&mut self, files: &dyn Files, file: &str, bytes: &[u8]) -> io::Result<bool> {
        self.0.insert(file.to_owned(), Sha256::digest(bytes).into());
        let name = name_of(file);
        if files.put(&name, bytes)? == Created::New {
            return Ok(true);
        }
        has_bytes(files, &name, bytes)
    }

    /// Stores a file of the input as [`put`](Self::put) does. Another file that has its name is what an interrupted
    /// command left, as long as there is no job, and is replaced.
    ///
    /// # Errors
    /// Errors of the place.
    pub(super) fn put_anew(&mut self, files: &dyn Files, file: &str, bytes: &[u8]) -> io::Result<bool> {
        if self.put(files, file, bytes)? {
            return Ok(true);
        }
        if files.created_at(SPEC)?.is_some() {
            return Ok(false);
        }
        files.remove(&name_of(file))?;
        self.put(files, file, bytes)
    }

    /// Stores the list, and returns its digest. That of a job stays.
    ///
    /// # Errors
    /// Errors of the place.
    pub(super) fn store(&self, files: &dyn Files) -> io::Result<[u8; 32]> {
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

/// The name of a file of an input among those of the job.
pub(super) fn name_of(file: &str) -> String {
    format!("{FOLDER}/{file}")
}

/// An error that names its file.
pub(super) fn of_file(file: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{file}: {error}"))
}

/// The error of a file that an input has, and that is not there.
pub(super) fn missing(file: &str) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("{file} is missing"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::files::tests::FilesInMemory;

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
