//! Draws numbers as small pictures of characters: a change as a bar on a line around zero, and the last values of a series as a row of small bars (a
//! sparkline), one column each.
//!
//! The bar of a change shows its interval, thin within the noise threshold and thick beyond it, and the estimate as a dot. All bars of a table share
//! one scale, so that they can be compared. An arrow at the edge marks a value beyond the scale.
//!
//! On terminals without UTF-8, `CharsetWriter` replaces the characters by ASCII.

use crate::output::layout::{Cell, ColoredText, Column};
use crate::output::scale::Scale;
use crate::output::terminal::TextRole;
use crate::output::units;
use perfcheck_analysis::compare::Estimate;
use perfcheck_analysis::model::Verdict;

/// What a character of a bar shows, which determines its color.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BarPart {
    /// Empty space, the line at zero, or the dots that show the range of noise.
    Ground,
    /// A part of the interval, or the estimate.
    Interval,
}

/// The scale and the width that all bars of a table share.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ChangeBars {
    /// A scale that is symmetric around zero.
    scale: Scale,
    /// Width in characters; odd, so that zero has a character of its own.
    width: usize,
}

/// Widths of bars in columns, from the widest to the narrowest.
const WIDTHS: [usize; 4] = [31, 21, 15, 11];

/// Returns a column of bars for a table of at most `columns` columns. It has drawings in several widths, and the layout chooses the widest that fits.
/// `draw` returns the cells, drawn to the scale of the `changes`. Each change comes with its noise threshold.
pub(super) fn bar_column(
    changes: &[(Estimate, f64)],
    columns: usize,
    draw: impl Fn(ChangeBars) -> Vec<Cell>,
) -> Option<Column> {
    let widest = match columns {
        usize::MAX => WIDTHS[1],
        140.. => WIDTHS[0],
        100.. => WIDTHS[1],
        _ => WIDTHS[2],
    };
    let widths = WIDTHS.into_iter().filter(|width| *width <= widest);
    let drawings = widths.map(|width| {
        let scale = ChangeBars::scaled_to(changes, width);
        Column::fact(&scale.heading(), draw(scale))
    });
    let bars = Column::from_drawings(drawings.collect());
    // All other dispensable columns are left out before the bars.
    bars.map(|bars| bars.dispensable(1))
}

/// What half a character shows of the interval: nothing, a thin line (within the noise threshold) or a thick line (beyond it).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Half {
    Empty,
    Light,
    Heavy,
}

impl ChangeBars {
    /// Chooses a scale on which most of `changes` fit. Each change comes with its noise threshold.
    fn scaled_to(changes: &[(Estimate, f64)], width: usize) -> Self {
        Self {
            scale: Scale::around_zero(changes),
            width: width | 1,
        }
    }

    /// Returns the change at the right end of the scale. The change at the left end is its negative.
    fn limit(self) -> f64 {
        self.scale.ends().1
    }

    /// Returns the heading of the column of bars, which names the changes at both ends of the scale.
    fn heading(self) -> String {
        let percent = self.limit() * 100.0;
        let (left, right) = (format!("−{percent} %"), format!("+{percent} %"));
        let taken = left.chars().count() + right.chars().count();
        if taken + 3 > self.width {
            let both = format!("±{percent} %");
            let free = self.width.saturating_sub(units::width(&both));
            return format!(
                "{}{both}{}",
                " ".repeat(free / 2),
                " ".repeat(free - free / 2)
            );
        }
        let side = self.width / 2;
        format!("{left:<side$}0{right:>side$}")
    }

    /// Draws the bar of a change in the color of a verdict, as a cell of a table.
    pub(super) fn cell(self, change: &Estimate, noise: f64, verdict: Verdict) -> Cell {
        let parts = self.draw(change, noise);
        let pieces = parts.chunk_by(|(_, a), (_, b)| a == b).map(|run| {
            let text: String = run.iter().map(|(c, _)| *c).collect();
            let ink = match run[0].1 {
                BarPart::Ground if text.trim().is_empty() => TextRole::Plain,
                BarPart::Ground => TextRole::Faint,
                BarPart::Interval => TextRole::Verdict(verdict),
            };
            ColoredText::new(ink, text)
        });
        Cell::from_pieces(pieces)
    }

    /// Draws the bar of a change. Returns each character with what it shows.
    fn draw(self, change: &Estimate, noise: f64) -> Vec<(char, BarPart)> {
        let places = 0..self.width;
        places
            .map(|place| self.draw_place(place, change, noise))
            .collect()
    }

    fn draw_place(self, cell: usize, change: &Estimate, noise: f64) -> (char, BarPart) {
        let last = self.width - 1;
        let of_estimate = self.position_of(change.estimate) / 2.0;
        let off = change.estimate.abs() > self.limit();
        // If the interval is cut off, an arrow occupies the character at the edge. A dot at the edge then moves one character inward.
        let first = usize::from(!off && change.lower < -self.limit());
        let farthest = last - usize::from(!off && change.upper > self.limit());
        if (of_estimate.floor().max(0.0) as usize).clamp(first, farthest) == cell {
            let mark = match off {
                true if change.estimate < 0.0 => '«',
                true => '»',
                false => '●',
            };
            return (mark, BarPart::Interval);
        }
        if cell == 0 && change.lower < -self.limit() && change.upper >= -self.limit() {
            return ('‹', BarPart::Interval);
        }
        if cell == last && change.upper > self.limit() && change.lower <= self.limit() {
            return ('›', BarPart::Interval);
        }
        let halves = [2 * cell, 2 * cell + 1].map(|half| self.half(half, change, noise));
        let is_zero = cell == self.width / 2;
        let drawn = match halves {
            [Half::Empty, Half::Empty] => {
                let middle = self.value_at(2.0 * cell as f64 + 1.0);
                let ground = match middle.abs() <= noise {
                    _ if is_zero => '│',
                    true => '·',
                    false => ' ',
                };
                return (ground, BarPart::Ground);
            }
            [Half::Light, Half::Empty] if is_zero => '┤',
            [Half::Empty, Half::Light] if is_zero => '├',
            [Half::Light, Half::Light] if is_zero => '┼',
            [Half::Heavy, Half::Heavy] if is_zero => '┿',
            [Half::Light, Half::Light] => '─',
            [Half::Heavy, Half::Heavy] => '━',
            [Half::Light, Half::Heavy] => '╼',
            [Half::Heavy, Half::Light] => '╾',
            [Half::Light, Half::Empty] => '╴',
            [Half::Empty, Half::Light] => '╶',
            [Half::Heavy, Half::Empty] => '╸',
            [Half::Empty, Half::Heavy] => '╺',
        };
        (drawn, BarPart::Interval)
    }

    fn half(self, half: usize, change: &Estimate, noise: f64) -> Half {
        let middle = self.value_at(half as f64 + 0.5);
        if middle < change.lower || middle > change.upper {
            Half::Empty
        } else if middle.abs() <= noise {
            Half::Light
        } else {
            Half::Heavy
        }
    }

    /// Returns how far a change is from the left end of the bar, in halves of characters.
    fn position_of(self, change: f64) -> f64 {
        self.scale.position(change) * 2.0 * self.width as f64
    }

    fn value_at(self, half: f64) -> f64 {
        self.scale.value_at(half / (2.0 * self.width as f64))
    }
}

/// The characters of the bars, from the lowest to the highest.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The character for a missing value.
const GAP: char = '·';

/// Minimum range of values that the height of the bars covers, as a multiple of the noise. It is about ten standard deviations, so that noise fills
/// only a third of the height and does not look like changes.
const TIMES_NOISE: f64 = 6.0;
/// Minimum number of second differences from which noise is estimated. With fewer, noise and a step cannot be told apart.
const FEWEST_DIFFERENCES: usize = 3;

/// Estimates the noise of a series: the median absolute second difference. A trend does not affect the estimate, and a step only a little.
fn noise(values: &[Option<f64>]) -> f64 {
    let known: Vec<f64> = values.iter().copied().flatten().collect();
    let triples = known.windows(3);
    let mut differences: Vec<f64> = triples
        .map(|of| (of[0] - 2.0 * of[1] + of[2]).abs())
        .collect();
    if differences.len() < FEWEST_DIFFERENCES {
        return 0.0;
    }
    differences.sort_by(f64::total_cmp);
    differences[differences.len() / 2]
}

/// Draws the last `width` of `values`, which are ordered oldest first. A gap stands for `None` and for a value that is not finite.
pub(crate) fn sparkline(values: &[Option<f64>], width: usize) -> String {
    let last = &values[values.len().saturating_sub(width)..];
    let finite = |value: &Option<f64>| value.filter(|value| value.is_finite());
    let known: Vec<Option<f64>> = last.iter().map(finite).collect();
    let scale = Scale::covering(known.iter().copied().flatten());
    let scale = scale.map(|scale| scale.widened_to(TIMES_NOISE * noise(&known)));
    let bar = |value: f64| {
        let height = scale.map_or(0.0, |scale| scale.position(value));
        let level = (height * BARS.len() as f64).floor().max(0.0) as usize;
        BARS[level.min(BARS.len() - 1)]
    };
    last.iter()
        .map(|value| finite(value).map_or(GAP, bar))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn change(estimate: f64, lower: f64, upper: f64) -> Estimate {
        Estimate {
            estimate,
            lower,
            upper,
        }
    }

    fn bars(limit: f64, width: usize) -> ChangeBars {
        let scale = Scale::new(-limit, limit);
        ChangeBars { scale, width }
    }

    fn drawn(scale: ChangeBars, change: &Estimate) -> String {
        let parts = scale.draw(change, 0.02);
        parts.into_iter().map(|(c, _)| c).collect()
    }

    #[test]
    fn zero_the_noise_band_the_interval_and_the_estimate_have_their_places() {
        let scale = bars(0.1, 21);
        for (found, bar) in [
            (change(0.08, 0.05, 0.099), "        ··│··  ╺━━●━━"),
            (change(0.0, -0.01, 0.01), "        ·╶●╴·        "),
            (change(0.01, -0.04, 0.06), "      ╺━╾─┼●╼━━━━    "),
            (change(-0.05, -0.3, 0.0), "‹━━━━●━━╾─┤··        "),
            (change(0.5, 0.3, 0.7), "        ··│··       »"),
            (change(0.5, 0.05, 0.7), "        ··│··  ╺━━━━»"),
            // The edge shows the arrow of the interval, so the dot is beside the arrow.
            (change(0.099, 0.05, 0.3), "        ··│··  ╺━━━●›"),
            (change(-0.1, -0.3, -0.05), "‹●━━━╸  ··│··        "),
            (
                change(0.0, f64::NEG_INFINITY, f64::INFINITY),
                "‹━━━━━━━╾─●─╼━━━━━━━›",
            ),
        ] {
            assert_eq!(drawn(scale, &found), bar, "{found:?}");
        }
    }

    #[test]
    fn every_bar_is_as_wide_as_its_heading() {
        for width in [11, 15, 21, 31] {
            for limit in [0.01, 0.2, 1.0, 50.0] {
                let scale = bars(limit, width);
                assert_eq!(scale.heading().chars().count(), width, "{limit}");
                for estimate in [-60.0, -0.2, 0.0, 0.013, 1.0, 70.0] {
                    let found = change(estimate, estimate - 0.1, estimate + 0.1);
                    let bar = drawn(scale, &found);
                    assert_eq!(bar.chars().count(), width);
                    let marks = bar.chars().filter(|c| matches!(c, '●' | '«' | '»'));
                    assert_eq!(marks.count(), 1, "{bar}");
                }
            }
        }
    }

    #[test]
    fn the_scale_suits_most_rows_and_shows_the_noise_band() {
        let limit = |changes: &[(Estimate, f64)]| ChangeBars::scaled_to(changes, 21).limit();
        assert_eq!(limit(&[]), 0.1);
        assert_eq!(limit(&[(change(0.0, -0.001, 0.001), 0.02)]), 0.05);
        let wide = (change(1.0, 0.6, 1.5), 0.02);
        let usual = (change(0.0, -0.17, 0.24), 0.02);
        assert_eq!(limit(&[wide, usual, usual]), 0.5);
        assert_eq!(
            limit(&[(change(0.0, f64::NEG_INFINITY, f64::INFINITY), 0.02)]),
            0.05
        );
        assert_eq!(
            ChangeBars::scaled_to(&[usual], 21).heading(),
            "−50 %     0     +50 %"
        );
        assert_eq!(ChangeBars::scaled_to(&[usual], 11).heading(), "   ±50 %   ");
    }

    fn draw(values: &[f64]) -> String {
        let values: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
        sparkline(&values, 20)
    }

    #[test]
    fn the_lowest_and_the_highest_value_span_the_height() {
        assert_eq!(draw(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]), "▁▂▃▄▅▆▇█");
        assert_eq!(draw(&[100.0, 100.0, 200.0]), "▁▁█");
    }

    #[test]
    fn small_differences_stay_small() {
        assert_eq!(draw(&[100.0, 100.1, 99.9, 100.0]), "▅▅▄▅");
        assert_eq!(draw(&[100.0]), "▅");
        assert_eq!(draw(&[0.0, 0.0]), "▁▁");
    }

    #[test]
    fn noise_is_no_mountain_range_and_a_step_is_one() {
        let noisy = [100.0, 118.0, 95.0, 110.0, 99.0, 121.0, 103.0, 112.0, 97.0];
        let levels: BTreeSet<char> = draw(&noisy).chars().collect();
        assert!(levels.len() <= 3, "{}", draw(&noisy));
        let mut stepped = noisy.to_vec();
        stepped.extend(noisy.map(|value| 3.0 * value));
        let row = draw(&stepped);
        let (low, high) = (row.chars().nth(8), row.chars().nth(9));
        assert!(low < high && row.contains('▇'), "{row}");
    }

    #[test]
    fn only_the_last_values_are_shown_and_gaps_stay() {
        let values = [Some(9.0), Some(1.0), None, Some(f64::NAN), Some(2.0)];
        assert_eq!(sparkline(&values, 4), "▁··█");
        assert_eq!(sparkline(&[None, None], 9), "··");
        assert_eq!(sparkline(&[], 9), "");
    }
}
