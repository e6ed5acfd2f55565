//! The last values of a series as a row of small bars, one column each.
//!
//! Pure. Where a terminal has no UTF-8, `charset` writes ASCII for the bars.

use crate::report::scale::Scale;

/// Bars from the lowest to the highest.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// What stands where there is no value.
const GAP: char = '·';

/// The last `width` of `values`, oldest first. `None`, and what is not finite, is a gap.
pub(crate) fn sparkline(values: &[Option<f64>], width: usize) -> String {
    let last = &values[values.len().saturating_sub(width)..];
    let finite = |value: &Option<f64>| value.filter(|value| value.is_finite());
    let scale = Scale::over(last.iter().filter_map(finite));
    let bar = |value: f64| {
        let height = scale.map_or(0.0, |scale| scale.part(value));
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

    fn of(values: &[f64]) -> String {
        let values: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
        sparkline(&values, 20)
    }

    #[test]
    fn the_lowest_and_the_highest_value_span_the_height() {
        assert_eq!(of(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]), "▁▂▃▄▅▆▇█");
        assert_eq!(of(&[100.0, 100.0, 200.0]), "▁▁█");
    }

    #[test]
    fn small_differences_stay_small() {
        assert_eq!(of(&[100.0, 100.1, 99.9, 100.0]), "▅▅▄▅");
        assert_eq!(of(&[100.0]), "▅");
        assert_eq!(of(&[0.0, 0.0]), "▁▁");
    }

    #[test]
    fn only_the_last_values_are_shown_and_gaps_stay() {
        let values = [Some(9.0), Some(1.0), None, Some(f64::NAN), Some(2.0)];
        assert_eq!(sparkline(&values, 4), "▁··█");
        assert_eq!(sparkline(&[None, None], 9), "··");
        assert_eq!(sparkline(&[], 9), "");
    }
}
