//! Digests in hexadecimal.

use sha2::{Digest, Sha256};

/// SHA-256 of bytes, as the manifest of a job has it.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of a text of lower-case hexadecimal digits; `None` if it is none of this length.
pub(super) fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    (hex(&bytes) == text).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_read_as_written() {
        assert_eq!(hex(&[0, 10, 255]), "000aff");
        assert_eq!(unhex("000aff"), Some([0, 10, 255]));
        for wrong in ["000af", "000aff0", "000AFF", "00 aff", "+0+a+f", ""] {
            assert_eq!(unhex::<3>(wrong), None, "{wrong}");
        }
    }
}
