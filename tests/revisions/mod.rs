//! Both sides of a side-by-side comparison, built from real repositories with the real cargo and git.
//!
//! The bench targets only print: the tests check which files were built, not how fast the result is.

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
