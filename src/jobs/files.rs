//! Files that are created once, whole, and never changed: where the jobs are.

use std::fmt;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::time::SystemTime;

/// A place for the files of a job, which any number of processes may use at once.
///
/// The methods block until the place has answered.
pub trait Files: fmt::Debug + Send + Sync {
    /// Where a file is, for messages. The empty name is that of the whole place.
    fn path_of(&self, name: &str) -> PathBuf;

    /// Creates the folder of this name and those above it, if they are missing. Files need the folder of their name.
    ///
    /// # Errors
    /// Errors of the place.
    fn create_folder(&self, name: &str) -> io::Result<()>;

    /// Creates a file from what `write` writes, unless one of this name exists. In either case the file outlives a loss
    /// of power.
    ///
    /// # Errors
    /// Errors of the place and of `write`; the name then has no file, or the one that it had.
    fn put_with(&self, name: &str, write: &mut WriteFile<'_>) -> io::Result<Created>;

    /// Creates a file, unless one of this name exists.
    ///
    /// # Errors
    /// Errors of [`put_with`](Self::put_with).
    fn put(&self, name: &str, bytes: &[u8]) -> io::Result<Created> {
        self.put_with(name, &mut |file| file.write_all(bytes))
    }

    /// Reads a file of at most `most` bytes; `None` if there is none of this name.
    ///
    /// # Errors
    /// Errors of the place, and [`io::ErrorKind::InvalidData`] if the file is larger or not a regular file.
    fn get_within(&self, name: &str, most: u64) -> io::Result<Option<Vec<u8>>>;

    /// Reads a file of at most [`SMALL_FILE`] bytes; `None` if there is none of this name.
    ///
    /// # Errors
    /// Errors of [`get_within`](Self::get_within).
    fn get(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        self.get_within(name, SMALL_FILE)
    }

    /// Opens a file to read it from its start; `None` if there is none of this name.
    ///
    /// # Errors
    /// Errors of the place.
    fn open(&self, name: &str) -> io::Result<Option<Box<dyn BufRead + Send>>>;

    /// When a file was created, by the clock of the place; `None` if there is none of this name.
    ///
    /// # Errors
    /// Errors of the place.
    fn created_at(&self, name: &str) -> io::Result<Option<SystemTime>>;

    /// The length of a file in bytes; `None` if there is none of this name.
    ///
    /// # Errors
    /// Errors of the place.
    fn length(&self, name: &str) -> io::Result<Option<u64>>;

    /// Calls `visit` with the name of each file in a folder that is greater than `after`, in any order. The names are
    /// without that of the folder. A missing folder has no files.
    ///
    /// # Errors
    /// Errors of the place.
    fn list_after(&self, folder: &str, after: &str, visit: &mut dyn FnMut(&str)) -> io::Result<()>;

    /// Calls `visit` with the name of each file in a folder, as [`list_after`](Self::list_after).
    ///
    /// # Errors
    /// Errors of the place.
    fn list(&self, folder: &str, visit: &mut dyn FnMut(&str)) -> io::Result<()> {
        self.list_after(folder, "", visit)
    }

    /// Calls `visit` with the name of each folder in a folder, in any order. The names are without that of the folder
    /// above. A missing folder has none. Where folders are only names of files, one without files is missing.
    ///
    /// # Errors
    /// Errors of the place.
    fn list_folders(&self, folder: &str, visit: &mut dyn FnMut(&str)) -> io::Result<()>;

    /// Removes whatever has this name. A loss of power does not bring it back.
    ///
    /// # Errors
    /// Errors of the place.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Removes a folder, if there is one of this name, with all that is in it. After an error or a loss of power, some
    /// of that may be left.
    ///
    /// # Errors
    /// Errors of the place.
    fn remove_folder(&self, name: &str) -> io::Result<()>;

    /// Removes what killed processes left in a folder of files that were not finished. A missing folder has none.
    ///
    /// # Errors
    /// Errors of the place.
    fn clean(&self, folder: &str) -> io::Result<()>;
}

/// Most bytes of a file that describes something.
pub const SMALL_FILE: u64 = 1 << 20;

/// The error of a file that cannot be one of a job.
pub(crate) fn invalid(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}

/// The error of a file that has more than `most` bytes.
pub(crate) fn too_long(most: u64) -> io::Error {
    invalid(format!("the file has more than {most} bytes, the most of its kind"))
}

/// Writes the content of a file.
pub type WriteFile<'w> = dyn FnMut(&mut dyn Write) -> io::Result<()> + 'w;

/// What became of a new file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Created {
    /// It was created.
    New,
    /// A file of this name existed, and is unchanged.
    Existed,
}

#[cfg(test)]
pub(crate) mod tests {
    use std::cmp::Ordering::{Equal, Greater, Less};
    use std::collections::{BTreeMap, BTreeSet};
    use std::io::{Cursor, ErrorKind};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use parking_lot::Mutex;
    use tokio::runtime::Handle;

    use super::*;

    /// Files in memory: the simplest that keep all promises but the one about power.
    #[derive(Debug, Default)]
    pub(crate) struct FilesInMemory(Mutex<BTreeMap<String, (Vec<u8>, SystemTime)>>, AtomicBool);

    impl FilesInMemory {
        /// From now on they are as in a bucket that was removed.
        pub(crate) fn lose_bucket(&self) {
            self.1.store(true, Ordering::Relaxed);
        }

        /// From now on they are all there again.
        pub(crate) fn find_bucket(&self) {
            self.1.store(false, Ordering::Relaxed);
        }

        fn check_bucket(&self) -> io::Result<()> {
            if self.1.load(Ordering::Relaxed) { Err(io::Error::other("NoSuchBucket")) } else { Ok(()) }
        }

        /// The names of all files in a folder and in those below it, without that of the folder.
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
            // The response to a look has no code.
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

    /// Files of which one call fails, or that one and all later ones.
    #[derive(Debug)]
    pub(crate) struct FailingFiles {
        files: Arc<FilesInMemory>,
        /// Number of calls so far.
        calls: AtomicUsize,
        /// The call that fails, and how.
        fails: (usize, Failure),
        /// Where calls must not be made, since they block.
        runtime: Option<Handle>,
    }

    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub(crate) enum Failure {
        /// The call is not made.
        NotMade,
        /// The call is made, and only its result is lost.
        ResultLost,
        /// The power fails before the call, so that no later one is made either.
        PowerLost,
        /// The call is made twice, since its first response is lost, and the next call fails.
        Repeated,
    }

    impl Failure {
        pub(crate) const ALL: [Self; 4] = [Self::NotMade, Self::ResultLost, Self::PowerLost, Self::Repeated];
    }

    impl FailingFiles {
        pub(crate) fn new(files: Arc<FilesInMemory>, call: usize, failure: Failure) -> Self {
            Self { files, calls: AtomicUsize::new(0), fails: (call, failure), runtime: None }
        }

        /// Panics when they are called on a thread of a runtime, as files do that wait for a network.
        pub(crate) fn off(self, runtime: Handle) -> Self {
            Self { runtime: Some(runtime), ..self }
        }

        /// True if a call has failed.
        pub(crate) fn have_failed(&self) -> bool {
            self.calls.load(Ordering::Relaxed) > self.fails.0
        }

        fn call<T>(&self, mut make: impl FnMut(&FilesInMemory) -> io::Result<T>) -> io::Result<T> {
            if let Some(runtime) = &self.runtime {
                runtime.block_on(std::future::ready(()));
            }
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

    /// Checks the promises of an empty place.
    pub(crate) fn check_promises(files: &dyn Files) {
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

    #[test]
    fn files_in_memory_keep_the_promises() {
        check_promises(&FilesInMemory::default());
    }
}
