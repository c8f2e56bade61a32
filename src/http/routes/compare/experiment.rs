//! Experiments: several boards, each solved by several methods.

use std::fmt;

use taquin_bulk::fields::ListedBoard;
use taquin_bulk::{Draw, Seeds};
use taquin_solver::{Board, Limits, Puzzle, SearchRequest, Size};
use tokio::time::{Instant, timeout_at};

use super::figures::MethodFigures;
use super::method::Method;
use super::rows::{Measured, RowReply};
use crate::http::media_type::MediaType;
use crate::http::problem::{Problem, ProblemKind};
use crate::http::reply::{Rows, service_failure, text_or_json};
use crate::http::routes::random::draw_failure;
use crate::service::Service;

/// The boards of an experiment, and what its response has.
#[derive(Clone, Debug)]
pub(super) struct Experiment {
    pub(super) goal: Board,
    pub(super) boards: Boards,
    /// True if the response has a row for each board and method.
    pub(super) has_rows: bool,
}

/// The source of the boards.
#[derive(Clone, Debug)]
pub(super) enum Boards {
    /// Random boards.
    Random {
        count: usize,
        seed: String,
        how: Draw,
        /// The lengths as requested.
        length: Option<String>,
    },
    /// The boards of the request.
    Listed(Vec<ListedBoard>),
}

/// Response with the figures of each method.
#[derive(Debug, serde::Serialize)]
pub(super) struct ExperimentReply {
    boards: BoardsReply,
    goal: Rows,
    results: Vec<MethodFigures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<Vec<RowReply>>,
}

#[derive(Debug, serde::Serialize)]
struct BoardsReply {
    rows: usize,
    cols: usize,
    count: usize,
    seed: Option<String>,
    length: Option<String>,
    /// Number of boards of the request from which the goal cannot be reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    unsolvable: Option<usize>,
}

/// Solves the boards one after another, each by every method. Returns the response, and whether an equal request gets
/// an equal response except for times. Dropping the future cancels the running search.
///
/// # Errors
/// The problem of a draw, of a service without capacity, or of a comparison without rows that takes too long.
pub(super) async fn run(
    service: &Service,
    experiment: &Experiment,
    methods: &[Method],
) -> Result<(ExperimentReply, bool), Problem> {
    let Experiment { goal, has_rows, .. } = experiment;
    let deadline = Instant::now() + service.settings().max_time;
    let boards = experiment.draw(service).await?;
    let mut measuring = Measuring::new(service, *goal, methods, deadline);
    for listed in &boards {
        measuring.measure(listed, *has_rows).await?;
        // Searches of small boards and cached searches never wait.
        tokio::task::yield_now().await;
    }
    let Measuring { measured, is_repeatable, .. } = measuring;
    let results = methods.iter().zip(&measured).map(|(method, measured)| MethodFigures::new(method, measured));
    let rows = has_rows.then(|| rows(&boards, methods, &measured));
    let reply = ExperimentReply {
        boards: BoardsReply::new(experiment, &boards),
        goal: Rows(*goal),
        results: results.collect(),
        rows,
    };
    Ok((reply, is_repeatable))
}

/// The rows, board by board.
fn rows(boards: &[ListedBoard], methods: &[Method], measured: &[Vec<Measured>]) -> Vec<RowReply> {
    let of_board = |(index, listed)| {
        let methods = methods.iter().zip(measured).enumerate();
        methods.map(move |(at, (method, measured))| RowReply::new((index, listed), (at, method), measured[index]))
    };
    boards.iter().enumerate().flat_map(of_board).collect()
}

/// The measurements of an experiment so far.
struct Measuring<'a> {
    service: &'a Service,
    goal: Board,
    methods: &'a [Method],
    /// By method.
    limits: Vec<Limits>,
    deadline: Instant,
    /// By method, and by board.
    measured: Vec<Vec<Measured>>,
    is_repeatable: bool,
}

impl<'a> Measuring<'a> {
    fn new(service: &'a Service, goal: Board, methods: &'a [Method], deadline: Instant) -> Self {
        let limits = methods.iter().map(|method| service.limits(goal.size(), &method.plan, method.limits)).collect();
        let measured = vec![Vec::new(); methods.len()];
        Self { service, goal, methods, limits, deadline, measured, is_repeatable: true }
    }

    /// Solves a board by every method. If the time of the comparison ends, the rest is measured as too late, or is a
    /// problem unless `accepts_late`.
    async fn measure(&mut self, listed: &ListedBoard, accepts_late: bool) -> Result<(), Problem> {
        let Ok(puzzle) = Puzzle::try_new(listed.board, self.goal) else {
            self.measured.iter_mut().for_each(|measured| measured.push(Measured::unsolvable()));
            return Ok(());
        };
        for (at, (method, limits)) in self.methods.iter().zip(&self.limits).enumerate() {
            let job = SearchRequest::new(puzzle, method.plan, *limits);
            // Past the deadline no search is submitted, also none that is answered at once.
            let answer = if Instant::now() < self.deadline {
                timeout_at(self.deadline, self.service.submit_logged(job)).await.ok()
            } else {
                None
            };
            let measured = match answer {
                Some(answer) => {
                    let answer = answer.map_err(|error| service_failure(&error).within(&format!("/methods/{at}")))?;
                    self.is_repeatable &= answer.report.is_repeatable();
                    Measured::of(&answer.report)
                }
                None if accepts_late => {
                    self.is_repeatable = false;
                    Measured::too_late()
                }
                None => return Err(self.too_long()),
            };
            self.measured[at].push(measured);
        }
        Ok(())
    }

    /// The problem of a comparison that exceeds the time limit of a search.
    fn too_long(&self) -> Problem {
        let detail = format!(
            "The experiment took longer than {} s, the longest time of a search. Use fewer boards, a lower \
             `limits.time_ms` for each search, or `\"include\": [\"rows\"]` for the searches that end in time.",
            self.service.settings().max_time.as_secs_f64()
        );
        Problem::new(ProblemKind::SearchLimitExceeded, detail).with_member("limit", "time")
    }
}

impl Experiment {
    /// Number of boards.
    pub(super) fn count(&self) -> usize {
        match &self.boards {
            Boards::Random { count, .. } => *count,
            Boards::Listed(boards) => boards.len(),
        }
    }

    /// The boards of the request, or random ones.
    async fn draw(&self, service: &Service) -> Result<Vec<ListedBoard>, Problem> {
        let (count, seed, how) = match &self.boards {
            Boards::Random { count, seed, how, .. } => (*count, seed, how),
            Boards::Listed(boards) => return Ok(boards.clone()),
        };
        let drawn = service
            .draw(self.goal, how.clone(), Seeds::numbered(seed, count))
            .await
            .map_err(|error| service_failure(&error))?;
        let drawn = drawn.map_err(|error| draw_failure(&error, how).within("/boards"))?;
        Ok(drawn.into_iter().map(|drawn| ListedBoard { id: None, board: drawn.board }).collect())
    }
}

impl BoardsReply {
    fn new(experiment: &Experiment, boards: &[ListedBoard]) -> Self {
        let (size, count) = (experiment.goal.size(), boards.len());
        let (rows, cols) = (size.rows(), size.cols());
        match &experiment.boards {
            Boards::Random { seed, length, .. } => {
                Self { rows, cols, count, seed: Some(seed.clone()), length: length.clone(), unsolvable: None }
            }
            Boards::Listed(_) => {
                let is_unsolvable = |listed: &&ListedBoard| Puzzle::try_new(listed.board, experiment.goal).is_err();
                let unsolvable = Some(boards.iter().filter(is_unsolvable).count());
                Self { rows, cols, count, seed: None, length: None, unsolvable }
            }
        }
    }
}

impl ExperimentReply {
    /// Serializes the reply. CSV has the rows if they are requested, and the figures otherwise.
    pub(super) fn to_bytes(&self, media_type: MediaType, read_as: Option<&str>) -> Vec<u8> {
        match (media_type, &self.rows) {
            (MediaType::Csv, None) => {
                let lines = self.results.iter().map(|result| result.csv(self.boards.count));
                csv(MethodFigures::csv_names(), lines)
            }
            (MediaType::Csv, Some(rows)) => csv(RowReply::csv_names(), rows.iter().map(RowReply::csv)),
            _ => text_or_json(media_type, self, read_as),
        }
    }

    /// Clears the elapsed times of all searches.
    pub(super) fn clear_times(&mut self) {
        self.results.iter_mut().for_each(|result| result.elapsed_us = None);
        self.rows.iter_mut().flatten().for_each(RowReply::clear_time);
    }
}

/// Writes lines after a line of names (RFC 4180).
fn csv(names: String, lines: impl Iterator<Item = String>) -> Vec<u8> {
    let mut csv = names + "\r\n";
    for line in lines {
        csv += &line;
        csv += "\r\n";
    }
    csv.into_bytes()
}

/// Text for a terminal: a line for each method, with means, then the rows.
impl fmt::Display for ExperimentReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BoardsReply { rows, cols, count, seed, unsolvable, .. } = &self.boards;
        let size = Size::try_from((*rows, *cols)).map_or_else(|_| String::new(), |size| size.to_string());
        write!(f, "{count} boards of {size}")?;
        seed.as_ref().map_or(Ok(()), |seed| write!(f, ", seed {seed}"))?;
        unsolvable.filter(|unsolvable| *unsolvable > 0).map_or(Ok(()), |n| write!(f, ", {n} of them unsolvable"))?;
        writeln!(f, "; means of the solved ones\n")?;
        let names = self.results.iter().map(|result| result.method.to_string().chars().count());
        let width = names.max().unwrap_or(0).max("method".len());
        writeln!(f, "{}", MethodFigures::names(width))?;
        self.results.iter().try_for_each(|result| writeln!(f, "{}", result.line(width)))?;
        let Some(rows) = &self.rows else { return Ok(()) };
        writeln!(f)?;
        rows.iter().try_for_each(|row| writeln!(f, "{row}"))
    }
}
