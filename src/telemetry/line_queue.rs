//! A bounded queue of log lines, and the thread that writes them to standard output.
//!
//! Logging appends a line to the queue and returns. The thread writes all queued lines at once, at most two hundred
//! times a second, so under load one system call writes hundreds of lines. A slow reader of the log blocks only this
//! thread: when the queue is full, further lines are dropped and counted.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, Thread};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use tracing_subscriber::fmt::MakeWriter;

/// Maximum size of the queue in bytes. Further lines are dropped.
const CAPACITY: usize = 4 << 20;

/// Minimum time between two writes.
const PAUSE: Duration = Duration::from_millis(5);

/// The process waits this long for the last lines when it exits.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// The queue. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct LineQueue(Arc<Queue>);

/// On drop, waits until the last lines are written, for at most a second.
#[derive(Debug)]
pub(crate) struct Flush(Arc<Queue>);

#[derive(Debug, Default)]
struct Queue {
    pending: Mutex<Pending>,
    /// The writing thread.
    writer: OnceLock<Thread>,
    /// True while the writing thread is parked.
    sleeps: AtomicBool,
    is_closing: AtomicBool,
    /// True once the writing thread has ended; `end` is notified then.
    is_over: Mutex<bool>,
    end: Condvar,
}

#[derive(Debug, Default)]
struct Pending {
    lines: Vec<u8>,
    /// Lines dropped since the last write.
    lost: u64,
}

impl LineQueue {
    /// Starts the thread that writes to `out`.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub(crate) fn start(out: impl Write + Send + 'static) -> io::Result<(Self, Flush)> {
        let queue = Arc::new(Queue::default());
        let own = Arc::clone(&queue);
        let writer = thread::Builder::new().name("taquin-log".to_owned()).spawn(move || own.write_to(out))?;
        // Set only here, and before the first line.
        let _ = queue.writer.set(writer.thread().clone());
        Ok((Self(Arc::clone(&queue)), Flush(queue)))
    }
}

impl Write for &LineQueue {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut pending = self.0.pending.lock();
        if pending.lines.len() + line.len() > CAPACITY {
            pending.lost += 1;
        } else {
            pending.lines.extend_from_slice(line);
        }
        drop(pending);
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

    /// Waits for lines. Returns false if the queue is closed and empty.
    ///
    /// The thread sets `sleeps` before it looks for lines; a logging thread appends its line before it reads `sleeps`.
    /// So at least one of them sees the other.
    fn wait(&self) -> bool {
        loop {
            self.sleeps.store(true, Ordering::SeqCst);
            let is_closing = self.is_closing.load(Ordering::SeqCst);
            let is_any = !self.pending.lock().is_empty();
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
            let lost = self.pending.lock().take(&mut lines);
            if !lines.is_empty() {
                // After a failed write, the last line may be incomplete, so the next write starts a new line. The log
                // cannot log its own errors.
                let begun = if is_torn { out.write_all(b"\n") } else { Ok(()) };
                is_torn = begun.and_then(|()| out.write_all(&lines)).and_then(|()| out.flush()).is_err();
                lines.clear();
            }
            if lost > 0 {
                tracing::warn!(target: "taquin::log", lines = lost, "lines dropped: the log was not read in time");
            }
            if !self.is_closing.load(Ordering::SeqCst) {
                thread::park_timeout(PAUSE);
            }
        }
        *self.is_over.lock() = true;
        self.end.notify_all();
    }
}

impl Pending {
    fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.lost == 0
    }

    /// Moves all lines to `lines`, which must be empty, and returns the number of dropped lines.
    fn take(&mut self, lines: &mut Vec<u8>) -> u64 {
        std::mem::swap(lines, &mut self.lines);
        std::mem::take(&mut self.lost)
    }
}

impl Drop for Flush {
    fn drop(&mut self) {
        self.0.is_closing.store(true, Ordering::SeqCst);
        self.0.wake();
        self.0.end.wait_while_for(&mut self.0.is_over.lock(), |is_over| !*is_over, FLUSH_TIMEOUT);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Forwards each write, after waiting for permission.
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
        queue.0.pending.lock().is_empty()
    }

    #[test]
    fn lines_are_written_in_order_and_the_last_ones_at_the_end() {
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
    fn lines_of_many_threads_are_all_written_in_the_order_of_each_thread() {
        const THREADS: usize = 24;
        let (out, go, lines) = reader();
        drop(go);
        let (queue, flush) = LineQueue::start(out).unwrap();
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let mut queue = &queue;
                scope.spawn(move || {
                    // One write for each line.
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
    fn a_single_line_is_written_at_once() {
        let (out, go, lines) = reader();
        let (queue, _flush) = LineQueue::start(out).unwrap();
        for line in ["one\n", "two\n"] {
            go.send(()).unwrap();
            (&queue).write_all(line.as_bytes()).unwrap();
            assert_eq!(lines.recv().unwrap(), line.as_bytes());
        }
    }

    #[test]
    fn a_line_longer_than_the_queue_is_dropped_alone() {
        let (out, go, lines) = reader();
        drop(go);
        let (queue, flush) = LineQueue::start(out).unwrap();
        (&queue).write_all(&vec![b'x'; CAPACITY + 1]).unwrap();
        while !is_empty(&queue) {
            thread::yield_now();
        }
        (&queue).write_all(b"next\n").unwrap();
        drop(flush);
        assert_eq!(lines.iter().flatten().collect::<Vec<_>>(), b"next\n");
    }

    #[test]
    fn a_full_queue_drops_lines_without_blocking() {
        let (out, go, lines) = reader();
        let (queue, flush) = LineQueue::start(out).unwrap();
        let line = [b'x'; 1 << 10];
        // The first write is blocked; further lines fill the queue.
        (&queue).write_all(&line).unwrap();
        while !is_empty(&queue) {
            thread::yield_now();
        }
        for _ in 0..(CAPACITY >> 10) + 5 {
            (&queue).write_all(&line).unwrap();
        }
        let (queued, lost) = {
            let pending = queue.0.pending.lock();
            (pending.lines.len(), pending.lost)
        };
        assert_eq!((queued, lost), (CAPACITY, 5));
        drop(go);
        drop(flush);
        assert_eq!(lines.iter().map(|bytes| bytes.len()).sum::<usize>(), CAPACITY + line.len());
    }
}
