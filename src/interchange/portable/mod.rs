//! Moves runs between machines and CI jobs, as JSON lines without loss. docs/internals/src/exchange.md describes every line.
//!
//! This module has the format and its version. Invariant: a run that is written and read again is the same as before, number for number. If a file is
//! truncated, inconsistent or of a later version, reading it fails with an error that names the line.

mod read;
#[cfg(test)]
mod tests;
mod wire;

pub use read::{is_portable, read_portable};
pub use wire::{
    PortableConclusion, PortableHead, PortablePair, PortableRun, PortableVerdict, write_portable,
};
