//! Builds bench targets, keeps the builds of both sides of a comparison, and links them again with functions at other places.
//!
//! Must not start a bench.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod cargo;
pub mod link;
pub mod sides;
