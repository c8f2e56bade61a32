//! Subscriptions to the progress of a search.

use std::sync::Arc;
use std::time::{Duration, Instant};

use taquin_solver::{Observer, Path, Progress, SearchRequest, solver};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::timeout_at;

use super::progress::{FoundSolution, SearchProgress};
use super::result_cache::SharedSearch;
use super::scheduler::{Arrival, Cancellation, Need};
use super::threads::JobThreads;
use crate::service::job::{Answer, Origin, ServiceError};

/// A subscription to an admitted or finished search. The search stops when its last subscription has been dropped and
/// no other caller waits for the search.
#[derive(Debug)]
pub struct Subscription(SubscriptionState);

/// An event of a search.
#[derive(Debug)]
pub enum SearchEvent {
    /// A solution that is shorter than all solutions before.
    FoundSolution(Arc<FoundSolution>),
    /// The result of the search. No event follows.
    Ended(Result<Answer, ServiceError>),
}

#[derive(Debug)]
enum SubscriptionState {
    Running(Box<Running>),
    /// The result; `None` once the subscriber has received the result.
    Finished(Option<Answer>),
}

#[derive(Debug)]
struct Running {
    search: SharedSearch,
    origin: Origin,
    /// The best solution at the time of the subscription. `None` if there was no solution, or once the subscriber has
    /// received the solution.
    best: Option<Arc<FoundSolution>>,
    later: broadcast::Receiver<Arc<FoundSolution>>,
}

impl Subscription {
    /// Subscribes to a finished search.
    pub(crate) fn finished(answer: Answer) -> Self {
        Self(SubscriptionState::Finished(Some(answer)))
    }

    /// Subscribes to a search. Waits until the search is admitted and its initial solution is reported or known to be
    /// absent, or until the search has ended. If the search was rejected or has failed by then, returns the error of
    /// the search.
    pub(crate) async fn begin(
        job: &SearchRequest,
        mut search: SharedSearch,
        origin: Origin,
        threads: &JobThreads,
    ) -> Result<Self, ServiceError> {
        let progress = Arc::clone(search.progress());
        let is_ready = async {
            progress.admitted().await;
            progress.initial.get_or_init(|| report_initial_solution(job, &progress, threads)).await;
        };
        tokio::select! {
            biased;
            outcome = &mut search => return outcome.map(|report| Self::finished(Answer { report, origin })),
            () = is_ready => {}
        }
        let (best, later) = progress.subscribe();
        Ok(Self(SubscriptionState::Running(Box::new(Running { search, origin, best, later }))))
    }

    /// Waits for the next event. Cancel safe: dropping the future loses no event.
    pub async fn next(&mut self) -> SearchEvent {
        match &mut self.0 {
            SubscriptionState::Running(running) => running.next().await,
            SubscriptionState::Finished(answer) => match answer.take() {
                Some(answer) => SearchEvent::Ended(Ok(answer)),
                None => std::future::pending().await,
            },
        }
    }

    /// Returns the current progress, and the time since the submission; `None` if the search had finished before the
    /// subscription.
    pub fn progress(&self) -> Option<(Progress, Duration)> {
        match &self.0 {
            SubscriptionState::Running(running) => {
                let progress = running.search.progress();
                Some((progress.progress(), progress.elapsed()))
            }
            SubscriptionState::Finished(_) => None,
        }
    }
}

impl Running {
    async fn next(&mut self) -> SearchEvent {
        if let Some(best) = self.best.take() {
            return SearchEvent::FoundSolution(best);
        }
        loop {
            // The search sends all solutions before it sends the result, so the solutions are polled first.
            return tokio::select! {
                biased;
                found = self.later.recv() => match found {
                    Ok(found) => SearchEvent::FoundSolution(found),
                    Err(RecvError::Lagged(_)) => continue,
                    Err(RecvError::Closed) => unreachable!("the search in progress holds the sender"),
                },
                outcome = &mut self.search => {
                    let origin = self.origin;
                    SearchEvent::Ended(outcome.map(|report| Answer { report, origin }))
                }
            };
        }
    }
}

/// Reports a lower bound and a constructed solution to `progress`. Does nothing if the plan does not [report an initial
/// solution](taquin_solver::Plan::reports_initial_solution), if the search has already found a solution, or if
/// [`bounds`] returns `None`.
async fn report_initial_solution(job: &SearchRequest, progress: &SearchProgress, threads: &JobThreads) {
    if !job.plan.reports_initial_solution() || progress.has_solution() {
        return;
    }
    if let Some((lower_bound, path)) = bounds(job, threads).await {
        progress.reached(Progress { lower_bound, ..progress.progress() });
        progress.found(&path);
    }
}

/// Computes a lower bound and a constructed solution on a thread of the pool. Returns `None` if the computation does
/// not start within the time limit of the job, counted from this call. Also returns `None` if the pool has no thread
/// and the system refuses to create a thread, or if the computation panics.
async fn bounds(job: &SearchRequest, threads: &JobThreads) -> Option<(u32, Path)> {
    let (puzzle, deadline) = (job.puzzle, Instant::now() + job.limits.time);
    let turn =
        threads.turn(Need::NONE, Arrival::New, Cancellation { deadline: Some(deadline), ..Cancellation::default() });
    let permit = timeout_at(deadline.into(), turn).await.ok()?.ok()?;
    let work = move || {
        let bounds = solver::bounds(&puzzle);
        drop(permit);
        bounds
    };
    threads.run(work).await.ok()
}
