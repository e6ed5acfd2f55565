//! Which columns there is room for, and how much is left for names.

use super::bar::Scale;
use super::cells::{Contents, changes};
use super::column::Column;
use crate::report::content::{Findings, Row};
use crate::report::view::View;

/// Between two columns.
pub(super) const GAP: usize = 2;
/// Columns that are left out before bars become narrower: from this number on.
const LEFT_OUT_FIRST: u8 = 3;
/// Bars become as narrow as this before more is left out.
const NARROW_BARS: [usize; 2] = [15, 11];
/// So many of a hundred names are to fit beside their numbers.
const NAMES_BESIDE: usize = 80;
/// Names that are longer than this do not push columns out: they have a line of their own.
const LONGEST_NAME_BESIDE: usize = 44;
const NARROWEST_NAME: usize = 12;

/// Columns that fit, and the room that their rows' names have beside them.
pub(in crate::report) struct Fitted {
    pub(super) columns: Vec<Column>,
    pub(super) name_room: usize,
}

/// Lays out `rows`, whose names take so many columns.
pub(super) fn fit_rows(
    rows: &[&Row<'_>],
    names: &[usize],
    findings: &Findings<'_>,
    view: &View,
) -> Fitted {
    let widest_bar = match view.columns {
        usize::MAX => 21,
        140.. => 31,
        100.. => 21,
        _ => NARROW_BARS[0],
    };
    let changes = changes(rows);
    let columns = |bar: usize| {
        let contents = Contents {
            rows,
            findings,
            verbosity: view.verbosity,
            scale: Scale::of(&changes, bar),
        };
        contents.columns()
    };
    let narrower = NARROW_BARS.into_iter().filter(|bar| *bar < widest_bar);
    let bars: Vec<usize> = std::iter::once(widest_bar).chain(narrower).collect();
    fit(names, view, &bars, columns)
}

/// Leaves out what there is no room for beside names that take so many columns. `bars`: how wide bars may be, the widest first.
pub(in crate::report) fn fit(
    names: &[usize],
    view: &View,
    bars: &[usize],
    columns: impl Fn(usize) -> Vec<Column>,
) -> Fitted {
    let mut sorted = names.to_vec();
    sorted.sort_unstable();
    let longest = sorted.last().copied().unwrap_or(0);
    let last = sorted.len().saturating_sub(1);
    let most = sorted.get((sorted.len() * NAMES_BESIDE / 100).min(last));
    let wanted = most
        .copied()
        .unwrap_or(0)
        .clamp(NARROWEST_NAME, LONGEST_NAME_BESIDE);
    let by_bar: Vec<Vec<Column>> = bars.iter().map(|bar| columns(*bar)).collect();
    let all = by_bar.first().into_iter().flatten();
    let most_dispensable = all.map(|column| column.dispensable).max().unwrap_or(0);
    let mut fitting = Vec::new();
    'attempts: for dispensable in (0..=most_dispensable).rev() {
        let bars = match dispensable {
            LEFT_OUT_FIRST.. => 1,
            _ => by_bar.len(),
        };
        for columns in by_bar.iter().take(bars) {
            fitting.clone_from(columns);
            fitting.retain(|column| column.dispensable <= dispensable);
            if taken(&fitting).saturating_add(wanted) <= view.columns {
                break 'attempts;
            }
        }
    }
    let room = view.columns.saturating_sub(taken(&fitting));
    Fitted {
        name_room: longest.min(room).max(NARROWEST_NAME),
        columns: fitting,
    }
}

/// The room that columns take, with the gaps before them.
fn taken(columns: &[Column]) -> usize {
    columns.iter().map(|column| GAP + column.width()).sum()
}
