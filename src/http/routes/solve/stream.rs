//! The events of a running `/solve`: solutions, progress, and the result or problem that ends it.

use std::sync::Arc;
use std::time::Duration;

use taquin_solver::{Progress, Puzzle};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use crate::http::media_type::MediaType;
use crate::http::payload::Payload;
use crate::http::problem::Problem;
use crate::http::reply::{
    InterimReply, Layout, LongReply, MovesReply, ProgressReply, ProvenLength, SolutionReply, SolveReply, held_if_long,
    in_pieces, json, limit_exceeded_with_lists, service_failure, whole,
};
use crate::service::{Answer, FoundSolution, HeldReport, Report, SearchEvent, Service, ServiceError, Subscription};

/// Event of a stream.
#[derive(Debug)]
pub(crate) enum StreamEvent {
    /// A solution shorter than all earlier ones.
    Solution { length: usize, lower_bound: u32, elapsed: Duration, json: Payload },
    /// Progress of the search.
    Progress(ProgressReply),
    /// Last event of a successful search: the response without streaming.
    Result(Payload),
    /// Last event of a failed search.
    Problem(Box<Problem>),
}

/// Events of one search, in order.
pub(crate) struct SolveStream {
    service: Arc<Service>,
    subscription: Subscription,
    puzzle: Puzzle,
    layout: Layout,
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
    is_over: bool,
}

impl SolveStream {
    /// Creates the stream of a submitted search.
    pub(crate) fn new(service: Arc<Service>, subscription: Subscription, puzzle: Puzzle, layout: Layout) -> Self {
        let period = if layout.media_type == MediaType::Events { Self::EVENTS } else { Self::LINES };
        let mut ticks = interval_at(Instant::now() + period, period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            service,
            subscription,
            puzzle,
            layout,
            ticks,
            shortest: None,
            lower_bound: 0,
            elapsed: Duration::ZERO,
            last_progress: Progress::default(),
            last: None,
            is_over: false,
        }
    }

    /// Period of progress events.
    const EVENTS: Duration = Duration::from_millis(250);
    /// Period of progress lines.
    const LINES: Duration = Duration::from_secs(1);

    /// Media type of the stream.
    pub(crate) fn media_type(&self) -> MediaType {
        self.layout.media_type
    }

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
                        self.solution(path.len(), *lower_bound, *elapsed, |proven, elapsed_us| {
                            let solution = SolutionReply { proven, moves: MovesReply::new(path, &tiles) };
                            Payload::Whole(json(&InterimReply { solution, elapsed_us }))
                        })
                    }
                    SearchEvent::Ended(outcome) => Some(self.end(outcome)),
                },
                _ = self.ticks.tick() => self.progress(),
            };
            if event.is_some() {
                return event;
            }
        }
        None
    }

    /// Event of a solution if it is shorter than all earlier ones. `write` gets its figures and the elapsed
    /// microseconds.
    fn solution(
        &mut self,
        length: usize,
        lower_bound: u32,
        elapsed: Duration,
        write: impl FnOnce(ProvenLength, u64) -> Payload,
    ) -> Option<StreamEvent> {
        if self.shortest.is_some_and(|shortest| shortest <= length) {
            return None;
        }
        self.shortest = Some(length);
        let (lower_bound, elapsed) = self.monotonic(lower_bound, elapsed);
        let optimal = length == lower_bound as usize;
        let json = write(ProvenLength { length, optimal, lower_bound }, elapsed.as_micros() as u64);
        Some(StreamEvent::Solution { length, lower_bound, elapsed, json })
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
    fn end(&mut self, outcome: Result<Answer, ServiceError>) -> StreamEvent {
        self.is_over = true;
        let answer = match outcome {
            Ok(answer) => answer,
            Err(error) => return StreamEvent::Problem(Box::new(service_failure(&error))),
        };
        let report = &*answer.report;
        let held = match held_if_long(&self.service, &self.puzzle, &answer.report) {
            Ok(held) => held,
            Err(problem) => return StreamEvent::Problem(Box::new(problem)),
        };
        let best = self.best_solution(report, held.clone());
        let end = self.final_event(&answer.report, held);
        match best {
            Some(solution) => {
                self.last = Some(end);
                solution
            }
            None => end,
        }
    }

    /// Event of the final solution, if no solution of this length was sent.
    fn best_solution(&mut self, report: &Report, held: Option<HeldReport>) -> Option<StreamEvent> {
        let best = report.solution.as_ref()?;
        let elapsed = report.queued + report.elapsed;
        self.solution(best.path.len(), report.lower_bound, elapsed, |proven, elapsed_us| match held {
            Some(held) => LongReply::interim(held, proven, (&best.path).into(), elapsed_us),
            None => {
                let solution = SolutionReply { proven, moves: MovesReply::new(&best.path, &best.tiles) };
                Payload::Whole(json(&InterimReply { solution, elapsed_us }))
            }
        })
    }

    /// Final event, with the response that would be returned without streaming.
    fn final_event(&self, report: &Arc<Report>, held: Option<HeldReport>) -> StreamEvent {
        let reply = match (report.stopped, held) {
            (Some(stop), held) => Err(limit_exceeded_with_lists(report, held, stop, self.layout)),
            (None, Some(held)) => {
                SolveReply::new(&self.puzzle, report).map(|(reply, _)| in_pieces(&reply, held, self.layout))
            }
            (None, None) => SolveReply::new(&self.puzzle, report)
                .map(|(reply, _)| Payload::Whole(whole(&reply, report, self.layout))),
        };
        match reply {
            Ok(reply) => StreamEvent::Result(reply),
            Err(problem) => StreamEvent::Problem(Box::new(problem)),
        }
    }
}
