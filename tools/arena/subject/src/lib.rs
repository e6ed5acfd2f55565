//! Workloads of known cost, for measuring how well a tool tells slower from same.
//!
//! Each takes `slow::percent()` hundredths of its base cost. Everything that depends on it is made in `set_up`, before any timing; `run`
//! does the work. Commits differ in the value of one static (`slow.rs`), or in what changes the executable but not the work
//! (`layout.rs`, the order of items in `workloads.rs`).

pub mod code;
pub mod layout;
pub mod slow;
pub mod slow_path;
pub mod workloads;
