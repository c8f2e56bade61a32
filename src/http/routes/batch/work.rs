//! The rows and labels of one batch in progress.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use taquin_bulk::rows::{InputRow, RowFormat, RowOptions, RowReader};
use taquin_bulk::{BatchSolver, FieldError, LabelLimits, Part, RequestedLimits, Row, RowsEnd, Want, label_rows};
use taquin_solver::Board;
use tokio::runtime::Handle;
use tokio::sync::Notify;

use super::lines::{Line, LinesOf};
use crate::http::problem::{Problem, ProblemKind};
use crate::http::reply::service_failure;
use crate::http::state::BatchLimits;
use crate::service::{BoardCounts, BulkWork, Reservation, Service, ServiceError, Slice, SliceContext, SliceEnd};

/// A batch: rows arrive, slices of bulk work label the rows, and the response takes the labels in order.
pub(super) struct BatchWork {
    service: Arc<Service>,
    runtime: Handle,
    options: RowOptions,
    format: RowFormat,
    /// Set at the first line, which may be a header.
    reader: OnceLock<RowReader>,
    limits: LabelLimits,
    /// Maximum number of rows.
    max_rows: usize,
    rows: Mutex<Rows>,
    /// Notified when labels are available, or when the batch has ended.
    changed: Notify,
    /// Rows that a thread claims at a time, adapted so that a claim takes some milliseconds.
    claim: AtomicUsize,
    reservation: Mutex<Reservation>,
}

#[derive(Default)]
struct Rows {
    lines: Vec<Line>,
    /// Number of claimed rows.
    claimed: usize,
    /// Labels, by index of the first row.
    parts: BTreeMap<usize, LabelledLines>,
    /// Memory of the parts, in bytes.
    held: usize,
    /// Number of rows whose labels were taken.
    taken: usize,
    /// True at the end of the body.
    is_complete: bool,
    /// Why the batch was aborted.
    error: Option<ServiceError>,
}

/// Labels of consecutive rows.
pub(super) struct LabelledLines {
    pub(super) part: Part,
    /// How boards were read, by index in the part. Rows in the documented notation have no entry.
    pub(super) readings: Vec<(usize, String)>,
}

impl LabelledLines {
    /// Memory in bytes.
    fn bytes(&self) -> usize {
        let readings: usize =
            self.readings.iter().map(|(_, read_as)| size_of::<(usize, String)>() + read_as.len()).sum();
        self.part.bytes() + readings
    }
}

/// The next labels of a batch.
pub(super) enum Taken {
    /// Labels in the order of the rows, with the lines.
    Labels(Vec<Line>, LabelledLines),
    /// No labels yet.
    NotYet,
    /// All labels were taken.
    All,
    /// The batch was aborted.
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
        let limits = label_limits(service, options.limits);
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

    /// The reader of rows; `None` before the first line.
    pub(super) fn reader(&self) -> Option<&RowReader> {
        self.reader.get()
    }

    /// Adds lines of a body. `received` is the number of bytes so far. The first line may be a header.
    ///
    /// # Errors
    /// The problem of a header or of too many rows, or `overloaded` if memory is too short for the rows.
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

    /// Marks the end of the body. Returns the number of rows.
    ///
    /// # Errors
    /// If the body has no rows.
    pub(super) fn complete(&self) -> Result<u64, Problem> {
        let mut rows = self.rows.lock();
        rows.is_complete = true;
        if rows.lines.is_empty() {
            let detail = "There are no boards. Send a line for each, for example [[8,6,7],[2,5,4],[3,0,1]].";
            let error = FieldError::new("", "missing-field", detail);
            return Err(Problem::new(ProblemKind::InvalidRequest, detail).with_errors(vec![error]));
        }
        Ok(rows.lines.len() as u64)
    }

    /// Takes the next labels. Also returns whether the batch was paused for a slow client, so that the caller must wake
    /// the bulk work.
    pub(super) fn take(&self) -> (Taken, bool) {
        let mut rows = self.rows.lock();
        let (first, was_full) = (rows.taken, rows.held >= BatchLimits::HELD);
        if let Some(labelled) = rows.parts.remove(&first) {
            let count = labelled.part.len();
            rows.taken += count;
            rows.held -= labelled.bytes();
            let lines = rows.lines[first..first + count].to_vec();
            return (Taken::Labels(lines, labelled), was_full && rows.held < BatchLimits::HELD);
        }
        let taken = match rows.error {
            _ if rows.is_complete && rows.taken == rows.lines.len() => Taken::All,
            Some(error) => Taken::Aborted(error),
            None => Taken::NotYet,
        };
        (taken, false)
    }

    /// Waits until the result of [`take`](Self::take) may change.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Claims the next rows.
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
    fn store(&self, first: usize, labelled: LabelledLines) {
        let is_next = {
            let mut rows = self.rows.lock();
            rows.held += labelled.bytes();
            rows.parts.insert(first, labelled);
            rows.taken == first
        };
        if is_next {
            self.changed.notify_one();
        }
    }

    /// Labels rows. Returns `None` if the batch is cancelled.
    fn label(&self, lines: &[Line], context: &SliceContext<'_>, counts: &mut BoardCounts) -> Option<LabelledLines> {
        let (reader, want, tables) = (self.reader()?, self.want(), self.service.tables());
        let wait = self.service.settings().default_time;
        let load = |goal: &Board| {
            tables.loaded_for(goal).unwrap_or_else(|| {
                context.without_worker(|| self.runtime.block_on(tables.load_within_memory(goal, wait)))
            })
        };
        let mut solver = BatchSolver::with_load(tables, want, self.limits, load);
        let (mut part, mut readings) = (Part::new(want), Vec::new());
        let rows = lines.iter().map(|line| {
            let InputRow { read_as, puzzle, .. } = reader.read(&line.text);
            (read_as, puzzle.ok().filter(|puzzle| want.serves(puzzle.size())).ok_or(()))
        });
        let end = label_rows(rows, &mut solver, context.control(self.service.metrics()), |read_as, labelled| {
            readings.extend(read_as.map(|read_as| (part.len(), read_as)));
            // A wrong solution fails only its row.
            let row = labelled.into_row().unwrap_or(Row::Failed);
            counts.count(&row);
            part.push(&row);
            Ok::<_, Infallible>(())
        });
        (end == Ok(RowsEnd::Exhausted)).then_some(LabelledLines { part, readings })
    }

    /// Adapts the number of rows of a claim to the time of the last claim.
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
            let Some(labelled) = self.label(&lines, context, &mut boards) else { break SliceEnd::Done };
            self.adapt(lines.len(), begun.elapsed());
            self.store(first, labelled);
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

/// Limits of each board: the requested limits, capped by the settings.
fn label_limits(service: &Service, requested: RequestedLimits) -> LabelLimits {
    let settings = service.settings();
    let most_time = if requested.time.is_some() { settings.max_time } else { settings.default_time };
    let expanded = requested.expanded.unwrap_or(u64::MAX).min(settings.max_expanded);
    let requested = RequestedLimits { expanded: Some(expanded), ..requested };
    LabelLimits { requested, most_time, memory: settings.bulk.search_memory }
}
