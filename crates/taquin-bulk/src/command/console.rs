//! Messages on the standard error, and the progress of a batch. On a terminal, the progress is a bar. Otherwise, the
//! progress is a line every ten seconds.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::Scope;
use std::time::{Duration, Instant};

use crate::Progress;
use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressStyle};

/// Display of the progress of a run.
pub(crate) struct ProgressDisplay<'p> {
    progress: &'p Progress,
    begun: Instant,
}

/// Snapshot of the progress.
struct Figures {
    /// Number of all boards; 0 if the number is unknown.
    total: u64,
    is_estimate: bool,
    done: u64,
    labelled: u64,
    failed: u64,
    hardest: u32,
    elapsed: Duration,
}

impl<'p> ProgressDisplay<'p> {
    pub(crate) fn start(progress: &'p Progress) -> Self {
        Self { progress, begun: Instant::now() }
    }

    /// Shows the progress on a new thread of `scope`. The display ends when the returned sender is dropped.
    pub(crate) fn show<'scope>(&'p self, scope: &'scope Scope<'scope, 'p>) -> Sender<()> {
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
                        bar.set_length(figures.total.max(figures.done));
                        bar.set_position(figures.done);
                        bar.set_prefix(figures.count());
                        bar.set_message(figures.rest());
                    }
                    None => say(&figures),
                }
            }
            bar.inspect(ProgressBar::finish_and_clear);
        };
        // If no thread can be created, the progress is not shown.
        let _ = std::thread::Builder::new().spawn_scoped(scope, show);
        stop
    }

    fn figures(&self) -> Figures {
        let Progress { total, is_estimate, resumed, labelled, failed, hardest } = self.progress;
        let load = |figure: &AtomicU64| figure.load(Ordering::Relaxed);
        Figures {
            total: load(total),
            is_estimate: is_estimate.load(Ordering::Relaxed),
            done: load(resumed) + load(labelled),
            labelled: load(labelled),
            failed: load(failed),
            hardest: hardest.load(Ordering::Relaxed),
            elapsed: self.begun.elapsed(),
        }
    }

    /// Returns a summary of the run, in one line.
    pub(crate) fn summary(&self) -> String {
        let figures = self.figures();
        let Figures { labelled, hardest, failed, elapsed, .. } = figures;
        let resumed = match figures.done - labelled {
            0 => String::new(),
            1 => " (1 was there before)".to_owned(),
            resumed => format!(" ({} were there before)", HumanCount(resumed)),
        };
        format!(
            "{} in {:.1} s, {}; the hardest takes {}; {} failed{resumed}",
            counted(labelled, "board"),
            elapsed.as_secs_f64(),
            figures.rate_text(),
            counted(hardest.into(), "move"),
            HumanCount(failed),
        )
    }
}

impl Figures {
    /// Returns the number of boards that this run labels per second.
    fn rate(&self) -> f64 {
        self.labelled as f64 / self.elapsed.as_secs_f64().max(1e-3)
    }

    fn rate_text(&self) -> String {
        match self.rate() {
            rate if rate == 0.0 || rate >= 10.0 => format!("{} a second", HumanCount(rate.round() as u64)),
            rate if rate >= 0.1 => format!("{rate:.1} a second"),
            rate => format!("{:.1} a minute", 60.0 * rate),
        }
    }

    /// Formats the number of finished boards, and the number of all boards if that number is known.
    fn count(&self) -> String {
        let about = if self.is_estimate { "about " } else { "" };
        match self.total {
            0 => counted(self.done, "board"),
            total => format!("{} of {about}{}", HumanCount(self.done), counted(total.max(self.done), "board")),
        }
    }

    fn rest(&self) -> String {
        let left = self.total.saturating_sub(self.done) as f64 / self.rate();
        let left = match Duration::try_from_secs_f64(left) {
            Ok(left) if !left.is_zero() => format!(", {:#} left", HumanDuration(left)),
            _ => String::new(),
        };
        let failed = if self.failed > 0 { format!(", {} failed", HumanCount(self.failed)) } else { String::new() };
        format!("{}{left}, hardest {}{failed}", self.rate_text(), self.hardest)
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.count(), self.rest())
    }
}

fn bar() -> ProgressBar {
    const TEMPLATE: &str = "{bar:30} {prefix}, {msg}";
    let style = ProgressStyle::with_template(TEMPLATE).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(0).with_style(style)
}

/// Writes a message to the standard error.
pub(crate) fn say(message: impl fmt::Display) {
    // A failed write is ignored, because there is no other place for the message.
    let _ = writeln!(io::stderr(), "taquin: {message}");
}

/// Formats a number with a noun, such as `1 board` or `2,000 boards`.
pub(crate) fn counted(count: u64, thing: &str) -> String {
    let end = if count == 1 { "" } else { "s" };
    format!("{} {thing}{end}", HumanCount(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(total: u64, labelled: u64, seconds: u64) -> Figures {
        let progress = Progress::default();
        progress.total.store(total, Ordering::Relaxed);
        progress.labelled.store(labelled, Ordering::Relaxed);
        let display = ProgressDisplay { progress: &progress, begun: Instant::now() };
        Figures { elapsed: Duration::from_secs(seconds), ..display.figures() }
    }

    #[test]
    fn a_summary_counts_rows_of_before() {
        let progress = Progress::default();
        progress.labelled.store(1, Ordering::Relaxed);
        progress.hardest.store(1, Ordering::Relaxed);
        progress.note_resumed(1_000, 2);
        let summary = ProgressDisplay::start(&progress).summary();
        assert!(summary.starts_with("1 board in 0.0 s, "), "{summary}");
        assert!(summary.ends_with("the hardest takes 1 move; 2 failed (1,000 were there before)"), "{summary}");
    }

    #[test]
    fn figures_claim_no_more_than_is_known() {
        assert_eq!(figures(10_000, 4_000, 4).to_string(), "4,000 of 10,000 boards, 1,000 a second, 6s left, hardest 0");
        assert_eq!(figures(0, 6, 2).to_string(), "6 boards, 3.0 a second, hardest 0");
        assert_eq!(figures(0, 1, 10).to_string(), "1 board, 0.1 a second, hardest 0");
        assert_eq!(figures(2, 1, 40).to_string(), "1 of 2 boards, 1.5 a minute, 40s left, hardest 0");
        assert_eq!(figures(5, 0, 10).to_string(), "0 of 5 boards, 0 a second, hardest 0");
        let estimate = Figures { is_estimate: true, ..figures(35_887, 8_965, 1) };
        assert!(estimate.to_string().starts_with("8,965 of about 35,887 boards, "), "{estimate}");
    }
}
