//! Benches that know no runner and print what they found, or write it to files: Rust's own `#[bench]` (libtest), the crate divan, and
//! Criterion where it cannot reach us.
//!
//! One process for one benchmark; what it prints is read as one value, and Criterion's files are read as its samples. It owns the formats, see
//! docs/src/coming-from.md. Must not take a summary for samples: of what divan prints the median stands for the launch.

mod criterion;
mod divan;
mod harness;
mod iterated;
mod launched;
mod libtest;
mod process;
mod value;

pub(super) use harness::printer_of;
pub use harness::{PrintedHarness, PrintedRequest, PrintedValue, Printer, Report};
pub use iterated::{Iterated, IteratedSample};
