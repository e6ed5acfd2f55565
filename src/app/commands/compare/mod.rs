//! `cargo perfcheck compare`: stored runs against one another.

mod asked;
mod columns;
mod command;
mod grouping;
mod options;
mod pivot;

pub use command::compare;
pub use grouping::GroupPattern;
pub use options::CompareOptions;
pub use pivot::{Dimension, PivotRequest, PivotValue, Versus};
