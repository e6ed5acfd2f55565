//! Lists the instructions of functions, with names in place of addresses. Also aligns the listings of a function in two executables: equal
//! instructions share a row, whatever their addresses.

use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::decoded::{AccessSize, InstructionText, TARGET};
use crate::executable;
use crate::image::{
    CodeUnit, Image, LoaderWrite, SectionUse, UnsupportedExecutable, readable_name,
};

/// A reader of the machine code of functions, by name.
#[derive(Debug)]
pub struct FunctionReader<'d> {
    disassembly: Disassembly<'d>,
}

/// A function in the base, in the candidate, or in both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionPair {
    /// Length of its code in the base, in bytes; `None` if the base does not have it.
    pub base: Option<u64>,
    /// Length of its code in the candidate, in bytes; `None` if the candidate does not have it.
    pub candidate: Option<u64>,
    /// The instructions.
    pub rows: Vec<CodeRow>,
}

/// An instruction of the base next to the instruction that takes its place in the candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeRow {
    /// Number of this row as a label, from 1. Jumps to this row show it. `None` if no jump leads here.
    pub label: Option<usize>,
    /// The instruction of the base; `None` if only the candidate has one here.
    pub base: Option<String>,
    /// The instruction of the candidate; `None` if only the base has one here.
    pub candidate: Option<String>,
}

impl CodeRow {
    /// Reports whether the sides differ in this row.
    pub fn differs(&self) -> bool {
        self.base != self.candidate
    }
}

impl FunctionPair {
    fn new(base: Option<&FunctionCode>, candidate: Option<&FunctionCode>) -> Self {
        Self {
            base: base.map(|code| code.size),
            candidate: candidate.map(|code| code.size),
            rows: make_rows(lines(base), lines(candidate)),
        }
    }

    /// Reports whether the sides differ anywhere.
    pub fn differs(&self) -> bool {
        self.base.is_some() != self.candidate.is_some() || self.rows.iter().any(CodeRow::differs)
    }
}

impl<'d> FunctionReader<'d> {
    /// Reads an executable with symbols: ELF or Mach-O for x86-64 or 64-bit ARM, or PE for x86-64.
    pub fn parse(executable: &'d [u8]) -> Result<Self, UnsupportedExecutable> {
        let image = executable::parse_for_listing(executable)?;
        Ok(Self {
            disassembly: Disassembly::new(image),
        })
    }

    /// Returns the names of all functions, without hashes.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.disassembly.functions.keys().map(String::as_str)
    }

    /// Pairs the functions with this name in both executables. There can be several pairs, because instances of a generic function may share a name.
    pub fn pair_functions(&self, candidate: &Self, name: &str) -> Vec<FunctionPair> {
        let (mut base, mut candidate) = (self.instances(name), candidate.instances(name));
        let mut pairs = Vec::new();
        let ways: [fn(&FunctionCode, &FunctionCode) -> bool; 3] = [
            |one, other| one.symbol == other.symbol,
            |one, other| one.lines == other.lines,
            |_, _| true,
        ];
        for is_same in ways {
            base.retain(|one| {
                let found = candidate.iter().position(|other| is_same(one, other));
                let found = found.map(|at| candidate.remove(at));
                let pair = found.map(|other| FunctionPair::new(Some(one), Some(&other)));
                let is_alone = pair.is_none();
                pairs.extend(pair);
                is_alone
            });
        }
        let removed = base.iter().map(|one| FunctionPair::new(Some(one), None));
        let added = candidate.iter();
        let added = added.map(|other| FunctionPair::new(None, Some(other)));
        pairs.extend(removed.chain(added));
        pairs
    }

    fn instances(&self, name: &str) -> Vec<FunctionCode> {
        let mut units = BTreeSet::new();
        let instances = self.disassembly.functions.get(name).into_iter().flatten();
        instances
            .filter(|(_, unit)| units.insert(**unit))
            .map(|(symbol, unit)| self.disassembly.disassemble(symbol, *unit))
            .collect()
    }
}

fn lines(code: Option<&FunctionCode>) -> &[CodeLine] {
    code.map_or(&[], |code| &code.lines)
}

/// The indices of the base's line and the candidate's line in a row; `None` if that side has no line.
type LinePair = (Option<usize>, Option<usize>);

/// Aligns both listings with few differences (Myers 1986; not always the fewest, because the library uses heuristics). Labels number the rows, so a
/// jump is equal if both sides lead to the same row.
fn make_rows(base: &[CodeLine], candidate: &[CodeLine]) -> Vec<CodeRow> {
    let pairs = align_lines(base, candidate);
    let mut row_of_base = vec![0; base.len()];
    let mut row_of_candidate = vec![0; candidate.len()];
    for (row, (old, new)) in pairs.iter().enumerate() {
        if let Some(line) = old {
            row_of_base[*line] = row;
        }
        if let Some(line) = new {
            row_of_candidate[*line] = row;
        }
    }
    let led_to = |lines: &[CodeLine], row_of: &[usize]| -> Vec<usize> {
        let led_to = lines.iter().filter_map(|line| line.leads_to);
        led_to.map(|line| row_of[line]).collect()
    };
    let mut targets = led_to(base, &row_of_base);
    targets.extend(led_to(candidate, &row_of_candidate));
    targets.sort_unstable();
    targets.dedup();
    let labels: BTreeMap<usize, usize> = targets.into_iter().zip(1..).collect();
    let text = |line: &CodeLine, row_of: &[usize]| match line.leads_to {
        Some(to) => {
            let label = format!("L{}", labels[&row_of[to]]);
            line.text.replace(LABEL, &label)
        }
        None => line.text.clone(),
    };
    let pairs = pairs.into_iter().enumerate();
    pairs
        .map(|(row, (old, new))| CodeRow {
            label: labels.get(&row).copied(),
            base: old.map(|line| text(&base[line], &row_of_base)),
            candidate: new.map(|line| text(&candidate[line], &row_of_candidate)),
        })
        .collect()
}

fn align_lines(base: &[CodeLine], candidate: &[CodeLine]) -> Vec<LinePair> {
    let texts = |lines: &'_ [CodeLine]| -> Vec<String> {
        lines.iter().map(|line| line.text.clone()).collect()
    };
    let steps = capture_diff_slices(Algorithm::Myers, &texts(base), &texts(candidate));
    let mut pairs = Vec::new();
    for step in steps {
        let (old, new) = match step {
            DiffOp::Equal {
                old_index,
                new_index,
                len,
            } => (old_index..old_index + len, new_index..new_index + len),
            DiffOp::Delete {
                old_index,
                old_len,
                new_index,
            } => (old_index..old_index + old_len, new_index..new_index),
            DiffOp::Insert {
                old_index,
                new_index,
                new_len,
            } => (old_index..old_index, new_index..new_index + new_len),
            DiffOp::Replace {
                old_index,
                old_len,
                new_index,
                new_len,
            } => (
                old_index..old_index + old_len,
                new_index..new_index + new_len,
            ),
        };
        let height = old.len().max(new.len());
        let (mut old, mut new) = (old, new);
        pairs.extend((0..height).map(|_| (old.next(), new.next())));
    }
    pairs
}

/// A placeholder in the text of an instruction for the label of the line that the instruction refers to.
pub(crate) const LABEL: char = '\u{1}';
/// The largest unnamed constant whose value is shown, in bytes.
const LONGEST_CONSTANT: u64 = 64;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FunctionCode {
    /// The linker's name.
    pub(crate) symbol: String,
    /// The length of the code in bytes.
    pub(crate) size: u64,
    pub(crate) lines: Vec<CodeLine>,
}

/// An instruction as text. For x86-64, the text is in Intel syntax.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CodeLine {
    /// The instruction, with [`LABEL`] in place of the address of a line of the same function.
    pub(crate) text: String,
    /// Index of the line of the same function that the instruction jumps to or refers to; `None` if it refers to no such line.
    pub(crate) leads_to: Option<usize>,
}

/// The functions that share a readable name: maps each linker's name to the index of its unit.
type Instances = BTreeMap<String, usize>;

/// An executable whose functions can be listed.
#[derive(Debug)]
pub(crate) struct Disassembly<'d> {
    image: Image<'d>,
    /// Functions by readable name.
    pub(crate) functions: BTreeMap<String, Instances>,
}

impl<'d> Disassembly<'d> {
    pub(crate) fn new(image: Image<'d>) -> Self {
        let mut functions: BTreeMap<String, Instances> = BTreeMap::new();
        for (at, unit) in image.units.iter().enumerate() {
            if unit.symbol.is_none() {
                continue;
            }
            for symbol in image.names.get(&unit.start).into_iter().flatten() {
                let instances = functions.entry(readable_name(symbol)).or_default();
                instances.insert(symbol.clone(), at);
            }
        }
        Self { image, functions }
    }

    /// Returns the instructions of the unit at index `unit` under `symbol`, one of its names. Labels and names replace addresses, so the text does
    /// not change if the code moves.
    pub(crate) fn disassemble(&self, symbol: &str, unit: usize) -> FunctionCode {
        let unit = &self.image.units[unit];
        let instructions = self.instructions(unit);
        let starts: HashMap<u64, usize> = instructions
            .iter()
            .enumerate()
            .map(|(line, instruction)| (instruction.address, line))
            .collect();
        let lines = instructions.iter().map(|instruction| {
            let Some((target, extent)) = instruction.target else {
                return CodeLine {
                    text: instruction.text.clone(),
                    leads_to: None,
                };
            };
            // A recursive call is shown with the function's name, not with a label.
            let is_own = (unit.start..unit.end).contains(&target)
                && !(instruction.is_call && target == unit.start);
            let leads_to = starts.get(&target).copied().filter(|_| is_own);
            let name = match leads_to {
                Some(_) => LABEL.to_string(),
                None if is_own => format!("+{:#x}", target - unit.start),
                None => self.name(target, extent),
            };
            CodeLine {
                text: instruction.text.replace(TARGET, &name),
                leads_to,
            }
        });
        FunctionCode {
            symbol: symbol.to_owned(),
            size: unit.end - unit.start,
            lines: lines.collect(),
        }
    }

    fn instructions(&self, unit: &CodeUnit) -> Vec<InstructionText> {
        let set = self.image.instruction_set;
        let listed = self.image.with_code(unit, |code| set.list(code));
        listed.unwrap_or_default()
    }

    /// Returns a name for an address. The name does not depend on the layout.
    fn name(&self, address: u64, extent: AccessSize) -> String {
        let Some(section) = self.image.section(address) else {
            return "elsewhere".to_owned();
        };
        let known = match section.content {
            SectionUse::Code => self.code_name(address),
            _ => self.data_name(address).or_else(|| {
                let pointer = self.target_name(address)?;
                Some(
                    if section.name.starts_with(".got") || section.name == "__got" {
                        format!("{pointer}@GOT")
                    } else {
                        format!("&{pointer}")
                    },
                )
            }),
        };
        known.unwrap_or_else(|| match (section.content, extent) {
            (SectionUse::Constants, AccessSize::Exact(size)) => {
                let constant = self.constant(address, size);
                constant.map_or_else(
                    || section.name.clone(),
                    |value| format!("{}: {value}", section.name),
                )
            }
            _ => section.name.clone(),
        })
    }

    fn code_name(&self, address: u64) -> Option<String> {
        let unit = &self.image.units[self.image.unit_at(address)?];
        if unit.symbol.is_some() {
            return self.symbol_name(unit.start, address);
        }
        // Code without a symbol may be a stub that jumps to a library function.
        let instructions = self.instructions(unit);
        let mut targets = instructions.iter().filter_map(|one| one.target);
        targets.find_map(|(target, _)| {
            let written = self.image.written.get(&target)?;
            matches!(written, LoaderWrite::Import(..)).then_some(())?;
            Some(format!("{}@PLT", self.target_name(target)?))
        })
    }

    fn data_name(&self, address: u64) -> Option<String> {
        let (start, _) = self.image.object_at(address)?;
        self.symbol_name(start, address)
    }

    /// Returns the name of the symbol at `start`, with the offset of `address`.
    fn symbol_name(&self, start: u64, address: u64) -> Option<String> {
        let names = self.image.names.get(&start)?.iter();
        let names = names.map(|name| readable_name(name));
        let name = names.filter(|name| !is_generated_name(name)).min()?;
        Some(match address - start {
            0 => name,
            offset => format!("{name}+{offset:#x}"),
        })
    }

    /// Returns the name of the item whose address the loader writes at `address`.
    fn target_name(&self, address: u64) -> Option<String> {
        match self.image.written.get(&address)? {
            LoaderWrite::Import(name, ..) => (!name.is_empty()).then(|| name.clone()),
            LoaderWrite::Address(target) => self
                .code_name(*target)
                .or_else(|| self.data_name(*target))
                .or_else(|| Some(self.image.section(*target)?.name.clone())),
        }
    }

    /// Returns the value of a constant in hexadecimal digits.
    fn constant(&self, address: u64, size: u64) -> Option<String> {
        let is_written = || {
            let before = address.saturating_sub(7);
            let mut written = self
                .image
                .written
                .range(before..address.saturating_add(size));
            written.next().is_some()
        };
        if !(1..=LONGEST_CONSTANT).contains(&size) || is_written() {
            return None;
        }
        let bytes = self.image.bytes(address, size)?;
        let bytes = bytes.iter().rev();
        let digits = bytes.fold(String::new(), |digits, byte| format!("{digits}{byte:02x}"));
        let digits = digits.trim_start_matches('0');
        Some(format!(
            "0x{}",
            if digits.is_empty() { "0" } else { digits }
        ))
    }
}

/// Reports whether the compiler generated the name, for a constant without a name. Such names differ between builds.
fn is_generated_name(name: &str) -> bool {
    name.starts_with("anon.") || name.starts_with("alloc_")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Splits a text into lines. A line that ends with `>3` leads to line 3.
    fn lines(text: &str) -> Vec<CodeLine> {
        let line = |line: &str| match line.split_once('>') {
            Some((text, to)) => CodeLine {
                text: format!("{text}{LABEL}"),
                leads_to: to.parse().ok(),
            },
            None => CodeLine {
                text: line.to_owned(),
                leads_to: None,
            },
        };
        text.split(' ').map(line).collect()
    }

    /// Writes rows as `L1: base | candidate`, with `=` for equal lines.
    fn shown(base: &str, candidate: &str) -> Vec<String> {
        let rows = make_rows(&lines(base), &lines(candidate));
        let side = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        rows.iter()
            .map(|row| {
                let label = row
                    .label
                    .map_or(String::new(), |label| format!("L{label}: "));
                if row.differs() {
                    format!("{label}{} | {}", side(&row.base), side(&row.candidate))
                } else {
                    format!("{label}{} =", side(&row.base))
                }
            })
            .collect()
    }

    #[test]
    fn what_follows_an_inserted_instruction_is_still_the_same() {
        assert_eq!(
            shown("xor add jne:>1 ret", "xor inc add jne:>1 ret"),
            [
                "xor =",
                "L1: - | inc",
                "L2: add =",
                "jne:L2 | jne:L1",
                "ret ="
            ]
        );
        assert_eq!(
            shown("xor add jne:>1 ret", "xor inc add jne:>2 ret"),
            ["xor =", "- | inc", "L1: add =", "jne:L1 =", "ret ="]
        );
    }

    #[test]
    fn what_is_replaced_stands_beside_what_replaces_it() {
        assert_eq!(shown("a b c", "a x y c"), ["a =", "b | x", "- | y", "c ="]);
        assert_eq!(shown("a b c d", "a d"), ["a =", "b | -", "c | -", "d ="]);
    }

    #[test]
    fn a_side_that_lacks_the_function_has_no_lines() {
        let found = make_rows(&[], &lines("a jmp:>0"));
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].label, Some(1));
        assert_eq!(found[1].candidate.as_deref(), Some("jmp:L1"));
        assert!(found.iter().all(|row| row.base.is_none()));
    }
}
