//! Parses JSON of other programs: errors have line and column, and objects with duplicate members are refused.

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

use super::super::error::{ExchangeError, reason_without_place};
use super::super::input::InputContent;
use super::gathering::format_error;

/// Parses a whole file. The parser bounds nesting to 128 levels.
pub(super) fn parse<T: DeserializeOwned>(file: &InputContent) -> Result<T, ExchangeError> {
    parse_named(&file.name, &file.bytes)
}

/// Parses `bytes` as JSON. `name` is the file name that error messages show.
pub(super) fn parse_named<T: DeserializeOwned>(
    name: &str,
    bytes: &[u8],
) -> Result<T, ExchangeError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    serde_json::from_slice(bytes).map_err(|error| {
        let mut reason = reason_without_place(&error);
        if let Some(word) = non_finite_word(bytes, &error) {
            reason = format!("`{word}` is not valid in JSON; write null or a number instead");
        }
        format_error(
            &format!("{name}:{}:{}", error.line(), error.column()),
            reason,
        )
    })
}

/// If the parser stopped at a word for a non-finite number, returns that word. JSON has no such words, but programs that format floats themselves
/// write them.
fn non_finite_word(bytes: &[u8], error: &serde_json::Error) -> Option<&'static str> {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let line = lines.nth(error.line().checked_sub(1)?)?;
    let rest = line.get(error.column().checked_sub(1)?..)?;
    let words = ["NaN", "Infinity", "nan", "inf"].into_iter();
    words
        .into_iter()
        .find(|word| rest.starts_with(word.as_bytes()))
}

/// The members of a JSON object, in their order. It is an error if two members have the same name.
#[derive(Debug, Clone)]
pub(super) struct JsonMembers<T>(pub(super) Vec<(String, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for JsonMembers<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersReader<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for MembersReader<T> {
            type Value = JsonMembers<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut seen = std::collections::HashSet::new();
                let mut members = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    if !seen.insert(name.clone()) {
                        return Err(serde::de::Error::custom(format!("`{name}` appears twice")));
                    }
                    members.push((name, map.next_value()?));
                }
                Ok(JsonMembers(members))
            }
        }
        deserializer.deserialize_map(MembersReader(PhantomData))
    }
}
