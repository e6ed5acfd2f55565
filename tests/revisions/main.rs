//! Both sides of an A/B comparison, built from real repositories with the real cargo and git.
//!
//! The bench targets do nothing: what matters here is what was built from which files, not how fast it is.

#[path = "../support/mod.rs"]
mod support;

mod repository;

mod building;
