//! An executable with all its code decoded: the body of each unit with masked addresses and their targets, the tables of distances, and the places
//! where data may begin.
//!
//! This module also recognizes each `core::panic::Location`, the position in the source that a panic reports. A change of its line does not change
//! the speed.

use std::collections::{BTreeMap, BTreeSet};

use crate::decoded::{AccessSize, AddressReference, UnitBody};
use crate::image::{CodeUnit, Image, LoaderWrite, SectionUse};

/// A table of 32-bit distances, relative to its own address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DistanceTable {
    /// The targets of the entries.
    pub(crate) targets: Vec<u64>,
    /// Whether the targets are in the code that reads the table.
    pub(crate) are_jumps: bool,
}

#[derive(Debug)]
pub(crate) struct Program<'d> {
    pub(crate) image: Image<'d>,
    /// The bodies, in the order of the units.
    pub(crate) bodies: Vec<UnitBody>,
    pub(crate) tables: BTreeMap<u64, DistanceTable>,
    /// Addresses where data may begin: those of symbols, those that something refers to, and the ends of sized data.
    pub(crate) places: BTreeSet<u64>,
    /// Referenced code addresses that are not the start of a unit, by unit.
    pub(crate) entries: BTreeMap<usize, BTreeSet<u64>>,
}

impl<'d> Program<'d> {
    pub(crate) fn new(image: Image<'d>) -> Self {
        let bodies: Vec<UnitBody> = image
            .units
            .iter()
            .map(|unit| decode(unit, &image))
            .collect();
        let mut program = Self {
            bodies,
            tables: BTreeMap::new(),
            places: BTreeSet::new(),
            entries: BTreeMap::new(),
            image,
        };
        program.find_places();
        program.find_tables();
        if !program.image.has_sizes {
            program.shorten_objects();
        }
        program
    }

    /// Returns the nearest places before and after an address, within its section. The start of the section also counts as a place before.
    pub(crate) fn places_around(&self, address: u64) -> (Option<u64>, Option<u64>) {
        let Some(section) = self.image.section(address) else {
            return (None, None);
        };
        let before = self.places.range(section.start..address).next_back();
        let before = before.copied();
        let first = (section.start < address).then_some(section.start);
        let after = self.places.range(address + 1..section.end).next();
        (before.or(first), after.copied())
    }

    /// Returns the latest possible end of the data at an address: the next place, or the end of the section.
    pub(crate) fn end_of(&self, address: u64) -> Option<u64> {
        let section = self.image.section(address)?;
        Some(self.places_around(address).1.unwrap_or(section.end))
    }

    fn find_places(&mut self) {
        let image = &self.image;
        let mut entries: BTreeMap<usize, BTreeSet<u64>> = BTreeMap::new();
        let mut places: BTreeSet<u64> = image.labels.iter().copied().collect();
        for (start, size) in &image.objects {
            places.extend([*start, start + size]);
        }
        let of_code = self.bodies.iter().flat_map(|body| &body.references);
        let of_code = of_code.map(|reference| reference.target);
        let of_data = image.written.values().filter_map(|written| match written {
            LoaderWrite::Address(address) => Some(*address),
            LoaderWrite::Import(..) => None,
        });
        for target in of_code
            .chain(of_data)
            .chain(image.exported.values().copied())
        {
            if image.section_use(target) != Some(SectionUse::Code) {
                places.insert(target);
            } else if let Some(at) = image.unit_at(target)
                && image.units[at].start != target
            {
                entries.entry(at).or_default().insert(target);
            }
        }
        self.places = places;
        self.entries = entries;
    }

    /// Ends data before the first table or `Location` in them. These are data of their own, and only their addresses show that.
    fn shorten_objects(&mut self) {
        let image = &self.image;
        let places = self.places.iter().copied();
        let locations = places.filter(|place| is_location(image, *place));
        let starts: BTreeSet<u64> = locations.chain(self.tables.keys().copied()).collect();
        let first_within = |start: u64, size: u64| {
            let mut within = starts.range(start + 1..start + size);
            within.next().map(|first| (start, first - start))
        };
        let objects = image.objects.iter();
        let shorter = objects.filter_map(|(start, size)| first_within(*start, *size));
        let shorter: Vec<(u64, u64)> = shorter.collect();
        self.image.objects.extend(shorter);
    }

    fn find_tables(&mut self) {
        for (at, body) in self.bodies.iter().enumerate() {
            if !body.reads_distances {
                continue;
            }
            let taken = body
                .references
                .iter()
                .filter(|one| one.extent == AccessSize::Open);
            for reference in taken {
                if let Some(table) = self.read_table(at, reference.target) {
                    self.tables.insert(reference.target, table);
                }
            }
        }
        // The targets of a table of constants are places, too.
        let tables = self.tables.values().filter(|table| !table.are_jumps);
        self.places.extend(tables.flat_map(|table| &table.targets));
    }

    /// Returns the table of distances at `start` that the code of `unit` reads; `None` if the data there are no such table.
    fn read_table(&self, unit: usize, start: u64) -> Option<DistanceTable> {
        if self.image.section_use(start)? != SectionUse::Constants {
            return None;
        }
        let unit = &self.image.units[unit];
        let end = self.end_of(start)?;
        let entry = |at: u64| {
            let bytes = self.image.bytes(at, 4)?;
            let distance = i32::from_le_bytes(bytes.try_into().ok()?);
            Some(start.wrapping_add_signed(i64::from(distance)))
        };
        let all = || (start..end.saturating_sub(3)).step_by(4);
        let is_own = |target: &u64| (unit.start..unit.end).contains(target);
        let jumps: Vec<u64> = all().map_while(entry).take_while(is_own).collect();
        if jumps.len() >= 2 {
            return Some(DistanceTable {
                targets: jumps,
                are_jumps: true,
            });
        }
        // Otherwise, the entries must be distances to other constants, which are after the end of the table or before its start.
        let (mut targets, mut end) = (Vec::new(), end);
        for at in all() {
            let target = entry(at)?;
            let is_constant = self.image.section_use(target) == Some(SectionUse::Constants);
            if at >= end || !is_constant || (start..at + 4).contains(&target) {
                break;
            }
            if target > start {
                end = end.min(target);
            }
            targets.push(target);
        }
        // The rest, up to the end, must be padding.
        let rest = start + 4 * targets.len() as u64;
        let gap = self.image.bytes(rest, end.checked_sub(rest)?)?;
        if gap.iter().any(|byte| *byte != 0) {
            return None;
        }
        (targets.len() >= 2).then_some(DistanceTable {
            targets,
            are_jumps: false,
        })
    }
}

fn decode(unit: &CodeUnit, image: &Image<'_>) -> UnitBody {
    let body = image.with_code(unit, |code| image.instruction_set.decode(code));
    let mut body = body.unwrap_or_default();
    body.derived.retain(|one| leads_elsewhere(one, unit, image));
    if image.instruction_set.merges_variables() {
        let taken = body.references.iter();
        let around: Vec<_> = taken.flat_map(|one| variables_around(one, image)).collect();
        body.derived.extend(around);
    }
    if !image.has_sizes {
        follow_end(unit, image, &mut body);
    }
    body
}

/// Completes the code of a unit whose symbol has no size. It may go on behind its end: then the code that follows counts as code that it jumps to. And
/// an address outside of all sections may be that of the file's headers, to which code adds distances that look like numbers.
fn follow_end(unit: &CodeUnit, image: &Image<'_>, body: &mut UnitBody) {
    let is_outside = |one: &AddressReference| image.section(one.target).is_none();
    body.has_unknown_addresses |= body.references.iter().any(is_outside);
    let goes_on = image.with_code(unit, |code| image.instruction_set.goes_on(code));
    if goes_on != Some(false) {
        body.references.push(AddressReference {
            at: (unit.end - unit.start) as u32,
            target: unit.end,
            extent: AccessSize::Open,
        });
    }
}

/// Returns true if an address that code computes from another address may belong to other data than that address, so that it has to be compared.
///
/// It may belong to other data if an instruction accesses a known number of bytes there. If the code only takes the address, it may be the end of an
/// array, and other data that begin there have nothing to do with it. There is one exception: in code of C compilers, it may be a constant. GCC
/// computes the address of a constant from that of another one, LLVM does not.
fn leads_elsewhere(derived: &AddressReference, unit: &CodeUnit, image: &Image<'_>) -> bool {
    let symbol = unit.symbol.as_deref();
    let is_rust = symbol.is_some_and(|symbol| rustc_demangle::try_demangle(symbol).is_ok());
    let is_constant = image.section_use(derived.target) == Some(SectionUse::Constants);
    derived.extent != AccessSize::Open || (is_constant && !is_rust)
}

/// The largest distance, in bytes, between two variables that a compiler merges into one.
const MERGED: u64 = 4095;

/// Returns the variables before and after a variable whose address code takes. If a compiler has merged them, code may compute their addresses from
/// that one, so their initial values have to be compared, too. Zero-initialized variables have no values to compare, so they are left out.
fn variables_around(taken: &AddressReference, image: &Image<'_>) -> Vec<AddressReference> {
    let found = image.section(taken.target).filter(|section| {
        let is_got = section.name.starts_with(".got") || section.name == "__got";
        let has_values = !section.bytes.is_empty() && !is_got;
        has_values && section.content == SectionUse::Variables && taken.extent == AccessSize::Open
    });
    let Some(section) = found else {
        return Vec::new();
    };
    let merged = image.merged_variables(taken.target);
    let start = (merged.start)
        .max(section.start)
        .max(taken.target.saturating_sub(MERGED));
    let end = (merged.end)
        .min(section.end)
        .min(taken.target.saturating_add(MERGED));
    let both = [start..taken.target, taken.target..end];
    both.into_iter()
        .map(|range| AddressReference {
            at: taken.at,
            target: range.start,
            extent: AccessSize::Exact(range.end - range.start),
        })
        .collect()
}

/// Size of a `Location` in bytes: pointer to the path, its length, line and column.
pub(crate) const SIZE: u64 = 24;
/// The longest path, in bytes.
const LONGEST_PATH: u64 = 4096;
/// An upper bound for the columns of a source line.
const MOST_COLUMNS: u32 = 1 << 16;

/// Reports whether an address holds a `Location`: the path of a Rust file with its length, a line and a column.
pub(crate) fn is_location(image: &Image<'_>, address: u64) -> bool {
    let path = || {
        let Some(LoaderWrite::Address(path)) = image.written.get(&address) else {
            return None;
        };
        if image.section_use(address)? != SectionUse::Constants
            || image
                .written
                .range(address + 1..address + SIZE)
                .next()
                .is_some()
        {
            return None;
        }
        let words = image.bytes(address + 8, SIZE - 8)?;
        let number = |at: usize| {
            let digits = words.get(at..at + 4).and_then(|word| word.try_into().ok());
            digits.map_or(0, u32::from_le_bytes)
        };
        let length = u64::from(number(0));
        let is_place = number(4) == 0 && number(8) > 0 && (1..MOST_COLUMNS).contains(&number(12));
        if !is_place || length > LONGEST_PATH {
            return None;
        }
        image.bytes(*path, length)
    };
    // Some compilers include a final zero in the length.
    path().is_some_and(|path| path.strip_suffix(b"\0").unwrap_or(path).ends_with(b".rs"))
}
