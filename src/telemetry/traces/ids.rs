//! Ids of traces and spans.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use opentelemetry::trace::{SpanId, TraceId};
use opentelemetry_sdk::trace::IdGenerator;

/// Generates ids by hashing a counter with a random key of the process. The ids must be unique, not secret. Unlike the
/// SDK's generator, this one cannot fail during a request on a system without `/dev/urandom`.
#[derive(Default, Debug)]
pub(crate) struct Ids {
    key: RandomState,
    count: AtomicU64,
}

impl Ids {
    /// The next id, never 0: 0 is not a valid id.
    fn draw(&self) -> u64 {
        self.key.hash_one(self.count.fetch_add(1, Ordering::Relaxed)).max(1)
    }
}

impl IdGenerator for Ids {
    fn new_trace_id(&self) -> TraceId {
        TraceId::from(u128::from(self.draw()) << 64 | u128::from(self.draw()))
    }

    fn new_span_id(&self) -> SpanId {
        SpanId::from(self.draw())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_differ_within_and_between_processes() {
        let all: Vec<Ids> = (0..10).map(|_| Ids::default()).collect();
        let drawn: BTreeSet<u64> = all.iter().flat_map(|ids| (0..1000).map(|_| ids.draw())).collect();
        assert_eq!(drawn.len(), 10_000);
        assert_ne!(all[0].new_trace_id(), all[0].new_trace_id());
    }
}
