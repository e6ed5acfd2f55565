//! Summaries with one value per cluster: all clusters have equal weight, however many samples they have.

use super::description::{Description, mean, mean_distance, sample_variance, standard_error};
use super::quantile::median;

/// Describes the means of `clusters`: the mean of the k means, and their spread (k - 1).
///
/// The spread is computed from unrounded means. A single cluster has no standard deviation. `None` without clusters, with an empty cluster, or
/// with a value that is not finite.
pub fn describe_cluster_means(clusters: &[&[f64]]) -> Option<Description> {
    let means = clusters
        .iter()
        .map(|cluster| mean(cluster))
        .collect::<Option<Vec<f64>>>()?;
    let described = Description::compute(&means)?;
    let distances = clusters
        .iter()
        .map(|cluster| mean_distance(cluster, described.mean))
        .collect::<Option<Vec<f64>>>()?;
    let Description { sd, mad, .. } = Description::compute(&distances)?;
    Some(Description {
        sd,
        mad,
        ..described
    })
}

/// Returns how much more clusters differ than the variation within them suggests: the standard deviation of the clusters' medians divided by the
/// mean of their standard errors. It has no unit.
///
/// `NBenchmark` calls it process variance ratio; with processes as clusters and iterations of nanoseconds, 30 to 60 is ordinary. Clusters of one
/// sample have no standard error and are left out of its mean. `None` below two clusters, with an empty one, or if no cluster varies within
/// itself.
pub fn between_to_within_ratio(clusters: &[&[f64]]) -> Option<f64> {
    let medians = clusters
        .iter()
        .map(|cluster| median(cluster))
        .collect::<Option<Vec<f64>>>()?;
    let errors: Vec<f64> = clusters
        .iter()
        .filter_map(|cluster| standard_error(cluster))
        .collect();
    let ratio = sample_variance(&medians)?.sqrt() / mean(&errors)?;
    ratio.is_finite().then_some(ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_without_samples_or_spread_have_no_ratio() {
        assert_eq!(between_to_within_ratio(&[&[1.0, 2.0]]), None);
        assert_eq!(between_to_within_ratio(&[&[1.0, 2.0], &[]]), None);
        assert_eq!(between_to_within_ratio(&[&[1.0, 1.0], &[2.0, 2.0]]), None);
        assert_eq!(between_to_within_ratio(&[&[1.0], &[2.0]]), None);
        assert_eq!(describe_cluster_means(&[]), None);
        assert_eq!(describe_cluster_means(&[&[1.0], &[]]), None);
    }
}
