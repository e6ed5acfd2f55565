//! Measures a large store: the time to open it, to list runs and to load two runs for a comparison, and the bytes per sample.
//!
//! ```text
//! cargo run --release -p perfcheck-tools --bin store_scale -- [RUNS [BENCHMARKS [PROCESSES [SAMPLES [DIRECTORY]]]]]
//! ```
//!
//! Defaults: 10000 runs of 100 benchmarks with 5 processes of 20 samples, in a temporary directory that is removed at the end. If DIRECTORY is given,
//! `perfcheck.db` stays there (`tools/store_scale.sh` measures the commands with it). All data is written as by a real run, in one transaction per
//! process.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use perfcheck_analysis::model::{
    Acceptance, AuthorSettings, Benchmark, BenchmarkInProcess, BenchmarkKey, DecisionSettings,
    Environment, Extras, GitState, Harness, Metric, Nanos, NewRun, ProcessHead, ProcessOutcome,
    ProcessRecord, RunEnd, RunId, RunVerdict, Sample, SamplingSettings, Series, TargetFacts,
    Throughput, Timestamp, Verdict,
};
use perfcheck_store::{BranchFilter, HistoryQuery, RunFilter, Store, WorkspaceId};

const REPEATS: usize = 21;
const RUN_SECONDS: i64 = 300;
const FIRST_START: i64 = 1_700_000_000_000_000_000;

/// The amount of data in the store.
struct Scale {
    runs: usize,
    benchmarks: usize,
    processes: u32,
    samples: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: usize| arguments.next().map_or(Ok(default), |text| text.parse());
    let scale = Scale {
        runs: number(10_000)?,
        benchmarks: number(100)?,
        processes: u32::try_from(number(5)?)?,
        samples: number(20)?,
    };
    let temporary = tempfile::tempdir()?;
    let directory = arguments
        .next()
        .map_or_else(|| temporary.path().to_owned(), PathBuf::from);
    let path = directory.join("perfcheck.db");

    let begun = Instant::now();
    fill(&path, &scale)?;
    let processes = scale.runs * scale.processes as usize;
    println!(
        "{} runs x {} benchmarks x {} processes x {} samples",
        scale.runs, scale.benchmarks, scale.processes, scale.samples
    );
    println!(
        "filling            {:>12.3?} a process",
        begun.elapsed() / u32::try_from(processes)?
    );
    let bytes = std::fs::metadata(&path)?.len();
    let series = processes * scale.benchmarks;
    println!("file               {:>12.1} MB", bytes as f64 / 1e6);
    println!(
        "a series, all told {:>12.1} bytes",
        bytes as f64 / series as f64
    );
    println!(
        "a sample, all told {:>12.2} bytes",
        bytes as f64 / (series * scale.samples) as f64
    );
    report(&path, &scale)
}

fn report(path: &Path, scale: &Scale) -> Result<(), Box<dyn Error>> {
    let store = open(path)?;
    let workspace = store.find_workspace("id:scale")?.ok_or("no workspace")?;
    let newest = store.latest_run(workspace)?.ok_or("no run")?;
    drop(store);

    time("open to write", || {
        let _: () = drop(Store::open(path)?);
        Ok(())
    })?;
    time("open to read", || {
        let _: () = drop(open(path)?);
        Ok(())
    })?;
    time("open and list", || {
        let benchmarks = open(path)?.benchmarks(workspace)?;
        assert_eq!(benchmarks.len(), scale.benchmarks);
        Ok(())
    })?;
    time("open and 20 runs", || {
        assert_eq!(
            open(path)?.runs(workspace, Some(20))?.len(),
            scale.runs.min(20)
        );
        Ok(())
    })?;
    time("open and all runs", || {
        assert_eq!(open(path)?.runs(workspace, None)?.len(), scale.runs);
        Ok(())
    })?;
    time("open and compare", || {
        compare(path, workspace, newest, BranchFilter::Only(Some("main")))
    })?;
    // No run is on this branch. Measure the cost of finding that out for every benchmark.
    time("the same, in vain", || {
        compare(path, workspace, newest, BranchFilter::Only(Some("new")))
    })
}

/// Reads what a comparison reads: the new run, the history of each benchmark, and the reference.
fn compare(
    path: &Path,
    workspace: WorkspaceId,
    newest: RunId,
    branch: BranchFilter<'_>,
) -> Result<(), Box<dyn Error>> {
    let store = open(path)?;
    let candidate = store.measurements(newest, None)?;
    let keys: Vec<_> = candidate
        .iter()
        .map(|measurement| measurement.benchmark.key.clone())
        .collect();
    let query = HistoryQuery {
        branch,
        runs: RunFilter::Accepted,
        before: Some(newest),
        limit: 20,
    };
    let history = store.history(workspace, &keys, &query)?;
    if let Some((reference, _)) = history.runs.last_key_value() {
        assert_eq!(store.measurements(*reference, None)?.len(), candidate.len());
    }
    Ok(())
}

fn open(path: &Path) -> Result<Store, Box<dyn Error>> {
    Ok(Store::open_existing(path)?.ok_or("no store")?)
}

/// Prints median and maximum of repeated calls.
fn time(what: &str, action: impl Fn() -> Result<(), Box<dyn Error>>) -> Result<(), Box<dyn Error>> {
    let mut times = Vec::with_capacity(REPEATS);
    for _ in 0..REPEATS {
        let begun = Instant::now();
        action()?;
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    println!(
        "{what:<18} {:>12.3} ms (slowest {:.3} ms)",
        milliseconds(times[REPEATS / 2]),
        milliseconds(times[REPEATS - 1]),
    );
    Ok(())
}

fn fill(path: &Path, scale: &Scale) -> Result<(), Box<dyn Error>> {
    let mut store = Store::open(path)?;
    let workspace = store.ensure_workspace("id:scale", "/scale")?;
    let mut noise = Noise(1);
    for index in 0..scale.runs {
        let started = FIRST_START + i64::try_from(index)? * RUN_SECONDS * 1_000_000_000;
        let branch = if index % 5 == 0 { "side" } else { "main" };
        let run = store.begin_run(workspace, &new_run(index, started, branch))?;
        for ordinal in 0..scale.processes {
            store.record_process(run, &process(ordinal, started, scale, &mut noise))?;
        }
        let verdicts = (0..scale.benchmarks)
            .map(|benchmark| RunVerdict {
                key: key(benchmark),
                verdict: Verdict::Unchanged,
                typical_ns: Some(1000.0 + noise.below(100) as f64),
                change: Some(0.001),
                standard_error: Some(0.003),
                reference: (index > 0).then_some(RunId(run.0 - 1)),
            })
            .collect();
        let end = RunEnd {
            conclusion: None,
            finished: Timestamp(started + 1_000_000_000),
            acceptance: if index % 50 == 7 {
                Acceptance::Pending
            } else {
                Acceptance::Automatic
            },
            exit_code: 0,
            verdicts,
        };
        store.finish_run(run, &end)?;
    }
    Ok(())
}

fn new_run(index: usize, started: i64, branch: &str) -> NewRun {
    let mut environment = Environment::default();
    environment.host.kernel = format!("6.{}.0", index / 500);
    environment.host.cpu = "A processor of this world @ 3.20GHz".into();
    NewRun {
        build: None,
        partition: None,
        past: None,
        started: Timestamp(started),
        git: Some(GitState {
            commit: format!("{:040x}", index as u128 * 0x9e37_79b9_7f4a_7c15_f39c_c060),
            branch: Some(branch.into()),
            dirty: false,
        }),
        environment,
        load: Some(0.5),
        seed: index as u64,
        decision: DecisionSettings::default(),
        tool_version: "0.1.0".into(),
    }
}

fn key(benchmark: usize) -> BenchmarkKey {
    BenchmarkKey {
        package: format!("package-{}", benchmark / 50),
        target: format!("target_{}", benchmark / 25),
        id: format!("group/function/{benchmark}"),
    }
}

/// Returns a process with all benchmarks. A fifth of the samples are a linear phase up to 1 ms, the others take about 1 ms.
fn process(ordinal: u32, started: i64, scale: &Scale, noise: &mut Noise) -> ProcessRecord {
    let ramp = scale.samples as u64 / 5;
    let mut sample = |iterations: u64| Sample {
        iterations,
        elapsed: Nanos(iterations * 1000 + noise.below(20 * iterations)),
    };
    let benchmarks = (0..scale.benchmarks)
        .map(|benchmark| BenchmarkInProcess {
            benchmark: Benchmark {
                key: key(benchmark),
                version: None,
                throughput: Throughput::default(),
                other_throughput: None,
                settings: AuthorSettings::default(),
                metric: Metric::Time,
            },
            sampling: SamplingSettings::default(),
            noise_threshold: 0.02,
            extras: Extras::default(),
            outcome: ProcessOutcome::Measured(Series {
                warm_up: sample(131_071),
                linear: (1..=ramp)
                    .map(|step| sample(step * (1000 / ramp)))
                    .collect(),
                flat: (ramp..scale.samples as u64).map(|_| sample(1000)).collect(),
            }),
        })
        .collect();
    ProcessRecord {
        head: ProcessHead {
            package: "package".into(),
            target: "target".into(),
            ordinal,
            attempt: 0,
            started: Timestamp(started + i64::from(ordinal)),
            padding_bytes: ordinal * 16,
            layout: None,
            harness: Some(Harness {
                name: "perfcheck".into(),
                version: "0.1.0".into(),
                quantum: Nanos(20),
            }),
            conduct: None,
            failure: None,
        },
        target_facts: TargetFacts::default(),
        benchmarks,
    }
}

/// A linear congruential generator (Knuth's MMIX), which gives the same store every time.
struct Noise(u64);

impl Noise {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound.max(1)
    }
}
