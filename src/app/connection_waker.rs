//! The waker of a connection's task, without the wakes that reading a request body causes for nothing.
//!
//! A handler reads a body on the task of its connection. For each part that it takes, hyper wakes that task, so that it
//! reads the next part from the socket. After the last part there is none, and the task would only be polled once more
//! (docs/adr/0022).

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

/// Wakes a connection's task, at once or after [`defer_wakes`].
pub(crate) struct ConnectionWaker {
    task: Waker,
}

/// What happens to the wakes of connections on this thread.
#[derive(Default)]
enum Wakes {
    #[default]
    AtOnce,
    /// The last wake, if there was any, waits.
    Deferred(Option<Arc<ConnectionWaker>>),
}

thread_local! {
    static WAKES: Cell<Wakes> = const { Cell::new(Wakes::AtOnce) };
}

impl Wake for ConnectionWaker {
    fn wake(self: Arc<Self>) {
        match WAKES.take() {
            Wakes::AtOnce => self.task.wake_by_ref(),
            Wakes::Deferred(_) => WAKES.set(Wakes::Deferred(Some(self))),
        }
    }
}

/// Polls a connection with a waker of its own, whose wakes [`defer_wakes`] holds back.
pub(crate) fn deferring_wakes<F: Future + Unpin>(connection: &mut F) -> impl Future<Output = F::Output> {
    // The waker of the task, and the own one that belongs to it.
    let mut wakers: Option<(Waker, Waker)> = None;
    poll_fn(move |context| {
        let task = context.waker();
        if wakers.as_ref().is_some_and(|(of, _)| !of.will_wake(task)) {
            wakers = None;
        }
        let own = || Waker::from(Arc::new(ConnectionWaker { task: task.clone() }));
        let (_, own) = wakers.get_or_insert_with(|| (task.clone(), own()));
        Pin::new(&mut *connection).poll(&mut Context::from_waker(own))
    })
}

/// Calls a function, and returns the wake of a connection that it caused on this thread. The caller wakes the task
/// unless it has nothing to do. The function may wake one connection only.
pub(crate) fn defer_wakes<T>(call: impl FnOnce() -> T) -> (T, Option<Arc<ConnectionWaker>>) {
    /// Also after a panic, so that no later wake is lost.
    struct Ended;

    impl Drop for Ended {
        fn drop(&mut self) {
            WAKES.take();
        }
    }

    let _ended = Ended;
    WAKES.set(Wakes::Deferred(None));
    let done = call();
    match WAKES.take() {
        Wakes::Deferred(wake) => (done, wake),
        Wakes::AtOnce => (done, None),
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Poll;
    use std::thread;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The waker that a future has under `deferring_wakes` when a task polls it.
    fn own_wakers(tasks: &[&Waker]) -> Vec<Waker> {
        let mut wakers = Vec::new();
        let mut connection = poll_fn(|context| {
            wakers.push(context.waker().clone());
            Poll::<()>::Pending
        });
        let mut polled = deferring_wakes(&mut connection);
        for task in tasks {
            assert!(Pin::new(&mut polled).poll(&mut Context::from_waker(task)).is_pending());
        }
        drop(polled);
        drop(connection);
        wakers
    }

    fn counted() -> (Arc<Count>, Waker) {
        let count = Arc::<Count>::default();
        let task = Waker::from(Arc::clone(&count));
        (count, own_wakers(&[&task]).remove(0))
    }

    #[test]
    fn a_deferred_wake_is_up_to_the_caller() {
        let (count, waker) = counted();
        let wakes = || count.0.load(Ordering::Relaxed);
        waker.wake_by_ref();
        assert_eq!(wakes(), 1);
        let ((), deferred) = defer_wakes(|| waker.wake_by_ref());
        assert_eq!(wakes(), 1);
        deferred.unwrap().wake();
        assert_eq!(wakes(), 2);
        assert!(defer_wakes(|| ()).1.is_none());
        waker.wake();
        assert_eq!(wakes(), 3);
    }

    #[test]
    fn wakes_of_other_threads_are_not_deferred() {
        let (count, waker) = counted();
        let ((), deferred) = defer_wakes(|| thread::spawn(move || waker.wake()).join().unwrap());
        assert_eq!((count.0.load(Ordering::Relaxed), deferred.is_some()), (1, false));
    }

    #[test]
    fn a_panic_ends_the_deferral() {
        let (count, waker) = counted();
        assert!(catch_unwind(|| defer_wakes(|| panic!("as expected"))).is_err());
        waker.wake();
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn the_waker_is_kept_for_one_task() {
        let (one, other) = (Waker::from(Arc::<Count>::default()), Waker::from(Arc::<Count>::default()));
        let own = own_wakers(&[&one, &one, &other]);
        assert!(own[0].will_wake(&own[1]) && !own[1].will_wake(&own[2]));
    }
}
