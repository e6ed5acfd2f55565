//! The layout of all tables: aligned text within a width, Markdown, or CSV.
//!
//! Callers fill a [`Table`] with columns and cells, and choose for each column how it may become narrower. This module must not depend on what tables
//! contain, nor on the terminal. Invariants: numbers are never shortened. Cells contain raw text, and each format escapes it for its reader.

mod cell;
mod column;
mod table;

#[cfg(test)]
mod tests;

pub(super) use cell::{Cell, ColoredText, cell_builder};
pub(super) use column::Column;
pub use table::TableFormat;
pub(super) use table::{Section, SectionRow, Table};
