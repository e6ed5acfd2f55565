//! Columns of a table and their cells, before it is known which of them there is room for.

use crate::report::{theme, units};

/// Text with colours, and the room that it takes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::report) struct Cell {
    shown: String,
    width: usize,
}

impl Cell {
    /// `plain`, which is shown as `shown`.
    pub(in crate::report) fn coloured(plain: &str, shown: String) -> Self {
        match units::width(plain) {
            // Colours of nothing would keep blanks at the end of a line.
            0 => Self::default(),
            width => Self { shown, width },
        }
    }

    /// Text without colours.
    pub(in crate::report) fn plain(text: String) -> Self {
        Self {
            width: units::width(&text),
            shown: text,
        }
    }

    /// Text that matters less.
    pub(in crate::report) fn faint(text: &str) -> Self {
        Self::coloured(text, theme::faint(text))
    }

    pub(in crate::report) fn width(&self) -> usize {
        self.width
    }

    /// Filled up to so many columns.
    pub(in crate::report) fn padded(&self, width: usize, side: Side) -> String {
        let blank = " ".repeat(width.saturating_sub(self.width));
        match side {
            Side::Left => self.shown.clone() + &blank,
            Side::Right => blank + &self.shown,
        }
    }
}

/// To which side text is moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::report) enum Side {
    Left,
    Right,
}

/// A column: its heading, and a cell for each row.
#[derive(Debug, Clone)]
pub(in crate::report) struct Column {
    pub(in crate::report) heading: Cell,
    /// How soon it is left out where there is little room; 0: never.
    pub(in crate::report) dispensable: u8,
    pub(in crate::report) side: Side,
    pub(in crate::report) cells: Vec<Cell>,
}

impl Column {
    /// Numbers.
    pub(in crate::report) fn right(heading: &str, dispensable: u8, cells: Vec<Cell>) -> Self {
        Self {
            heading: Cell::faint(heading),
            dispensable,
            side: Side::Right,
            cells,
        }
    }

    /// Words and pictures.
    pub(in crate::report) fn left(heading: &str, dispensable: u8, cells: Vec<Cell>) -> Self {
        Self {
            side: Side::Left,
            ..Self::right(heading, dispensable, cells)
        }
    }

    pub(in crate::report) fn width(&self) -> usize {
        let cells = self.cells.iter().chain([&self.heading]);
        cells.map(Cell::width).max().unwrap_or(0)
    }
}
