//! Answers that are too long to be held: written piece by piece, as their clients take them (docs/adr/0031).

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io::Write;
use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream::unfold;
use serde::Serialize;

use super::json_writer;
use super::solution::{ExpansionLine, ExpansionReply, SolveReply, StateReply};
use crate::domain::{Board, Puzzle};
use crate::http::negotiation::Offer;
use crate::http::problem::Problem;
use crate::http::routes::solve::failed;
use crate::service::{HeldReport, Report, Reservation, Service};

/// Answers of more bytes than this, about, are long.
const LONG: usize = 64 << 10;

/// Bytes of a piece, about: some ten microseconds' work.
const PIECE: usize = 16 << 10;

/// Something that is written, whole or as it is taken.
#[derive(Debug)]
pub(crate) enum Written {
    /// It is there.
    Whole(Vec<u8>),
    /// It is to come.
    Long(Box<LongReply>),
}

/// An answer that is to come.
#[derive(Debug)]
pub(crate) struct LongReply {
    report: HeldReport,
    offer: Offer,
    parts: VecDeque<Part>,
    /// Where the first of the parts goes on.
    at: usize,
}

/// What an answer is put together from.
#[derive(Debug)]
enum Part {
    Text(Vec<u8>),
    Letters,
    Tiles,
    /// With the board that comes next.
    States(Board),
    Expansions,
}

/// The report, held, if the answer that it makes is long.
///
/// # Errors
/// `overloaded` if it is, and there is no memory for another.
pub(crate) fn held_if_long(
    service: &Service,
    puzzle: &Puzzle,
    report: &Arc<Report>,
) -> Result<Option<HeldReport>, Problem> {
    let moves = report.solution.as_ref().map_or(0, |solution| solution.path.len());
    let boards = report.heights.len() + report.expansions.as_ref().map_or(0, Vec::len);
    let bytes = 4 * moves + boards * (4 * puzzle.size().cells() + 64);
    if bytes <= LONG {
        return Ok(None);
    }
    service.hold(report).map(Some).map_err(|error| failed(&error))
}

/// The bytes of an answer that is written whole; if it is long, its memory is reserved as long as they are there.
///
/// # Errors
/// `overloaded` if it is, and there is no memory for another.
pub(crate) fn reserved_if_long(service: &Service, text: Vec<u8>) -> Result<Bytes, Problem> {
    if text.len() <= LONG {
        return Ok(text.into());
    }
    let _reservation = service.reserve_reply(text.len()).map_err(|error| failed(&error))?;
    Ok(Bytes::from_owner(Reserved { text, _reservation }))
}

/// Bytes with their memory.
struct Reserved {
    text: Vec<u8>,
    _reservation: Reservation,
}

impl AsRef<[u8]> for Reserved {
    fn as_ref(&self) -> &[u8] {
        &self.text
    }
}

impl Written {
    /// The same between two texts.
    pub(crate) fn between(self, before: &str, after: &str) -> Self {
        match self {
            Self::Whole(text) => Self::Whole([before.as_bytes(), &text, after.as_bytes()].concat()),
            Self::Long(mut reply) => {
                reply.parts.push_front(text(before));
                reply.parts.push_back(text(after));
                Self::Long(reply)
            }
        }
    }

    /// How long it is, if that is known before it is written.
    pub(crate) fn length(&self) -> Option<usize> {
        match self {
            Self::Whole(text) => Some(text.len()),
            Self::Long(_) => None,
        }
    }

    /// The body of a response.
    pub(crate) fn body(self) -> Body {
        match self {
            Self::Whole(text) => Body::from(text),
            Self::Long(reply) => {
                let pieces =
                    unfold(reply, |mut reply| async { Some((Ok::<_, Infallible>(reply.next().await?), reply)) });
                Body::from_stream(pieces)
            }
        }
    }
}

fn text(text: impl Into<Vec<u8>>) -> Part {
    Part::Text(text.into())
}

impl LongReply {
    fn of(report: HeldReport, offer: Offer, parts: impl IntoIterator<Item = Part>) -> Written {
        Written::Long(Box::new(Self { report, offer, parts: parts.into_iter().collect(), at: 0 }))
    }

    /// The answer of `/solve` that a reply without moves, states and expansions is the frame of.
    pub(crate) fn solved(frame: &SolveReply<'_>, report: HeldReport, offer: Offer) -> Written {
        let parts = if offer == Offer::Text { text_parts(frame, &report) } else { json_parts(frame, &report) };
        Self::of(report, offer, parts)
    }

    /// The solution alone, between two texts of JSON.
    pub(crate) fn solution(report: HeldReport, before: Vec<u8>, after: Vec<u8>) -> Written {
        let parts = [text(before), Part::Letters, text("\",\"tiles\":["), Part::Tiles, text("]"), text(after)];
        Self::of(report, Offer::Json, parts)
    }

    /// The first nodes of a search, between two texts.
    pub(crate) fn expansions(report: HeldReport, offer: Offer, before: Vec<u8>, after: Vec<u8>) -> Written {
        Self::of(report, offer, [text(before), Part::Expansions, text(after)])
    }

    /// The next piece; none after the last. Other connections have their turn before it.
    pub(crate) async fn next(&mut self) -> Option<Bytes> {
        tokio::task::yield_now().await;
        let mut piece = Vec::with_capacity(PIECE + PIECE / 8);
        while piece.len() < PIECE {
            let Self { report, offer, parts, at } = self;
            let Some(part) = parts.front_mut() else { break };
            if part.write(report, *offer, *at, &mut piece).is_some() {
                *at += 1;
            } else {
                parts.pop_front();
                *at = 0;
            }
        }
        (!piece.is_empty()).then(|| piece.into())
    }
}

fn json_parts(frame: &SolveReply<'_>, report: &Report) -> Vec<Part> {
    let (before, after) = json_writer::around_solution(frame);
    let mut parts = vec![text(before), Part::Letters, text("\",\"tiles\":["), Part::Tiles, text("]"), text(after)];
    if !report.heights.is_empty() {
        parts.extend([text(",\"states\":["), Part::States(frame.start.0), text("]")]);
    }
    if report.expansions.is_some() {
        parts.extend([text(",\"expansions\":["), Part::Expansions, text("]")]);
    }
    parts.push(text("}"));
    parts
}

fn text_parts(frame: &SolveReply<'_>, report: &Report) -> Vec<Part> {
    let mut parts = vec![text(frame.summary().to_string())];
    if frame.length > 0 {
        parts.extend([text("The blank goes "), Part::Letters, text("\nThe tiles are  "), Part::Tiles, text("\n")]);
    }
    parts.push(match report.heights.is_empty() {
        true => text(frame.ending().to_string()),
        false => Part::States(frame.start.0),
    });
    if report.expansions.is_some() {
        parts.extend([text("\n"), Part::Expansions]);
    }
    parts.push(text(format!("\n{}", frame.search)));
    parts
}

impl Part {
    /// Writes what is at a place; nothing if there is no such place.
    fn write(&mut self, report: &Report, offer: Offer, at: usize, piece: &mut Vec<u8>) -> Option<()> {
        let solution = report.solution.as_ref();
        match self {
            Self::Text(text) => {
                piece.append(text);
                return None;
            }
            Self::Letters => piece.push(solution?.path.moves().get(at)?.letter() as u8),
            Self::Tiles => {
                let tile = solution?.tiles.get(at)?;
                separate(piece, at, if offer == Offer::Text { " " } else { "," });
                piece.extend_from_slice(itoa::Buffer::new().format(*tile).as_bytes());
            }
            Self::States(board) => {
                let h = *report.heights.get(at)?;
                let mv = at.checked_sub(1).and_then(|before| solution?.path.moves().get(before).copied());
                let step = mv.and_then(|mv| Some((mv, board.make(mv)?)));
                let state = StateReply::new(report, step, *board, at as u32, h);
                match offer {
                    // The text has begun with the start.
                    Offer::Text if at == 0 => {}
                    Offer::Text => put(piece, &state),
                    _ => json(piece, at, &state),
                }
            }
            Self::Expansions => {
                let expansion = ExpansionReply::from(report.expansions.as_ref()?.get(at)?);
                match offer {
                    Offer::Text => put(piece, &ExpansionLine(at, &expansion)),
                    _ => json(piece, at, &expansion),
                }
            }
        }
        Some(())
    }
}

fn separate(piece: &mut Vec<u8>, at: usize, separator: &str) {
    if at > 0 {
        piece.extend_from_slice(separator.as_bytes());
    }
}

fn json(piece: &mut Vec<u8>, at: usize, entry: &impl Serialize) {
    separate(piece, at, ",");
    serde_json::to_writer(piece, entry).expect("names are strings, and writing to memory does not fail");
}

fn put(piece: &mut Vec<u8>, entry: &impl std::fmt::Display) {
    write!(piece, "{entry}").expect("writing to memory does not fail");
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use http_body_util::BodyExt;

    use super::*;
    use crate::domain::{Encoding, RawBoard, Sides};
    use crate::http::problem::ProblemKind;
    use crate::http::tests::service;
    use crate::search::Algorithm;
    use crate::service::{Job, Limits, Plan, SearchContext, SearchOptions, Tables, solve};

    fn report(algorithm: Algorithm, states: bool, expansions: usize) -> (Puzzle, Arc<Report>) {
        let start = RawBoard::parse("8 6 7/2 5 4/3 0 1").board(Sides::default(), Encoding::Tiles).unwrap();
        let puzzle = Puzzle::try_new(start, Board::blank_last(start.size())).unwrap();
        let wish = SearchOptions { algorithm: Some(algorithm), ..SearchOptions::default() };
        let plan = Plan::try_new(&wish, start.size()).unwrap();
        let limits = Limits { time: Duration::from_secs(60), expanded: 1_000_000, nodes: 1_000_000 };
        let job = Job { puzzle, plan, limits, expansions, states };
        (puzzle, Arc::new(solve(&job, &Tables::default(), SearchContext::default()).unwrap()))
    }

    async fn taken(written: Written) -> String {
        let body = written.body().collect().await.unwrap().to_bytes();
        String::from_utf8(body.to_vec()).unwrap()
    }

    #[tokio::test]
    async fn what_is_written_piece_by_piece_is_what_would_be_written_whole() {
        let service = service();
        for (algorithm, states, expansions) in [
            (Algorithm::DepthFirst, false, 0),
            (Algorithm::DepthFirst, true, 0),
            (Algorithm::DepthFirst, true, 7),
            (Algorithm::BreadthFirst, false, 900),
        ] {
            let (puzzle, report) = report(algorithm, states, expansions);
            let whole = SolveReply::new(&puzzle, &report).unwrap();
            for offer in [Offer::Json, Offer::Text] {
                let (frame, _) = SolveReply::frame(&puzzle, &report).unwrap();
                let long = LongReply::solved(&frame, service.hold(&report).unwrap(), offer);
                assert_eq!(taken(long).await.into_bytes(), whole.written(offer), "{algorithm:?} {offer:?}");
            }
        }
    }

    #[tokio::test]
    async fn a_problem_with_many_expansions_is_what_it_would_be_with_few() {
        let (service, (_, report)) = (service(), report(Algorithm::BreadthFirst, false, 300));
        let problem = || Problem::new(ProblemKind::SearchLimitExceeded, "Over.").with_member("limit", "expanded");
        let few = problem().with_expansions(ExpansionReply::of(&report).unwrap());
        let many = problem().with_expansions_of(service.hold(&report).unwrap());
        for offer in [Offer::Json, Offer::Text] {
            let [few, many] = [&few, &many].map(|problem| problem.document(offer, "/solve", "abc"));
            assert!(matches!((&few, &many), (Written::Whole(_), Written::Long(_))));
            assert_eq!(taken(many.between("<", ">")).await, taken(few.between("<", ">")).await);
        }
    }

    #[tokio::test]
    async fn a_long_answer_is_held_until_its_body_is_dropped() {
        let (service, (puzzle, report)) = (service(), report(Algorithm::DepthFirst, true, 0));
        let held = held_if_long(&service, &puzzle, &report).unwrap().expect("a long one");
        let (frame, _) = SolveReply::frame(&puzzle, &report).unwrap();
        let mut body = LongReply::solved(&frame, held, Offer::Json).body();
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
    fn a_short_answer_is_not_held() {
        let (service, (puzzle, report)) = (service(), report(Algorithm::BreadthFirst, true, 50));
        assert!(held_if_long(&service, &puzzle, &report).unwrap().is_none());
        assert_eq!(service.reply_bytes(), 0);
    }
}
