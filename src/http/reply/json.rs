//! JSON of replies.

use std::fmt::Display;

use serde::ser::{Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeTuple, Serializer};
use serde_json::Error;
use taquin_bulk::needs_escapes;

use crate::http::media_type::MediaType;

/// Serializes a reply. All replies have string keys and finite numbers.
pub(crate) fn json(reply: &impl Serialize) -> Vec<u8> {
    /// Enough for most replies.
    const CAPACITY: usize = 1 << 10;
    let mut json = Vec::with_capacity(CAPACITY);
    reply.serialize(Writer(&mut json)).expect("names are strings, and writing to memory does not fail");
    json
}

/// A reply, and how its board was read.
#[derive(serde::Serialize)]
struct ReplyWithReading<'r, R> {
    #[serde(flatten)]
    reply: &'r R,
    read_as: &'r str,
}

/// Writes a reply as text or as JSON. `read_as` says how the board was read if that is not obvious.
pub(crate) fn text_or_json(
    media_type: MediaType,
    reply: &(impl Serialize + Display),
    read_as: Option<&str>,
) -> Vec<u8> {
    match (media_type, read_as) {
        (MediaType::Text, None) => reply.to_string().into_bytes(),
        (MediaType::Text, Some(read_as)) => format!("Read as {read_as}.\n{reply}").into_bytes(),
        (_, None) => json(reply),
        (_, Some(read_as)) => json(&ReplyWithReading { reply, read_as }),
    }
}

/// Appends values as `serde_json` writes them. It copies names and most strings at once, where `serde_json` examines
/// every byte.
struct Writer<'j>(&'j mut Vec<u8>);

/// Appends the entries of an array, or the members of an object. Each has a comma before it; in the end the bracket
/// replaces the first comma.
struct Entries<'j> {
    json: &'j mut Vec<u8>,
    begin: usize,
    brackets: [u8; 2],
}

impl<'j> Writer<'j> {
    fn begin(self, brackets: [u8; 2]) -> Result<Entries<'j>, Error> {
        Ok(Entries { begin: self.0.len(), json: self.0, brackets })
    }
}

macro_rules! integers {
    ($($serialize:ident: $integer:ty),+) => {
        $(#[inline]
        fn $serialize(self, value: $integer) -> Result<(), Error> {
            self.0.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
            Ok(())
        })+
    };
}

impl<'j> Serializer for Writer<'j> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Entries<'j>;
    type SerializeTuple = Entries<'j>;
    type SerializeTupleStruct = Impossible<(), Error>;
    type SerializeTupleVariant = Impossible<(), Error>;
    type SerializeMap = Entries<'j>;
    type SerializeStruct = Entries<'j>;
    type SerializeStructVariant = Impossible<(), Error>;

    integers!(serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64);
    integers!(serialize_u16: u16, serialize_u32: u32, serialize_u64: u64);

    #[inline]
    fn serialize_u8(self, value: u8) -> Result<(), Error> {
        if value >= 100 {
            self.0.push(b'0' + value / 100);
        }
        if value >= 10 {
            self.0.push(b'0' + value / 10 % 10);
        }
        self.0.push(b'0' + value % 10);
        Ok(())
    }

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.0.extend_from_slice(if value { b"true" } else { b"false" });
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        serde_json::to_writer(self.0, &value)
    }

    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        serde_json::to_writer(self.0, &value)
    }

    fn serialize_char(self, value: char) -> Result<(), Error> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        if needs_escapes(value) {
            return serde_json::to_writer(self.0, value);
        }
        self.0.push(b'"');
        self.0.extend_from_slice(value.as_bytes());
        self.0.push(b'"');
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Error> {
        self.collect_seq(value)
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.0.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.serialize_none()
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_none()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Result<(), Error> {
        self.serialize_str(name)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        self.collect_map([(name, value)])
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Entries<'j>, Error> {
        self.begin(*b"[]")
    }

    fn serialize_tuple(self, _: usize) -> Result<Entries<'j>, Error> {
        self.begin(*b"[]")
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeTupleStruct, Error> {
        Err(unsupported())
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Error> {
        Err(unsupported())
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Entries<'j>, Error> {
        self.begin(*b"{}")
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Entries<'j>, Error> {
        self.begin(*b"{}")
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Error> {
        Err(unsupported())
    }
}

/// No reply has values of these kinds.
fn unsupported() -> Error {
    serde::ser::Error::custom("replies have neither tuple structs nor variants with several fields")
}

impl SerializeSeq for Entries<'_> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.json.push(b',');
        value.serialize(Writer(self.json))
    }

    fn end(self) -> Result<(), Error> {
        let [open, close] = self.brackets;
        match self.json.get_mut(self.begin) {
            Some(comma) => *comma = open,
            None => self.json.push(open),
        }
        self.json.push(close);
        Ok(())
    }
}

impl SerializeTuple for Entries<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        SerializeSeq::serialize_element(self, value)
    }

    fn end(self) -> Result<(), Error> {
        SerializeSeq::end(self)
    }
}

impl SerializeMap for Entries<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, name: &T) -> Result<(), Error> {
        SerializeSeq::serialize_element(self, name)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.json.push(b':');
        value.serialize(Writer(self.json))
    }

    fn end(self) -> Result<(), Error> {
        SerializeSeq::end(self)
    }
}

impl SerializeStruct for Entries<'_> {
    type Ok = ();
    type Error = Error;

    /// Names of fields are literals of this program and need no escapes.
    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Result<(), Error> {
        self.json.extend_from_slice(b",\"");
        self.json.extend_from_slice(name.as_bytes());
        self.json.extend_from_slice(b"\":");
        value.serialize(Writer(self.json))
    }

    fn end(self) -> Result<(), Error> {
        SerializeSeq::end(self)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    /// Every kind of value that replies have.
    #[derive(serde::Serialize)]
    struct Kinds {
        numbers: (u8, u16, u32, u64, i8, i16, i32, i64),
        fractions: (f32, f64),
        #[serde(flatten)]
        more: BTreeMap<String, Value>,
        letter: char,
        text: String,
        flag: bool,
        absent: Option<u8>,
        present: Option<Newtype>,
        variants: (Variant, Variant),
        unit: (),
    }

    #[derive(serde::Serialize)]
    struct Newtype(Vec<u8>);

    #[derive(serde::Serialize)]
    enum Variant {
        Unit,
        Newtype(u8),
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".*".prop_map(Value::from)
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(".*", inner, 0..4).prop_map(|map| map.into_iter().collect())
            ]
        })
    }

    proptest! {
        #[test]
        fn replies_are_written_as_serde_json_writes_them(
            numbers: (u8, u16, u32, u64, i8, i16, i32, i64),
            fractions: (f32, f64),
            more in prop::collection::btree_map(".*", value(), 0..4),
            letter: char,
            text in prop_oneof!["[ -~]*", ".*"],
            bytes: Vec<u8>,
        ) {
            let kinds = Kinds {
                numbers, fractions, more, letter, text, flag: numbers.0 > 9, absent: None,
                present: Some(Newtype(bytes)), variants: (Variant::Unit, Variant::Newtype(numbers.0)), unit: (),
            };
            prop_assert_eq!(String::from_utf8(json(&kinds)).unwrap(), serde_json::to_string(&kinds).unwrap());
        }
    }
}
