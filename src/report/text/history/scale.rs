//! The scale on which the values of a history are drawn, a line of characters a run.

use super::content::BenchmarkHistory;
use crate::report::layout::Cell;
use crate::report::theme::Ink;
use crate::report::units;

/// Columns between what the ends of a scale stand for.
const BETWEEN_ENDS: usize = 2;

/// The scale on which values are drawn.
pub(super) struct Scale {
    lowest: f64,
    highest: f64,
    columns: usize,
}

impl Scale {
    /// Over all values, the band, and at least five per cent; `None` without values.
    pub(super) fn of(history: &BenchmarkHistory, columns: usize) -> Option<Self> {
        let band = history.course.band.into_iter();
        let drawn = (history.points.iter().filter_map(|point| point.value))
            .chain(band.flat_map(|band| [band.lower, band.upper]));
        let (lowest, highest) = drawn.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| {
            (low.min(y), high.max(y))
        });
        let missing = (0.05 * highest - (highest - lowest)).max(0.0);
        let (lowest, highest) = (lowest - missing / 2.0, highest + missing / 2.0);
        let width = |end: f64| units::width(&units::value(&history.metric, end));
        lowest.is_finite().then(|| Self {
            lowest,
            highest,
            // What its ends stand for has to be told apart.
            columns: columns.max(width(lowest) + BETWEEN_ENDS + width(highest)),
        })
    }

    fn column(&self, value: f64) -> usize {
        let part = (value - self.lowest) / (self.highest - self.lowest).max(f64::MIN_POSITIVE);
        (part * (self.columns - 1) as f64)
            .round()
            .clamp(0.0, (self.columns - 1) as f64) as usize
    }

    /// What its ends stand for.
    pub(super) fn ends(&self, history: &BenchmarkHistory) -> String {
        let low = units::value(&history.metric, self.lowest);
        let high = units::value(&history.metric, self.highest);
        let between = self.columns - units::width(&low) - units::width(&high);
        format!("{low}{}{high}", " ".repeat(between))
    }

    /// A run: its value, its level, the band where it is the newest level.
    pub(super) fn line(&self, history: &BenchmarkHistory, place: usize) -> Cell {
        let mut columns = vec![' '; self.columns];
        if let Some(level) = history.level_of(place) {
            let is_present = history
                .present()
                .is_some_and(|present| present.first == level.first);
            if let (true, Some(band)) = (is_present, &history.course.band) {
                columns[self.column(band.lower)..=self.column(band.upper)].fill('░');
            }
            columns[self.column(level.value)] = '│';
        }
        let point = &history.points[place];
        if let Some(value) = point.value {
            columns[self.column(value)] = '●';
        }
        let ink_of_dot = point.verdict.map_or(Ink::Plain, Ink::Verdict);
        let pieces = columns.chunk_by(|a, b| (*a == '●') == (*b == '●'));
        let pieces = pieces.map(|piece| {
            let ink = match piece[0] {
                '●' => ink_of_dot,
                _ => Ink::Faint,
            };
            (ink, piece.iter().collect())
        });
        Cell::of_pieces(pieces.collect())
    }
}
