//! What is found where a team's store is to be made.

/// What there was where a team's store is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoundStore {
    /// Nothing.
    None,
    /// A store of this older version.
    Older(u32),
    /// A store of the present version.
    Present,
}
