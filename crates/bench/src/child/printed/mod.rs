//! Runs benches that cannot report to a runner: Rust's own `#[bench]` (libtest) and the crate divan.
//!
//! Each process runs one benchmark, and its output is read as one value; in divan's table that is the median. Only this module knows the printed
//! formats, which docs/guide/src/coming-from.md describes. It must not treat a summary as samples.

mod divan;
mod harness;
mod libtest;
mod process;
mod sampling;
mod value;

pub(super) use harness::identify_printer;
pub use harness::{PrintedHarness, PrintedReport, PrintedRequest, PrintedValue, Printer};
pub use sampling::{UntimedSample, UntimedSampleRequest};
