//! Values of whole launches: launches weigh alike, however many samples each has.

use super::description::{Description, mean, sample_variance, standard_error};
use super::quantile::median;

/// Describes the means of `launches`: the mean of means and their spread with k - 1. `None` without launches, with an empty one, or with a
/// value that is not finite.
pub fn describe_cluster_means(launches: &[&[f64]]) -> Option<Description> {
    let means = launches
        .iter()
        .map(|launch| mean(launch))
        .collect::<Option<Vec<f64>>>()?;
    Description::of(&means)
}

/// The deviation of the launches' medians over the mean of their standard errors: how much more a benchmark varies from process to process
/// than one process lets expect. 30 to 60 is ordinary where an iteration takes nanoseconds.
///
/// `None` below two launches, with an empty one, or where no launch varies within itself. Launches of one sample have no standard error and
/// are left out of its mean.
pub fn between_to_within_ratio(launches: &[&[f64]]) -> Option<f64> {
    let medians = launches
        .iter()
        .map(|launch| median(launch))
        .collect::<Option<Vec<f64>>>()?;
    let errors: Vec<f64> = launches
        .iter()
        .filter_map(|launch| standard_error(launch))
        .collect();
    let ratio = sample_variance(&medians)?.sqrt() / mean(&errors)?;
    ratio.is_finite().then_some(ratio)
}

/// The number of distinct resamples of k launches, C(2 k - 1, k): 10 for three, 126 for five. Below some hundreds a percentile bootstrap covers
/// less often than its level says.
pub fn distinct_resamples(launches: u32) -> f64 {
    // Each factor keeps the product whole: C(k + i - 1, i) for i = 1, 2, ...
    let choose = |k: u32| {
        (1..=k).fold(1.0, |product, i| {
            product * f64::from(k + i - 1) / f64::from(i)
        })
    };
    if launches == 0 { 0.0 } else { choose(launches) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_without_samples_or_spread_have_no_ratio() {
        assert_eq!(between_to_within_ratio(&[&[1.0, 2.0]]), None);
        assert_eq!(between_to_within_ratio(&[&[1.0, 2.0], &[]]), None);
        assert_eq!(between_to_within_ratio(&[&[1.0, 1.0], &[2.0, 2.0]]), None);
        assert_eq!(between_to_within_ratio(&[&[1.0], &[2.0]]), None);
        assert_eq!(describe_cluster_means(&[]), None);
        assert_eq!(describe_cluster_means(&[&[1.0], &[]]), None);
    }

    #[test]
    fn resamples_of_few_launches_are_few() {
        let counts = [0, 1, 2, 3, 5, 10].map(distinct_resamples);
        assert_eq!(counts, [0.0, 1.0, 3.0, 10.0, 126.0, 92_378.0]);
    }
}
