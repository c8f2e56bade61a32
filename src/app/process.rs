//! Metrics of the process, under the names of Prometheus's own client libraries.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;

use crate::service::write_gauge;

/// Reads the metrics at each scrape. Empty on systems other than Linux.
#[derive(Debug)]
pub(crate) struct Process;

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let Some(Usage { cpu_seconds, resident_bytes, open_files, started }) = Usage::now() else { return Ok(()) };
        // The encoder appends `_total`.
        let cpu = ConstCounter::new(cpu_seconds);
        let help = "Total user and system CPU time in seconds";
        cpu.encode(encoder.encode_descriptor("process_cpu_seconds", help, None, cpu.metric_type())?)?;
        for (name, help, value) in [
            ("process_resident_memory_bytes", "Resident memory size in bytes", resident_bytes),
            ("process_open_fds", "Number of open file descriptors", open_files),
            ("process_start_time_seconds", "Start time of the process since the Unix epoch in seconds", started),
        ] {
            write_gauge(&mut encoder, name, help, value)?;
        }
        Ok(())
    }
}

struct Usage {
    cpu_seconds: f64,
    resident_bytes: f64,
    open_files: f64,
    started: f64,
}

impl Usage {
    #[cfg(target_os = "linux")]
    fn now() -> Option<Self> {
        use procfs::{CurrentSI, WithCurrentSystemInfo};
        let process = procfs::process::Process::myself().ok()?;
        let stat = process.stat().ok()?;
        let ticks = procfs::ticks_per_second() as f64;
        let booted = procfs::KernelStats::current().ok()?.btime as f64;
        Some(Self {
            cpu_seconds: (stat.utime + stat.stime) as f64 / ticks,
            resident_bytes: stat.rss_bytes().get() as f64,
            open_files: process.fd_count().ok()? as f64,
            started: booted + stat.starttime as f64 / ticks,
        })
    }

    #[cfg(not(target_os = "linux"))]
    fn now() -> Option<Self> {
        None
    }
}
