//! The table of results, for people: rows by bench target and group, what is to be known of them, and what it comes to.
//!
//! Its layout follows the columns that there are; which benchmark a row is about is never cut off.

mod bar;
mod cells;
mod column;
mod conclusion;
mod fit;
mod notes;
mod sections;
mod write;

pub(super) use cells::p_value;
pub(super) use column::{Cell, Column};
pub(super) use fit::fit;
pub(super) use sections::Section;
pub use write::write_table;
