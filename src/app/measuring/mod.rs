//! Measures on behalf of commands: building, pairing, measuring alone or side by side.
//!
//! Must not print results. Invariant: every measurement is stored before anything is decided about it.

pub(in crate::app) mod builds;
pub(in crate::app) mod counting;
pub(in crate::app) mod machine_code;
pub(in crate::app) mod paired;
pub(in crate::app) mod pairing;
pub(in crate::app) mod request;
pub(in crate::app) mod single;
pub(in crate::app) mod work_tree;

pub use builds::Against;
