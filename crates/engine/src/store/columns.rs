//! How values of the model stand in columns: words for enums, JSON for facts, two's complement for `u64`.

use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef};
use serde::Serialize;
use serde::de::DeserializeOwned;

use perfcheck_analysis::model::{Acceptance, Nanos, Purpose, RunStatus, Side, Verdict};

/// An enum whose variants are stored as words.
pub(super) trait StoredWord: Copy {
    /// The word of this variant.
    fn to_word(self) -> &'static str;
    /// The variant of a word.
    fn of_word(word: &str) -> Option<Self>;
}

impl StoredWord for RunStatus {
    fn to_word(self) -> &'static str {
        match self {
            Self::Incomplete => "incomplete",
            Self::Complete => "complete",
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        [Self::Incomplete, Self::Complete]
            .into_iter()
            .find(|status| status.to_word() == word)
    }
}

impl StoredWord for Acceptance {
    fn to_word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Automatic => "automatic",
            Self::ByCommand => "by-command",
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        [Self::Pending, Self::Automatic, Self::ByCommand]
            .into_iter()
            .find(|acceptance| acceptance.to_word() == word)
    }
}

impl StoredWord for Side {
    fn to_word(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::Candidate => "candidate",
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        [Self::Base, Self::Candidate]
            .into_iter()
            .find(|role| role.to_word() == word)
    }
}

impl StoredWord for Purpose {
    fn to_word(self) -> &'static str {
        match self {
            Self::Comparison => "comparison",
            Self::Search => "search",
            Self::Control => "control",
            Self::Part => "part",
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        [Self::Comparison, Self::Search, Self::Control, Self::Part]
            .into_iter()
            .find(|purpose| purpose.to_word() == word)
    }
}

impl StoredWord for Verdict {
    fn to_word(self) -> &'static str {
        self.word()
    }

    fn of_word(word: &str) -> Option<Self> {
        word.parse().ok()
    }
}

/// A column of yes and no, one digit each; none at all is NULL.
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

/// The same, read.
pub(super) struct FlagsRead(pub(super) Vec<bool>);

impl FromSql for FlagsRead {
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

/// A column that holds the word of an enum.
pub(super) struct WordColumn<T>(pub(super) T);

impl<T: StoredWord> ToSql for WordColumn<T> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.to_word().into())
    }
}

impl<T: StoredWord> FromSql for WordColumn<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let word = value.as_str()?;
        T::of_word(word)
            .map(Self)
            .ok_or_else(|| FromSqlError::Other(format!("unknown word `{word}`").into()))
    }
}

/// A column that holds JSON text.
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

/// A column that holds any `u64`, as the signed integer of the same bits.
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

/// A column that counts rows.
pub(super) struct Count(pub(super) usize);

impl FromSql for Count {
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
