//! The page: one self-contained HTML file that works without a server.
//!
//! Rust computes and decides, and the page's script draws. Every number on the page comes from `compare`; the browser estimates none.
//! Invariants: the page loads nothing from elsewhere, because its content security policy allows only the hashes of its own style and script. All
//! text of a benchmark is data in a block without `<`, and is inserted into the page only as text.

mod data;
mod document;
mod encoding;

pub use data::{Page, PageBenchmark, PageRun, PageSide};
pub use document::{page_file_name, write_page, write_page_written, write_run_index};
