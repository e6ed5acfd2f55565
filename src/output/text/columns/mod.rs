//! A table of several runs, one column each. The first run is the reference; stars mark differences from it.
//!
//! The layout follows mmtests, but not its signs: plus is worse for every statistic.

mod content;
mod text;

#[cfg(test)]
mod tests;

pub use content::{
    ColumnCell, ColumnGeometricMean, ColumnsLine, RunColumn, RunTable, ShownStatistics, ValueForm,
};
pub use text::write_columns;
