//! The columns of a table: which of them fit, how wide they are, and how they are divided into blocks if a table continues below.

use super::cell::Cell;
use crate::output::units;

/// Minimum width to which a name is shortened, in columns.
const NARROWEST_NAME: usize = 10;
/// Width that a word in a column of word lists always gets, in columns. Longer words may be shortened.
const LONGEST_WORD: usize = 15;
/// Width that a word in a column of sentences always gets, in columns. Longer words may be wider than their column.
const WIDEST_WORD: usize = 24;
/// Minimum width of row names.
pub(super) const NARROWEST_ROW_NAME: usize = 12;
/// Maximum width of row names for which other columns make room, in columns. A longer name gets a line of its own above its row.
const LONGEST_NAME_BESIDE: usize = 44;
/// Maximum width of a section title for which the first column makes room, in columns. A longer title gets a line of its own, unless row names are as
/// long.
const LONGEST_TITLE_BESIDE: usize = 24;
/// Percentage of row names that should fit on the same line as the numbers of their rows.
const NAMES_BESIDE: usize = 80;

/// What a column contains, which determines how it may become narrower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Numbers, which are never shortened and are aligned to the right.
    Number,
    /// Short facts such as dates and hashes, which are never shortened and are aligned to the left.
    Fact,
    /// Names, which may be shortened in the middle.
    Name,
    /// Lists of words, which may be broken into several lines. Long words are shortened.
    Words,
    /// Sentences, which may be broken into several lines. Words stay complete.
    Prose,
    /// Names of rows, which are never shortened. A name that is too long gets a line of its own above its row.
    RowName,
}

/// A column: its heading, a cell for each row, and the way in which it may become narrower.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(super) kind: Kind,
    /// The forms in which the column can be shown, the widest first. Only drawings have more than one form.
    pub(super) forms: Vec<ColumnForm>,
    /// How soon the column is left out if not all columns fit. Columns with the highest number are left out first. A column with 0 is never left out.
    pub(super) dispensable: u8,
    at_least: usize,
}

/// The heading and the cells of a column in one of its forms.
#[derive(Debug, Clone)]
pub(super) struct ColumnForm {
    /// A cell for each line of the heading.
    pub(super) heading: Vec<Cell>,
    pub(super) cells: Vec<Cell>,
}

/// The widths that a column asks for.
#[derive(Debug, Clone, Copy)]
pub(super) struct ColumnRoom {
    /// Width at which every cell is complete on one line.
    pub(super) wanted: usize,
    /// Width that the column should get. To make room for it, columns whose `dispensable` number is at least [`LEFT_OUT_FIRST`] are left out.
    pub(super) fair: usize,
    /// Minimum width, below which the column is not narrowed.
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

    /// Combines drawings of the same content in several widths into one column. `drawings` are ordered from the widest to the narrowest. Returns
    /// `None` if there are none.
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

    /// Replaces the heading by one that has a line for each of these cells.
    pub(crate) fn with_heading(mut self, heading: &[Cell]) -> Self {
        for form in &mut self.forms {
            form.heading = heading.to_vec();
        }
        self
    }

    /// Allows the column to be left out if not all columns fit. Columns with higher numbers are left out first. Those with 4 or more are left out
    /// before any column is narrowed.
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

    /// Widens the column so that section titles fit above its cells. Very long titles get no room. `titles` are the widths of the titles.
    pub(super) fn make_room_for_titles(&mut self, titles: impl Iterator<Item = usize>) {
        let longest = titles.max().unwrap_or(0).min(LONGEST_TITLE_BESIDE);
        self.at_least = self.at_least.max(longest);
    }

    /// Returns the cells of the widest form.
    pub(super) fn cells(&self) -> &[Cell] {
        &self.forms[0].cells
    }

    /// Returns true if any cell of the column has content. Also returns true for a table without rows, which keeps its columns to show what it would
    /// contain.
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

    /// Returns the width that most row names need, within the limits for names that are on the same line as their numbers.
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

    /// Returns the width at which every cell is complete.
    pub(super) fn width(&self) -> usize {
        let cells = self.cells.iter().map(Cell::width);
        let cells = cells.max().unwrap_or(0) + self.mark_width();
        cells.max(self.heading_width())
    }

    fn heading_width(&self) -> usize {
        self.heading.iter().map(Cell::width).max().unwrap_or(0)
    }
}

/// Returns the lines into which a cell of this kind is broken at this width.
pub(super) fn cell_lines(kind: Kind, cell: &Cell, width: usize) -> Vec<String> {
    match kind {
        Kind::Number | Kind::Fact | Kind::RowName => vec![cell.colored_text()],
        Kind::Name => vec![cell.shortened(width)],
        Kind::Words => cell.folded(width, width),
        Kind::Prose => cell.folded(width, usize::MAX),
    }
}

/// Pads `text` with blanks to `width`. Numbers get the blanks on the left, all others on the right.
pub(super) fn pad(kind: Kind, text: &str, width: usize) -> String {
    let blank = " ".repeat(width.saturating_sub(units::width(text)));
    match kind {
        Kind::Number => blank + text,
        _ => text.to_owned() + &blank,
    }
}

/// Number of blanks between two columns.
pub(super) const GAP: usize = 2;
/// Columns whose `dispensable` number is at least this are left out before any column is narrowed.
const LEFT_OUT_FIRST: u8 = 4;
/// Minimum total width to which labels (the first columns of a table) are shortened so that all values fit on the same line.
const READABLE_LABELS: usize = 24;
/// Minimum total width to which labels (the first columns of a table) are shortened so that at least one value fits on the same line.
const NARROWEST_LABELS: usize = 12;

/// Maximum width of row names that are on the same line as their numbers, even if lines are not broken.
const WIDEST_NAMES: usize = 160;

/// A column that is shown, in the form and with the width that were chosen for it.
pub(super) struct FittedColumn<'t> {
    pub(super) kind: Kind,
    pub(super) form: &'t ColumnForm,
    pub(super) width: usize,
    /// Width of the marks of the column, which is computed once for all rows.
    pub(super) mark_width: usize,
}

/// A column whose width is being determined.
struct Narrowed<'t> {
    column: &'t Column,
    extent: ColumnRoom,
    form: usize,
    width: usize,
}

impl<'t> Narrowed<'t> {
    fn new(column: &'t Column) -> Self {
        let extent = column.room();
        Self {
            column,
            extent,
            form: 0,
            width: match column.kind {
                Kind::RowName => extent.fair,
                _ => extent.wanted,
            },
        }
    }

    fn fitted(&self) -> FittedColumn<'t> {
        let form = &self.column.forms[self.form];
        FittedColumn {
            kind: self.column.kind,
            form,
            width: self.width,
            mark_width: form.mark_width(),
        }
    }
}

/// Chooses the columns that fit into `room` and their widths. Columns whose `dispensable` number is at least [`LEFT_OUT_FIRST`] are left out if all
/// others then need not be narrowed. Other columns are left out only if all would not fit at their minimum widths.
pub(super) fn fit_columns(columns: &[Column], room: usize) -> Vec<FittedColumn<'_>> {
    let with_content = columns.iter().filter(|column| column.has_content());
    let mut shown: Vec<Narrowed<'_>> = with_content.map(Narrowed::new).collect();
    let most = |shown: &[Narrowed<'_>]| {
        let dispensable = shown.iter().map(|one| one.column.dispensable);
        dispensable.max().unwrap_or(0)
    };
    loop {
        let soonest = most(&shown);
        let needed = |one: &Narrowed<'_>| match soonest {
            LEFT_OUT_FIRST.. => one.extent.fair,
            _ => one.extent.least,
        };
        if soonest == 0 || total_width(shown.iter().map(needed)) <= room {
            break;
        }
        shown.retain(|one| one.column.dispensable < soonest);
    }
    narrow(&mut shown, room);
    shown.iter().map(Narrowed::fitted).collect()
}

/// Narrows columns until they fit into `room`. Drawings become narrower first, and after them always the widest column that can be shortened or
/// broken into lines. Row names get the room that remains.
fn narrow(shown: &mut [Narrowed<'_>], room: usize) {
    while total_width(shown.iter().map(|one| one.width)) > room {
        let mut drawings = shown.iter_mut();
        if let Some(one) = drawings.find(|one| one.form + 1 < one.column.forms.len()) {
            one.form += 1;
            one.width = one.column.forms[one.form].width();
            continue;
        }
        let narrowable = shown.iter_mut().filter(|one| one.width > one.extent.least);
        match narrowable.max_by_key(|one| one.width) {
            Some(widest) => widest.width -= 1,
            None => break,
        }
    }
    if let Some(at) = shown
        .iter()
        .position(|one| one.column.kind == Kind::RowName)
    {
        let others = total_width(shown.iter().map(|one| one.width)) - shown[at].width;
        let left = room.saturating_sub(others);
        let ColumnRoom { wanted, fair, .. } = shown[at].extent;
        let names = shown[at].column.forms[0].width();
        let width = if names > WIDEST_NAMES && left > WIDEST_NAMES {
            // Put a few very long names on lines of their own, to avoid wide blanks in all other rows.
            fair
        } else if wanted <= left {
            wanted
        } else {
            // A title gets either all the room that it needs or none. Here it gets none, and the width is that of the names.
            names.min(left)
        };
        shown[at].width = width.max(NARROWEST_ROW_NAME);
    }
}

/// Returns the total width of columns with the gaps between them.
fn total_width(widths: impl Iterator<Item = usize>) -> usize {
    widths
        .map(|width| width + GAP)
        .sum::<usize>()
        .saturating_sub(GAP)
}

/// Divides the columns of a table into blocks that fit into `room` and are written one below the other. Each block has the first `labels` columns and
/// at least one other column.
pub(super) fn split_into_blocks(
    columns: &[Column],
    labels: usize,
    room: usize,
) -> Vec<Vec<FittedColumn<'_>>> {
    let mut shown: Vec<Narrowed<'_>> = columns.iter().map(Narrowed::new).collect();
    let labels = labels.min(shown.len());
    let (names, values) = shown.split_at_mut(labels);
    let values: Vec<usize> = values.iter().map(|one| one.width).collect();
    let wanted = total_width(names.iter().map(|one| one.width));
    let narrowed = room_for_labels(wanted, &values, room);
    while total_width(names.iter().map(|one| one.width)) > narrowed {
        match names.iter_mut().max_by_key(|one| one.width) {
            Some(widest) if widest.width > 1 => widest.width -= 1,
            _ => break,
        }
    }
    let widths: Vec<usize> = shown.iter().map(|one| one.width).collect();
    let blocks = block_indices(&widths, labels, room);
    let fitted = |block: Vec<usize>| block.into_iter().map(|at| shown[at].fitted()).collect();
    blocks.into_iter().map(fitted).collect()
}

/// Returns the total width to which the labels are narrowed. If the labels stay readable, they are narrowed until all values fit beside them.
/// Otherwise they are narrowed until at least the widest value fits beside them.
fn room_for_labels(labels: usize, values: &[usize], room: usize) -> usize {
    let all: usize = values.iter().map(|width| width + GAP).sum();
    let beside_all = room.saturating_sub(all);
    if beside_all >= labels.min(READABLE_LABELS) {
        return labels.min(beside_all);
    }
    let widest = values.iter().max().map_or(0, |width| width + GAP);
    labels.min(room.saturating_sub(widest).max(NARROWEST_LABELS))
}

/// Divides columns into blocks. Each block has all labels and at least one value. Returns the indices of the columns of each block.
fn block_indices(widths: &[usize], labels: usize, room: usize) -> Vec<Vec<usize>> {
    let taken: usize = widths[..labels].iter().map(|width| width + GAP).sum();
    let mut blocks: Vec<Vec<usize>> = Vec::new();
    let mut used = 0_usize;
    for (at, width) in widths.iter().enumerate().skip(labels) {
        // The last column has no gap after it.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_do_not_fit_go_into_further_blocks_with_all_labels() {
        assert_eq!(block_indices(&[10, 20, 20, 20], 1, 80), [[0, 1, 2, 3]]);
        // 10 + 2 + 20 + 2 + 20 + 2 + 20 = 76
        assert_eq!(block_indices(&[10, 20, 20, 20], 1, 76), [[0, 1, 2, 3]]);
        assert_eq!(
            block_indices(&[10, 20, 20, 20], 1, 75),
            [vec![0, 1, 2], vec![0, 3]]
        );
        assert_eq!(block_indices(&[90, 20, 20], 1, 80), [[0, 1], [0, 2]]);
        assert_eq!(block_indices(&[10], 1, 80), [[0]]);
    }
}
