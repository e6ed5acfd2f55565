//! Prints the machine code of a function in two builds. The builds are shown side by side if the terminal is wide enough, and otherwise one below the
//! other.

use std::io::{self, Write};

use crate::output::layout::{Cell, Column, Table};
use crate::output::messages::{
    JsonMessage, MachineCode, MachineCodePair, MachineCodeRow, write_message,
};
use crate::output::terminal::TextRole;
use crate::output::view::{MessageFormat, wrap_prose};
use crate::output::{terminal, units};

/// The part of the code that is printed for people. JSON always has all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeExtent {
    /// Only rows that differ, with a few equal rows around them.
    Differences,
    /// All rows, including those that are equal.
    Whole,
}

/// Number of equal rows shown before and after rows that differ.
const AROUND: usize = 8;
/// Minimum width of a terminal, in columns, for both sides to be shown next to each other whatever they contain. Instructions with long names are
/// shortened if necessary.
const WIDE: usize = 100;

/// How the code of the two sides is arranged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CodeArrangement {
    /// Base and candidate are next to each other in one row.
    Beside,
    /// The instructions of the candidate are below those of the base, as in a unified diff.
    Below,
    /// There is a single column, because only one side has the function or both have the same code.
    One,
}

/// A row of the printed code.
enum OutputRow<'r> {
    Row(&'r MachineCodeRow),
    /// A placeholder for this number of equal rows that are not shown.
    LeftOut(usize),
}

/// Writes the code in lines of at most `columns`. `shown` applies to people only: JSON always has all of the code.
pub fn write_machine_code(
    writer: &mut dyn Write,
    code: &MachineCode,
    shown: CodeExtent,
    columns: usize,
    format: MessageFormat,
) -> io::Result<()> {
    if format == MessageFormat::Json {
        return write_message(writer, JsonMessage::MachineCode(code));
    }
    let key = &code.benchmark;
    writeln!(
        writer,
        "{} {}: {}",
        terminal::heading(format!("{}/{}", key.package, key.target)),
        units::id_in_prose(&key.id, columns),
        units::escape_line(&code.function),
    )?;
    for pair in &code.pairs {
        writeln!(writer)?;
        write_pair(writer, code, pair, shown, columns)?;
    }
    writeln!(writer)?;
    for line in summarize(code) {
        writeln!(writer, "{}", wrap_prose(&line, columns, ""))?;
    }
    Ok(())
}

fn write_pair(
    writer: &mut dyn Write,
    code: &MachineCode,
    pair: &MachineCodePair,
    shown: CodeExtent,
    columns: usize,
) -> io::Result<()> {
    let rows = select_rows(&pair.rows, shown);
    let shape = choose_arrangement(pair, columns);
    let table = match shape {
        CodeArrangement::Beside => side_by_side_table(code, pair, &rows),
        CodeArrangement::Below | CodeArrangement::One => {
            for line in wrap_prose(&describe_marks(code, pair, shape), columns, "").lines() {
                writeln!(writer, "{}", terminal::faint(line))?;
            }
            unified_table(&rows, shape)
        }
    };
    table.write(writer, columns)
}

fn choose_arrangement(pair: &MachineCodePair, columns: usize) -> CodeArrangement {
    let is_on_both = pair.bytes.base.is_some() && pair.bytes.candidate.is_some();
    if !is_on_both || pair.rows.iter().all(|row| !row.differs) {
        return CodeArrangement::One;
    }
    let widest = |of: fn(&MachineCodeRow) -> &Option<String>| {
        let texts = pair.rows.iter().filter_map(|row| of(row).as_deref());
        texts.map(units::width).max().unwrap_or(0)
    };
    // Labels, the mark and the gaps take 12 columns.
    let needed = widest(|row| &row.base) + widest(|row| &row.candidate) + 12;
    if columns >= needed.min(WIDE) {
        CodeArrangement::Beside
    } else {
        CodeArrangement::Below
    }
}

/// Selects the rows to show. Equal rows that are far from any difference are replaced by a placeholder, unless all rows are equal.
fn select_rows(rows: &[MachineCodeRow], shown: CodeExtent) -> Vec<OutputRow<'_>> {
    let differing: Vec<usize> = (0..rows.len()).filter(|at| rows[*at].differs).collect();
    if shown == CodeExtent::Whole || differing.is_empty() {
        return rows.iter().map(OutputRow::Row).collect();
    }
    let is_near: Vec<bool> = (0..rows.len())
        .map(|at| {
            let after = differing.partition_point(|other| *other < at);
            let next = differing.get(after).map(|other| other - at);
            let last = after.checked_sub(1).map(|before| at - differing[before]);
            next.into_iter().chain(last).any(|away| away <= AROUND)
        })
        .collect();
    // A single row is never omitted: the placeholder would take as much space.
    let is_shown = |at: usize| {
        let before = at.checked_sub(1).is_none_or(|before| is_near[before]);
        is_near[at] || before && is_near.get(at + 1).is_none_or(|after| *after)
    };
    let mut picked = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        match picked.last_mut() {
            _ if is_shown(at) => picked.push(OutputRow::Row(row)),
            Some(OutputRow::LeftOut(rows)) => *rows += 1,
            _ => picked.push(OutputRow::LeftOut(1)),
        }
    }
    picked
}

/// Formats the heading of a side: `base: run 1, 31 bytes`.
fn heading(side: &str, run: impl std::fmt::Display, bytes: Option<u64>) -> String {
    match bytes {
        Some(bytes) => format!("{side}: run {run}, {bytes} bytes"),
        None => format!("{side}: run {run}"),
    }
}

fn label(row: &MachineCodeRow) -> Cell {
    Cell::faint(
        row.label
            .map_or_else(String::new, |label| format!("L{label}")),
    )
}

fn instruction(text: Option<&String>, ink: TextRole) -> Cell {
    Cell::with_ink(ink, text.cloned().unwrap_or_default())
}

fn gap_cell(rows: usize) -> Cell {
    Cell::faint(format!("… {rows} identical rows"))
}

fn ink(row: &MachineCodeRow) -> TextRole {
    if row.differs {
        TextRole::Differing
    } else {
        TextRole::Plain
    }
}

/// Returns a table with both sides next to each other, with marks between them as in `diff --side-by-side`.
fn side_by_side_table(code: &MachineCode, pair: &MachineCodePair, rows: &[OutputRow<'_>]) -> Table {
    let mark = |row: &MachineCodeRow| match (&row.base, &row.candidate) {
        _ if !row.differs => "",
        (Some(_), None) => "<",
        (None, Some(_)) => ">",
        _ => "|",
    };
    let of = |cell: &dyn Fn(&MachineCodeRow) -> Cell, gap: &dyn Fn(usize) -> Cell| {
        let cells = rows.iter().map(|shown| match shown {
            OutputRow::Row(row) => cell(row),
            OutputRow::LeftOut(rows) => gap(*rows),
        });
        cells.collect::<Vec<Cell>>()
    };
    let nothing = |_: usize| Cell::from("");
    let base = heading("base", code.base_run, pair.bytes.base);
    let candidate = heading("candidate", code.run, pair.bytes.candidate);
    Table::new(vec![
        Column::fact("", of(&label, &nothing)),
        Column::name(
            &base,
            of(&|row| instruction(row.base.as_ref(), ink(row)), &gap_cell),
        ),
        Column::fact(
            "",
            of(
                &|row| Cell::with_ink(TextRole::Differing, mark(row)),
                &nothing,
            ),
        ),
        Column::name(
            &candidate,
            of(
                &|row| instruction(row.candidate.as_ref(), ink(row)),
                &nothing,
            ),
        ),
    ])
}

/// Returns the line above the code of [`unified_table`], which names the sides. If the sides differ, it also explains the marks of the rows.
fn describe_marks(code: &MachineCode, pair: &MachineCodePair, shape: CodeArrangement) -> String {
    let base = heading("base", code.base_run, pair.bytes.base);
    let candidate = heading("candidate", code.run, pair.bytes.candidate);
    match (pair.bytes.base, pair.bytes.candidate) {
        (Some(_), None) => base,
        (None, _) => candidate,
        (Some(_), Some(_)) if shape == CodeArrangement::One => format!("{base}; {candidate}"),
        (Some(_), Some(_)) => format!("- {base}; + {candidate}"),
    }
}

/// Returns a table in a single column. Where the sides differ, it has the rows of the base and below them those of the candidate, marked as in
/// `diff --unified`.
fn unified_table(rows: &[OutputRow<'_>], shape: CodeArrangement) -> Table {
    let (mut marks, mut labels, mut lines) = (Vec::new(), Vec::new(), Vec::new());
    let mut put = |mark: &str, label: Cell, line: Cell| {
        marks.push(Cell::with_ink(TextRole::Differing, mark));
        labels.push(label);
        lines.push(line);
    };
    let mut rest = rows;
    while let Some((first, others)) = rest.split_first() {
        match first {
            OutputRow::LeftOut(rows) => put("", Cell::from(""), gap_cell(*rows)),
            OutputRow::Row(row) if shape == CodeArrangement::One || !row.differs => {
                let text = row.candidate.as_ref().or(row.base.as_ref());
                put("", label(row), instruction(text, TextRole::Plain));
            }
            OutputRow::Row(_) => {
                let differ =
                    |shown: &&OutputRow<'_>| matches!(shown, OutputRow::Row(row) if row.differs);
                let count = rest.iter().take_while(differ).count();
                let (block, behind) = rest.split_at(count);
                for mark in ["-", "+"] {
                    for shown in block {
                        let OutputRow::Row(row) = shown else { continue };
                        let text = if mark == "-" {
                            &row.base
                        } else {
                            &row.candidate
                        };
                        if text.is_some() {
                            let line = instruction(text.as_ref(), TextRole::Differing);
                            put(mark, label(row), line);
                        }
                    }
                }
                rest = behind;
                continue;
            }
        }
        rest = others;
    }
    Table::new(vec![
        Column::fact("", marks),
        Column::fact("", labels),
        Column::name("", lines),
    ])
}

/// Returns sentences that summarize how the sides differ.
fn summarize(code: &MachineCode) -> Vec<String> {
    let mut notes = Vec::new();
    let rows = || code.pairs.iter().flat_map(|pair| &pair.rows);
    let differing = rows().filter(|row| row.differs).count();
    for pair in &code.pairs {
        let lacks = |run| match code.same_functions {
            0 => format!("Run {run} does not have this function."),
            _ => format!("Run {run} does not have all of these functions."),
        };
        match (pair.bytes.base, pair.bytes.candidate) {
            (None, _) => notes.push(lacks(code.base_run)),
            (_, None) => notes.push(lacks(code.run)),
            _ => {}
        }
    }
    notes.dedup();
    if differing == 0 {
        notes.push("The instructions are the same on both sides.".to_owned());
    } else if notes.is_empty() {
        let all = rows().count();
        let verb = if differing == 1 { "differs" } else { "differ" };
        notes.push(format!(
            "{differing} of {} {verb}.",
            units::counted(all, "row")
        ));
    }
    if code.data_differ {
        notes.push("The function uses data that differ or may differ.".to_owned());
    }
    if let more @ 1.. = code.same_functions {
        let functions = units::counted(more, "other function");
        let verb = if more == 1 { "is" } else { "are" };
        notes.push(format!(
            "{functions} with this name {verb} the same on both sides."
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::terminal::strip_colors;
    use perfcheck_analysis::model::{BenchmarkKey, BySide, RunId};

    fn row(label: Option<usize>, base: &str, candidate: &str) -> MachineCodeRow {
        let side = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        MachineCodeRow {
            label,
            base: side(base),
            candidate: side(candidate),
            differs: base != candidate,
        }
    }

    fn same(count: usize) -> Vec<MachineCodeRow> {
        let rows = (0..count).map(|at| format!("add rax, {at}"));
        rows.map(|text| row(None, &text, &text)).collect()
    }

    fn code(pairs: Vec<MachineCodePair>) -> MachineCode {
        MachineCode {
            run: RunId(2),
            base_run: RunId(1),
            benchmark: BenchmarkKey {
                package: "planted".into(),
                target: "costs".into(),
                id: "work/10".into(),
            },
            function: "planted::work".into(),
            pairs,
            same_functions: 0,
            data_differ: false,
        }
    }

    fn changed() -> MachineCode {
        let rows = vec![
            row(None, "xor eax, eax", "xor eax, eax"),
            row(Some(1), "lea rax, [rax+rax*2]", "lea rax, [rax+rax*4]"),
            row(None, "", "call planted::with_a_name_that_is_long"),
            row(None, "xor rax, rcx", ""),
            row(None, "jne L1", "jne L1"),
        ];
        code(vec![MachineCodePair {
            bytes: BySide {
                base: Some(31),
                candidate: Some(35),
            },
            rows,
        }])
    }

    fn shown(code: &MachineCode, whole: CodeExtent, columns: usize) -> String {
        let mut bytes = Vec::new();
        write_machine_code(&mut bytes, code, whole, columns, MessageFormat::Human)
            .expect("memory takes everything");
        String::from_utf8(strip_colors(&bytes)).expect("text")
    }

    #[test]
    fn both_sides_stand_beside_one_another_where_there_is_room() {
        insta::assert_snapshot!(shown(&changed(), CodeExtent::Differences, 100), @"
        planted/costs work/10: planted::work

            base: run 1, 31 bytes     candidate: run 2, 35 bytes
            xor eax, eax              xor eax, eax
        L1  lea rax, [rax+rax*2]   |  lea rax, [rax+rax*4]
                                   >  call planted::with_a_name_that_is_long
            xor rax, rcx           <
            jne L1                    jne L1

        3 of 5 rows differ.
        ");
    }

    #[test]
    fn in_a_narrow_terminal_one_side_stands_below_the_other() {
        insta::assert_snapshot!(shown(&changed(), CodeExtent::Differences, 60), @"
        planted/costs work/10: planted::work

        - base: run 1, 31 bytes; + candidate: run 2, 35 bytes
               xor eax, eax
        -  L1  lea rax, [rax+rax*2]
        -      xor rax, rcx
        +  L1  lea rax, [rax+rax*4]
        +      call planted::with_a_name_that_is_long
               jne L1

        3 of 5 rows differ.
        ");
        for columns in [20, 40, 60, 80, 100, 120] {
            for line in shown(&changed(), CodeExtent::Whole, columns).lines() {
                let is_head = line.contains("planted") || line.contains("run");
                assert!(
                    is_head || units::width(line) <= columns,
                    "{columns}: {line}"
                );
            }
        }
    }

    #[test]
    fn long_stretches_that_are_the_same_are_left_out_unless_everything_is_wanted() {
        let mut rows = same(30);
        rows.push(row(None, "ret", "int3"));
        rows.extend(same(10));
        let pair = MachineCodePair {
            bytes: BySide {
                base: Some(200),
                candidate: Some(200),
            },
            rows,
        };
        let code = code(vec![pair]);
        let short = shown(&code, CodeExtent::Differences, 100);
        assert!(short.contains("… 22 identical rows"), "{short}");
        assert!(short.contains("… 2 identical rows"), "{short}");
        assert!(short.contains("1 of 41 rows differs."), "{short}");
        let whole = shown(&code, CodeExtent::Whole, 100);
        assert_eq!(whole.matches("add rax").count(), 2 * 40, "{whole}");
    }

    #[test]
    fn a_function_that_is_the_same_is_shown_once_and_so_is_one_of_one_side() {
        let pair = |base, candidate, rows| MachineCodePair {
            bytes: BySide { base, candidate },
            rows,
        };
        let mut both = code(vec![pair(Some(20), Some(20), same(40))]);
        both.same_functions = 2;
        both.data_differ = true;
        let text = shown(&both, CodeExtent::Differences, 200);
        assert_eq!(text.matches("add rax").count(), 40, "{text}");
        for line in [
            "base: run 1, 20 bytes; candidate: run 2, 20 bytes",
            "The instructions are the same on both sides.",
            "The function uses data that differ or may differ.",
            "2 other functions with this name are the same on both sides.",
        ] {
            assert!(text.contains(line), "{text}");
        }
        let rows = vec![row(None, "", "ret")];
        let text = shown(
            &code(vec![pair(None, Some(1), rows)]),
            CodeExtent::Whole,
            200,
        );
        assert!(
            text.contains("Run 1 does not have this function."),
            "{text}"
        );
        assert!(!text.contains('>') && !text.contains('+'), "{text}");
    }
}
