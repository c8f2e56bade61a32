//! Runs searches, and builds their reports.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use taquin_solver::search::Outcome;
use taquin_solver::solver::{SearchTables, solve, solve_with, without_search};
use taquin_solver::tables::PatternTables;
use taquin_solver::{Algorithm, Control, Observer, Path, SearchRequest, Stats, StopReason, WrongSolution};

use super::admission::{Admission, AdmissionPermit};
use super::job_log;
use super::progress::SearchProgress;
use super::scheduler::{Cancellation, RunPermit, Trial};
use crate::service::job::{BeforeSearchHook, Report, ServiceError};
use crate::service::metrics::Metrics;
use crate::service::spans::SearchSpan;
use crate::service::tables::Tables;

/// A search with its inputs and its progress. The task holds the admission permit until the task is dropped.
pub(crate) struct SearchTask {
    pub(crate) job: SearchRequest,
    pub(crate) patterns: Option<Arc<PatternTables>>,
    pub(crate) cancellation: Cancellation,
    pub(crate) progress: Arc<SearchProgress>,
    pub(crate) _admission: AdmissionPermit,
    pub(crate) submitted: Instant,
    /// The trial and the counters of the trial, if the search was stopped after its trial.
    pub(crate) trial: OnceLock<(Trial, Stats)>,
}

impl SearchTask {
    /// Returns the time since the submission, without the running time of the trial.
    pub(crate) fn queued(&self) -> Duration {
        let trial = self.trial.get().map_or(Duration::ZERO, |(trial, _)| trial.worked);
        self.submitted.elapsed().saturating_sub(trial)
    }

    /// Returns the best solution that the trial found. Only anytime search finds solutions before its end. So the
    /// result is `None` for any other search, and without a trial.
    fn best_of_trial(&self) -> Option<Path> {
        self.trial.get().filter(|_| self.job.plan.algorithm == Algorithm::Anytime).and_then(|_| self.progress.best())
    }
}

/// Runs searches on the current thread, and counts and logs the searches.
#[derive(Debug)]
pub(crate) struct Searcher {
    pub(crate) tables: Arc<Tables>,
    pub(crate) metrics: Metrics,
    pub(crate) admission: Arc<Admission>,
    pub(crate) before_search: Option<BeforeSearchHook>,
}

impl Searcher {
    /// Runs a search that takes microseconds. The search needs no permit. This function logs only failures.
    pub(crate) fn search_at_once(&self, job: &SearchRequest) -> Result<Report, ServiceError> {
        let span = SearchSpan::begin();
        let search = solve(job, &*self.tables, Control::default());
        self.count(job, report(job, search), span)
    }

    /// Runs a search under a permit. If the search was stopped after its trial and must start again, returns the trial
    /// as the error.
    pub(crate) fn search(&self, task: &SearchTask, permit: RunPermit) -> Result<Result<Report, ServiceError>, Trial> {
        let SearchTask { job, patterns, cancellation, progress, .. } = task;
        let queued = task.queued();
        let span = SearchSpan::begin();
        if let Some(before_search) = self.before_search {
            before_search(job);
        }
        let [by_caller, by_pool] = &cancellation.flags;
        let cancel: [&AtomicBool; 3] = [by_caller, by_pool, permit.stop_flag()];
        let (deadline, observer) = (cancellation.deadline, Some(&**progress as &dyn Observer));
        let best = task.best_of_trial();
        let context = Control { deadline, cancel: &cancel, helpers: Some(&permit), observer, best: best.as_ref() };
        let tables = SearchTables::with_patterns(&*self.tables, patterns.clone()).upgradable(!job.counts_expansions());
        let report = report(job, solve_with(job, &tables, context));
        if let (Ok(stopped), Some(trial)) = (&report, permit.trial())
            && stopped.stopped == Some(StopReason::Cancelled)
            && !cancellation.is_raised()
        {
            let _ = task.trial.set((trial, stopped.stats));
            span.end(job, &report);
            return Err(trial);
        }
        let (worked, paused) = permit.times();
        self.admission.record_duration(worked);
        let queued = queued + paused;
        self.metrics.waited(queued);
        let report = report.map(|report| {
            // Both bounds are proven, so the report has the greater bound.
            let lower_bound = report.lower_bound.max(progress.lower_bound());
            let elapsed = report.elapsed.saturating_sub(paused);
            let search = taquin_solver::Report { lower_bound, elapsed, ..report.search };
            Report { search, queued, ..report }
        });
        Ok(self.finish(job, report, span))
    }

    /// Reports a search whose time ran out while the search waited. The report has the results of the trial, if there
    /// was a trial, and the waiting time `queued`.
    pub(crate) fn report_without_search(&self, search: &SearchTask, queued: Duration) -> Result<Report, ServiceError> {
        let SearchTask { job, progress, trial, .. } = search;
        let span = SearchSpan::begin();
        let outcome = Outcome {
            result: Err(StopReason::Time),
            best: search.best_of_trial(),
            lower_bound: progress.lower_bound(),
            stats: trial.get().map_or_else(Stats::default, |(_, stats)| *stats),
        };
        let tables = SearchTables::with_patterns(&*self.tables, search.patterns.clone());
        let searched = trial.get().map_or(Duration::ZERO, |(trial, _)| trial.worked);
        let report = report(job, without_search(job, &tables, outcome)).map(|report| {
            let elapsed = searched + report.elapsed;
            Report { search: taquin_solver::Report { elapsed, ..report.search }, queued, ..report }
        });
        self.finish(job, report, span)
    }

    /// Does the same as [`count`](Self::count), and also logs a job that has a report.
    fn finish(
        &self,
        job: &SearchRequest,
        report: Result<Report, ServiceError>,
        span: SearchSpan,
    ) -> Result<Report, ServiceError> {
        self.count(job, report, span).inspect(|report| job_log::finished(job.puzzle.size(), report))
    }

    /// Adds the percentile to a report, ends the span, and counts the finished job. A job without a report is logged as
    /// failed, and is not counted.
    fn count(
        &self,
        job: &SearchRequest,
        mut report: Result<Report, ServiceError>,
        span: SearchSpan,
    ) -> Result<Report, ServiceError> {
        if let Ok(report) = &mut report {
            report.percentile = self.percentile(job, report);
        }
        span.end(job, &report);
        match &report {
            Ok(report) => self.metrics.finished(job, report),
            Err(error) => job_log::failed(job, error),
        }
        report
    }

    /// Returns the percentage of boards with a shorter optimal solution than this board in the metric of the search,
    /// among all boards that can reach the goal. Returns `None` if the solution is not optimal, or if the distribution
    /// of lengths is unknown.
    fn percentile(&self, SearchRequest { puzzle, .. }: &SearchRequest, report: &Report) -> Option<f64> {
        if !report.is_optimal() {
            return None;
        }
        let distribution = self.tables.small().distribution(report.metric, puzzle.size(), puzzle.goal().blank())?;
        Some(distribution.percentile(report.lower_bound))
    }
}

/// Builds the report of a search, with a waiting time of zero. A wrong solution is returned as the error.
fn report(job: &SearchRequest, search: Result<taquin_solver::Report, WrongSolution>) -> Result<Report, ServiceError> {
    Ok(Report::new(search?, job.limits))
}
