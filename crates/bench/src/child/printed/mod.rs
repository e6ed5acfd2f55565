//! Runs benches that know no runner: Rust's own `#[bench]` (libtest) and the crate divan.
//!
//! Each process runs one benchmark. Its output is read as one value. Owns these formats, see docs/guide/src/coming-from.md. Must not treat a summary as samples: of divan's table, the median represents
//! the process.

mod divan;
mod harness;
mod libtest;
mod process;
mod sampling;
mod value;

pub(super) use harness::identify_printer;
pub use harness::{PrintedHarness, PrintedReport, PrintedRequest, PrintedValue, Printer};
pub use sampling::{UntimedSample, UntimedSampleRequest};
