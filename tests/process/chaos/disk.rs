//! A table cache on a full disk: one log line, and the service keeps working.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::boards::{Random, by, hard, near_board};
use super::figures::{alone, print_row};
use super::taquin::{BINARY, Taquin};

/// A directory, removed when dropped.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("taquin-chaos-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory");
        Self(path)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Shell script that limits the space for tables to 1 MiB, and then executes the service.
const FULL_DISK: &str = r#"mount -t tmpfs -o size=1m none "$0" && exec "$@""#;
const FILE_LIMIT: &str = r#"trap '' XFSZ && ulimit -f 1024 && exec "$@""#;

fn check_service(what: &str, directory: &Directory, mut command: Command, script: &str) {
    command.args(["-c", script]).arg(&directory.0).arg(BINARY).arg("--table-cache").arg(&directory.0);
    let taquin = Taquin::spawn(command, 1024, &["--tables=standard"]);
    taquin.wait_for_message("standard tables are ready");
    let mut client = taquin.client();
    let answer = client.solve(&by(&near_board(&mut Random(1), 4, 4, 60), "auto")).expect(200);
    assert!(answer.body.contains("\"optimal\":true"), "{answer:?}");
    client.solve(&by(&hard(0), "auto")).expect(200);
    let warnings = taquin.lines_at("WARN");
    assert!(warnings.len() == 1 && warnings[0]["message"] == "tables could not be cached", "{warnings:?}");
    let left: Vec<_> = fs::read_dir(format!("{}{}", taquin.root(), directory.0.display())).expect("its disk").collect();
    assert!(left.len() <= 1, "nothing but the lock is left: {left:?}");
    print_row(what, "one warning", format!("{}; served", warnings[0]["error"]));
    drop(client);
    taquin.end(what);
}

#[test]
fn a_full_disk_is_logged_once() {
    let _alone = alone();
    // A mount in a separate namespace; it disappears with the process.
    let can = Command::new("unshare").args(["-rm", "true"]).output().is_ok_and(|output| output.status.success());
    if !can {
        println!("skipped: no namespace to mount a disk in");
        return;
    }
    let mut command = Command::new("unshare");
    command.args(["-rm", "sh"]);
    check_service("table cache on a full disk", &Directory::new("disk"), command, FULL_DISK);
}

#[test]
fn a_file_size_limit_is_logged_once() {
    let _alone = alone();
    check_service("table cache with a limit on files", &Directory::new("limit"), Command::new("sh"), FILE_LIMIT);
}
