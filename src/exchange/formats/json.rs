//! JSON of strangers: errors with line and column, objects whose members may not occur twice, numbers that may be null.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};

use super::super::error::{ExchangeError, without_place};
use super::super::input::InputContent;
use super::gathering::broken;

/// The value of a whole file. Nesting is bounded by the parser (128 levels).
pub(super) fn parse<T: DeserializeOwned>(file: &InputContent) -> Result<T, ExchangeError> {
    parse_named(&file.name, &file.bytes)
}

/// The value of `bytes`, which `name` names.
pub(super) fn parse_named<T: DeserializeOwned>(
    name: &str,
    bytes: &[u8],
) -> Result<T, ExchangeError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    serde_json::from_slice(bytes).map_err(|error| {
        broken(
            &format!("{name}:{}:{}", error.line(), error.column()),
            without_place(&error),
        )
    })
}

/// The members of an object in order; a name that occurs twice is an error.
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
                        return Err(serde::de::Error::custom(format!("`{name}` is there twice")));
                    }
                    members.push((name, map.next_value()?));
                }
                Ok(JsonMembers(members))
            }
        }
        deserializer.deserialize_map(MembersReader(PhantomData))
    }
}
