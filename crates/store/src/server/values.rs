//! Converts values between SQLite's five types, which the rest of the store uses, and PostgreSQL's types.

use std::error::Error;

use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use tokio_postgres::types::private::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

/// A parameter of a statement or a value of a row, in one of SQLite's types.
#[derive(Debug)]
pub(super) struct SqlValue(pub(super) Value);

impl SqlValue {
    /// Returns the value that SQLite would get.
    pub(super) fn from_sqlite(value: &dyn rusqlite::ToSql) -> rusqlite::Result<Self> {
        match value.to_sql()? {
            ToSqlOutput::Borrowed(borrowed) => match borrowed {
                ValueRef::Null => Ok(Self(Value::Null)),
                ValueRef::Integer(number) => Ok(Self(Value::Integer(number))),
                ValueRef::Real(number) => Ok(Self(Value::Real(number))),
                ValueRef::Text(bytes) => Ok(Self(Value::Text(
                    String::from_utf8_lossy(bytes).into_owned(),
                ))),
                ValueRef::Blob(bytes) => Ok(Self(Value::Blob(bytes.to_vec()))),
            },
            ToSqlOutput::Owned(value) => Ok(Self(value)),
            _ => Err(rusqlite::Error::ToSqlConversionFailure(
                "not a plain value".into(),
            )),
        }
    }

    /// Returns the type to declare for this value. The server infers the type of NULL.
    pub(super) fn r#type(&self) -> Type {
        match self.0 {
            Value::Null => Type::UNKNOWN,
            Value::Integer(_) => Type::INT8,
            Value::Real(_) => Type::FLOAT8,
            Value::Text(_) => Type::TEXT,
            Value::Blob(_) => Type::BYTEA,
        }
    }
}

impl ToSql for SqlValue {
    fn to_sql(
        &self,
        r#type: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match (&self.0, r#type) {
            (Value::Null, _) => Ok(IsNull::Yes),
            (Value::Integer(number), &Type::BOOL) => (*number != 0).to_sql(r#type, out),
            (Value::Integer(number), &Type::INT4) => i32::try_from(*number)?.to_sql(r#type, out),
            (Value::Integer(number), &Type::INT8) => number.to_sql(r#type, out),
            (Value::Integer(number), &Type::FLOAT8) => (*number as f64).to_sql(r#type, out),
            (Value::Real(number), &Type::FLOAT8) => number.to_sql(r#type, out),
            // A text in PostgreSQL cannot contain NUL.
            (Value::Text(text), &Type::TEXT) if text.contains('\0') => {
                text.replace('\0', "\u{fffd}").to_sql(r#type, out)
            }
            (Value::Text(text), &Type::TEXT) => text.to_sql(r#type, out),
            (Value::Blob(bytes), &Type::BYTEA) => bytes.to_sql(r#type, out),
            (value, other) => Err(format!(
                "a value of type {} cannot be stored as {other}",
                value.data_type()
            )
            .into()),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for SqlValue {
    fn from_sql(r#type: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(match *r#type {
            Type::BOOL => Value::Integer(i64::from(bool::from_sql(r#type, raw)?)),
            Type::INT4 => Value::Integer(i64::from(i32::from_sql(r#type, raw)?)),
            Type::INT8 => Value::Integer(i64::from_sql(r#type, raw)?),
            Type::FLOAT8 => Value::Real(f64::from_sql(r#type, raw)?),
            Type::TEXT | Type::NAME => Value::Text(String::from_sql(r#type, raw)?),
            Type::BYTEA => Value::Blob(Vec::from_sql(r#type, raw)?),
            ref other => return Err(format!("the store has no column of type {other}").into()),
        }))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(Value::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}
