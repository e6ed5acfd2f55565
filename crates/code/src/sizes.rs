//! Measures the sizes of an executable as GNU's program `size` prints them, and that of its file after `strip`. Finds the functions that grew between
//! two executables.

use object::elf::{SHF_ALLOC, SHF_EXECINSTR, SHF_WRITE, SHT_NOBITS};
use object::macho::{S_GB_ZEROFILL, S_THREAD_LOCAL_ZEROFILL, S_ZEROFILL, SECTION_TYPE};
use object::pe::{IMAGE_SCN_CNT_CODE, IMAGE_SCN_MEM_WRITE};
use object::read::elf::{FileHeader, SectionHeader};
use object::read::pe::{ImageNtHeaders, ImageOptionalHeader, PeFile64};
use object::{FileKind, LittleEndian, Object, ObjectSection, ObjectSymbol, SymbolKind};
use std::collections::BTreeMap;

use crate::comparison::FunctionChange;
use crate::elf::{Elf, elf};
use crate::executable::parse_for_listing;
use crate::image::{UnsupportedExecutable, readable_name};
use crate::macho;

/// Sizes of an executable in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileSizes {
    /// Code and constants that are loaded.
    pub text: u64,
    /// Variables that are loaded.
    pub data: u64,
    /// Variables that are zero at the start, which take no space in the file.
    pub bss: u64,
    /// Length of the file after `strip`: without symbols and debug information. `None` for Mach-O, because this depends on the program `strip`.
    pub stripped: Option<u64>,
}

/// Size of an entry in the table of sections of ELF.
const SECTION_ENTRY: u64 = 64;
/// Size of an entry in the table of sections of PE.
const PE_SECTION_ENTRY: u64 = 40;
/// Size of the signature and the file header of PE, which precede the optional header.
const PE_FILE_HEADER: u64 = 24;
/// Alignment of the table of sections in the file.
const TABLE_ALIGNMENT: u64 = 8;
/// Name of the section that has the names of all sections.
const NAMES: &str = ".shstrtab";

/// Measures the sizes of a 64-bit executable: ELF, PE or Mach-O. Fails if it has another format.
pub fn measure_sizes(executable: &[u8]) -> Result<FileSizes, UnsupportedExecutable> {
    match FileKind::parse(executable) {
        Ok(FileKind::Pe64) => measure_pe(executable),
        Ok(FileKind::MachO64) => measure_macho(executable),
        _ => measure_elf(executable),
    }
}

fn measure_pe(executable: &[u8]) -> Result<FileSizes, UnsupportedExecutable> {
    let file = PeFile64::parse(executable)?;
    let headers = file.nt_headers();
    let alignment = headers.optional_header().file_alignment().into();
    let mut sizes = FileSizes::default();
    let (mut kept, mut contents) = (0, 0);
    for section in file.sections() {
        if is_debug_information(section.name()?) {
            continue;
        }
        let header = section.pe_section();
        let flags = header.characteristics.get(LittleEndian);
        let in_memory = u64::from(header.virtual_size.get(LittleEndian));
        let in_file = match header.pointer_to_raw_data.get(LittleEndian) {
            0 => 0,
            _ => u64::from(header.size_of_raw_data.get(LittleEndian)).min(in_memory),
        };
        let part = if flags & IMAGE_SCN_CNT_CODE != 0 || flags & IMAGE_SCN_MEM_WRITE == 0 {
            &mut sizes.text
        } else {
            &mut sizes.data
        };
        *part += in_file;
        // Microsoft's linker puts variables that are zero behind the others of `.data`. `size` leaves them out.
        sizes.bss += in_memory - in_file;
        kept += 1;
        contents += align(in_file, alignment);
    }
    let optional = headers.file_header().size_of_optional_header;
    let before_sections = u64::from(file.dos_header().nt_headers_offset())
        + PE_FILE_HEADER
        + u64::from(optional.get(LittleEndian));
    let header = before_sections + kept * PE_SECTION_ENTRY;
    sizes.stripped = Some(align(header, alignment) + contents);
    Ok(sizes)
}

fn measure_macho(executable: &[u8]) -> Result<FileSizes, UnsupportedExecutable> {
    let (file, _) = macho::open(executable)?;
    let mut sizes = FileSizes::default();
    for section in file.sections() {
        let segment = section.segment_name()?.unwrap_or_default();
        if segment == "__DWARF" {
            continue;
        }
        let kind = section.macho_section().flags.get(LittleEndian) & SECTION_TYPE;
        let zeros = [S_ZEROFILL, S_GB_ZEROFILL, S_THREAD_LOCAL_ZEROFILL];
        let part = if zeros.contains(&kind) {
            &mut sizes.bss
        } else if segment == "__TEXT" {
            &mut sizes.text
        } else {
            &mut sizes.data
        };
        *part = part.saturating_add(section.size());
    }
    Ok(sizes)
}

fn measure_elf(executable: &[u8]) -> Result<FileSizes, UnsupportedExecutable> {
    let (file, _) = elf(executable)?;
    let mut sizes = FileSizes::default();
    let sections = file.elf_section_table();
    let mut end = header_end(&file);
    // The first entry of the table is empty.
    let mut names = vec![String::new(), NAMES.to_owned()];
    let mut kept_unloaded = Vec::new();
    for section in sections.iter().skip(1) {
        let name = sections.section_name(LittleEndian, section)?;
        let name = String::from_utf8_lossy(name).into_owned();
        let flags = section.sh_flags(LittleEndian);
        let is = |flag: u32| flags & u64::from(flag) != 0;
        let size = section.sh_size(LittleEndian);
        let is_in_file = section.sh_type(LittleEndian) != SHT_NOBITS;
        if !is(SHF_ALLOC) {
            if is_kept(&name) {
                kept_unloaded.push((section.sh_addralign(LittleEndian), size));
                names.push(name);
            }
            continue;
        }
        names.push(name);
        let part = if is(SHF_EXECINSTR) || !is(SHF_WRITE) {
            &mut sizes.text
        } else if is_in_file {
            &mut sizes.data
        } else {
            &mut sizes.bss
        };
        *part = part.saturating_add(size);
        if is_in_file {
            end = end.max(section.sh_offset(LittleEndian).saturating_add(size));
        }
    }
    for (alignment, size) in kept_unloaded {
        end = align(end, alignment).saturating_add(size);
    }
    let entries = names.len() as u64 * SECTION_ENTRY;
    end = end.saturating_add(measure_name_table(names));
    sizes.stripped = Some(align(end, TABLE_ALIGNMENT).saturating_add(entries));
    Ok(sizes)
}

/// Returns the end of the headers at the start of the file.
fn header_end(file: &Elf<'_>) -> u64 {
    let header = file.elf_header();
    let entries = u64::from(header.e_phnum(LittleEndian));
    let table = entries * u64::from(header.e_phentsize(LittleEndian));
    header.e_phoff(LittleEndian).saturating_add(table)
}

/// Reports whether `strip` keeps a section of ELF that is not loaded: it removes symbols and debug information.
fn is_kept(name: &str) -> bool {
    let is_table = [".symtab", ".strtab", ".symtab_shndx", NAMES].contains(&name);
    !is_table && !is_debug_information(name)
}

/// Reports whether a section of this name has debug information, in ELF and PE.
fn is_debug_information(name: &str) -> bool {
    const PREFIXES: [&str; 7] = [
        ".debug",
        ".zdebug",
        ".gnu.debuglto_",
        ".gnu.linkonce.wi.",
        ".line",
        ".stab",
        ".gdb_index",
    ];
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Returns the length of a table of names, each with a zero behind it. A name that ends another name shares its bytes.
fn measure_name_table(mut names: Vec<String>) -> u64 {
    names.sort_by(|one, two| one.bytes().rev().cmp(two.bytes().rev()));
    // In this order, a name that ends others is directly before one of them.
    let mut following = names.iter().skip(1);
    let lengths = names.iter().map(|name| {
        let shares = following.next().is_some_and(|next| next.ends_with(name));
        if shares { 0 } else { name.len() as u64 + 1 }
    });
    // The table begins with an empty name.
    1 + lengths.sum::<u64>()
}

fn align(place: u64, alignment: u64) -> u64 {
    place
        .checked_next_multiple_of(alignment.max(1))
        .unwrap_or(place)
}

/// Returns the functions that are longer in the candidate, at most `most`, those that grew most first. Functions with the same readable name, such as
/// instances of a generic function, are taken together.
pub fn find_grown_functions(
    base: &[u8],
    candidate: &[u8],
    most: usize,
) -> Result<Vec<FunctionChange>, UnsupportedExecutable> {
    let base = function_sizes(base)?;
    let growth = |one: &FunctionChange| one.candidate.unwrap_or(0) - one.base.unwrap_or(0);
    let mut grown: Vec<FunctionChange> = function_sizes(candidate)?
        .into_iter()
        .filter_map(|(name, size)| {
            let before = base.get(&name).copied();
            (size > before.unwrap_or(0)).then_some(FunctionChange {
                name,
                base: before,
                candidate: Some(size),
                same_code: false,
            })
        })
        .collect();
    grown.sort_by_key(|one| std::cmp::Reverse(growth(one)));
    grown.truncate(most);
    Ok(grown)
}

/// Returns the size of the code of each function by its readable name.
fn function_sizes(executable: &[u8]) -> Result<BTreeMap<String, u64>, UnsupportedExecutable> {
    let mut sizes: BTreeMap<String, u64> = BTreeMap::new();
    let mut add = |symbol: &str, size: u64| {
        let known = sizes.entry(readable_name(symbol)).or_default();
        *known = known.saturating_add(size);
    };
    if !executable.starts_with(b"\x7fELF") {
        // Symbols of other formats have no sizes. If nothing else tells the end of a function, it is the start of the next one.
        for unit in parse_for_listing(executable)?.units {
            if let Some(symbol) = &unit.symbol {
                add(symbol, unit.end.saturating_sub(unit.start));
            }
        }
        return Ok(sizes);
    }
    let (file, _) = elf(executable)?;
    let mut by_address: BTreeMap<u64, (u64, &str)> = BTreeMap::new();
    for symbol in file.symbols().filter(ObjectSymbol::is_definition) {
        if symbol.kind() == SymbolKind::Text && symbol.size() > 0 {
            let found = (symbol.size(), symbol.name()?);
            // A function can have several names. Take the same one in both executables.
            by_address
                .entry(symbol.address())
                .and_modify(|known| *known = (*known).max(found))
                .or_insert(found);
        }
    }
    if by_address.is_empty() {
        return Err(UnsupportedExecutable::Stripped);
    }
    for (size, name) in by_address.into_values() {
        add(name, size);
    }
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PE: &[u8] = include_bytes!("../tests/corpus/small.exe");
    const MACHO: &[u8] = include_bytes!("../tests/corpus/small.macho");
    const MACHO_AARCH64: &[u8] = include_bytes!("../tests/corpus/small_aarch64.macho");

    #[test]
    fn sizes_in_other_formats_are_those_of_their_sections() {
        let sizes = |[text, data, bss]: [u64; 3], stripped| {
            Ok(FileSizes {
                text,
                data,
                bss,
                stripped,
            })
        };
        // GNU's `size` prints these sizes, and both GNU's and LLVM's `strip` leave a file of this length.
        assert_eq!(measure_sizes(PE), sizes([468, 112, 16], Some(1232)));
        // Sums of the sections that `llvm-size -m` prints.
        assert_eq!(measure_sizes(MACHO), sizes([4547, 68, 4], None));
        assert_eq!(measure_sizes(MACHO_AARCH64), sizes([4675, 84, 4], None));
    }

    #[test]
    fn functions_have_grown_only_where_the_other_executable_has_less() {
        for executable in [PE, MACHO, MACHO_AARCH64] {
            assert_eq!(find_grown_functions(executable, executable, 10), Ok(vec![]));
        }
        let grown = find_grown_functions(MACHO, MACHO_AARCH64, 100).expect("both are read");
        assert!(!grown.is_empty());
        assert!(grown.iter().all(|one| one.candidate > one.base));
    }

    #[test]
    fn a_name_that_ends_another_takes_no_space() {
        let length = |names: &[&str]| {
            measure_name_table(names.iter().map(|name| (*name).to_owned()).collect())
        };
        assert_eq!(length(&[]), 1);
        assert_eq!(length(&[".text"]), 1 + 6);
        assert_eq!(length(&[".plt", ".rela.plt", ".got"]), 1 + 10 + 5);
        assert_eq!(length(&[".bss", ".tbss", ".tbss"]), 1 + 5 + 6);
    }

    #[test]
    fn symbols_and_debug_information_are_removed_and_comments_stay() {
        for name in [".symtab", ".strtab", ".shstrtab", ".debug_info", ".stab"] {
            assert!(!is_kept(name), "{name}");
        }
        assert!(is_kept(".comment") && is_kept(".note.package"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_executable_has_grown_in_no_function_against_itself() {
        let ours = std::env::current_exe().expect("a path");
        let ours = std::fs::read(ours).expect("readable");
        assert_eq!(find_grown_functions(&ours, &ours, 10), Ok(Vec::new()));
        let all = function_sizes(&ours).expect("it has symbols");
        assert!(
            all.keys()
                .any(|name| name.ends_with("find_grown_functions"))
        );
    }

    #[test]
    fn what_is_no_executable_has_no_sizes() {
        let format = Some(UnsupportedExecutable::Format);
        assert_eq!(measure_sizes(b"#!/bin/sh\n").err(), format);
        assert_eq!(find_grown_functions(b"", b"", 1).err(), format);
    }
}
