//! `cargo perfcheck compare`: compares stored runs with each other.

mod columns;
mod command;
mod grouping;
mod options;
mod pivot;

pub use command::compare;
pub use grouping::GroupPattern;
pub use options::CompareOptions;
pub use pivot::{Dimension, PivotRequest, PivotValue, Versus};
