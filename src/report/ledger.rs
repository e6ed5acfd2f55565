//! Lists as columns that fit: names are shortened in the middle, lists of words take several lines, numbers and dates stay whole.
//!
//! Pure layout: knows neither what is listed nor what a terminal is.

use std::io::{self, Write};

use super::{theme, units};

/// Between two columns.
const GAP: usize = 2;
/// A name is not shortened to fewer columns than this.
const NARROWEST_NAME: usize = 10;
/// A longer word of a list may be shortened.
const LONGEST_WORD: usize = 15;
/// Columns that are left out before anything is narrowed: from this number on.
const LEFT_OUT_FIRST: u8 = 4;
/// Keeps words of a list on one line; readers get a blank.
pub(super) const NO_BREAK: char = '\u{a0}';

/// What is done with the cells of a column where there is little room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Stays whole, to the right.
    Number,
    /// Stays whole, to the left.
    Fact,
    /// Is shortened in its middle.
    Name,
    /// Takes several lines, broken between words.
    Words,
}

/// A column: what stands above it, and what may be done with it.
#[derive(Debug, Clone)]
pub(super) struct Heading {
    text: String,
    kind: Kind,
    /// How soon it is left out where nothing else helps; 0: never.
    dispensable: u8,
}

impl Heading {
    fn new(text: &str, kind: Kind) -> Self {
        Self {
            text: text.to_owned(),
            kind,
            dispensable: 0,
        }
    }

    /// Numbers: whole, to the right.
    pub(super) fn number(text: &str) -> Self {
        Self::new(text, Kind::Number)
    }

    /// Dates, hashes, pictures: whole, to the left.
    pub(super) fn fact(text: &str) -> Self {
        Self::new(text, Kind::Fact)
    }

    /// Names: shortened in the middle.
    pub(super) fn name(text: &str) -> Self {
        Self::new(text, Kind::Name)
    }

    /// Words: on several lines.
    pub(super) fn words(text: &str) -> Self {
        Self::new(text, Kind::Words)
    }

    /// To be left out where there is no room for it; a higher number sooner.
    pub(super) fn dispensable(self, dispensable: u8) -> Self {
        Self {
            dispensable,
            ..self
        }
    }

    /// The room that it wants for `cells`, and the room that it needs at least.
    fn widths<'c>(&self, cells: impl Iterator<Item = &'c String>) -> (usize, usize) {
        let heading = units::width(&self.text);
        let (mut wanted, mut least) = (heading, heading);
        for cell in cells {
            let width = units::width(cell);
            wanted = wanted.max(width);
            least = least.max(match self.kind {
                Kind::Number | Kind::Fact => width,
                Kind::Name => width.min(NARROWEST_NAME),
                Kind::Words => {
                    let words = cell.split(' ').map(units::width);
                    words.max().unwrap_or(0).min(LONGEST_WORD)
                }
            });
        }
        (wanted, least)
    }

    /// The lines of a cell in so many columns.
    fn lines(&self, cell: &str, width: usize) -> Vec<String> {
        match self.kind {
            Kind::Number | Kind::Fact => vec![cell.to_owned()],
            Kind::Name => vec![units::in_the_middle(cell, width)],
            Kind::Words => folded(cell, width),
        }
    }
}

/// Words in lines of so many columns; a word that is longer is shortened.
fn folded(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let word = units::in_the_middle(word, width);
        match lines.last_mut() {
            Some(line) if units::width(line) + 1 + units::width(&word) <= width => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    for line in &mut lines {
        *line = line.replace(NO_BREAK, " ");
    }
    lines
}

/// Writes `rows`, whose cells have no line ends, below `headings`. A column without any text is left out.
pub(super) fn write_ledger(
    writer: &mut dyn Write,
    headings: &[Heading],
    rows: &[Vec<String>],
    columns: usize,
) -> io::Result<()> {
    let widths: Vec<(usize, usize)> = headings
        .iter()
        .enumerate()
        .map(|(at, heading)| heading.widths(rows.iter().map(|row| &row[at])))
        .collect();
    let told = |at: &usize| rows.is_empty() || rows.iter().any(|row| !row[*at].is_empty());
    let shown: Vec<usize> = (0..headings.len()).filter(told).collect();
    let layout = fitted(headings, &widths, shown, columns);
    let above = layout.iter().map(|(at, width)| {
        let text = &headings[*at].text;
        let right = headings[*at].kind == Kind::Number;
        let plain = units::padded(text, *width, right);
        // Blanks have no colour, so that none are kept at the end of a line.
        plain.replace(text.as_str(), &theme::faint(text))
    });
    write_line(writer, above)?;
    for row in rows {
        let cells: Vec<Vec<String>> = layout
            .iter()
            .map(|(at, width)| headings[*at].lines(&row[*at], *width))
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        for line in 0..height {
            let parts = layout.iter().zip(&cells).map(|((at, width), lines)| {
                let text = lines.get(line).map_or("", String::as_str);
                let blank = " ".repeat(width.saturating_sub(units::width(text)));
                match headings[*at].kind {
                    Kind::Number => blank + text,
                    _ => text.to_owned() + &blank,
                }
            });
            write_line(writer, parts)?;
        }
    }
    Ok(())
}

fn write_line(writer: &mut dyn Write, parts: impl Iterator<Item = String>) -> io::Result<()> {
    let line = parts.collect::<Vec<_>>().join(&" ".repeat(GAP));
    writeln!(writer, "{}", line.trim_end())
}

/// The columns that fit, by their places, and their widths: first some are narrowed, the widest most, then some are left out.
fn fitted(
    headings: &[Heading],
    widths: &[(usize, usize)],
    mut shown: Vec<usize>,
    columns: usize,
) -> Vec<(usize, usize)> {
    let taken = |widths: &mut dyn Iterator<Item = usize>| -> usize {
        widths
            .map(|width| width + GAP)
            .sum::<usize>()
            .saturating_sub(GAP)
    };
    if taken(&mut shown.iter().map(|at| widths[*at].0)) > columns {
        shown.retain(|at| headings[*at].dispensable < LEFT_OUT_FIRST);
    }
    while taken(&mut shown.iter().map(|at| widths[*at].1)) > columns {
        let soonest = shown.iter().map(|at| headings[*at].dispensable).max();
        let Some(soonest) = soonest.filter(|dispensable| *dispensable > 0) else {
            break;
        };
        shown.retain(|at| headings[*at].dispensable < soonest);
    }
    let mut layout: Vec<(usize, usize)> = shown.iter().map(|at| (*at, widths[*at].0)).collect();
    while taken(&mut layout.iter().map(|(_, width)| *width)) > columns {
        let widest = layout
            .iter_mut()
            .filter(|(at, width)| *width > widths[*at].1)
            .max_by_key(|(_, width)| *width);
        let Some((_, width)) = widest else {
            break;
        };
        *width -= 1;
    }
    layout
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(columns: usize) -> String {
        let headings = [
            Heading::number("run"),
            Heading::fact("when"),
            Heading::name("branch").dispensable(1),
            Heading::fact("empty"),
            Heading::words("verdicts"),
        ];
        let rows = [
            [
                "7",
                "2026-11-21",
                "feature/a-long-name-of-a-branch",
                "",
                "2\u{a0}regressed, 1\u{a0}new",
            ],
            ["12", "2026-11-22", "main", "", "3\u{a0}new"],
        ];
        let rows: Vec<Vec<String>> = rows
            .iter()
            .map(|row| row.map(str::to_owned).to_vec())
            .collect();
        let mut bytes = Vec::new();
        write_ledger(&mut bytes, &headings, &rows, columns).expect("memory takes everything");
        let text = String::from_utf8(bytes).expect("text");
        anstream::adapter::strip_str(&text).to_string()
    }

    #[test]
    fn what_fits_is_whole_and_a_column_without_text_is_left_out() {
        insta::assert_snapshot!(written(usize::MAX), @r"
        run  when        branch                           verdicts
          7  2026-11-21  feature/a-long-name-of-a-branch  2 regressed, 1 new
         12  2026-11-22  main                             3 new
        ");
    }

    #[test]
    fn names_are_shortened_and_words_folded_but_numbers_and_dates_stay() {
        insta::assert_snapshot!(written(56), @r"
        run  when        branch               verdicts
          7  2026-11-21  feature/a-lo…branch  2 regressed, 1 new
         12  2026-11-22  main                 3 new
        ");
        insta::assert_snapshot!(written(45), @r"
        run  when        branch         verdicts
          7  2026-11-21  feature/…anch  2 regressed,
                                        1 new
         12  2026-11-22  main           3 new
        ");
    }

    #[test]
    fn where_that_is_not_enough_a_column_is_left_out() {
        insta::assert_snapshot!(written(40), @r"
        run  when        verdicts
          7  2026-11-21  2 regressed, 1 new
         12  2026-11-22  3 new
        ");
    }

    #[test]
    fn no_line_is_longer_than_the_terminal() {
        for columns in 31..90 {
            for line in written(columns).lines() {
                assert!(units::width(line) <= columns, "{columns}: {line}");
            }
        }
    }
}
