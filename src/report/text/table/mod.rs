//! The table of results, for people: rows by bench target and group, what is to be known of them, and what it comes to.
//!
//! Which benchmark a row is about is never cut off.

mod bar;
mod cells;
mod conclusion;
mod notes;
mod write;

pub use write::write_table;
