//! Reads an input as lines with one row each.

use std::io::{self, Read};

use crate::RowError;
use crate::rows::InputText;

/// A reader that converts an input to UTF-8 with one row in each line.
pub(crate) struct TextReader<R> {
    source: R,
    text: InputText,
    /// Converted text, and the number of its bytes that `read` has already returned.
    ready: (Vec<u8>, usize),
    is_ended: bool,
}

impl<R: Read> TextReader<R> {
    pub(crate) fn new(source: R, text: InputText) -> Self {
        Self { source, text, ready: (Vec::new(), 0), is_ended: false }
    }

    /// Returns true once it is certain that the text needs no conversion.
    pub(crate) fn is_unchanged(&self) -> bool {
        self.text.is_unchanged()
    }
}

impl<R: Read> Read for TextReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.ready.1 == self.ready.0.len() && !self.is_ended {
            let invalid = |error: RowError| io::Error::new(io::ErrorKind::InvalidData, error.detail);
            let read = self.source.read(buffer)?;
            self.is_ended = read == 0;
            let text = match &buffer[..read] {
                [] => self.text.finish().map_err(invalid)?,
                _ if self.text.is_unchanged() => return Ok(read),
                bytes => self.text.push(bytes).map_err(invalid)?.into_owned(),
            };
            self.ready = (text, 0);
        }
        let (text, at) = &mut self.ready;
        let count = buffer.len().min(text.len() - *at);
        buffer[..count].copy_from_slice(&text[*at..*at + count]);
        *at += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rows::{RowFormat, RowOptions};

    /// Reads the text by pieces of at most `most` bytes.
    struct Pieces<'t>(&'t [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Self(text, most) = self;
            let most = buffer.len().min(*most);
            text.read(&mut buffer[..most])
        }
    }

    fn read(text: &[u8], most: usize) -> io::Result<String> {
        io::read_to_string(TextReader::new(
            Pieces(text, most),
            InputText::new(&RowOptions::default(), &RowFormat::Json),
        ))
    }

    #[test]
    fn rows_are_lines_whatever_the_layout() {
        for most in [1, 3, 1000] {
            assert_eq!(read(b"3120\n1230", most).unwrap(), "3120\n1230");
            assert_eq!(read(b"[\n\"3120\",\n\"1230\"]", most).unwrap(), "\"3120\"\n\"1230\"\n");
            assert_eq!(read(b"\xfe\xff\x001\x002\x003\x000", most).unwrap(), "1230");
            assert_eq!(read(b"", most).unwrap(), "");
            assert!(read(b"\xfe\xff\x00", most).unwrap_err().to_string().contains("UTF-16 at byte 3"));
        }
    }
}
