//! The versions of the schema of a team's store.

/// One script per version, oldest first. A released script is never edited.
pub(super) const SCRIPTS: [&str; 1] = [include_str!("schema.sql")];

/// The version that this program reads and writes.
pub(super) const VERSION: u32 = SCRIPTS.len() as u32;
