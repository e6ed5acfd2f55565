//! Compares the machine code of two executables: which functions differ, and whether a program can reach any of them.
//!
//! [`compare`] takes the bytes of two executables and returns a [`CodeComparison`]; [`FunctionReader`] shows the instructions of a function of both
//! side by side.
//!
//! The crate does no I/O and reads no clock. It understands position-independent x86-64 ELF executables with symbols; for others it returns
//! [`UnsupportedExecutable`] with the reason.

mod body;
mod comparison;
mod disassembly;
mod image;
mod location;
mod names;
mod pairs;
mod program;
mod side_by_side;
mod unknown;

pub use comparison::{CodeComparison, EntryOffsets, FunctionChange, Reach, compare, insert_traps};
pub use names::readable_name;
pub use side_by_side::{CodeRow, FunctionPair, FunctionReader};
pub use unknown::UnsupportedExecutable;
