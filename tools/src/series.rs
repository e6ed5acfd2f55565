//! Made-up measurements for the simulations.

use perfcheck_analysis::model::{
    AuthorSettings, Benchmark, BenchmarkCounts, BenchmarkKey, Extras, Measurement, Metric, Nanos,
    ProcessSeries, Sample, SamplingSettings, Series, TargetFacts, Throughput,
};

/// Returns a measurement of the benchmark `id`. Each process has the samples of its linear phase, and flat samples.
pub fn measurement(id: &str, processes: Vec<(Vec<Sample>, Vec<Sample>)>) -> Measurement {
    let processes = (0_u32..)
        .zip(processes)
        .map(|(process, (linear, flat))| ProcessSeries {
            layout: None,
            process,
            quantum: Nanos(20),
            conduct: None,
            series: Series {
                warm_up: Sample {
                    iterations: 1,
                    elapsed: Nanos(1),
                },
                linear,
                flat,
            },
            extras: Extras::default(),
        })
        .collect();
    Measurement {
        benchmark: Benchmark {
            key: BenchmarkKey {
                package: "example".into(),
                target: "made-up".into(),
                id: id.into(),
            },
            version: None,
            throughput: Throughput::default(),
            other_throughput: None,
            settings: AuthorSettings::default(),
            metric: Metric::Time,
        },
        target_facts: TargetFacts::default(),
        sampling: SamplingSettings::default(),
        noise_threshold: 0.02,
        processes,
        failures: Vec::new(),
        counts: BenchmarkCounts::default(),
        verdict: None,
        described: None,
        expired: None,
    }
}
