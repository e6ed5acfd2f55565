//! The scale on which the values of a history are drawn, one line of characters per run.

use std::cmp::Ordering;

use super::content::BenchmarkHistory;
use crate::report::layout::Cell;
use crate::report::scale::Scale;
use crate::report::theme::TextRole;
use crate::report::units;

/// Minimum distance between the labels of both ends, in columns.
const BETWEEN_ENDS: usize = 2;

/// A scale of values, and its width in columns.
pub(super) struct ValueColumns {
    scale: Scale,
    columns: usize,
}

impl ValueColumns {
    /// Returns a scale for all values and the expected range, at least `columns` wide; `None` without values.
    pub(super) fn new(history: &BenchmarkHistory, columns: usize) -> Option<Self> {
        let band = history.course.band.into_iter();
        let values = history.points.iter().filter_map(|point| point.value);
        let scale = Scale::covering(values.chain(band.flat_map(|band| [band.lower, band.upper])))?;
        let (low, high) = scale.ends();
        let width = |end: f64| units::width(&units::value(&history.metric, end));
        Some(Self {
            scale,
            // The labels of both ends must fit beside each other.
            columns: columns.max(width(low) + BETWEEN_ENDS + width(high)),
        })
    }

    fn column_of(&self, value: f64) -> usize {
        let last = (self.columns - 1) as f64;
        (self.scale.position(value) * last).round().clamp(0.0, last) as usize
    }

    /// Returns the line with the values at both ends.
    pub(super) fn end_labels(&self, history: &BenchmarkHistory) -> String {
        let (low, high) = self.scale.ends();
        let low = units::value(&history.metric, low);
        let high = units::value(&history.metric, high);
        let between = self.columns - units::width(&low) - units::width(&high);
        format!("{low}{}{high}", " ".repeat(between))
    }

    /// Draws the step to a level from the one before it.
    pub(super) fn draw_step(&self, history: &BenchmarkHistory, level: usize) -> Cell {
        let levels = &history.course.levels;
        let Some(before) = level.checked_sub(1).and_then(|before| levels.get(before)) else {
            return Cell::default();
        };
        let (from, to) = (
            self.column_of(before.value),
            self.column_of(levels[level].value),
        );
        let mut columns = vec![' '; self.columns];
        columns[from.min(to)..=from.max(to)].fill('─');
        (columns[from], columns[to]) = match from.cmp(&to) {
            Ordering::Less => ('└', '┐'),
            Ordering::Equal => ('│', '│'),
            Ordering::Greater => ('┘', '┌'),
        };
        Cell::faint(columns.into_iter().collect::<String>())
    }

    /// Draws a run: its value, its level, and in the newest level the expected range.
    pub(super) fn draw_run(&self, history: &BenchmarkHistory, place: usize) -> Cell {
        let mut columns = vec![' '; self.columns];
        if let Some(level) = history.level_of(place) {
            let is_present = history
                .present()
                .is_some_and(|present| present.first == level.first);
            if let (true, Some(band)) = (is_present, &history.course.band) {
                columns[self.column_of(band.lower)..=self.column_of(band.upper)].fill('░');
            }
            columns[self.column_of(level.value)] = '│';
        }
        let point = &history.points[place];
        if let Some(value) = point.value {
            columns[self.column_of(value)] = '●';
        }
        let ink_of_dot = point.verdict.map_or(TextRole::Plain, TextRole::Verdict);
        let pieces = columns.chunk_by(|a, b| (*a == '●') == (*b == '●'));
        let pieces = pieces.map(|piece| {
            let ink = match piece[0] {
                '●' => ink_of_dot,
                _ => TextRole::Faint,
            };
            (ink, piece.iter().collect())
        });
        Cell::from_pieces(pieces.collect())
    }
}
