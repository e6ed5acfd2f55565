//! The functions of an executable, and their names without hashes.

use std::collections::BTreeMap;

use object::{Object, ObjectSymbol, SymbolKind};
use rustc_demangle::demangle;

/// A function of an executable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Function {
    /// Its name as the linker knows it.
    pub(super) symbol: String,
    /// Bytes of its code.
    pub(super) size: u64,
    /// Where it lies.
    pub(super) address: u64,
}

/// Functions by name without hashes, which change with the version of a crate. Those that share a name, as instances of one generic do,
/// are sorted by size. What the linker cannot tell apart is left out, and so is all but the first of several names of one place.
pub(super) fn functions(executable: &[u8]) -> Result<BTreeMap<String, Vec<Function>>, String> {
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
    let mut by_name: BTreeMap<String, Vec<Function>> = BTreeMap::new();
    for function in found {
        let name = name_without_hash(&function.symbol);
        by_name.entry(name).or_default().push(function);
    }
    for same in by_name.values_mut() {
        same.sort_by_key(|function| function.size);
    }
    Ok(by_name)
}

/// What a person calls it, without the hash of its crate and what the compiler's back end appended.
fn name_without_hash(symbol: &str) -> String {
    let stem = symbol.split(".llvm.").next().unwrap_or(symbol);
    format!("{:#}", demangle(stem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_another_build_are_the_same_without_their_hashes() {
        let legacy = "_ZN3lay1w7look_up17h0123456789abcdefE";
        assert_eq!(name_without_hash(legacy), "lay::w::look_up");
        let other = "_ZN3lay1w7look_up17hfedcba9876543210E.llvm.123";
        assert_eq!(name_without_hash(other), "lay::w::look_up");
        let v0 = "_RNvCs15kBYyAo9fc_7mycrate7example";
        assert_eq!(name_without_hash(v0), "mycrate::example");
        assert_eq!(name_without_hash("memcpy"), "memcpy");
    }

    #[test]
    fn this_test_is_among_the_functions_of_its_executable() {
        let executable = std::env::current_exe().expect("a path");
        let bytes = std::fs::read(executable).expect("readable");
        let functions = functions(&bytes).expect("names");
        let own = functions
            .keys()
            .filter(|name| name.contains("link::functions::functions"));
        assert!(own.count() >= 1);
        assert!(super::functions(b"no executable").is_err());
    }
}
