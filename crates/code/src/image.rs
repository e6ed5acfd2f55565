//! An executable as loaded into memory: sections, functions with their readable names, sized data, and the addresses that the loader writes. This
//! module also has the reasons why the machine code of an executable cannot be compared.
//!
//! `executable.rs` reads it from a file, whatever its format. Readable names lack the parts that depend on the build.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::decoded::{Entrance, UnitCode};
use crate::instruction_set::InstructionSet;

/// The content of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SectionUse {
    Code,
    Constants,
    Variables,
    /// The initial values of thread-local storage.
    Threads,
    /// Descriptions of thread-local variables, through which code gets their addresses.
    ThreadDescriptors,
}

/// A section that is loaded into memory.
#[derive(Debug)]
pub(crate) struct LoadedSection<'d> {
    pub(crate) name: String,
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Content in the file; empty if the section is zero-initialized.
    pub(crate) bytes: &'d [u8],
    pub(crate) content: SectionUse,
    pub(crate) in_file: u64,
    /// The length of each stub if the section consists of stubs that jump to functions of libraries.
    pub(crate) stubs: Option<u64>,
}

/// Code that is entered at its start and perhaps elsewhere: a function, or the code between two functions.
#[derive(Debug, Clone)]
pub(crate) struct CodeUnit {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The linker's name; `None` if no symbol gives the bounds.
    pub(crate) symbol: Option<String>,
}

/// A thread-local variable.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ThreadVariable {
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) name: String,
}

/// The thread-local storage of each thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ThreadStorage {
    pub(crate) size: u64,
    pub(crate) alignment: u64,
}

/// A value that the loader writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LoaderWrite {
    /// An address within the executable.
    Address(u64),
    /// The address of this name in a library, with the addend and the type of the relocation. The name alone identifies the function if the format
    /// has no such types.
    Import(String, i64, u32),
}

/// An executable.
#[derive(Debug)]
pub(crate) struct Image<'d> {
    pub(crate) instruction_set: InstructionSet,
    pub(crate) sections: Vec<LoadedSection<'d>>,
    /// All code, without gaps within a section.
    pub(crate) units: Vec<CodeUnit>,
    /// Start and size of data with symbols. If symbols have no sizes, data reach up to the next symbol.
    pub(crate) objects: BTreeMap<u64, u64>,
    /// Addresses of all other symbols, such as those of code or data without a size.
    pub(crate) labels: Vec<u64>,
    /// The linker's names of functions and of sized data, by start address.
    pub(crate) names: BTreeMap<u64, Vec<String>>,
    pub(crate) written: BTreeMap<u64, LoaderWrite>,
    pub(crate) entry: u64,
    /// Data and code that the loader or the C library reads before the program begins: a name, the same in all executables, and the address range.
    pub(crate) read_at_start: Vec<(String, Range<u64>)>,
    /// Items that libraries may call or read, by name.
    pub(crate) exported: BTreeMap<String, u64>,
    pub(crate) libraries: Vec<String>,
    /// Thread-local variables, by address.
    pub(crate) thread_variables: Vec<ThreadVariable>,
    pub(crate) thread_storage: Option<ThreadStorage>,
    /// The address ranges of data within code sections, in ascending order. Empty if assemblers for this instruction set do not mark them.
    pub(crate) data_in_code: Vec<Range<u64>>,
    /// The addresses at which the assembler marked the start of a section of variables, in ascending order. The linker has joined these sections.
    /// Empty if assemblers for this instruction set do not mark them.
    pub(crate) variables: Vec<u64>,
    /// The start addresses of units whose instructions show that they never return, in ascending order.
    pub(crate) endless: Vec<u64>,
    /// Whether the format gives symbols sizes. Without them, a function or data may end before the address that is taken for their end, and code may go
    /// on behind it.
    pub(crate) has_sizes: bool,
}

impl<'d> Image<'d> {
    /// Finds the units that never return. This must be done once all other fields are known.
    pub(crate) fn find_endless(&mut self) {
        let set = self.instruction_set;
        let units = self.units.iter();
        let endless = units.filter(|unit| {
            let is_endless = self.with_code(unit, |code| set.is_endless(code));
            is_endless == Some(true)
        });
        self.endless = endless.map(|unit| unit.start).collect();
    }

    /// Returns true if the loader writes into code.
    pub(crate) fn has_writes_in_code(&self) -> bool {
        let is_in_code = |at: &u64| self.section_use(*at) == Some(SectionUse::Code);
        self.written.keys().any(is_in_code)
    }

    /// Returns the section at an address.
    pub(crate) fn section(&self, address: u64) -> Option<&LoadedSection<'d>> {
        let after = self
            .sections
            .partition_point(|section| section.start <= address);
        let found = self.sections.get(after.checked_sub(1)?)?;
        (address < found.end).then_some(found)
    }

    pub(crate) fn section_use(&self, address: u64) -> Option<SectionUse> {
        Some(self.section(address)?.content)
    }

    /// Returns the index of the unit at an address.
    pub(crate) fn unit_at(&self, address: u64) -> Option<usize> {
        let after = self.units.partition_point(|unit| unit.start <= address);
        let at = after.checked_sub(1)?;
        (address < self.units[at].end).then_some(at)
    }

    /// Returns the `length` bytes at an address; `None` if they extend beyond the section. The result is empty for a zero-initialized section: the
    /// file has no bytes for it, and it can be larger than memory.
    pub(crate) fn bytes(&self, address: u64, length: u64) -> Option<&'d [u8]> {
        let section = self.section(address)?;
        let end = address
            .checked_add(length)
            .filter(|end| *end <= section.end)?;
        let within = |at: u64| ((at - section.start) as usize).min(section.bytes.len());
        Some(&section.bytes[within(address)..within(end)])
    }

    /// Returns the start and the size of the sized data at an address.
    pub(crate) fn object_at(&self, address: u64) -> Option<(u64, u64)> {
        let (start, size) = self.objects.range(..=address).next_back()?;
        (address < start + size).then_some((*start, *size))
    }

    /// Calls `read` with the code of a unit, and returns its result. Returns `None` if the unit is not within one section.
    pub(crate) fn with_code<T>(
        &self,
        unit: &CodeUnit,
        read: impl FnOnce(&UnitCode<'_>) -> T,
    ) -> Option<T> {
        let entrance = |address| self.entrance(address);
        let bytes = self.bytes(unit.start, unit.end - unit.start)?;
        let data = &self.data_in_code;
        let from = data.partition_point(|data| data.end <= unit.start);
        let to = data.partition_point(|data| data.start < unit.end);
        Some(read(&UnitCode {
            start: unit.start,
            end: unit.end,
            bytes,
            data: data.get(from..to).unwrap_or_default(),
            entrance: &entrance,
        }))
    }

    /// Returns what kind of code is at an address that another unit calls or jumps to.
    fn entrance(&self, address: u64) -> Entrance {
        let unit = self.unit_at(address).map(|at| &self.units[at]);
        let symbol = unit.and_then(|unit| unit.symbol.as_deref());
        let is_start = unit.is_some_and(|unit| unit.start == address);
        let is_stub = self
            .section(address)
            .is_some_and(|section| section.stubs.is_some());
        match symbol {
            Some(symbol) if OUTLINED.iter().any(|part| symbol.contains(part)) => Entrance::Outlined,
            Some(_) if is_start && self.is_endless(address) => Entrance::Endless,
            Some(_) if is_start => Entrance::Function,
            _ if is_stub => Entrance::Function,
            _ => Entrance::Unknown,
        }
    }

    /// Returns the range around an address within which a compiler may have merged several variables into one. A compiler puts the merged variable
    /// into a section of its own, and the assembler marks the start of that section.
    pub(crate) fn merged_variables(&self, address: u64) -> Range<u64> {
        let after = self.variables.partition_point(|start| *start <= address);
        let start = after.checked_sub(1).map_or(0, |at| self.variables[at]);
        let end = self.variables.get(after).copied().unwrap_or(u64::MAX);
        start..end
    }

    fn is_endless(&self, start: u64) -> bool {
        self.endless.binary_search(&start).is_ok()
    }

    /// Returns true if the code section has data at this address.
    pub(crate) fn is_data_in_code(&self, address: u64) -> bool {
        let before = self
            .data_in_code
            .partition_point(|data| data.start <= address);
        before > 0 && address < self.data_in_code[before - 1].end
    }

    /// Returns the file offset of the byte at an address.
    pub(crate) fn file_offset(&self, address: u64) -> Option<usize> {
        let section = self.section(address)?;
        let offset = address - section.start;
        (offset < section.bytes.len() as u64).then_some((section.in_file + offset) as usize)
    }
}

/// If the name of a symbol contains one of these parts, its code was moved out of functions. It is a rarely executed path, a sequence of instructions
/// that several functions share, or a detour by which a linker avoids an error of a processor.
const OUTLINED: [&str; 4] = [".cold", "OUTLINED_FUNCTION_", "e843419@", "CortexA53"];

/// Returns the end address of `size` bytes at `start`. Fails if no process can address it, so that no later sum of addresses overflows.
pub(crate) fn end_in_memory(
    set: InstructionSet,
    start: u64,
    size: u64,
) -> Result<u64, UnsupportedExecutable> {
    let end = start.checked_add(size);
    let end = end.filter(|end| *end <= set.end_of_memory());
    end.ok_or_else(|| {
        UnsupportedExecutable::Damaged(format!(
            "it has {size} bytes at {start:#x}, which no process can address"
        ))
    })
}

/// Returns sorted units that cover all code. A gap between functions also becomes a unit, split at labels.
pub(crate) fn fill_gaps(
    mut known: Vec<CodeUnit>,
    labels: &[u64],
    sections: &[LoadedSection<'_>],
) -> Vec<CodeUnit> {
    // If a function has several names, keep the first in sort order. Code within another function is part of that function.
    known.sort_by(|a, b| (a.start, b.end, &a.symbol).cmp(&(b.start, a.end, &b.symbol)));
    let mut labels = labels.to_vec();
    labels.sort_unstable();
    let mut units: Vec<CodeUnit> = Vec::new();
    for section in sections
        .iter()
        .filter(|one| one.content == SectionUse::Code)
    {
        let inside = |at: u64| section.start <= at && at < section.end;
        let mut at = section.start;
        let fill = |units: &mut Vec<CodeUnit>, from: u64, to: u64| {
            let stub = section.stubs.unwrap_or(u64::MAX);
            let mut start = from;
            while start < to {
                let next = labels.partition_point(|label| *label <= start);
                let label = labels.get(next).copied().unwrap_or(u64::MAX);
                let end = to.min(label).min(start.saturating_add(stub));
                units.push(CodeUnit {
                    start,
                    end,
                    symbol: None,
                });
                start = end;
            }
        };
        for unit in known.iter().filter(|unit| inside(unit.start)) {
            if unit.start < at {
                continue;
            }
            fill(&mut units, at, unit.start);
            at = unit.end.min(section.end);
            units.push(CodeUnit {
                end: at,
                ..unit.clone()
            });
        }
        fill(&mut units, at, section.end);
    }
    units
}

/// The reason why the machine code of an executable cannot be compared or listed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnsupportedExecutable {
    /// The executable is for another processor or system.
    #[error(
        "only executables for x86-64 and 64-bit ARM are supported, and on Windows only those for x86-64 that GNU tools linked"
    )]
    Format,
    /// The executables are for different processors.
    #[error("the other build is for another processor")]
    OtherProcessor,
    /// Its code contains absolute addresses, which cannot be distinguished from numbers.
    #[error("it is not position-independent")]
    FixedAddresses,
    /// Its functions have no names.
    #[error("its symbols are stripped (set `strip = false` in the profile to keep them)")]
    Stripped,
    /// It uses a feature of the linker that is not supported.
    #[error("its {0} are not supported")]
    Feature(&'static str),
    /// Its contents are inconsistent.
    #[error("it is damaged: {0}")]
    Damaged(String),
}

impl From<object::Error> for UnsupportedExecutable {
    fn from(error: object::Error) -> Self {
        Self::Damaged(error.to_string())
    }
}

/// Returns the demangled name of `symbol`, without hashes. Instances of a generic function may share a name.
pub fn readable_name(symbol: &str) -> String {
    // A compiler that moves functions between codegen units appends numbers.
    let mut symbol = symbol.split(".llvm.").next().unwrap_or(symbol);
    while let Some((rest, number)) = symbol.rsplit_once('.')
        && !number.is_empty()
        && number.bytes().all(|byte| byte.is_ascii_digit())
    {
        symbol = rest;
    }
    format!("{:#}", rustc_demangle::demangle(symbol))
}

#[cfg(test)]
mod tests {
    use super::readable_name;

    #[test]
    fn hashes_and_numbers_of_units_are_no_part_of_a_name() {
        assert_eq!(
            readable_name("_ZN5words4scan17h0123456789abcdefE.llvm.17524289698165623984"),
            "words::scan"
        );
        assert_eq!(
            readable_name("_RNvCs15kBYyAo9fc_7mycrate7example"),
            "mycrate::example"
        );
        assert_eq!(
            readable_name("_ZN4core3fmt5write17h0123456789abcdefE.4138"),
            "core::fmt::write"
        );
        assert_eq!(readable_name("memcpy"), "memcpy");
    }
}
