//! HTTP client of the collector: opens a connection for each batch, and warns about lost batches.

use std::io;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1;
use hyper::header::{CONNECTION, HOST, HeaderValue};
use hyper::{Uri, Version};
use hyper_util::rt::TokioIo;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use parking_lot::Mutex;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

/// Time limit for sending a batch and receiving the response.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum size of a response, which only lists rejected spans.
const MAX_RESPONSE: usize = 1 << 16;
/// Minimum time between two warnings about lost batches.
const WARNING_INTERVAL: Duration = Duration::from_secs(60);

/// Posts batches. Only the exporting thread uses its own runtime, so it can send the last batch after the service's
/// threads have ended.
#[derive(Debug)]
pub(crate) struct Collector {
    runtime: Runtime,
    last_warning: Mutex<Option<Instant>>,
}

impl Collector {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { runtime: Builder::new_current_thread().enable_all().build()?, last_warning: Mutex::default() })
    }

    /// Warns that traces are lost, at most once a minute.
    fn warn(&self, uri: &Uri, error: &str) {
        let mut last = self.last_warning.lock();
        if last.is_none_or(|at| at.elapsed() >= WARNING_INTERVAL) {
            *last = Some(Instant::now());
            tracing::warn!(target: "taquin::traces", url = %uri, error, "traces cannot be sent");
        }
    }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let uri = request.uri().clone();
        let posted = self.runtime.block_on(async { timeout(TIMEOUT, post(request)).await });
        let response = posted.unwrap_or_else(|_| Err("no response in time".into()));
        match &response {
            Ok(response) if response.status().is_success() => {}
            Ok(response) => self.warn(&uri, &format!("the collector responded with {}", response.status())),
            Err(error) => self.warn(&uri, &error.to_string()),
        }
        response
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
        let body = Limited::new(body, MAX_RESPONSE).collect().await?.to_bytes();
        Ok(Response::from_parts(head, body))
    };
    // If the connection fails, the exchange fails too, with the reason.
    let (response, _) = tokio::join!(exchange, connection);
    response
}
