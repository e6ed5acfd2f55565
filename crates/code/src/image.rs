//! An executable as loaded into memory: sections, functions with their readable names, sized data, and the addresses that the loader writes. This
//! module also has the reasons why the machine code of an executable cannot be compared.
//!
//! Readable names lack the parts that depend on the build.

use object::elf::{DT_NEEDED, PT_TLS, SHT_RELR};
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader, SectionHeader};
use object::{
    LittleEndian, Object, ObjectKind, ObjectSection, ObjectSymbol, ObjectSymbolTable,
    RelocationFlags, RelocationTarget, SectionFlags, SectionIndex, SectionKind, SymbolKind,
};
use std::collections::BTreeMap;
use std::ops::Range;

use crate::decoded::{Entrance, RelocationKind, UnitCode};
use crate::instruction_set::InstructionSet;

/// The content of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SectionUse {
    Code,
    Constants,
    Variables,
    /// The initial values of thread-local storage.
    Threads,
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
    /// The address of this name in a library, with the addend and the type of the relocation.
    Import(String, i64, u32),
}

/// An executable.
#[derive(Debug)]
pub(crate) struct Image<'d> {
    pub(crate) instruction_set: InstructionSet,
    pub(crate) sections: Vec<LoadedSection<'d>>,
    /// All code, without gaps within a section.
    pub(crate) units: Vec<CodeUnit>,
    /// Start and size of data with sized symbols.
    pub(crate) objects: BTreeMap<u64, u64>,
    /// Addresses of all other symbols, such as those of code or data without a size.
    pub(crate) labels: Vec<u64>,
    /// The linker's names of functions and of sized data, by start address.
    pub(crate) names: BTreeMap<u64, Vec<String>>,
    pub(crate) written: BTreeMap<u64, LoaderWrite>,
    pub(crate) entry: u64,
    /// Items that libraries may call or read, by name.
    pub(crate) exported: BTreeMap<String, u64>,
    pub(crate) libraries: Vec<String>,
    /// Thread-local variables, by address.
    pub(crate) thread_variables: Vec<ThreadVariable>,
    pub(crate) thread_storage: Option<ThreadStorage>,
    /// The address ranges of data within code sections, in ascending order. Empty if assemblers for this instruction set do not mark them.
    data_in_code: Vec<Range<u64>>,
    /// The addresses at which the assembler marked the start of a section of variables, in ascending order. The linker has joined these sections.
    /// Empty if assemblers for this instruction set do not mark them.
    variables: Vec<u64>,
    /// The start addresses of units whose instructions show that they never return, in ascending order.
    endless: Vec<u64>,
}

impl<'d> Image<'d> {
    /// Parses an executable for comparison. Fails if it uses a feature that is not supported.
    pub(crate) fn parse(bytes: &'d [u8]) -> Result<Self, UnsupportedExecutable> {
        let (file, set) = elf(bytes)?;
        if file.kind() != ObjectKind::Dynamic {
            return Err(UnsupportedExecutable::FixedAddresses);
        }
        let image = Self::from_elf(&file, set, loader_writes(&file, set)?)?;
        let sections = file.elf_section_table();
        if sections
            .iter()
            .any(|section| section.sh_type(LittleEndian) == SHT_RELR)
        {
            return Err(UnsupportedExecutable::Feature("packed relocations"));
        }
        let is_in_code = |at: &u64| image.section_use(*at) == Some(SectionUse::Code);
        if image.written.keys().any(is_in_code) {
            return Err(UnsupportedExecutable::Feature("code relocations"));
        }
        Ok(image)
    }

    /// Parses an executable only to show its code; the values that the loader writes may be unknown.
    pub(crate) fn parse_for_listing(bytes: &'d [u8]) -> Result<Self, UnsupportedExecutable> {
        let (file, set) = elf(bytes)?;
        let written = loader_writes(&file, set).unwrap_or_default();
        Self::from_elf(&file, set, written)
    }

    fn from_elf(
        file: &Elf<'d>,
        instruction_set: InstructionSet,
        written: BTreeMap<u64, LoaderWrite>,
    ) -> Result<Self, UnsupportedExecutable> {
        let sections = sections(file, instruction_set)?;
        let (mut units, mut objects, mut labels, mut thread_variables) =
            (Vec::new(), BTreeMap::new(), Vec::new(), Vec::new());
        let mut names: BTreeMap<u64, Vec<String>> = BTreeMap::new();
        for symbol in file.symbols().filter(ObjectSymbol::is_definition) {
            let (start, size) = (symbol.address(), symbol.size());
            let name = || Ok::<_, UnsupportedExecutable>(symbol.name()?.to_owned());
            match symbol.kind() {
                SymbolKind::Text if size > 0 => {
                    names.entry(start).or_default().push(name()?);
                    units.push(CodeUnit {
                        start,
                        end: start.saturating_add(size),
                        symbol: Some(name()?),
                    });
                }
                SymbolKind::Tls => thread_variables.push(ThreadVariable {
                    address: start,
                    size,
                    name: name()?,
                }),
                SymbolKind::Data if size > 0 => {
                    end_in_memory(instruction_set, start, size)?;
                    names.entry(start).or_default().push(name()?);
                    let known = objects.entry(start).or_insert(size);
                    *known = size.max(*known);
                }
                SymbolKind::Section | SymbolKind::File => {}
                _ => labels.push(start),
            }
        }
        if units.is_empty() {
            return Err(UnsupportedExecutable::Stripped);
        }
        thread_variables.sort();
        let mut image = Self {
            instruction_set,
            units: fill_gaps(units, &labels, &sections),
            data_in_code: if instruction_set.marks_data() {
                data_in_code(file, &sections)
            } else {
                Vec::new()
            },
            variables: if instruction_set.marks_data() {
                let marks = marks(file, SectionKind::Data).into_iter();
                marks.map(|(at, _)| at).collect()
            } else {
                Vec::new()
            },
            endless: Vec::new(),
            written,
            entry: file.elf_header().e_entry(LittleEndian),
            exported: exports(file)?,
            libraries: libraries(file)?,
            sections,
            objects,
            labels,
            names,
            thread_variables,
            thread_storage: file.elf_program_headers().iter().find_map(|header| {
                let is_threads = header.p_type(LittleEndian) == PT_TLS;
                is_threads.then(|| ThreadStorage {
                    size: header.p_memsz(LittleEndian),
                    alignment: header.p_align(LittleEndian),
                })
            }),
        };
        let units = image.units.iter();
        let endless = units.filter(|unit| {
            let is_endless = image.with_code(unit, |code| instruction_set.is_endless(code));
            is_endless == Some(true)
        });
        image.endless = endless.map(|unit| unit.start).collect();
        Ok(image)
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
            .is_some_and(|section| section.name.contains("plt"));
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

/// An executable before its sections and symbols are read.
pub(crate) type Elf<'d> = ElfFile64<'d, LittleEndian>;

/// Opens an executable.
pub(crate) fn elf(bytes: &[u8]) -> Result<(Elf<'_>, InstructionSet), UnsupportedExecutable> {
    let is_elf = bytes.starts_with(b"\x7fELF") && bytes.get(4) == Some(&2);
    if !is_elf {
        return Err(UnsupportedExecutable::Format);
    }
    let file = Elf::parse(bytes)?;
    let set = InstructionSet::from_architecture(file.architecture());
    let set = set.ok_or(UnsupportedExecutable::Format)?;
    Ok((file, set))
}

fn sections<'d>(
    file: &Elf<'d>,
    set: InstructionSet,
) -> Result<Vec<LoadedSection<'d>>, UnsupportedExecutable> {
    let mut found = Vec::new();
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags } = section.flags() else {
            continue;
        };
        let has = |flag: u32| sh_flags & u64::from(flag) != 0;
        let is_threads = has(object::elf::SHF_TLS);
        // Zero-initialized thread-local storage has the same addresses as the next section, so it is left out.
        let has_place = !(is_threads && section.kind() == SectionKind::UninitializedTls);
        if !has(object::elf::SHF_ALLOC) || section.size() == 0 || !has_place {
            continue;
        }
        found.push(LoadedSection {
            name: section.name()?.to_owned(),
            start: section.address(),
            end: end_in_memory(set, section.address(), section.size())?,
            bytes: section.data()?,
            content: if has(object::elf::SHF_EXECINSTR) {
                SectionUse::Code
            } else if is_threads {
                SectionUse::Threads
            } else if !has(object::elf::SHF_WRITE) || section.name()? == ".data.rel.ro" {
                SectionUse::Constants
            } else {
                SectionUse::Variables
            },
            in_file: section.file_range().map_or(0, |(at, _)| at),
        });
    }
    found.sort_by_key(|section| section.start);
    Ok(found)
}

/// Returns the end address of `size` bytes at `start`. Fails if no process can address it, so that no later sum of addresses overflows.
fn end_in_memory(set: InstructionSet, start: u64, size: u64) -> Result<u64, UnsupportedExecutable> {
    let end = start.checked_add(size);
    let end = end.filter(|end| *end <= set.end_of_memory());
    end.ok_or_else(|| {
        UnsupportedExecutable::Damaged(format!(
            "it has {size} bytes at {start:#x}, which no process can address"
        ))
    })
}

fn loader_writes(
    file: &Elf<'_>,
    set: InstructionSet,
) -> Result<BTreeMap<u64, LoaderWrite>, UnsupportedExecutable> {
    let mut found = BTreeMap::new();
    let symbols = file.dynamic_symbol_table();
    for (at, relocation) in file.dynamic_relocations().into_iter().flatten() {
        let RelocationFlags::Elf { r_type } = relocation.flags() else {
            return Err(UnsupportedExecutable::Feature("relocations"));
        };
        let written = match (relocation.target(), set.relocation_kind(r_type)) {
            (_, RelocationKind::Selected) => {
                return Err(UnsupportedExecutable::Feature(
                    "functions selected at load time (IFUNCs)",
                ));
            }
            (_, RelocationKind::Own) => LoaderWrite::Address(relocation.addend() as u64),
            (RelocationTarget::Symbol(index), kind) => {
                let table = symbols.ok_or(UnsupportedExecutable::Feature("relocations"))?;
                let symbol = table.symbol_by_index(index)?;
                let defined = symbol.is_definition() && kind == RelocationKind::Symbol;
                if defined {
                    LoaderWrite::Address(symbol.address().wrapping_add(relocation.addend() as u64))
                } else {
                    let name = symbol.name()?.to_owned();
                    LoaderWrite::Import(name, relocation.addend(), r_type)
                }
            }
            _ => LoaderWrite::Import(String::new(), relocation.addend(), r_type),
        };
        found.insert(at, written);
    }
    Ok(found)
}

fn exports(file: &Elf<'_>) -> Result<BTreeMap<String, u64>, UnsupportedExecutable> {
    let mut found = BTreeMap::new();
    for symbol in file.dynamic_symbols().filter(ObjectSymbol::is_definition) {
        if symbol.kind() != SymbolKind::Tls {
            found.insert(symbol.name()?.to_owned(), symbol.address());
        }
    }
    Ok(found)
}

/// Returns the libraries that the executable needs.
fn libraries(file: &Elf<'_>) -> Result<Vec<String>, UnsupportedExecutable> {
    let table = file.elf_dynamic_table()?;
    let mut found = Vec::new();
    for entry in table.iter().filter(|entry| entry.tag == DT_NEEDED) {
        let name = entry.string(table.strings())?;
        found.push(String::from_utf8_lossy(name).into_owned());
    }
    Ok(found)
}

/// Returns the marks that assemblers put into sections of this kind, in ascending order. Each mark has an address, and says whether code (true) or
/// data (false) begins there.
fn marks(file: &Elf<'_>, kind: SectionKind) -> Vec<(u64, bool)> {
    // Other sections have marks, too. Those of sections that are not loaded, such as debug information, are at low addresses.
    let is_of_kind = |section: Option<SectionIndex>| {
        let section = section.and_then(|index| file.section_by_index(index).ok());
        section.is_some_and(|section| section.kind() == kind)
    };
    let mut marks = Vec::new();
    for symbol in file.symbols().filter(|one| is_of_kind(one.section_index())) {
        let name = symbol.name_bytes().unwrap_or_default();
        let is_mark = |letter: u8| {
            name.strip_prefix(&[b'$', letter])
                .is_some_and(|rest| rest.is_empty() || rest[0] == b'.')
        };
        if is_mark(b'd') || is_mark(b'x') {
            marks.push((symbol.address(), is_mark(b'x')));
        }
    }
    marks.sort_unstable();
    marks
}

/// Returns the address ranges of data in code sections, in ascending order.
fn data_in_code(file: &Elf<'_>, sections: &[LoadedSection<'_>]) -> Vec<Range<u64>> {
    let marks = marks(file, SectionKind::Text);
    let mut found: Vec<Range<u64>> = Vec::new();
    for section in sections {
        if section.content != SectionUse::Code {
            continue;
        }
        let from = marks.partition_point(|(at, _)| *at < section.start);
        let to = marks.partition_point(|(at, _)| *at < section.end);
        let mut own = marks[from..to].iter().peekable();
        while let Some((start, is_code)) = own.next() {
            let end = own.peek().map_or(section.end, |(next, _)| *next);
            if !is_code && *start < end {
                found.push(*start..end);
            }
        }
    }
    found.sort_by_key(|data| data.start);
    found
}

/// Returns sorted units that cover all code. A gap between functions also becomes a unit, split at labels.
fn fill_gaps(
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
            let stub = if section.name.contains("plt") {
                16
            } else {
                u64::MAX
            };
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
    #[error("only ELF executables for x86-64 and 64-bit ARM are supported")]
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
