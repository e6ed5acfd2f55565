//! The density of values as a curve, over the range that holds most of them.
//!
//! Only numbers; `report` draws them.

use perfcheck_stats::{density_curve, silverman_bandwidth};

/// The range is based on the closest interval that holds this share of the samples: up to a quarter of them may be interruptions.
const CLOSE: f64 = 0.75;
/// Samples farther away than this many widths of that interval are counted and not drawn. No sample of a normal distribution is that far away.
const REACH: f64 = 2.0;

/// The density of values over a range.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The two ends of the range.
    pub range: (f64, f64),
    /// The density at equally spaced points from one end to the other; empty if the values do not spread.
    pub heights: Vec<f64>,
}

impl Curve {
    /// Computes the density of the values of `sorted` within `range`, at `places` points.
    pub(super) fn estimate(sorted: &[f64], range: (f64, f64), places: usize) -> Self {
        let inside = slice_within(sorted, range);
        match silverman_bandwidth(inside) {
            Some(bandwidth) => Self::estimate_with_bandwidth(inside, bandwidth, range, places),
            None => Self {
                range,
                heights: Vec::new(),
            },
        }
    }

    /// Computes the density of all `values` with the caller's bandwidth.
    pub(super) fn estimate_with_bandwidth(
        values: &[f64],
        bandwidth: f64,
        range: (f64, f64),
        places: usize,
    ) -> Self {
        let curve = density_curve(values, bandwidth, range, places);
        Self {
            range,
            heights: curve.into_iter().map(|(_, height)| height).collect(),
        }
    }

    /// Returns the largest density; 0 without points.
    pub fn peak(&self) -> f64 {
        self.heights.iter().copied().fold(0.0, f64::max)
    }

    /// Yields each point with its density.
    pub fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        let (lower, upper) = self.range;
        let step = (upper - lower) / (self.heights.len().max(2) - 1) as f64;
        let heights = self.heights.iter().enumerate();
        heights.map(move |(i, height)| (lower + i as f64 * step, *height))
    }
}

/// Returns the range to draw: from the smallest to the largest value near the closest three quarters of the values, with some room on both sides.
/// Quartiles would not do: on a busy host nearly a quarter of the samples may lie far above the rest, and the upper quartile with them.
pub(super) fn drawn_range(sorted: &[f64]) -> Option<(f64, f64)> {
    let (from, to) = shortest_interval(sorted)?;
    let reach = REACH * (to - from);
    let is_near = |time: &&f64| reach == 0.0 || (from - reach..=to + reach).contains(*time);
    let least = sorted.iter().find(is_near)?;
    let most = sorted.iter().rfind(is_near)?;
    let near = slice_within(sorted, (*least, *most));
    // The density is near zero at this distance, so the curve ends within the picture.
    let tail = silverman_bandwidth(near).map_or(0.0, |bandwidth| 2.5 * bandwidth);
    let room = match tail.max((most - least) * 0.06) {
        0.0 => least.abs().max(1e-3) * 0.01,
        room => room,
    };
    Some(((least - room).max(0.0), most + room))
}

/// Returns the shortest interval between two samples that holds a share of [`CLOSE`] of them.
fn shortest_interval(sorted: &[f64]) -> Option<(f64, f64)> {
    let held = (sorted.len() as f64 * CLOSE).ceil().max(1.0) as usize;
    let ends = sorted
        .windows(held)
        .map(|held| (held[0], held[held.len() - 1]));
    ends.min_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0)))
}

/// Returns the values of `sorted` within `range`, both ends included.
pub(super) fn slice_within(sorted: &[f64], (from, to): (f64, f64)) -> &[f64] {
    let start = sorted.partition_point(|value| *value < from);
    let end = sorted.partition_point(|value| *value <= to);
    &sorted[start..end.max(start)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_has_its_highest_place_where_most_values_lie() {
        let values: Vec<f64> = (0..100).map(|i| 50.0 + f64::from(i * i) * 0.01).collect();
        let range = drawn_range(&values).unwrap();
        let curve = Curve::estimate(&values, range, 41);
        let points: Vec<(f64, f64)> = curve.points().collect();
        assert_eq!((points[0].0, points.len()), (range.0, 41));
        assert!((points[40].0 - range.1).abs() < 1e-9);
        let top = points.iter().find(|(_, height)| *height == curve.peak());
        assert!((45.0..65.0).contains(&top.unwrap().0));
    }

    #[test]
    fn values_without_spread_have_a_range_and_no_heights() {
        let range = drawn_range(&[5.0; 9]).unwrap();
        assert!(range.0 < 5.0 && range.1 > 5.0);
        let curve = Curve::estimate(&[5.0; 9], range, 41);
        assert_eq!((curve.peak(), curve.points().count()), (0.0, 0));
        assert_eq!(drawn_range(&[]), None);
    }

    #[test]
    fn both_ends_belong_to_a_range() {
        let sorted = [1.0, 2.0, 2.0, 3.0, 4.0];
        assert_eq!(slice_within(&sorted, (2.0, 3.0)), [2.0, 2.0, 3.0]);
        assert_eq!(slice_within(&sorted, (9.0, 12.0)), [0.0; 0]);
        assert_eq!(slice_within(&sorted, (3.5, 3.2)), [0.0; 0]);
    }
}
