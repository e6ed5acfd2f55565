//! The choice of columns that fit, their widths, and their division into blocks.

use super::column::{Column, ColumnForm, ColumnRoom, Kind, NARROWEST_ROW_NAME};

/// Blanks between two columns.
pub(super) const GAP: usize = 2;
/// Columns with at least this `dispensable` number are left out before any column is narrowed.
const LEFT_OUT_FIRST: u8 = 4;
/// Total width to which labels may be shortened so that all values fit next to them.
const READABLE_LABELS: usize = 24;
/// Total width to which labels may be shortened so that a single value fits.
const NARROWEST_LABELS: usize = 12;

/// Maximum width of row names, even if lines are not broken.
const WIDEST_NAMES: usize = 160;

/// A column that is shown, in one of its forms.
pub(super) struct FittedColumn<'t> {
    pub(super) kind: Kind,
    pub(super) form: &'t ColumnForm,
    pub(super) width: usize,
    /// Width of its marks, computed once for all rows.
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

/// Selects the columns that fit into `room`. The least important ones are left out first, then the others are narrowed, then more are left out.
pub(super) fn fit_columns(columns: &[Column], room: usize) -> Vec<FittedColumn<'_>> {
    let told = columns.iter().filter(|column| column.has_content());
    let mut shown: Vec<Narrowed<'_>> = told.map(Narrowed::new).collect();
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

/// Narrows drawings first, then the widest column that can be shortened or broken. Row names get the remaining room.
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
            // A title gets either all the room that it needs or none.
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

/// Divides all columns into blocks that fit into `room`. Each block has the first `labels` columns and at least one other.
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

/// Returns the total width of the labels: next to all values if the labels stay readable, else next to the widest value.
fn room_for_labels(labels: usize, values: &[usize], room: usize) -> usize {
    let all: usize = values.iter().map(|width| width + GAP).sum();
    let beside_all = room.saturating_sub(all);
    if beside_all >= labels.min(READABLE_LABELS) {
        return labels.min(beside_all);
    }
    let widest = values.iter().max().map_or(0, |width| width + GAP);
    labels.min(room.saturating_sub(widest).max(NARROWEST_LABELS))
}

/// Divides columns into blocks, each with all labels and at least one value. Returns their indices.
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
