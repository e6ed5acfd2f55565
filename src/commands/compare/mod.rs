//! `cargo perfcheck compare`: compares stored runs with each other.

mod columns;
mod command;
mod grouping;
mod options;
mod pivot;
mod pivot_request;

pub use command::compare;
pub use options::{CompareOptions, GroupPattern};
pub use pivot_request::{Dimension, PivotRequest, PivotValue, Versus};
