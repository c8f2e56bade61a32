//! Digests in hexadecimal, and seals. A seal is a checksum at the end of a text file. The seal reveals any change of
//! the file.

use std::io::{self, BufRead, Write};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

/// The reason why a seal is invalid.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SealError {
    /// The file does not end with a checksum.
    #[error("the file does not end with its checksum")]
    Missing,
    /// The checksum does not match the text.
    #[error("the checksum differs")]
    Differs,
}

/// The reason why bytes are not sealed JSON of a format.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum FormatError {
    /// The checksum is missing or differs.
    #[error(transparent)]
    Seal(#[from] SealError),
    /// The file has another version of the format. The values are the format of the file and the expected format.
    #[error("its format is `{0}`, and this version reads only `{1}`")]
    Format(String, &'static str),
    /// The sealed text is not JSON of the format. The values are the message of the parser and the format.
    #[error("it is not the JSON of `{1}`: {0}")]
    Json(String, &'static str),
}

#[derive(Deserialize)]
struct FormatJson {
    format: String,
}

/// Text at the end of a JSON object, after the last member.
const END: &str = "\n}\n";
/// Text before and after the digest in a sealed JSON object.
const MEMBER: [&str; 2] = [",\n  \"sha256\": \"", "\"\n}\n"];
/// Text before and after the digest in the last line of a file of JSON lines.
const LINE: [&str; 2] = ["{\"sha256\":\"", "\"}\n"];
/// Maximum number of bytes that `check_lines` reads at once.
const MAX_READ: u64 = 1 << 16;
const DIGITS: usize = 64;

/// Adds the last member `sha256` to the text of a JSON object, and returns the new text. The digest is the SHA-256 of
/// the text without the member `sha256`.
///
/// # Panics
/// If the text does not end with `\n}\n`.
pub fn seal(text: &[u8]) -> Vec<u8> {
    let members = text.strip_suffix(END.as_bytes()).expect("the text of an object ends with a line for its brace");
    let mut sealed = Vec::with_capacity(text.len() + MEMBER[0].len() + DIGITS + MEMBER[1].len());
    let mut writer = SealWriter::new(&mut sealed);
    writer.write_all(members).and_then(|()| writer.finish()).expect("memory takes all bytes");
    sealed
}

/// Checks a sealed JSON object, and returns the text without the member `sha256`.
///
/// # Errors
/// [`SealError`].
pub fn unseal(sealed: &[u8]) -> Result<Vec<u8>, SealError> {
    members_of(sealed).map(|members| [members, END.as_bytes()].concat())
}

/// Checks a sealed JSON object. The sealed text is valid JSON, so the caller can parse the text without [`unseal`].
///
/// # Errors
/// [`SealError`].
pub fn check_seal(sealed: &[u8]) -> Result<(), SealError> {
    members_of(sealed).map(drop)
}

/// Checks the seal of an object, and returns the text before the member `sha256`.
fn members_of(sealed: &[u8]) -> Result<&[u8], SealError> {
    let (members, digest) = split(sealed, MEMBER).ok_or(SealError::Missing)?;
    let own = Sha256::new().chain_update(members).chain_update(END).finalize();
    if hex(&own).as_bytes() == digest { Ok(members) } else { Err(SealError::Differs) }
}

/// Checks and parses a sealed JSON object. The member `format` of the object must equal the parameter `format`.
///
/// # Errors
/// [`FormatError`]. If the checksum is missing and the format is wrong, the error reports the format. If the checksum
/// is wrong, the error reports the checksum.
pub fn read_sealed<T: DeserializeOwned>(sealed: &[u8], format: &'static str) -> Result<T, FormatError> {
    let checked = check_seal(sealed);
    // A file of another version may have no checksum. So a wrong format takes precedence over a missing checksum.
    if checked != Err(SealError::Differs)
        && let Ok(FormatJson { format: own }) = serde_json::from_slice(sealed)
        && own != format
    {
        return Err(FormatError::Format(own, format));
    }
    checked?;
    serde_json::from_slice(sealed).map_err(|error| FormatError::Json(error.to_string(), format))
}

/// A writer that seals a JSON object. The writer does not keep the text of the object in memory.
#[derive(Debug)]
pub struct SealWriter<W> {
    file: W,
    digest: Sha256,
}

impl<W: Write> SealWriter<W> {
    /// Creates a writer that writes an object to `file`.
    pub fn new(file: W) -> Self {
        Self { file, digest: Sha256::new() }
    }

    /// Writes the member `sha256` and the end of the object. Before this call, the caller must have written the object
    /// up to the end of its last member.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn finish(mut self) -> io::Result<()> {
        self.digest.update(END);
        write!(self.file, "{}{}{}", MEMBER[0], hex(&self.digest.finalize()), MEMBER[1])?;
        self.file.flush()
    }
}

impl<W: Write> Write for SealWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.digest.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Returns the last line for a file of JSON lines. The line has the digest of all other lines.
pub fn seal_of_lines(lines: &[u8]) -> String {
    format!("{}{}{}", LINE[0], hex(&Sha256::digest(lines)), LINE[1])
}

/// Reads a file of JSON lines, checks the last line ([`seal_of_lines`]), and returns the SHA-256 of the whole file. The
/// memory in use does not depend on the length of lines.
///
/// # Errors
/// Errors of the file, and [`SealError`] as [`io::ErrorKind::InvalidData`].
pub fn check_lines(lines: &mut dyn BufRead) -> io::Result<[u8; 32]> {
    let (mut digest, mut last) = (Sha256::new(), Vec::new());
    loop {
        let mut line = Vec::new();
        io::Read::take(&mut *lines, MAX_READ).read_until(b'\n', &mut line)?;
        if line.is_empty() {
            break;
        }
        digest.update(&last);
        last = line;
    }
    let whole = digest.clone().chain_update(&last).finalize().into();
    let error = match split(&last, LINE) {
        Some((b"", own)) if hex(&digest.finalize()).as_bytes() == own => return Ok(whole),
        Some((b"", _)) => SealError::Differs,
        _ => SealError::Missing,
    };
    Err(io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Splits a sealed text into the text before the seal and the digest in the seal. Returns `None` if the text does not
/// end with a seal.
fn split<'t>(text: &'t [u8], [before, after]: [&str; 2]) -> Option<(&'t [u8], &'t [u8])> {
    let text = text.strip_suffix(after.as_bytes())?;
    let (text, digest) = text.split_at_checked(text.len().checked_sub(DIGITS)?)?;
    Some((text.strip_suffix(before.as_bytes())?, digest))
}

/// Returns the SHA-256 of bytes, in lower-case hexadecimal digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Formats bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Parses `2 * N` lower-case hexadecimal digits; `None` for any other text.
pub fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    (hex(&bytes) == text).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls `check` with every text that differs from `text` in one bit, with every proper prefix of `text`, and with
    /// a longer text.
    fn for_each_damage(text: &[u8], check: impl Fn(&[u8])) {
        for bit in 0..8 * text.len() {
            let mut damaged = text.to_vec();
            damaged[bit / 8] ^= 1 << (bit % 8);
            check(&damaged);
        }
        (0..text.len()).for_each(|end| check(&text[..end]));
        check(&[text, b"\n"].concat());
    }

    #[test]
    fn an_object_is_read_as_written_and_each_changed_bit_is_found() {
        let text = "{\n  \"format\": \"some-1\",\n  \"numbers\": [\n    1\n  ]\n}\n";
        let sealed = seal(text.as_bytes());
        assert_eq!(unseal(&sealed).as_deref(), Ok(text.as_bytes()));
        let json: serde_json::Value = serde_json::from_slice(&sealed).unwrap();
        let digest = Sha256::digest(text);
        assert_eq!((&json["numbers"][0], &json["sha256"]), (&1.into(), &hex(&digest).into()));
        for_each_damage(&sealed, |damaged| assert!(unseal(damaged).is_err(), "{}", String::from_utf8_lossy(damaged)));
        assert_eq!(unseal(text.as_bytes()), Err(SealError::Missing));
        assert_eq!(unseal(&seal(&sealed)).unwrap(), sealed);
    }

    #[test]
    fn another_format_is_named_with_and_without_a_checksum() {
        #[derive(Deserialize, PartialEq, Debug)]
        struct Some {
            number: u32,
        }
        let text = "{\n  \"format\": \"some-2\",\n  \"number\": 7\n}\n";
        let read = |bytes: &[u8]| read_sealed::<Some>(bytes, "some-2");
        assert_eq!(read(&seal(text.as_bytes())), Ok(Some { number: 7 }));
        let older = text.replace("some-2", "some-1");
        for older in [older.clone().into_bytes(), seal(older.as_bytes())] {
            assert_eq!(read(&older), Err(FormatError::Format("some-1".to_owned(), "some-2")));
        }
        assert_eq!(read(text.as_bytes()), Err(SealError::Missing.into()));
        assert_eq!(read(b"{"), Err(SealError::Missing.into()));
        let other = seal(text.replace("number", "figure").as_bytes());
        assert!(matches!(read(&other), Err(FormatError::Json(_, "some-2"))));
    }

    #[test]
    fn lines_are_checked_and_each_changed_bit_is_found() {
        let check = |mut text: &[u8]| check_lines(&mut text);
        for lines in ["", "{\"index\":3}\n", "{\"index\":3}\n{\"index\":17}\n"] {
            let sealed = [lines, &seal_of_lines(lines.as_bytes())].concat();
            assert_eq!(check(sealed.as_bytes()).unwrap()[..], Sha256::digest(&sealed)[..]);
            for_each_damage(sealed.as_bytes(), |damaged| {
                let error = check(damaged).expect_err(&String::from_utf8_lossy(damaged));
                assert_eq!(error.kind(), io::ErrorKind::InvalidData);
            });
        }
        check(&[b'x'; 200_000]).unwrap_err();
        let long = [&[b'x'; 200_000][..], b"\n"].concat();
        check(&[&long, seal_of_lines(&long).as_bytes()].concat()).unwrap();
    }

    #[test]
    fn digits_are_read_as_written() {
        assert_eq!(hex(&[0, 10, 255]), "000aff");
        assert_eq!(unhex("000aff"), Some([0, 10, 255]));
        for wrong in ["000af", "000aff0", "000AFF", "00 aff", "+0+a+f", ""] {
            assert_eq!(unhex::<3>(wrong), None, "{wrong}");
        }
    }
}
