//! What commands read from the store: which runs are references, what was concluded of a run, comparisons of stored runs.
//!
//! Must not measure or print.

pub(in crate::app) mod acceptance;
pub(in crate::app) mod comparison;
pub(in crate::app) mod conclusions;
pub(in crate::app) mod earlier;
pub(in crate::app) mod histories;
pub(in crate::app) mod imported;
pub(in crate::app) mod names;
mod placing;
pub(in crate::app) mod references;
pub(in crate::app) mod segments;
pub(in crate::app) mod sides;
mod subject;
pub(in crate::app) mod team;
pub(in crate::app) mod transfer;
