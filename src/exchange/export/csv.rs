//! Writes every sample of every run as a table.

use std::io::{self, Write};

use super::exported::ExportedRun;
use crate::escape::csv_text as text;
use perfcheck_analysis::model::{Metric, ProgressReporter, Sample};

const COLUMNS: [&str; 11] = [
    "run",
    "package",
    "target",
    "id",
    "metric",
    "unit",
    "launch",
    "phase",
    "sample",
    "iterations",
    "elapsed",
];

/// Writes the table. `elapsed` is the total over the iterations, in nanoseconds or in the unit of an amount.
pub fn write_csv(
    writer: &mut dyn Write,
    runs: &[ExportedRun],
    told: &ProgressReporter<'_>,
) -> io::Result<()> {
    let all = runs.iter().map(|run| run.measurements.len()).sum();
    let mut done = 0;
    let mut table = ::csv::Writer::from_writer(writer);
    table.write_record(COLUMNS).map_err(io::Error::other)?;
    for run in runs {
        for measurement in run.measured() {
            told.report(done, all);
            done += 1;
            let benchmark = &measurement.benchmark;
            let (metric, unit) = match &benchmark.metric {
                Metric::Time => ("time", "ns"),
                Metric::Rate { unit } => ("rate", unit.as_str()),
                Metric::Amount { unit } => ("amount", unit.as_str()),
            };
            for launch in &measurement.launches {
                let series = &launch.series;
                let warm_up = [series.warm_up];
                let warm_up: &[Sample] = if warm_up[0].iterations > 0 {
                    &warm_up
                } else {
                    &[]
                };
                let phases = [
                    ("warm-up", warm_up),
                    ("linear", &series.linear),
                    ("flat", &series.flat),
                ];
                for (phase, samples) in phases {
                    for (number, sample) in samples.iter().enumerate() {
                        table
                            .write_record([
                                &*text(&run.name),
                                &text(&benchmark.key.package),
                                &text(&benchmark.key.target),
                                &text(&benchmark.key.id),
                                metric,
                                &text(unit),
                                &launch.launch.to_string(),
                                phase,
                                &number.to_string(),
                                &sample.iterations.to_string(),
                                &sample.elapsed.0.to_string(),
                            ])
                            .map_err(io::Error::other)?;
                    }
                }
            }
        }
    }
    table.flush()
}
