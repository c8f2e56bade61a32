//! Job files in a bucket, and the functions that open a bucket or a shared directory.

use std::error::Error;
use std::fmt::{self, Debug};
use std::fs::TryLockError;
use std::future::Future;
use std::io::{self, BufRead, Cursor, ErrorKind};
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::client::{HttpError, HttpErrorKind};
use object_store::list::PaginatedListOptions;
use object_store::path::Path;
use object_store::{Error as StoreError, ObjectMeta, ObjectStoreExt, PutMode, PutPayload};
use taquin_bulk::{Created, Directory, DirectoryUse, Files, WriteFile, too_long};
use tokio::runtime::Handle;

use crate::bucket::{Bucket, BucketError, message, open_bucket};

#[cfg(test)]
mod tests;

/// Maximum number of attempts to create an object that the store reports as existing and then as missing.
const MAX_CREATIONS: u32 = 6;

/// Pause before the second attempt. The pause doubles with each further attempt.
const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// The reason why a file store cannot be opened. The message contains no credentials.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The URL or the environment is wrong.
    #[error(transparent)]
    Bucket(#[from] BucketError),
    /// Another process has an exclusive lock on the directory: a service without a queue, or `taquin batch`.
    #[error("{0} is in use by a service without --nats, or by `taquin batch`, with which no service may share it")]
    InUse(PathBuf),
    /// The directory cannot be created.
    #[error("directory {path}: {source}")]
    Directory {
        /// Path of the directory.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// Opens the file store at a URL. The URL names a directory, as `/d` or `file:///d`, or a bucket, as
/// `s3://bucket/prefix` or `gs://bucket/prefix`. The path of a `file` URL is not percent-decoded. A missing
/// directory is created. For a bucket, this function sends no request, so a missing bucket is not detected.
///
/// Endpoints, credentials, and other options of buckets come from environment variables that begin with `AWS_` and
/// `GOOGLE_`, such as `AWS_ENDPOINT_URL` and `GOOGLE_APPLICATION_CREDENTIALS`. An endpoint with `http://` uses no TLS;
/// other endpoints need the certificates of the system, or of `SSL_CERT_FILE`. A request takes at most 30 s, and is
/// retried up to three times within 10 s of the first attempt.
///
/// Each call on the files of a bucket blocks the calling thread while `runtime` runs the request. So `runtime` must
/// have its own threads. Async code must make such calls through `spawn_blocking`; a direct call from async code
/// panics.
///
/// # Errors
/// [`OpenError`].
pub fn open_files(url: &str, runtime: &Handle) -> Result<Arc<dyn Files>, OpenError> {
    if let Some(path) = directory_of(url) {
        Directory::create(path).map_err(|source| OpenError::Directory { path: path.to_owned(), source })?;
    }
    find_files(url, runtime)
}

/// Opens the file store at a URL. Unlike [`open_files`], this function creates no directory. A missing directory counts
/// as empty, and is not locked.
///
/// # Errors
/// [`OpenError`].
pub fn find_files(url: &str, runtime: &Handle) -> Result<Arc<dyn Files>, OpenError> {
    if let Some(path) = directory_of(url) {
        return Ok(Arc::new(share(path)?));
    }
    let variables =
        std::env::vars_os().filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)));
    Ok(Arc::new(Objects { bucket: open_bucket(url, variables)?, runtime: runtime.clone() }))
}

/// Opens a directory and takes a shared lock on the directory. If the directory is missing, or the system cannot lock
/// the directory, returns the directory without a lock. Fails if another process has an exclusive lock.
fn share(path: &FilePath) -> Result<Directory, OpenError> {
    match Directory::at(path).lock(DirectoryUse::Shared) {
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse(path.to_owned())),
        Err(TryLockError::Error(_)) => Ok(Directory::at(path)),
        Ok(locked) => Ok(locked),
    }
}

/// Returns the path of the directory that a URL names; `None` if the URL has another scheme than `file`, or a host.
fn directory_of(url: &str) -> Option<&FilePath> {
    let directory = url.strip_prefix("file://").filter(|path| path.starts_with('/'));
    directory.or_else(|| (!url.contains("://")).then_some(url)).map(FilePath::new)
}

/// The objects of a bucket as [`Files`].
///
/// An object becomes visible when the store has all bytes of the object. A creation never replaces an existing
/// object. Folders exist only as parts of object names.
struct Objects {
    bucket: Bucket,
    runtime: Handle,
}

impl Debug for Objects {
    /// Omits the store, which holds credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Objects").field(&self.bucket.url).finish()
    }
}

impl Objects {
    fn wait<T>(&self, request: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
        self.runtime.block_on(request)
    }

    fn key(&self, name: &str) -> io::Result<Path> {
        let key = format!("{}{name}", self.bucket.prefix);
        Path::parse(key).map_err(|error| io::Error::new(ErrorKind::InvalidInput, error))
    }

    fn head(&self, key: &Path) -> io::Result<Option<ObjectMeta>> {
        if_found(self.wait(self.bucket.store.head(key)))
    }

    /// Lists the objects in a folder whose names are greater than `after`, and calls `visit` with each page of the
    /// listing. On Google Cloud Storage, the listing may also contain the object `after`. If `is_deep` is true, the
    /// listing contains the objects in subfolders too.
    fn pages(
        &self,
        folder: &str,
        after: &str,
        is_deep: bool,
        visit: &mut dyn FnMut(Page<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let prefix = match folder {
            "" => self.bucket.prefix.clone(),
            folder => format!("{}{folder}/", self.bucket.prefix),
        };
        let mut page_token = None;
        loop {
            let options = PaginatedListOptions {
                offset: (!after.is_empty()).then(|| format!("{prefix}{after}")),
                delimiter: (!is_deep).then(|| "/".into()),
                page_token,
                ..PaginatedListOptions::default()
            };
            let page =
                self.wait(self.bucket.store.list_paginated(Some(&prefix), options)).map_err(|error| to_io(&error))?;
            let keys: Vec<&Path> = page.result.objects.iter().map(|object| &object.location).collect();
            visit(Page { prefix: &prefix, keys: &keys, folders: &page.result.common_prefixes })?;
            page_token = page.page_token;
            if page_token.is_none() {
                return Ok(());
            }
        }
    }
}

/// A page of a folder listing.
struct Page<'p> {
    /// Common prefix of all keys on the page: the key of the listed folder, with a slash at the end.
    prefix: &'p str,
    keys: &'p [&'p Path],
    folders: &'p [Path],
}

impl<'p> Page<'p> {
    /// Returns the name of a key within the folder; `None` for the placeholder object of the folder itself.
    fn name(&self, key: &'p Path) -> Option<&'p str> {
        key.as_ref().strip_prefix(self.prefix)
    }
}

impl Files for Objects {
    fn path_of(&self, name: &str) -> PathBuf {
        match name {
            "" => self.bucket.url.clone().into(),
            name => format!("{}/{name}", self.bucket.url).into(),
        }
    }

    fn create_folder(&self, _: &str) -> io::Result<()> {
        Ok(())
    }

    /// Creates an object. The store reports a conflict if the object exists, and also if another creation of the
    /// object is in progress and may still fail. So after a conflict, this function checks whether the object
    /// exists. If the object is missing, the function tries again. If the client loses a response and repeats the
    /// request, the result may be [`Created::Existed`] for an object that this call created.
    fn put_with(&self, name: &str, write: &mut WriteFile<'_>) -> io::Result<Created> {
        let mut bytes = Vec::new();
        write(&mut bytes)?;
        let (key, payload) = (self.key(name)?, PutPayload::from(bytes));
        for creation in 0..MAX_CREATIONS {
            if creation > 0 {
                std::thread::sleep(FIRST_PAUSE * 2_u32.pow(creation - 1));
            }
            match self.wait(self.bucket.store.put_opts(&key, payload.clone(), PutMode::Create.into())) {
                Ok(_) => return Ok(Created::New),
                Err(StoreError::AlreadyExists { .. }) if self.head(&key)?.is_some() => return Ok(Created::Existed),
                Err(StoreError::AlreadyExists { .. }) => {}
                Err(error) => return Err(to_io(&error)),
            }
        }
        Err(io::Error::new(ErrorKind::ResourceBusy, "the object exists for a creation, but not for a look"))
    }

    fn get_within(&self, name: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
        let key = self.key(name)?;
        let read = async {
            let found = self.bucket.store.get(&key).await?;
            if found.meta.size > most { Ok(None) } else { found.bytes().await.map(Some) }
        };
        if_found(self.wait(read))?.map(|bytes| bytes.map(Vec::from).ok_or_else(|| too_long(most))).transpose()
    }

    fn open(&self, name: &str) -> io::Result<Option<Box<dyn BufRead + Send>>> {
        Ok(self.get_within(name, u64::MAX)?.map(|bytes| Box::new(Cursor::new(bytes)) as _))
    }

    fn created_at(&self, name: &str) -> io::Result<Option<SystemTime>> {
        Ok(self.head(&self.key(name)?)?.map(|object| object.last_modified.into()))
    }

    fn length(&self, name: &str) -> io::Result<Option<u64>> {
        Ok(self.head(&self.key(name)?)?.map(|object| object.size))
    }

    fn list_after(&self, folder: &str, after: &str, visit: &mut dyn FnMut(&str)) -> io::Result<()> {
        self.pages(folder, after, false, &mut |page| {
            // The offset of a listing is inclusive on Google Cloud Storage.
            let names = page.keys.iter().filter_map(|key| page.name(key));
            names.filter(|name| *name > after).for_each(&mut *visit);
            Ok(())
        })
    }

    fn list_folders(&self, folder: &str, visit: &mut dyn FnMut(&str)) -> io::Result<()> {
        self.pages(folder, "", false, &mut |page| {
            page.folders.iter().filter_map(|key| page.name(key)).for_each(&mut *visit);
            Ok(())
        })
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let key = self.key(name)?;
        if_found(self.wait(self.bucket.store.delete(&key))).map(drop)
    }

    fn remove_folder(&self, name: &str) -> io::Result<()> {
        self.pages(name, "", true, &mut |page| {
            let keys: Vec<_> = page.keys.iter().map(|key| Ok((*key).clone())).collect();
            let mut removed = self.bucket.store.delete_stream(stream::iter(keys).boxed());
            loop {
                match self.wait(removed.try_next()) {
                    Ok(None) => return Ok(()),
                    Ok(Some(_)) | Err(StoreError::NotFound { .. }) => {}
                    Err(error) => return Err(to_io(&error)),
                }
            }
        })
    }

    /// Does nothing: an interrupted creation leaves no object behind.
    fn clean(&self, _: &str) -> io::Result<()> {
        Ok(())
    }
}

/// Converts the result of a request; `None` if the object is missing. A missing bucket is an error.
fn if_found<T>(result: Result<T, StoreError>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error @ StoreError::NotFound { .. }) if error.to_string().contains("NoSuchBucket") => Err(to_io(&error)),
        Err(StoreError::NotFound { .. }) => Ok(None),
        Err(error) => Err(to_io(&error)),
    }
}

/// Converts an error of the store. The kind of the returned error never stands for a damaged or missing file, since
/// the stored file may be intact.
fn to_io(error: &StoreError) -> io::Error {
    let kind = match error {
        StoreError::PermissionDenied { .. } | StoreError::Unauthenticated { .. } => ErrorKind::PermissionDenied,
        StoreError::NotImplemented { .. } | StoreError::NotSupported { .. } => ErrorKind::Unsupported,
        StoreError::InvalidPath { .. } => ErrorKind::InvalidInput,
        error => match http_error(error).map(HttpError::kind) {
            Some(HttpErrorKind::Timeout) => ErrorKind::TimedOut,
            Some(HttpErrorKind::Connect) => ErrorKind::NotConnected,
            Some(HttpErrorKind::Interrupted) => ErrorKind::ConnectionReset,
            _ => ErrorKind::Other,
        },
    };
    io::Error::new(kind, message(error))
}

/// Returns the HTTP error among the causes of an error, if there is one.
fn http_error(error: &StoreError) -> Option<&HttpError> {
    let mut causes = std::iter::successors(Some(error as &(dyn Error + 'static)), |&error| error.source());
    causes.find_map(|cause| cause.downcast_ref())
}
