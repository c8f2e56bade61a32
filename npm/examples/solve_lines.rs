//! Solves requests in JSON, one a line, without WebAssembly. `tests/times.mjs` compares the times.

use std::io::{self, BufRead, Write};

fn main() -> io::Result<()> {
    let mut output = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let answer = taquin_npm::run("solve", &line?, None).unwrap_or_else(|problem| problem);
        writeln!(output, "{answer}")?;
    }
    Ok(())
}
