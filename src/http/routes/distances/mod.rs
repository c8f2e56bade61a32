//! `/distances`: how many boards have each optimal length.

use std::fmt::{self, Write};
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, Method};
use axum::response::Response;
use taquin_bulk::fields::goal_alone;
use taquin_bulk::{FieldError, sentence};
use taquin_solver::search::Distribution;
use taquin_solver::{Board, Metric, Named};

use crate::http::media_type::MediaType;
use crate::http::negotiation::{Document, choose};
use crate::http::problem::{Problem, ProblemKind};
use crate::http::reply::{Rows, picture, service_failure, text_or_json};
use crate::http::request::RequestFields;
use crate::service::Service;

const FIELDS: [&str; 4] = ["rows", "cols", "goal", "metric"];

/// Width of the longest bar in text, in characters.
const BAR: f64 = 40.0;

#[derive(Debug, serde::Serialize)]
struct DistancesReply<'t> {
    rows: usize,
    cols: usize,
    goal: Rows,
    metric: &'static str,
    boards: u64,
    max_length: u32,
    mean_length: f64,
    counts: &'t [u64],
    source: &'static str,
    #[serde(skip)]
    title: String,
    #[serde(skip)]
    distribution: Distribution<'t>,
}

/// A goal, the metric of the lengths, and the field that an error about the size concerns.
struct DistancesQuery {
    goal: Board,
    metric: Metric,
    sized_by: &'static str,
}

/// Handles GET and POST.
pub(crate) async fn distances(
    State(service): State<Arc<Service>>,
    method: Method,
    headers: HeaderMap,
    input: RequestFields,
) -> Result<Response, Problem> {
    let media_type = choose(&headers, &[MediaType::Json, MediaType::Text, MediaType::Csv, MediaType::Svg])?;
    let query = DistancesQuery::read(input)?;
    let distribution =
        service.distribution(query.metric, &query.goal).await.map_err(|error| service_failure(&error))?;
    let reply = DistancesReply::new(&query, distribution.ok_or_else(|| query.unknown())?);
    let body = match media_type {
        MediaType::Csv => reply.csv().into_bytes(),
        MediaType::Svg => picture::of_distribution(&reply.title, &reply.distribution).into_bytes(),
        _ => text_or_json(media_type, &reply, None),
    };
    let document = Document::new(media_type.content_type(), Document::AN_HOUR, body);
    Ok(document.response_to(&method, &headers))
}

impl DistancesQuery {
    fn read(input: RequestFields) -> Result<Self, Problem> {
        let mut fields = input.reader(&FIELDS);
        let sized_by = ["rows", "cols"].into_iter().find(|name| fields.has(name)).unwrap_or("goal");
        let metric = fields.choice("metric", None).unwrap_or_default();
        let goal = goal_alone(&mut fields);
        Ok(Self { goal: fields.finish(goal)?, metric, sized_by })
    }

    fn title(&self) -> String {
        let metric = match self.metric {
            Metric::SingleTile => "",
            Metric::MultiTile => " in the multi-tile metric",
        };
        format!("Optimal lengths{metric} of {} boards with {}", self.goal.size(), place_of_blank(&self.goal))
    }

    /// The problem of a shape or a goal whose distribution is unknown.
    fn unknown(&self) -> Problem {
        let size = self.goal.size();
        let (field, what) = if Distribution::stored(self.metric, size, 0).is_some() {
            ("goal", format!("{size} boards with {}", place_of_blank(&self.goal)))
        } else {
            (self.sized_by, format!("{size} boards"))
        };
        let known = match self.metric {
            Metric::SingleTile => {
                "for boards of up to 12 cells, for 4×4 boards, and for 2×7, 2×8 and 3×5 boards with the blank's goal in a \
                 corner"
            }
            Metric::MultiTile => {
                "in the multi-tile metric for boards of up to 9 cells, and for boards of up to 16 cells with the blank's \
                 goal in a corner"
            }
        };
        let detail = format!("the number of boards at each length is known {known}, not for {what}");
        let error = FieldError::new(format!("/{field}"), "unsupported", detail.clone());
        Problem::new(ProblemKind::UnsupportedCombination, sentence(&detail)).with_errors(vec![error])
    }
}

/// The blank's goal, such as "the blank's goal in row 3, column 3".
fn place_of_blank(goal: &Board) -> String {
    let (row, col) = (goal.size().row_of(goal.blank()) + 1, goal.size().col_of(goal.blank()) + 1);
    format!("the blank's goal in row {row}, column {col}")
}

impl<'t> DistancesReply<'t> {
    fn new(query: &DistancesQuery, distribution: Distribution<'t>) -> Self {
        let goal = &query.goal;
        Self {
            rows: goal.size().rows(),
            cols: goal.size().cols(),
            goal: Rows(*goal),
            metric: query.metric.name(),
            boards: distribution.boards(),
            max_length: distribution.greatest(),
            mean_length: distribution.mean(),
            counts: distribution.counts(),
            source: distribution.source().name(),
            title: query.title(),
            distribution,
        }
    }

    /// Lines of length, boards and share of all boards.
    fn csv(&self) -> String {
        let mut csv = "length,boards,share\r\n".to_owned();
        for (length, boards) in self.counts.iter().enumerate() {
            // Writing to memory does not fail.
            let _ = write!(csv, "{length},{boards},{}\r\n", self.distribution.share(*boards));
        }
        csv
    }
}

/// Text for a terminal, with a bar for each length.
impl fmt::Display for DistancesReply<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { boards, max_length, mean_length, source, .. } = self;
        writeln!(f, "{}.", self.title)?;
        writeln!(f, "{boards} boards, at most {max_length} moves, {mean_length:.2} on average. Source: {source}.\n")?;
        let width = boards.to_string().len().max("boards".len());
        let most = self.counts.iter().max().copied().unwrap_or(1);
        writeln!(f, "moves  {:>width$}    share", "boards")?;
        for (length, boards) in self.counts.iter().enumerate() {
            let bar = "█".repeat((BAR * *boards as f64 / most as f64).round() as usize);
            let percent = 100.0 * self.distribution.share(*boards);
            writeln!(f, "{}", format!("{length:>5}  {boards:>width$}  {percent:>5.2} %  {bar}").trim_end())?;
        }
        Ok(())
    }
}
