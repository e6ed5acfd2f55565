//! The layout of all tables: aligned text within a width, Markdown, or CSV.
//!
//! Callers fill a [`Table`] with columns and cells, and choose for each column how it may become narrower. Must not depend on the content of tables
//! or on terminals. Invariants: numbers are never shortened; cells contain raw text, which each form escapes for its reader.

mod cell;
mod column;
mod table;

#[cfg(test)]
mod tests;

pub(super) use cell::{Cell, ColoredText, cell_builder};
pub(super) use column::Column;
pub use table::TableFormat;
pub(super) use table::{Section, SectionRow, Table};
