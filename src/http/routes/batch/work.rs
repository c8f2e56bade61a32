//! The rows of one batch, and what is known about them so far.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio::sync::Notify;

use super::lines::{Line, LinesOf};
use crate::http::problem::{Problem, ProblemKind, RequestError};
use crate::http::reply::service_failure;
use crate::http::rows::{RowFormat, RowOptions, RowReader};
use crate::http::state::BatchLimits;
use crate::jobs::{Part, Row};
use crate::service::{
    BoardCounts, BulkWork, MixedSweep, RequestedLimits, Reservation, Service, ServiceError, Slice, SliceContext,
    SliceEnd, SweepContext, SweepError, SweepLimits, Want,
};

/// A batch: rows that arrive, are labelled by slices of bulk work, and are taken in their order.
pub(super) struct BatchWork {
    service: Arc<Service>,
    runtime: Handle,
    options: RowOptions,
    format: RowFormat,
    /// Set when the first line is there, which may be a header.
    reader: OnceLock<RowReader>,
    limits: SweepLimits,
    /// Maximum number of rows.
    max_rows: usize,
    rows: Mutex<Rows>,
    /// Notified when labels can be taken, or none will come.
    changed: Notify,
    /// Rows that a thread labels before it stores the labels: so many take some milliseconds.
    claim: AtomicUsize,
    reservation: Mutex<Reservation>,
}

#[derive(Default)]
struct Rows {
    lines: Vec<Line>,
    /// Number of rows that threads have taken on.
    claimed: usize,
    /// Labels by their first row.
    parts: BTreeMap<usize, Part>,
    /// Memory of the parts, in bytes.
    held: usize,
    /// Number of rows whose labels were taken.
    taken: usize,
    /// True if no more lines come.
    is_complete: bool,
    /// Why the batch ends before it is done.
    error: Option<ServiceError>,
}

/// The next labels of a batch.
pub(super) enum Taken {
    /// Rows in their order, with their lines.
    Labels(Vec<Line>, Part),
    /// None yet.
    NotYet,
    /// All were taken.
    All,
    /// The batch ended before it was done.
    Aborted(ServiceError),
}

impl BatchWork {
    pub(super) fn new(
        service: &Arc<Service>,
        options: RowOptions,
        format: RowFormat,
        max_rows: usize,
        reservation: Reservation,
    ) -> Self {
        let limits = sweep_limits(service, options.limits);
        Self {
            service: Arc::clone(service),
            runtime: Handle::current(),
            options,
            format,
            reader: OnceLock::new(),
            limits,
            max_rows,
            rows: Mutex::default(),
            changed: Notify::new(),
            claim: AtomicUsize::new(1),
            reservation: Mutex::new(reservation),
        }
    }

    pub(super) fn want(&self) -> Want {
        self.options.want
    }

    /// The reader of the lines, once there are any.
    pub(super) fn reader(&self) -> Option<&RowReader> {
        self.reader.get()
    }

    /// Adds lines of a body of which so many bytes have arrived. The first line may be a header.
    ///
    /// # Errors
    /// The problem of a header, that of too many rows, or `overloaded` if there is no memory for them.
    pub(super) fn add(&self, mut lines: Vec<Line>, received: usize) -> Result<(), Problem> {
        if let (None, Some(first)) = (self.reader.get(), lines.first()) {
            let (reader, is_header) = RowReader::begin(self.options.clone(), &self.format, &first.text)?;
            if is_header {
                lines.remove(0);
            }
            let _ = self.reader.set(reader);
        }
        let mut rows = self.rows.lock();
        if rows.lines.len() + lines.len() > self.max_rows {
            return Err(LinesOf::Batch.too_large(&format!("The batch has more than {} boards", self.max_rows)));
        }
        let memory = BatchLimits::memory(received, rows.lines.len() + lines.len());
        let reserved = self.service.grow_reply(&mut self.reservation.lock(), memory);
        reserved.map_err(|error| service_failure(&error))?;
        rows.lines.append(&mut lines);
        Ok(())
    }

    /// Says that no more lines come. Returns the number of rows.
    ///
    /// # Errors
    /// If there are none.
    pub(super) fn complete(&self) -> Result<u64, Problem> {
        let mut rows = self.rows.lock();
        rows.is_complete = true;
        if rows.lines.is_empty() {
            let detail = "There are no boards. Send a line for each, for example [[8,6,7],[2,5,4],[3,0,1]].";
            return Err(Problem::new(ProblemKind::InvalidRequest, detail).with_errors(vec![RequestError::new(
                "",
                "missing-field",
                detail,
            )]));
        }
        Ok(rows.lines.len() as u64)
    }

    /// Takes the next labels. Returns true beside them if the batch was paused because they were not taken, so that it
    /// has to be woken.
    pub(super) fn take(&self) -> (Taken, bool) {
        let mut rows = self.rows.lock();
        let (first, was_full) = (rows.taken, rows.held >= BatchLimits::HELD);
        if let Some(part) = rows.parts.remove(&first) {
            rows.taken += part.len();
            rows.held -= part.bytes();
            let lines = rows.lines[first..first + part.len()].to_vec();
            return (Taken::Labels(lines, part), was_full && rows.held < BatchLimits::HELD);
        }
        let taken = match rows.error {
            _ if rows.is_complete && rows.taken == rows.lines.len() => Taken::All,
            Some(error) => Taken::Aborted(error),
            None => Taken::NotYet,
        };
        (taken, false)
    }

    /// Waits until [`take`](Self::take) may return something else.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Takes on the next rows.
    fn claim(&self) -> Result<(usize, Vec<Line>), SliceEnd> {
        let mut rows = self.rows.lock();
        let first = rows.claimed;
        let end = rows.lines.len().min(first + self.claim.load(Ordering::Relaxed));
        if first == end {
            return Err(if rows.is_complete { SliceEnd::Done } else { SliceEnd::Idle });
        }
        if rows.held >= BatchLimits::HELD {
            return Err(SliceEnd::Idle);
        }
        rows.claimed = end;
        Ok((first, rows.lines[first..end].to_vec()))
    }

    /// Stores the labels of rows.
    fn store(&self, first: usize, part: Part) {
        let is_next = {
            let mut rows = self.rows.lock();
            rows.held += part.bytes();
            rows.parts.insert(first, part);
            rows.taken == first
        };
        if is_next {
            self.changed.notify_one();
        }
    }

    /// Labels rows. Returns `None` if the batch is cancelled.
    fn label(&self, lines: &[Line], context: &SliceContext<'_>, counts: &mut BoardCounts) -> Option<Part> {
        let reader = self.reader()?;
        let mut sweep = MixedSweep::new(self.service.tables(), self.want(), self.limits);
        let mut part = Part::new(self.want());
        for line in lines {
            if context.should_pause() {
                context.pause();
            }
            if context.is_cancelled() {
                return None;
            }
            let row = self.row(&line.text, reader, &mut sweep, context)?;
            match row {
                Row::Solved(_) => counts.solved += 1,
                Row::Failed => counts.failed += 1,
                Row::Invalid => counts.invalid += 1,
            }
            part.push(&row);
        }
        Some(part)
    }

    fn row(
        &self,
        line: &[u8],
        reader: &RowReader,
        sweep: &mut MixedSweep<'_>,
        context: &SliceContext<'_>,
    ) -> Option<Row> {
        let Ok(puzzle) = reader.read(line).puzzle else { return Some(Row::Invalid) };
        let (goal, tables) = (puzzle.goal(), self.service.tables());
        let wait = self.service.settings().default_time;
        let load = || {
            tables.loaded_for(goal).unwrap_or_else(|| {
                context.without_worker(|| self.runtime.block_on(tables.load_within_memory(goal, wait)))
            })
        };
        let Some(sweep) = sweep.of(goal, load) else { return Some(Row::Invalid) };
        match sweep.label(&puzzle, SweepContext::from(context)) {
            Ok(label) => Some(Row::Solved(label)),
            Err(SweepError::Cancelled) => None,
            Err(failure) => {
                failure.report(&puzzle, self.service.metrics());
                Some(Row::Failed)
            }
        }
    }

    /// Adapts the number of rows of a claim to the time that so many took.
    fn adapt(&self, rows: usize, time: Duration) {
        const SHORT: Duration = Duration::from_millis(2);
        const LONG: Duration = Duration::from_millis(10);
        const MOST: usize = 1 << 10;
        if time < SHORT {
            self.claim.store((2 * rows).min(MOST), Ordering::Relaxed);
        } else if time > LONG {
            self.claim.store((rows / 2).max(1), Ordering::Relaxed);
        }
    }
}

impl BulkWork for BatchWork {
    fn run_slice(&self, context: &SliceContext<'_>) -> Slice {
        let mut boards = BoardCounts::default();
        let end = loop {
            let (first, lines) = match self.claim() {
                Ok(claim) => claim,
                Err(end) => break end,
            };
            let begun = Instant::now();
            let Some(part) = self.label(&lines, context, &mut boards) else { break SliceEnd::Done };
            self.adapt(lines.len(), begun.elapsed());
            self.store(first, part);
            if context.is_spent() || context.should_pause() {
                break SliceEnd::More;
            }
        };
        Slice { end, boards }
    }

    fn aborted(&self, error: ServiceError) {
        self.rows.lock().error = Some(error);
        self.changed.notify_one();
    }
}

/// Limits of each board: the requested ones, within those of the settings.
fn sweep_limits(service: &Service, requested: RequestedLimits) -> SweepLimits {
    let settings = service.settings();
    let most_time = if requested.time.is_some() { settings.max_time } else { settings.default_time };
    let expanded = requested.expanded.unwrap_or(u64::MAX).min(settings.max_expanded);
    let requested = RequestedLimits { expanded: Some(expanded), ..requested };
    SweepLimits { requested, most_time, memory: settings.bulk.search_memory }
}
