//! Ids in JSON: one as a text, several as a list.

use std::fmt;

use serde::Serializer;
use serde::de::{Deserializer, SeqAccess, Visitor};

/// Writes one id as a text, and several as a list.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(ids: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    match ids {
        [id] => serializer.serialize_str(id),
        ids => serializer.collect_seq(ids),
    }
}

/// Reads a text as one id, or a list of them.
///
/// # Errors
/// When the value is neither a text nor a list of texts.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    struct Ids;

    impl<'de> Visitor<'de> for Ids {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an id or a list of ids")
        }
        fn visit_str<E>(self, id: &str) -> Result<Vec<String>, E> {
            Ok(vec![id.to_owned()])
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<String>, A::Error> {
            let mut ids = Vec::new();
            while let Some(id) = seq.next_element()? {
                ids.push(id);
            }
            Ok(ids)
        }
    }

    deserializer.deserialize_any(Ids)
}
