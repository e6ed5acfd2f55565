//! The table of results for people: rows by bench target and group, notes on them, and a conclusion.
//!
//! The name of a benchmark is never cut off.

mod bar;
mod cells;
mod write;

pub use write::write_table;
