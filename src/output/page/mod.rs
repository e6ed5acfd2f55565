//! The HTML page about a run: one self-contained file that works without a server.
//!
//! Rust computes and decides, and the script of the page draws. Every number on the page comes from `compare`; the browser estimates none.
//! Invariants: the page loads nothing from elsewhere, because its content security policy allows only the hashes of its own style and script. All
//! text of a benchmark is data in a block without `<`, and the script inserts it into the page only as text.

mod data;
mod document;
mod encoding;

pub use data::{Page, PageBenchmark, PageRun, PageSide};
pub use document::{page_file_name, write_page, write_page_written, write_run_index};
