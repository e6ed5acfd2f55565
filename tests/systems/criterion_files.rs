//! Analyzes Criterion's stored samples again: `sample.json` must give the values that Criterion wrote to `estimates.json`, `tukey.json` and stdout.
//!
//! Used by the test of the recorded files, and by `tools/src/bin/criterion_check.rs`, which checks the files of a bench that has just run.

use perfcheck_stats::{
    ClusterMad, ClusterMean, ClusterMedian, ClusterSd, ClusterSlope, ClusterStatistic, Description,
    OutlierCounts, Resampling, Stream, TukeyFences, resample, slope_through_origin,
};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The largest accepted difference between Criterion's value and the value of this tool, relative to Criterion's. It applies to values that do not
/// depend on random numbers.
const EXACT: f64 = 1e-9;

/// The factor with which Criterion scales the MAD. It is 1.4826 rounded to 32 bits (`A::cast(1.4826)` in `stats/univariate/sample.rs` of 0.8.2),
/// which is 1.8e-8 less than this tool's factor, relative to it. So this tool's MAD is multiplied by Criterion's factor before it is compared.
const CRITERIONS_MAD: f64 = 1.4826_f32 as f64;

/// The number of seeds, and the number of resamples for each seed. The resamples of all seeds are pooled. For its most costly statistics, this tool
/// draws as few resamples as one seed has here.
const SEEDS: u64 = 10;
const RESAMPLES: usize = 1_000;

/// Criterion's default number of resamples.
const CRITERIONS_RESAMPLES: f64 = 100_000.0;

/// Maximum distance of a bound from its expected position, in standard deviations of the resampling noise.
const DEVIATIONS: f64 = 5.0;

/// The result of comparing one benchmark.
pub struct Checked {
    /// Directory of the benchmark.
    pub benchmark: PathBuf,
    /// Number of deterministic values, and their largest relative difference.
    pub values: usize,
    pub worst: f64,
    /// Number of compared bounds of confidence intervals.
    pub bounds: usize,
    /// Number of outliers of all kinds.
    pub outliers: usize,
    /// Descriptions of the values that do not agree with Criterion's.
    pub failures: Vec<String>,
}

/// Returns the directories below `root` that contain `sample.json`, sorted. Skips directories named `base`, which are copies of `new`.
pub fn benchmarks(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(directory) = open.pop() {
        let Ok(entries) = fs::read_dir(&directory) else {
            continue;
        };
        for entry in entries.flatten() {
            let path = entry.path();
            if path.is_dir() && path.file_name().is_some_and(|name| name != "base") {
                open.push(path);
            }
        }
        if directory.join("sample.json").is_file() {
            found.push(directory);
        }
    }
    found.sort();
    found
}

/// Compares the statistics of one benchmark. `output` is the text that Criterion printed, which contains the counts of outliers.
pub fn check(directory: &Path, output: &str) -> Checked {
    let mut checked = Checked {
        benchmark: directory.to_owned(),
        values: 0,
        worst: 0.0,
        bounds: 0,
        outliers: 0,
        failures: Vec::new(),
    };
    let (sample, estimates) = (
        read(directory, "sample.json"),
        read(directory, "estimates.json"),
    );
    let (iterations, times) = (numbers(&sample["iters"]), numbers(&sample["times"]));
    let per_iteration: Vec<f64> = times.iter().zip(&iterations).map(|(t, m)| t / m).collect();
    let described = Description::compute(&per_iteration).expect("samples");
    let points: Vec<(f64, f64)> = iterations
        .iter()
        .copied()
        .zip(times.iter().copied())
        .collect();
    let linear = sample["sampling_mode"] == "Linear";

    let slope = linear
        .then(|| slope_through_origin(&iterations, &times))
        .flatten();
    checked.value("mean", &estimates["mean"], Some(described.mean));
    checked.value("median", &estimates["median"], Some(described.median));
    checked.value("std_dev", &estimates["std_dev"], described.sd);
    let mad = Some(described.mad * CRITERIONS_MAD);
    checked.value("median_abs_dev", &estimates["median_abs_dev"], mad);
    checked.value("slope", &estimates["slope"], slope);
    checked.fences(directory, &per_iteration);
    checked.outliers(directory, output, &per_iteration);

    let singles: Vec<&[f64]> = per_iteration.chunks(1).collect();
    checked.interval("mean", &estimates["mean"], &ClusterMean::new(&singles), 1.0);
    checked.interval(
        "median",
        &estimates["median"],
        &ClusterMedian::new(&singles),
        1.0,
    );
    checked.interval(
        "std_dev",
        &estimates["std_dev"],
        &ClusterSd::new(&singles),
        1.0,
    );
    let mad = ClusterMad::new(&singles);
    checked.interval(
        "median_abs_dev",
        &estimates["median_abs_dev"],
        &mad,
        CRITERIONS_MAD,
    );
    if linear {
        let clusters: Vec<&[(f64, f64)]> = points.chunks(1).collect();
        let slope = ClusterSlope::new(&clusters);
        checked.interval("slope", &estimates["slope"], &slope, 1.0);
    }
    checked
}

impl Checked {
    fn value(&mut self, name: &str, estimate: &Value, ours: Option<f64>) {
        self.exact(name, estimate["point_estimate"].as_f64(), ours);
    }

    fn exact(&mut self, name: &str, theirs: Option<f64>, ours: Option<f64>) {
        self.values += 1;
        let apart = match (theirs, ours) {
            (None, None) => 0.0,
            (Some(theirs), Some(ours)) if theirs == ours => 0.0,
            (Some(theirs), Some(ours)) => (theirs - ours).abs() / theirs.abs(),
            _ => f64::INFINITY,
        };
        self.worst = self.worst.max(apart);
        if apart.is_nan() || apart > EXACT {
            self.failures
                .push(format!("{name}: {ours:?}, Criterion has {theirs:?}"));
        }
    }

    fn fences(&mut self, directory: &Path, values: &[f64]) {
        let theirs = numbers(&read(directory, "tukey.json"));
        let ours = TukeyFences::from_samples(values).expect("samples");
        let ours = [
            ours.low_severe,
            ours.low_mild,
            ours.high_mild,
            ours.high_severe,
        ];
        assert_eq!(theirs.len(), ours.len(), "tukey.json has four fences");
        for (theirs, ours) in theirs.into_iter().zip(ours) {
            self.exact("fence", Some(theirs), Some(ours));
        }
    }

    /// Compares the outliers of each kind with Criterion's fences and with the lines that Criterion printed.
    fn outliers(&mut self, directory: &Path, output: &str, values: &[f64]) {
        let ours = OutlierCounts::from_samples(values);
        self.outliers = ours.total();
        let fences = numbers(&read(directory, "tukey.json"));
        let count = |outside: &dyn Fn(f64) -> bool| values.iter().filter(|x| outside(**x)).count();
        let theirs = OutlierCounts {
            low_severe: count(&|x| x < fences[0]),
            low_mild: count(&|x| fences[0] <= x && x < fences[1]),
            high_mild: count(&|x| fences[2] < x && x <= fences[3]),
            high_severe: count(&|x| x > fences[3]),
        };
        self.values += 1;
        if ours != theirs {
            self.failures.push(format!(
                "outliers: {ours:?}, by Criterion's fences {theirs:?}"
            ));
        }
        let title = read(directory, "benchmark.json")["title"].clone();
        let title = title.as_str().expect("a title");
        match printed_outliers(output, title) {
            None => self
                .failures
                .push(format!("{title} is not in Criterion's output")),
            Some(printed) if printed != ours => self
                .failures
                .push(format!("outliers: {ours:?}, Criterion printed {printed:?}")),
            Some(_) => self.values += 1,
        }
    }

    /// Compares a confidence interval of Criterion with this tool's resamples. The share of resamples below each of Criterion's bounds must be the
    /// expected one, up to the random error of both programs.
    fn interval(
        &mut self,
        name: &str,
        theirs: &Value,
        statistic: &impl ClusterStatistic,
        factor: f64,
    ) {
        let theirs = &theirs["confidence_interval"];
        let level = theirs["confidence_level"].as_f64().expect("a level");
        let tail = (1.0 - level) / 2.0;
        let ours: Vec<f64> = (1..=SEEDS)
            .flat_map(|seed| {
                let stream = Stream { seed, name };
                let resamples = RESAMPLES;
                resample(statistic, Resampling { resamples, stream })
            })
            .collect();
        // The share of resamples below a bound is binomial.
        let of = |resamples: f64| (tail * (1.0 - tail) / resamples).sqrt();
        let noise = DEVIATIONS * of(ours.len() as f64).hypot(of(CRITERIONS_RESAMPLES));
        assert!(noise < tail, "the resamples say nothing of so small a tail");
        for (side, wanted) in [("lower", tail), ("upper", 1.0 - tail)] {
            self.bounds += 1;
            let bound = theirs[format!("{side}_bound")].as_f64().expect("a bound");
            // If resamples equal the bound, the share below it is a range.
            let share = |limit: f64| {
                let within = ours.iter().filter(|value| **value * factor < limit);
                within.count() as f64 / ours.len() as f64
            };
            let (below, at_most) = (share(bound * (1.0 - EXACT)), share(bound * (1.0 + EXACT)));
            if below > wanted + noise || at_most < wanted - noise {
                self.failures.push(format!(
                    "{name}: {below} to {at_most} of the resamples are below Criterion's {side} bound {bound}, not {wanted} \u{b1} {noise:.4}"
                ));
            }
        }
    }
}

/// Returns the counts that Criterion printed below the benchmark's name, or `None` if it found no outliers.
fn printed_outliers(output: &str, title: &str) -> Option<OutlierCounts> {
    let mut lines = output.lines();
    // The result is on the line of the name, or on the next line if the name is long.
    lines.find(|line| {
        let rest = line.strip_prefix(title).map(str::trim_start);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("time:"))
    })?;
    let mut counts = OutlierCounts::default();
    // Read up to the next result: that line is not indented and does not begin with `Found`.
    for line in lines.take_while(|line| line.starts_with(' ') || line.starts_with("Found")) {
        let mut words = line.split_whitespace();
        let (Some(count), Some(_), Some(side), Some(kind)) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            continue;
        };
        let Ok(count) = count.parse::<usize>() else {
            continue;
        };
        match (side, kind) {
            ("low", "severe") => counts.low_severe = count,
            ("low", "mild") => counts.low_mild = count,
            ("high", "mild") => counts.high_mild = count,
            ("high", "severe") => counts.high_severe = count,
            _ => {}
        }
    }
    Some(counts)
}

fn read(directory: &Path, file: &str) -> Value {
    let path = directory.join(file);
    let text =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn numbers(list: &Value) -> Vec<f64> {
    let list = list.as_array().expect("a list of numbers");
    list.iter()
        .map(|value| value.as_f64().expect("a number"))
        .collect()
}
