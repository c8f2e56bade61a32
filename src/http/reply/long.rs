//! Memory reservations of long responses (docs/adr/0031).

use std::sync::Arc;

use bytes::Bytes;
use taquin_solver::Puzzle;
use taquin_solver::search::{Expansions, GeneratedNodes};

use super::failure::service_failure;
use crate::http::problem::Problem;
use crate::service::{HeldReport, ReplyOwner, Report, Reservation, Service};

/// Approximate size in bytes above which a response is long.
const LONG: usize = 64 << 10;

/// Reserves memory for a report whose response is long and is therefore written in pieces. Returns `None` for a short
/// response.
///
/// # Errors
/// `overloaded` if no memory is left for long responses.
pub(crate) fn held_if_long(
    service: &Service,
    puzzle: &Puzzle,
    report: &Arc<Report>,
) -> Result<Option<HeldReport>, Problem> {
    let moves = report.solution.as_ref().map_or(0, |solution| solution.path.len());
    let expansions = report.expansions.as_ref().map_or(0, Expansions::len);
    let generated = report.generated.as_ref().map_or(0, GeneratedNodes::len);
    let iterations = report.iterations.as_ref().map_or(0, Vec::len);
    let solutions = report.solutions.as_ref().map_or(0, |solutions| solutions.paths.len() * (moves + 3));
    let boards = report.heights.len() + expansions + generated;
    let bytes = 6 * moves + boards * (4 * puzzle.size().cells() + 64) + 64 * iterations + solutions;
    if bytes <= LONG {
        return Ok(None);
    }
    service.hold(report).map(Some).map_err(|error| service_failure(&error))
}

/// Reserves memory for the bytes of a long response until they are dropped.
///
/// # Errors
/// `overloaded` if no memory is left for long responses.
pub(crate) fn reserved_if_long(service: &Service, text: Vec<u8>) -> Result<Bytes, Problem> {
    let reservation = reserve_if_long(service, None, text.len())?;
    Ok(with_reservation(text, reservation))
}

/// Reserves memory for a response of so many bytes if it is long.
///
/// # Errors
/// `overloaded` if no memory is left for long responses, or the owner has its share.
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
    use http_body_util::BodyExt;

    use super::*;
    use crate::http::media_type::MediaType;
    use crate::http::reply::Layout;
    use crate::http::reply::solution::SolveReply;
    use crate::http::reply::writer::in_pieces;
    use crate::http::reply::writer::tests::report;
    use crate::http::tests::service;
    use taquin_solver::Algorithm;

    #[tokio::test]
    async fn memory_is_reserved_until_the_body_is_dropped() {
        let (service, (puzzle, report)) = (service(), report(Algorithm::DepthFirst, true, 0));
        let held = held_if_long(&service, &puzzle, &report).unwrap().expect("a long one");
        let (reply, _) = SolveReply::new(&puzzle, &report).unwrap();
        let mut body = in_pieces(&reply, held, Layout::of(MediaType::Json)).body();
        body.frame().await.unwrap().unwrap();
        assert!(service.reply_bytes() > 0);
        drop(body);
        assert_eq!(service.reply_bytes(), 0);
        let bytes = reserved_if_long(&service, vec![b' '; LONG + 1]).unwrap();
        assert_eq!(service.reply_bytes(), LONG as u64 + 1);
        drop(bytes);
        assert_eq!(service.reply_bytes(), 0);
    }

    #[test]
    fn a_short_response_reserves_no_memory() {
        let (service, (puzzle, report)) = (service(), report(Algorithm::BreadthFirst, true, 50));
        assert!(held_if_long(&service, &puzzle, &report).unwrap().is_none());
        assert_eq!(service.reply_bytes(), 0);
    }
}
