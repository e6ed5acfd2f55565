//! From comparisons to what is told of them: rows with verdicts, rules that were kept or broken. Pure: model and comparisons in, data out.
//!
//! Must not print, read a store or measure. Invariant: everything that a report says of a run is in here as data, no sentence among it.

mod content;
mod gates;

pub use content::{FailedTarget, Findings, Gates, Method, Row, Verdicts, Violation};
pub use gates::{gates, has_worsened, status_of_gates};
