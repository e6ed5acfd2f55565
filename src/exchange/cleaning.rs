//! The summary of an import: warm-up kept apart, outliers counted by a named policy, mean with its bootstrap interval.
//!
//! Nothing here changes what is stored: the policy is for the summary and for the record of where it came from.

use super::groups::Group;
use crate::model::Sample;
use crate::stats::{
    ClusterMean, Description, IqrFence, OperationRates, OutlierPolicy, Resampling, Stream,
    derived_seed, percentile_interval,
};

/// Resamples and seed of the interval of a mean, as the serializer methodology has them.
const RESAMPLES: usize = 2_000;
const SEED: u64 = 42;
const CONFIDENCE_LEVEL: f64 = 0.95;
/// Of fewer values there is no interval.
const FEWEST_FOR_INTERVAL: usize = 5;

/// Which values count as outliers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FilterPolicy {
    /// None do.
    #[default]
    All,
    /// Those beyond 1.5 IQR from the quartiles.
    Iqr1_5,
    /// Those beyond 3 IQR.
    Iqr3,
    /// Those further from the median than 3 scaled MAD.
    Mad,
    /// Those beyond the 5th and 95th percentile become these.
    Winsorize5To95,
}

impl FilterPolicy {
    /// Its name, as the serializer methodology writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Iqr1_5 => "iqr_1.5",
            Self::Iqr3 => "iqr_3",
            Self::Mad => "mad_3",
            Self::Winsorize5To95 => "winsorize_5_95",
        }
    }

    fn policy(self) -> OutlierPolicy {
        match self {
            Self::All => OutlierPolicy::Keep,
            Self::Iqr1_5 => OutlierPolicy::IqrFence(IqrFence::INTERPOLATED),
            Self::Iqr3 => OutlierPolicy::IqrFence(IqrFence::INTERPOLATED_WIDE),
            Self::Mad => OutlierPolicy::Mad { multiple: 3.0 },
            Self::Winsorize5To95 => OutlierPolicy::Winsorise5To95,
        }
    }
}

/// How a group is cleaned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cleaning {
    /// Whether the first row of each launch is its warm-up. A launch of one row keeps it.
    pub drop_first: bool,
    /// Which values count as outliers, in each column by itself.
    pub policy: FilterPolicy,
    /// Whether a row that is an outlier in one column is one in all.
    pub paired: bool,
}

/// What one column of a group comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueSummary {
    /// Values read.
    pub runs_raw: usize,
    /// Values kept apart as warm-up.
    pub warmup_skipped: usize,
    /// Values that the policy removes.
    pub outliers_removed: usize,
    /// Values that the summary is of: `runs_raw = runs + warmup_skipped + outliers_removed`.
    pub runs: usize,
    /// Values that the policy replaced.
    pub replaced: usize,
    /// Bounds beyond which values are outliers, where the policy drew any; per iteration.
    pub fences: Option<(f64, f64)>,
    /// Mean of the values left, per iteration.
    pub mean: f64,
    /// Percentile bootstrap interval of that mean, at 95 %, unless there are too few values.
    pub interval: Option<(f64, f64)>,
    /// Median of the values left.
    pub median: f64,
    /// 1e9 over mean, longest and shortest.
    pub per_second: OperationRates,
    /// How many medians the mean is, before the policy: what it removes may be what is absurd. `None` where the median is 0.
    pub mean_over_median: Option<f64>,
    /// Values of 0.
    pub zeros: usize,
}

/// Which rows are warm-up: the first of each launch that has more than one.
pub fn warm_up_rows(group: &Group, cleaning: Cleaning) -> Vec<bool> {
    let launch = |at: usize| group.rows.get(at).map(|row| row.launch);
    (0..group.rows.len())
        .map(|at| {
            let first = at == 0 || launch(at - 1) != launch(at);
            cleaning.drop_first && first && launch(at + 1) == launch(at)
        })
        .collect()
}

/// One column on its way.
struct Treatment {
    values: Vec<f64>,
    outlier: Vec<bool>,
    fences: Option<(f64, f64)>,
    replaced: usize,
}

/// Cleans `group` and describes each column.
pub fn clean(group: &Group, cleaning: Cleaning) -> Vec<ValueSummary> {
    let warm_up = warm_up_rows(group, cleaning);
    let mut columns: Vec<Treatment> = (0..group.metrics.len())
        .map(|at| treated(&warm(group, at, &warm_up), cleaning.policy))
        .collect();
    if cleaning.paired {
        let rows = columns.first().map_or(0, |column| column.values.len());
        let any: Vec<bool> = (0..rows)
            .map(|row| columns.iter().any(|column| column.outlier[row]))
            .collect();
        // Never nothing left.
        let any = if any.iter().all(|outlier| *outlier) {
            vec![false; rows]
        } else {
            any
        };
        for column in &mut columns {
            column.outlier.clone_from(&any);
        }
    }
    columns
        .into_iter()
        .zip(0..)
        .filter_map(|(column, at)| described(group, at, &column))
        .collect()
}

/// The values of a column that are no warm-up.
fn warm(group: &Group, column: usize, warm_up: &[bool]) -> Vec<f64> {
    let rows = group
        .rows
        .iter()
        .zip(warm_up)
        .filter(|(_, warm_up)| !**warm_up);
    rows.map(|(row, _)| Sample::per_iteration(row.samples[column]))
        .collect()
}

fn treated(values: &[f64], policy: FilterPolicy) -> Treatment {
    let untouched = || Treatment {
        values: values.to_vec(),
        outlier: vec![false; values.len()],
        fences: None,
        replaced: 0,
    };
    let Some(treated) = policy.policy().apply(values) else {
        return untouched();
    };
    let Some((low, high)) = treated.bounds else {
        return untouched();
    };
    let replaces = treated.removed() == 0;
    Treatment {
        outlier: (values.iter())
            .map(|value| !replaces && !(low..=high).contains(value))
            .collect(),
        values: if replaces {
            treated.values.clone()
        } else {
            values.to_vec()
        },
        fences: Some((low, high)),
        replaced: treated.replaced(),
    }
}

fn described(group: &Group, column: usize, treatment: &Treatment) -> Option<ValueSummary> {
    let used: Vec<f64> = (treatment.values.iter().zip(&treatment.outlier))
        .filter(|(_, outlier)| !**outlier)
        .map(|(value, _)| *value)
        .collect();
    let description = Description::of(&used)?;
    let before = Description::of(&treatment.values)?;
    let clusters: Vec<&[f64]> = used.chunks(1).collect();
    // A seed of its own for each group and column: one for all would make their intervals alike.
    let seed = derived_seed(SEED, &format!("{}/{column}", group.id));
    let resampling = Resampling {
        resamples: RESAMPLES,
        stream: Stream { seed, name: "mean" },
    };
    let interval = (used.len() >= FEWEST_FOR_INTERVAL)
        .then(|| percentile_interval(&ClusterMean::new(&clusters), CONFIDENCE_LEVEL, resampling))
        .flatten();
    Some(ValueSummary {
        runs_raw: group.rows.len(),
        warmup_skipped: group.rows.len() - treatment.values.len(),
        outliers_removed: treatment.values.len() - used.len(),
        runs: used.len(),
        replaced: treatment.replaced,
        fences: treatment.fences,
        mean: description.mean,
        interval: interval.map(|found| (found.lower, found.upper)),
        median: description.median,
        per_second: OperationRates::of(&used)?,
        mean_over_median: before.mean_over_median(),
        zeros: (group.rows.iter())
            .filter(|row| row.samples[column].elapsed.0 == 0)
            .count(),
    })
}
