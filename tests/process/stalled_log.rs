//! A reader of the log that stops reading.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// Far more than a shutdown takes, on any machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Killed when dropped, in case the test fails.
struct Service(Child);

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sends requests whose log lines are far longer than a pipe holds, and reads the responses.
fn fill_the_log(addr: &str) {
    const REQUESTS: usize = 2000;
    let mut stream = TcpStream::connect(addr).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    for _ in 0..REQUESTS / 50 {
        stream.write_all("GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(50).as_bytes()).unwrap();
        let (mut text, mut bytes) = (Vec::new(), [0; 1 << 14]);
        while text.windows(12).filter(|at| at == b"HTTP/1.1 404").count() < 50 {
            let read = stream.read(&mut bytes).expect("the service responds while its log is not read");
            assert_ne!(read, 0, "the connection is open");
            text.extend_from_slice(&bytes[..read]);
        }
    }
}

#[test]
fn a_log_that_is_not_read_blocks_neither_requests_nor_the_shutdown() {
    for format in ["pretty", "json"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_taquin"));
        command.args(["--listen=127.0.0.1:0", "--tables=small", "--log=info", &format!("--log-format={format}")]);
        let mut service = Service(command.stdout(Stdio::piped()).spawn().unwrap());
        let mut log = BufReader::new(service.0.stdout.take().unwrap()).lines();
        let address_of = |line: String| {
            let (_, rest) = line.split_once("127.0.0.1:")?;
            Some(format!("127.0.0.1:{}", rest.split(|c: char| !c.is_ascii_digit()).next()?))
        };
        let addr = log.find_map(|line| address_of(line.unwrap())).expect("an address");
        fill_the_log(&addr);
        kill_process(Pid::from_child(&service.0), Signal::TERM).unwrap();
        let begun = Instant::now();
        while service.0.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < TIMEOUT, "{format}: it runs on after SIGTERM");
            sleep(Duration::from_millis(10));
        }
        assert_eq!(service.0.wait().unwrap().code(), Some(0), "{format}");
        // The pipe was open all the time.
        drop(log);
    }
}
