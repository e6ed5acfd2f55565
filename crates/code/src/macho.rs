//! Reads executables of macOS (Mach-O), whose symbols have no sizes (see `symbols.rs`).

use object::macho::{
    CPU_SUBTYPE_ARM64E, LC_DATA_IN_CODE, LC_DYLD_CHAINED_FIXUPS, LC_FUNCTION_STARTS, MH_EXECUTE,
    MH_PIE, N_STAB, S_ATTR_PURE_INSTRUCTIONS, S_ATTR_SOME_INSTRUCTIONS, S_GB_ZEROFILL,
    S_INIT_FUNC_OFFSETS, S_INTERPOSING, S_MOD_INIT_FUNC_POINTERS, S_MOD_TERM_FUNC_POINTERS,
    S_SYMBOL_STUBS, S_THREAD_LOCAL_INIT_FUNCTION_POINTERS, S_THREAD_LOCAL_REGULAR,
    S_THREAD_LOCAL_VARIABLES, S_THREAD_LOCAL_ZEROFILL, S_ZEROFILL, SECTION_TYPE,
};
use object::read::macho::{LoadCommandVariant, MachHeader, MachOFile64, Nlist};
use object::{LittleEndian, Object, ObjectSection, ObjectSymbol};
use std::collections::BTreeMap;
use std::ops::Range;

use crate::fixups::{Fixups, MachoSegment, read_binds, read_chains, read_rebases};
use crate::image::{
    Image, LoadedSection, SectionUse, ThreadStorage, ThreadVariable, UnsupportedExecutable,
    end_in_memory, fill_gaps,
};
use crate::instruction_set::InstructionSet;
use crate::symbols::UnsizedSymbols;

pub(crate) type MachO<'d> = MachOFile64<'d, LittleEndian>;

const LE: LittleEndian = LittleEndian;

/// Parses an executable for comparison. Fails if it uses a feature that is not supported.
pub(crate) fn parse(bytes: &[u8]) -> Result<Image<'_>, UnsupportedExecutable> {
    let (file, set) = open(bytes)?;
    if file.macho_header().flags(LE) & MH_PIE == 0 {
        return Err(UnsupportedExecutable::FixedAddresses);
    }
    for section in file.sections() {
        let kind = section.macho_section().flags.get(LE) & SECTION_TYPE;
        if matches!(
            kind,
            S_INIT_FUNC_OFFSETS | S_INTERPOSING | S_THREAD_LOCAL_INIT_FUNCTION_POINTERS
        ) {
            return Err(UnsupportedExecutable::Feature("kind of initializers"));
        }
        let name = section.name()?;
        let is_runtime = name.starts_with("__objc_") || name.starts_with("__swift");
        if is_runtime && name != "__objc_imageinfo" {
            return Err(UnsupportedExecutable::Feature(
                "Objective-C or Swift classes",
            ));
        }
    }
    let facts = LoaderFacts::read(&file, bytes)?;
    let fixups = facts.fixups(bytes)?;
    let image = read_image(&file, set, &facts, fixups)?;
    if image.written.keys().any(|at| image.section(*at).is_none()) {
        return Err(UnsupportedExecutable::Feature(
            "relocations outside of sections",
        ));
    }
    if image.has_writes_in_code() {
        return Err(UnsupportedExecutable::Feature("code relocations"));
    }
    Ok(image)
}

/// Parses an executable only to show its code; the values that the loader writes may be unknown.
pub(crate) fn parse_for_listing(bytes: &[u8]) -> Result<Image<'_>, UnsupportedExecutable> {
    let (file, set) = open(bytes)?;
    let facts = LoaderFacts::read(&file, bytes)?;
    let fixups = facts.fixups(bytes).unwrap_or_default();
    read_image(&file, set, &facts, fixups)
}

pub(crate) fn open(bytes: &[u8]) -> Result<(MachO<'_>, InstructionSet), UnsupportedExecutable> {
    let file = MachO::parse(bytes)?;
    let header = file.macho_header();
    // The upper bits of the subtype do not belong to the kind of the processor.
    let is_signing = header.cpusubtype(LE) & 0xff == CPU_SUBTYPE_ARM64E;
    let set = InstructionSet::from_architecture(file.architecture());
    let set = set.ok_or(UnsupportedExecutable::Format)?;
    if header.filetype(LE) != MH_EXECUTE || (set == InstructionSet::Aarch64 && is_signing) {
        return Err(UnsupportedExecutable::Format);
    }
    Ok((file, set))
}

/// The range of a table in the file.
type FileRange = Range<u64>;

/// The content of the load commands of an executable.
#[derive(Default)]
struct LoaderFacts<'d> {
    segments: Vec<MachoSegment<'d>>,
    /// The start of the executable in memory.
    base: u64,
    entry: u64,
    libraries: Vec<String>,
    chains: Option<FileRange>,
    /// The lists of rebases, of imports, and of late imports.
    opcodes: Option<[FileRange; 3]>,
    has_weak_imports: bool,
    function_starts: Vec<u64>,
    data_in_code: Vec<Range<u64>>,
}

fn slice(bytes: &[u8], range: &FileRange) -> Result<Vec<u8>, UnsupportedExecutable> {
    let within = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    let found = bytes.get(within(range.start)..within(range.end));
    let found = found.map(<[u8]>::to_vec);
    found.ok_or_else(|| {
        UnsupportedExecutable::Damaged("it refers to a place beyond its end".to_owned())
    })
}

impl<'d> LoaderFacts<'d> {
    fn read(file: &MachO<'d>, bytes: &'d [u8]) -> Result<Self, UnsupportedExecutable> {
        let mut found = Self::default();
        let range = |at: u32, size: u32| {
            let start = u64::from(at);
            start..start + u64::from(size)
        };
        let mut entry = None;
        let mut in_code = None;
        let mut starts = None;
        let mut commands = file.macho_load_commands()?;
        while let Some(command) = commands.next()? {
            match command.variant()? {
                LoadCommandVariant::Segment64(segment, _) => {
                    let (at, size) = (segment.fileoff.get(LE), segment.filesize.get(LE));
                    let end = at.saturating_add(size);
                    let within = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
                    let start = segment.vmaddr.get(LE);
                    // The first segment with content has the headers.
                    if at == 0 && size > 0 {
                        found.base = start;
                    }
                    found.segments.push(MachoSegment {
                        start,
                        size: segment.vmsize.get(LE),
                        bytes: bytes.get(within(at)..within(end)).unwrap_or_default(),
                    });
                }
                LoadCommandVariant::LinkeditData(table) => {
                    let place = range(table.dataoff.get(LE), table.datasize.get(LE));
                    match command.cmd() {
                        LC_DYLD_CHAINED_FIXUPS => found.chains = Some(place),
                        LC_DATA_IN_CODE => in_code = Some(place),
                        LC_FUNCTION_STARTS => starts = Some(table),
                        _ => {}
                    }
                }
                LoadCommandVariant::DyldInfo(info) => {
                    found.has_weak_imports = info.weak_bind_size.get(LE) > 0;
                    found.opcodes = Some([
                        range(info.rebase_off.get(LE), info.rebase_size.get(LE)),
                        range(info.bind_off.get(LE), info.bind_size.get(LE)),
                        range(info.lazy_bind_off.get(LE), info.lazy_bind_size.get(LE)),
                    ]);
                }
                LoadCommandVariant::Dylib(library) => {
                    let name = command.string(LE, library.dylib.name)?;
                    let name = String::from_utf8_lossy(name);
                    // The number of the command says whether the library may be missing.
                    found.libraries.push(format!("{name} {}", command.cmd()));
                }
                LoadCommandVariant::EntryPoint(main) => entry = Some(main.entryoff.get(LE)),
                _ => {}
            }
        }
        let entry = entry.ok_or(UnsupportedExecutable::Feature("kind of entry point"))?;
        found.entry = found.base.wrapping_add(entry);
        if let Some(starts) = starts {
            let addresses = starts.function_starts(LE, bytes, found.base)?;
            found.function_starts = addresses.collect::<Result<_, _>>()?;
        }
        if let Some(place) = in_code {
            // An entry has the offset, the length and the kind of the data.
            for entry in slice(bytes, &place)?.chunks_exact(8) {
                let start = u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
                let length = u16::from_le_bytes([entry[4], entry[5]]);
                let start = found.base.wrapping_add(start.into());
                found
                    .data_in_code
                    .push(start..start.saturating_add(length.into()));
            }
            found.data_in_code.sort_by_key(|data| data.start);
        }
        Ok(found)
    }

    /// Returns what the loader writes.
    fn fixups(&self, bytes: &[u8]) -> Result<Fixups, UnsupportedExecutable> {
        if self.has_weak_imports {
            return Err(UnsupportedExecutable::Feature(
                "definitions that libraries may replace",
            ));
        }
        let mut found = match &self.chains {
            Some(place) => read_chains(&slice(bytes, place)?, &self.segments, self.base)?,
            None => Fixups::new(),
        };
        let Some([rebases, binds, late]) = &self.opcodes else {
            let none = UnsupportedExecutable::Feature("relocations");
            return self.chains.is_some().then_some(found).ok_or(none);
        };
        read_rebases(&slice(bytes, rebases)?, &self.segments, &mut found)?;
        read_binds(&slice(bytes, binds)?, &self.segments, false, &mut found)?;
        read_binds(&slice(bytes, late)?, &self.segments, true, &mut found)?;
        Ok(found)
    }
}

fn read_image<'d>(
    file: &MachO<'d>,
    set: InstructionSet,
    facts: &LoaderFacts<'_>,
    written: Fixups,
) -> Result<Image<'d>, UnsupportedExecutable> {
    let sections = sections(file, set)?;
    let mut symbols = read_symbols(file, &sections)?;
    let function_starts = facts.function_starts.iter().copied();
    symbols.labels.extend(function_starts);
    let units = symbols.units(set, &BTreeMap::new(), &sections, &facts.data_in_code);
    if units.is_empty() {
        return Err(UnsupportedExecutable::Stripped);
    }
    let threads = || {
        sections
            .iter()
            .filter(|one| one.content == SectionUse::Threads)
    };
    let mut thread_variables = Vec::new();
    for section in threads() {
        for (address, names) in symbols.others.range(section.start..section.end) {
            thread_variables.extend(names.iter().map(|name| ThreadVariable {
                address: address - section.start,
                size: 0,
                name: format!("{}: {name}", section.name),
            }));
        }
    }
    thread_variables.sort();
    let size: u64 = threads().map(|section| section.end - section.start).sum();
    let labels = symbols.labels(&sections);
    let objects = symbols.objects(&sections);
    let mut image = Image {
        instruction_set: set,
        units: fill_gaps(units, &labels, &sections),
        labels,
        names: symbols.into_names(&objects),
        objects,
        written,
        entry: facts.entry,
        read_at_start: read_at_start(file)?,
        exported: exports(file)?,
        libraries: facts.libraries.clone(),
        thread_variables,
        thread_storage: (size > 0).then_some(ThreadStorage { size, alignment: 0 }),
        sections,
        data_in_code: facts.data_in_code.clone(),
        variables: Vec::new(),
        endless: Vec::new(),
        has_sizes: false,
    };
    image.find_endless();
    Ok(image)
}

fn read_symbols(
    file: &MachO<'_>,
    sections: &[LoadedSection<'_>],
) -> Result<UnsizedSymbols, UnsupportedExecutable> {
    let mut found = UnsizedSymbols::default();
    for symbol in file.symbols() {
        let is_for_debuggers = symbol.macho_symbol().n_type() & N_STAB != 0;
        if is_for_debuggers || symbol.section_index().is_none() {
            continue;
        }
        let start = symbol.address();
        let within = |one: &&LoadedSection<'_>| one.start <= start && start < one.end;
        let name = symbol.name()?;
        // Assemblers add such labels.
        if name.starts_with("ltmp") {
            found.labels.insert(start);
            continue;
        }
        // Compilers begin each name with an underscore.
        let name = name.strip_prefix('_').unwrap_or(name).to_owned();
        match sections.iter().find(within) {
            Some(section) if section.content == SectionUse::Code => {
                found.functions.entry(start).or_default().push(name);
            }
            Some(_) => found.others.entry(start).or_default().push(name),
            None => {}
        }
    }
    Ok(found)
}

fn sections<'d>(
    file: &MachO<'d>,
    set: InstructionSet,
) -> Result<Vec<LoadedSection<'d>>, UnsupportedExecutable> {
    let mut found = Vec::new();
    for section in file.sections() {
        let header = section.macho_section();
        let flags = header.flags.get(LE);
        let (kind, size) = (flags & SECTION_TYPE, section.size());
        let segment = section.segment_name()?.unwrap_or_default();
        if size == 0 || segment == "__DWARF" {
            continue;
        }
        let zeros = [S_ZEROFILL, S_GB_ZEROFILL, S_THREAD_LOCAL_ZEROFILL];
        let stub = u64::from(header.reserved2.get(LE));
        let is_code = flags & (S_ATTR_PURE_INSTRUCTIONS | S_ATTR_SOME_INSTRUCTIONS) != 0;
        found.push(LoadedSection {
            name: section.name()?.to_owned(),
            start: section.address(),
            end: end_in_memory(set, section.address(), size)?,
            bytes: if zeros.contains(&kind) {
                &[]
            } else {
                section.data()?
            },
            content: match kind {
                S_THREAD_LOCAL_REGULAR | S_THREAD_LOCAL_ZEROFILL => SectionUse::Threads,
                S_THREAD_LOCAL_VARIABLES => SectionUse::ThreadDescriptors,
                _ if is_code => SectionUse::Code,
                _ if segment == "__TEXT" || segment == "__DATA_CONST" => SectionUse::Constants,
                _ => SectionUse::Variables,
            },
            in_file: header.offset.get(LE).into(),
            stubs: (kind == S_SYMBOL_STUBS && stub > 0).then_some(stub),
        });
    }
    found.sort_by_key(|section| section.start);
    Ok(found)
}

/// Returns the lists of functions that the loader calls before and after the program.
fn read_at_start(file: &MachO<'_>) -> Result<Vec<(String, Range<u64>)>, UnsupportedExecutable> {
    let mut found = Vec::new();
    for section in file.sections() {
        let kind = section.macho_section().flags.get(LE) & SECTION_TYPE;
        if matches!(kind, S_MOD_INIT_FUNC_POINTERS | S_MOD_TERM_FUNC_POINTERS) && section.size() > 0
        {
            let (start, size) = (section.address(), section.size());
            found.push((section.name()?.to_owned(), start..start + size));
        }
    }
    Ok(found)
}

fn exports(file: &MachO<'_>) -> Result<BTreeMap<String, u64>, UnsupportedExecutable> {
    let found = file.exports()?.into_iter();
    let name = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    Ok(found.map(|one| (name(one.name()), one.address())).collect())
}
