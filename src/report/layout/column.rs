//! Columns, before it is known which of them there is room for.

use super::cell::Cell;
use crate::report::units;

/// A name is not shortened to fewer columns than this.
const NARROWEST_NAME: usize = 10;
/// A longer word of a list may be shortened.
const LONGEST_WORD: usize = 15;
/// A longer word of a sentence may stand out of its column.
const WIDEST_WORD: usize = 24;
/// Names of rows have at least this room.
pub(super) const NARROWEST_ROW_NAME: usize = 12;
/// Names of rows that are longer than this do not push columns out: they have a line of their own.
const LONGEST_NAME_BESIDE: usize = 44;
/// Longer titles of sections have a line of their own, unless names are as long.
const LONGEST_TITLE_BESIDE: usize = 24;
/// So many of a hundred names of rows are to fit beside their numbers.
const NAMES_BESIDE: usize = 80;

/// What may be done with the cells of a column where there is little room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// They stay whole, to the right.
    Number,
    /// They stay whole, to the left.
    Fact,
    /// They are shortened in their middle.
    Name,
    /// They take several lines, broken between words, of which long ones are shortened.
    Words,
    /// They take several lines, broken between words, all of them whole.
    Prose,
    /// They are never cut off: one that is too long has a line of its own above its row.
    RowName,
}

/// A column: what stands above it, a cell for each row, and what may be done with it.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(super) kind: Kind,
    /// All forms that it may have, the widest first: only drawings have several.
    pub(super) forms: Vec<ColumnForm>,
    /// How soon it is left out where nothing else helps; 0: never.
    pub(super) dispensable: u8,
    at_least: usize,
}

/// Heading and cells of a column.
#[derive(Debug, Clone)]
pub(super) struct ColumnForm {
    /// A cell for each line of the heading.
    pub(super) heading: Vec<Cell>,
    pub(super) cells: Vec<Cell>,
}

/// How much room a column wants.
#[derive(Debug, Clone, Copy)]
pub(super) struct ColumnRoom {
    /// Everything is whole on one line.
    pub(super) wanted: usize,
    /// It does not want others to be left out for more than this.
    pub(super) fair: usize,
    /// What it needs.
    pub(super) least: usize,
}

impl Column {
    /// Numbers: whole, to the right.
    pub(crate) fn number<C: Into<Cell>>(heading: &str, cells: impl IntoIterator<Item = C>) -> Self {
        Self::new(Kind::Number, heading, cells)
    }

    /// Dates, hashes, verdicts: whole, to the left.
    pub(crate) fn fact<C: Into<Cell>>(heading: &str, cells: impl IntoIterator<Item = C>) -> Self {
        Self::new(Kind::Fact, heading, cells)
    }

    /// Names: shortened in their middle.
    pub(crate) fn name<C: Into<Cell>>(heading: &str, cells: impl IntoIterator<Item = C>) -> Self {
        Self::new(Kind::Name, heading, cells)
    }

    /// Lists of words: on several lines, long words shortened.
    pub(crate) fn words<C: Into<Cell>>(heading: &str, cells: impl IntoIterator<Item = C>) -> Self {
        Self::new(Kind::Words, heading, cells)
    }

    /// Sentences: on several lines, words whole.
    pub(crate) fn prose<C: Into<Cell>>(heading: &str, cells: impl IntoIterator<Item = C>) -> Self {
        Self::new(Kind::Prose, heading, cells)
    }

    /// What rows are called; stands before all other columns.
    pub(super) fn row_names(cells: Vec<Cell>) -> Self {
        Self::new(Kind::RowName, "", cells)
    }

    /// Drawings with their heading, the widest first; `None` where there is none.
    pub(crate) fn drawn(drawings: Vec<Self>) -> Option<Self> {
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

    /// Puts the column below another heading, a cell for each of its lines.
    pub(crate) fn headed(mut self, heading: &[Cell]) -> Self {
        for form in &mut self.forms {
            form.heading = heading.to_vec();
        }
        self
    }

    /// To be left out where there is no room for it; a higher number sooner. From 4 on it is left out before anything becomes narrower.
    pub(crate) fn dispensable(self, dispensable: u8) -> Self {
        Self {
            dispensable,
            ..self
        }
    }

    /// Takes so many columns at least, so that several tables are aligned.
    pub(crate) fn at_least(self, at_least: usize) -> Self {
        Self { at_least, ..self }
    }

    /// Has room for titles above its cells, unless they are very long.
    pub(super) fn below(&mut self, titles: impl Iterator<Item = usize>) {
        let longest = titles.max().unwrap_or(0).min(LONGEST_TITLE_BESIDE);
        self.at_least = self.at_least.max(longest);
    }

    /// Its cells in their widest form.
    pub(super) fn cells(&self) -> &[Cell] {
        &self.forms[0].cells
    }

    /// Whether there is anything in it for readers. A table without rows shows what it would be about.
    pub(super) fn says_something(&self) -> bool {
        self.cells().is_empty() || self.cells().iter().any(|cell| !cell.is_empty())
    }

    pub(super) fn extent(&self) -> ColumnRoom {
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

    /// The room that most names of rows need.
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
    /// The columns that its marks take, with the blank before them.
    pub(super) fn mark_width(&self) -> usize {
        let marks = self.cells.iter().map(Cell::mark_width);
        match marks.max().unwrap_or(0) {
            0 => 0,
            width => width + 1,
        }
    }

    /// The columns that it takes where everything is whole.
    pub(super) fn width(&self) -> usize {
        let cells = self.cells.iter().map(Cell::width);
        let cells = cells.max().unwrap_or(0) + self.mark_width();
        cells.max(self.heading_width())
    }

    fn heading_width(&self) -> usize {
        self.heading.iter().map(Cell::width).max().unwrap_or(0)
    }
}

/// The lines that a cell takes in so many columns.
pub(super) fn lines(kind: Kind, cell: &Cell, width: usize) -> Vec<String> {
    match kind {
        Kind::Number | Kind::Fact | Kind::RowName => vec![cell.shown()],
        Kind::Name => vec![cell.shortened(width)],
        Kind::Words => cell.folded(width, width),
        Kind::Prose => cell.folded(width, usize::MAX),
    }
}

/// `text` with blanks up to so many columns, on the side that its kind asks for.
pub(super) fn padded(kind: Kind, text: &str, width: usize) -> String {
    let blank = " ".repeat(width.saturating_sub(units::width(text)));
    match kind {
        Kind::Number => blank + text,
        _ => text.to_owned() + &blank,
    }
}
