//! Runs as JSON lines, without loss: how they move between machines and CI jobs. docs/src/exchange.md describes every line.
//!
//! Owns the format and its version. Invariant: a run that was written and read is equal to itself, number for number, and what was cut short,
//! written by a later version or does not hold together is an error with its line.

mod check;
mod read;
#[cfg(test)]
mod tests;
mod wire;
mod write;

pub use read::{looks_like, read_portable};
pub use wire::{
    PortableConclusion, PortableHead, PortablePair, PortableReference, PortableRun, PortableVerdict,
};
pub use write::write_portable;
