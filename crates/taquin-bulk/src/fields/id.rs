//! The id of a row or of a board in a list.

use super::FieldReader;
use super::json::Json;

/// Maximum length of an id in bytes.
pub(crate) const MAX_ID: usize = 256;

impl FieldReader {
    /// Reads `id`, and returns the id as JSON. Reports an id that is neither an integer nor a short string.
    pub(crate) fn id(&mut self) -> Option<Vec<u8>> {
        let id = self.take("id")?;
        let json = id.to_json().as_ref().and_then(id_json);
        if json.is_none() {
            let detail = format!("`id` must be an integer of at most 18 digits, or a string of at most {MAX_ID} bytes");
            self.reject(&id, "id", "wrong-type", detail);
        }
        json
    }
}

/// Converts a valid id to JSON; `None` if the id is invalid.
pub(crate) fn id_json(id: &Json) -> Option<Vec<u8>> {
    match id {
        // The parser clamps an integer beyond the range of `i64` to an end of the range, so the ends are invalid.
        Json::Integer(id) if !matches!(*id, i64::MIN | i64::MAX) => Some(id.to_string().into_bytes()),
        Json::String(id) if id.len() <= MAX_ID => serde_json::to_vec(id).ok(),
        _ => None,
    }
}
