//! A search as those see it who wait for it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use super::progress::{Found, Sight};
use super::result_cache::Flight;
use crate::search::{Observer, Progress};
use crate::service::job::Job;
use crate::service::report::{Answer, Origin, ServiceError};
use crate::service::solver;

/// A search that has its place in the house, or is over, and is watched. Dropping it is leaving it.
#[derive(Debug)]
pub struct Watching(Stage);

/// What is seen of a search.
#[derive(Debug)]
pub enum Seen {
    /// A solution shorter than those before.
    Found(Arc<Found>),
    /// The end, which comes once.
    Ended(Result<Answer, ServiceError>),
}

#[derive(Debug)]
enum Stage {
    Going(Box<Going>),
    /// The end, until it is seen.
    Over(Option<Answer>),
}

#[derive(Debug)]
struct Going {
    flight: Flight,
    origin: Origin,
    /// The best solution, where it was there before.
    best: Option<Arc<Found>>,
    rest: broadcast::Receiver<Arc<Found>>,
}

impl Watching {
    /// Watches what is over.
    pub(super) fn over(answer: Answer) -> Self {
        Self(Stage::Over(Some(answer)))
    }

    /// Watches a search, once it has its place.
    ///
    /// # Errors
    /// What it ends with if it gets none.
    pub(super) async fn begin(job: &Job, mut flight: Flight, origin: Origin) -> Result<Self, ServiceError> {
        let sight = Arc::clone(flight.sight());
        tokio::select! {
            biased;
            outcome = &mut flight => return outcome.map(|report| Self::over(Answer { report, origin })),
            () = sight.admitted() => {}
        }
        offer(job, &sight).await;
        let (best, rest) = sight.watch();
        Ok(Self(Stage::Going(Box::new(Going { flight, origin, best, rest }))))
    }

    /// The next that is seen. Nothing is lost if it is not waited for.
    pub async fn next(&mut self) -> Seen {
        match &mut self.0 {
            Stage::Going(going) => going.next().await,
            Stage::Over(answer) => match answer.take() {
                Some(answer) => Seen::Ended(Ok(answer)),
                None => std::future::pending().await,
            },
        }
    }

    /// How far the search is, and since when it was asked for, unless it was over before.
    pub fn progress(&self) -> Option<(Progress, Duration)> {
        match &self.0 {
            Stage::Going(going) => {
                let sight = going.flight.sight();
                Some((sight.progress(), sight.elapsed()))
            }
            Stage::Over(_) => None,
        }
    }
}

impl Going {
    async fn next(&mut self) -> Seen {
        if let Some(best) = self.best.take() {
            return Seen::Found(best);
        }
        loop {
            // What was found before the end comes before it.
            return tokio::select! {
                biased;
                found = self.rest.recv() => match found {
                    Ok(found) => Seen::Found(found),
                    Err(RecvError::Lagged(_)) => continue,
                    Err(RecvError::Closed) => unreachable!("the flight in hand holds the other end"),
                },
                outcome = &mut self.flight => {
                    let origin = self.origin;
                    Seen::Ended(outcome.map(|report| Answer { report, origin }))
                }
            };
        }
    }
}

/// Tells what is known before a search that proves its solution optimal, or is given up for the constructive one.
async fn offer(job: &Job, sight: &Sight) {
    if !job.plan.begins_with_any() || sight.has_solution() {
        return;
    }
    let puzzle = job.puzzle;
    // Milliseconds on the largest boards.
    if let Ok((lower_bound, path)) = tokio::task::spawn_blocking(move || solver::bounds(&puzzle)).await {
        sight.reached(Progress { lower_bound, ..sight.progress() });
        sight.found(&path);
    }
}
