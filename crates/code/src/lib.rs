//! Machine code of two executables: which functions differ, and whether a program can come to any of them.
//!
//! Bytes of two executables go in, typed facts come out: [`compare`] gives a [`CodeComparison`], and [`FunctionReader`] the instructions of a function side by side.
//!
//! It makes pairs of what lies in both, from where programs begin: code beside code, data beside data, by what both sides refer to at the same place.
//! As long as they stay within pairs both do the same, so names are for people alone. Addresses differ with every link, so each operand that is one is
//! compared by what it leads to: code by its place in a function, data by its content, tables of jumps by the code that they lead to. A
//! `core::panic::Location` is the same on another line. Where data begin and end is known of symbols; anonymous constants begin and end where something
//! refers to them, and their neighbours count as theirs unless the same code finds these elsewhere. Any doubt is a difference. Hashes of names and of types
//! that are constants in code, such as a `TypeId`, change with the version of a crate: code that has them differs then. Tables of unwinding are not compared.
//!
//! No input, no output, no clock. Position-independent ELF executables for x86-64 with their symbols are understood; for others the answer is
//! [`Unknown`], with the reason.

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

pub use comparison::{CodeComparison, Entrances, FunctionChange, Reach, compare, trapped};
pub use names::readable;
pub use side_by_side::{CodeRow, FunctionPair, FunctionReader};
pub use unknown::Unknown;
