//! Lingering close (RFC 9112, section 9.6).
//!
//! If a socket is closed with unread data, or if data arrives afterwards, the system resets the connection. The client
//! then loses a response that it has not read yet, such as 413 for a body that it is still sending. So the service
//! closes its half first, and reads and discards until the client closes the other half.

use std::time::Duration;

use tokio::time::timeout;

use super::client_socket::ClientSocket;

/// Bytes that are discarded at most.
const MAX_BYTES: usize = 64 << 20;

/// Duration of all of it.
const MAX_TIME: Duration = Duration::from_secs(30);

/// Time without a byte after which the client no longer counts as sending.
const MAX_SILENCE: Duration = Duration::from_secs(5);

/// Size of one read.
const CHUNK: usize = 16 << 10;

/// True if bytes of the client are unread.
pub(crate) fn has_unread_bytes(socket: &ClientSocket) -> bool {
    matches!(socket.try_read(&mut [0]), Ok(1..))
}

/// Closes the service's half of the connection. Then reads and discards until the client closes the other half, within
/// the limits above.
pub(crate) async fn discard(socket: &ClientSocket) {
    // hyper leaves it open for clients of HTTP/2.
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
