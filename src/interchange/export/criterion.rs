//! Writes Criterion's tree: `benchmark.json`, `sample.json`, `estimates.json` and `tukey.json` of each benchmark, as criterion 0.8 does.
//!
//! File names follow Criterion's rule (`make_filename_safe`). In addition, control characters are replaced, because they may be invalid in file
//! names, and so are names that consist of dots, because they could lead out of the tree.

use std::collections::HashMap;
use std::path::Path;
use std::{fs, io};

use serde_json::{Value, json};

use super::super::error::ExchangeError;
use super::exported::{ExportedRun, values_by_process};
use perfcheck_analysis::model::{Measurement, Metric, ProgressReporter, Sample, Throughput};
use perfcheck_stats::{
    ClusterMad, ClusterMean, ClusterMedian, ClusterSd, ClusterSlope, ClusterStatistic, Description,
    Interval, MAD_TO_SD, Resampling, Stream, TukeyFences, percentile_interval,
    slope_through_origin,
};

/// Length in bytes to which Criterion cuts names of directories.
const LONGEST_NAME_BYTES: usize = 64;
/// Confidence level of exported intervals.
pub(super) const CONFIDENCE_LEVEL: f64 = 0.95;
/// Number of resamples for exported intervals.
pub(super) const RESAMPLES: usize = 10_000;
/// The 97.5 % quantile of the normal distribution: half the width of a 95 % interval in standard errors.
const STANDARD_ERRORS: f64 = 1.959_963_984_540_054;

/// Writes runs below the directory `root`. In the tree, each run is a Criterion baseline that has the name of the run. Returns the number of
/// benchmarks written, and a sentence about each benchmark that was left out.
pub fn write_criterion(
    root: &Path,
    runs: &[ExportedRun],
    progress: &ProgressReporter<'_>,
) -> Result<(usize, Vec<String>), ExchangeError> {
    let all = runs.iter().map(|run| run.measurements.len()).sum();
    let mut written = 0;
    let mut left_out = Vec::new();
    let mut baselines = HashMap::new();
    for run in runs {
        let baseline = unused_name(&file_name(&run.name), &mut baselines);
        let mut directories = HashMap::new();
        for (id, measurement) in run.names().into_iter().zip(run.measured()) {
            progress.report(written + left_out.len(), all);
            if let Metric::Rate { unit } = &measurement.benchmark.metric {
                left_out.push(format!(
                    "`{id}` is a rate ({unit}/s), which Criterion's files cannot represent"
                ));
                continue;
            }
            let parts: Vec<&str> = id.splitn(3, '/').collect();
            let directory = parts.iter().map(|part| file_name(part));
            let directory = unused_name(&directory.collect::<Vec<_>>().join("/"), &mut directories);
            let place = root.join(&directory).join(&baseline);
            fs::create_dir_all(&place).map_err(|source| ExchangeError::Write {
                path: place.clone(),
                source,
            })?;
            let files = benchmark_files(run, &id, &parts, &directory, measurement);
            for (name, content) in files {
                write_file(&place.join(name), &content)?;
            }
            written += 1;
        }
    }
    Ok((written, left_out))
}

/// Returns the directory name for a part of an id.
pub fn file_name(part: &str) -> String {
    let harmless = |c: char| match c {
        '?' | '"' | '/' | '\\' | '*' | '<' | '>' | ':' | '|' | '^' => '_',
        c if c.is_control() => '_',
        c => c,
    };
    let mut name: String = part.chars().map(harmless).collect();
    let cut = (0..=LONGEST_NAME_BYTES.min(name.len()))
        .rev()
        .find(|at| name.is_char_boundary(*at));
    name.truncate(cut.unwrap_or(0));
    if name.chars().all(|c| c == '.') {
        // `.` and `..` would lead out of the directory, and an empty name is invalid.
        name = "_".repeat(name.len().max(1));
    }
    if std::env::consts::FAMILY == "windows" {
        name = allowed_on_windows(&name);
    }
    name
}

/// Names that devices have on Windows, in every directory and with every extension.
const DEVICES: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8",
    "com9", "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// Returns a name that Windows takes as it is. Windows drops dots and spaces at the end of a name. Like Criterion, this turns capitals into small letters.
fn allowed_on_windows(name: &str) -> String {
    let is_dropped = |c: char| c == '.' || c.is_whitespace();
    let name = name.trim_end_matches(is_dropped).to_lowercase();
    match name.split('.').next() {
        Some("") if name.is_empty() => "_".to_owned(),
        Some(device) if DEVICES.contains(&device) => format!("_{name}"),
        _ => name,
    }
}

/// Returns a name that is not in `taken`: `name`, or `name` with `_2`, `_3` and so on appended. The comparison ignores case, as some file systems do.
fn unused_name(name: &str, taken: &mut HashMap<String, usize>) -> String {
    let mut free = name.to_owned();
    while taken.contains_key(&free.to_lowercase()) {
        let number = taken.entry(name.to_lowercase()).or_insert(1);
        *number += 1;
        free = format!("{name}_{number}");
    }
    taken.insert(free.to_lowercase(), 1);
    free
}

fn write_file(path: &Path, content: &Value) -> Result<(), ExchangeError> {
    let failed = |source: io::Error| ExchangeError::Write {
        path: path.to_owned(),
        source,
    };
    // A symbolic link could redirect the file to another place.
    let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
    if is_link {
        return Err(failed(io::Error::other("it is a symbolic link")));
    }
    let bytes = serde_json::to_vec(content).map_err(|error| failed(error.into()))?;
    fs::write(path, bytes).map_err(failed)
}

fn benchmark_files(
    run: &ExportedRun,
    id: &str,
    parts: &[&str],
    directory: &str,
    measurement: &Measurement,
) -> Vec<(&'static str, Value)> {
    let samples: Vec<Sample> = (measurement.processes.iter())
        .flat_map(|process| process.series.deciding_samples().iter().copied())
        .collect();
    // If some processes have linear samples and others flat ones, their samples together are not linear.
    let is_linear = (measurement.processes.iter()).all(|process| process.series.flat.is_empty());
    let iterations: Vec<f64> = samples.iter().map(|one| one.iterations as f64).collect();
    let times: Vec<f64> = samples.iter().map(|one| one.elapsed.as_f64()).collect();
    let described = json!({
        "group_id": parts[0],
        "function_id": parts.get(1),
        "value_str": parts.get(2),
        "throughput": throughput(measurement.benchmark.throughput),
        "full_id": id,
        "directory_name": directory,
        "title": id,
    });
    let sampled = json!({
        "sampling_mode": if is_linear { "Linear" } else { "Flat" },
        "iters": iterations,
        "times": times,
    });
    let per_iteration: Vec<f64> = samples.iter().map(|one| one.per_iteration()).collect();
    let fences = TukeyFences::from_samples(&per_iteration);
    let tukey = fences.map_or(Value::Null, |fences| {
        json!([
            fences.low_severe,
            fences.low_mild,
            fences.high_mild,
            fences.high_severe
        ])
    });
    let estimates = estimates(run, id, measurement, &samples, is_linear);
    // `benchmark.json` is written last, as Criterion does: a directory without it is incomplete.
    vec![
        ("sample.json", sampled),
        ("tukey.json", tukey),
        ("estimates.json", estimates),
        ("benchmark.json", described),
    ]
}

fn throughput(throughput: Throughput) -> Value {
    match (throughput.bytes, throughput.elements) {
        (Some(bytes), None) => json!({"Bytes": bytes}),
        (None, Some(elements)) => json!({"Elements": elements}),
        (Some(bytes), Some(elements)) => {
            json!({"ElementsAndBytes": {"elements": elements, "bytes": bytes}})
        }
        (None, None) => Value::Null,
    }
}

/// Returns the content of `estimates.json`. The slope is computed from all samples, and the other estimates from the samples that the run's filter
/// keeps.
fn estimates(
    run: &ExportedRun,
    id: &str,
    measurement: &Measurement,
    samples: &[Sample],
    is_linear: bool,
) -> Value {
    let processes = values_by_process(measurement).into_iter();
    let per_iteration: Vec<f64> = processes.flat_map(|(_, values)| values).collect();
    let Some(described) = Description::compute(&per_iteration) else {
        return Value::Null;
    };
    let singles: Vec<&[f64]> = per_iteration.chunks(1).collect();
    let points: Vec<(f64, f64)> = (samples.iter())
        .map(|one| (one.iterations as f64, one.elapsed.as_f64()))
        .collect();
    let (x, y): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    let slope = is_linear.then(|| slope_through_origin(&x, &y)).flatten();
    let clusters: Vec<&[(f64, f64)]> = points.chunks(1).collect();
    let stream = Stream {
        seed: run.run.begun.seed,
        name: id,
    };
    let sd = described.sd.unwrap_or(0.0);
    let mean = bootstrap_interval(&ClusterMean::new(&singles), 1.0, stream);
    let median = bootstrap_interval(&ClusterMedian::new(&singles), 1.0, stream);
    let mad = bootstrap_interval(&ClusterMad::new(&singles), MAD_TO_SD, stream);
    let deviation = bootstrap_interval(&ClusterSd::new(&singles), 1.0, stream);
    let sloping = slope.map(|slope| {
        let found = bootstrap_interval(&ClusterSlope::new(&clusters), 1.0, stream);
        estimate_json(slope, found)
    });
    json!({
        "mean": estimate_json(described.mean, mean),
        "median": estimate_json(described.median, median),
        "median_abs_dev": estimate_json(described.mad_scaled(), mad),
        "slope": sloping,
        "std_dev": estimate_json(sd, deviation),
    })
}

/// Returns a value with its interval. With a single sample the interval is the value itself.
fn estimate_json(value: f64, interval: Option<Interval>) -> Value {
    let Interval { lower, upper } = interval.unwrap_or(Interval::around(value, 0.0));
    json!({
        "confidence_interval": {
            "confidence_level": CONFIDENCE_LEVEL,
            "lower_bound": lower,
            "upper_bound": upper,
        },
        "point_estimate": value,
        "standard_error": (upper - lower) / (2.0 * STANDARD_ERRORS),
    })
}

/// Returns a percentile bootstrap interval over single samples, as Criterion computes it.
fn bootstrap_interval(
    statistic: &impl ClusterStatistic,
    factor: f64,
    stream: Stream<'_>,
) -> Option<Interval> {
    if statistic.clusters() < 2 {
        return None;
    }
    let resampling = Resampling {
        resamples: RESAMPLES,
        stream,
    };
    let found = percentile_interval(statistic, CONFIDENCE_LEVEL, resampling)?;
    Some(found.map(|bound| bound * factor))
        .filter(|interval| interval.lower.is_finite() && interval.upper.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_devices_and_what_windows_drops_do_not_get_into_names() {
        for (name, expected) in [
            ("Sort/Stable", "sort/stable"),
            ("a. .", "a"),
            (" . ", "_"),
            ("NUL", "_nul"),
            ("com1.txt", "_com1.txt"),
            ("console", "console"),
            (".hidden", ".hidden"),
        ] {
            assert_eq!(allowed_on_windows(name), expected, "{name:?}");
        }
    }
}
