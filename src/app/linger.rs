//! Lingering close (RFC 9112, section 9.6).
//!
//! If a socket is closed with unread data, or data arrives afterwards, the system resets the connection. The client
//! then loses a response that it has not read yet, such as 413 for a body still in transfer. So the service closes its
//! half first, and discards input until the client closes the other half.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::client_socket::ClientSocket;
use super::open_connections::EndSignal;

/// Limit of discarded bytes.
const MAX_BYTES: usize = 64 << 20;

/// Limit of the total time.
const MAX_TIME: Duration = Duration::from_secs(30);

/// After this time without a byte, the client no longer counts as sending.
const MAX_SILENCE: Duration = Duration::from_secs(5);

/// Size of one read.
const CHUNK: usize = 16 << 10;

/// Places for lingering connections.
#[derive(Clone, Debug)]
pub(crate) struct LingeringPlaces(Arc<Semaphore>);

impl LingeringPlaces {
    pub(crate) fn new(count: usize) -> Self {
        Self(Arc::new(Semaphore::new(count)))
    }

    /// Discards the client's remaining bytes until the service ends, if there is a place.
    pub(crate) async fn linger(&self, socket: &ClientSocket, mut end: EndSignal) {
        let Ok(_place) = self.0.try_acquire() else { return };
        tokio::select! {
            () = end.wait() => {}
            () = discard(socket) => {}
        }
    }
}

/// True if the client may still be sending, so that closing the socket could lose the last response.
pub(crate) fn must_linger(socket: &ClientSocket, has_unread_bytes: bool) -> bool {
    let is_sending = has_unread_bytes || socket.has_unread_body();
    (is_sending && !socket.is_closed_by_client()) || has_unread_input(socket)
}

/// True if bytes from the client are unread.
fn has_unread_input(socket: &ClientSocket) -> bool {
    matches!(socket.try_read(&mut [0]), Ok(1..))
}

/// Closes the service's half of the connection, then discards input until the client closes the other half, within the
/// limits above.
async fn discard(socket: &ClientSocket) {
    // hyper leaves the half open for HTTP/2 clients.
    socket.close_half();
    let discard = async {
        let mut buffer = vec![0; CHUNK];
        let mut discarded = 0;
        while discarded < MAX_BYTES && matches!(timeout(MAX_SILENCE, socket.readable()).await, Ok(Ok(()))) {
            match socket.try_read(&mut buffer) {
                Ok(0) => return,
                Ok(length) => discarded += length,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(_) => return,
            }
        }
    };
    let _ = timeout(MAX_TIME, discard).await;
}
