//! `cargo perfcheck compare`: compares stored runs with each other.

mod columns;
mod command;
mod grouping;
mod pivot;

pub use command::CompareOptions;
pub use command::compare;
pub use grouping::GroupPattern;
pub use pivot::{Dimension, PivotRequest, PivotValue, Versus};
