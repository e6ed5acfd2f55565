//! Finds the functions that differ and those of them that a program can reach, and inserts traps that show whether one of them runs.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::executable;
use crate::image::{UnsupportedExecutable, readable_name};
use crate::instruction_set::InstructionSet;
use crate::pairs::{AddressPair, PairDependency, PairKind, Pairs};
use crate::program::Program;

/// A function that differs between the executables: its code or data differ, or only one side has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionChange {
    /// Name without hashes; instances of a generic function may share one.
    pub name: String,
    /// Length of its code in the base, in bytes; `None` if the base does not have it.
    pub base: Option<u64>,
    /// Length of its code in the candidate, in bytes; `None` if the candidate does not have it.
    pub candidate: Option<u64>,
    /// Whether its own code is equal in both executables. Then only what its code refers to differs or may differ.
    pub same_code: bool,
}

/// The result of comparing two executables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeComparison {
    /// Functions that differ: first the changed ones, then the added, then the removed, each group starting with the longest function. Functions
    /// whose own code is equal come last.
    pub functions: Vec<FunctionChange>,
    /// Number of equal functions at the same address.
    pub same: usize,
    /// Number of equal functions at another address.
    pub moved: usize,
    /// The differences that the programs can reach from their entry points.
    pub reach: Reach,
}

/// Whether programs can reach code or data that differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// They cannot: both run the same code on the same data.
    Same,
    /// They can, but only by entering one of these functions.
    Differs(EntryOffsets),
    /// They can, perhaps without entering any function: what differs may be an entry point, data that are used at the start, or code that is not a
    /// function.
    Everywhere,
}

/// File offsets, in each executable, at which code that differs is entered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryOffsets {
    /// Offsets in the base.
    pub base: BTreeSet<usize>,
    /// Offsets in the candidate.
    pub candidate: BTreeSet<usize>,
}

/// Returns the executable with a trap at each of these file offsets. If the program runs to its end, it has not executed the code at any of them.
pub fn insert_traps(mut executable: Vec<u8>, entrances: &BTreeSet<usize>) -> Vec<u8> {
    let set = InstructionSet::from_executable(&executable).unwrap_or(InstructionSet::X86_64);
    let trap = set.trap();
    for place in entrances {
        if let Some(bytes) = executable.get_mut(*place..place.saturating_add(trap.len())) {
            bytes.copy_from_slice(trap);
        }
    }
    executable
}

/// Compares the machine code of two executables.
///
/// The comparison starts at the entry points. Wherever both sides refer to something at the same place, it pairs the two targets: code with code,
/// data with data. As long as two programs stay within equal pairs, they do the same. Names matter only for the list that people see.
///
/// Each link changes addresses, so an operand that is an address is compared by its target: code by its offset in a function, data by their content,
/// jump tables by the code that they lead to. Symbols show where data begin and end. Anonymous constants begin and end where something refers to
/// them; their neighbors count as part of them, unless a symbol or another reference shows that the neighbors are separate data.
///
/// If in doubt, items count as different. Two `core::panic::Location`s always count as equal, whatever their paths and lines. Hashes of names and
/// types that are constants in code, such as a `TypeId`, change with the version of a crate, so code with such constants differs. Unwind tables are
/// not compared.
pub fn compare(base: &[u8], candidate: &[u8]) -> Result<CodeComparison, UnsupportedExecutable> {
    let (base, candidate) = (executable::parse(base)?, executable::parse(candidate)?);
    if base.instruction_set != candidate.instruction_set {
        return Err(UnsupportedExecutable::OtherProcessor);
    }
    let (base, candidate) = (Program::new(base), Program::new(candidate));
    let mut pairs = Pairs::new(&base, &candidate);
    let alike = pairs.pair_entry_points();
    pairs.explore();
    // Pair the remaining functions by name: people see them listed, and their references show where data begin.
    pair_by_name(&mut pairs);
    pairs.explore();
    let differs = find_differing(&pairs);
    let reached = find_reached(&pairs);
    let reach = find_reach(&pairs, &differs, &reached, alike);
    let (functions, same, moved) = list_changes(&pairs, &differs);
    Ok(CodeComparison {
        functions,
        same,
        moved,
        reach,
    })
}

/// Pairs functions of equal names that are in no pair yet: first those with equal code, then the rest in the order of their addresses.
fn pair_by_name(pairs: &mut Pairs<'_, '_>) {
    let (base, candidate) = (pairs.base, pairs.candidate);
    let of_code = |pairs: &Pairs<'_, '_>| -> (BTreeSet<u64>, BTreeSet<u64>) {
        let nodes = pairs.nodes.iter().map(|node| node.pair);
        let code = nodes.filter(|pair| pair.kind == PairKind::Code);
        code.map(|pair| (pair.base, pair.candidate)).unzip()
    };
    let (seen_base, seen_candidate) = of_code(pairs);
    let left = units_by_name(base, &seen_base);
    let mut right = units_by_name(candidate, &seen_candidate);
    for (name, units) in left {
        let Some(others) = right.get_mut(&name) else {
            continue;
        };
        let mut rest = Vec::new();
        for unit in units {
            let code = &base.bodies[unit].masked;
            let same = others
                .iter()
                .position(|other| candidate.bodies[*other].masked == *code);
            match same {
                Some(at) => {
                    let other = others.remove(at);
                    pair(pairs, unit, other);
                }
                None => rest.push(unit),
            }
        }
        for (unit, other) in rest.into_iter().zip(others.iter().copied()) {
            pair(pairs, unit, other);
        }
    }
}

fn pair(pairs: &mut Pairs<'_, '_>, base: usize, candidate: usize) {
    let start = |program: &Program<'_>, unit: usize| program.image.units[unit].start;
    let (base, candidate) = (start(pairs.base, base), start(pairs.candidate, candidate));
    pairs.pair_units(base, candidate);
}

/// Returns the units of each name, without those whose start address is in `seen`.
fn units_by_name(program: &Program<'_>, seen: &BTreeSet<u64>) -> BTreeMap<String, Vec<usize>> {
    let mut found: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, unit) in program.image.units.iter().enumerate() {
        if let Some(symbol) = unit.symbol.as_deref()
            && !seen.contains(&unit.start)
        {
            found.entry(readable_name(symbol)).or_default().push(at);
        }
    }
    found
}

/// Returns for each pair whether it differs, directly or through its references. Data that differ also make everything that refers to them differ.
/// Code that differs affects its callers only if they call functions of different names.
fn find_differing(pairs: &Pairs<'_, '_>) -> Vec<bool> {
    let mut differs: Vec<bool> = pairs.nodes.iter().map(|node| !node.same).collect();
    let mut passes_on: HashMap<usize, bool> = HashMap::new();
    loop {
        let mut changed = false;
        for (at, node) in pairs.nodes.iter().enumerate() {
            if differs[at] {
                continue;
            }
            let mut spreads = |to: usize| {
                let other = &pairs.nodes[to].pair;
                differs[to]
                    && *passes_on.entry(to).or_insert_with(|| {
                        other.kind != PairKind::Code || !pairs.share_a_name(other)
                    })
            };
            let found = node.leads.iter().any(|lead| match lead {
                PairDependency::To(to) => spreads(*to),
                PairDependency::Beside(beside) => {
                    beside.pair.is_none_or(&mut spreads) && !pairs.ends_before(&node.pair, beside)
                }
            });
            differs[at] = found;
            changed |= found;
        }
        if !changed {
            return differs;
        }
    }
}

/// Returns for each pair whether programs can reach it from their entry points.
fn find_reached(pairs: &Pairs<'_, '_>) -> Vec<bool> {
    let mut found = vec![false; pairs.nodes.len()];
    let mut left = pairs.begins.clone();
    while let Some(at) = left.pop() {
        if std::mem::replace(&mut found[at], true) {
            continue;
        }
        let node = &pairs.nodes[at];
        left.extend(node.leads.iter().filter_map(|lead| {
            match lead {
                PairDependency::To(to) => Some(*to),
                PairDependency::Beside(beside) => beside
                    .pair
                    .filter(|_| !pairs.ends_before(&node.pair, beside)),
            }
        }));
    }
    found
}

fn find_reach(pairs: &Pairs<'_, '_>, differs: &[bool], reached: &[bool], alike: bool) -> Reach {
    let mut entrances = EntryOffsets {
        base: BTreeSet::new(),
        candidate: BTreeSet::new(),
    };
    if !alike {
        return Reach::Everywhere;
    }
    let begins = pairs.begins.iter();
    let code = |at: &usize| pairs.nodes[*at].pair.kind == PairKind::Code;
    if begins.filter(|at| !code(at)).any(|at| differs[*at]) {
        return Reach::Everywhere;
    }
    let nodes = pairs.nodes.iter().enumerate();
    let code =
        nodes.filter(|(at, node)| reached[*at] && differs[*at] && node.pair.kind == PairKind::Code);
    for (_, node) in code {
        let base = entry_offsets(pairs.base, node.pair.base);
        let candidate = entry_offsets(pairs.candidate, node.pair.candidate);
        let (Some(base), Some(candidate)) = (base, candidate) else {
            return Reach::Everywhere;
        };
        entrances.base.extend(base);
        entrances.candidate.extend(candidate);
    }
    if entrances.base.is_empty() {
        Reach::Same
    } else {
        Reach::Differs(entrances)
    }
}

/// Returns the file offsets at which a function is entered; `None` if the code is not a function, so that its entries are unknown.
fn entry_offsets(program: &Program<'_>, start: u64) -> Option<Vec<usize>> {
    let at = program.image.unit_at(start)?;
    program.image.units[at].symbol.as_ref()?;
    let others = program.entries.get(&at).into_iter().flatten().copied();
    let image = &program.image;
    std::iter::once(start)
        .chain(others)
        .map(|address| {
            image
                .file_offset(address)
                .filter(|_| !image.is_data_in_code(address))
        })
        .collect()
}

/// Returns the functions that differ, the number of equal functions at the same address, and the number of equal functions elsewhere.
fn list_changes(pairs: &Pairs<'_, '_>, differs: &[bool]) -> (Vec<FunctionChange>, usize, usize) {
    let (mut same, mut moved) = (0, 0);
    let mut changed: BTreeMap<u64, u64> = BTreeMap::new();
    let (mut of_base, mut of_candidate) = (BTreeSet::new(), BTreeSet::new());
    let mut others = Vec::new();
    for (node, differs) in pairs.nodes.iter().zip(differs) {
        let pair = &node.pair;
        if pair.kind != PairKind::Code {
            continue;
        }
        if *differs {
            others.push(pair);
        } else if of_base.insert(pair.base) {
            of_candidate.insert(pair.candidate);
            let counted = if pair.base == pair.candidate {
                &mut same
            } else {
                &mut moved
            };
            *counted += 1;
        }
    }
    // A function that is equal in one pair is unchanged, even if it differs in another pair.
    for pair in others {
        let is_free = !of_base.contains(&pair.base) && !of_candidate.contains(&pair.candidate);
        if is_free && pairs.share_a_name(pair) {
            of_base.insert(pair.base);
            of_candidate.insert(pair.candidate);
            changed.insert(pair.base, pair.candidate);
        }
    }
    let one = |program: &Program<'_>, start: u64| {
        let unit = &program.image.units[program.image.unit_at(start)?];
        let name = readable_name(unit.symbol.as_deref()?);
        Some((name, unit.end - unit.start))
    };
    let mut found: Vec<FunctionChange> = Vec::new();
    for (base, candidate) in changed {
        let both = one(pairs.base, base).zip(one(pairs.candidate, candidate));
        found.extend(both.map(|((name, size), (_, other))| FunctionChange {
            name,
            base: Some(size),
            candidate: Some(other),
            same_code: have_same_code(pairs, base, candidate),
        }));
    }
    let alone = |program: &Program<'_>, seen: &BTreeSet<u64>| -> Vec<(String, u64)> {
        let units = units_by_name(program, seen).into_values().flatten();
        let starts = units.map(|unit| program.image.units[unit].start);
        starts.filter_map(|start| one(program, start)).collect()
    };
    let removed = alone(pairs.base, &of_base).into_iter();
    found.extend(removed.map(|(name, size)| FunctionChange {
        name,
        base: Some(size),
        candidate: None,
        same_code: false,
    }));
    let added = alone(pairs.candidate, &of_candidate).into_iter();
    found.extend(added.map(|(name, size)| FunctionChange {
        name,
        base: None,
        candidate: Some(size),
        same_code: false,
    }));
    // Sort changed, added and removed functions, each longest first.
    let rank = |one: &FunctionChange| (one.base.is_none(), one.candidate.is_none());
    let size = |one: &FunctionChange| one.base.max(one.candidate);
    let order = |one: &FunctionChange| {
        (
            one.same_code,
            rank(one) != (false, false),
            rank(one).1,
            std::cmp::Reverse(size(one)),
        )
    };
    found.sort_by(|a, b| (order(a), &a.name).cmp(&(order(b), &b.name)));
    (found, same, moved)
}

/// Reports whether the code of two functions is equal apart from addresses, and refers to functions of equal names.
fn have_same_code(pairs: &Pairs<'_, '_>, base: u64, candidate: u64) -> bool {
    let body = |program: &Program<'_>, start| program.image.unit_at(start);
    let (Some(old), Some(new)) = (body(pairs.base, base), body(pairs.candidate, candidate)) else {
        return false;
    };
    let (old, new) = (&pairs.base.bodies[old], &pairs.candidate.bodies[new]);
    let mut references = old.references.iter().zip(&new.references);
    old.masked == new.masked
        && references.all(|(old, new)| {
            let pair = AddressPair {
                kind: PairKind::Code,
                base: old.target,
                candidate: new.target,
            };
            pairs.share_a_name(&pair)
        })
}
