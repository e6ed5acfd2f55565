//! Draws the last values of a series as a row of small bars (a sparkline), one column each.
//!
//! On terminals without UTF-8, `CharsetWriter` replaces the bars by ASCII.

use crate::output::scale::Scale;

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
    use super::*;
    use std::collections::BTreeSet;

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
