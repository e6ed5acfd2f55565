//! Column types for values of the model: words for enums, JSON for facts, two's complement for `u64`.

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use serde::Serialize;
use serde::de::value::{Error as ValueError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};

use perfcheck_analysis::model::Nanos;

/// A column of flags, one digit each; NULL if there are none.
pub(super) struct FlagColumn<'a>(pub(super) &'a [bool]);

impl ToSql for FlagColumn<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        if self.0.is_empty() {
            return Ok(rusqlite::types::Null.into());
        }
        let digits = self.0.iter().map(|flag| if *flag { '1' } else { '0' });
        Ok(digits.collect::<String>().into())
    }
}

/// The flags read from a [`FlagColumn`].
pub(super) struct FlagValues(pub(super) Vec<bool>);

impl FromSql for FlagValues {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let digits = match value {
            ValueRef::Null => "",
            text => text.as_str()?,
        };
        let flags = digits.chars().map(|digit| match digit {
            '0' => Ok(false),
            '1' => Ok(true),
            other => Err(FromSqlError::Other(format!("`{other}` is no flag").into())),
        });
        Ok(Self(flags.collect::<Result<_, _>>()?))
    }
}

/// A column with the word of an enum variant, as in JSON.
pub(super) struct WordColumn<T>(pub(super) T);

/// Returns the word of an enum variant without values.
pub(super) fn word<T: Serialize>(value: T) -> String {
    let word = serde_json::to_value(value).ok();
    let word = word.as_ref().and_then(serde_json::Value::as_str);
    word.expect("a variant without values is a word").to_owned()
}

impl<T: Serialize> ToSql for WordColumn<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(word(&self.0).into())
    }
}

impl<T: DeserializeOwned> FromSql for WordColumn<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let word: StrDeserializer<'_, ValueError> = value.as_str()?.into_deserializer();
        T::deserialize(word)
            .map(Self)
            .map_err(|error| FromSqlError::Other(error.into()))
    }
}

/// A column with JSON text.
pub(super) struct Json<T>(pub(super) T);

impl<T: Serialize> ToSql for Json<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        serde_json::to_string(&self.0)
            .map(ToSqlOutput::from)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))
    }
}

impl<T: DeserializeOwned> FromSql for Json<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?)
            .map(Self)
            .map_err(|error| FromSqlError::Other(error.into()))
    }
}

/// A column with any `u64`, stored as the signed integer of the same bits.
pub(super) struct Unsigned(pub(super) u64);

impl ToSql for Unsigned {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.cast_signed().into())
    }
}

impl FromSql for Unsigned {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_i64().map(|bits| Self(bits.cast_unsigned()))
    }
}

/// A column with a number of rows.
pub(super) struct RowCount(pub(super) usize);

impl FromSql for RowCount {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let count = value.as_i64()?;
        usize::try_from(count)
            .map(Self)
            .map_err(|_| FromSqlError::OutOfRange(count))
    }
}

impl From<Nanos> for Unsigned {
    fn from(nanos: Nanos) -> Self {
        Self(nanos.0)
    }
}
