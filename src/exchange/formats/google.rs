//! What Google Benchmark writes with `--benchmark_format=json` (1.7 to 1.9): repetitions, and aggregates apart.

use serde::Deserialize;

use super::super::error::ExchangeError;
use super::super::groups::IterationLayout;
use super::super::input::InputContent;
use super::gathering::{ForeignRun, Gathering, broken, sample_of, unit};
use super::json::parse;

#[derive(Deserialize)]
struct GoogleFile {
    benchmarks: Vec<GoogleEntry>,
}

#[derive(Deserialize)]
struct GoogleEntry {
    name: String,
    #[serde(default)]
    run_name: Option<String>,
    #[serde(default)]
    run_type: Option<String>,
    #[serde(default)]
    aggregate_name: Option<String>,
    #[serde(default)]
    real_time: Option<f64>,
    #[serde(default)]
    time_unit: Option<String>,
    #[serde(default)]
    error_occurred: bool,
    #[serde(default)]
    skipped: bool,
    #[serde(default)]
    error_message: Option<String>,
    #[serde(default)]
    skip_message: Option<String>,
}

impl GoogleEntry {
    fn id(&self) -> &str {
        self.run_name.as_deref().unwrap_or(&self.name)
    }

    fn is_aggregate(&self) -> bool {
        self.run_type.as_deref() == Some("aggregate")
    }
}

/// One launch a file. Aggregates are left out where repetitions are there; else the mean is the one value.
pub(super) fn read(files: &[InputContent]) -> Result<Vec<ForeignRun>, ExchangeError> {
    let mut run = Gathering::new();
    let mut aggregates = 0_usize;
    for file in files {
        let written: GoogleFile = parse(file)?;
        let launch = run.launch(&file.name)?;
        let raw: std::collections::HashSet<&str> = (written.benchmarks.iter())
            .filter(|entry| !entry.is_aggregate())
            .map(GoogleEntry::id)
            .collect();
        for (at, entry) in written.benchmarks.iter().enumerate() {
            let place = format!("{}: benchmarks[{at}]", file.name);
            if entry.is_aggregate() {
                if raw.contains(entry.id()) {
                    aggregates += 1;
                    continue;
                }
                if entry.aggregate_name.as_deref() != Some("mean") {
                    continue;
                }
                run.caveat(format!(
                    "`{}` has aggregates and no repetitions: its mean is its one value",
                    entry.id()
                ));
            }
            if entry.error_occurred || entry.skipped {
                let said = (entry.error_message.as_deref())
                    .or(entry.skip_message.as_deref())
                    .unwrap_or("no reason given");
                run.caveat(format!(
                    "`{}` failed or was skipped and is left out: {said}",
                    entry.id()
                ));
                continue;
            }
            let time = entry
                .real_time
                .ok_or_else(|| broken(&place, "it has no `real_time`"))?;
            let named = entry.time_unit.as_deref().unwrap_or("ns");
            if !["ns", "us", "ms", "s"].contains(&named) {
                return Err(broken(
                    &place,
                    format!("`time_unit` is `{named}` and not ns, us, ms or s"),
                ));
            }
            let unit = unit(named);
            let number = run.benchmark(&place, entry.id(), unit.metric(), IterationLayout::Flat)?;
            run.add(number, launch, sample_of(&place, time, 1, &unit)?);
        }
    }
    if aggregates > 0 {
        run.caveat(format!(
            "aggregates (mean, median, stddev, ...) were left out, {aggregates} in all: they follow from the repetitions"
        ));
    }
    let sources = files.iter().map(InputContent::source).collect();
    Ok(vec![run.finish(
        None,
        sources,
        "by benchmark (time_unit), real time",
        false,
    )?])
}
