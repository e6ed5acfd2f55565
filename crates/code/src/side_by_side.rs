//! A listing of a function in two executables side by side: equal instructions are in the same row, regardless of their addresses.

use std::collections::{BTreeMap, BTreeSet};

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::disassembly::{CodeLine, Disassembly, FunctionCode, LABEL};
use crate::image::Image;
use crate::unknown::UnsupportedExecutable;

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
    /// Number of the label that jumps to this row use, from 1; `None` if no jump leads here.
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
    /// Reads an x86-64 ELF executable with symbols.
    pub fn parse(executable: &'d [u8]) -> Result<Self, UnsupportedExecutable> {
        let image = Image::parse_for_listing(executable)?;
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

/// The lines of one row, by index.
type LinePair = (Option<usize>, Option<usize>);

/// Aligns both listings with few differences (Myers 1986; the library's heuristics may miss the fewest). Labels number the rows, so a jump is equal
/// if both sides lead to the same row.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Splits a text into lines; `>3` at the end of one leads to line 3.
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
