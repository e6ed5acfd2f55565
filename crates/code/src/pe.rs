//! Reads executables of Windows (PE) that have a table of symbols, as those of GNU tools have.
//!
//! The symbols have no sizes (see `symbols.rs`), but the table for unwinding has the bounds of functions that have a stack frame.

use object::pe::{
    IMAGE_DIRECTORY_ENTRY_BOUND_IMPORT, IMAGE_DIRECTORY_ENTRY_COM_DESCRIPTOR,
    IMAGE_DIRECTORY_ENTRY_DELAY_IMPORT, IMAGE_DIRECTORY_ENTRY_EXCEPTION,
    IMAGE_DIRECTORY_ENTRY_LOAD_CONFIG, IMAGE_DIRECTORY_ENTRY_TLS, IMAGE_REL_BASED_ABSOLUTE,
    IMAGE_REL_BASED_DIR64, IMAGE_SCN_CNT_CODE, IMAGE_SCN_MEM_DISCARDABLE, IMAGE_SCN_MEM_EXECUTE,
    IMAGE_SCN_MEM_WRITE, ImageNtHeaders64,
};
use object::read::pe::{Import, PeFile64};
use object::{
    Architecture, LittleEndian, Object, ObjectKind, ObjectSection, ObjectSymbol, SectionFlags,
    SymbolKind,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::image::{
    Image, LoadedSection, LoaderWrite, SectionUse, ThreadStorage, ThreadVariable,
    UnsupportedExecutable, end_in_memory, fill_gaps,
};
use crate::instruction_set::InstructionSet;
use crate::symbols::UnsizedSymbols;

const SET: InstructionSet = InstructionSet::X86_64;

/// The symbol of the list of constructors. GNU's linker puts this list into the section of the code, behind the code.
const CONSTRUCTORS: &str = "__CTOR_LIST__";

/// The C library changes some addresses when it starts. After underscores, the symbols of the list of these addresses begin with this text.
const LATE: &str = "RUNTIME_PSEUDO_RELOC_LIST";

/// The tables that change how the loader prepares the executable, and their names.
const UNSUPPORTED: [(usize, &str); 4] = [
    (
        IMAGE_DIRECTORY_ENTRY_DELAY_IMPORT,
        "libraries that are loaded late",
    ),
    (IMAGE_DIRECTORY_ENTRY_BOUND_IMPORT, "bound imports"),
    (IMAGE_DIRECTORY_ENTRY_LOAD_CONFIG, "load settings"),
    (IMAGE_DIRECTORY_ENTRY_COM_DESCRIPTOR, ".NET functions"),
];

/// Parses an executable for comparison. Fails if it uses a feature that is not supported.
pub(crate) fn parse(bytes: &[u8]) -> Result<Image<'_>, UnsupportedExecutable> {
    let file = open(bytes)?;
    for (table, name) in UNSUPPORTED {
        if directory(&file, table).is_some() {
            return Err(UnsupportedExecutable::Feature(name));
        }
    }
    let symbols = PeSymbols::read(&file)?;
    if symbols.has_late_relocations {
        return Err(UnsupportedExecutable::Feature("pseudo-relocations"));
    }
    let image = read_image(&file, symbols, loader_writes(&file)?)?;
    if image.has_writes_in_code() {
        return Err(UnsupportedExecutable::Feature("code relocations"));
    }
    Ok(image)
}

/// Parses an executable only to show its code; the values that the loader writes may be unknown.
pub(crate) fn parse_for_listing(bytes: &[u8]) -> Result<Image<'_>, UnsupportedExecutable> {
    let file = open(bytes)?;
    let written = loader_writes(&file).unwrap_or_default();
    read_image(&file, PeSymbols::read(&file)?, written)
}

fn open(bytes: &[u8]) -> Result<PeFile64<'_>, UnsupportedExecutable> {
    let file = PeFile64::parse(bytes)?;
    if file.architecture() != Architecture::X86_64 || file.kind() != ObjectKind::Executable {
        return Err(UnsupportedExecutable::Format);
    }
    Ok(file)
}

/// Returns the address range of a table that the header refers to; `None` if there is none.
fn directory(file: &PeFile64<'_>, table: usize) -> Option<Range<u64>> {
    let (offset, size) = file.data_directory(table)?.address_range();
    let start = file.relative_address_base().checked_add(offset.into())?;
    (offset != 0 && size != 0).then(|| start..start.saturating_add(size.into()))
}

/// The symbols of an executable.
#[derive(Default)]
struct PeSymbols {
    all: UnsizedSymbols,
    /// The start of the list of constructors.
    constructors: Option<u64>,
    /// Whether the C library changes addresses in the executable at its start.
    has_late_relocations: bool,
}

impl PeSymbols {
    fn read(file: &PeFile64<'_>) -> Result<Self, UnsupportedExecutable> {
        let mut found = Self::default();
        let mut late = BTreeSet::new();
        for symbol in file.symbols() {
            if symbol.section_index().is_none() {
                continue;
            }
            let start = symbol.address();
            let name = || Ok::<_, UnsupportedExecutable>(symbol.name()?.to_owned());
            let all = &mut found.all;
            match symbol.kind() {
                SymbolKind::Text => all.functions.entry(start).or_default().push(name()?),
                SymbolKind::Data => {
                    let name = name()?;
                    if name == CONSTRUCTORS {
                        found.constructors = Some(start);
                    }
                    if name.trim_start_matches('_').starts_with(LATE) {
                        late.insert(start);
                    }
                    all.others.entry(start).or_default().push(name);
                }
                SymbolKind::Section => {
                    let end = start.saturating_add(symbol.size());
                    all.parts.extend([start, end]);
                }
                SymbolKind::File => {}
                _ => {
                    all.labels.insert(start);
                }
            }
        }
        // The list is empty if the symbols of its start and its end have the same address.
        found.has_late_relocations = late.len() > 1;
        if found.all.functions.is_empty() {
            // The symbols of Microsoft's tools are in another file.
            let is_elsewhere = matches!(file.pdb_info(), Ok(Some(_)));
            return Err(if is_elsewhere {
                UnsupportedExecutable::Format
            } else {
                UnsupportedExecutable::Stripped
            });
        }
        Ok(found)
    }
}

fn read_image<'d>(
    file: &PeFile64<'d>,
    symbols: PeSymbols,
    written: BTreeMap<u64, LoaderWrite>,
) -> Result<Image<'d>, UnsupportedExecutable> {
    let sections = sections(file, symbols.constructors)?;
    let symbols = symbols.all;
    let units = symbols.units(SET, &function_bounds(file)?, &sections, &[]);
    if units.is_empty() {
        return Err(UnsupportedExecutable::Stripped);
    }
    let labels = symbols.labels(&sections);
    let threads = sections.iter();
    let mut threads = threads.filter(|section| section.content == SectionUse::Threads);
    let threads = threads.next().map(|section| section.start..section.end);
    let mut thread_variables = Vec::new();
    if let Some(range) = &threads {
        for (address, names) in symbols.others.range(range.clone()) {
            thread_variables.extend(names.iter().map(|name| ThreadVariable {
                address: address - range.start,
                size: 0,
                name: name.clone(),
            }));
        }
    }
    thread_variables.sort();
    let objects = symbols.objects(&sections);
    Ok(Image {
        instruction_set: SET,
        units: fill_gaps(units, &labels, &sections),
        labels,
        names: symbols.into_names(&objects),
        objects,
        written,
        entry: file.entry(),
        read_at_start: read_at_start(file, &sections),
        exported: exports(file)?,
        libraries: libraries(file)?,
        thread_variables,
        thread_storage: threads.map(|range| ThreadStorage {
            size: range.end - range.start,
            alignment: 0,
        }),
        sections,
        data_in_code: Vec::new(),
        variables: Vec::new(),
        endless: Vec::new(),
        has_sizes: false,
    })
}

/// Returns the sections. The list of constructors at `constructors`, which is in the section of the code, becomes a section of its own.
fn sections<'d>(
    file: &PeFile64<'d>,
    constructors: Option<u64>,
) -> Result<Vec<LoadedSection<'d>>, UnsupportedExecutable> {
    let mut found = Vec::new();
    for section in file.sections() {
        let SectionFlags::Coff { characteristics } = section.flags() else {
            continue;
        };
        let has = |flag: u32| characteristics & flag != 0;
        if has(IMAGE_SCN_MEM_DISCARDABLE) || section.size() == 0 {
            continue;
        }
        let name = section.name()?;
        let (start, bytes) = (section.address(), section.data()?);
        let end = end_in_memory(SET, start, section.size())?;
        let is_code = has(IMAGE_SCN_CNT_CODE) || has(IMAGE_SCN_MEM_EXECUTE);
        let code_end = constructors.filter(|at| is_code && start < *at && *at < end);
        let code_end = code_end.unwrap_or(end);
        let before = ((code_end - start) as usize).min(bytes.len());
        let in_file = section.file_range().map_or(0, |(at, _)| at);
        found.push(LoadedSection {
            name: name.to_owned(),
            start,
            end: code_end,
            bytes: &bytes[..before],
            content: if is_code {
                SectionUse::Code
            } else if name == ".tls" {
                SectionUse::Threads
            } else if has(IMAGE_SCN_MEM_WRITE) {
                SectionUse::Variables
            } else {
                SectionUse::Constants
            },
            in_file,
            stubs: None,
        });
        if code_end < end {
            found.push(LoadedSection {
                name: ".ctors".to_owned(),
                start: code_end,
                end,
                bytes: &bytes[before..],
                content: SectionUse::Constants,
                in_file: in_file.saturating_add(code_end - start),
                stubs: None,
            });
        }
    }
    found.sort_by_key(|section| section.start);
    Ok(found)
}

/// Returns the start and the end of each function in the table for unwinding.
fn function_bounds(file: &PeFile64<'_>) -> Result<BTreeMap<u64, u64>, UnsupportedExecutable> {
    let Some(table) = file.data_directory(IMAGE_DIRECTORY_ENTRY_EXCEPTION) else {
        return Ok(BTreeMap::new());
    };
    let (offset, size) = table.address_range();
    if offset == 0 || size == 0 {
        return Ok(BTreeMap::new());
    }
    let base = file.relative_address_base();
    let entries = table.data(file.data(), &file.section_table())?;
    let address = |bytes: &[u8]| {
        let offset = bytes.try_into().map_or(0, u32::from_le_bytes);
        base.wrapping_add(offset.into())
    };
    // An entry has the offset of the start, that of the end, and that of the instructions for unwinding.
    let bounds = entries.chunks_exact(12);
    let bounds = bounds.map(|entry| (address(&entry[..4]), address(&entry[4..8])));
    Ok(bounds.filter(|(start, end)| start < end).collect())
}

/// Returns what the loader and the C library read before the program begins.
fn read_at_start(file: &PeFile64<'_>, sections: &[LoadedSection<'_>]) -> Vec<(String, Range<u64>)> {
    // The section `.CRT` has the lists of functions that the C library calls.
    let named = sections.iter();
    let named = named.filter(|section| [".CRT", ".ctors", ".tls"].contains(&&*section.name));
    let named = named.map(|section| (section.name.clone(), section.start..section.end));
    let threads = directory(file, IMAGE_DIRECTORY_ENTRY_TLS);
    let threads = threads.map(|range| ("thread-local storage".to_owned(), range));
    named.chain(threads).collect()
}

fn loader_writes(file: &PeFile64<'_>) -> Result<BTreeMap<u64, LoaderWrite>, UnsupportedExecutable> {
    let base = file.relative_address_base();
    let sections = file.section_table();
    let blocks = file
        .data_directories()
        .relocation_blocks(file.data(), &sections)?;
    let blocks = blocks.ok_or(UnsupportedExecutable::FixedAddresses)?;
    let mut found = BTreeMap::new();
    for block in blocks {
        for relocation in block? {
            match relocation.typ {
                IMAGE_REL_BASED_ABSOLUTE => continue,
                IMAGE_REL_BASED_DIR64 => {}
                _ => return Err(UnsupportedExecutable::Feature("relocations")),
            }
            let at = relocation.virtual_address;
            let bytes = sections.pe_data_at(file.data(), at);
            let address = bytes.and_then(|bytes| bytes.get(..8)?.try_into().ok());
            let address = address.map(u64::from_le_bytes);
            let address = address.ok_or(UnsupportedExecutable::Feature("relocations"))?;
            let at = base.wrapping_add(at.into());
            found.insert(at, LoaderWrite::Address(address));
        }
    }
    let Some(imports) = file.import_table()? else {
        return Ok(found);
    };
    for library in imports.descriptors()? {
        let library = library?;
        let file_name = imports.name(library.name.get(LittleEndian))?;
        let file_name = String::from_utf8_lossy(file_name);
        let addresses = library.first_thunk.get(LittleEndian);
        let names = match library.original_first_thunk.get(LittleEndian) {
            0 => addresses,
            names => names,
        };
        let mut thunks = imports.thunks(names)?;
        let mut at = base.wrapping_add(addresses.into());
        while let Some(thunk) = thunks.next::<ImageNtHeaders64>()? {
            let name = match imports.import::<ImageNtHeaders64>(thunk)? {
                Import::Ordinal(number) => format!("#{number}"),
                Import::Name(_, name) => String::from_utf8_lossy(name).into_owned(),
            };
            found.insert(at, LoaderWrite::Import(format!("{file_name}!{name}"), 0, 0));
            at = at.wrapping_add(8);
        }
    }
    Ok(found)
}

fn exports(file: &PeFile64<'_>) -> Result<BTreeMap<String, u64>, UnsupportedExecutable> {
    let found = file.exports()?.into_iter();
    let name = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    Ok(found.map(|one| (name(one.name()), one.address())).collect())
}

/// Returns the libraries that the executable needs.
fn libraries(file: &PeFile64<'_>) -> Result<Vec<String>, UnsupportedExecutable> {
    let Some(imports) = file.import_table()? else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for library in imports.descriptors()? {
        let name = imports.name(library?.name.get(LittleEndian))?;
        found.push(String::from_utf8_lossy(name).into_owned());
    }
    Ok(found)
}
