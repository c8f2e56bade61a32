//! Opens a bucket from its URL and the environment.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::list::PaginatedListStore;
use object_store::path::Path;
use object_store::{BackoffConfig, ClientConfigKey, Error as StoreError, ObjectStore, RetryConfig};

/// An object store that lists its objects in pages.
pub(crate) trait Store: ObjectStore + PaginatedListStore {}

impl<S: ObjectStore + PaginatedListStore> Store for S {}

/// A bucket, restricted to the objects whose names begin with a prefix.
pub(crate) struct Bucket {
    pub(crate) store: Arc<dyn Store>,
    /// Prefix of all object names. The prefix is empty, or ends with a slash.
    pub(crate) prefix: String,
    /// URL of the bucket and the prefix, without a slash at the end.
    pub(crate) url: String,
}

/// The reason why a bucket cannot be used. The message contains no credentials.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BucketError(String);

impl From<StoreError> for BucketError {
    fn from(error: StoreError) -> Self {
        Self(message(&error))
    }
}

/// Default options of the HTTP client. Environment variables override these options.
const OPTIONS: [(ClientConfigKey, &str); 2] =
    [(ClientConfigKey::ConnectTimeout, "5 seconds"), (ClientConfigKey::Timeout, "30 seconds")];

/// Retry policy of a request. The policy allows few retries, since callers retry by their own policies.
const RETRIES: RetryConfig = RetryConfig {
    backoff: BackoffConfig { init_backoff: Duration::from_millis(100), max_backoff: Duration::from_secs(2), base: 3.0 },
    max_retries: 3,
    retry_timeout: Duration::from_secs(10),
};

/// Opens a bucket by URL and environment variables. Sends no request.
pub(crate) fn open_bucket(url: &str, variables: impl Iterator<Item = (String, String)>) -> Result<Bucket, BucketError> {
    let wrong = |what: &str| BucketError(what.to_owned());
    let (scheme, path) = url.split_once("://").ok_or_else(|| wrong("the URL has no scheme"))?;
    let (name, prefix) = path.split_once('/').unwrap_or((path, ""));
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) {
        return Err(wrong("the URL has no name of a bucket after ://, or more than a name"));
    }
    let prefix = prefix.trim_end_matches('/');
    let parsed = Path::parse(prefix).map_err(|error| BucketError(format!("the prefix of the bucket: {error}")))?;
    if parsed.as_ref() != prefix {
        return Err(wrong("the prefix of the bucket begins with a slash"));
    }
    install_tls();
    let store = match scheme {
        "s3" => open_s3(name, variables)?,
        "gs" => open_gcs(name, variables)?,
        _ => return Err(wrong("the URL begins with none of s3://, gs:// and file:///")),
    };
    let slash = if prefix.is_empty() { "" } else { "/" };
    Ok(Bucket { store, prefix: format!("{prefix}{slash}"), url: format!("{scheme}://{name}{slash}{prefix}") })
}

/// Installs `ring` as the TLS provider of the process, unless the process already has a TLS provider. The HTTP
/// client of `object_store` installs no provider.
fn install_tls() {
    // An error means that the process has a provider already.
    drop(rustls::crypto::ring::default_provider().install_default());
}

fn open_s3(name: &str, variables: impl Iterator<Item = (String, String)>) -> Result<Arc<dyn Store>, BucketError> {
    let mut builder = AmazonS3Builder::new().with_retry(RETRIES);
    for (key, value) in OPTIONS {
        builder = builder.with_config(AmazonS3ConfigKey::Client(key), value);
    }
    for (key, value) in variables.filter(|(key, _)| key.starts_with("AWS_")) {
        if let Ok(key) = key.to_ascii_lowercase().parse() {
            builder = builder.with_config(key, value);
        }
    }
    builder = builder.with_bucket_name(name);
    let endpoint = [AmazonS3ConfigKey::S3Endpoint, AmazonS3ConfigKey::Endpoint];
    let endpoint = endpoint.iter().find_map(|key| builder.get_config_value(key));
    if !is_http("AWS_ENDPOINT_URL", endpoint)? {
        return Ok(Arc::new(builder.build()?));
    }
    builder = builder.with_allow_http(true);
    match builder.clone().build() {
        Ok(store) => Ok(Arc::new(store)),
        // Plain HTTP needs no CA certificates, and a container may have none.
        Err(_) => {
            let key = AmazonS3ConfigKey::Client(ClientConfigKey::NoSystemCertificates);
            Ok(Arc::new(builder.with_config(key, "true").build()?))
        }
    }
}

fn open_gcs(name: &str, variables: impl Iterator<Item = (String, String)>) -> Result<Arc<dyn Store>, BucketError> {
    let mut builder = GoogleCloudStorageBuilder::new().with_retry(RETRIES);
    for (key, value) in OPTIONS {
        builder = builder.with_config(GoogleConfigKey::Client(key), value);
    }
    for (key, value) in variables.filter(|(key, _)| key.starts_with("GOOGLE_")) {
        if let Ok(key) = key.to_ascii_lowercase().parse() {
            builder = builder.with_config(key, value);
        }
    }
    builder = builder.with_bucket_name(name);
    if is_http("GOOGLE_BASE_URL", builder.get_config_value(&GoogleConfigKey::BaseUrl))? {
        builder = builder.with_config(GoogleConfigKey::Client(ClientConfigKey::AllowHttp), "true");
    }
    Ok(Arc::new(builder.build()?))
}

/// Returns true if the endpoint uses plain HTTP; false without an endpoint. Fails if the endpoint is not a URL, or
/// if the URL contains a user name. `variable` is the name of the environment variable, for the error message.
fn is_http(variable: &str, endpoint: Option<String>) -> Result<bool, BucketError> {
    let Some(endpoint) = endpoint else { return Ok(false) };
    let host = endpoint.split_once("://").map(|(_, rest)| rest.split('/').next().unwrap_or_default());
    match host {
        None | Some("") => Err(BucketError(format!("{variable} is no URL"))),
        Some(host) if host.contains('@') => Err(BucketError(format!("{variable} has a user"))),
        Some(_) => Ok(endpoint.to_ascii_lowercase().starts_with("http://")),
    }
}

/// Formats an error with its root cause. The body of a response may repeat keys and tokens of the request, so only the
/// status and the error code of the response are kept.
pub(crate) fn message(error: &StoreError) -> String {
    let mut text = error.to_string();
    // The message of `object_store` lacks the cause of a failed connection, such as a wrong certificate.
    let root = std::iter::successors(error.source(), |&error| error.source()).last().map(ToString::to_string);
    if let Some(root) = root.filter(|root| !text.contains(&root[..])) {
        text = format!("{text}: {root}");
    }
    let code =
        text.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>")).map(|(code, _)| code.to_owned());
    let end = text.find(['<', '{', '\n']).unwrap_or(text.len());
    // The body of the response follows the status.
    let status = text.find(STATUS).map(|at| at + STATUS.len());
    let body =
        status.and_then(|at| Some(at + text[at..].find(':')?)).or_else(|| Some(text.find(RESPONSE)? + RESPONSE.len()));
    let start = text[..end.min(body.unwrap_or(end))].trim_end().trim_end_matches(':');
    match code {
        Some(code) => format!("{start}: {code}"),
        None => start.to_owned(),
    }
}

/// Text before the response status in messages of `object_store`.
const STATUS: &str = "non-2xx status code: ";

/// Text in messages of `object_store` before the body of a response that has a success status and contains an error.
const RESPONSE: &str = "Server returned error response: ";
