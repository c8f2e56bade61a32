//! Memory reservations of long responses (docs/adr/0015).

use bytes::Bytes;

use super::failure::service_failure;
use crate::http::problem::Problem;
use crate::service::{ReplyOwner, Reservation, Service};

/// Size in bytes above which a response is long.
const LONG: usize = 64 << 10;

/// Reserves memory for the bytes of a long response until they are dropped.
///
/// # Errors
/// `overloaded` if no memory is left for long responses.
pub(crate) fn reserved_if_long(service: &Service, text: Vec<u8>) -> Result<Bytes, Problem> {
    let reservation = reserve_if_long(service, None, text.len())?;
    Ok(with_reservation(text, reservation))
}

/// Reserves memory for a response of `length` bytes if the response is long.
///
/// # Errors
/// `overloaded` if no memory is left for long responses, or if the owner has reached its quota.
pub(crate) fn reserve_if_long(
    service: &Service,
    owner: Option<ReplyOwner>,
    length: usize,
) -> Result<Option<Reservation>, Problem> {
    let reserve = || service.reserve_reply(owner, length).map_err(|error| service_failure(&error));
    (length > LONG).then(reserve).transpose()
}

/// Bytes that hold a reservation until they are dropped.
pub(crate) fn with_reservation(text: Vec<u8>, reservation: Option<Reservation>) -> Bytes {
    match reservation {
        None => text.into(),
        Some(_reservation) => Bytes::from_owner(Reserved { text, _reservation }),
    }
}

/// Bytes that own their reservation.
struct Reserved {
    text: Vec<u8>,
    _reservation: Reservation,
}

impl AsRef<[u8]> for Reserved {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::tests::service;

    #[test]
    fn the_memory_of_a_long_response_is_reserved_until_it_is_dropped() {
        let service = service();
        let bytes = reserved_if_long(&service, vec![b' '; LONG + 1]).unwrap();
        assert_eq!(service.reply_bytes(), LONG as u64 + 1024, "each KiB that is begun counts");
        drop(bytes);
        assert_eq!(service.reply_bytes(), 0);
        let _short = reserved_if_long(&service, vec![b' '; LONG]).unwrap();
        assert_eq!(service.reply_bytes(), 0);
    }
}
