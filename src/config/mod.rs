//! Settings from Cargo.toml (`[workspace.metadata.perfcheck]`, `[package.metadata.perfcheck]`), from the bench's code and from the command line,
//! as layers that override each other.
//!
//! This module does no I/O: it turns JSON tables into plain values. An unknown key is an error that names the nearest known one. A value that is
//! set nowhere has its default.

mod layer;
mod table;

pub use layer::{Layer, Layers, Override};
pub use table::{
    ProgramEntry, SettingsError, Tables, WorkspaceSettings, parse_confidence_level,
    parse_fraction_below_one, parse_positive_duration, parse_shared_host, parse_significance_level,
};
