//! The exports of the module.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use js_sys::Function;
use serde_json::json;
use taquin_solver::{Instant, Observer, Path, Progress, set_clock};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// Time between two reports of progress.
const INTERVAL: Duration = Duration::from_millis(100);

#[wasm_bindgen]
extern "C" {
    /// Milliseconds since a fixed moment.
    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    fn performance_now() -> f64;
}

/// Brings the clock of searches.
#[wasm_bindgen(start)]
pub fn start() {
    set_clock(|| Duration::from_secs_f64(performance_now() / 1000.0));
}

/// Runs an operation. The request and the response are JSON. `on_progress` receives the progress as JSON, some times a
/// second.
///
/// # Errors
/// A problem document as JSON.
#[wasm_bindgen]
pub fn run(operation: &str, request: &str, on_progress: Option<Function>) -> Result<String, String> {
    let observes = on_progress.is_some();
    let now = Instant::now();
    RUN.set(on_progress.map(|on_progress| Run {
        on_progress,
        begun: now,
        reported: Cell::new(now),
        length: Cell::new(None),
    }));
    let response = crate::run(operation, request, observes.then_some(&Reporter as &dyn Observer));
    RUN.set(None);
    response
}

/// An observed run.
struct Run {
    on_progress: Function,
    begun: Instant,
    reported: Cell<Instant>,
    /// Length of the shortest solution so far.
    length: Cell<Option<usize>>,
}

thread_local! {
    /// The current run. An observer must be `Sync`, and a function of JavaScript is not.
    static RUN: RefCell<Option<Run>> = const { RefCell::new(None) };
}

/// Reports the progress of the current run.
#[derive(Debug)]
struct Reporter;

impl Observer for Reporter {
    fn reached(&self, progress: Progress) {
        RUN.with_borrow(|run| run.iter().for_each(|run| run.report(progress)));
    }

    fn found(&self, path: &Path) {
        RUN.with_borrow(|run| run.iter().for_each(|run| run.length.set(Some(path.len()))));
    }
}

impl Run {
    fn report(&self, Progress { expanded, generated, lower_bound, threshold }: Progress) {
        let now = Instant::now();
        if now.saturating_duration_since(self.reported.get()) < INTERVAL {
            return;
        }
        self.reported.set(now);
        let elapsed = now.saturating_duration_since(self.begun);
        let progress = json!({
            "expanded": expanded,
            "generated": generated,
            "lower_bound": lower_bound,
            "threshold": threshold,
            "length": self.length.get(),
            "elapsed_us": elapsed.as_micros() as u64,
        });
        // The search goes on if the function throws.
        let _ = self.on_progress.call1(&JsValue::NULL, &progress.to_string().into());
    }
}
