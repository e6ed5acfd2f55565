//! Settings from Cargo.toml (`[workspace.metadata.perfcheck]`, `[package.metadata.perfcheck]`), from the bench's
//! code and from the command line, laid over one another.
//!
//! Pure: JSON tables in, plain values out. Invariant: a key that nobody knows is an error that names the nearest
//! known one; what is not said anywhere has the project's default.

mod layer;
mod table;

pub use layer::{Layer, Layers};
pub use table::{SettingsError, Tables, WorkspaceOnly};
