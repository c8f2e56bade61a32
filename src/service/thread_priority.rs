//! The priority of threads in the operating system.

/// Lowers the priority of this thread, and of the threads that it starts, in favor of searches and connections.
///
/// At this niceness, a waking search or connection preempts the thread, which still gets a quarter of a core beside a
/// busy one.
pub(crate) fn lower_thread_priority() {
    const NICENESS: i32 = 5;
    // Only Linux has a niceness for each thread; elsewhere it would apply to the process.
    if cfg!(target_os = "linux") {
        // Without permission the thread keeps its priority.
        let _ = rustix::process::nice(NICENESS);
    }
}
