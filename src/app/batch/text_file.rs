//! The file of lines that a batch writes, or the standard output.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use super::arguments::{TextFormat, TextOutput};
use super::ending::BatchError;

/// A file of lines.
pub(super) struct TextFile {
    path: PathBuf,
    writer: Box<dyn Write>,
    format: TextFormat,
    /// Complete lines that it had.
    pub(super) lines: u64,
}

impl TextFile {
    /// Opens the output: an empty file, or one whose complete lines are kept. An incomplete last line is removed.
    ///
    /// # Errors
    /// [`BatchError::File`].
    pub(super) fn open(output: &TextOutput) -> Result<Self, BatchError> {
        let Some(path) = &output.file else {
            let writer = Box::new(BufWriter::new(io::stdout()));
            return Ok(Self { path: "standard output".into(), writer, format: output.format, lines: 0 });
        };
        let error = |source| BatchError::File { path: path.clone(), source };
        if !output.resumes {
            let writer = Box::new(BufWriter::new(File::create(path).map_err(error)?));
            return Ok(Self { path: path.clone(), writer, format: output.format, lines: 0 });
        }
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(error)?;
        let (file, lines) = behind_last_line(file).map_err(error)?;
        Ok(Self { path: path.clone(), writer: Box::new(BufWriter::new(file)), format: output.format, lines })
    }

    /// Number of rows that it had: all lines but a header.
    pub(super) fn rows(&self) -> u64 {
        self.lines - u64::from(self.format == TextFormat::Csv && self.lines > 0)
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// [`BatchError::File`].
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), BatchError> {
        self.writer.write_all(bytes).map_err(|source| self.error(source))
    }

    /// Passes all bytes to the system.
    ///
    /// # Errors
    /// [`BatchError::File`].
    pub(super) fn finish(mut self) -> Result<(), BatchError> {
        self.writer.flush().map_err(|source| self.error(source))
    }

    fn error(&self, source: io::Error) -> BatchError {
        BatchError::File { path: self.path.clone(), source }
    }
}

/// Removes an incomplete last line, and counts the others.
fn behind_last_line(mut file: File) -> io::Result<(File, u64)> {
    let (mut buffer, mut lines, mut read, mut end) = (vec![0; 1 << 16], 0, 0, 0);
    loop {
        let bytes = match file.read(&mut buffer)? {
            0 => break,
            count => &buffer[..count],
        };
        for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
            lines += 1;
            end = read + at as u64 + 1;
        }
        read += bytes.len() as u64;
    }
    file.set_len(end)?;
    file.seek(SeekFrom::Start(end))?;
    Ok((file, lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resumed_file_keeps_its_complete_lines() {
        let path = std::env::temp_dir().join(format!("taquin-lines-{:x}", std::process::id()));
        let output = TextOutput { file: Some(path.clone()), format: TextFormat::Csv, resumes: true };
        for (before, lines, after) in
            [("", 0, "new\n"), ("one\ntwo\nthr", 2, "one\ntwo\nnew\n"), ("one", 0, "new\n"), ("one\n", 1, "one\nnew\n")]
        {
            std::fs::write(&path, before).unwrap();
            let mut file = TextFile::open(&output).unwrap();
            assert_eq!(file.lines, lines);
            file.write(b"new\n").unwrap();
            file.finish().unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), after);
        }
        let mut file = TextFile::open(&TextOutput { resumes: false, ..output }).unwrap();
        file.write(b"only\n").unwrap();
        file.finish().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "only\n");
        std::fs::remove_file(path).unwrap();
    }
}
