//! The way to the collector: one connection for each batch, and a word if it leads nowhere.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1;
use hyper::header::{CONNECTION, HOST, HeaderValue};
use hyper::{Uri, Version};
use hyper_util::rt::TokioIo;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

/// How long a batch may take to be sent and answered.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most that is read of an answer, which says no more than what was not taken.
const MOST_ANSWERED: usize = 1 << 16;
/// How often it is told, at most, that batches are lost.
const PAUSE: Duration = Duration::from_secs(60);

/// Posts batches. It has a small runtime of its own, in which only the thread that sends them works: the
/// service's threads have nothing to do with it, and it lives on until all of them have ended.
#[derive(Debug)]
pub(super) struct Collector {
    runtime: Runtime,
    told: Mutex<Option<Instant>>,
}

impl Collector {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self { runtime: Builder::new_current_thread().enable_all().build()?, told: Mutex::default() })
    }

    /// Tells that traces are lost, once a minute at most.
    fn tell(&self, uri: &Uri, error: &str) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.is_none_or(|at| at.elapsed() >= PAUSE) {
            *told = Some(Instant::now());
            tracing::warn!(target: "taquin::traces", url = %uri, error, "traces cannot be sent");
        }
    }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let uri = request.uri().clone();
        let posted = self.runtime.block_on(async { timeout(PATIENCE, post(request)).await });
        let answer = posted.unwrap_or_else(|_| Err("no answer in time".into()));
        match &answer {
            Ok(answer) if answer.status().is_success() => {}
            Ok(answer) => self.tell(&uri, &format!("it answered {}", answer.status())),
            Err(error) => self.tell(&uri, &error.to_string()),
        }
        answer
    }
}

async fn post(mut request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
    let uri = request.uri();
    let (host, port) = (uri.host().unwrap_or_default(), uri.port_u16().unwrap_or(80));
    let stream = TcpStream::connect((host.trim_matches(['[', ']']), port)).await?;
    let authority = HeaderValue::try_from(uri.authority().map_or("", |authority| authority.as_str()))?;
    let path = uri.path_and_query().map_or("/", |path| path.as_str()).parse()?;
    *request.uri_mut() = path;
    *request.version_mut() = Version::HTTP_11;
    request.headers_mut().insert(HOST, authority);
    request.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));

    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let exchange = async move {
        let (head, body) = sender.send_request(request.map(Full::new)).await?.into_parts();
        let body = Limited::new(body, MOST_ANSWERED).collect().await?.to_bytes();
        Ok(Response::from_parts(head, body))
    };
    // What ends the connection ends the exchange too, and says why.
    let (answer, _) = tokio::join!(exchange, connection);
    answer
}
