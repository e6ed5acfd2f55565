//! Tables with a row for each benchmark, grouped by bench targets and groups.

use std::collections::HashMap;
use std::hash::Hash;

use super::cell::Cell;
use super::column::Column;
use super::table::{Section, SectionRow, Table};
use crate::report::units;
use crate::report::view::RowOrder;
use perfcheck_analysis::model::BenchmarkKey;

impl Table {
    /// Creates a table with a row for each of `keys`. Without keys the table is empty.
    pub(crate) fn from_benchmarks(
        keys: &[&BenchmarkKey],
        arrangement: RowOrder,
        columns: Vec<Column>,
    ) -> Self {
        let (names, sections) = rows_of_benchmarks(keys, arrangement);
        let columns = std::iter::once(names).chain(columns);
        Self::new(columns.collect()).in_sections(sections)
    }
}

/// Arranges the rows of `keys` in sections. Returns their names and the sections; targets and groups are in the order of their first benchmark.
fn rows_of_benchmarks(keys: &[&BenchmarkKey], arrangement: RowOrder) -> (Column, Vec<Section>) {
    let mut targets = group_rows_by((0..keys.len()).map(|at| (target(keys[at]), at)));
    let mut names: Vec<String> = keys.iter().map(|key| indented_id(&key.id)).collect();
    if arrangement == RowOrder::List && targets.len() > 1 {
        for (name, key) in names.iter_mut().zip(keys) {
            *name = format!("  {}: {}", target(key), units::escape_id(&key.id));
        }
        targets = vec![(String::new(), (0..keys.len()).collect())];
    }
    let sections = targets.into_iter().map(|(title, rows)| Section {
        title: Some(title).filter(|title| !title.is_empty()),
        rows: match arrangement {
            RowOrder::Groups => arrange_by_group(&rows, keys, &mut names),
            RowOrder::Targets | RowOrder::List => rows.into_iter().map(SectionRow::At).collect(),
        },
        remarks: Vec::new(),
    });
    let sections = sections.collect();
    let names = names.into_iter().map(Cell::from).collect();
    (Column::row_names(names), sections)
}

fn indented_id(id: &str) -> String {
    format!("  {}", units::escape_id(id))
}

fn target(key: &BenchmarkKey) -> String {
    format!("{}/{}", key.package, key.target)
}

/// Collects the rows of each name; names are in the order of their first row.
fn group_rows_by<N: Clone + Eq + Hash>(
    named: impl Iterator<Item = (N, usize)>,
) -> Vec<(N, Vec<usize>)> {
    let mut found: Vec<(N, Vec<usize>)> = Vec::new();
    let mut places: HashMap<N, usize> = HashMap::new();
    for (name, row) in named {
        let place = *places.entry(name).or_insert_with_key(|name| {
            found.push((name.clone(), Vec::new()));
            found.len() - 1
        });
        found[place].1.push(row);
    }
    found
}

/// Arranges rows by group and shortens their names to the rest of the ids. A benchmark alone in its group gets no heading.
fn arrange_by_group(
    rows: &[usize],
    keys: &[&BenchmarkKey],
    names: &mut [String],
) -> Vec<SectionRow> {
    let group = |at: usize| keys[at].id.rsplit_once('/').map(|(group, _)| group);
    let found = group_rows_by(rows.iter().map(|at| (group(*at), *at)));
    // Rows without a heading come first, otherwise they would seem to belong to the group above them.
    let (named, nameless): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|(name, rows)| name.is_some() && rows.len() > 1);
    let alone = nameless.into_iter().flat_map(|(_, rows)| rows);
    let mut lines: Vec<SectionRow> = alone.map(SectionRow::At).collect();
    for (group, rows) in named {
        let group = group.map(units::escape_id).unwrap_or_default();
        lines.push(SectionRow::Title(format!("  {group}/")));
        for at in rows {
            let id = &keys[at].id;
            let name = id.rsplit_once('/').map_or(&**id, |(_, name)| name);
            names[at] = format!("    {}", units::escape_id(name));
            lines.push(SectionRow::At(at));
        }
    }
    lines
}
