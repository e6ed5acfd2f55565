//! Compares the machine code of two executables: which functions differ, and whether a program can reach any of them.
//!
//! [`compare`] takes the bytes of two executables and returns a [`CodeComparison`]. [`FunctionReader`] shows the instructions of a function in both
//! executables side by side. [`measure_sizes`] returns the sizes of an executable, and [`find_grown_functions`] what made it larger. [`scan_source`]
//! finds the functions of a Rust source.
//!
//! The crate does no I/O and reads no clock. It runs on any machine, and understands position-independent executables with symbols for x86-64 and 64-bit ARM:
//! ELF, Mach-O (macOS), and for x86-64 also PE (Windows). For other executables it returns [`UnsupportedExecutable`] with the
//! reason. Sizes can be measured without symbols, and of executables that are not position-independent.

mod aarch64;
mod comparison;
mod decoded;
mod elf;
mod executable;
mod fixups;
mod image;
mod instruction_set;
mod listing;
mod macho;
mod pairs;
mod pe;
mod program;
mod sizes;
mod source;
mod symbols;
mod x86_64;

pub use comparison::{CodeComparison, EntryOffsets, FunctionChange, Reach, compare, insert_traps};
pub use image::{UnsupportedExecutable, readable_name};
pub use listing::{CodeRow, FunctionPair, FunctionReader};
pub use sizes::{FileSizes, find_grown_functions, measure_sizes};
pub use source::{ScannedSource, SourceFunction, SourceModule, scan_source};
