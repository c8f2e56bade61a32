//! A running service, and a client that checks every exchange against the contract.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use clap::Parser;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use taquin::app::App;
use taquin::config::{Config, Flags};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Mutex, OnceCell, oneshot};
use tokio::task::JoinHandle;

use crate::answer::Answer;
use crate::contract::{CONTRACT, essence};
use crate::question::Question;
use crate::simulator;

/// Maximum waiting time. A test that hangs fails at the place where it waits.
const TIMEOUT: Duration = Duration::from_secs(120);

/// A running service, owned by one test or shared by most tests.
pub(crate) struct Service {
    addr: SocketAddr,
    shutdown: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// A client of the shared service, for tests that need no particular settings.
pub(crate) async fn shared() -> Client {
    static SHARED: OnceCell<Service> = OnceCell::const_new();
    SHARED.get_or_init(|| Service::start(&[])).await.client()
}

impl Service {
    /// Starts a service with these flags on a free port, and waits until it is ready.
    pub(crate) async fn start(flags: &[&str]) -> Self {
        let args = ["taquin", "--listen", "127.0.0.1:0", "--tables", "small"].into_iter().chain(flags.iter().copied());
        let flags = Flags::try_parse_from(args).unwrap_or_else(|error| panic!("{error}"));
        let config = Config::try_from(&flags).unwrap_or_else(|faults| panic!("{faults:?}"));
        let (addr_sender, addr) = oneshot::channel();
        let (shutdown, shutdown_requested) = oneshot::channel::<()>();
        // A separate runtime, which outlives the runtime of the test that starts the service.
        let thread = std::thread::spawn(move || {
            let mut runtime = tokio::runtime::Builder::new_multi_thread();
            // As many as the binary has.
            runtime.worker_threads(2).max_blocking_threads(4);
            let runtime = runtime.enable_all().build().expect("a runtime");
            runtime.block_on(async move {
                let app = App::build(&config).await.expect("a service");
                addr_sender.send(app.addr()).expect("a test that waits");
                let asked = async { shutdown_requested.await.unwrap_or(()) };
                app.run(asked).await;
            });
        });
        let addr = addr.await.expect("an address");
        let service = Self { addr, shutdown: Some(shutdown), thread: Some(thread) };
        let client = service.client();
        until("the service is ready", async || client.get("/readyz").await.status == 200).await;
        service
    }

    /// A client with its own connection.
    pub(crate) fn client(&self) -> Client {
        Client { addr: self.addr, connection: Mutex::new(None) }
    }

    /// Starts a shutdown, as a signal would.
    pub(crate) fn start_shutdown(&mut self) {
        drop(self.shutdown.take());
    }

    /// True if the service has stopped.
    pub(crate) fn has_stopped(&self) -> bool {
        self.thread.as_ref().is_none_or(std::thread::JoinHandle::is_finished)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.start_shutdown();
    }
}

/// Polls until the condition holds.
pub(crate) async fn until(what: &str, holds: impl AsyncFn() -> bool) {
    let poll = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, poll).await.unwrap_or_else(|_| panic!("timed out: {what}"));
}

/// A keep-alive connection, opened on first use.
pub(crate) struct Client {
    addr: SocketAddr,
    connection: Mutex<Option<SendRequest<Full<Bytes>>>>,
}

impl Client {
    /// Address of the service.
    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Sends a GET request to this target.
    pub(crate) async fn get(&self, target: &str) -> Answer {
        self.send(Question::get(target)).await
    }

    /// Sends a POST request with a JSON body.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send(Question::post(path).json(body)).await
    }

    /// Sends a request to `/solve`, and returns the reply. Asserts status 200.
    pub(crate) async fn solve(&self, body: &Value) -> Value {
        self.post("/solve", body).await.expect(200).json()
    }

    /// Sends a request, and checks the exchange against the contract.
    pub(crate) async fn send(&self, question: Question) -> Answer {
        let mut connection = self.connection.lock().await;
        let mut sender = match connection.take() {
            Some(sender) if !sender.is_closed() && sender.is_ready() => sender,
            _ => connect(self.addr).await.0,
        };
        let answer = exchange(&mut sender, &question).await.unwrap_or_else(|error| panic!("{question}: {error}"));
        *connection = Some(sender);
        drop(connection);
        check(&question, &answer);
        answer
    }

    /// Writes bytes to a new connection, and returns the first bytes received. Checks nothing.
    pub(crate) async fn raw(&self, request: &str) -> String {
        let exchange = async {
            let mut stream = TcpStream::connect(self.addr).await?;
            stream.write_all(request.as_bytes()).await?;
            let mut answer = Vec::new();
            while !answer.ends_with(b"}") && stream.read_buf(&mut answer).await? > 0 {}
            Ok::<_, std::io::Error>(String::from_utf8_lossy(&answer).into_owned())
        };
        let answer = tokio::time::timeout(TIMEOUT, exchange).await;
        answer
            .unwrap_or_else(|_| panic!("no answer to {request:?}"))
            .unwrap_or_else(|error| panic!("{request:?}: {error}"))
    }

    /// Sends a request on a new connection, without waiting for the response.
    pub(crate) async fn begin(&self, question: Question) -> Pending {
        let (mut sender, driver) = connect(self.addr).await;
        let waiting = tokio::spawn(async move {
            let answer = exchange(&mut sender, &question).await.unwrap_or_else(|error| panic!("{question}: {error}"));
            check(&question, &answer);
            answer
        });
        Pending { waiting, driver }
    }
}

/// A request whose response is pending.
pub(crate) struct Pending {
    waiting: JoinHandle<Answer>,
    driver: JoinHandle<()>,
}

impl Pending {
    /// True if the response has arrived.
    pub(crate) fn is_answered(&self) -> bool {
        self.waiting.is_finished()
    }

    /// Waits for the response.
    pub(crate) async fn answer(self) -> Answer {
        self.waiting.await.expect("an answer")
    }

    /// Closes the connection.
    pub(crate) fn hang_up(self) {
        self.waiting.abort();
        self.driver.abort();
    }
}

/// An exchange on a new connection without any check, for compressed bodies.
pub(crate) async fn unchecked(addr: SocketAddr, question: &Question) -> Answer {
    let mut sender = connect(addr).await.0;
    exchange(&mut sender, question).await.unwrap_or_else(|error| panic!("{question}: {error}"))
}

async fn connect(addr: SocketAddr) -> (SendRequest<Full<Bytes>>, JoinHandle<()>) {
    let stream = TcpStream::connect(addr).await.unwrap_or_else(|error| panic!("{addr}: {error}"));
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.expect("a handshake");
    // A connection error surfaces in the pending exchange.
    let driver = tokio::spawn(async move { connection.await.unwrap_or(()) });
    (sender, driver)
}

async fn exchange(
    sender: &mut SendRequest<Full<Bytes>>,
    question: &Question,
) -> Result<Answer, Box<dyn std::error::Error + Send + Sync>> {
    let mut request = Request::builder().method(&question.method).uri(&question.target).header("host", "localhost");
    if let Some(headers) = request.headers_mut() {
        headers.extend(question.headers.clone());
    }
    let request = request.body(Full::new(question.body.clone()))?;
    let whole = async {
        sender.ready().await?;
        let (head, body) = sender.send_request(request).await?.into_parts();
        let body = body.collect().await?.to_bytes();
        Ok::<_, hyper::Error>(Answer {
            question: question.to_string(),
            status: head.status.as_u16(),
            headers: head.headers,
            body,
        })
    };
    Ok(tokio::time::timeout(TIMEOUT, whole).await??)
}

/// Checks an exchange against the contract, and against rules that the contract cannot express.
fn check(question: &Question, answer: &Answer) {
    let mut faults = CONTRACT.faults(question, answer);
    let media_type = essence(&answer.headers);
    if media_type == "application/problem+json" && !answer.body.is_empty() {
        let problem = answer.json();
        if problem["status"] != answer.status {
            faults.push("the status of the problem differs".to_owned());
        }
        if problem["request_id"] != answer.header("x-request-id") {
            faults.push("the request id of the problem differs".to_owned());
        }
    }
    if media_type == "application/json"
        && answer.status == 200
        && question.target.starts_with("/solve")
        && !answer.body.is_empty()
    {
        let reply = answer.json();
        if !reply["moves"].is_null() {
            let asked = format!("{}{}", question.target, String::from_utf8_lossy(&question.body));
            let metric = if asked.contains("multi_tile") { "multi_tile" } else { "single_tile" };
            faults.extend(simulator::faults_of_solution_in(&reply, metric));
        }
    }
    assert!(faults.is_empty(), "{question}\n{answer}\nbreaks the contract: {faults:#?}");
}
