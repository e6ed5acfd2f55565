//! Examines the machine: settings that affect how stable measurements are, and its activity during a measurement.
//!
//! Must not judge the values. Each concern has its own file, with parsers that are pure functions of the texts from [`SystemFiles`]. A value that
//! cannot be read is `None`.

mod activity;
mod files;
mod limits;
mod processors;
mod state;

pub use activity::ActivitySnapshot;
pub use files::{RealFiles, SystemFiles};
pub use processors::last_level_cache;
pub use state::{machine_state, read_host_facts};
