//! The writer of `/solve` responses: whole, or in pieces as the client reads (docs/adr/0031).
//!
//! A response is a sequence of sections: texts, and lists of the report such as the moves. One function a format
//! produces them. A [`Sink`] writes them at once or stores them.

use std::collections::VecDeque;
use std::fmt::Display;
use std::io::Write;

use serde::Serialize;

use super::json::{CAPACITY, put_figures, put_json, put_lengths, put_percentile, put_proven_length, raw, run, tile};
use super::solution::{
    ExpansionReply, GeneratedReply, IterationReply, LengthsReply, ProvenLength, SolutionsReply, SolveReply, StateReply,
};
use crate::domain::{Board, Run};
use crate::http::media_type::MediaType;
use crate::http::payload::{PIECE, Payload, Pieces};
use crate::search::{Expansions, GeneratedNodes};
use crate::service::{HeldReport, Report};

/// Writes the whole response.
pub(crate) fn whole(reply: &SolveReply, report: &Report, format: MediaType) -> Vec<u8> {
    let mut sink = Whole { report, format, text: Vec::with_capacity(CAPACITY) };
    sections(&mut sink, reply, report, format);
    sink.text
}

/// Writes only the recorded lists of the report that are not empty, as members in JSON.
pub(crate) fn whole_lists(report: &Report, format: MediaType) -> Vec<u8> {
    let mut sink = Whole { report, format, text: Vec::new() };
    recorded_sections(&mut sink, report, format);
    sink.text
}

/// True if a recorded list of the report has entries.
pub(crate) fn has_lists(report: &Report) -> bool {
    RECORDED.iter().any(|(_, list)| list.length(report).is_some_and(|length| length > 0))
}

/// Returns the response as pieces, which are written while the client reads.
pub(crate) fn in_pieces(reply: &SolveReply, report: HeldReport, format: MediaType) -> Payload {
    let mut parts = Parts::default();
    sections(&mut parts, reply, &report, format);
    LongReply::of(report, format, parts)
}

/// Writes the JSON of a response with empty lists.
pub(crate) fn outline(reply: &SolveReply) -> Vec<u8> {
    let mut sink = Outline(Vec::with_capacity(CAPACITY));
    solved_sections(&mut sink, reply);
    sink.text(|json| raw(json, "}"));
    sink.0
}

fn sections(sink: &mut impl Sink, reply: &SolveReply, report: &Report, format: MediaType) {
    match format {
        MediaType::Text => text_sections(sink, reply, report),
        _ => json_sections(sink, reply, report),
    }
}

fn json_sections(sink: &mut impl Sink, reply: &SolveReply, report: &Report) {
    solved_sections(sink, reply);
    if !report.heights.is_empty() {
        sink.text(|json| raw(json, ",\"states\":["));
        sink.list(List::States(reply.start.0));
        sink.text(|json| raw(json, "]"));
    }
    for (name, list) in RECORDED {
        if list.length(report).is_some() {
            sink.text(|json| put(json, &format_args!(",\"{name}\":[")));
            sink.list(list);
            sink.text(|json| raw(json, "]"));
        }
    }
    if let Some(solutions) = &report.solutions {
        sink.text(|json| {
            raw(json, ",\"solutions\":");
            put_json(json, &SolutionsReply::from(solutions));
        });
    }
    sink.text(|json| raw(json, "}"));
}

fn solved_sections(sink: &mut impl Sink, reply: &SolveReply) {
    sink.text(|json| {
        put_proven_length(json, reply.proven);
        put_percentile(json, reply.percentile);
    });
    move_sections(sink, reply.lengths);
    sink.text(|json| put_figures(json, reply));
}

/// Produces the recorded lists of the report that are not empty: in JSON as members, separated by commas.
fn recorded_sections(sink: &mut impl Sink, report: &Report, format: MediaType) {
    let lists = RECORDED.into_iter().filter(|(_, list)| list.length(report).is_some_and(|length| length > 0));
    for (nth, (name, list)) in lists.enumerate() {
        let separator = if nth > 0 { "," } else { "" };
        if format != MediaType::Text {
            sink.text(|json| put(json, &format_args!("{separator}\"{name}\":[")));
        }
        sink.list(list);
        if format != MediaType::Text {
            sink.text(|json| raw(json, "]"));
        }
    }
}

/// Produces the moves of a solution in every notation.
fn move_sections(sink: &mut impl Sink, lengths: LengthsReply) {
    sink.text(|json| raw(json, ",\"moves\":\""));
    sink.list(List::Moves);
    sink.text(|json| raw(json, "\",\"tiles\":["));
    sink.list(List::Tiles);
    sink.text(|json| {
        raw(json, "]");
        put_lengths(json, lengths);
        raw(json, ",\"alg\":\"");
    });
    sink.list(List::Alg);
    sink.text(|json| raw(json, "\",\"scramble\":\""));
    sink.list(List::Scramble);
    sink.text(|json| raw(json, "\""));
}

fn text_sections(sink: &mut impl Sink, reply: &SolveReply, report: &Report) {
    sink.text(|text| put(text, &reply.summary()));
    if reply.proven.length > 0 {
        sink.text(|text| raw(text, "Blank: "));
        sink.list(List::Moves);
        sink.text(|text| raw(text, "\nTiles: "));
        sink.list(List::Tiles);
        sink.text(|text| raw(text, "\nAlg:   "));
        sink.list(List::Alg);
        sink.text(|text| raw(text, "\n"));
    }
    match report.heights.is_empty() {
        true => sink.text(|text| put(text, &reply.ending())),
        false => sink.list(List::States(reply.start.0)),
    }
    for (_, list) in RECORDED {
        if list.length(report).is_some() {
            sink.text(|text| raw(text, "\n"));
            sink.list(list);
        }
    }
    if let Some(solutions) = &report.solutions {
        sink.text(|text| put(text, &format_args!("\n{}", SolutionsReply::from(solutions))));
    }
    sink.text(|text| put(text, &format_args!("\n{}", reply.search)));
}

/// Receiver of the sections of a response.
trait Sink {
    /// Adds a text, which `write` appends to a buffer.
    fn text(&mut self, write: impl FnOnce(&mut Vec<u8>));
    /// Adds a list of the report.
    fn list(&mut self, list: List);
}

/// A sink that writes each section at once.
struct Whole<'r> {
    report: &'r Report,
    format: MediaType,
    text: Vec<u8>,
}

/// A sink that writes texts and omits lists.
struct Outline(Vec<u8>);

/// A sink that stores the sections.
#[derive(Default, Debug)]
struct Parts(VecDeque<Part>);

impl Sink for Whole<'_> {
    #[inline]
    fn text(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.text);
    }

    #[inline]
    fn list(&mut self, mut list: List) {
        list.write(self.report, self.format, 0, &mut self.text, usize::MAX);
    }
}

impl Sink for Outline {
    fn text(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.0);
    }

    fn list(&mut self, _: List) {}
}

impl Sink for Parts {
    fn text(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        if let Some(Part::Text(text)) = self.0.back_mut() {
            return write(text);
        }
        let mut text = Vec::new();
        write(&mut text);
        self.0.push_back(Part::Text(text));
    }

    fn list(&mut self, list: List) {
        self.0.push_back(Part::List(list));
    }
}

/// A response that is written in pieces.
#[derive(Debug)]
pub(crate) struct LongReply {
    report: HeldReport,
    format: MediaType,
    parts: Parts,
    /// Index of the next entry in the first part, if that is a list.
    at: usize,
}

#[derive(Debug)]
enum Part {
    Text(Vec<u8>),
    List(List),
}

/// A list of the report, which is written entry by entry.
#[derive(Debug)]
enum List {
    Moves,
    Tiles,
    /// The runs of the moves, as tiles slide. Its index counts moves.
    Alg,
    /// The runs of the way back. Its index counts moves from the end.
    Scramble,
    /// The states of the solution path; holds the board of the next entry.
    States(Board),
    Expansions,
    Generated,
    Iterations,
}

/// The lists that a search records, by member.
const RECORDED: [(&str, List); 3] =
    [("expansions", List::Expansions), ("generated_nodes", List::Generated), ("iterations", List::Iterations)];

impl LongReply {
    fn of(report: HeldReport, format: MediaType, parts: Parts) -> Payload {
        Payload::Pieces(Box::new(Self { report, format, parts, at: 0 }))
    }

    /// Creates the JSON of a `solution` event.
    pub(crate) fn interim(report: HeldReport, proven: ProvenLength, lengths: LengthsReply, elapsed_us: u64) -> Payload {
        let mut parts = Parts::default();
        parts.text(|json| put_proven_length(json, proven));
        move_sections(&mut parts, lengths);
        parts.text(|json| put(json, &format_args!(",\"elapsed_us\":{elapsed_us}}}")));
        Self::of(report, MediaType::Json, parts)
    }

    /// Returns only the recorded lists of the report that are not empty, as members in JSON.
    pub(crate) fn lists(report: HeldReport, format: MediaType) -> Payload {
        let mut parts = Parts::default();
        recorded_sections(&mut parts, &report, format);
        Self::of(report, format, parts)
    }
}

impl Pieces for LongReply {
    fn write(&mut self, piece: &mut Vec<u8>) {
        while piece.len() < PIECE {
            let Self { report, format, parts, at } = self;
            match parts.0.front_mut() {
                None => break,
                Some(Part::Text(text)) => piece.append(text),
                Some(Part::List(list)) => {
                    *at = list.write(report, *format, *at, piece, PIECE);
                    if piece.len() >= PIECE {
                        break;
                    }
                }
            }
            parts.0.pop_front();
            *at = 0;
        }
    }
}

impl List {
    /// Number of entries of a recorded list; `None` if it was not requested.
    fn length(&self, report: &Report) -> Option<usize> {
        match self {
            Self::Moves | Self::Tiles | Self::Alg | Self::Scramble | Self::States(_) => None,
            Self::Expansions => report.expansions.as_ref().map(Expansions::len),
            Self::Generated => report.generated.as_ref().map(GeneratedNodes::len),
            Self::Iterations => report.iterations.as_ref().map(Vec::len),
        }
    }

    /// Appends the entries from an index on, until the text has `limit` bytes or the list ends. Returns the index of the
    /// next entry.
    #[inline]
    fn write(&mut self, report: &Report, format: MediaType, from: usize, text: &mut Vec<u8>, limit: usize) -> usize {
        let (moves, tiles) =
            report.solution.as_ref().map_or((&[][..], &[][..]), |found| (found.path.moves(), &found.tiles));
        let is_text = format == MediaType::Text;
        match self {
            Self::Moves => {
                append(text, limit, from, moves.iter().skip(from), |text, _, mv| text.push(mv.letter() as u8))
            }
            Self::Tiles => append(text, limit, from, tiles.iter().skip(from), |text, at, number| {
                separate(text, at, if is_text { b' ' } else { b',' });
                tile(text, *number);
            }),
            Self::Alg => append_runs(text, limit, from, Run::of(&moves[from..])),
            Self::Scramble => {
                append_runs(text, limit, from, Run::of(&moves[..moves.len() - from]).rev().map(Run::inverse))
            }
            Self::States(board) => append(text, limit, from, report.heights.iter().skip(from), |text, at, h| {
                let mv = at.checked_sub(1).and_then(|before| moves.get(before).copied());
                let step = mv.and_then(|mv| Some((mv, board.make(mv)?)));
                let state = StateReply::new(report, step, *board, at as u32, *h);
                if !is_text {
                    separate(text, at, b',');
                    put_json(text, &state);
                } else if at > 0 {
                    // The summary shows the start.
                    put(text, &state);
                }
            }),
            Self::Expansions => write_expansions(report, is_text, from, text, limit),
            Self::Generated => {
                let nodes = report.generated.iter().flat_map(|all| all.starting_at(from));
                let nodes = nodes.zip(from..).map(|(node, at)| GeneratedReply::new(at, &node));
                append(text, limit, from, nodes, |text, at, node| put_entry(text, is_text, at, &node))
            }
            Self::Iterations => {
                let iterations = report.iterations.iter().flatten().skip(from).map(IterationReply::from);
                append(text, limit, from, iterations, |text, at, counts| put_entry(text, is_text, at, &counts))
            }
        }
    }
}

/// Appends the expansions of a report from an index on, as [`List::write`] does.
fn write_expansions(report: &Report, is_text: bool, from: usize, text: &mut Vec<u8>, limit: usize) -> usize {
    let expansions = report.expansions.iter().flat_map(|all| all.starting_at(from));
    append(text, limit, from, expansions, |text, at, expansion| {
        let expansion = ExpansionReply::from(&expansion);
        if is_text {
            put(text, &expansion.line(at));
        } else {
            separate(text, at, b',');
            put_json(text, &expansion);
        }
    })
}

/// Appends an entry of a list: a line of text, or JSON.
fn put_entry(text: &mut Vec<u8>, is_text: bool, at: usize, entry: &(impl Display + Serialize)) {
    if is_text {
        put(text, entry);
    } else {
        separate(text, at, b',');
        put_json(text, entry);
    }
}

/// Appends the entries of a list from an index on, as [`List::write`] does.
#[inline]
fn append<T>(
    text: &mut Vec<u8>,
    limit: usize,
    from: usize,
    mut entries: impl Iterator<Item = T>,
    mut write: impl FnMut(&mut Vec<u8>, usize, T),
) -> usize {
    let mut at = from;
    while text.len() < limit
        && let Some(entry) = entries.next()
    {
        write(text, at, entry);
        at += 1;
    }
    at
}

/// Appends runs until the text has `limit` bytes or they end. Returns the number of moves written, `from` included.
#[inline]
fn append_runs(text: &mut Vec<u8>, limit: usize, from: usize, mut runs: impl Iterator<Item = Run>) -> usize {
    let mut at = from;
    while text.len() < limit
        && let Some(next) = runs.next()
    {
        run(text, next);
        at += next.length;
    }
    at
}

fn separate(text: &mut Vec<u8>, at: usize, separator: u8) {
    if at > 0 {
        text.push(separator);
    }
}

fn put(text: &mut Vec<u8>, entry: &impl Display) {
    write!(text, "{entry}").expect("writing to memory does not fail");
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use http_body_util::BodyExt;

    use super::*;
    use crate::domain::{Encoding, Puzzle, RawBoard, Sides};
    use crate::http::reply::{LimitsReply, MovesReply, Rows, SearchReply, limit_exceeded_with_lists};
    use crate::http::tests::service;
    use crate::search::{Algorithm, StopReason};
    use crate::service::{Job, Limits, Plan, Records, RequestedSolutions, SearchContext, SearchOptions, Tables, solve};

    /// Returns a puzzle and the report of a search on it.
    pub(crate) fn report(algorithm: Algorithm, states: bool, expansions: usize) -> (Puzzle, Arc<Report>) {
        let start = RawBoard::parse("8 6 7/2 5 4/3 0 1").board(Sides::default(), Encoding::Tiles).unwrap();
        let puzzle = Puzzle::try_new(start, Board::blank_last(start.size())).unwrap();
        let options = SearchOptions { algorithm: Some(algorithm), ..SearchOptions::default() };
        let plan = Plan::try_new(&options, start.size()).unwrap();
        let limits = Limits { time: Duration::from_secs(60), expanded: 1_000_000, nodes: 1_000_000 };
        let records = Records { expansions, generated: expansions, states, ..Records::default() };
        let job = Job { records, ..Job::new(puzzle, plan, limits) };
        (puzzle, Arc::new(solve(&job, &Tables::default(), SearchContext::default()).unwrap()))
    }

    async fn text_of(payload: Payload) -> String {
        let body = payload.body().collect().await.unwrap().to_bytes();
        String::from_utf8(body.to_vec()).unwrap()
    }

    #[tokio::test]
    async fn pieces_and_the_whole_have_the_same_bytes() {
        let service = service();
        for (algorithm, states, expansions) in [
            (Algorithm::DepthFirst, false, 0),
            (Algorithm::DepthFirst, true, 0),
            (Algorithm::DepthFirst, true, 7),
            (Algorithm::BreadthFirst, false, 900),
        ] {
            let (puzzle, report) = report(algorithm, states, expansions);
            let (reply, _) = SolveReply::new(&puzzle, &report).unwrap();
            for media_type in [MediaType::Json, MediaType::Text] {
                let long = in_pieces(&reply, service.hold(&report).unwrap(), media_type);
                assert_eq!(
                    text_of(long).await.into_bytes(),
                    whole(&reply, &report, media_type),
                    "{algorithm:?} {media_type:?}"
                );
            }
        }
    }

    #[tokio::test]
    async fn a_problem_written_in_pieces_has_the_same_bytes() {
        let (service, (_, report)) = (service(), report(Algorithm::BreadthFirst, false, 300));
        let stopped = Arc::new(Report { stopped: Some(StopReason::Expanded), ..Report::clone(&report) });
        let held = service.hold(&stopped).unwrap();
        let few = limit_exceeded_with_lists(&stopped, None, StopReason::Expanded);
        let many = limit_exceeded_with_lists(&stopped, Some(held), StopReason::Expanded);
        for media_type in [MediaType::Json, MediaType::Text] {
            let [few, many] = [&few, &many].map(|problem| problem.document(media_type, "/solve", "abc"));
            assert!(matches!((&few, &many), (Payload::Whole(_), Payload::Pieces(_))));
            assert_eq!(text_of(many.between("<", ">")).await, text_of(few.between("<", ">")).await);
        }
    }

    /// The response as serde writes it.
    #[derive(serde::Serialize)]
    struct Expected<'r> {
        #[serde(flatten)]
        proven: ProvenLength,
        percentile: Option<f64>,
        #[serde(flatten)]
        moves: MovesReply<'r>,
        start: Rows,
        goal: Rows,
        search: &'r SearchReply,
        limits: &'r LimitsReply,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        states: Vec<StateReply>,
        #[serde(skip_serializing_if = "Option::is_none")]
        expansions: Option<Vec<ExpansionReply>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        generated_nodes: Option<Vec<GeneratedReply>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        iterations: Option<Vec<IterationReply>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        solutions: Option<SolutionsReply>,
    }

    fn expected(puzzle: &Puzzle, report: &Report) -> String {
        let (reply, solution) = SolveReply::new(puzzle, report).unwrap();
        let start = (None, *puzzle.start());
        let steps = solution.path.steps(puzzle.start()).map(|step| (Some((step.mv, step.tile)), step.board));
        let boards = std::iter::once(start).chain(steps).zip(&report.heights);
        let state = |(g, ((step, board), h)): (u32, (_, &u32))| StateReply::new(report, step, board, g, *h);
        let SolveReply { proven, percentile, start, goal, search, limits, .. } = &reply;
        let expected = Expected {
            proven: *proven,
            percentile: *percentile,
            moves: MovesReply::new(&solution.path, &solution.tiles),
            start: *start,
            goal: *goal,
            search,
            limits,
            states: (0..).zip(boards).map(state).collect(),
            expansions: report
                .expansions
                .as_ref()
                .map(|list| list.iter().map(|expansion| ExpansionReply::from(&expansion)).collect()),
            generated_nodes: report
                .generated
                .as_ref()
                .map(|list| list.iter().enumerate().map(|(id, node)| GeneratedReply::new(id, &node)).collect()),
            iterations: report.iterations.as_ref().map(|list| list.iter().map(IterationReply::from).collect()),
            solutions: report.solutions.as_ref().map(SolutionsReply::from),
        };
        serde_json::to_string(&expected).unwrap()
    }

    fn check(start: &str, algorithm: Option<Algorithm>, detail: bool) {
        let start = RawBoard::parse(start).board(Sides::default(), Encoding::Tiles).unwrap();
        let puzzle = Puzzle::try_new(start, Board::blank_last(start.size())).unwrap();
        let plan = Plan::try_new(&SearchOptions { algorithm, ..SearchOptions::default() }, start.size()).unwrap();
        let limits = Limits { time: Duration::from_secs(9), expanded: 100_000, nodes: (1 << 53) - 1 };
        let listed = if detail { 9 } else { 0 };
        let solutions = detail.then_some(RequestedSolutions { most: 3, counts: true });
        let solutions = solutions.filter(|_| algorithm.is_none());
        let records = Records { expansions: listed, generated: listed, iterations: detail, states: detail, solutions };
        let job = Job { records, ..Job::new(puzzle, plan, limits) };
        let report = solve(&job, &Tables::default(), SearchContext::default()).unwrap();
        let (reply, _) = SolveReply::new(&puzzle, &report).unwrap();
        let text = String::from_utf8(whole(&reply, &report, MediaType::Json)).unwrap();
        assert_eq!(text, expected(&puzzle, &report));
    }

    #[test]
    fn a_whole_response_has_the_bytes_that_serde_writes() {
        for start in ["8 6 7/2 5 4/3 0 1", "1 2 3/4 5 6/7 8 0", "1 2/0 3", "1 2 3 4/5 6 7 8/9 10 11 12/13 0 14 15"] {
            check(start, None, false);
            check(start, None, true);
        }
        let large: Vec<String> = (1..100).map(|tile| tile.to_string()).collect();
        let large = format!("{} 0 99", large[..98].join(" "));
        let rows: Vec<String> = large.split(' ').collect::<Vec<_>>().chunks(10).map(|row| row.join(" ")).collect();
        check(&rows.join("/"), Some(Algorithm::Constructive), true);
        check("1 2 3/4 5 6/0 7 8", Some(Algorithm::BreadthFirst), true);
    }
}
