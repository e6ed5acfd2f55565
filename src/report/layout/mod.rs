//! The one layout of tables: how columns of cells become aligned text within a width, a Markdown table, or CSV.
//!
//! Whoever has something to tell gives a [`Table`] columns and cells, and says of each column what may be done with it where there
//! is little room. Knows neither what is told nor what a terminal is. Invariants: numbers stay whole; cells hold raw text, and each
//! form makes it harmless for its reader.

mod benchmarks;
mod cell;
mod column;
mod fit;
mod forms;
mod table;

#[cfg(test)]
mod tests;

pub(super) use cell::{Cell, cells_of};
pub(super) use column::Column;
pub use forms::TableFormat;
pub(super) use table::{Section, SectionRow, Table};
