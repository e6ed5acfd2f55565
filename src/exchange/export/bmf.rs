//! Writes the Bencher Metric Format: for each benchmark its measures, each a value with bounds.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::criterion::{CONFIDENCE_LEVEL, RESAMPLES};
use super::exported::{ExportedRun, values_by_process};
use crate::escape;
use perfcheck_analysis::model::{Metric, ProgressReporter};
use perfcheck_stats::{ClusterMean, Resampling, Stream, mean, percentile_interval};

/// Writes one run: means with bootstrap intervals, which resample whole processes if there are several.
pub fn write_bmf(
    writer: &mut dyn Write,
    run: &ExportedRun,
    told: &ProgressReporter<'_>,
) -> io::Result<()> {
    let mut benchmarks = Map::new();
    for (done, (name, measurement)) in run.names().into_iter().zip(run.measured()).enumerate() {
        told.report(done, run.measurements.len());
        let launches = values_by_process(measurement).into_iter();
        let launches: Vec<Vec<f64>> = launches.map(|(_, values)| values).collect();
        let clusters: Vec<&[f64]> = match launches.as_slice() {
            [only] => only.chunks(1).collect(),
            several => several.iter().map(Vec::as_slice).collect(),
        };
        let all: Vec<f64> = launches.iter().flatten().copied().collect();
        let Some(value) = mean(&all) else { continue };
        let resampling = Resampling {
            resamples: RESAMPLES,
            stream: Stream {
                seed: run.run.begun.seed,
                name: &name,
            },
        };
        let interval = (clusters.len() > 1)
            .then(|| {
                percentile_interval(&ClusterMean::new(&clusters), CONFIDENCE_LEVEL, resampling)
            })
            .flatten();
        let mut measures = Map::new();
        let mut bounded = json!({"value": value});
        if let Some(interval) = interval {
            bounded["lower_value"] = interval.lower.into();
            bounded["upper_value"] = interval.upper.into();
        }
        let measure = match &measurement.benchmark.metric {
            Metric::Time => "latency".to_owned(),
            Metric::Rate { .. } => "throughput".to_owned(),
            Metric::Amount { unit } => slug(unit),
        };
        measures.insert(measure, bounded);
        let throughput = measurement.benchmark.throughput;
        if let Some(amount) = throughput.elements.or(throughput.bytes)
            && measurement.benchmark.metric.is_time()
            && value > 0.0
        {
            let rate = amount as f64 * 1e9 / value;
            measures.insert("throughput".to_owned(), json!({"value": rate}));
        }
        benchmarks.insert(name, Value::Object(measures));
    }
    let text = serde_json::to_string_pretty(&Value::Object(benchmarks))?;
    writeln!(writer, "{}", escape::json(&text))
}

/// Returns the name of a measure: lowercase letters, digits and dashes.
fn slug(unit: &str) -> String {
    let lower = unit.to_lowercase();
    let letters = lower.chars();
    letters
        .map(|c| if c.is_alphanumeric() { c } else { '-' })
        .collect()
}
