//! Both sides of an A/B comparison, built from real repositories with the real cargo and git.
//!
//! The bench targets do nothing but print: what matters here is what was built from which files, not how fast it is.

mod repository;

mod benches_from;
mod building;
mod copied;
mod edits;
mod keeping;
mod layouts;
mod links;
mod processes;
mod resolving;
