//! Reads from the store on behalf of commands: references, conclusions, and comparisons of stored runs.
//!
//! Must not measure or print.

pub(in crate::app) mod comparison;
pub(in crate::app) mod conclusions;
pub(in crate::app) mod earlier;
pub(in crate::app) mod histories;
pub(in crate::app) mod names;
mod placing;
pub(in crate::app) mod references;
pub(in crate::app) mod transfer;
