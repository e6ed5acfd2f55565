//! Rows below headings: by bench target and group. Names that are too long have a line of their own.
//!
//! Knows keys and columns alone, so that lists look like tables.

use std::io::{self, Write};

use super::column::{Cell, Column, Side};
use super::fit::{Fitted, GAP};
use crate::model::BenchmarkKey;
use crate::report::view::{Arrangement, View};
use crate::report::{theme, units};

/// Rows below one heading.
pub(in crate::report) struct Section {
    heading: Option<String>,
    groups: Vec<Group>,
}

/// Rows whose ids begin alike.
struct Group {
    name: Option<String>,
    rows: Vec<Labelled>,
}

/// A row, by its place among all rows, with the name that it has below its headings.
struct Labelled {
    at: usize,
    label: String,
}

impl Section {
    /// The sections of `keys`, in the order in which targets and groups come first.
    pub(in crate::report) fn all(keys: &[&BenchmarkKey], arrangement: Arrangement) -> Vec<Self> {
        let mut targets: Vec<(String, Vec<usize>)> = Vec::new();
        for (at, key) in keys.iter().enumerate() {
            let name = target(key);
            match targets.iter_mut().find(|(known, _)| *known == name) {
                Some((_, rows)) => rows.push(at),
                None => targets.push((name, vec![at])),
            }
        }
        let id = |at: &usize| &*keys[*at].id;
        if arrangement == Arrangement::List && targets.len() > 1 {
            let labelled = (0..keys.len()).map(|at| Labelled {
                label: format!("  {}: {}", target(keys[at]), units::whole_name(id(&at))),
                at,
            });
            return vec![Self {
                heading: None,
                groups: vec![Group {
                    name: None,
                    rows: labelled.collect(),
                }],
            }];
        }
        let sections = targets.into_iter().map(|(heading, rows)| Self {
            heading: Some(heading),
            groups: match arrangement {
                Arrangement::Groups => groups(&rows, &id),
                Arrangement::Targets | Arrangement::List => vec![Group::nameless(&rows, &id)],
            },
        });
        sections.collect()
    }

    /// The places of its rows among all rows.
    pub(in crate::report) fn rows(&self) -> impl Iterator<Item = usize> + '_ {
        let rows = self.groups.iter().flat_map(|group| &group.rows);
        rows.map(|row| row.at)
    }

    /// How many columns its rows' names take.
    pub(in crate::report) fn widths(&self) -> impl Iterator<Item = usize> + '_ {
        let rows = self.groups.iter().flat_map(|group| &group.rows);
        rows.map(|row| units::width(&row.label))
    }

    /// Shortens what takes more than one line of so many columns, in its middle.
    pub(in crate::report) fn shorten(&mut self, columns: usize) {
        for group in &mut self.groups {
            if let Some(name) = &mut group.name {
                // Two blanks before it, a slash behind it.
                *name = units::in_the_middle(name, columns.saturating_sub(3));
            }
            for row in &mut group.rows {
                row.label = units::in_the_middle(&row.label, columns);
            }
        }
    }

    /// Writes it.
    pub(in crate::report) fn write(
        &self,
        writer: &mut dyn Write,
        fitted: &Fitted,
        view: &View,
    ) -> io::Result<()> {
        self.write_heading(writer, fitted)?;
        for group in &self.groups {
            if let Some(name) = &group.name {
                for part in units::wrapped(&format!("  {name}/"), view.columns) {
                    writeln!(writer, "{part}")?;
                }
            }
            for row in &group.rows {
                write_row(writer, row, fitted, view)?;
            }
        }
        Ok(())
    }

    /// The name of the bench target with the headings of the columns beside it, where there is room.
    fn write_heading(&self, writer: &mut dyn Write, fitted: &Fitted) -> io::Result<()> {
        let headings = |column: &Column| column.heading.clone();
        let Some(target) = &self.heading else {
            return write_line(writer, &Cell::default(), fitted, headings);
        };
        if units::width(target) > fitted.name_room {
            writeln!(writer, "{}", theme::heading(target))?;
            return write_line(writer, &Cell::default(), fitted, headings);
        }
        let heading = Cell::coloured(target, theme::heading(target));
        write_line(writer, &heading, fitted, headings)
    }
}

impl Group {
    fn nameless<'k>(rows: &[usize], id: &impl Fn(&usize) -> &'k str) -> Self {
        let labelled = rows.iter().map(|at| Labelled {
            label: format!("  {}", units::whole_name(id(at))),
            at: *at,
        });
        Self {
            name: None,
            rows: labelled.collect(),
        }
    }
}

fn target(key: &BenchmarkKey) -> String {
    units::on_one_line(&format!("{}/{}", key.package, key.target))
}

/// Rows by group. A benchmark alone in its group needs no heading.
fn groups<'k>(rows: &[usize], id: &impl Fn(&usize) -> &'k str) -> Vec<Group> {
    let mut found: Vec<(Option<&str>, Vec<usize>)> = Vec::new();
    for at in rows {
        let name = id(at).rsplit_once('/').map(|(group, _)| group);
        match found.iter_mut().find(|(known, _)| *known == name) {
            Some((_, rows)) => rows.push(*at),
            None => found.push((name, vec![*at])),
        }
    }
    // What stands below no group's heading must not stand behind a group's rows.
    let (named, nameless): (Vec<_>, Vec<_>) = found
        .into_iter()
        .partition(|(name, rows)| name.is_some() && rows.len() > 1);
    let alone: Vec<usize> = nameless.into_iter().flat_map(|(_, rows)| rows).collect();
    let mut groups = Vec::new();
    if !alone.is_empty() {
        groups.push(Group::nameless(&alone, id));
    }
    for (name, rows) in named {
        let labelled = rows.into_iter().map(|at| {
            let name = id(&at).rsplit_once('/').map_or(id(&at), |(_, name)| name);
            Labelled {
                label: format!("    {}", units::whole_name(name)),
                at,
            }
        });
        groups.push(Group {
            name: name.map(units::whole_name),
            rows: labelled.collect(),
        });
    }
    groups
}

fn write_row(
    writer: &mut dyn Write,
    row: &Labelled,
    fitted: &Fitted,
    view: &View,
) -> io::Result<()> {
    let cell = |column: &Column| column.cells[row.at].clone();
    if units::width(&row.label) <= fitted.name_room {
        return write_line(writer, &Cell::plain(row.label.clone()), fitted, cell);
    }
    for part in units::wrapped(&row.label, view.columns) {
        writeln!(writer, "{part}")?;
    }
    write_line(writer, &Cell::default(), fitted, cell)
}

fn write_line(
    writer: &mut dyn Write,
    label: &Cell,
    fitted: &Fitted,
    cell: impl Fn(&Column) -> Cell,
) -> io::Result<()> {
    let mut line = label.padded(fitted.name_room, Side::Left);
    let last = fitted.columns.len().saturating_sub(1);
    for (at, column) in fitted.columns.iter().enumerate() {
        line += &" ".repeat(GAP);
        let width = match (at == last, column.side) {
            // Nothing stands behind it.
            (true, Side::Left) => 0,
            _ => column.width(),
        };
        line += &cell(column).padded(width, column.side);
    }
    writeln!(writer, "{}", line.trim_end())
}
