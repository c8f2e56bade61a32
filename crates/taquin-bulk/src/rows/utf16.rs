//! Decodes UTF-16 piece by piece.

/// A decoder of UTF-16 that begins with a byte order mark.
#[derive(Clone, Debug)]
pub(super) struct Utf16 {
    is_big_endian: bool,
    /// First byte of a code unit whose second byte has not arrived.
    byte: Option<u8>,
    /// A high surrogate whose low surrogate has not arrived.
    high: Option<u16>,
    /// Number of decoded bytes, including the mark.
    decoded: u64,
}

/// Bytes that are not UTF-16.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct NotUtf16 {
    /// Position in bytes at which decoding failed, counted from 1.
    pub(super) byte: u64,
}

impl Utf16 {
    /// Recognizes the byte order mark at the start of a text. Returns `None` if the text has no byte order mark of
    /// UTF-16.
    pub(super) fn of_mark(text: &[u8]) -> Option<Self> {
        let is_big_endian = match text {
            [0xff, 0xfe, ..] => false,
            [0xfe, 0xff, ..] => true,
            _ => return None,
        };
        Some(Self { is_big_endian, byte: None, high: None, decoded: 2 })
    }

    /// Decodes the next bytes after the mark, and appends the text to `out` as UTF-8.
    ///
    /// # Errors
    /// [`NotUtf16`] if a surrogate has no other half.
    pub(super) fn decode(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), NotUtf16> {
        for byte in bytes {
            let Some(first) = self.byte.take() else {
                self.byte = Some(*byte);
                continue;
            };
            let pair = [first, *byte];
            let unit = if self.is_big_endian { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) };
            self.unit(unit, out)?;
            self.decoded += 2;
        }
        Ok(())
    }

    fn unit(&mut self, unit: u16, out: &mut Vec<u8>) -> Result<(), NotUtf16> {
        let wrong = NotUtf16 { byte: self.decoded + 1 };
        let character = match (self.high.take(), unit) {
            (None, 0xd800..=0xdbff) => {
                self.high = Some(unit);
                return Ok(());
            }
            (Some(high), 0xdc00..=0xdfff) => 0x1_0000 + ((u32::from(high) - 0xd800) << 10) + (u32::from(unit) - 0xdc00),
            (Some(_), _) => return Err(wrong),
            (None, unit) => u32::from(unit),
        };
        let character = char::from_u32(character).ok_or(wrong)?;
        out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        Ok(())
    }

    /// Ends the text.
    ///
    /// # Errors
    /// [`NotUtf16`] if the text ends within a character.
    pub(super) fn finish(&self) -> Result<(), NotUtf16> {
        let is_whole = self.byte.is_none() && self.high.is_none();
        if is_whole { Ok(()) } else { Err(NotUtf16 { byte: self.decoded + 1 }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(text: &[u8], piece: usize) -> Result<String, NotUtf16> {
        let mut decoder = Utf16::of_mark(text).unwrap();
        let mut out = Vec::new();
        for piece in text[2..].chunks(piece) {
            decoder.decode(piece, &mut out)?;
        }
        decoder.finish()?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn a_text_is_decoded_in_pieces_of_any_size() {
        let text = "id,board\r\nä€,8 6 7\n𝄞😀";
        for piece in 1..9 {
            let little: Vec<u8> = [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
            let big: Vec<u8> = [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect();
            assert_eq!(decode(&little, piece).as_deref(), Ok(text));
            assert_eq!(decode(&big, piece).as_deref(), Ok(text));
        }
        assert!(Utf16::of_mark(text.as_bytes()).is_none() && Utf16::of_mark(b"\xff").is_none());
    }

    #[test]
    fn what_is_not_utf16_is_located() {
        for (text, byte) in [
            (&b"\xff\xfe1\x00\x00"[..], 5),
            (b"\xff\xfe\x00\xd8", 5),
            (b"\xff\xfe\x00\xd81\x00", 5),
            (b"\xff\xfe1\x00\x00\xdc", 5),
            (b"\xfe\xff\x00", 3),
        ] {
            assert_eq!(decode(text, 3), Err(NotUtf16 { byte }), "{}", text.escape_ascii());
        }
    }
}
