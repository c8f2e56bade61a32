//! What the process takes of the machine, under the names that Prometheus's own clients use.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

/// Looked up when it is asked for; nothing where the system does not tell.
#[derive(Debug)]
pub(super) struct Process;

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let Some(Taken { cpu_seconds, resident_bytes, open_files, started }) = Taken::now() else { return Ok(()) };
        // Its name gets `_total` behind it.
        let cpu = ConstCounter::new(cpu_seconds);
        let help = "Time on processors";
        cpu.encode(encoder.encode_descriptor("process_cpu_seconds", help, None, cpu.metric_type())?)?;
        for (name, help, value) in [
            ("process_resident_memory_bytes", "Memory that is resident", resident_bytes),
            ("process_open_fds", "Open files and connections", open_files),
            ("process_start_time_seconds", "When it was started, since 1970", started),
        ] {
            let gauge = ConstGauge::new(value);
            gauge.encode(encoder.encode_descriptor(name, help, None, gauge.metric_type())?)?;
        }
        Ok(())
    }
}

struct Taken {
    cpu_seconds: f64,
    resident_bytes: f64,
    open_files: f64,
    started: f64,
}

impl Taken {
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
