//! The events of a running `/solve`: solutions, progress, and the result or problem that ends it.

use std::sync::Arc;
use std::time::Duration;

use taquin_solver::{Path, Progress, Puzzle, Tile};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use crate::http::media_type::MediaType;
use crate::http::problem::Problem;
use crate::http::reply::{
    InterimReply, Layout, MovesReply, ProgressReply, ProvenLength, SolutionReply, SolveReply, json,
    limit_exceeded_with_lists, service_failure, written,
};
use crate::service::{Answer, FoundSolution, Report, SearchEvent, ServiceError, Subscription};

/// Event of a stream.
#[derive(Debug)]
pub(crate) enum StreamEvent {
    /// A solution shorter than all earlier ones.
    Solution { length: usize, lower_bound: u32, elapsed: Duration, json: Vec<u8> },
    /// Progress of the search.
    Progress(ProgressReply),
    /// Last event of a successful search: the response without streaming.
    Result(Vec<u8>),
    /// Last event of a failed search.
    Problem(Box<Problem>),
}

/// Events of one search, in order.
pub(crate) struct SolveStream {
    subscription: Subscription,
    pub(super) puzzle: Puzzle,
    pub(super) layout: Layout,
    read_as: Option<String>,
    ticks: Interval,
    /// Length of the shortest solution sent.
    shortest: Option<usize>,
    /// Greatest lower bound sent.
    lower_bound: u32,
    /// Latest elapsed time sent.
    elapsed: Duration,
    /// Latest progress sent.
    last_progress: Progress,
    /// The final event, held back because the best solution has to be sent first.
    last: Option<StreamEvent>,
    /// The answer, once the search has ended.
    pub(crate) answer: Option<Answer>,
    is_over: bool,
}

impl SolveStream {
    /// Creates the stream of a submitted search.
    pub(crate) fn new(subscription: Subscription, puzzle: Puzzle, layout: Layout, read_as: Option<String>) -> Self {
        let period = if layout.media_type == MediaType::Events { Self::EVENTS } else { Self::LINES };
        let mut ticks = interval_at(Instant::now() + period, period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            subscription,
            puzzle,
            layout,
            read_as,
            ticks,
            shortest: None,
            lower_bound: 0,
            elapsed: Duration::ZERO,
            last_progress: Progress::default(),
            last: None,
            answer: None,
            is_over: false,
        }
    }

    /// Period of progress events.
    const EVENTS: Duration = Duration::from_millis(250);
    /// Period of progress lines.
    const LINES: Duration = Duration::from_secs(1);

    /// Waits for the next event. Returns `None` after the last one.
    pub(crate) async fn next(&mut self) -> Option<StreamEvent> {
        if self.last.is_some() {
            return self.last.take();
        }
        while !self.is_over {
            let event = tokio::select! {
                biased;
                event = self.subscription.next() => match event {
                    SearchEvent::FoundSolution(found) => {
                        let Ok(tiles) = found.path.replay(&self.puzzle) else { continue };
                        let FoundSolution { path, lower_bound, elapsed } = &*found;
                        self.solution(path, &tiles, *lower_bound, *elapsed)
                    }
                    SearchEvent::Ended(outcome) => Some(self.last_event(outcome)),
                },
                _ = self.ticks.tick() => self.progress(),
            };
            if event.is_some() {
                return event;
            }
        }
        None
    }

    /// Event of a solution if it is shorter than all earlier ones.
    fn solution(&mut self, path: &Path, tiles: &[Tile], lower_bound: u32, elapsed: Duration) -> Option<StreamEvent> {
        let length = path.len();
        if self.shortest.is_some_and(|shortest| shortest <= length) {
            return None;
        }
        self.shortest = Some(length);
        let (lower_bound, elapsed) = self.monotonic(lower_bound, elapsed);
        let proven = ProvenLength { length, optimal: length == lower_bound as usize, lower_bound };
        let solution = SolutionReply { proven, moves: MovesReply::new(path, tiles) };
        let json = json(&InterimReply { solution, elapsed_us: elapsed.as_micros() as u64 });
        Some(StreamEvent::Solution { length, lower_bound, elapsed, json })
    }

    /// Ends the stream: no event follows.
    pub(crate) fn end(&mut self) {
        self.is_over = true;
        self.last = None;
    }

    /// Progress event. Events are sent only on change; text lines always, as a sign of life.
    fn progress(&mut self) -> Option<StreamEvent> {
        let (progress, elapsed) = self.subscription.progress()?;
        let is_sent = self.last_progress != progress || self.layout.media_type != MediaType::Events;
        self.last_progress = progress;
        let (lower_bound, elapsed) = self.monotonic(progress.lower_bound, elapsed);
        let reply = ProgressReply {
            expanded: progress.expanded,
            generated: progress.generated,
            lower_bound,
            threshold: progress.threshold,
            length: self.shortest,
            elapsed_us: elapsed.as_micros() as u64,
        };
        is_sent.then_some(StreamEvent::Progress(reply))
    }

    /// Keeps the lower bound and the elapsed time from decreasing: solutions and progress report them independently.
    fn monotonic(&mut self, lower_bound: u32, elapsed: Duration) -> (u32, Duration) {
        self.lower_bound = self.lower_bound.max(lower_bound);
        self.elapsed = self.elapsed.max(elapsed);
        (self.lower_bound, self.elapsed)
    }

    /// Final event. If the best solution was not sent yet, returns it first and keeps the final event for later.
    fn last_event(&mut self, outcome: Result<Answer, ServiceError>) -> StreamEvent {
        self.is_over = true;
        let answer = match outcome {
            Ok(answer) => answer,
            Err(error) => return StreamEvent::Problem(Box::new(service_failure(&error))),
        };
        let report = Arc::clone(&answer.report);
        self.answer = Some(answer);
        let elapsed = report.queued + report.elapsed;
        let best = report.solution.as_ref();
        let best = best.and_then(|best| self.solution(&best.path, &best.tiles, report.lower_bound, elapsed));
        let end =
            self.response(&report).map_or_else(|problem| StreamEvent::Problem(Box::new(problem)), StreamEvent::Result);
        match best {
            Some(solution) => {
                self.last = Some(end);
                solution
            }
            None => end,
        }
    }

    /// The response that would be returned without streaming.
    fn response(&self, report: &Report) -> Result<Vec<u8>, Problem> {
        match report.stopped {
            Some(stop) => Err(limit_exceeded_with_lists(report, stop, self.layout)),
            None => Ok(written(&SolveReply::new(&self.puzzle, report, self.layout)?, self.read_as.as_deref())),
        }
    }
}
