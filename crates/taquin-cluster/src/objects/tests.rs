//! Tests with an HTTP server that sends a fixed list of responses, like a faulty store, and with the S3 server
//! moto.

use std::io::{BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;

use parking_lot::Mutex;
use taquin_bulk::test_files::check_promises;
use tokio::runtime::Runtime;

use super::*;

/// Credentials that must appear in no message.
const SECRETS: [&str; 2] = ["the-key-id", "the-secret"];

fn variables(endpoint: &str) -> Vec<(String, String)> {
    let of = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    let [id, secret] = SECRETS;
    vec![of("AWS_ENDPOINT_URL", endpoint), of("AWS_ACCESS_KEY_ID", id), of("AWS_SECRET_ACCESS_KEY", secret)]
}

fn objects(runtime: &Runtime, url: &str, endpoint: &str) -> Objects {
    let bucket = open_bucket(url, variables(endpoint).into_iter()).unwrap();
    Objects { bucket, runtime: runtime.handle().clone() }
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

/// A server that answers each request with the next response of a list, and then closes the connection.
struct Script {
    endpoint: String,
    /// Method, path and condition header of each request so far.
    requests: Arc<Mutex<Vec<String>>>,
}

impl Script {
    fn new(responses: &[(u16, &'static str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let requests: Arc<Mutex<Vec<String>>> = Arc::default();
        let (log, responses) = (requests.clone(), responses.to_vec());
        std::thread::spawn(move || {
            for (status, body) in responses {
                let (stream, _) = listener.accept().unwrap();
                log.lock().push(Self::answer(stream, status, body));
            }
        });
        Self { endpoint, requests }
    }

    fn answer(stream: TcpStream, status: u16, body: &str) -> String {
        let mut reader = BufReader::new(stream);
        let (mut request, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let line = line.trim_end().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.parse().unwrap();
            }
            if request.is_empty() {
                request = line.trim_end_matches(" http/1.1").to_owned();
            } else if line.starts_with("if-none-match") {
                request = format!("{request} {line}");
            }
        }
        reader.read_exact(&mut vec![0; length]).unwrap();
        let date = "last-modified: Wed, 25 Nov 2026 12:00:00 GMT\r\netag: \"1\"\r\nconnection: close";
        let length = body.len();
        let response = format!("HTTP/1.1 {status} Test\r\n{date}\r\ncontent-length: {length}\r\n\r\n{body}");
        reader.get_mut().write_all(response.as_bytes()).unwrap();
        request
    }
}

const PUT: &str = "put /b/p/a if-none-match: *";
const HEAD: &str = "head /b/p/a";

/// Puts one object, and returns the result and the requests.
fn put(responses: &[(u16, &'static str)]) -> (io::Result<Created>, Vec<String>) {
    let (runtime, script) = (runtime(), Script::new(responses));
    let created = objects(&runtime, "s3://b/p", &script.endpoint).put("a", b"bytes");
    let requests = script.requests.lock().clone();
    (created, requests)
}

#[test]
fn a_conflict_with_a_creation_that_fails_begins_again() {
    let (created, requests) = put(&[(409, ""), (404, ""), (200, "")]);
    assert_eq!((created.unwrap(), requests), (Created::New, [PUT, HEAD, PUT].map(str::to_owned).to_vec()));
}

#[test]
fn a_conflict_with_a_creation_that_succeeds_is_a_file_that_exists() {
    for status in [409, 412] {
        let (created, requests) = put(&[(status, ""), (200, "")]);
        assert_eq!((created.unwrap(), requests), (Created::Existed, [PUT, HEAD].map(str::to_owned).to_vec()));
    }
}

#[test]
fn a_file_written_before_a_503_exists() {
    let (created, requests) = put(&[(503, "SlowDown"), (412, ""), (200, "")]);
    assert_eq!((created.unwrap(), requests), (Created::Existed, [PUT, PUT, HEAD].map(str::to_owned).to_vec()));
}

#[test]
fn conflicts_without_end_are_an_error() {
    let rounds = usize::try_from(MAX_CREATIONS).unwrap();
    let (created, requests) = put(&[(409, ""), (404, "")].repeat(rounds));
    assert_eq!((created.unwrap_err().kind(), requests.len()), (ErrorKind::ResourceBusy, 2 * rounds));
}

#[test]
fn a_failed_look_is_an_error() {
    let (created, _) = put(&[(409, ""), (403, "")]);
    assert_eq!(created.unwrap_err().kind(), ErrorKind::PermissionDenied);
}

#[test]
fn no_trouble_of_the_store_is_a_damaged_or_missing_file() {
    let no_bucket = "<Error><Code>NoSuchBucket</Code></Error>";
    let denied = "<Error><Code>SignatureDoesNotMatch</Code><AWSAccessKeyId>the-key-id</AWSAccessKeyId></Error>";
    for (responses, kind, part) in [
        (vec![(403, denied)], ErrorKind::PermissionDenied, "SignatureDoesNotMatch"),
        (vec![(404, no_bucket)], ErrorKind::Other, "NoSuchBucket"),
        (vec![(400, "the-secret")], ErrorKind::Other, "400"),
        (vec![(500, "<Error><Code>InternalError</Code></Error>"); 4], ErrorKind::Other, "InternalError"),
        (vec![], ErrorKind::NotConnected, ""),
    ] {
        let (runtime, script) = (runtime(), Script::new(&responses));
        let objects = objects(&runtime, "s3://b", &script.endpoint);
        let error = objects.get("a").unwrap_err();
        let message = format!("{error} {error:?} {objects:?}");
        assert!(error.kind() == kind && message.contains(part), "{message}");
        assert!(!SECRETS.iter().any(|secret| message.contains(secret)), "{message}");
    }
    let (created, _) = put(&[(404, no_bucket)]);
    assert_eq!(created.unwrap_err().kind(), ErrorKind::Other);
}

#[test]
fn a_missing_object_is_none() {
    let (runtime, script) = (runtime(), Script::new(&[(404, "<Error><Code>NoSuchKey</Code></Error>"), (404, "")]));
    let objects = objects(&runtime, "s3://b", &script.endpoint);
    assert_eq!((objects.get("a").unwrap(), objects.created_at("a").unwrap()), (None, None));
}

#[test]
fn urls_and_variables_are_checked() {
    let (runtime, of) = (runtime(), |key: &str, value: &str| (key.to_owned(), value.to_owned()));
    let s3 = variables("http://127.0.0.1:1");
    let with = |key, value| s3.iter().cloned().chain([of(key, value)]).collect::<Vec<_>>();
    for (url, variables) in [
        ("s3://", s3.clone()),
        ("s3:///prefix", s3.clone()),
        ("s3://the-key-id:the-secret@b/p", s3.clone()),
        ("s3://b//p", s3.clone()),
        ("ftp://b/p", s3.clone()),
        ("s3://b", with("AWS_ENDPOINT_URL", "127.0.0.1:9000")),
        ("s3://b", with("AWS_ENDPOINT_URL", "http://the-key-id:the-secret@127.0.0.1")),
        ("s3://b", with("AWS_TIMEOUT", "soon")),
        ("s3://b", vec![of("AWS_ACCESS_KEY_ID", "the-key-id")]),
        ("gs://b", vec![of("GOOGLE_SERVICE_ACCOUNT_KEY", "the-secret")]),
    ] {
        let error = open_bucket(url, variables.into_iter()).err().unwrap_or_else(|| panic!("{url}"));
        let message = format!("{error} {error:?}");
        assert!(!SECRETS.iter().any(|secret| message.contains(secret)), "{message}");
    }
    for (url, path) in [("s3://b", "s3://b/a"), ("s3://b/", "s3://b/a"), ("s3://b/p/q/", "s3://b/p/q/a")] {
        assert_eq!(objects(&runtime, url, "http://127.0.0.1:1").path_of("a"), FilePath::new(path));
    }
    let key = r#"{"private_key": "", "private_key_id": "", "client_email": "", "disable_oauth": true}"#;
    let google = [of("GOOGLE_SERVICE_ACCOUNT_KEY", key), of("GOOGLE_BASE_URL", "http://127.0.0.1:1")];
    assert_eq!(open_bucket("gs://b/p", google.into_iter()).map(|bucket| bucket.url).unwrap(), "gs://b/p");
}

#[test]
fn a_path_is_a_directory() {
    let (runtime, path) = (runtime(), std::env::temp_dir().join(format!("taquin-objects-{}", std::process::id())));
    for url in [path.display().to_string(), format!("file://{}", path.display())] {
        let found = find_files(&url, runtime.handle()).unwrap();
        assert_eq!((found.path_of(""), found.get("a").unwrap()), (path.clone(), None));
        assert!(!path.exists(), "it may be a volume that is not mounted");
        assert_eq!(open_files(&url, runtime.handle()).unwrap().path_of(""), path);
        assert!(find_files(&url, runtime.handle()).is_ok(), "processes share it");
        std::fs::remove_dir_all(&path).unwrap();
    }
    assert!(open_files("file://host/path", runtime.handle()).is_err());
}

#[test]
fn a_directory_belongs_to_one_process_or_to_those_that_share_it() {
    let (runtime, path) = (runtime(), std::env::temp_dir().join(format!("taquin-lock-{}", std::process::id())));
    let share = || open_files(&path.display().to_string(), runtime.handle());
    let own = || Directory::create(&path).unwrap().lock(DirectoryUse::Exclusive);
    let locked = own().unwrap();
    assert!(matches!(share(), Err(OpenError::InUse(_))));
    drop(locked);
    let shared = [share().unwrap(), share().unwrap()];
    assert!(matches!(own(), Err(TryLockError::WouldBlock)));
    drop(shared);
    own().unwrap();
    std::fs::remove_dir_all(&path).unwrap();
}

/// Returns the value of a variable that `.ci/cluster` sets.
fn server(variable: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| panic!("{variable} is not set: run .ci/cluster"))
}

/// Opens the objects of the server's bucket whose names begin with the name of a test.
fn server_objects(runtime: &Runtime, test: &str) -> Objects {
    objects(runtime, &format!("s3://taquin/{test}"), &server("TAQUIN_TEST_S3"))
}

#[test]
#[ignore = "needs a server: .ci/cluster"]
fn objects_keep_the_promises() {
    let runtime = runtime();
    check_promises(&server_objects(&runtime, "promises"));
}

#[test]
#[ignore = "needs a server: .ci/cluster"]
fn lists_and_removals_have_several_pages() {
    let runtime = runtime();
    let objects = server_objects(&runtime, "pages");
    for number in 0..1_010 {
        objects.put(&format!("folder/{number:04}"), b"").unwrap();
    }
    objects.put("folder2/a", b"").unwrap();
    let count = |after: &str| {
        let mut names = Vec::new();
        objects.list_after("folder", after, &mut |name| names.push(name.to_owned())).unwrap();
        names.len()
    };
    assert_eq!((count(""), count("0004"), count("1008"), count("1009")), (1_010, 1_005, 1, 0));
    objects.remove_folder("folder").unwrap();
    assert_eq!(count(""), 0);
    assert!(objects.get("folder2/a").unwrap().is_some());
}

/// This test runs its own binary again, since the CA certificates come from the environment of the process.
#[test]
#[ignore = "needs a server: .ci/cluster"]
fn a_private_authority_is_trusted_if_the_environment_names_it() {
    let test = "objects::tests::a_private_authority_is_trusted_if_the_environment_names_it";
    if let Ok(variable) = std::env::var("TAQUIN_TEST_ENDPOINT") {
        let runtime = runtime();
        let objects = objects(&runtime, "s3://taquin/tls", &server(&variable));
        return println!("outcome: {:?}", objects.put("a", b"bytes").and_then(|_| objects.get("a")));
    }
    let outcome = |variable: &str, authorities: &str| {
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args(["--exact", test, "--ignored", "--nocapture"]).env("TAQUIN_TEST_ENDPOINT", variable);
        again.env_remove("SSL_CERT_DIR").env("SSL_CERT_FILE", authorities);
        let output = again.output().unwrap();
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    };
    let authority = server("TAQUIN_TEST_CA");
    for (variable, authorities, part) in [
        ("TAQUIN_TEST_S3_TLS", &authority[..], "outcome: Ok(Some("),
        ("TAQUIN_TEST_S3_TLS", &authority.replace("ca.pem", "other.pem"), "UnknownIssuer"),
        ("TAQUIN_TEST_S3_TLS", "/dev/null", "No CA certificates"),
        // A container without certificates has such an environment.
        ("TAQUIN_TEST_S3", "/dev/null", "outcome: Ok(Some("),
    ] {
        let outcome = outcome(variable, authorities);
        assert!(outcome.contains(part), "{variable} {authorities}: {outcome}");
    }
}
