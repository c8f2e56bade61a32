//! The command line: exit codes and messages.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Output, Stdio};

fn taquin(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_taquin")).args(args).output().expect("the binary runs")
}

fn stderr_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn check_config_accepts_valid_settings_and_starts_nothing() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = format!("--listen={}", taken.local_addr().unwrap());
    let output = taquin(&["--check-config", "--memory=1GiB", "--workers=2", &listen]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr_of(&output));
    assert!(output.stdout.is_empty());
    assert!(
        stderr_of(&output).contains("\nmemory: 1024 MiB\n  process, connections and first tables: 208 MiB\n"),
        "{}",
        stderr_of(&output)
    );
    assert!(stderr_of(&output).contains("\nthreads: at most "), "{}", stderr_of(&output));
}

#[test]
fn unknown_variables_are_named_without_their_values() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taquin"));
    let command = command.arg("--check-config").env("TAQUIN_WORKRES", "secret").env("TAQUIN_PORT", "tcp://10.0.0.1:80");
    let output = command.output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(0), "{}", stderr_of(&output));
    assert!(
        stderr_of(&output).starts_with("taquin: warning: TAQUIN_WORKRES is not a setting and has no effect\n"),
        "{}",
        stderr_of(&output)
    );
    assert!(
        !stderr_of(&output).contains("secret") && !stderr_of(&output).contains("TAQUIN_PORT"),
        "{}",
        stderr_of(&output)
    );
}

/// Each setting has a URL with a password, be it by mistake.
#[test]
fn passwords_in_variables_are_not_printed() {
    let help = String::from_utf8(taquin(&["--help"]).stdout).expect("UTF-8");
    let variables = help.split("[env: ").skip(1).map(|rest| rest.split([']', '=']).next().unwrap_or_default());
    let variables: Vec<&str> = variables.collect();
    assert!(variables.len() > 40 && variables.contains(&"TAQUIN_NATS"), "{variables:?}");
    for args in [
        &["--help"][..],
        &["-h"],
        &["help"],
        &["batch", "--help"],
        &["worker", "--help"],
        &["healthcheck", "-h"],
        &["man"],
        &["completions", "bash"],
        &["--check-config"],
        &[],
        &["worker"],
        &["healthcheck"],
        &["--no-such-flag"],
    ] {
        let values = variables.iter().map(|variable| (variable, "nats://user:hunter2@host.invalid:1/?key=hunter2"));
        let output = Command::new(env!("CARGO_BIN_EXE_taquin")).args(args).envs(values).output().expect("it runs");
        let printed = [output.stdout, output.stderr].concat();
        let printed = String::from_utf8_lossy(&printed);
        assert!(!printed.is_empty() && !printed.contains("hunter2"), "{args:?}: {printed}");
    }
}

#[test]
fn invalid_settings_are_reported_together_with_exit_code_2() {
    for args in [["--workers=0", "--queue=x"].as_slice(), &["--check-config", "--workers=0", "--queue=x"]] {
        let output = taquin(args);
        assert_eq!(output.status.code(), Some(2));
        let lines: Vec<String> = stderr_of(&output).lines().map(str::to_owned).collect();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].starts_with("taquin: --workers (TAQUIN_WORKERS):"), "{lines:?}");
    }
}

/// The address in the first line of the log that has one.
fn listening(listen: &str) -> SocketAddr {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taquin"));
    command.args(["--listen", listen, "--tables=small", "--log-format=json"]).stdout(Stdio::piped());
    let mut service = command.spawn().expect("the binary runs");
    let mut lines = BufReader::new(service.stdout.take().expect("a log")).lines().map_while(Result::ok);
    let addr = lines.find_map(|line| line.split("\"addr\":\"").nth(1)?.split('"').next()?.parse().ok());
    let addr: SocketAddr = addr.expect("an address");
    let reached = TcpStream::connect(("localhost", addr.port()));
    service.kill().and_then(|()| service.wait()).expect("it ends");
    reached.unwrap_or_else(|error| panic!("{listen}, {addr}: {error}"));
    addr
}

#[test]
fn names_and_ports_alone_are_addresses_to_listen_on() {
    assert!(listening("localhost:0").ip().is_loopback());
    assert!(listening(":0").ip().is_unspecified());
    let output = taquin(&["--check-config", "--listen=no-such-host.invalid:80"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr_of(&output).contains("\"no-such-host.invalid\" has no address"), "{}", stderr_of(&output));
}

#[test]
fn a_taken_port_is_exit_code_1() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let output = taquin(&["--listen", &taken.local_addr().unwrap().to_string()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr_of(&output).starts_with("taquin: cannot listen on "), "{}", stderr_of(&output));
}

#[test]
fn completions_and_the_man_page_need_no_valid_settings() {
    for (args, start) in [(["completions", "bash"].as_slice(), "_taquin() {"), (&["man"], ".ie ")] {
        let output = taquin(&[&["--listen=nowhere"], args].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr_of(&output));
        assert!(String::from_utf8_lossy(&output.stdout).starts_with(start), "{args:?}");
    }
}
