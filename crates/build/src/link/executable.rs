//! The functions of an executable and their names without hashes, and rewrites of paths that were compiled into it.
//!
//! `env!("CARGO_MANIFEST_DIR")` and `env!("CARGO_BIN_EXE_name")` become text in the executable. Both sides are built at the same path, so both would
//! read the files and start the programs of the last build. In the kept copy, a path of the same length replaces this text; nothing else changes.
//! Invariant: whether two sides are identical is decided before paths are replaced.

use memchr::memmem;
use object::{
    Architecture, BinaryFormat, Endianness, Object, ObjectSection, ObjectSymbol, SectionKind,
    SymbolKind,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Bound, Range};
use std::path::Path;
use std::{fs, io};

use perfcheck_code::readable_name;

/// A function of an executable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Function {
    /// Its name in the symbol table.
    pub(super) symbol: String,
    /// Size of its code, in bytes.
    pub(super) size: u64,
    /// Address of its code.
    pub(super) address: u64,
}

/// The functions of an executable, its format, and the architecture it is made for.
#[derive(Debug, Clone)]
pub(super) struct ExecutableCode {
    pub(super) functions: Functions,
    pub(super) format: BinaryFormat,
    pub(super) architecture: Architecture,
    pub(super) endianness: Endianness,
}

/// The functions of an executable, by name without hash.
pub(super) type Functions = BTreeMap<String, Vec<Function>>;

/// Returns the functions by name without hash, which changes with the version of a crate. Functions of the same name, such as instances of one
/// generic, are sorted by size. Symbols that the linker cannot distinguish are omitted, as are all but the first of several names for one address.
pub(super) fn parse_functions(executable: &[u8]) -> Result<ExecutableCode, String> {
    let file = object::File::parse(executable).map_err(|error| error.to_string())?;
    let bounds = (file.format() != BinaryFormat::Elf).then(|| CodeBounds::read(&file));
    let mut found: Vec<Function> = Vec::new();
    let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
    for symbol in file.symbols() {
        let Ok(name) = symbol.name() else { continue };
        let size = match &bounds {
            Some(bounds) => bounds.size_at(symbol.address()),
            None => symbol.size(),
        };
        if symbol.kind() != SymbolKind::Text || !symbol.is_definition() || size == 0 {
            continue;
        }
        *uses.entry(name).or_default() += 1;
        found.push(Function {
            symbol: name.to_owned(),
            size,
            address: symbol.address(),
        });
    }
    found.sort_by(|a, b| (a.address, &a.symbol).cmp(&(b.address, &b.symbol)));
    found.dedup_by_key(|function| function.address);
    found.retain(|function| uses.get(&*function.symbol) == Some(&1));
    if found.is_empty() {
        return Err("it contains no function names".to_owned());
    }
    let mut by_name = Functions::new();
    for function in found {
        let name = readable_name(&function.symbol);
        by_name.entry(name).or_default().push(function);
    }
    for same in by_name.values_mut() {
        same.sort_by_key(|function| function.size);
    }
    Ok(ExecutableCode {
        functions: by_name,
        format: file.format(),
        architecture: file.architecture(),
        endianness: file.endianness(),
    })
}

/// The addresses between which functions lie if symbols have no sizes, as on macOS and Windows. There the linker moves everything from one symbol of an
/// object file up to the next, so the padding behind a function belongs to it.
struct CodeBounds {
    sections: Vec<Range<u64>>,
    symbols: BTreeSet<u64>,
}

impl CodeBounds {
    fn read(file: &object::File<'_>) -> Self {
        let sections = file.sections();
        let sections = sections.filter(|section| section.kind() == SectionKind::Text);
        let symbols = file.symbols().filter(ObjectSymbol::is_definition);
        Self {
            sections: sections
                .map(|section| section.address()..section.address().saturating_add(section.size()))
                .collect(),
            symbols: symbols.map(|symbol| symbol.address()).collect(),
        }
    }

    /// Returns the size of the function at `address`, or 0 if no code is there.
    fn size_at(&self, address: u64) -> u64 {
        let mut sections = self.sections.iter();
        let Some(section) = sections.find(|section| section.contains(&address)) else {
            return 0;
        };
        let after = (Bound::Excluded(address), Bound::Unbounded);
        let next = self.symbols.range(after).next();
        next.map_or(section.end, |next| section.end.min(*next)) - address
    }
}

/// Returns the symbols of an executable that lie behind the symbol `first` and before the symbol `last`.
pub(super) fn find_symbols_between(executable: &[u8], first: &str, last: &str) -> BTreeSet<String> {
    let Ok(file) = object::File::parse(executable) else {
        return BTreeSet::new();
    };
    let mut addresses: BTreeMap<&str, u64> = BTreeMap::new();
    for symbol in file.symbols().filter(ObjectSymbol::is_definition) {
        if let Ok(name) = symbol.name() {
            addresses.insert(name, symbol.address());
        }
    }
    let (Some(first), Some(last)) = (addresses.get(first), addresses.get(last)) else {
        return BTreeSet::new();
    };
    let inside = addresses.iter().filter(|(_, at)| first < *at && *at < last);
    inside.map(|(name, _)| (*name).to_owned()).collect()
}

/// Returns the format of an executable.
pub(super) fn parse_format(executable: &[u8]) -> Result<BinaryFormat, String> {
    let file = object::File::parse(executable).map_err(|error| error.to_string())?;
    Ok(file.format())
}

/// Reports whether both executables have the same code and data at the same addresses. Their names for debuggers and their signatures may differ:
/// rustc strips an executable of macOS after the link, and a signature contains the name of the file.
pub(super) fn has_same_sections(one: &[u8], other: &[u8]) -> bool {
    let read = |bytes: &[u8]| {
        let file = object::File::parse(bytes).ok()?;
        let sections = file.sections().map(|section| {
            let segment = section.segment_name().ok()?.map(ToOwned::to_owned);
            let name = section.name().ok()?.to_owned();
            let place = section.address()..section.address().checked_add(section.size())?;
            Some((segment, name, place, section.data().ok()?.to_vec()))
        });
        sections.collect::<Option<Vec<_>>>()
    };
    read(one).is_some_and(|sections| read(other) == Some(sections))
}

/// A path and its replacement of the same length.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PathRewrite {
    from: Vec<u8>,
    to: Vec<u8>,
}

impl PathRewrite {
    /// Creates a rewrite of `from` to `to`. Returns `None` if the lengths differ, or if `from` is empty.
    pub(crate) fn new(from: &Path, to: &Path) -> Option<Self> {
        let bytes = |path: &Path| path.as_os_str().as_encoded_bytes().to_vec();
        let lead = Self {
            from: bytes(from),
            to: bytes(to),
        };
        (!lead.from.is_empty() && lead.from.len() == lead.to.len()).then_some(lead)
    }

    /// Returns the rewrite that is equivalent to this one followed by `leads`.
    pub(crate) fn then(mut self, leads: &[Self]) -> Self {
        for lead in leads {
            lead.apply(&mut self.to);
        }
        self
    }

    /// Replaces every occurrence of the path. Reports whether there was one.
    pub(crate) fn apply(&self, bytes: &mut [u8]) -> bool {
        let places: Vec<usize> = memmem::find_iter(bytes, &self.from).collect();
        for start in &places {
            bytes[*start..start + self.to.len()].copy_from_slice(&self.to);
        }
        !places.is_empty()
    }
}

/// Applies all rewrites to the executable at `path`.
pub(crate) fn apply_all(leads: &[PathRewrite], path: &Path) -> io::Result<()> {
    if !perfcheck_host::os::EXECUTABLES_CAN_CHANGE {
        return Ok(());
    }
    let mut bytes = fs::read(path)?;
    let mut changed = false;
    for lead in leads {
        changed |= lead.apply(&mut bytes);
    }
    if changed {
        // Write a new file instead of changing one that a process may be running.
        let permissions = fs::metadata(path)?.permissions();
        fs::remove_file(path)?;
        fs::write(path, bytes)?;
        fs::set_permissions(path, permissions)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(not(target_os = "linux"), ignore = "functions are read from ELF alone")]
    fn this_test_is_among_the_functions_of_its_executable() {
        let executable = std::env::current_exe().expect("a path");
        let bytes = std::fs::read(executable).expect("readable");
        let found = parse_functions(&bytes).expect("names");
        let mut names = found.functions.keys();
        assert!(names.any(|name| name.contains("link::executable::parse_functions")));
        assert!(parse_functions(b"no executable").is_err());
    }

    #[test]
    fn a_damaged_executable_tells_its_functions_or_why_not() {
        let whole: [&[u8]; 4] = [
            include_bytes!("../../../code/tests/corpus/small.elf"),
            include_bytes!("../../../code/tests/corpus/small_aarch64.elf"),
            include_bytes!("../../../code/tests/corpus/small.macho"),
            include_bytes!("../../../code/tests/corpus/small_aarch64.macho"),
        ];
        for whole in whole {
            let found = parse_functions(whole).expect("names");
            let names: Vec<&String> = found.functions.keys().collect();
            if found.format == BinaryFormat::Elf {
                assert_eq!(names, ["_start", "first", "second"]);
            } else {
                assert_eq!(names, ["__start", "_first", "_second"]);
            }
        }
        perfcheck_mutations::attack("functions", &whole.map(<[u8]>::to_vec), |bytes| {
            drop(parse_functions(bytes));
        });
    }

    #[test]
    fn without_sizes_a_function_extends_to_the_next_symbol_or_the_end_of_the_section() {
        let bytes = include_bytes!("../../../code/tests/corpus/small_aarch64.macho");
        let found = parse_functions(bytes).expect("names");
        let sizes = found.functions.values().flatten();
        let sizes: Vec<u64> = sizes.map(|function| function.size).collect();
        assert_eq!(sizes, [0x60, 0x34, 0xac]);
        let inside = find_symbols_between(bytes, "__start", "_table");
        assert_eq!(
            inside.into_iter().collect::<Vec<_>>(),
            ["_first", "_second"]
        );
        assert!(find_symbols_between(bytes, "__start", "missing").is_empty());
    }

    #[test]
    fn executables_for_macos_are_the_same_without_their_signature_and_symbols() {
        let bytes = include_bytes!("../../../code/tests/corpus/small_aarch64.macho");
        let change = |at: usize| {
            let mut changed = bytes.to_vec();
            changed[at] ^= 1;
            has_same_sections(bytes, &changed)
        };
        // The last bytes are those of the signature. `__start` is in the file where it is in memory.
        assert!(change(bytes.len() - 1));
        assert!(!change(0x678));
        assert!(!has_same_sections(b"no executable", b"no executable"));
    }

    #[test]
    fn every_occurrence_is_replaced_and_nothing_else() {
        let lead = PathRewrite::new(Path::new("/a/b"), Path::new("/c/d")).expect("the same length");
        let mut bytes = b"/a/b/x\0/a//a/b/a/bc/a/".to_vec();
        assert!(lead.apply(&mut bytes));
        assert_eq!(bytes, b"/c/d/x\0/a//c/d/c/dc/a/");
        assert!(!lead.apply(&mut bytes));
    }

    #[test]
    fn paths_of_other_lengths_are_left_alone() {
        assert!(PathRewrite::new(Path::new("/a"), Path::new("/bc")).is_none());
        assert!(PathRewrite::new(Path::new(""), Path::new("")).is_none());
    }
}
