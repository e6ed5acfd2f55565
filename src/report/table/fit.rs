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
pub(super) struct Fitted {
    pub(super) columns: Vec<Column>,
    pub(super) name_room: usize,
}

/// Lays out `rows`, whose labels take so many columns.
pub(super) fn fit(
    rows: &[&Row<'_>],
    labels: &[usize],
    findings: &Findings<'_>,
    view: &View,
) -> Fitted {
    let mut sorted = labels.to_vec();
    sorted.sort_unstable();
    let longest = sorted.last().copied().unwrap_or(0);
    let most = sorted
        .get((sorted.len() * NAMES_BESIDE / 100).min(sorted.len().saturating_sub(1)))
        .copied()
        .unwrap_or(0);
    let wanted = most.clamp(NARROWEST_NAME, LONGEST_NAME_BESIDE);
    let widest_bar = match view.columns {
        usize::MAX => 21,
        140.. => 31,
        100.. => 21,
        _ => NARROW_BARS[0],
    };
    let changes = changes(rows);
    let contents = |bar: usize| Contents {
        rows,
        findings,
        verbosity: view.verbosity,
        scale: Scale::of(&changes, bar),
    };
    let all = contents(widest_bar).columns();
    let most_dispensable = all.iter().map(|column| column.dispensable).max();
    let attempts = (0..=most_dispensable.unwrap_or(0))
        .rev()
        .flat_map(|dispensable| {
            let narrower = NARROW_BARS.into_iter().filter(|bar| *bar < widest_bar);
            let bars = narrower.filter(move |_| dispensable < LEFT_OUT_FIRST);
            std::iter::once(widest_bar)
                .chain(bars)
                .map(move |bar| (dispensable, bar))
        });
    let mut columns = Vec::new();
    for (dispensable, bar) in attempts {
        columns = match bar {
            _ if bar == widest_bar => all.clone(),
            _ => contents(bar).columns(),
        };
        columns.retain(|column| column.dispensable <= dispensable);
        if taken(&columns).saturating_add(wanted) <= view.columns {
            break;
        }
    }
    let room = view.columns.saturating_sub(taken(&columns));
    Fitted {
        name_room: longest.min(room).max(NARROWEST_NAME),
        columns,
    }
}

/// The room that columns take, with the gaps before them.
fn taken(columns: &[Column]) -> usize {
    columns.iter().map(|column| GAP + column.width()).sum()
}
