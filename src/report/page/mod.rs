//! The page: one self-contained HTML file that works from a disk.
//!
//! Rust reduces and decides, the page's script draws: every number on it comes from `compare`, none is estimated in the browser.
//! Invariants: no request leaves the file (a content security policy with the hashes of the page's own style and script); every text of a
//! benchmark is data in a block that holds no `<`, and reaches the page as text alone.

mod benchmark;
mod content;
mod document;
mod environment;
mod history;
mod phrases;
mod quantized;
mod run_index;
#[cfg(test)]
mod style_hash;

pub use content::{Page, PageBenchmark, PageRun, PageSide};
pub use document::{write_page, write_page_place};
pub use run_index::{page_of_run, write_run_index};
