//! Finds the ends of functions and data if symbols have no sizes, as in executables of Windows and macOS.
//!
//! A function has the end that a table of the executable gives it, or else ends before the next symbol, without the padding there. Data are taken to
//! extend up to the next symbol, or to the end of the part of the section that comes from the same object file: rather too far than not far enough.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Bound, Range};

use crate::image::{CodeUnit, LoadedSection, SectionUse};
use crate::instruction_set::InstructionSet;

/// The symbols of an executable, sorted by what they mean.
#[derive(Debug, Default)]
pub(crate) struct UnsizedSymbols {
    /// The names of functions, by address.
    pub(crate) functions: BTreeMap<u64, Vec<String>>,
    /// The names of other items, by address.
    pub(crate) others: BTreeMap<u64, Vec<String>>,
    /// The addresses at which the part of a section that comes from one object file begins or ends. Empty if the format does not keep them.
    pub(crate) parts: BTreeSet<u64>,
    /// The addresses of other symbols and, if the format lists them separately, of functions.
    pub(crate) labels: BTreeSet<u64>,
}

impl UnsizedSymbols {
    /// Returns the functions, each with its end. `bounds` has the known ends, by start address. `data` has the ranges of data in code, which do not
    /// count as padding.
    pub(crate) fn units(
        &self,
        set: InstructionSet,
        bounds: &BTreeMap<u64, u64>,
        sections: &[LoadedSection<'_>],
        data: &[Range<u64>],
    ) -> Vec<CodeUnit> {
        let mut limits: BTreeSet<u64> = self.functions.keys().copied().collect();
        limits.extend(self.others.keys().chain(&self.parts).chain(&self.labels));
        limits.extend(bounds.keys());
        let mut units = Vec::new();
        for section in sections.iter().filter(|one| is_code(one)) {
            for (start, names) in self.functions.range(section.start..section.end) {
                let after = (Bound::Excluded(*start), Bound::Unbounded);
                let next = self.functions.range(after).next();
                let next = next.map_or(section.end, |(next, _)| section.end.min(*next));
                let known = bounds.get(start).filter(|end| **end <= next);
                let end = known.copied().unwrap_or_else(|| {
                    let limit = limits.range(after).next();
                    let limit = limit.map_or(section.end, |limit| section.end.min(*limit));
                    let before = data.partition_point(|data| data.end <= limit);
                    let last = before.checked_sub(1).map_or(0, |last| data[last].end);
                    find_code_end(set, section, *start, limit).max(last)
                });
                units.extend(names.iter().map(|name| CodeUnit {
                    start: *start,
                    end,
                    symbol: Some(name.clone()),
                }));
            }
        }
        units
    }

    /// Returns the start and the size of each item of data.
    pub(crate) fn objects(&self, sections: &[LoadedSection<'_>]) -> BTreeMap<u64, u64> {
        let mut found = BTreeMap::new();
        for section in sections.iter().filter(|one| !is_code(one)) {
            for start in self
                .others
                .range(section.start..section.end)
                .map(|(at, _)| *at)
            {
                let after = (Bound::Excluded(start), Bound::Unbounded);
                let next = self.others.range(after).next().map(|(next, _)| *next);
                let part = self.parts.range(after).next().copied();
                let end = next.into_iter().chain(part).fold(section.end, u64::min);
                found.insert(start, end - start);
            }
        }
        found
    }

    /// Returns the addresses of the labels and the parts, and those of other items in sections of code.
    pub(crate) fn labels(&self, sections: &[LoadedSection<'_>]) -> Vec<u64> {
        let mut labels: Vec<u64> = self.labels.union(&self.parts).copied().collect();
        for section in sections.iter().filter(|one| is_code(one)) {
            let others = self.others.range(section.start..section.end);
            labels.extend(others.map(|(at, _)| *at));
        }
        labels
    }

    /// Returns the names of the functions and of the data among `objects`, by address.
    pub(crate) fn into_names(self, objects: &BTreeMap<u64, u64>) -> BTreeMap<u64, Vec<String>> {
        let mut names = self.functions;
        let data = self.others.into_iter();
        names.extend(data.filter(|(start, _)| objects.contains_key(start)));
        names
    }
}

fn is_code(section: &LoadedSection<'_>) -> bool {
    section.content == SectionUse::Code
}

/// Returns the end of the code from `start` to `limit` without the padding there.
fn find_code_end(set: InstructionSet, section: &LoadedSection<'_>, start: u64, limit: u64) -> u64 {
    let within = |at: u64| ((at - section.start) as usize).min(section.bytes.len());
    let code = &section.bytes[within(start)..within(limit)];
    if (code.len() as u64) < limit - start {
        return limit;
    }
    start + set.length_without_padding(code) as u64
}
