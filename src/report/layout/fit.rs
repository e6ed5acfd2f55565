//! Which columns there is room for, how wide each is, and in which block.

use super::column::{Column, ColumnForm, ColumnRoom, Kind, NARROWEST_ROW_NAME};

/// Between two columns.
pub(super) const GAP: usize = 2;
/// Columns that are left out before anything becomes narrower: from this number on.
const LEFT_OUT_FIRST: u8 = 4;
/// Labels are shortened to this together, no further, so that all values stand beside them.
const READABLE_LABELS: usize = 24;
/// They are not shortened to less for a single value.
const NARROWEST_LABELS: usize = 12;

/// Names of rows have no more room than this, also where lines are endless.
const WIDEST_NAMES: usize = 160;

/// A column that is shown, in one of its forms.
pub(super) struct Fitted<'t> {
    pub(super) kind: Kind,
    pub(super) form: &'t ColumnForm,
    pub(super) width: usize,
    /// The columns that its marks take: of all cells, so it is not asked again for each row.
    pub(super) mark_width: usize,
}

/// A column on its way to its width.
struct Narrowed<'t> {
    column: &'t Column,
    extent: ColumnRoom,
    form: usize,
    width: usize,
}

impl<'t> Narrowed<'t> {
    fn new(column: &'t Column) -> Self {
        let extent = column.extent();
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

    fn fitted(&self) -> Fitted<'t> {
        let form = &self.column.forms[self.form];
        Fitted {
            kind: self.column.kind,
            form,
            width: self.width,
            mark_width: form.mark_width(),
        }
    }
}

/// The columns that fit into `room`: first those are left out that matter least, then others become narrower, then more are left out.
pub(super) fn fitted(columns: &[Column], room: usize) -> Vec<Fitted<'_>> {
    let told = columns.iter().filter(|column| column.says_something());
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
        if soonest == 0 || taken(shown.iter().map(needed)) <= room {
            break;
        }
        shown.retain(|one| one.column.dispensable < soonest);
    }
    narrow(&mut shown, room);
    shown.iter().map(Narrowed::fitted).collect()
}

/// Drawings become narrower first, then the widest of what can be shortened or broken; names of rows have what is left.
fn narrow(shown: &mut [Narrowed<'_>], room: usize) {
    while taken(shown.iter().map(|one| one.width)) > room {
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
        let others = taken(shown.iter().map(|one| one.width)) - shown[at].width;
        let left = room.saturating_sub(others);
        let ColumnRoom { wanted, fair, .. } = shown[at].extent;
        let names = shown[at].column.forms[0].width();
        let width = if names > WIDEST_NAMES && left > WIDEST_NAMES {
            // A few endless names have lines of their own, rather than blanks behind all others.
            fair
        } else if wanted <= left {
            wanted
        } else {
            // Part of the room for a title would be of no use.
            names.min(left)
        };
        shown[at].width = width.max(NARROWEST_ROW_NAME);
    }
}

/// The room that columns of such widths take, with the gaps between them.
fn taken(widths: impl Iterator<Item = usize>) -> usize {
    widths
        .map(|width| width + GAP)
        .sum::<usize>()
        .saturating_sub(GAP)
}

/// All columns in blocks that fit into `room`, each with the first `labels` columns and at least one other.
pub(super) fn in_blocks(columns: &[Column], labels: usize, room: usize) -> Vec<Vec<Fitted<'_>>> {
    let mut shown: Vec<Narrowed<'_>> = columns.iter().map(Narrowed::new).collect();
    let labels = labels.min(shown.len());
    let (names, values) = shown.split_at_mut(labels);
    let values: Vec<usize> = values.iter().map(|one| one.width).collect();
    let wanted = taken(names.iter().map(|one| one.width));
    let narrowed = room_for_labels(wanted, &values, room);
    while taken(names.iter().map(|one| one.width)) > narrowed {
        match names.iter_mut().max_by_key(|one| one.width) {
            Some(widest) if widest.width > 1 => widest.width -= 1,
            _ => break,
        }
    }
    let widths: Vec<usize> = shown.iter().map(|one| one.width).collect();
    let blocks = blocks(&widths, labels, room);
    let fitted = |block: Vec<usize>| block.into_iter().map(|at| shown[at].fitted()).collect();
    blocks.into_iter().map(fitted).collect()
}

/// The room of labels that take so many columns: beside all values where they stay readable, else beside the widest.
fn room_for_labels(labels: usize, values: &[usize], room: usize) -> usize {
    let all: usize = values.iter().map(|width| width + GAP).sum();
    let beside_all = room.saturating_sub(all);
    if beside_all >= labels.min(READABLE_LABELS) {
        return labels.min(beside_all);
    }
    let widest = values.iter().max().map_or(0, |width| width + GAP);
    labels.min(room.saturating_sub(widest).max(NARROWEST_LABELS))
}

/// Columns of such widths in blocks, each with all labels and at least one value.
fn blocks(widths: &[usize], labels: usize, room: usize) -> Vec<Vec<usize>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_do_not_fit_go_into_further_blocks_with_all_labels() {
        assert_eq!(blocks(&[10, 20, 20, 20], 1, 80), [[0, 1, 2, 3]]);
        // 10 + 2 + 20 + 2 + 20 + 2 + 20 = 76
        assert_eq!(blocks(&[10, 20, 20, 20], 1, 76), [[0, 1, 2, 3]]);
        assert_eq!(
            blocks(&[10, 20, 20, 20], 1, 75),
            [vec![0, 1, 2], vec![0, 3]]
        );
        assert_eq!(blocks(&[90, 20, 20], 1, 80), [[0, 1], [0, 2]]);
        assert_eq!(blocks(&[10], 1, 80), [[0]]);
    }
}
