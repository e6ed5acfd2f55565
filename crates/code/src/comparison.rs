//! Which functions differ, which of them a program reaches, and where a trap tells that one of them runs.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::image::Image;
use crate::names::readable;
use crate::pairs::{AddressPair, PairKind, PairLead, Pairs};
use crate::program::Program;
use crate::unknown::Unknown;

/// A function that is not the same in both executables: it has other code or other data, or one side alone has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionChange {
    /// Its name without hashes: instances of a generic function may share one.
    pub name: String,
    /// The bytes of its code in the base; `None`: it is not there.
    pub base: Option<u64>,
    /// The bytes of its code in the candidate; `None`: it is not there.
    pub candidate: Option<u64>,
    /// Its own code is the same in both: what it refers to differs, or may differ.
    pub same_code: bool,
}

/// What both executables have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeComparison {
    /// Functions that differ: changed, added, removed, the longest first; then those whose own code is the same.
    pub functions: Vec<FunctionChange>,
    /// Functions that are the same at the same address.
    pub same: usize,
    /// Functions that are the same at another address.
    pub moved: usize,
    /// What the two programs, from their starts, can come to that differs.
    pub reach: Reach,
}

/// Whether programs can come to code or data that differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// They cannot: both run the same code on the same data.
    Same,
    /// They can, and no later than at these functions.
    Differs(Entrances),
    /// They can, at places that are no functions.
    Everywhere,
}

/// Where code that differs is entered, as places in the files of both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entrances {
    /// In the base.
    pub base: BTreeSet<usize>,
    /// In the candidate.
    pub candidate: BTreeSet<usize>,
}

/// What stops a program that comes to it (`int3`).
const TRAP: u8 = 0xcc;

/// The executable with a trap at each of these places in its file: if it runs to its end, it has come to none of them.
pub fn trapped(mut executable: Vec<u8>, entrances: &BTreeSet<usize>) -> Vec<u8> {
    for place in entrances {
        if let Some(byte) = executable.get_mut(*place) {
            *byte = TRAP;
        }
    }
    executable
}

/// Compares the machine code of two executables.
pub fn compare(base: &[u8], candidate: &[u8]) -> Result<CodeComparison, Unknown> {
    let base = Program::of(Image::parse(base)?);
    let candidate = Program::of(Image::parse(candidate)?);
    let mut pairs = Pairs::new(&base, &candidate);
    let alike = pairs.begin();
    pairs.explore();
    // Functions that are reached in other ways are compared by name, for people, and as they tell where data begin.
    pair_by_name(&mut pairs);
    pairs.explore();
    let differs = differing(&pairs);
    let reached = reached(&pairs);
    let reach = reach(&pairs, &differs, &reached, alike);
    let (functions, same, moved) = functions(&pairs, &differs);
    Ok(CodeComparison {
        functions,
        same,
        moved,
        reach,
    })
}

/// Pairs functions of one name that no pair has: those with the same code first, then in order.
fn pair_by_name(pairs: &mut Pairs<'_, '_>) {
    let (base, candidate) = (pairs.base, pairs.candidate);
    let of_code = |pairs: &Pairs<'_, '_>| -> (BTreeSet<u64>, BTreeSet<u64>) {
        let nodes = pairs.nodes.iter().map(|node| node.pair);
        let code = nodes.filter(|pair| pair.kind == PairKind::Code);
        code.map(|pair| (pair.base, pair.candidate)).unzip()
    };
    let (seen_base, seen_candidate) = of_code(pairs);
    let left = by_name(base, &seen_base);
    let mut right = by_name(candidate, &seen_candidate);
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

/// The units of each name, but for those that were seen.
fn by_name(program: &Program<'_>, seen: &BTreeSet<u64>) -> BTreeMap<String, Vec<usize>> {
    let mut found: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, unit) in program.image.units.iter().enumerate() {
        if let Some(symbol) = unit.symbol.as_deref()
            && !seen.contains(&unit.start)
        {
            found.entry(readable(symbol)).or_default().push(at);
        }
    }
    found
}

/// Which pairs differ, with what they lead to: data that differ make what refers to them differ, code does not make its callers differ, unless
/// they call another function.
fn differing(pairs: &Pairs<'_, '_>) -> Vec<bool> {
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
                PairLead::To(to) => spreads(*to),
                PairLead::Beside(beside) => {
                    beside.pair.is_none_or(&mut spreads) && !pairs.is_apart(&node.pair, beside)
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

/// Which pairs programs come to from where they begin.
fn reached(pairs: &Pairs<'_, '_>) -> Vec<bool> {
    let mut found = vec![false; pairs.nodes.len()];
    let mut left = pairs.begins.clone();
    while let Some(at) = left.pop() {
        if std::mem::replace(&mut found[at], true) {
            continue;
        }
        let node = &pairs.nodes[at];
        left.extend(node.leads.iter().filter_map(|lead| match lead {
            PairLead::To(to) => Some(*to),
            PairLead::Beside(beside) => beside.pair.filter(|_| !pairs.is_apart(&node.pair, beside)),
        }));
    }
    found
}

fn reach(pairs: &Pairs<'_, '_>, differs: &[bool], reached: &[bool], alike: bool) -> Reach {
    let mut entrances = Entrances {
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
        let base = places(pairs.base, node.pair.base);
        let candidate = places(pairs.candidate, node.pair.candidate);
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

/// Where in its file a function is entered; `None`: it is none, so nobody knows.
fn places(program: &Program<'_>, start: u64) -> Option<Vec<usize>> {
    let at = program.image.unit_at(start)?;
    program.image.units[at].symbol.as_ref()?;
    let others = program.entries.get(&at).into_iter().flatten().copied();
    std::iter::once(start)
        .chain(others)
        .map(|address| program.image.in_file(address))
        .collect()
}

/// The functions that differ, and how many are the same where they were, and elsewhere.
fn functions(pairs: &Pairs<'_, '_>, differs: &[bool]) -> (Vec<FunctionChange>, usize, usize) {
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
    // A function that is the same as one of its pairs is no change, whatever else took its place.
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
        let name = readable(unit.symbol.as_deref()?);
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
        let units = by_name(program, seen).into_values().flatten();
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
    // Changed, added, removed; the longest first.
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

/// Whether the code of two functions is the same, but for addresses, and goes on to functions of the same names.
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
