//! The writer of `/solve` responses: whole, or in pieces as the client reads (docs/adr/0031).
//!
//! A response is a sequence of sections: texts, and lists of the report such as the moves. One function a format
//! produces them. A [`Sink`] writes them at once or stores them.

use std::collections::VecDeque;

use super::dot;
use super::json::{CAPACITY, put_figures, put_json, put_lengths, put_percentile, put_proven_length, raw};
use super::layout::Layout;
use super::lists::{List, RECORDED, put};
use super::path::PathForm;
use super::solution::{LengthsReply, ProvenLength, SolutionsReply, SolveReply};
use super::states::States;
use crate::http::media_type::MediaType;
use crate::http::payload::{PIECE, Payload, Pieces};
use crate::service::{HeldReport, Report};

/// Writes the whole response.
pub(crate) fn whole(reply: &SolveReply, report: &Report, layout: Layout) -> Vec<u8> {
    let mut sink = Whole { report, layout, text: Vec::with_capacity(CAPACITY) };
    sections(&mut sink, reply, report, layout);
    sink.text
}

/// Writes only the recorded lists of the report that are not empty, as members in JSON.
pub(crate) fn whole_lists(report: &Report, layout: Layout) -> Vec<u8> {
    let mut sink = Whole { report, layout, text: Vec::new() };
    recorded_sections(&mut sink, report, layout);
    sink.text
}

/// True if a recorded list of the report has entries.
pub(crate) fn has_lists(report: &Report) -> bool {
    RECORDED.iter().any(|(_, list)| list.length(report).is_some_and(|length| length > 0))
}

/// Returns the response as pieces, which are written while the client reads.
pub(crate) fn in_pieces(reply: &SolveReply, report: HeldReport, layout: Layout) -> Payload {
    let mut parts = Parts::default();
    sections(&mut parts, reply, &report, layout);
    LongReply::of(report, layout, parts)
}

/// Writes the JSON of a response with empty lists.
pub(crate) fn outline(reply: &SolveReply, layout: Layout) -> Vec<u8> {
    let mut sink = Outline(Vec::with_capacity(CAPACITY));
    solved_sections(&mut sink, reply, layout);
    sink.text(|json| raw(json, "}"));
    sink.0
}

fn sections(sink: &mut impl Sink, reply: &SolveReply, report: &Report, layout: Layout) {
    match layout.media_type {
        MediaType::Text => text_sections(sink, reply, report, layout),
        MediaType::Dot => dot_sections(sink, reply, report),
        _ => json_sections(sink, reply, report, layout),
    }
}

fn json_sections(sink: &mut impl Sink, reply: &SolveReply, report: &Report, layout: Layout) {
    solved_sections(sink, reply, layout);
    if !report.heights.is_empty() {
        sink.text(|json| raw(json, ",\"states\":["));
        sink.list(List::States(States::new(&reply.puzzle, report, layout)));
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

fn solved_sections(sink: &mut impl Sink, reply: &SolveReply, layout: Layout) {
    sink.text(|json| {
        put_proven_length(json, reply.proven);
        put_percentile(json, reply.percentile);
    });
    move_sections(sink, reply.lengths);
    sink.text(|json| put_figures(json, reply, layout.encoding));
}

/// Produces the recorded lists of the report that are not empty: in JSON as members, separated by commas.
fn recorded_sections(sink: &mut impl Sink, report: &Report, layout: Layout) {
    let lists = RECORDED.into_iter().filter(|(_, list)| list.length(report).is_some_and(|length| length > 0));
    for (nth, (name, list)) in lists.enumerate() {
        let separator = if nth > 0 { "," } else { "" };
        if !layout.is_text() {
            sink.text(|json| put(json, &format_args!("{separator}\"{name}\":[")));
        }
        sink.list(list);
        if !layout.is_text() {
            sink.text(|json| raw(json, "]"));
        }
    }
}

/// Produces the moves of a solution in every notation.
fn move_sections(sink: &mut impl Sink, lengths: LengthsReply) {
    sink.text(|json| raw(json, ",\"moves\":\""));
    sink.list(List::Path(PathForm::Moves));
    sink.text(|json| raw(json, "\",\"tiles\":["));
    sink.list(List::Path(PathForm::Tiles));
    sink.text(|json| {
        raw(json, "]");
        put_lengths(json, lengths);
        raw(json, ",\"alg\":\"");
    });
    sink.list(List::Path(PathForm::Alg));
    sink.text(|json| raw(json, "\",\"scramble\":\""));
    sink.list(List::Path(PathForm::Scramble));
    sink.text(|json| raw(json, "\""));
}

fn text_sections(sink: &mut impl Sink, reply: &SolveReply, report: &Report, layout: Layout) {
    sink.text(|text| put(text, &reply.summary()));
    if reply.proven.length > 0 {
        sink.text(|text| raw(text, "Blank: "));
        sink.list(List::Path(PathForm::Moves));
        sink.text(|text| raw(text, "\nTiles: "));
        sink.list(List::Path(PathForm::Tiles));
        sink.text(|text| raw(text, "\nAlg:   "));
        sink.list(List::Path(PathForm::Alg));
        sink.text(|text| raw(text, "\n"));
    }
    match report.heights.is_empty() {
        true => sink.text(|text| put(text, &reply.ending())),
        false => sink.list(List::States(States::new(&reply.puzzle, report, layout))),
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

fn dot_sections(sink: &mut impl Sink, reply: &SolveReply, report: &Report) {
    sink.text(|text| put(text, &dot::head(reply, report)));
    sink.list(List::Generated);
    if let Some(nodes) = &report.generated {
        sink.text(|text| put(text, &dot::tail(nodes)));
    }
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
    layout: Layout,
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
        list.write(self.report, self.layout, 0, &mut self.text, usize::MAX);
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
    layout: Layout,
    parts: Parts,
    /// Index of the next entry in the first part, if that is a list.
    at: usize,
}

#[derive(Debug)]
enum Part {
    Text(Vec<u8>),
    List(List),
}

impl LongReply {
    fn of(report: HeldReport, layout: Layout, parts: Parts) -> Payload {
        Payload::Pieces(Box::new(Self { report, layout, parts, at: 0 }))
    }

    /// Creates the JSON of a `solution` event.
    pub(crate) fn interim(report: HeldReport, proven: ProvenLength, lengths: LengthsReply, elapsed_us: u64) -> Payload {
        let mut parts = Parts::default();
        parts.text(|json| put_proven_length(json, proven));
        move_sections(&mut parts, lengths);
        parts.text(|json| put(json, &format_args!(",\"elapsed_us\":{elapsed_us}}}")));
        Self::of(report, Layout::of(MediaType::Json), parts)
    }

    /// Returns only the recorded lists of the report that are not empty, as members in JSON.
    pub(crate) fn lists(report: HeldReport, layout: Layout) -> Payload {
        let mut parts = Parts::default();
        recorded_sections(&mut parts, &report, layout);
        Self::of(report, layout, parts)
    }
}

impl Pieces for LongReply {
    fn write(&mut self, piece: &mut Vec<u8>) {
        while piece.len() < PIECE {
            let Self { report, layout, parts, at } = self;
            match parts.0.front_mut() {
                None => break,
                Some(Part::Text(text)) => piece.append(text),
                Some(Part::List(list)) => {
                    *at = list.write(report, *layout, *at, piece, PIECE);
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

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use http_body_util::BodyExt;

    use super::*;
    use crate::http::reply::layout::StateOrder;
    use crate::http::reply::notation::{EncodedBoard, Letter, Number};
    use crate::http::reply::solution::{ExpansionReply, GeneratedReply, IterationReply};
    use crate::http::reply::states::StateReply;
    use crate::http::reply::{LimitsReply, MovesReply, SearchReply, limit_exceeded_with_lists};
    use crate::http::tests::service;
    use crate::service::Tables;
    use taquin_solver::solver::solve;
    use taquin_solver::{
        Algorithm, Board, Control, Encoding, Limits, Move, Plan, Puzzle, RawBoard, Records, RequestedSolutions,
        SearchOptions, SearchRequest, Sides, StopReason, Tile,
    };

    /// Returns a puzzle and the report of a search on it.
    pub(crate) fn report(algorithm: Algorithm, states: bool, expansions: usize) -> (Puzzle, Arc<Report>) {
        let start = RawBoard::parse("8 6 7/2 5 4/3 0 1").board(Sides::default(), Encoding::Tiles).unwrap();
        let puzzle = Puzzle::try_new(start, Board::blank_last(start.size())).unwrap();
        let options = SearchOptions { algorithm: Some(algorithm), ..SearchOptions::default() };
        let plan = Plan::try_new(&options, start.size()).unwrap();
        let limits = Limits { time: Duration::from_secs(60), expanded: 1_000_000, nodes: 1_000_000 };
        let records = Records { expansions, generated: expansions, states, ..Records::default() };
        let job = SearchRequest { records, ..SearchRequest::new(puzzle, plan, limits) };
        (puzzle, Arc::new(Report::new(solve(&job, &Tables::default(), Control::default()).unwrap(), limits)))
    }

    /// Layouts in which each field has each of its values.
    fn layouts() -> [Layout; 4] {
        let [json, text] = [MediaType::Json, MediaType::Text].map(Layout::of);
        let order = StateOrder::GoalFirst;
        [json, Layout { encoding: Encoding::Positions, order, ..json }, text, Layout { width: 40, order, ..text }]
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
            for layout in layouts() {
                let long = in_pieces(&reply, service.hold(&report).unwrap(), layout);
                assert_eq!(
                    text_of(long).await.into_bytes(),
                    whole(&reply, &report, layout),
                    "{algorithm:?} {layout:?}"
                );
            }
        }
    }

    #[tokio::test]
    async fn a_problem_written_in_pieces_has_the_same_bytes() {
        let (service, (_, report)) = (service(), report(Algorithm::BreadthFirst, false, 300));
        let search = taquin_solver::Report { stopped: Some(StopReason::Expanded), ..report.search.clone() };
        let stopped = Arc::new(Report { search, ..*report });
        let held = service.hold(&stopped).unwrap();
        let layout = Layout { encoding: Encoding::Positions, ..Layout::of(MediaType::Json) };
        let few = limit_exceeded_with_lists(&stopped, None, StopReason::Expanded, layout);
        let many = limit_exceeded_with_lists(&stopped, Some(held), StopReason::Expanded, layout);
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
        start: EncodedBoard,
        goal: EncodedBoard,
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

    /// The states, each board made by its move from the one before.
    fn expected_states(puzzle: &Puzzle, report: &Report, layout: Layout) -> Vec<StateReply> {
        let solution = report.solution.as_ref().unwrap();
        let state = |g: usize, step: Option<(Move, Tile)>, board: Board| StateReply {
            mv: step.map(|(mv, _)| Letter(mv)),
            tile: step.map(|(_, tile)| tile),
            board: EncodedBoard { board, encoding: layout.encoding },
            g: g as u32,
            h: report.heights[g],
            f: Number(report.f(g as u32, report.heights[g])),
        };
        let mut states: Vec<StateReply> = Vec::new();
        if !report.heights.is_empty() {
            states.push(state(0, None, *puzzle.start()));
            let steps = solution.path.steps(puzzle.start()).zip(1..);
            states.extend(steps.map(|(step, g)| state(g, Some((step.mv, step.tile)), step.board)));
        }
        if layout.order == StateOrder::GoalFirst {
            states.reverse();
        }
        states
    }

    fn expected(puzzle: &Puzzle, report: &Report, layout: Layout) -> String {
        let (reply, solution) = SolveReply::new(puzzle, report).unwrap();
        let SolveReply { proven, percentile, search, limits, .. } = &reply;
        let encoding = layout.encoding;
        let expected = Expected {
            proven: *proven,
            percentile: *percentile,
            moves: MovesReply::new(&solution.path, &solution.tiles),
            start: EncodedBoard { board: *puzzle.start(), encoding },
            goal: EncodedBoard { board: *puzzle.goal(), encoding },
            search,
            limits,
            states: expected_states(puzzle, report, layout),
            expansions: report
                .expansions
                .as_ref()
                .map(|list| list.iter().map(|expansion| ExpansionReply::new(&expansion, encoding)).collect()),
            generated_nodes: report.generated.as_ref().map(|list| {
                list.iter().enumerate().map(|(id, node)| GeneratedReply::new(id, &node, encoding)).collect()
            }),
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
        let job = SearchRequest { records, ..SearchRequest::new(puzzle, plan, limits) };
        let report = Report::new(solve(&job, &Tables::default(), Control::default()).unwrap(), limits);
        let (reply, _) = SolveReply::new(&puzzle, &report).unwrap();
        for layout in layouts().into_iter().filter(|layout| !layout.is_text()) {
            let text = String::from_utf8(whole(&reply, &report, layout)).unwrap();
            assert_eq!(text, expected(&puzzle, &report, layout));
        }
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
