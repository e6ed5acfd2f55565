//! Many runs side by side: a column each, the first one being the reference, stars on what differs from it.
//!
//! The form is that of mmtests; the sign is this project's: plus is worse, whatever is shown.

mod content;
mod exact;
mod text;
mod write;

#[cfg(test)]
mod tests;

pub use content::{ColumnCell, ColumnsLine, RunColumn, Shown, SideBySide, Together, ValueTerms};
pub use write::write_columns;
