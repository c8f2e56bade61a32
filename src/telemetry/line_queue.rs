//! Lines on their way to standard output, many at a time.
//!
//! Whoever logs leaves a line in memory and goes on. A thread of its own writes what has gathered
//! there, a thousand times a second at most: under load that is one call of the system for dozens of
//! lines, and whoever reads the log slowly, or not at all, holds up nothing but the log.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

/// Bytes of lines that wait; further ones are lost, and their number is told.
const MOST: usize = 4 << 20;

/// The least time from one write to the next.
const PAUSE: Duration = Duration::from_millis(1);

/// How long the end of the process waits for the last lines.
const LAST_LINES: Duration = Duration::from_secs(1);

/// Where lines are left; every clone is the same queue.
#[derive(Clone, Debug)]
pub(super) struct LineQueue(Arc<Queue>);

/// Waits for the last lines when it goes out of scope.
#[derive(Debug)]
pub(super) struct Flush(Arc<Queue>);

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    /// Told to the thread that writes.
    news: Condvar,
    /// Told by it.
    end: Condvar,
}

#[derive(Debug, Default)]
struct State {
    lines: Vec<u8>,
    /// Lines that did not fit since the last write.
    lost: u64,
    /// Whether the thread has nothing to do, and sleeps until it is told.
    sleeps: bool,
    is_closing: bool,
    is_over: bool,
}

impl LineQueue {
    /// Starts the thread that writes to `out`.
    ///
    /// # Errors
    /// If the system has no thread to give.
    pub(super) fn start(out: impl Write + Send + 'static) -> io::Result<(Self, Flush)> {
        let queue = Arc::new(Queue::default());
        let own = Arc::clone(&queue);
        thread::Builder::new().name("taquin-log".to_owned()).spawn(move || own.write_to(out))?;
        Ok((Self(Arc::clone(&queue)), Flush(queue)))
    }
}

impl Write for &LineQueue {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut state = self.0.state();
        if state.lines.len() + line.len() > MOST {
            state.lost += 1;
        } else {
            state.lines.extend_from_slice(line);
        }
        if std::mem::take(&mut state.sleeps) {
            drop(state);
            self.0.news.notify_one();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for LineQueue {
    type Writer = &'a Self;

    fn make_writer(&'a self) -> &'a Self {
        self
    }
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_to(&self, mut out: impl Write) {
        let (mut lines, mut is_torn) = (Vec::new(), false);
        while let Some(lost) = self.take(&mut lines) {
            // What follows a line that may have broken off begins on a line of its own. There is nowhere to
            // tell of a log that cannot be written.
            let begun = if is_torn { out.write_all(b"\n") } else { Ok(()) };
            is_torn = begun.and_then(|()| out.write_all(&lines)).and_then(|()| out.flush()).is_err();
            lines.clear();
            if lost > 0 {
                tracing::warn!(target: "taquin::log", lines = lost, "lines were lost, as the log was not read in time");
            }
            let pause = self.news.wait_timeout_while(self.state(), PAUSE, |state| !state.is_closing);
            drop(pause);
        }
        self.state().is_over = true;
        self.end.notify_all();
    }

    /// Waits for lines and takes them all, and the number of those that did not fit; none at the end.
    fn take(&self, lines: &mut Vec<u8>) -> Option<u64> {
        let mut state = self.state();
        state.sleeps = state.lines.is_empty() && state.lost == 0;
        state = self
            .news
            .wait_while(state, |state| state.sleeps && !state.is_closing)
            .unwrap_or_else(PoisonError::into_inner);
        state.sleeps = false;
        if state.lines.is_empty() && state.lost == 0 {
            return None;
        }
        std::mem::swap(lines, &mut state.lines);
        Some(std::mem::take(&mut state.lost))
    }
}

impl Drop for Flush {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.is_closing = true;
        self.0.news.notify_all();
        let over = self.0.end.wait_timeout_while(state, LAST_LINES, |state| !state.is_over);
        drop(over);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Passes on what is written, and waits before each write until it may.
    struct Reader {
        may: mpsc::Receiver<()>,
        read: mpsc::Sender<Vec<u8>>,
    }

    impl Write for Reader {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.may.recv();
            self.read.send(bytes.to_vec()).map_err(io::Error::other)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn reader() -> (Reader, mpsc::Sender<()>, mpsc::Receiver<Vec<u8>>) {
        let ((go, may), (read, lines)) = (mpsc::channel(), mpsc::channel());
        (Reader { may, read }, go, lines)
    }

    #[test]
    fn lines_come_out_in_order_and_the_last_ones_before_the_end() {
        let (out, go, lines) = reader();
        drop(go);
        let (queue, flush) = LineQueue::start(out).unwrap();
        for number in 0..1000 {
            writeln!(&queue, "{number}").unwrap();
        }
        drop(flush);
        let text = String::from_utf8(lines.iter().flatten().collect()).unwrap();
        assert!(text.lines().eq((0..1000).map(|number| number.to_string())));
    }

    #[test]
    fn one_line_comes_without_another() {
        let (out, go, lines) = reader();
        let (queue, _flush) = LineQueue::start(out).unwrap();
        for line in ["one\n", "two\n"] {
            go.send(()).unwrap();
            (&queue).write_all(line.as_bytes()).unwrap();
            assert_eq!(lines.recv().unwrap(), line.as_bytes());
        }
    }

    #[test]
    fn a_line_that_fits_nowhere_is_lost_alone() {
        let (out, go, lines) = reader();
        drop(go);
        let (queue, flush) = LineQueue::start(out).unwrap();
        (&queue).write_all(&vec![b'x'; MOST + 1]).unwrap();
        while queue.0.state().lost > 0 {
            thread::yield_now();
        }
        (&queue).write_all(b"next\n").unwrap();
        drop(flush);
        assert_eq!(lines.iter().flatten().collect::<Vec<_>>(), b"next\n");
    }

    #[test]
    fn who_does_not_read_loses_lines_and_holds_up_nobody() {
        let (out, go, lines) = reader();
        let (queue, flush) = LineQueue::start(out).unwrap();
        let line = [b'x'; 1 << 10];
        // One write is on its way and stands; what comes then fills the queue.
        (&queue).write_all(&line).unwrap();
        while !queue.0.state().lines.is_empty() {
            thread::yield_now();
        }
        for _ in 0..(MOST >> 10) + 5 {
            (&queue).write_all(&line).unwrap();
        }
        let (waiting, lost) = {
            let state = queue.0.state();
            (state.lines.len(), state.lost)
        };
        assert_eq!((waiting, lost), (MOST, 5));
        drop(go);
        drop(flush);
        assert_eq!(lines.iter().map(|bytes| bytes.len()).sum::<usize>(), MOST + line.len());
    }
}
