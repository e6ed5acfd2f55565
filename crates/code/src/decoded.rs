//! The types by which the instruction sets describe code: the decoded code of a unit, the text of instructions, and the kinds of relocations. The
//! modules for each instruction set fill them in, and comparisons and listings read them.

use std::ops::Range;

/// Number of bytes that code accesses at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum AccessSize {
    /// This many bytes.
    Exact(u64),
    /// An unknown number, because the code only takes the address and may pass it on.
    Open,
}

/// An address that code refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AddressReference {
    /// Offset in the unit of the bytes that hold the address.
    pub(crate) at: u32,
    pub(crate) target: u64,
    pub(crate) extent: AccessSize,
}

/// Code that a unit calls or jumps to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entrance {
    /// The start of a function.
    Function,
    /// The start of a function that never returns.
    Endless,
    /// Code that the compiler or the linker moved out of functions. It may use any register as the function left it.
    Outlined,
    /// Something else, such as a function without a sized symbol, or an address within a function.
    Unknown,
}

/// The code of a unit before it is decoded.
#[derive(Clone, Copy)]
pub(crate) struct UnitCode<'c> {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The bytes of the code. They are fewer than the unit is long if the file does not have all of them.
    pub(crate) bytes: &'c [u8],
    /// The address ranges of data within the code, in ascending order. They are known only for instruction sets whose assemblers mark them.
    pub(crate) data: &'c [Range<u64>],
    /// Returns what kind of code is at an address outside the unit.
    pub(crate) entrance: &'c dyn Fn(u64) -> Entrance,
}

impl UnitCode<'_> {
    pub(crate) fn contains(&self, address: u64) -> bool {
        (self.start..self.end).contains(&address)
    }

    /// Returns the range of data at an address.
    pub(crate) fn data_at(&self, address: u64) -> Option<&Range<u64>> {
        let before = self.data.partition_point(|data| data.start <= address);
        let data = &self.data[before.checked_sub(1)?];
        (address < data.end).then_some(data)
    }
}

/// The decoded code of a unit.
#[derive(Debug, Default)]
pub(crate) struct UnitBody {
    /// The bytes of the code, with zeros in place of addresses outside the unit.
    pub(crate) masked: Vec<u8>,
    pub(crate) references: Vec<AddressReference>,
    /// Addresses that the code computes from those in `references`. `masked` keeps the numbers that it adds. They do not show where data begin.
    pub(crate) derived: Vec<AddressReference>,
    /// Whether the code may contain addresses that were not recognized. Then it counts as different from any other code.
    pub(crate) has_unknown_addresses: bool,
    /// Whether the code accesses thread-local storage.
    pub(crate) uses_threads: bool,
    /// Whether the code reads signed 32-bit numbers by an index. Code that uses a table of distances does that.
    pub(crate) reads_distances: bool,
}

/// A placeholder in the text of an instruction for the name of the address that the instruction refers to.
pub(crate) const TARGET: char = '\u{2}';

/// An instruction as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InstructionText {
    pub(crate) address: u64,
    /// The instruction, with [`TARGET`] in place of the address that it refers to.
    pub(crate) text: String,
    /// The address that the instruction jumps to or accesses, if it contains one.
    pub(crate) target: Option<(u64, AccessSize)>,
    pub(crate) is_call: bool,
}

/// The kind of a dynamic relocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RelocationKind {
    /// The loader writes an address within the executable, which is the addend.
    Own,
    /// The loader calls a function that selects the address (an IFUNC).
    Selected,
    /// The loader writes the address of a symbol plus the addend.
    Symbol,
    /// The loader does something else.
    Other,
}
