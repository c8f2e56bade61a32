//! The progress of a batch: a bar on a terminal, a line every ten seconds elsewhere.

use std::fmt;
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::Scope;
use std::time::{Duration, Instant};

use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressStyle};

use super::console::say;
use crate::jobs::Progress;

/// Shows the progress of a run until it is over.
pub(super) struct ProgressDisplay<'p> {
    progress: &'p Progress,
    begun: Instant,
}

/// The figures of a moment.
struct Figures {
    total: u64,
    done: u64,
    labelled: u64,
    failed: u64,
    hardest: u32,
    elapsed: Duration,
}

impl<'p> ProgressDisplay<'p> {
    pub(super) fn start(progress: &'p Progress) -> Self {
        Self { progress, begun: Instant::now() }
    }

    /// Shows the progress until the returned sender is dropped.
    pub(super) fn show<'scope>(&'p self, scope: &'scope Scope<'scope, 'p>) -> Sender<()> {
        const FRAME: Duration = Duration::from_millis(200);
        const LINE: Duration = Duration::from_secs(10);
        let (stop, stopped) = channel::<()>();
        let bar = io::stderr().is_terminal().then(bar);
        let every = if bar.is_some() { FRAME } else { LINE };
        let show = move || {
            while stopped.recv_timeout(every) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                let figures = self.figures();
                match &bar {
                    Some(bar) => {
                        bar.set_length(figures.total);
                        bar.set_position(figures.done);
                        bar.set_message(figures.rest());
                    }
                    None => say(&figures),
                }
            }
            bar.inspect(ProgressBar::finish_and_clear);
        };
        // Without a thread, nothing is shown.
        let _ = std::thread::Builder::new().spawn_scoped(scope, show);
        stop
    }

    fn figures(&self) -> Figures {
        let Progress { total, resumed, labelled, failed, hardest } = self.progress;
        let load = |figure: &AtomicU64| figure.load(Ordering::Relaxed);
        Figures {
            total: load(total),
            done: load(resumed) + load(labelled),
            labelled: load(labelled),
            failed: load(failed),
            hardest: hardest.load(Ordering::Relaxed),
            elapsed: self.begun.elapsed(),
        }
    }

    /// A line about the whole run.
    pub(super) fn summary(&self) -> String {
        let figures = self.figures();
        let Figures { labelled, hardest, failed, elapsed, .. } = figures;
        let resumed = if figures.done > labelled {
            format!(" ({} were there before)", HumanCount(figures.done - labelled))
        } else {
            String::new()
        };
        format!(
            "{} boards in {:.1} s, {} a second; the hardest takes {hardest} moves; {failed} failed{resumed}",
            HumanCount(labelled),
            elapsed.as_secs_f64(),
            HumanCount(figures.rate()),
        )
    }
}

impl Figures {
    /// Boards a second.
    fn rate(&self) -> u64 {
        (self.labelled as f64 / self.elapsed.as_secs_f64().max(1e-3)) as u64
    }

    /// What a bar does not show.
    fn rest(&self) -> String {
        let left = match self.rate() {
            0 => String::new(),
            rate => format!(
                ", {:#} left",
                HumanDuration(Duration::from_secs((self.total - self.done.min(self.total)) / rate))
            ),
        };
        let failed = if self.failed > 0 { format!(", {} failed", HumanCount(self.failed)) } else { String::new() };
        format!("{} a second{left}, hardest {}{failed}", HumanCount(self.rate()), self.hardest)
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} boards, {}", HumanCount(self.done), HumanCount(self.total), self.rest())
    }
}

fn bar() -> ProgressBar {
    const TEMPLATE: &str = "{bar:30} {human_pos}/{human_len} {msg}";
    let style = ProgressStyle::with_template(TEMPLATE).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(0).with_style(style)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_are_those_of_the_run() {
        let progress = Progress::default();
        progress.total.store(10_000, Ordering::Relaxed);
        progress.resumed.store(1_000, Ordering::Relaxed);
        progress.labelled.store(3_000, Ordering::Relaxed);
        progress.hardest.store(31, Ordering::Relaxed);
        let display = ProgressDisplay { progress: &progress, begun: Instant::now() };
        let figures = Figures { elapsed: Duration::from_secs(3), ..display.figures() };
        assert_eq!(figures.to_string(), "4,000 of 10,000 boards, 1,000 a second, 6s left, hardest 31");
        progress.failed.store(2, Ordering::Relaxed);
        let summary = display.summary();
        assert!(summary.starts_with("3,000 boards in 0.0 s, "), "{summary}");
        assert!(summary.ends_with("the hardest takes 31 moves; 2 failed (1,000 were there before)"), "{summary}");
    }
}
