//! Builds small values to store. They depend only on the arguments, except that every run gets another seed.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use perfcheck_analysis::model::{
    Acceptance, Allocations, AuthorSettings, Benchmark, BenchmarkInProcess, BenchmarkKey,
    BuildFacts, Control, DecisionSettings, Environment, ExecutableSize, Extras, GitState, Harness,
    HdrCounter, HostFacts, Latencies, LatencyWindow, Metric, Nanos, NewRun, ProcessHead,
    ProcessOutcome, ProcessRecord, ProcessUsage, RunEnd, RunId, RunUsage, RunVerdict, Sample,
    SamplingMode, SamplingSettings, Series, TargetFacts, Throughput, Timestamp, Verdict,
};
use perfcheck_store::{Store, WorkspaceId};
use tempfile::TempDir;

/// Returns a temporary directory and the path of a store in it.
pub fn place() -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("temporary directory");
    let path = directory.path().join("perfcheck.db");
    (directory, path)
}

/// Creates a store with one workspace.
///
/// With `PERFCHECK_TEST_STORE=postgres`, the store is a database on a server that the tests start.
pub fn fresh() -> (TempDir, Store, WorkspaceId) {
    if std::env::var_os("PERFCHECK_TEST_STORE").is_some_and(|store| store == "postgres") {
        let address = crate::support::postgres::fresh_database();
        let (store, workspace) = open(Path::new(&address));
        return (place().0, store, workspace);
    }
    fresh_file()
}

/// Creates a store in a file, even if `PERFCHECK_TEST_STORE` asks for a server.
pub fn fresh_file() -> (TempDir, Store, WorkspaceId) {
    let (directory, path) = place();
    let (store, workspace) = open(&path);
    (directory, store, workspace)
}

/// Opens the store at `path` and returns its workspace, too.
pub fn open(path: &Path) -> (Store, WorkspaceId) {
    let mut store = Store::open(path).expect("opens");
    let workspace = store
        .ensure_workspace("key", "/project")
        .expect("workspace");
    (store, workspace)
}

pub fn key(id: &str) -> BenchmarkKey {
    BenchmarkKey {
        package: "package".into(),
        target: "target".into(),
        id: id.into(),
    }
}

static RUNS: AtomicU64 = AtomicU64::new(1);

pub fn new_run(commit: &str, branch: &str) -> NewRun {
    NewRun {
        build: None,
        partition: None,
        past: None,
        started: Timestamp(1_700_000_000_000_000_000),
        git: Some(GitState {
            commit: commit.into(),
            branch: Some(branch.into()),
            dirty: false,
        }),
        environment: Environment {
            host: HostFacts {
                cpu: "A processor".into(),
                architecture: "x86_64".into(),
                os: "linux".into(),
                cores: 8,
                kernel: "6.1.0".into(),
                governor: Some("performance".into()),
                microcode: None,
                shared: Some(true),
            },
            build: BuildFacts {
                rustc: "rustc 1.95.0".into(),
                target: "x86_64-unknown-linux-gnu".into(),
                profile: "bench".into(),
                rustflags: "-C target-cpu=native".into(),
            },
        },
        load: Some(0.25),
        // Start and seed identify a run in every store, so no two runs may have the same.
        seed: u64::MAX - RUNS.fetch_add(1, Ordering::Relaxed),
        decision: DecisionSettings::default(),
        tool_version: "0.1.0".into(),
    }
}

/// Returns a series that differs for every `salt`.
pub fn series(salt: u64) -> Series {
    let sample = |iterations: u64| Sample {
        iterations,
        elapsed: Nanos(iterations * 1000 + (iterations * 7 + salt * 13) % 997),
    };
    Series {
        warm_up: sample(255),
        linear: (1..=10).map(|step| sample(step * 100)).collect(),
        flat: (0..50).map(|_| sample(1000 + salt)).collect(),
    }
}

pub fn measured(id: &str, series: Series) -> BenchmarkInProcess {
    BenchmarkInProcess {
        benchmark: Benchmark {
            key: key(id),
            version: Some("2".into()),
            throughput: Throughput {
                bytes: Some(u64::MAX),
                elements: None,
            },
            other_throughput: Some("Frames(3)".into()),
            settings: AuthorSettings {
                samples: Some(50),
                sampling_mode: Some(SamplingMode::Flat),
                ..AuthorSettings::default()
            },
            metric: Metric::Rate { unit: "ops".into() },
        },
        sampling: SamplingSettings::default(),
        noise_threshold: 0.1 + 0.2,
        outcome: ProcessOutcome::Measured(series),
        extras: Extras {
            led: vec![true, false, false],
            allocations: vec![
                Allocations {
                    count: 3,
                    bytes: u64::MAX,
                    peak_bytes: 64,
                    ..Allocations::default()
                };
                16
            ],
            latencies: Some(Latencies {
                digits: 3,
                counts: [(0, 2), (33_420, u64::MAX)].map(HdrCounter::from).to_vec(),
                clamped: 1,
                errors: 2,
                messages: vec!["refused".into()],
                reservoir: vec![Nanos(0), Nanos(1 << 62)],
                windows: vec![LatencyWindow::default()],
            }),
        },
    }
}

/// Returns the record of a process that measured these benchmarks. The series depend on `ordinal` and on the positions of the benchmarks in `ids`.
pub fn process(ordinal: u32, ids: &[&str]) -> ProcessRecord {
    ProcessRecord {
        head: ProcessHead {
            package: "package".into(),
            target: "target".into(),
            ordinal,
            attempt: 0,
            started: Timestamp(1_700_000_000_000_000_001 + i64::from(ordinal)),
            padding_bytes: ordinal % 4096,
            layout: None,
            harness: Some(Harness {
                name: "perfcheck".into(),
                version: "0.1.0".into(),
                quantum: Nanos(20),
            }),
            conduct: ordinal.is_multiple_of(2).then_some(ProcessUsage {
                threads: 1,
                cpu: Nanos(u64::MAX - 1),
                working_time: Nanos(3),
                involuntary_switches: 4,
                stolen: (ordinal == 0).then_some(Nanos(5)),
                processor: (ordinal == 2).then_some(6),
                control: (ordinal == 2).then_some(Control {
                    pass: Nanos(7),
                    spread: Nanos(8),
                }),
                run: (ordinal == 2).then_some(RunUsage {
                    cpu: Nanos(9),
                    peak_memory: Some(10),
                    start_up: None,
                }),
            }),
            failure: None,
        },
        target_facts: TargetFacts {
            features: vec!["default".into(), "std".into()],
            size: Some(ExecutableSize {
                text: 1,
                data: 2,
                bss: 3,
                stripped: Some(u64::MAX),
            }),
        },
        benchmarks: (0..)
            .zip(ids)
            .map(|(position, id)| measured(id, series(u64::from(ordinal) * 1000 + position)))
            .collect(),
    }
}

pub fn verdict(id: &str, verdict: Verdict) -> RunVerdict {
    RunVerdict {
        key: key(id),
        verdict,
        typical_ns: Some(1000.5),
        change: Some(-0.01),
        standard_error: Some(0.004),
        reference: None,
    }
}

pub fn end(acceptance: Acceptance, verdicts: Vec<RunVerdict>) -> RunEnd {
    RunEnd {
        conclusion: None,
        finished: Timestamp(1_700_000_005_000_000_000),
        acceptance,
        exit_code: 0,
        verdicts,
    }
}

/// Records a complete run with one process of these benchmarks.
pub fn record(
    store: &mut Store,
    workspace: WorkspaceId,
    run: &NewRun,
    acceptance: Acceptance,
    ids: &[&str],
) -> RunId {
    let run = store.begin_run(workspace, run).expect("begins");
    store
        .record_process(run, &process(0, ids))
        .expect("records");
    let verdicts = ids
        .iter()
        .map(|id| verdict(id, Verdict::Unchanged))
        .collect();
    store
        .finish_run(run, &end(acceptance, verdicts))
        .expect("ends");
    run
}
