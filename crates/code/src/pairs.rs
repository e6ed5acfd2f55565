//! Pairs of code and data in two executables: an item of the base with the item that takes its place in the candidate.
//!
//! Pairing begins at the entry points and follows all that both sides refer to at the same place, so it needs no names. Items without a pair can be
//! reached only through code that differs.

use std::collections::HashMap;

use crate::decoded::AccessSize;
use crate::image::{Image, LoaderWrite, SectionUse, ThreadVariable, readable_name};
use crate::program::{self, Program, is_location};

/// The kind of items in a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum PairKind {
    /// Units of code that begin at the addresses.
    Code,
    /// Data of this many bytes.
    Exact(u64),
    /// Data of unknown length whose addresses are taken.
    Open,
    /// Data next to data of unknown length, which may extend into them.
    Beside,
    /// Tables of 32-bit distances.
    Table,
    /// Thread-local storage.
    Threads,
}

/// The addresses of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct AddressPair {
    pub(crate) kind: PairKind,
    pub(crate) base: u64,
    pub(crate) candidate: u64,
}

/// A dependency of a pair.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PairDependency {
    /// The pair refers to this pair.
    To(usize),
    /// The pair may extend into these neighbors.
    Beside(PairNeighbours),
}

/// The data just before or just after a pair. Their distance from the pair is the same on both sides: that of the nearer neighbor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairNeighbours {
    /// The pair of the neighbors; `None` if they are in different sections.
    pub(crate) pair: Option<usize>,
    pub(crate) base: u64,
    pub(crate) candidate: u64,
    /// Whether the neighbors precede the pair.
    pub(crate) before: bool,
}

/// A pair and its comparison.
#[derive(Debug)]
pub(crate) struct PairNode {
    pub(crate) pair: AddressPair,
    /// Whether both sides are equal, apart from what they refer to.
    pub(crate) same: bool,
    pub(crate) leads: Vec<PairDependency>,
}

/// All pairs so far.
pub(crate) struct Pairs<'p, 'd> {
    pub(crate) base: &'p Program<'d>,
    pub(crate) candidate: &'p Program<'d>,
    pub(crate) nodes: Vec<PairNode>,
    known: HashMap<AddressPair, usize>,
    /// Maps each referenced data address of the base to the addresses that it was paired with in the candidate, each with the index of the pair.
    /// `of_candidate` is the reverse map.
    pub(crate) of_base: HashMap<u64, Vec<(u64, usize)>>,
    pub(crate) of_candidate: HashMap<u64, Vec<(u64, usize)>>,
    explored: usize,
    /// The pairs of entry points.
    pub(crate) begins: Vec<usize>,
}

/// The result of pairing the targets of two references: a pair, two equal addresses outside of all sections, or targets that cannot be paired.
enum PairingResult {
    At(usize),
    Nowhere,
    Elsewhere,
}

impl<'p, 'd> Pairs<'p, 'd> {
    pub(crate) fn new(base: &'p Program<'d>, candidate: &'p Program<'d>) -> Self {
        Self {
            base,
            candidate,
            nodes: Vec::new(),
            known: HashMap::new(),
            of_base: HashMap::new(),
            of_candidate: HashMap::new(),
            explored: 0,
            begins: Vec::new(),
        }
    }

    /// Pairs the entry points and everything that libraries may call or read. Returns `false` if the sides need different libraries, or if some of
    /// these items have no counterpart on the other side.
    pub(crate) fn pair_entry_points(&mut self) -> bool {
        let (base, candidate) = (&self.base.image, &self.candidate.image);
        let mut begins = vec![(base.entry, candidate.entry, AccessSize::Open)];
        let mut alike = base.libraries == candidate.libraries
            && base.exported.keys().eq(candidate.exported.keys());
        let exported = base.exported.values().zip(candidate.exported.values());
        begins.extend(exported.map(|(base, candidate)| (*base, *candidate, AccessSize::Open)));
        let find = |image: &Image<'_>, wanted: &str| {
            let mut found = image.read_at_start.iter();
            let (_, range) = found.find(|(name, _)| name == wanted)?;
            Some((range.start, range.end - range.start))
        };
        for (name, _) in &base.read_at_start {
            match (find(base, name), find(candidate, name)) {
                (Some((base, size)), Some((candidate, other))) if size == other => {
                    begins.push((base, candidate, AccessSize::Exact(size)));
                }
                _ => alike = false,
            }
        }
        let mut others = candidate.read_at_start.iter();
        alike &= others.all(|(name, _)| find(base, name).is_some());
        for (base, candidate, extent) in begins {
            match self.pair_targets(base, candidate, extent) {
                PairingResult::At(node) => self.begins.push(node),
                PairingResult::Nowhere => {}
                PairingResult::Elsewhere => alike = false,
            }
        }
        alike
    }

    /// Pairs two units of code.
    pub(crate) fn pair_units(&mut self, base: u64, candidate: u64) -> usize {
        self.node(AddressPair {
            kind: PairKind::Code,
            base,
            candidate,
        })
    }

    /// Follows all references of the pairs.
    pub(crate) fn explore(&mut self) {
        while self.explored < self.nodes.len() {
            let at = self.explored;
            self.explored += 1;
            let pair = self.nodes[at].pair;
            let mut leads = Vec::new();
            let same = match pair.kind {
                PairKind::Code => self.compare_code(&pair, &mut leads),
                PairKind::Exact(size) => {
                    self.compare_range(pair.base, pair.candidate, size, &mut leads)
                }
                PairKind::Open => self.compare_open(&pair, &mut leads),
                PairKind::Beside => {
                    self.compare_to_next_place(pair.base, pair.candidate, &mut leads)
                }
                PairKind::Table => self.compare_tables(&pair, &mut leads),
                PairKind::Threads => self.compare_thread_storage(&mut leads),
            };
            let node = &mut self.nodes[at];
            (node.same, node.leads) = (same, leads);
        }
    }

    /// Reports whether both units have the same name. Two units without symbols count as having the same name.
    pub(crate) fn share_a_name(&self, pair: &AddressPair) -> bool {
        let name = |program: &Program<'_>, address| {
            let unit = &program.image.units[program.image.unit_at(address)?];
            unit.symbol.as_deref().map(readable_name)
        };
        name(self.base, pair.base) == name(self.candidate, pair.candidate)
    }

    fn node(&mut self, pair: AddressPair) -> usize {
        *self.known.entry(pair).or_insert_with(|| {
            self.nodes.push(PairNode {
                pair,
                same: false,
                leads: Vec::new(),
            });
            self.nodes.len() - 1
        })
    }

    fn pair_targets(&mut self, base: u64, candidate: u64, extent: AccessSize) -> PairingResult {
        let (here, there) = (self.base, self.candidate);
        let sections = (here.image.section(base), there.image.section(candidate));
        let (old, new) = match sections {
            (None, None) if base == candidate => return PairingResult::Nowhere,
            (Some(old), Some(new)) if old.name == new.name => (old, new),
            _ => return PairingResult::Elsewhere,
        };
        if old.content == SectionUse::Code && new.content == SectionUse::Code {
            let unit = |program: &Program<'_>, address| {
                let at = program.image.unit_at(address)?;
                let start = program.image.units[at].start;
                Some((start, address - start))
            };
            return match (unit(here, base), unit(there, candidate)) {
                (Some((base, offset)), Some((candidate, other))) if offset == other => {
                    PairingResult::At(self.pair_units(base, candidate))
                }
                _ => PairingResult::Elsewhere,
            };
        }
        let tables = (here.tables.get(&base), there.tables.get(&candidate));
        let pair = |kind, before: u64| {
            Some(AddressPair {
                kind,
                base: base.checked_sub(before)?,
                candidate: candidate.checked_sub(before)?,
            })
        };
        let objects = (here.image.object_at(base), there.image.object_at(candidate));
        let pair = match (extent, tables, objects) {
            (AccessSize::Exact(size), ..) => pair(PairKind::Exact(size), 0),
            (_, (Some(_), Some(_)), _) => pair(PairKind::Table, 0),
            (_, (Some(_), None) | (None, Some(_)), _) => return PairingResult::Elsewhere,
            (_, _, (Some((start, size)), Some((other, of_other)))) => {
                if base - start != candidate - other || size != of_other {
                    return PairingResult::Elsewhere;
                }
                pair(PairKind::Exact(size), base - start)
            }
            // Only one side has a symbol with the bounds; they apply to both sides.
            (_, _, (Some((start, size)), None)) => pair(PairKind::Exact(size), base - start),
            (_, _, (None, Some((start, size)))) => pair(PairKind::Exact(size), candidate - start),
            (_, _, (None, None)) => pair(PairKind::Open, 0),
        };
        let Some(pair) = pair else {
            return PairingResult::Elsewhere;
        };
        let at = self.node(pair);
        let seen = self.of_base.entry(base).or_default();
        if !seen.contains(&(candidate, at)) {
            seen.push((candidate, at));
            self.of_candidate
                .entry(candidate)
                .or_default()
                .push((base, at));
        }
        // Variables must have the same partner at every reference.
        let is_variable =
            old.content == SectionUse::Variables || new.content == SectionUse::Variables;
        if is_variable {
            let other = |seen: &[(u64, usize)], expected: u64| {
                seen.iter().any(|(address, _)| *address != expected)
            };
            if other(&self.of_base[&base], candidate) || other(&self.of_candidate[&candidate], base)
            {
                return PairingResult::Elsewhere;
            }
        }
        PairingResult::At(at)
    }

    fn compare_code(&mut self, pair: &AddressPair, leads: &mut Vec<PairDependency>) -> bool {
        let body = |program: &'p Program<'d>, address| {
            let at = program.image.unit_at(address)?;
            Some(&program.bodies[at])
        };
        let (Some(base), Some(candidate)) = (
            body(self.base, pair.base),
            body(self.candidate, pair.candidate),
        ) else {
            return false;
        };
        let have_unknown = base.has_unknown_addresses || candidate.has_unknown_addresses;
        if have_unknown
            || base.masked != candidate.masked
            || base.references.len() != candidate.references.len()
            || base.derived.len() != candidate.derived.len()
        {
            return false;
        }
        let mut same = true;
        let references = base.references.iter().zip(&candidate.references);
        let derived = base.derived.iter().zip(&candidate.derived);
        for (old, new) in references.chain(derived) {
            same &= (old.at, old.extent) == (new.at, new.extent);
            same &= self.follow_reference(old.target, new.target, old.extent, leads);
        }
        if base.uses_threads {
            leads.push(PairDependency::To(self.pair_threads()));
        }
        same
    }

    /// Pairs the thread-local storage of both sides.
    fn pair_threads(&mut self) -> usize {
        self.node(AddressPair {
            kind: PairKind::Threads,
            base: 0,
            candidate: 0,
        })
    }

    fn follow_reference(
        &mut self,
        base: u64,
        candidate: u64,
        extent: AccessSize,
        leads: &mut Vec<PairDependency>,
    ) -> bool {
        match self.pair_targets(base, candidate, extent) {
            PairingResult::At(node) => {
                leads.push(PairDependency::To(node));
                let section = self.base.image.section_use(base);
                if section == Some(SectionUse::ThreadDescriptors) {
                    leads.push(PairDependency::To(self.pair_threads()));
                }
            }
            PairingResult::Nowhere => {}
            PairingResult::Elsewhere => return false,
        }
        true
    }

    /// Reports whether `size` bytes are equal, apart from the targets of the addresses in them.
    fn compare_range(
        &mut self,
        base: u64,
        candidate: u64,
        size: u64,
        leads: &mut Vec<PairDependency>,
    ) -> bool {
        let (old, new) = (&self.base.image, &self.candidate.image);
        let (Some(here), Some(there)) = (old.bytes(base, size), new.bytes(candidate, size)) else {
            return false;
        };
        let (mut here, mut there) = (here.to_vec(), there.to_vec());
        // A write of 8 bytes that begins before the range may reach into it.
        let written = |written: &std::collections::BTreeMap<u64, LoaderWrite>, start: u64| {
            let range = start.saturating_sub(7)..start + size;
            let found = written.range(range);
            let relative = |at: u64| i128::from(at) - i128::from(start);
            found
                .map(|(at, what)| (relative(*at), what.clone()))
                .collect::<Vec<_>>()
        };
        let (here_written, there_written) = (
            written(&old.written, base),
            written(&new.written, candidate),
        );
        if here_written.len() != there_written.len() {
            return false;
        }
        let mut same = true;
        for ((at, what), (other_at, other)) in here_written.into_iter().zip(there_written) {
            same &= at == other_at;
            let start = at.max(0) as usize;
            let end = ((at + 8).max(0) as usize).min(size as usize);
            if !same || start > end {
                return false;
            }
            for side in [&mut here, &mut there] {
                let length = side.len();
                side[start.min(length)..end.min(length)].fill(0);
            }
            same &= match (what, other) {
                (LoaderWrite::Address(old), LoaderWrite::Address(new)) => {
                    self.follow_reference(old, new, AccessSize::Open, leads)
                }
                (old, new) => old == new,
            };
        }
        let are_zeros = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
        let are_equal = here == there
            || ((here.is_empty() || there.is_empty()) && are_zeros(&here) && are_zeros(&there));
        same && are_equal
    }

    /// Compares the data up to the next address, on either side, at which other data may begin.
    fn compare_to_next_place(
        &mut self,
        base: u64,
        candidate: u64,
        leads: &mut Vec<PairDependency>,
    ) -> bool {
        if is_location(&self.base.image, base) && is_location(&self.candidate.image, candidate) {
            return true;
        }
        let ends = (self.base.end_of(base), self.candidate.end_of(candidate));
        let (Some(end), Some(other_end)) = ends else {
            return false;
        };
        let size = (end - base).min(other_end - candidate);
        self.compare_range(base, candidate, size, leads)
    }

    fn compare_open(&mut self, pair: &AddressPair, leads: &mut Vec<PairDependency>) -> bool {
        let AddressPair {
            base, candidate, ..
        } = *pair;
        let (old, new) = (self.base, self.candidate);
        if is_location(&old.image, base) && is_location(&new.image, candidate) {
            return true;
        }
        let same = self.compare_to_next_place(base, candidate, leads);
        let around = (old.places_around(base), new.places_around(candidate));
        let before = |at: u64, before: Option<u64>| before.map(|before| at - before);
        let distance = nearer_distance(before(base, around.0.0), before(candidate, around.1.0));
        if let Some(distance) = distance {
            self.add_neighbors(base - distance, candidate - distance, true, leads);
        }
        let after = |at: u64, after: Option<u64>| after.map(|after| after - at);
        let distance = nearer_distance(after(base, around.0.1), after(candidate, around.1.1));
        if let Some(distance) = distance {
            self.add_neighbors(base + distance, candidate + distance, false, leads);
        }
        same
    }

    fn add_neighbors(
        &mut self,
        base: u64,
        candidate: u64,
        before: bool,
        leads: &mut Vec<PairDependency>,
    ) {
        let name = |program: &'p Program<'d>, at| Some(&program.image.section(at)?.name);
        let names = (name(self.base, base), name(self.candidate, candidate));
        let pair = (names.0.is_some() && names.0 == names.1).then(|| {
            self.node(AddressPair {
                kind: PairKind::Beside,
                base,
                candidate,
            })
        });
        leads.push(PairDependency::Beside(PairNeighbours {
            pair,
            base,
            candidate,
            before,
        }));
    }

    fn compare_tables(&mut self, pair: &AddressPair, leads: &mut Vec<PairDependency>) -> bool {
        let (old, new) = (
            &self.base.tables[&pair.base],
            &self.candidate.tables[&pair.candidate],
        );
        let entries = old.targets.len();
        if old.are_jumps != new.are_jumps || entries != new.targets.len() {
            return false;
        }
        let mut same = true;
        for (old, new) in old.targets.iter().zip(&new.targets) {
            same &= self.follow_reference(*old, *new, AccessSize::Open, leads);
        }
        let after = 4 * entries as u64;
        let rest = |program: &Program<'_>, start: u64| {
            let end = program.end_of(start)?;
            Some(end.saturating_sub(start + after))
        };
        let rests = (
            rest(self.base, pair.base),
            rest(self.candidate, pair.candidate),
        );
        let (Some(rest), Some(other)) = rests else {
            return false;
        };
        same && self.compare_range(
            pair.base + after,
            pair.candidate + after,
            rest.min(other),
            leads,
        )
    }

    /// Compares the layout and the initial values of thread-local storage.
    fn compare_thread_storage(&mut self, leads: &mut Vec<PairDependency>) -> bool {
        let named = |program: &Program<'_>| {
            let found = program.image.thread_variables.iter();
            let readable = found.map(|variable| ThreadVariable {
                name: readable_name(&variable.name),
                ..*variable
            });
            readable.collect::<Vec<_>>()
        };
        let first = |program: &Program<'_>| {
            let mut sections = program.image.sections.iter();
            let found = sections.find(|section| section.content == SectionUse::Threads)?;
            Some((found.start, found.end - found.start))
        };
        let same = named(self.base) == named(self.candidate)
            && self.base.image.thread_storage == self.candidate.image.thread_storage;
        match (first(self.base), first(self.candidate)) {
            (None, None) => same,
            (Some((base, size)), Some((candidate, other))) => {
                same && size == other && self.compare_range(base, candidate, size, leads)
            }
            _ => false,
        }
    }

    /// Reports whether the data of an open pair certainly end before these neighbors. Evidence on one side is enough: both sides run the same code,
    /// so code that stays within its data on one side does so on the other.
    pub(crate) fn ends_before(&self, pair: &AddressPair, beside: &PairNeighbours) -> bool {
        let begins = |program: &Program<'_>, of: u64, neighbour: u64| {
            let image = &program.image;
            let has_size = if beside.before {
                of > 0 && image.object_at(of - 1).is_some()
            } else {
                image.objects.contains_key(&neighbour)
            };
            let is_place =
                is_location(image, neighbour) && !(beside.before && of < neighbour + program::SIZE);
            has_size || is_place || program.tables.contains_key(&neighbour)
        };
        // A neighbor was paired with an address other than that of the other side's neighbor.
        let elsewhere = |seen: &HashMap<u64, Vec<(u64, usize)>>, here: u64, there: u64| {
            let found = seen.get(&here).into_iter().flatten();
            found
                .into_iter()
                .any(|(other, node)| *other != there && self.nodes[*node].same)
        };
        begins(self.base, pair.base, beside.base)
            || begins(self.candidate, pair.candidate, beside.candidate)
            || elsewhere(&self.of_base, beside.base, beside.candidate)
            || elsewhere(&self.of_candidate, beside.candidate, beside.base)
    }
}

fn nearer_distance(base: Option<u64>, candidate: Option<u64>) -> Option<u64> {
    match (base, candidate) {
        (Some(base), Some(candidate)) => Some(base.min(candidate)),
        (base, candidate) => base.or(candidate),
    }
}
