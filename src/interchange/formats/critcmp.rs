//! Reads the output of `critcmp --export` (0.1.8): Criterion's estimates of one baseline, without samples.

use serde::Deserialize;

use super::super::error::ExchangeError;
use super::super::groups::IterationLayout;
use super::super::input::InputContent;
use super::super::unit::ValueUnit;
use super::gathering::{ForeignRun, ForeignRunBuilder, format_error, sample_from_float};
use super::json::{JsonMembers, parse};
use perfcheck_analysis::model::{SourceFile, Throughput};

#[derive(Deserialize)]
struct CritcmpExport {
    name: String,
    benchmarks: JsonMembers<CritcmpBenchmark>,
}

#[derive(Deserialize)]
struct CritcmpBenchmark {
    criterion_benchmark_v1: CritcmpDescription,
    criterion_estimates_v1: CritcmpEstimates,
}

#[derive(Deserialize)]
struct CritcmpDescription {
    #[serde(default)]
    throughput: Option<CritcmpThroughput>,
}

#[derive(Deserialize)]
struct CritcmpThroughput {
    #[serde(rename = "Bytes", default)]
    bytes: Option<u64>,
    #[serde(rename = "Elements", default)]
    elements: Option<u64>,
}

#[derive(Deserialize)]
struct CritcmpEstimates {
    mean: CritcmpEstimate,
}

#[derive(Deserialize)]
struct CritcmpEstimate {
    point_estimate: f64,
}

/// Returns one run for each baseline. Files with the same baseline are processes of one run.
pub(super) fn read(
    files: &[InputContent],
    unit: &ValueUnit,
) -> Result<Vec<ForeignRun>, ExchangeError> {
    let mut runs: Vec<(String, ForeignRunBuilder, Vec<SourceFile>)> = Vec::new();
    for file in files {
        let exported: CritcmpExport = parse(file)?;
        let at = if let Some(at) = runs.iter().position(|(name, ..)| *name == exported.name) {
            at
        } else {
            runs.push((exported.name.clone(), ForeignRunBuilder::new(), Vec::new()));
            runs.len() - 1
        };
        let (_, run, sources) = &mut runs[at];
        sources.push(file.source());
        let process = run.process_ordinal(&file.name)?;
        for (id, benchmark) in exported.benchmarks.0 {
            let place = format!("{}: benchmarks[{id:?}]", file.name);
            let mean = benchmark.criterion_estimates_v1.mean.point_estimate;
            if mean == 0.0 {
                return Err(format_error(&place, "its mean is 0"));
            }
            let number = run.benchmark_index(&place, &id, unit.metric(), IterationLayout::Flat)?;
            run.add(number, process, sample_from_float(&place, mean, 1, unit)?);
            if let Some(amounts) = benchmark.criterion_benchmark_v1.throughput {
                let throughput = Throughput {
                    bytes: amounts.bytes,
                    elements: amounts.elements,
                };
                run.set_throughput(number, throughput);
            }
        }
        run.add_caveat(
            "critcmp exports no samples, so each benchmark has one value, its mean; to get the samples, import `target/criterion`"
                .to_owned(),
        );
    }
    runs.into_iter()
        .map(|(name, run, sources)| run.finish(Some(name), sources, &unit.to_string(), false))
        .collect()
}
