//! A client's socket, shared by hyper's stream and the requests of the connection.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use rustix::net::{Shutdown, shutdown};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::{Sleep, sleep};

use super::timeouts::{Timeouts, Wait};

/// The socket of a client.
#[derive(Debug)]
pub(crate) struct ClientSocket {
    /// Owned, so that the socket stays usable while hyper owns the other half.
    half: OwnedWriteHalf,
    has_unread_body: AtomicBool,
    has_new_request: AtomicBool,
    /// True if the last read brought bytes.
    has_read_bytes: AtomicBool,
}

impl ClientSocket {
    fn stream(&self) -> &TcpStream {
        self.half.as_ref()
    }

    /// True if the client has closed or reset its half of the connection, even if earlier bytes are unread. Asks the
    /// runtime, which caches the system's reports, instead of the system.
    pub(crate) fn is_closed_by_client(&self) -> bool {
        let ready = pin!(self.stream().ready(Interest::READABLE | Interest::WRITABLE));
        let ready = ready.poll(&mut Context::from_waker(Waker::noop()));
        matches!(ready, Poll::Ready(Ok(ready)) if ready.is_read_closed())
    }

    /// True if the body of the last request has unread bytes, or is broken.
    pub(crate) fn has_unread_body(&self) -> bool {
        self.has_unread_body.load(Ordering::Relaxed)
    }

    pub(crate) fn set_unread_body(&self, is_unread: bool) {
        self.has_unread_body.store(is_unread, Ordering::Relaxed);
    }

    /// Records that a request was read, or that its response was polled.
    pub(crate) fn set_new_request(&self, is_new: bool) {
        self.has_new_request.store(is_new, Ordering::Relaxed);
    }

    /// True once between the end of a request's headers and the first poll of its response.
    fn take_new_request(&self) -> bool {
        self.has_new_request.swap(false, Ordering::Relaxed)
    }

    /// True if bytes have arrived after the request whose response is pending.
    ///
    /// hyper reads on as soon as it has a whole request, to notice the end of the connection, unless its buffer has
    /// further bytes. So the last read brought bytes only if there are some after the request.
    pub(crate) fn has_next_bytes(&self) -> bool {
        self.has_read_bytes.load(Ordering::Relaxed)
    }

    /// Closes the service's half, if it is open.
    pub(crate) fn close_half(&self) {
        // It may be closed already, or the connection has failed.
        let _ = shutdown(self.stream(), Shutdown::Write);
    }

    /// Waits until bytes have arrived or the client has closed its half.
    pub(crate) async fn readable(&self) -> io::Result<()> {
        self.stream().readable().await
    }

    /// Reads bytes that have arrived; `WouldBlock` if there are none, 0 at the end.
    pub(crate) fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream().try_read(buffer)
    }
}

/// hyper's stream of a client. It reports arriving bytes to [`Wait`], and fails if the client reads nothing within the
/// write timeout.
#[derive(Debug)]
pub(crate) struct ClientStream {
    half: OwnedReadHalf,
    socket: Arc<ClientSocket>,
    wait: Wait,
    write: Duration,
    /// Runs while a write is blocked.
    stall: Option<Pin<Box<Sleep>>>,
}

impl ClientStream {
    pub(crate) fn new(stream: TcpStream, timeouts: Timeouts, wait: Wait) -> Self {
        let (read, write) = stream.into_split();
        let socket = Arc::new(ClientSocket {
            half: write,
            has_unread_body: AtomicBool::new(false),
            has_new_request: AtomicBool::new(false),
            has_read_bytes: AtomicBool::new(false),
        });
        Self { half: read, socket, wait, write: timeouts.write, stall: None }
    }

    pub(crate) fn socket(&self) -> Arc<ClientSocket> {
        Arc::clone(&self.socket)
    }

    fn stream(&self) -> &TcpStream {
        self.half.as_ref()
    }

    /// Writes as soon as the system takes bytes, within the write timeout.
    fn poll_write_with(
        &mut self,
        context: &mut Context<'_>,
        write: impl Fn(&TcpStream) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        while let Poll::Ready(ready) = self.stream().poll_write_ready(context) {
            ready?;
            match write(self.stream()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => {
                    self.stall = None;
                    return Poll::Ready(written);
                }
            }
        }
        let limit = self.write;
        let stall = self.stall.get_or_insert_with(|| Box::pin(sleep(limit)));
        ready!(stall.as_mut().poll(context));
        // Makes the close reset the connection, so that the system drops the unread data.
        let _ = self.stream().set_zero_linger();
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not read the response")))
    }
}

impl AsyncRead for ClientStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.half).poll_read(context, buffer);
        let has_bytes = buffer.filled().len() > before;
        self.socket.has_read_bytes.store(has_bytes, Ordering::Relaxed);
        if has_bytes {
            self.wait.bytes_arrived();
        } else if matches!(read, Poll::Ready(Ok(()))) && self.socket.take_new_request() {
            // hyper would drop the request before it polls the response, which may be ready at once.
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        read
    }
}

impl AsyncWrite for ClientStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_with(context, |stream| stream.try_write(bytes))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_with(context, |stream| stream.try_write_vectored(bytes))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// The system has no buffer that needs flushing.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(shutdown(self.stream(), Shutdown::Write).map_err(io::Error::from))
    }
}
