//! Reads ELF executables. For a comparison, they must be position-independent.

use object::elf::{DT_NEEDED, PT_TLS, SHT_RELR};
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader, SectionHeader};
use object::{
    LittleEndian, Object, ObjectKind, ObjectSection, ObjectSymbol, ObjectSymbolTable,
    RelocationFlags, RelocationTarget, SectionFlags, SectionIndex, SectionKind, SymbolKind,
};
use std::collections::BTreeMap;
use std::ops::Range;

use crate::decoded::RelocationKind;
use crate::image::{
    CodeUnit, Image, LoadedSection, LoaderWrite, SectionUse, ThreadStorage, ThreadVariable,
    UnsupportedExecutable, end_in_memory, fill_gaps,
};
use crate::instruction_set::InstructionSet;

/// Parses an executable for comparison. Fails if it uses a feature that is not supported.
pub(crate) fn parse(bytes: &[u8]) -> Result<Image<'_>, UnsupportedExecutable> {
    let (file, set) = elf(bytes)?;
    if file.kind() != ObjectKind::Dynamic {
        return Err(UnsupportedExecutable::FixedAddresses);
    }
    let image = read_image(&file, set, loader_writes(&file, set)?)?;
    let sections = file.elf_section_table();
    if sections
        .iter()
        .any(|section| section.sh_type(LittleEndian) == SHT_RELR)
    {
        return Err(UnsupportedExecutable::Feature("packed relocations"));
    }
    if image.has_writes_in_code() {
        return Err(UnsupportedExecutable::Feature("code relocations"));
    }
    Ok(image)
}

/// Parses an executable only to show its code; the values that the loader writes may be unknown.
pub(crate) fn parse_for_listing(bytes: &[u8]) -> Result<Image<'_>, UnsupportedExecutable> {
    let (file, set) = elf(bytes)?;
    let written = loader_writes(&file, set).unwrap_or_default();
    read_image(&file, set, written)
}

fn read_image<'d>(
    file: &Elf<'d>,
    instruction_set: InstructionSet,
    written: BTreeMap<u64, LoaderWrite>,
) -> Result<Image<'d>, UnsupportedExecutable> {
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
    let mut image = Image {
        instruction_set,
        units: fill_gaps(units, &labels, &sections),
        data_in_code: if instruction_set.marks_data() {
            data_in_code(file, &sections)
        } else {
            Vec::new()
        },
        variables: if instruction_set.marks_data() {
            let marks = find_marks(file, SectionKind::Data).into_iter();
            marks.map(|(at, _)| at).collect()
        } else {
            Vec::new()
        },
        endless: Vec::new(),
        written,
        entry: file.elf_header().e_entry(LittleEndian),
        exported: exports(file)?,
        libraries: libraries(file)?,
        read_at_start: sections_read_at_start(&sections),
        has_sizes: true,
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
    image.find_endless();
    Ok(image)
}

pub(crate) type Elf<'d> = ElfFile64<'d, LittleEndian>;

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
            // An entry of a procedure linkage table usually has 16 bytes.
            stubs: section.name()?.contains("plt").then_some(16),
        });
    }
    found.sort_by_key(|section| section.start);
    Ok(found)
}

/// Returns the sections that the C library reads before and after the program.
fn sections_read_at_start(sections: &[LoadedSection<'_>]) -> Vec<(String, Range<u64>)> {
    let names = [
        ".init",
        ".fini",
        ".preinit_array",
        ".init_array",
        ".fini_array",
        ".interp",
    ];
    let find = |name: &str| {
        let found = sections.iter().find(|section| section.name == name)?;
        Some((name.to_owned(), found.start..found.end))
    };
    names.into_iter().filter_map(find).collect()
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
fn find_marks(file: &Elf<'_>, kind: SectionKind) -> Vec<(u64, bool)> {
    // Other sections have marks, too. In sections that are not loaded, such as debug information, their addresses are low and mean nothing here.
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
    let marks = find_marks(file, SectionKind::Text);
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
