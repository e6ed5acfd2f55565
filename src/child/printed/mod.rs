//! Benches that know no runner and print what they found: Rust's own `#[bench]` (libtest) and the crate divan.
//!
//! One process for one benchmark; what it prints is read as one value. It owns the two formats of text, see docs/HARNESSES.md. Must not
//! take a summary for samples: of what divan prints the median stands for the launch.

mod divan;
mod harness;
mod libtest;
mod process;
mod value;

pub(super) use harness::printer_of;
pub use harness::{PrintedHarness, PrintedRequest, Printer, Report, Reported};
pub use process::Means;
