//! The functions of an executable, and their names without hashes.

use std::collections::BTreeMap;

use object::{Architecture, Endianness, Object, ObjectSymbol, SymbolKind};
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

/// The functions of an executable, and the architecture it is made for.
#[derive(Debug, Clone)]
pub(super) struct ExecutableCode {
    pub(super) functions: Functions,
    pub(super) architecture: Architecture,
    pub(super) endianness: Endianness,
}

/// The functions of an executable, by name without hash.
pub(super) type Functions = BTreeMap<String, Vec<Function>>;

/// Returns the functions by name without hash, which changes with the version of a crate. Functions of the same name, such as instances of one
/// generic, are sorted by size. Symbols that the linker cannot distinguish are omitted, as are all but the first of several names for one address.
pub(super) fn parse_functions(executable: &[u8]) -> Result<ExecutableCode, String> {
    let file = object::File::parse(executable).map_err(|error| error.to_string())?;
    let mut found: Vec<Function> = Vec::new();
    let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
    for symbol in file.symbols() {
        let Ok(name) = symbol.name() else { continue };
        if symbol.kind() != SymbolKind::Text || !symbol.is_definition() || symbol.size() == 0 {
            continue;
        }
        *uses.entry(name).or_default() += 1;
        found.push(Function {
            symbol: name.to_owned(),
            size: symbol.size(),
            address: symbol.address(),
        });
    }
    found.sort_by(|a, b| (a.address, &a.symbol).cmp(&(b.address, &b.symbol)));
    found.dedup_by_key(|function| function.address);
    found.retain(|function| uses.get(&*function.symbol) == Some(&1));
    if found.is_empty() {
        return Err("it tells no names of functions".to_owned());
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
        architecture: file.architecture(),
        endianness: file.endianness(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_is_among_the_functions_of_its_executable() {
        let executable = std::env::current_exe().expect("a path");
        let bytes = std::fs::read(executable).expect("readable");
        let found = parse_functions(&bytes).expect("names");
        let mut names = found.functions.keys();
        assert!(names.any(|name| name.contains("link::functions::code")));
        assert!(parse_functions(b"no executable").is_err());
    }

    #[test]
    fn a_damaged_executable_tells_its_functions_or_why_not() {
        let whole: &[u8] = include_bytes!("../../../code/tests/corpus/small.elf");
        let found = parse_functions(whole).expect("names");
        let names: Vec<&String> = found.functions.keys().collect();
        assert_eq!(names, ["_start", "first", "second"]);
        crate::mutations::attack("functions", &[whole.to_vec()], |bytes| {
            drop(parse_functions(bytes));
        });
    }
}
