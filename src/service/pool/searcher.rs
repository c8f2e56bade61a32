//! Runs searches, and reports them.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::admission::{Admission, AdmissionPermit};
use super::job_log;
use super::progress::SearchProgress;
use super::scheduler::{Cancellation, RunPermit, Trial};
use crate::domain::{Metric, Path};
use crate::search::{Algorithm, Observer, Outcome, Stats, StopReason};
use crate::service::job::{BeforeSearchHook, Job, Report, ServiceError};
use crate::service::metrics::Metrics;
use crate::service::solver::{self, JobTables, SearchContext};
use crate::service::spans::SearchSpan;
use crate::service::tables::{LoadedPatterns, Tables};

/// A search, with the admission that it holds until it ends.
pub(crate) struct SearchTask {
    pub(crate) job: Job,
    pub(crate) patterns: Option<Arc<LoadedPatterns>>,
    pub(crate) cancellation: Cancellation,
    pub(crate) progress: Arc<SearchProgress>,
    pub(crate) _admission: AdmissionPermit,
    pub(crate) submitted: Instant,
    /// The trial after which it was stopped, if it was, and its counters.
    pub(crate) trial: Option<(Trial, Stats)>,
}

/// How the turn of a search ends.
pub(crate) enum SearchEnd {
    Finished(Report),
    /// It was stopped after its trial, and is to start again.
    Stopped(SearchTask),
}

impl SearchTask {
    /// Time since the submission, except that of the trial.
    pub(crate) fn queued(&self) -> Duration {
        let trial = self.trial.map_or(Duration::ZERO, |(trial, _)| trial.worked());
        self.submitted.elapsed().saturating_sub(trial)
    }

    /// The best solution of the trial. Only anytime search finds one before it ends.
    fn best_of_trial(&self) -> Option<Path> {
        self.trial.filter(|_| self.job.plan.algorithm == Algorithm::Anytime).and_then(|_| self.progress.best())
    }
}

/// Runs searches on the caller's thread, counts them and logs them.
#[derive(Debug)]
pub(crate) struct Searcher {
    tables: Arc<Tables>,
    metrics: Metrics,
    admission: Arc<Admission>,
    before_search: Option<BeforeSearchHook>,
}

impl Searcher {
    pub(crate) fn new(
        tables: &Arc<Tables>,
        metrics: &Metrics,
        admission: &Arc<Admission>,
        before_search: Option<BeforeSearchHook>,
    ) -> Self {
        let (tables, metrics, admission) = (Arc::clone(tables), metrics.clone(), Arc::clone(admission));
        Self { tables, metrics, admission, before_search }
    }

    /// Searches without a permit: the board takes microseconds.
    pub(crate) fn search_at_once(&self, job: &Job) -> Result<Report, ServiceError> {
        let span = SearchSpan::begin();
        let report = solver::solve(job, &self.tables, SearchContext::default());
        self.finish(job, report, span)
    }

    /// Searches under a permit.
    ///
    /// # Errors
    /// See [`ServiceError`].
    pub(crate) fn search(&self, task: SearchTask, permit: RunPermit) -> Result<SearchEnd, ServiceError> {
        let SearchTask { job, patterns, cancellation, progress, .. } = &task;
        let queued = task.queued();
        let span = SearchSpan::begin();
        if let Some(before_search) = self.before_search {
            before_search(job);
        }
        let [by_caller, by_pool] = &cancellation.flags;
        let cancel: [&AtomicBool; 3] = [by_caller, by_pool, permit.stop_flag()];
        let (deadline, observer) = (cancellation.deadline, Some(&**progress as &dyn Observer));
        let best = task.best_of_trial();
        let context =
            SearchContext { deadline, cancel: &cancel, helpers: Some(&permit), observer, best: best.as_ref() };
        let tables = JobTables::with_patterns(&self.tables, patterns.clone()).upgradable(!job.counts_expansions());
        let report = solver::solve_with(job, &tables, context);
        if let (Ok(Report { stopped: Some(StopReason::Cancelled), stats, .. }), Some(trial)) = (&report, permit.trial())
            && !cancellation.is_raised()
        {
            let trial = Some((trial, *stats));
            span.end(job, &report);
            return Ok(SearchEnd::Stopped(SearchTask { trial, ..task }));
        }
        let (worked, paused) = permit.times();
        self.admission.record_duration(worked);
        let queued = queued + paused;
        self.metrics.waited(queued);
        let report = report.map(|report| {
            // Every reported bound is proven.
            let lower_bound = report.lower_bound.max(progress.lower_bound());
            let elapsed = report.elapsed.saturating_sub(paused);
            Report { lower_bound, queued, elapsed, ..report }
        });
        self.finish(job, report, span).map(SearchEnd::Finished)
    }

    /// Reports a search whose time ran out in the queue from what its trial found, if it had one.
    pub(crate) fn report_without_search(&self, search: &SearchTask, queued: Duration) -> Result<Report, ServiceError> {
        let SearchTask { job, progress, trial, .. } = search;
        let span = SearchSpan::begin();
        let outcome = Outcome {
            result: Err(StopReason::Time),
            best: search.best_of_trial(),
            lower_bound: progress.lower_bound(),
            stats: trial.map_or_else(Stats::default, |(_, stats)| stats),
        };
        let tables = JobTables::with_patterns(&self.tables, search.patterns.clone());
        let searched = trial.map_or(Duration::ZERO, |(trial, _)| trial.worked());
        let report = solver::without_search(job, &tables, outcome);
        let report = report.map(|report| Report { queued, elapsed: searched + report.elapsed, ..report });
        self.finish(job, report, span)
    }

    /// Adds the percentile to a report, counts the finished job, ends its span and logs its event.
    fn finish(
        &self,
        job: &Job,
        report: Result<Report, ServiceError>,
        span: SearchSpan,
    ) -> Result<Report, ServiceError> {
        let report = report.map(|report| Report { percentile: self.percentile(job, &report), ..report });
        span.end(job, &report);
        if let Ok(report) = &report {
            self.metrics.finished(job, report);
        }
        job_log::write(job, &report);
        report
    }

    /// Percentile of an optimal solution, if the distribution of lengths is known.
    fn percentile(&self, Job { puzzle, .. }: &Job, report: &Report) -> Option<f64> {
        if !report.is_optimal() || report.metric != Metric::SingleTile {
            return None;
        }
        let distribution = self.tables.distribution(puzzle.size(), puzzle.goal().blank())?;
        Some(distribution.percentile(report.lower_bound))
    }
}
