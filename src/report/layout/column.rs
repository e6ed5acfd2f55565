//! Columns before the layout decides which of them fit.

use super::cell::Cell;
use crate::report::units;

/// Minimum width to which a name is shortened.
const NARROWEST_NAME: usize = 10;
/// Words in lists are shortened if they are longer.
const LONGEST_WORD: usize = 15;
/// Words in sentences may exceed their column if they are longer.
const WIDEST_WORD: usize = 24;
/// Minimum width of row names.
pub(super) const NARROWEST_ROW_NAME: usize = 12;
/// Maximum width of row names that other columns make room for. Longer names get a line of their own.
const LONGEST_NAME_BESIDE: usize = 44;
/// Maximum width of a section title that the first column makes room for. Longer titles get a line of their own, unless row names are as long.
const LONGEST_TITLE_BESIDE: usize = 24;
/// Percentage of row names that should fit on the line of their numbers.
const NAMES_BESIDE: usize = 80;

/// The ways in which a column may become narrower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Never shortened, aligned to the right.
    Number,
    /// Never shortened, aligned to the left.
    Fact,
    /// Shortened in the middle.
    Name,
    /// Broken into several lines between words; long words are shortened.
    Words,
    /// Broken into several lines between words, which stay complete.
    Prose,
    /// Never shortened: a name that is too long gets a line of its own above its row.
    RowName,
}

/// A column: its heading, a cell for each row, and the way in which it may become narrower.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(super) kind: Kind,
    /// All forms of the column, the widest first. Only drawings have more than one.
    pub(super) forms: Vec<ColumnForm>,
    /// Order in which columns are left out if nothing else helps: higher numbers first, and 0 never.
    pub(super) dispensable: u8,
    at_least: usize,
}

/// The heading and the cells of a column.
#[derive(Debug, Clone)]
pub(super) struct ColumnForm {
    /// A cell for each line of the heading.
    pub(super) heading: Vec<Cell>,
    pub(super) cells: Vec<Cell>,
}

/// The widths that a column asks for.
#[derive(Debug, Clone, Copy)]
pub(super) struct ColumnRoom {
    /// Width with which everything is complete on one line.
    pub(super) wanted: usize,
    /// Width for which columns with a high `dispensable` number are left out.
    pub(super) fair: usize,
    /// Minimum width.
    pub(super) least: usize,
}

impl Column {
    /// Creates a column of numbers, which are never shortened, aligned to the right.
    pub(crate) fn number<C: Into<Cell>>(heading: &str, cells: impl IntoIterator<Item = C>) -> Self {
        Self::new(Kind::Number, heading, cells)
    }

    /// Creates a column of dates, hashes or verdicts, which are never shortened, aligned to the left.
    pub(crate) fn fact<C: Into<Cell>>(heading: &str, cells: impl IntoIterator<Item = C>) -> Self {
        Self::new(Kind::Fact, heading, cells)
    }

    /// Creates a column of names, which may be shortened in the middle.
    pub(crate) fn name<C: Into<Cell>>(heading: &str, cells: impl IntoIterator<Item = C>) -> Self {
        Self::new(Kind::Name, heading, cells)
    }

    /// Creates a column of word lists, which may be broken into lines; long words are shortened.
    pub(crate) fn words<C: Into<Cell>>(heading: &str, cells: impl IntoIterator<Item = C>) -> Self {
        Self::new(Kind::Words, heading, cells)
    }

    /// Creates a column of sentences, which may be broken into lines; words stay complete.
    pub(crate) fn prose<C: Into<Cell>>(heading: &str, cells: impl IntoIterator<Item = C>) -> Self {
        Self::new(Kind::Prose, heading, cells)
    }

    /// Creates the column of row names, which is the first one.
    pub(super) fn row_names(cells: Vec<Cell>) -> Self {
        Self::new(Kind::RowName, "", cells)
    }

    /// Combines several widths of a drawing, the widest first, into one column; `None` without drawings.
    pub(crate) fn from_drawings(drawings: Vec<Self>) -> Option<Self> {
        let mut drawings = drawings.into_iter();
        let mut widest = drawings.next()?;
        widest
            .forms
            .extend(drawings.flat_map(|narrower| narrower.forms));
        Some(widest)
    }

    fn new<C: Into<Cell>>(kind: Kind, heading: &str, cells: impl IntoIterator<Item = C>) -> Self {
        let form = ColumnForm {
            heading: vec![Cell::faint(heading)],
            cells: cells.into_iter().map(Into::into).collect(),
        };
        Self {
            kind,
            forms: vec![form],
            dispensable: 0,
            at_least: 0,
        }
    }

    /// Replaces the heading, with a cell for each of its lines.
    pub(crate) fn with_heading(mut self, heading: &[Cell]) -> Self {
        for form in &mut self.forms {
            form.heading = heading.to_vec();
        }
        self
    }

    /// Allows the column to be left out: columns with higher numbers first. Those with 4 or more are left out before any column is narrowed.
    pub(crate) fn dispensable(self, dispensable: u8) -> Self {
        Self {
            dispensable,
            ..self
        }
    }

    /// Sets a minimum width, which aligns several tables with each other.
    pub(crate) fn with_min_width(self, at_least: usize) -> Self {
        Self { at_least, ..self }
    }

    /// Makes room for section titles above the cells, except for very long ones.
    pub(super) fn make_room_for_titles(&mut self, titles: impl Iterator<Item = usize>) {
        let longest = titles.max().unwrap_or(0).min(LONGEST_TITLE_BESIDE);
        self.at_least = self.at_least.max(longest);
    }

    /// Returns the cells in their widest form.
    pub(super) fn cells(&self) -> &[Cell] {
        &self.forms[0].cells
    }

    /// Reports whether the column has any content. A table without rows keeps all columns, to show what it would contain.
    pub(super) fn has_content(&self) -> bool {
        self.cells().is_empty() || self.cells().iter().any(|cell| !cell.is_empty())
    }

    pub(super) fn room(&self) -> ColumnRoom {
        let wanted = self.forms[0].width().max(self.at_least);
        let least = |of: &dyn Fn(&Cell) -> usize| {
            let cells = self.cells().iter().map(of);
            let least = cells.max().unwrap_or(0);
            least.max(self.forms[0].heading_width()).max(self.at_least)
        };
        let (fair, least) = match self.kind {
            Kind::RowName => {
                let wanted = wanted.max(NARROWEST_ROW_NAME);
                let fair = self.fair_row_name();
                return ColumnRoom {
                    wanted,
                    fair,
                    least: fair,
                };
            }
            Kind::Number | Kind::Fact => {
                let narrowest = self.forms.last().map_or(wanted, ColumnForm::width);
                (wanted, narrowest.max(self.at_least))
            }
            Kind::Name => (wanted, least(&|cell| cell.width().min(NARROWEST_NAME))),
            Kind::Words => (wanted, least(&|cell| cell.longest_word().min(LONGEST_WORD))),
            Kind::Prose => (wanted, least(&|cell| cell.longest_word().min(WIDEST_WORD))),
        };
        ColumnRoom {
            wanted,
            fair,
            least,
        }
    }

    /// Returns the width that most row names need.
    fn fair_row_name(&self) -> usize {
        let mut widths: Vec<usize> = self.cells().iter().map(Cell::width).collect();
        widths.sort_unstable();
        let last = widths.len().saturating_sub(1);
        let most = widths.get((widths.len() * NAMES_BESIDE / 100).min(last));
        let most = most.copied().unwrap_or(0);
        most.clamp(NARROWEST_ROW_NAME, LONGEST_NAME_BESIDE)
    }
}

impl ColumnForm {
    /// Returns the width of the marks, with the blank before them.
    pub(super) fn mark_width(&self) -> usize {
        let marks = self.cells.iter().map(Cell::mark_width);
        match marks.max().unwrap_or(0) {
            0 => 0,
            width => width + 1,
        }
    }

    /// Returns the width with which everything is complete.
    pub(super) fn width(&self) -> usize {
        let cells = self.cells.iter().map(Cell::width);
        let cells = cells.max().unwrap_or(0) + self.mark_width();
        cells.max(self.heading_width())
    }

    fn heading_width(&self) -> usize {
        self.heading.iter().map(Cell::width).max().unwrap_or(0)
    }
}

/// Returns the lines of a cell at this width.
pub(super) fn cell_lines(kind: Kind, cell: &Cell, width: usize) -> Vec<String> {
    match kind {
        Kind::Number | Kind::Fact | Kind::RowName => vec![cell.colored_text()],
        Kind::Name => vec![cell.shortened(width)],
        Kind::Words => cell.folded(width, width),
        Kind::Prose => cell.folded(width, usize::MAX),
    }
}

/// Pads `text` with blanks to `width`; numbers are aligned to the right.
pub(super) fn pad(kind: Kind, text: &str, width: usize) -> String {
    let blank = " ".repeat(width.saturating_sub(units::width(text)));
    match kind {
        Kind::Number => blank + text,
        _ => text.to_owned() + &blank,
    }
}
