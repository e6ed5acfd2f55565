//! Starts bench processes, speaks their protocol, and measures one build or two in rounds.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod child;
pub mod measure;
