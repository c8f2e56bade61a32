//! A small disk that only some processes see.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::cluster::Process;

/// A small disk in a namespace. It disappears with the last process in it.
pub(super) struct SmallDisk {
    holder: Process,
    path: String,
}

/// Mounts a disk, and waits.
const HOLDER: &str = r#"mount -t tmpfs -o size="$1" none "$0" && exec sleep 600"#;

impl SmallDisk {
    /// Mounts a disk of this size at this path; `None` if this machine does not allow it.
    pub(super) fn mount(path: &str, size: &str) -> Option<Self> {
        let can = Command::new("unshare").args(["-rm", "true"]).output().is_ok_and(|output| output.status.success());
        if !can {
            println!("skipped: no namespace to mount a disk in");
            return None;
        }
        fs::create_dir_all(path).expect("a directory");
        let holder = Process::start(Command::new("unshare").args(["-rm", "sh", "-c", HOLDER, path, size]));
        let disk = Self { holder, path: path.to_owned() };
        let begun = Instant::now();
        let mounts = format!("/proc/{}/mounts", disk.holder.id());
        while !fs::read_to_string(&mounts).is_ok_and(|mounts| mounts.contains(path)) {
            assert!(begun.elapsed() < Duration::from_secs(10), "no disk is mounted");
            sleep(Duration::from_millis(5));
        }
        Some(disk)
    }

    /// The command that executes a program that sees the disk.
    pub(super) fn launcher(&self) -> Vec<String> {
        let target = self.holder.id().to_string();
        ["nsenter", "--user", "--preserve-credentials", "--mount", "--target", &target].map(str::to_owned).to_vec()
    }

    pub(super) fn resize(&self, size: &str) {
        let launcher = self.launcher();
        let mut command = Command::new(&launcher[0]);
        command.args(&launcher[1..]).args(["mount", "-o", &format!("remount,size={size}"), &self.path]);
        assert!(command.status().expect("a command").success());
    }

    /// Where this process sees it.
    pub(super) fn root(&self) -> PathBuf {
        format!("/proc/{}/root{}", self.holder.id(), self.path).into()
    }
}
