//! Measures the sizes of an ELF executable as the program `size` prints them, and that of its file after `strip`. Finds the functions that grew
//! between two ELF executables.

use object::elf::{SHF_ALLOC, SHF_EXECINSTR, SHF_WRITE, SHT_NOBITS};
use object::read::elf::{FileHeader, SectionHeader};
use object::{LittleEndian, Object, ObjectSymbol, SymbolKind};
use std::collections::BTreeMap;

use crate::comparison::FunctionChange;
use crate::elf::{Elf, elf};
use crate::image::{UnsupportedExecutable, readable_name};

/// Sizes of an executable in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileSizes {
    /// Code and constants that are loaded.
    pub text: u64,
    /// Variables that are loaded.
    pub data: u64,
    /// Variables that are zero at the start, which take no space in the file.
    pub bss: u64,
    /// Length of the file after `strip`: without symbols and debug information.
    pub stripped: u64,
}

/// Size of an entry in the table of sections.
const SECTION_ENTRY: u64 = 64;
/// Alignment of the table of sections in the file.
const TABLE_ALIGNMENT: u64 = 8;
/// Name of the section that has the names of all sections.
const NAMES: &str = ".shstrtab";

/// Measures the sizes of an ELF executable. Fails if the executable has another format.
pub fn measure_sizes(executable: &[u8]) -> Result<FileSizes, UnsupportedExecutable> {
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
    sizes.stripped = align(end, TABLE_ALIGNMENT).saturating_add(entries);
    Ok(sizes)
}

/// Returns the end of the headers at the start of the file.
fn header_end(file: &Elf<'_>) -> u64 {
    let header = file.elf_header();
    let entries = u64::from(header.e_phnum(LittleEndian));
    let table = entries * u64::from(header.e_phentsize(LittleEndian));
    header.e_phoff(LittleEndian).saturating_add(table)
}

/// Reports whether `strip` keeps a section that is not loaded: it removes symbols and debug information.
fn is_kept(name: &str) -> bool {
    const REMOVED: [&str; 7] = [
        ".debug",
        ".zdebug",
        ".gnu.debuglto_",
        ".gnu.linkonce.wi.",
        ".line",
        ".stab",
        ".gdb_index",
    ];
    let is_table = [".symtab", ".strtab", ".symtab_shndx", NAMES].contains(&name);
    !is_table && !REMOVED.iter().any(|prefix| name.starts_with(prefix))
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
    let mut sizes: BTreeMap<String, u64> = BTreeMap::new();
    for (size, name) in by_address.into_values() {
        *sizes.entry(readable_name(name)).or_default() += size;
    }
    Ok(sizes)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

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
