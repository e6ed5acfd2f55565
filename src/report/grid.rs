//! Plain grids of text: as aligned columns, as a Markdown table, as CSV.
//!
//! A cell may hold whatever a benchmark is called. Each form makes it harmless for its reader: nothing that a terminal obeys, no
//! markup, no formula that a spreadsheet would run.

use std::io::{self, Write};

use super::theme;
use super::units;
use crate::escape;

/// Between two columns.
const GAP: usize = 2;
/// A label is shortened to this, no further, so that all values stand beside it.
const READABLE_LABEL: usize = 24;
/// It is not shortened to less for a single one.
const NARROWEST_LABEL: usize = 12;

/// How a grid is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableFormat {
    /// Aligned columns.
    Text,
    /// A table of GitHub's Markdown.
    Markdown,
    /// Comma-separated values (RFC 4180), numbers exact.
    Csv,
}

/// A cell: text, or a number with its text for people.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum GridCell {
    /// Words.
    Text(String),
    /// A number, and how people read it.
    Number(f64, String),
    /// There is no value.
    Nothing,
}

/// A heading and rows of equal length. The first `labels` columns name their row, the others hold values.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Grid {
    pub(super) labels: usize,
    pub(super) heading: Vec<String>,
    pub(super) rows: Vec<Vec<GridCell>>,
}

impl Grid {
    /// Writes it; as text in blocks of so many columns.
    pub(super) fn write(
        &self,
        writer: &mut dyn Write,
        format: TableFormat,
        columns: usize,
    ) -> io::Result<()> {
        match format {
            TableFormat::Text => self.write_text(writer, columns),
            TableFormat::Markdown => self.write_markdown(writer),
            TableFormat::Csv => self.write_csv(writer),
        }
    }

    fn write_text(&self, writer: &mut dyn Write, columns: usize) -> io::Result<()> {
        let mut lines: Vec<Vec<String>> = std::iter::once(&self.heading)
            .map(|heading| {
                heading
                    .iter()
                    .map(|text| units::on_one_line(text))
                    .collect()
            })
            .chain(
                self.rows
                    .iter()
                    .map(|row| row.iter().map(for_terminal).collect()),
            )
            .collect();
        self.shorten_labels(&mut lines, columns);
        let widths = units::widths(&lines);
        let blocks = folded(&widths, self.labels, columns);
        for (index, block) in blocks.iter().enumerate() {
            if index > 0 {
                writeln!(writer)?;
            }
            for (number, line) in lines.iter().enumerate() {
                let cells = block.iter().map(|at| {
                    let right = *at >= self.labels;
                    units::padded(&line[*at], widths[*at], right)
                });
                let text = cells.collect::<Vec<_>>().join("  ");
                let text = text.trim_end();
                if number == 0 {
                    writeln!(writer, "{}", theme::faint(text))?;
                } else {
                    writeln!(writer, "{text}")?;
                }
            }
        }
        Ok(())
    }

    /// Shortens labels in their middle where they leave no place for values.
    fn shorten_labels(&self, lines: &mut [Vec<String>], columns: usize) {
        let widths = units::widths(lines);
        let (labels, values) = widths.split_at(self.labels.min(widths.len()));
        let Some(longest) = labels.iter().max() else {
            return;
        };
        // Each of several labels has its part.
        let each = label_beside(
            *longest * labels.len() + GAP * (labels.len() - 1),
            values,
            columns,
        );
        let each = (each + GAP) / labels.len() - GAP;
        for line in lines {
            for label in line.iter_mut().take(labels.len()) {
                *label = units::in_the_middle(label, each);
            }
        }
    }

    fn write_markdown(&self, writer: &mut dyn Write) -> io::Result<()> {
        let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
        let heading = self.heading.iter().map(|text| escape::markdown(text));
        writeln!(writer, "{}", line(heading.collect()))?;
        let rule = (0..self.heading.len()).map(|at| if at < self.labels { ":--" } else { "--:" });
        writeln!(writer, "{}", line(rule.map(str::to_owned).collect()))?;
        for row in &self.rows {
            let cells = row.iter().map(|cell| match cell {
                GridCell::Text(text) | GridCell::Number(_, text) => {
                    escape::markdown(text.trim_end())
                }
                GridCell::Nothing => "-".to_owned(),
            });
            writeln!(writer, "{}", line(cells.collect()))?;
        }
        Ok(())
    }

    fn write_csv(&self, writer: &mut dyn Write) -> io::Result<()> {
        let heading: Vec<String> = self
            .heading
            .iter()
            .map(|text| escape::csv_cell(text))
            .collect();
        // The line ends of the standard.
        write!(writer, "{}\r\n", heading.join(","))?;
        for row in &self.rows {
            let cells: Vec<String> = row
                .iter()
                .map(|cell| match cell {
                    GridCell::Text(text) => escape::csv_cell(text),
                    GridCell::Number(value, _) => value.to_string(),
                    GridCell::Nothing => String::new(),
                })
                .collect();
            write!(writer, "{}\r\n", cells.join(","))?;
        }
        Ok(())
    }
}

fn for_terminal(cell: &GridCell) -> String {
    match cell {
        GridCell::Text(text) | GridCell::Number(_, text) => units::on_one_line(text),
        GridCell::Nothing => "-".to_owned(),
    }
}

/// The room for a label of so many columns: beside all values where it stays readable, else beside the widest.
pub(super) fn label_beside(label: usize, values: &[usize], room: usize) -> usize {
    let all: usize = values.iter().map(|width| width + GAP).sum();
    let beside_all = room.saturating_sub(all);
    if beside_all >= label.min(READABLE_LABEL) {
        return label.min(beside_all);
    }
    let widest = values.iter().max().map_or(0, |width| width + GAP);
    label.min(room.saturating_sub(widest).max(NARROWEST_LABEL))
}

/// The columns in blocks that fit into `room`, each with all labels and at least one value.
pub(super) fn folded(widths: &[usize], labels: usize, room: usize) -> Vec<Vec<usize>> {
    let labels = labels.min(widths.len());
    let taken: usize = widths[..labels].iter().map(|width| width + GAP).sum();
    let mut blocks: Vec<Vec<usize>> = Vec::new();
    let mut used = 0_usize;
    for (at, width) in widths.iter().enumerate().skip(labels) {
        // The last column needs no gap behind it.
        if blocks.is_empty() || used.saturating_add(*width) > room {
            blocks.push((0..labels).collect());
            used = taken;
        }
        if let Some(block) = blocks.last_mut() {
            block.push(at);
        }
        used = used.saturating_add(width + GAP);
    }
    if blocks.is_empty() {
        blocks.push((0..labels).collect());
    }
    blocks
}

/// What was written for a terminal, without its colours: for files.
pub fn without_colours(bytes: &[u8]) -> Vec<u8> {
    anstream::adapter::strip_bytes(bytes).into_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Grid {
        let text = |text: &str| GridCell::Text(text.to_owned());
        Grid {
            labels: 1,
            heading: vec!["name".into(), "a|b".into(), "c".into()],
            rows: vec![
                vec![
                    text("x"),
                    GridCell::Number(1.25, "1.250 ns".into()),
                    GridCell::Nothing,
                ],
                vec![
                    text("=cmd()"),
                    GridCell::Number(-2.0, "−2".into()),
                    text("[a](http://b)"),
                ],
            ],
        }
    }

    fn written(format: TableFormat) -> String {
        let mut bytes = Vec::new();
        grid().write(&mut bytes, format, usize::MAX).unwrap();
        String::from_utf8(without_colours(&bytes)).unwrap()
    }

    #[test]
    fn text_is_aligned_labels_to_the_left_and_values_to_the_right() {
        assert_eq!(
            written(TableFormat::Text),
            "name         a|b              c\nx       1.250 ns              -\n=cmd()        −2  [a](http://b)\n"
        );
    }

    #[test]
    fn markdown_holds_no_markup_of_its_cells() {
        assert_eq!(
            written(TableFormat::Markdown),
            "| name | a\\|b | c |\n| :-- | --: | --: |\n| x | 1.250 ns | - |\n| =cmd() | −2 | \\[a\\](http:&#8203;//b) |\n"
        );
    }

    #[test]
    fn csv_holds_exact_numbers_and_no_formulas() {
        assert_eq!(
            written(TableFormat::Csv),
            "name,a|b,c\r\nx,1.25,\r\n\"'=cmd()\",-2,[a](http://b)\r\n"
        );
    }

    #[test]
    fn columns_that_do_not_fit_go_into_further_blocks_with_all_labels() {
        assert_eq!(folded(&[10, 20, 20, 20], 1, 80), [[0, 1, 2, 3]]);
        // 10 + 2 + 20 + 2 + 20 + 2 + 20 = 76
        assert_eq!(folded(&[10, 20, 20, 20], 1, 76), [[0, 1, 2, 3]]);
        assert_eq!(
            folded(&[10, 20, 20, 20], 1, 75),
            [vec![0, 1, 2], vec![0, 3]]
        );
        assert_eq!(folded(&[90, 20, 20], 1, 80), [[0, 1], [0, 2]]);
        assert_eq!(folded(&[10], 1, 80), [[0]]);
    }
}
