//! Memory of the tables that are built on first use.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// Counts the memory of tables from the begin of their build until their last search ends, even if they are evicted
/// meanwhile.
#[derive(Debug)]
pub(crate) struct TableMemory {
    capacity: u64,
    used: Mutex<u64>,
    freed: Notify,
}

/// Memory of some tables, released when this is dropped.
#[derive(Debug)]
pub(crate) struct TableReservation {
    memory: Arc<TableMemory>,
    bytes: u64,
}

impl TableMemory {
    /// Creates a limit of so many bytes.
    pub(crate) fn new(capacity: u64) -> Arc<Self> {
        Arc::new(Self { capacity, used: Mutex::default(), freed: Notify::new() })
    }

    pub(crate) fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Bytes in use.
    pub(crate) fn used(&self) -> u64 {
        *self.lock()
    }

    /// Bytes that may still be reserved.
    pub(crate) fn free(&self) -> u64 {
        self.capacity.saturating_sub(self.used())
    }

    /// Reserves memory if it is available.
    pub(crate) fn reserve(self: &Arc<Self>, bytes: u64) -> Option<TableReservation> {
        let mut used = self.lock();
        (bytes <= self.capacity.saturating_sub(*used)).then(|| {
            *used += bytes;
            TableReservation { memory: Arc::clone(self), bytes }
        })
    }

    /// Counts memory even if that exceeds the limit.
    pub(crate) fn count(self: &Arc<Self>, bytes: u64) -> TableReservation {
        *self.lock() += bytes;
        TableReservation { memory: Arc::clone(self), bytes }
    }

    /// Completes when memory is released after this call.
    pub(crate) fn freed(&self) -> Notified<'_> {
        self.freed.notified()
    }

    fn lock(&self) -> MutexGuard<'_, u64> {
        self.used.lock()
    }

    fn release(&self, bytes: u64) {
        *self.lock() -= bytes;
        if bytes > 0 {
            self.freed.notify_waiters();
        }
    }
}

impl TableReservation {
    /// Keeps at most so many bytes and releases the rest.
    pub(crate) fn shrink_to(&mut self, bytes: u64) {
        let rest = self.bytes.saturating_sub(bytes);
        self.bytes -= rest;
        self.memory.release(rest);
    }
}

impl Drop for TableReservation {
    fn drop(&mut self) {
        self.memory.release(self.bytes);
    }
}
