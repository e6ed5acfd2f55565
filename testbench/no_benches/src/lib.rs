//! A package without bench targets.

/// One more than `n`.
#[must_use]
pub fn successor(n: u32) -> u32 {
    n + 1
}
