//! Reads a list of lists of whole numbers.

use super::json::Json;
use super::value::Value;
use super::{FieldReader, pointer};
use crate::row_error::FieldError;

impl FieldReader {
    /// Reads a list of lists of whole numbers. In a query, the list is written as JSON. Also returns the value of the
    /// field, so that the caller can report further errors. Returns `None` if the field is absent, or if any entry has
    /// an error.
    pub fn integer_lists(&mut self, name: &str) -> Option<(Value, Vec<Vec<i64>>)> {
        let value = self.take(name)?;
        let Some(Json::Array(lists)) = value.to_json() else {
            let detail = format!("`{name}` must be an array of arrays of whole numbers, not {}", value.described());
            self.reject(&value, name, "wrong-type", detail);
            return None;
        };
        let mut read = Vec::with_capacity(lists.len());
        for (at, list) in lists.iter().enumerate() {
            let Json::Array(entries) = list else {
                let detail = format!("entries of `{name}` must be arrays of whole numbers, not {}", list.kind());
                self.reject(&value, &format!("{name}.{at}"), "wrong-type", detail);
                continue;
            };
            let numbers = entries.iter().enumerate().map(|(nth, entry)| match entry {
                Json::Integer(number) => Some(*number),
                other => {
                    self.errors.add(value.kind(), || {
                        let detail =
                            format!("entries of a list in `{name}` must be whole numbers, not {}", other.kind());
                        FieldError::new(pointer(&format!("{name}.{at}.{nth}")), "wrong-type", detail)
                    });
                    None
                }
            });
            read.push(numbers.collect::<Vec<_>>().into_iter().collect::<Option<Vec<i64>>>());
        }
        let is_complete = read.len() == lists.len();
        let read: Option<Vec<Vec<i64>>> = read.into_iter().collect();
        read.filter(|_| is_complete).map(|lists| (value, lists))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::WrittenFields;

    #[test]
    fn lists_are_read_from_query_and_body_with_all_errors() {
        let reader = |body: &str| {
            FieldReader::new(Vec::new(), Some(WrittenFields::Json(Json::parse(body).unwrap())), &["patterns"])
        };
        let read = |mut fields: FieldReader| fields.integer_lists("patterns").map(|(_, lists)| lists);
        assert_eq!(read(reader(r#"{"patterns": [[1, 2], []]}"#)), Some(vec![vec![1, 2], vec![]]));
        let query = vec![("patterns".to_owned(), "[[3],[4]]".to_owned())];
        assert_eq!(read(FieldReader::new(query, None, &["patterns"])), Some(vec![vec![3], vec![4]]));
        assert_eq!(read(reader("{}")), None);
        let mut fields = reader(r#"{"patterns": [[1, "2", null], 3, [4.5]]}"#);
        assert!(fields.integer_lists("patterns").is_none());
        let errors = fields.finish(Some(())).unwrap_err().errors;
        let pointers: Vec<_> = errors.iter().map(|error| error.pointer.as_str()).collect();
        assert_eq!(pointers, ["/patterns/0/1", "/patterns/0/2", "/patterns/1", "/patterns/2/0"]);
    }
}
