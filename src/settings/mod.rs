//! Settings from Cargo.toml (`[workspace.metadata.perfcheck]`, `[package.metadata.perfcheck]`), from the bench's
//! code and from the command line, laid over one another.
//!
//! Pure: JSON tables in, plain values out. Invariant: a key that nobody knows is an error that names the nearest
//! known one; what is not said anywhere has the project's default.

mod layer;
mod table;
mod values;

pub use layer::{Layer, Layers};
pub use table::{SettingsError, Tables, WorkspaceOnly};
pub use values::{
    confidence_level, fraction_below_one, parse_shared_host, positive_duration, significance_level,
};
