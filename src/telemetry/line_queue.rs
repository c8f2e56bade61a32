//! Lines on their way to standard output, many at a time.
//!
//! Whoever logs leaves a line in memory and goes on. A thread of its own writes what has gathered
//! there, about a thousand times a second: under load that is a call of the system for dozens of
//! lines, and whoever reads the log slowly, or not at all, holds up nothing but the log.
//!
//! Lines of a thread stay in order. Those of two threads may change places if they were left between two
//! writes, a millisecond apart or as long as a write takes; each has its time in it.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

use super::lanes::{LANES, Lane, lane};

/// Bytes of lines that wait in a lane; further ones are lost, and their number is told.
const MOST: usize = 1 << 20;

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
    lanes: [Lane<Waiting>; LANES],
    /// The thread that writes.
    writer: OnceLock<Thread>,
    /// Whether it sleeps until it is woken.
    sleeps: AtomicBool,
    is_closing: AtomicBool,
    /// Whether it has ended, and where that is told.
    is_over: Mutex<bool>,
    end: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    lines: Vec<u8>,
    /// Lines that did not fit since the last write.
    lost: u64,
}

impl LineQueue {
    /// Starts the thread that writes to `out`.
    ///
    /// # Errors
    /// If the system has no thread to give.
    pub(super) fn start(out: impl Write + Send + 'static) -> io::Result<(Self, Flush)> {
        let queue = Arc::new(Queue::default());
        let own = Arc::clone(&queue);
        let writer = thread::Builder::new().name("taquin-log".to_owned()).spawn(move || own.write_to(out))?;
        // Nobody else sets it, and nobody has left a line before.
        let _ = queue.writer.set(writer.thread().clone());
        Ok((Self(Arc::clone(&queue)), Flush(queue)))
    }
}

impl Write for &LineQueue {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut waiting = self.0.lanes[lane()].lock();
        if waiting.lines.len() + line.len() > MOST {
            waiting.lost += 1;
        } else {
            waiting.lines.extend_from_slice(line);
        }
        drop(waiting);
        if self.0.sleeps.load(Ordering::SeqCst) {
            self.0.wake();
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
    #[cold]
    fn wake(&self) {
        if self.sleeps.swap(false, Ordering::SeqCst)
            && let Some(writer) = self.writer.get()
        {
            writer.unpark();
        }
    }

    /// Waits for lines; false at the end, when there are none.
    ///
    /// The thread says that it sleeps before it looks, and whoever leaves a line looks afterwards whether it
    /// does: one of them sees the other.
    fn wait(&self) -> bool {
        loop {
            self.sleeps.store(true, Ordering::SeqCst);
            let is_closing = self.is_closing.load(Ordering::SeqCst);
            let is_any = self.lanes.iter().any(|lane| !lane.lock().is_empty());
            if is_any || is_closing {
                self.sleeps.store(false, Ordering::SeqCst);
                return is_any;
            }
            thread::park();
        }
    }

    fn write_to(&self, mut out: impl Write) {
        let (mut lines, mut is_torn) = (Vec::new(), false);
        while self.wait() {
            let mut lost = 0;
            for lane in &self.lanes {
                lost += lane.lock().take(&mut lines);
                if lines.is_empty() {
                    continue;
                }
                // What follows a line that may have broken off begins on a line of its own. There is nowhere to
                // tell of a log that cannot be written.
                let begun = if is_torn { out.write_all(b"\n") } else { Ok(()) };
                is_torn = begun.and_then(|()| out.write_all(&lines)).and_then(|()| out.flush()).is_err();
                lines.clear();
            }
            if lost > 0 {
                tracing::warn!(target: "taquin::log", lines = lost, "lines were lost, as the log was not read in time");
            }
            if !self.is_closing.load(Ordering::SeqCst) {
                thread::park_timeout(PAUSE);
            }
        }
        *self.is_over() = true;
        self.end.notify_all();
    }

    fn is_over(&self) -> MutexGuard<'_, bool> {
        self.is_over.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.lost == 0
    }

    /// Takes all lines, and the number of those that did not fit.
    fn take(&mut self, lines: &mut Vec<u8>) -> u64 {
        std::mem::swap(lines, &mut self.lines);
        std::mem::take(&mut self.lost)
    }
}

impl Drop for Flush {
    fn drop(&mut self) {
        self.0.is_closing.store(true, Ordering::SeqCst);
        self.0.wake();
        let over = self.0.end.wait_timeout_while(self.0.is_over(), LAST_LINES, |is_over| !*is_over);
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

    fn is_empty(queue: &LineQueue) -> bool {
        queue.0.lanes.iter().all(|lane| lane.lock().is_empty())
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
    fn no_line_of_many_threads_is_lost_and_each_has_its_own_in_order() {
        const THREADS: usize = 3 * LANES;
        let (out, go, lines) = reader();
        drop(go);
        let (queue, flush) = LineQueue::start(out).unwrap();
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let mut queue = &queue;
                scope.spawn(move || {
                    // A line is what is written at once.
                    let lines = (0..1000).map(|number| format!("{thread} {number}\n"));
                    lines.for_each(|line| queue.write_all(line.as_bytes()).unwrap());
                });
            }
        });
        drop(flush);
        let text = String::from_utf8(lines.iter().flatten().collect()).unwrap();
        for thread in 0..THREADS {
            let own = text.lines().filter_map(|line| line.strip_prefix(&format!("{thread} ")));
            assert!(own.eq((0..1000).map(|number| number.to_string())), "of thread {thread}");
        }
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
        while !is_empty(&queue) {
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
        while !is_empty(&queue) {
            thread::yield_now();
        }
        for _ in 0..(MOST >> 10) + 5 {
            (&queue).write_all(&line).unwrap();
        }
        let (waiting, lost) = {
            let waiting = queue.0.lanes[lane()].lock();
            (waiting.lines.len(), waiting.lost)
        };
        assert_eq!((waiting, lost), (MOST, 5));
        drop(go);
        drop(flush);
        assert_eq!(lines.iter().map(|bytes| bytes.len()).sum::<usize>(), MOST + line.len());
    }
}
