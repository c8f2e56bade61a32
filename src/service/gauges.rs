//! Gauges of the service: queue, workers, caches, memory and tables, read when metrics are scraped.

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

use crate::service::service::Service;
use crate::service::tables::TableEntry;

/// The kinds of tables. Each pair has the label value of the gauges, and the name in
/// [`Tables::entries`](crate::service::tables::Tables::entries).
const KINDS: [(&str, &str); 5] = [
    ("distances", "distances"),
    ("multi_tile", "multi-tile distances"),
    ("walking", "walking distances"),
    ("patterns", "patterns"),
    ("stages", "stages"),
];

/// Writes a gauge.
pub(crate) fn write_gauge<V>(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, value: V) -> fmt::Result
where
    ConstGauge<V>: EncodeMetric,
{
    ConstGauge::new(value).encode(encoder.encode_descriptor(name, help, None, MetricType::Gauge)?)
}

/// Writes a gauge for each value of a label.
pub(crate) fn write_gauges<V>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    label: &str,
    values: impl IntoIterator<Item = (&'static str, V)>,
) -> fmt::Result
where
    ConstGauge<V>: EncodeMetric,
{
    let mut family = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
    values.into_iter().try_for_each(|(value_of_label, value)| {
        ConstGauge::new(value).encode(family.encode_family(&[(label, value_of_label)])?)
    })
}

impl Service {
    /// Registers all metrics of the service.
    pub fn register(self: &Arc<Self>, registry: &mut Registry) {
        self.metrics().register(registry);
        registry.register_collector(Box::new(ServiceGauges(Arc::clone(self))));
    }
}

/// Collector that reads the gauges at each scrape.
#[derive(Debug)]
struct ServiceGauges(Arc<Service>);

impl Collector for ServiceGauges {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let service = &self.0;
        let (settings, load, cache) = (service.settings(), service.load(), service.cache_usage());
        let bulk = service.bulk_load();
        let gauges: [(&str, &str, u64); 17] = [
            ("queue_waiting", "Jobs that wait for a worker, queued or paused", load.waiting as u64),
            ("queue_capacity", "Jobs that may be queued", settings.queue as u64),
            ("workers", "Maximum number of searches that run at the same time", settings.workers as u64),
            ("workers_busy", "Workers that search or help a search, with the workers of bulk work", load.busy as u64),
            ("bulk_workers", "Maximum number of workers of bulk work", settings.bulk.workers as u64),
            ("bulk_workers_busy", "Busy workers that bulk work has", load.bulk as u64),
            ("bulk_works", "Bulk work that is not over", bulk.works as u64),
            ("bulk_oldest_seconds", "Age of the oldest bulk work, or 0", bulk.oldest.as_secs()),
            ("jobs_in_progress", "Jobs that have started and not ended", load.begun as u64),
            ("cache_entries", "Entries of the result and hint caches", cache.entries),
            ("cache_bytes", "Memory of the result and hint caches", cache.bytes),
            ("memory_limit_bytes", "Memory that the service plans with", settings.memory),
            ("memory_reserved_bytes", "Memory reserved by searches", load.reserved),
            ("table_memory_limit_bytes", "Memory limit for tables built on first use", settings.table_memory),
            (
                "table_memory_bytes",
                "Memory of tables built on first use, also while they are built and after their eviction",
                service.tables().memory_in_use(),
            ),
            ("reply_memory_limit_bytes", "Memory limit for long responses", settings.reply_memory),
            ("reply_memory_bytes", "Memory of long responses that are still being sent", service.reply_bytes()),
        ];
        for (name, help, value) in gauges {
            write_gauge(&mut encoder, name, help, value)?;
        }
        self.tables(&mut encoder)
    }
}

impl ServiceGauges {
    /// Encodes the number, the memory and the build time of the loaded tables, by kind.
    fn tables(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let entries = self.0.tables().entries();
        let mut family = |name, help, value: fn(&TableEntry) -> f64| {
            let total = |(kind, entry_name)| {
                let of_kind = entries.iter().filter(|entry| entry.name == entry_name);
                // The fold starts at 0, because an empty sum of floats is -0.
                (kind, of_kind.map(value).fold(0.0, |total, value| total + value))
            };
            write_gauges(encoder, name, help, "kind", KINDS.into_iter().map(total))
        };
        family("tables", "Loaded tables", |_| 1.0)?;
        family("tables_bytes", "Memory of the loaded tables", |entry| entry.bytes as f64)?;
        family("tables_build_seconds", "Time to build or read the loaded tables", |entry| {
            entry.build_time.unwrap_or_default().as_secs_f64()
        })
    }
}

#[cfg(test)]
mod tests {
    use taquin_solver::Size;

    use super::KINDS;
    use crate::service::tables::Tables;

    #[test]
    fn tables_of_every_name_are_counted() {
        let tables = Tables::default();
        let size = Size::try_from((2, 2)).unwrap();
        tables.small().distances(size, 3);
        tables.small().multi_tile_distances(size, 3);
        let entries = tables.entries();
        assert_eq!(entries.len(), 2);
        for entry in entries {
            assert!(KINDS.iter().any(|(_, name)| *name == entry.name), "{}", entry.name);
        }
    }
}
