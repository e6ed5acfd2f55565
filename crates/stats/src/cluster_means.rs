//! One value a cluster: clusters weigh alike, however many samples each has.

use super::description::{Description, mean, mean_distance, sample_variance, standard_error};
use super::quantile::median;

/// Describes the means of `clusters`: the mean of the k means and their spread (k - 1).
///
/// The spread is that of the means before they are rounded. A single cluster has no standard deviation. `None` without clusters, with an empty one, or with a value that is not finite.
pub fn describe_cluster_means(clusters: &[&[f64]]) -> Option<Description> {
    let means = clusters
        .iter()
        .map(|cluster| mean(cluster))
        .collect::<Option<Vec<f64>>>()?;
    let described = Description::of(&means)?;
    let distances = clusters
        .iter()
        .map(|cluster| mean_distance(cluster, described.mean))
        .collect::<Option<Vec<f64>>>()?;
    let Description { sd, mad, .. } = Description::of(&distances)?;
    Some(Description {
        sd,
        mad,
        ..described
    })
}

/// How much more clusters differ than the samples within one let expect: the standard deviation of the clusters' medians over the mean of their
/// standard errors. It has no unit.
///
/// `NBenchmark` calls it process variance ratio; with processes as clusters and iterations
/// of nanoseconds, 30 to 60 is ordinary. `None` below two clusters, with an empty one, or where no cluster varies within itself. Clusters
/// of one sample have no standard error and are left out of its mean.
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
