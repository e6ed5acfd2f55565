//! The input of an export: the measurements of a run, with their names.

use std::collections::HashMap;

use perfcheck_analysis::compare::described_processes;
use perfcheck_analysis::model::{Measurement, Metric, ProcessSeries, Run};

/// A run to export.
#[derive(Debug, Clone)]
pub struct ExportedRun {
    /// Name of the run: a baseline's name, or `run-12`.
    pub name: String,
    /// The run without its measurements.
    pub run: Run,
    /// The benchmarks of the run, sorted by key. Benchmarks without samples are not exported.
    pub measurements: Vec<Measurement>,
}

impl ExportedRun {
    /// Returns the measurements that have samples.
    pub(super) fn measured(&self) -> impl Iterator<Item = &Measurement> {
        let measurements = self.measurements.iter();
        measurements.filter(|measurement| {
            (measurement.processes.iter())
                .any(|process| !process.series.deciding_samples().is_empty())
        })
    }

    /// Returns a name for each benchmark with samples: its id, preceded by package and target if another benchmark has the same id.
    pub(super) fn names(&self) -> Vec<String> {
        let mut ids: HashMap<&str, usize> = HashMap::new();
        for measurement in self.measured() {
            *ids.entry(&measurement.benchmark.key.id).or_default() += 1;
        }
        self.measured()
            .map(|measurement| {
                let key = &measurement.benchmark.key;
                if ids.get(key.id.as_str()) == Some(&1) {
                    key.id.clone()
                } else {
                    format!("{}/{}/{}", key.package, key.target, key.id)
                }
            })
            .collect()
    }
}

/// Returns for each process its values per iteration, without those of samples that the run's outlier filter leaves out. The values of rates are in
/// units per second.
pub(super) fn values_by_process(measurement: &Measurement) -> Vec<(&ProcessSeries, Vec<f64>)> {
    let value = |per_iteration: f64| match measurement.benchmark.metric {
        Metric::Rate { .. } => 1e9 / per_iteration,
        Metric::Time | Metric::Amount { .. } => per_iteration,
    };
    (described_processes(measurement).into_iter())
        .map(|(process, times)| {
            let values = times.into_iter().map(value);
            let values = values.filter(|value| value.is_finite());
            (process, values.collect::<Vec<f64>>())
        })
        .filter(|(_, values)| !values.is_empty())
        .collect()
}
