//! Reads from the store on behalf of commands: references, conclusions, and comparisons of stored runs.
//!
//! This module must not measure or print.

pub(crate) mod comparison;
pub(crate) mod conclusions;
pub(crate) mod histories;
mod placing;
pub(crate) mod references;
pub(crate) mod transfer;
