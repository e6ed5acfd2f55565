//! The state of the place where a team's store is to be created.

/// The existing content where a team's store is to be created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExistingStore {
    /// No store.
    None,
    /// A store of this older version.
    Older(u32),
    /// A store of the current version.
    Present,
}
