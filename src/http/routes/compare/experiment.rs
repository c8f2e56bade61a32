//! Experiments: many random boards, each solved by several methods.

use std::fmt;
use std::time::Duration;

use taquin_bulk::RequestedLimits;
use taquin_bulk::fields::puzzle;
use taquin_solver::{Board, Limits, Plan, SearchOptions, SearchRequest, Size};
use tokio::time::{Instant, timeout_at};

use super::reply::MethodReply;
use crate::http::media_type::MediaType;
use crate::http::problem::{Problem, ProblemKind};
use crate::http::reply::{Rows, SearchReply, service_failure, text_or_json};
use crate::http::routes::random::draw_failure;
use crate::service::{Answer, Draw, Service};

/// A method: its search options as requested, their plan, and its limits.
pub(super) struct Method {
    pub(super) options: SearchOptions,
    pub(super) plan: Plan,
    pub(super) limits: RequestedLimits,
}

/// The boards of an experiment.
#[derive(Clone, Debug)]
pub(super) struct Experiment {
    pub(super) goal: Board,
    pub(super) count: usize,
    pub(super) seed: String,
    pub(super) how: Draw,
    /// The lengths as requested.
    pub(super) length: Option<String>,
}

/// Response with the figures of each method.
#[derive(Debug, serde::Serialize)]
pub(super) struct ExperimentReply {
    boards: BoardsReply,
    goal: Rows,
    results: Vec<MethodFigures>,
}

#[derive(Debug, serde::Serialize)]
struct BoardsReply {
    rows: usize,
    cols: usize,
    count: usize,
    seed: String,
    length: Option<String>,
}

/// A method and its figures over the boards that it solved.
#[derive(Debug, serde::Serialize)]
struct MethodFigures {
    #[serde(flatten)]
    method: MethodReply,
    solved: usize,
    optimal_share: Option<f64>,
    length: Option<Figures>,
    expanded: Option<Figures>,
    generated: Option<Figures>,
    effective_branching_factor: Option<Figures>,
    elapsed_us: Option<Figures>,
}

/// Mean, median, minimum and maximum.
#[derive(Clone, Copy, Debug, serde::Serialize)]
struct Figures {
    mean: f64,
    median: f64,
    min: f64,
    max: f64,
}

/// Solves the boards one after another, each by every method. Returns the response, and whether an equal request gets
/// an equal response except for times. Dropping the future cancels the running search.
pub(super) async fn run(
    service: &Service,
    experiment: &Experiment,
    methods: &[Method],
) -> Result<(ExperimentReply, bool), Problem> {
    let Experiment { goal, count, seed, how, length } = experiment;
    let deadline = Instant::now() + service.settings().max_time;
    let seeds = (0..*count).map(|index| format!("{seed}/{index}")).collect();
    let drawn = service.draw(*goal, how.clone(), seeds).await.map_err(|error| service_failure(&error))?;
    let drawn = drawn.map_err(|error| draw_failure(&error, how).within("/boards"))?;
    let size = goal.size();
    let limits: Vec<Limits> = methods.iter().map(|method| service.limits(size, &method.plan, method.limits)).collect();
    let (mut samples, mut is_repeatable) = (vec![Vec::with_capacity(*count); methods.len()], true);
    for board in drawn {
        let puzzle = puzzle(board.board, *goal)?;
        for (at, (method, limits)) in methods.iter().zip(&limits).enumerate() {
            let job = SearchRequest::new(puzzle, method.plan, *limits);
            let answer = timeout_at(deadline, service.submit_logged(job))
                .await
                .map_err(|_| too_long(service.settings().max_time))?;
            let answer = answer.map_err(|error| service_failure(&error).within(&format!("/methods/{at}")))?;
            is_repeatable &= answer.report.is_repeatable();
            samples[at].extend(Sample::of(&answer));
        }
        // Searches of small boards and cached searches never wait.
        tokio::task::yield_now().await;
    }
    let results = methods.iter().zip(&samples).map(|(method, samples)| MethodFigures::new(method, samples));
    let boards =
        BoardsReply { rows: size.rows(), cols: size.cols(), count: *count, seed: seed.clone(), length: length.clone() };
    Ok((ExperimentReply { boards, goal: Rows(*goal), results: results.collect() }, is_repeatable))
}

/// The problem of an experiment that exceeds the time limit of a search.
fn too_long(time: Duration) -> Problem {
    let detail = format!(
        "The experiment took longer than {} s, the longest time of a search. Use fewer boards, or a lower `limits.time_ms` \
         for each search.",
        time.as_secs_f64()
    );
    Problem::new(ProblemKind::SearchLimitExceeded, detail).with_member("limit", "time")
}

/// The figures of one solved board.
#[derive(Clone, Copy)]
struct Sample {
    length: usize,
    optimal: bool,
    expanded: u64,
    generated: u64,
    effective_branching_factor: Option<f64>,
    elapsed_us: u64,
}

impl Sample {
    /// The figures of a search that met its requirement; `None` if a limit ended it.
    fn of(answer: &Answer) -> Option<Self> {
        let report = &answer.report;
        let solution = report.solution.as_ref().filter(|_| report.stopped.is_none())?;
        let length = solution.path.len();
        Some(Self {
            length,
            optimal: report.is_optimal(),
            expanded: report.stats.expanded,
            generated: report.stats.generated,
            effective_branching_factor: SearchReply::new(report).effective_branching_factor,
            elapsed_us: report.elapsed.as_micros() as u64,
        })
    }
}

impl MethodFigures {
    fn new(method: &Method, samples: &[Sample]) -> Self {
        let figures = |value: fn(&Sample) -> Option<f64>| Figures::of(samples.iter().filter_map(value).collect());
        let optimal = samples.iter().filter(|sample| sample.optimal).count();
        Self {
            method: MethodReply::new(&method.options),
            solved: samples.len(),
            optimal_share: (!samples.is_empty()).then(|| optimal as f64 / samples.len() as f64),
            length: figures(|sample| Some(sample.length as f64)),
            expanded: figures(|sample| Some(sample.expanded as f64)),
            generated: figures(|sample| Some(sample.generated as f64)),
            effective_branching_factor: figures(|sample| sample.effective_branching_factor),
            elapsed_us: figures(|sample| Some(sample.elapsed_us as f64)),
        }
    }
}

impl Figures {
    /// Figures of some values; `None` without values. The median of an even number is the mean of the middle two.
    fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        let median = (values[(values.len() - 1) / 2] + values[values.len() / 2]) / 2.0;
        Some(Self { mean: values.iter().sum::<f64>() / values.len() as f64, median, min, max })
    }

    fn csv(figures: Option<Self>) -> String {
        figures
            .map_or_else(|| ",,,".to_owned(), |Self { mean, median, min, max }| format!("{mean},{median},{min},{max}"))
    }
}

impl ExperimentReply {
    /// Serializes the reply.
    pub(super) fn to_bytes(&self, media_type: MediaType, read_as: Option<&str>) -> Vec<u8> {
        match media_type {
            MediaType::Csv => self.csv().into_bytes(),
            _ => text_or_json(media_type, self, read_as),
        }
    }

    /// Clears the elapsed times of all searches.
    pub(super) fn clear_times(&mut self) {
        self.results.iter_mut().for_each(|result| result.elapsed_us = None);
    }

    /// A line for each method, after a line of names.
    fn csv(&self) -> String {
        const METHOD: &str = "algorithm,heuristic,weight,tie_breaking,duplicate_detection,successor_order,depth_limit,boards,solved,optimal_share";
        const MEASURED: [&str; 5] = ["length", "expanded", "generated", "effective_branching_factor", "elapsed_us"];
        let mut csv = METHOD.to_owned();
        for name in MEASURED {
            csv += &format!(",{name}_mean,{name}_median,{name}_min,{name}_max");
        }
        for result in &self.results {
            let share = result.optimal_share.map_or_else(String::new, |share| share.to_string());
            let (count, solved) = (self.boards.count, result.solved);
            csv += &format!("\r\n{},{count},{solved},{share}", result.method.csv());
            let measured = [
                result.length,
                result.expanded,
                result.generated,
                result.effective_branching_factor,
                result.elapsed_us,
            ];
            measured.into_iter().for_each(|figures| csv += &format!(",{}", Figures::csv(figures)));
        }
        csv + "\r\n"
    }
}

/// Text for a terminal: a line for each method, with means.
impl fmt::Display for ExperimentReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BoardsReply { rows, cols, count, seed, .. } = &self.boards;
        let size = Size::try_from((*rows, *cols)).map_or_else(|_| String::new(), |size| size.to_string());
        writeln!(f, "{count} boards of {size}, seed {seed}; means of the solved ones\n")?;
        let names: Vec<String> = self.results.iter().map(|result| result.method.to_string()).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max("method".len());
        writeln!(
            f,
            "{:width$} {:>7} {:>8} {:>8} {:>12} {:>12} {:>10}",
            "method", "solved", "optimal", "length", "expanded", "generated", "µs"
        )?;
        for (name, result) in names.iter().zip(&self.results) {
            let mean = |figures: Option<Figures>, places: usize| {
                figures.map_or_else(|| "-".to_owned(), |figures| format!("{:.places$}", figures.mean))
            };
            let share = result.optimal_share.map_or_else(|| "-".to_owned(), |share| format!("{:.0} %", 100.0 * share));
            writeln!(
                f,
                "{name:width$} {:>7} {share:>8} {:>8} {:>12} {:>12} {:>10}",
                result.solved,
                mean(result.length, 2),
                mean(result.expanded, 1),
                mean(result.generated, 1),
                mean(result.elapsed_us, 1),
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_is_the_mean_of_the_middle_two() {
        let figures = Figures::of(vec![4.0, 1.0, 3.0, 10.0]).unwrap();
        assert_eq!((figures.mean, figures.median, figures.min, figures.max), (4.5, 3.5, 1.0, 10.0));
        assert_eq!(Figures::of(vec![7.0]).map(|figures| figures.median), Some(7.0));
        assert!(Figures::of(Vec::new()).is_none());
    }
}
