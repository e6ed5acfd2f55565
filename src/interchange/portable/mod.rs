//! Moves runs between machines and CI jobs, as JSON lines without loss. docs/internals/src/exchange.md describes every line.
//!
//! Owns the format and its version. Invariant: a run equals itself after writing and reading, number for number. A file that is truncated,
//! inconsistent or of a later version is an error with its line.

mod read;
#[cfg(test)]
mod tests;
mod wire;

pub use read::{is_portable, read_portable};
pub use wire::{
    PortableConclusion, PortableHead, PortablePair, PortableRun, PortableVerdict, write_portable,
};
