//! Which columns there is room for, and how much is left for names.

use super::bar::Scale;
use super::cells::{BARS, Contents, changes};
use super::column::Column;
use crate::findings::{Findings, Row};
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
    let contents = Contents {
        rows,
        findings,
        verbosity: view.verbosity,
    };
    let narrower = NARROW_BARS.into_iter().filter(|bar| *bar < widest_bar);
    let narrower: Vec<Column> = narrower
        .map(|bar| contents.bars(Scale::of(&changes, bar)))
        .collect();
    let columns = contents.columns(Scale::of(&changes, widest_bar));
    fit(names, view, &columns, &narrower)
}

/// Leaves out what there is no room for beside names that take so many columns. `narrower`: what may stand in the place of bars,
/// the widest first.
pub(in crate::report) fn fit(
    names: &[usize],
    view: &View,
    columns: &[Column],
    narrower: &[Column],
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
    let dispensable = columns.iter().map(|column| column.dispensable);
    let attempts = (0..=dispensable.max().unwrap_or(0)).rev().flat_map(|most| {
        let narrower = narrower.iter().filter(move |_| most < LEFT_OUT_FIRST);
        let bars = std::iter::once(None).chain(narrower.map(Some));
        bars.map(move |bars| (most, bars))
    });
    let mut fitting = Vec::new();
    for (most, bars) in attempts {
        fitting = columns
            .iter()
            .filter(|column| column.dispensable <= most)
            .map(|column| match bars {
                Some(bars) if column.dispensable == BARS => bars.clone(),
                _ => column.clone(),
            })
            .collect();
        if taken(&fitting).saturating_add(wanted) <= view.columns {
            break;
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
