//! The HTML pages about a run, a ranking and coverage. Each is one self-contained file that works without a server.
//!
//! Rust computes and decides, and the script of the page about a run draws. Every number on it comes from `compare`; the browser estimates none. The
//! other pages have no script. Invariants: a page loads nothing from elsewhere, because its content security policy allows only the hashes of its own
//! style and script. All text of a benchmark is either escaped or data in a block without `<`, which the script inserts into the page only as text.

mod coverage;
mod data;
mod document;
mod encoding;
mod ranking;

pub use coverage::{CoveragePage, write_coverage_page};
pub use data::{Page, PageBenchmark, PageRun, PageSide};
pub use document::{page_file_name, write_page, write_page_written, write_run_index};
pub use ranking::write_ranking_page;
