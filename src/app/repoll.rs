//! Polls a future once more if the future wakes its own task.
//!
//! A handler reads a request body on the task of its connection, and hyper wakes the task for each part that the
//! handler takes. The runtime would schedule the task again, and wake another thread that may take the task over.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::task::AtomicWaker;

/// Wakes a task, except during a poll.
#[derive(Debug, Default)]
struct TaskWaker {
    task: AtomicWaker,
    is_polled: AtomicBool,
    is_woken: AtomicBool,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::SeqCst);
        if !self.is_polled.load(Ordering::SeqCst) {
            self.task.wake();
        }
    }
}

/// Returns the output of a future. After a poll that wakes the task, the future is polled again at once. After a second
/// such poll, the runtime schedules the task as usual, so that other tasks run.
pub(crate) fn repoll<F: Future + Unpin>(future: &mut F) -> impl Future<Output = F::Output> {
    let own = Arc::new(TaskWaker::default());
    let waker = Waker::from(Arc::clone(&own));
    poll_fn(move |context| {
        own.task.register(context.waker());
        for _ in 0..2 {
            own.is_woken.store(false, Ordering::SeqCst);
            own.is_polled.store(true, Ordering::SeqCst);
            let poll = Pin::new(&mut *future).poll(&mut Context::from_waker(&waker));
            own.is_polled.store(false, Ordering::SeqCst);
            if poll.is_ready() || !own.is_woken.load(Ordering::SeqCst) {
                return poll;
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::atomic::AtomicUsize;
    use std::task::ready;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Polls a future under `repoll`. Returns its output and how often its task was woken.
    fn poll<F: Future + Unpin>(future: &mut F) -> (Poll<F::Output>, usize) {
        let count = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&count));
        let poll = pin!(repoll(future)).poll(&mut Context::from_waker(&waker));
        (poll, count.0.load(Ordering::Relaxed))
    }

    /// A future that wakes its task in each of `polls` polls, and then ends.
    fn ends_after(mut polls: usize) -> impl Future<Output = ()> + Unpin {
        poll_fn(move |context| {
            if polls == 0 {
                return Poll::Ready(());
            }
            polls -= 1;
            context.waker().wake_by_ref();
            Poll::Pending
        })
    }

    #[test]
    fn a_wake_during_a_poll_polls_again_and_does_not_wake_the_task() {
        assert_eq!(poll(&mut ends_after(0)), (Poll::Ready(()), 0));
        assert_eq!(poll(&mut ends_after(1)), (Poll::Ready(()), 0));
    }

    #[test]
    fn a_future_that_wakes_its_task_again_and_again_yields() {
        let mut future = ends_after(5);
        assert_eq!(poll(&mut future), (Poll::Pending, 1));
        assert_eq!(poll(&mut future), (Poll::Pending, 1));
        assert_eq!(poll(&mut future), (Poll::Ready(()), 0));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn no_wake_of_another_thread_is_lost() {
        const WAKES: usize = 20_000;
        let (sender, mut receiver) = tokio::sync::mpsc::channel(1);
        let sending = tokio::spawn(async move {
            for number in 0..WAKES {
                sender.send(number).await.unwrap();
            }
        });
        let mut received = 0;
        let mut receiving = poll_fn(|context| {
            while let Some(number) = ready!(receiver.poll_recv(context)) {
                assert_eq!(number, received);
                received += 1;
            }
            Poll::Ready(())
        });
        repoll(&mut receiving).await;
        sending.await.unwrap();
        assert_eq!(received, WAKES);
    }
}
