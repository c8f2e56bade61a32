//! Implementations of `Files` for tests: in memory, with failures on request, and in a temporary directory.

#![allow(clippy::unwrap_used, reason = "a test fails where it does")]

use std::cmp::Ordering::{Equal, Greater, Less};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{self, BufRead, Cursor, ErrorKind, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::SystemTime;

use parking_lot::Mutex;

use crate::directory::Directory;
use crate::files::{Created, Files, WriteFile, too_long};

/// Files in memory. The value keeps all promises of [`Files`] except durability, and imitates the objects of an S3
/// bucket.
#[derive(Debug, Default)]
pub struct FilesInMemory(Mutex<BTreeMap<String, (Vec<u8>, SystemTime)>>, AtomicBool);

impl FilesInMemory {
    /// Simulates that the bucket is missing. Calls that create or read a file fail, and no file has a creation time.
    /// All other calls behave as before.
    pub fn lose_bucket(&self) {
        self.1.store(true, Ordering::Relaxed);
    }

    /// Ends the simulation of [`lose_bucket`](Self::lose_bucket). The bucket has all of its files again.
    pub fn find_bucket(&self) {
        self.1.store(false, Ordering::Relaxed);
    }

    fn check_bucket(&self) -> io::Result<()> {
        if self.1.load(Ordering::Relaxed) { Err(io::Error::other("NoSuchBucket")) } else { Ok(()) }
    }

    /// Returns the names of all files below a folder, relative to the folder.
    fn names_in(&self, folder: &str) -> Vec<String> {
        let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        self.0.lock().keys().filter_map(|name| name.strip_prefix(&folder)).map(str::to_owned).collect()
    }
}

impl Files for FilesInMemory {
    fn path_of(&self, name: &str) -> PathBuf {
        format!("memory/{name}").into()
    }

    fn create_folder(&self, _: &str) -> io::Result<()> {
        Ok(())
    }

    fn put_with(&self, name: &str, write: &mut WriteFile<'_>) -> io::Result<Created> {
        self.check_bucket()?;
        let mut bytes = Vec::new();
        write(&mut bytes)?;
        let mut files = self.0.lock();
        if files.contains_key(name) {
            return Ok(Created::Existed);
        }
        files.insert(name.to_owned(), (bytes, SystemTime::now()));
        Ok(Created::New)
    }

    fn get_within(&self, name: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
        self.check_bucket()?;
        match self.0.lock().get(name) {
            Some((bytes, _)) if bytes.len() as u64 > most => Err(too_long(most)),
            found => Ok(found.map(|(bytes, _)| bytes.clone())),
        }
    }

    fn open(&self, name: &str) -> io::Result<Option<Box<dyn BufRead + Send>>> {
        Ok(self.get_within(name, u64::MAX)?.map(|bytes| Box::new(Cursor::new(bytes)) as _))
    }

    fn created_at(&self, name: &str) -> io::Result<Option<SystemTime>> {
        // An S3 response to `HEAD` has no error code. So a file in a missing bucket looks like a missing file.
        let is_there = !self.1.load(Ordering::Relaxed);
        Ok(self.0.lock().get(name).filter(|_| is_there).map(|(_, created)| *created))
    }

    fn length(&self, name: &str) -> io::Result<Option<u64>> {
        Ok(self.0.lock().get(name).map(|(bytes, _)| bytes.len() as u64))
    }

    fn list_after(&self, folder: &str, after: &str, visit: &mut dyn FnMut(&str)) -> io::Result<()> {
        let names = self.names_in(folder);
        names.iter().filter(|name| !name.contains('/') && &name[..] > after).for_each(|name| visit(name));
        Ok(())
    }

    fn list_folders(&self, folder: &str, visit: &mut dyn FnMut(&str)) -> io::Result<()> {
        let names = self.names_in(folder);
        let folders: BTreeSet<&str> = names.iter().filter_map(|name| Some(name.split_once('/')?.0)).collect();
        folders.into_iter().for_each(visit);
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.0.lock().remove(name);
        Ok(())
    }

    fn remove_folder(&self, name: &str) -> io::Result<()> {
        let folder = format!("{name}/");
        self.0.lock().retain(|name, _| !name.starts_with(&folder));
        Ok(())
    }

    fn clean(&self, _: &str) -> io::Result<()> {
        Ok(())
    }
}

/// Files in memory, with a failure at one call. After [`Failure::PowerLost`], all later calls fail too. After
/// [`Failure::Repeated`], the next call fails.
pub struct FailingFiles {
    files: Arc<FilesInMemory>,
    /// Number of calls so far.
    calls: AtomicUsize,
    /// Number of the call at which the failure occurs, counted from 0, and the kind of the failure.
    fails: (usize, Failure),
    /// Function that runs before each call.
    before: Box<dyn Fn() + Send + Sync>,
}

/// Kind of a failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The call has no effect, and returns an error.
    NotMade,
    /// The call has its effect, and returns an error instead of its result.
    ResultLost,
    /// The call and all later calls have no effect, and return errors, as after a loss of power.
    PowerLost,
    /// The call is made twice, like a retry after a lost response. The next call has no effect, and returns an error.
    Repeated,
}

impl Failure {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::NotMade, Self::ResultLost, Self::PowerLost, Self::Repeated];
}

impl FailingFiles {
    /// Wraps `files`. The failure occurs at the call with the number `call`, counted from 0.
    pub fn new(files: Arc<FilesInMemory>, call: usize, failure: Failure) -> Self {
        Self { files, calls: AtomicUsize::new(0), fails: (call, failure), before: Box::new(|| ()) }
    }

    /// Sets a function that runs before each call. A test may use the function to panic on threads that must not block.
    #[must_use]
    pub fn with_before(self, before: impl Fn() + Send + Sync + 'static) -> Self {
        Self { before: Box::new(before), ..self }
    }

    /// Returns true if the call at which the failure occurs has been made.
    pub fn have_failed(&self) -> bool {
        self.calls.load(Ordering::Relaxed) > self.fails.0
    }

    fn call<T>(&self, mut make: impl FnMut(&FilesInMemory) -> io::Result<T>) -> io::Result<T> {
        (self.before)();
        let (fails, failure) = self.fails;
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        let made = match (call.cmp(&fails), failure) {
            (Greater, Failure::Repeated) if call == fails + 1 => Ok(()),
            (Less, _) | (Greater, Failure::NotMade | Failure::ResultLost | Failure::Repeated) => {
                return make(&self.files);
            }
            (Equal, Failure::Repeated) => return make(&self.files).and_then(|_| make(&self.files)),
            (Equal, Failure::ResultLost) => make(&self.files).map(drop),
            (Equal, Failure::NotMade) | (_, Failure::PowerLost) => Ok(()),
        };
        made.and(Err(ErrorKind::ConnectionReset.into()))
    }
}

impl Files for FailingFiles {
    fn path_of(&self, name: &str) -> PathBuf {
        self.files.path_of(name)
    }

    fn create_folder(&self, name: &str) -> io::Result<()> {
        self.call(|files| files.create_folder(name))
    }

    fn put_with(&self, name: &str, write: &mut WriteFile<'_>) -> io::Result<Created> {
        self.call(|files| files.put_with(name, write))
    }

    fn get_within(&self, name: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
        self.call(|files| files.get_within(name, most))
    }

    fn open(&self, name: &str) -> io::Result<Option<Box<dyn BufRead + Send>>> {
        self.call(|files| files.open(name))
    }

    fn created_at(&self, name: &str) -> io::Result<Option<SystemTime>> {
        self.call(|files| files.created_at(name))
    }

    fn length(&self, name: &str) -> io::Result<Option<u64>> {
        self.call(|files| files.length(name))
    }

    fn list_after(&self, folder: &str, after: &str, visit: &mut dyn FnMut(&str)) -> io::Result<()> {
        self.call(|files| files.list_after(folder, after, visit))
    }

    fn list_folders(&self, folder: &str, visit: &mut dyn FnMut(&str)) -> io::Result<()> {
        self.call(|files| files.list_folders(folder, visit))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.call(|files| files.remove(name))
    }

    fn remove_folder(&self, name: &str) -> io::Result<()> {
        self.call(|files| files.remove_folder(name))
    }

    fn clean(&self, folder: &str) -> io::Result<()> {
        self.call(|files| files.clean(folder))
    }
}

/// Checks the promises of [`Files`], except durability. The storage must be empty. Panics if a promise is broken.
pub fn check_promises(files: &dyn Files) {
    files.create_folder("some").unwrap();
    files.create_folder("some").unwrap();
    a_file_is_created_once_and_never_changed(files);
    a_failed_write_leaves_no_file(files);
    of_many_that_create_a_file_at_once_one_does(files);
    files_and_folders_are_listed_and_removed(files);
}

fn names(files: &dyn Files) -> Vec<String> {
    let mut names = Vec::new();
    files.list("some", &mut |name| names.push(name.to_owned())).unwrap();
    names.sort();
    names
}

fn a_file_is_created_once_and_never_changed(files: &dyn Files) {
    let read = || {
        let mut bytes = Vec::new();
        files.open("some/a").unwrap().map(|mut file| file.read_to_end(&mut bytes).unwrap()).map(|_| bytes)
    };
    assert_eq!((files.get("some/a").unwrap(), read()), (None, None));
    assert_eq!((files.created_at("some/a").unwrap(), names(files)), (None, vec![]));
    assert_eq!(files.put("some/a", b"first").unwrap(), Created::New);
    let created = files.created_at("some/a").unwrap();
    assert!(created.is_some());
    assert_eq!(files.put("some/a", b"second").unwrap(), Created::Existed);
    assert_eq!(files.get("some/a").unwrap().unwrap(), b"first");
    assert_eq!(read().unwrap(), b"first");
    assert_eq!(files.created_at("some/a").unwrap(), created);
    let longer = files.get_within("some/a", 4).unwrap_err();
    assert_eq!(longer.kind(), ErrorKind::InvalidData, "{longer}");
    assert_eq!(files.get_within("some/a", 5).unwrap().unwrap(), b"first");
    files.clean("some").unwrap();
    files.clean("none").unwrap();
    assert_eq!(names(files), ["a"]);
}

fn a_failed_write_leaves_no_file(files: &dyn Files) {
    let full = || io::Error::from(ErrorKind::StorageFull);
    let put = files.put_with("some/b", &mut |file| file.write_all(b"half").and_then(|()| Err(full())));
    assert_eq!(put.unwrap_err().kind(), ErrorKind::StorageFull);
    assert_eq!(names(files), ["a"]);
}

fn of_many_that_create_a_file_at_once_one_does(files: &dyn Files) {
    for round in 0..20 {
        let name = &format!("some/{round}");
        let outcomes: Vec<(u8, Created)> = std::thread::scope(|scope| {
            let put = |number: u8| scope.spawn(move || (number, files.put(name, &[number; 4096]).unwrap()));
            let threads: Vec<_> = (0..8).map(put).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let created: Vec<u8> =
            outcomes.iter().filter(|(_, created)| *created == Created::New).map(|(number, _)| *number).collect();
        let [number] = created[..] else { panic!("created by {created:?}") };
        assert_eq!(files.get(name).unwrap().unwrap(), [number; 4096]);
    }
}

fn files_and_folders_are_listed_and_removed(files: &dyn Files) {
    let names = |folder: &str, after: &str| {
        let (mut names, mut folders) = (Vec::new(), Vec::new());
        files.list_after(folder, after, &mut |name| names.push(name.to_owned())).unwrap();
        files.list_folders(folder, &mut |name| folders.push(name.to_owned())).unwrap();
        names.sort();
        folders.sort();
        (names.join(" "), folders.join(" "))
    };
    let of = |names: &str, folders: &str| (names.to_owned(), folders.to_owned());
    assert_eq!(names("one", ""), of("", ""));
    files.create_folder("one/two/three").unwrap();
    for name in ["one/a", "one/b", "one/b.c", "one/two/d", "one/two/three/e"] {
        files.put(name, b"").unwrap();
    }
    assert_eq!(names("one", ""), of("a b b.c", "two"));
    assert_eq!(names("one", "a"), of("b b.c", "two"));
    assert_eq!(names("one", "b.b"), of("b.c", "two"));
    assert_eq!(names("one/two", "d"), of("", "three"));
    files.remove("one/b").unwrap();
    files.remove("one/b").unwrap();
    assert_eq!(names("one", ""), of("a b.c", "two"));
    assert_eq!(files.put("one/b", b"again").unwrap(), Created::New);
    files.remove_folder("one/two").unwrap();
    files.remove_folder("one/two").unwrap();
    assert_eq!(names("one", ""), of("a b b.c", ""));
    assert!(files.get("one/two/three/e").unwrap().is_none());
    files.remove("none/of/these").unwrap();
}

/// A temporary directory. Dropping the value removes the directory with its content.
pub struct Scratch(pub Directory);

impl Scratch {
    /// Creates an empty directory in the system's directory for temporary files.
    ///
    /// # Panics
    /// If the directory cannot be created.
    #[must_use]
    pub fn new() -> Self {
        let name = format!("taquin-directory-{:016x}", getrandom::u64().unwrap());
        Self(Directory::create(&std::env::temp_dir().join(name)).unwrap())
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.0.path());
    }
}

impl fmt::Debug for FailingFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FailingFiles").field("calls", &self.calls).field("fails", &self.fails).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_memory_keep_the_promises() {
        check_promises(&FilesInMemory::default());
    }
}
