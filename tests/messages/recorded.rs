//! Made-up runs with which the tests of all writers work, so that every writer writes the same findings.
//!
//! [`Recorded::all_verdicts`] has every verdict, ids with groups, units, Unicode and hostile text, throughput, allocations, latencies, failures and
//! remarks. [`Recorded::counted`] has a given number of ordinary benchmarks. Both own their measurements. Writers get the findings that
//! [`Recorded::findings`] lends:
//!
//! ```ignore
//! let recorded = Recorded::all_verdicts();
//! let findings = recorded.findings();
//! write_table(&mut bytes, &findings, &layout)?;
//! ```
//!
//! Samples are computed from their position. The crate's own `compare` compares them, so nothing depends on clock or machine.

use std::collections::BTreeMap;

use perfcheck_analysis::compare::{
    Comparison, Difference, Estimate, Fact, HostClass, Question, Reference, SharedLevel,
    TestPolicy, compare, summarize_with,
};
use perfcheck_analysis::findings::{
    Ceiling, ComparisonContext, ExceededLimit, Findings, LimitNote, LimitReport, Method, Row,
    RunNote,
};
use perfcheck_analysis::model::{
    Acceptance, Allocations, AuthorSettings, Benchmark, BenchmarkCounts, BenchmarkKey, BuildFacts,
    DecisionSettings, Environment, Extras, Failure, GitState, HdrCounter, HostFacts, Latencies,
    Measurement, Metric, Nanos, NewRun, ProcessSeries, Run, RunId, RunStatus, Sample,
    SamplingSettings, Series, Side, Statistic, TargetFacts, Test, Throughput, Timestamp, Verdict,
};

/// Text that would do harm in a terminal, in Markdown, HTML or XML, in a spreadsheet or in a log of GitHub.
pub const HOSTILE: &str =
    "=1+1|`a`<script>alert(1)</script>&\u{1b}[31m]]>\"'@me #1 ::error::x\nline\u{202e}";

/// The number of the run that the findings are about.
const RUN: RunId = RunId(42);
/// Number of reference runs. With fewer of them, no benchmark could be shown to be unchanged.
const BASE_RUNS: u64 = 40;
const SEED: u64 = 7;
const PROCESSES: u32 = 5;
const SAMPLES: u32 = 20;
const NOISE_THRESHOLD: f64 = 0.02;

/// A run with its measurements, its reference and the results of the comparison.
pub struct Recorded {
    /// What is known about the whole run, such as its commit and its machine.
    pub run: Run,
    /// The measurements of the run.
    pub measurements: Vec<Measurement>,
    /// The measurements of the same benchmarks in each reference run.
    pub base: Vec<Vec<Measurement>>,
    comparisons: BTreeMap<BenchmarkKey, Comparison>,
    /// The verdicts that do not come from a comparison, such as `new` and `failed`.
    verdicts: BTreeMap<BenchmarkKey, Verdict>,
}

/// The specification of a made-up benchmark.
struct Recipe {
    target: &'static str,
    id: String,
    /// Time of an iteration in the reference, in nanoseconds.
    base: f64,
    /// Time of an iteration in the run, divided by `base`.
    factor: f64,
    /// How far the times of the reference runs drift apart, as a fraction.
    drift: f64,
    throughput: Throughput,
    /// Allocations per iteration in the reference and in the run.
    allocations: Option<[u64; 2]>,
    /// Whether the benchmark has latencies of single operations.
    latencies: bool,
}

impl Recipe {
    fn new(id: &str, base: f64, factor: f64) -> Self {
        Self {
            target: "sorting",
            id: id.to_owned(),
            base,
            factor,
            drift: 0.0005,
            throughput: Throughput::default(),
            allocations: None,
            latencies: false,
        }
    }

    /// Returns a measurement that takes `factor` times as long as the recipe's `base`. Each run passes another `salt`, which makes its times differ.
    fn measurement(&self, factor: f64, salt: u64, is_new: bool) -> Measurement {
        // A zigzag between -1 and 1 simulates the drift between runs.
        let zigzag = [0.0, 1.0, -1.0, 0.5, -0.5, 0.75, -0.75, 0.25][(salt % 8) as usize];
        let typical = self.base * factor * (1.0 + self.drift * zigzag);
        Measurement {
            benchmark: Benchmark {
                key: BenchmarkKey {
                    package: "algorithms".into(),
                    target: self.target.into(),
                    id: self.id.clone(),
                },
                version: None,
                throughput: self.throughput,
                other_throughput: None,
                settings: AuthorSettings::default(),
                metric: Metric::Time,
            },
            target_facts: TargetFacts::default(),
            sampling: SamplingSettings::default(),
            noise_threshold: NOISE_THRESHOLD,
            processes: (0..PROCESSES)
                .map(|process| self.process(process, typical, is_new))
                .collect(),
            failures: Vec::new(),
            counts: BenchmarkCounts::default(),
            verdict: None,
            described: None,
            expired: None,
        }
    }

    fn process(&self, process: u32, typical: f64, is_new: bool) -> ProcessSeries {
        let of_process = typical * (1.0 + 2e-4 * (f64::from(process) - 2.0));
        let sample = |step: u32, iterations: u64| {
            let wave = f64::from((step * 7 + process * 3) % 11) * 4e-4;
            // One sample is disturbed, as if another program had run.
            let disturbed = if step == 17 { 1.3 } else { 1.0 };
            let elapsed = of_process * (1.0 + wave) * disturbed * iterations as f64;
            Sample {
                iterations,
                elapsed: Nanos(elapsed.round() as u64),
            }
        };
        let iterations = (1e6 / self.base).ceil().max(1.0) as u64;
        ProcessSeries {
            layout: None,
            process,
            quantum: Nanos(1),
            conduct: None,
            series: Series {
                warm_up: sample(0, iterations),
                linear: (1..=SAMPLES / 2)
                    .map(|step| sample(step % 5, u64::from(step) * iterations.div_ceil(10)))
                    .collect(),
                flat: (0..SAMPLES).map(|step| sample(step, iterations)).collect(),
            },
            extras: Extras {
                led: Vec::new(),
                allocations: self
                    .allocations
                    .map(|[base, new]| counted(if is_new { new } else { base }))
                    .unwrap_or_default(),
                latencies: self.latencies.then(|| timed(is_new)),
            },
        }
    }
}

/// Returns the counts of an allocating benchmark's iterations, each with `per_iteration` allocations.
fn counted(per_iteration: u64) -> Vec<Allocations> {
    let one = Allocations {
        count: per_iteration,
        bytes: per_iteration * 64,
        peak_bytes: per_iteration * 64,
        ..Allocations::default()
    };
    vec![one; SAMPLES as usize]
}

/// Returns latencies in which the slowest fiftieth of the operations is slower in the new run.
fn timed(is_new: bool) -> Latencies {
    let tail = if is_new { 14_600 } else { 14_000 };
    Latencies {
        counts: [(12_000, 9_000), (12_100, 800), (tail, 200)]
            .map(HdrCounter::from)
            .to_vec(),
        ..Latencies::default()
    }
}

impl Recorded {
    /// Creates a run with every verdict, and with all content that a row can have.
    pub fn all_verdicts() -> Self {
        let mut recorded = Self::of(&recipes());
        recorded.fail("sort/panics", "panicked at benches/sorting.rs:17:36: index out of bounds: the len is 0 but the index is 3");
        recorded.without_reference("sort/introduced", Verdict::New);
        recorded.without_reference("parse/other profile", Verdict::Incomparable);
        let missing = BenchmarkKey {
            package: "algorithms".into(),
            target: "text".into(),
            id: "removed".into(),
        };
        recorded.verdicts.insert(missing, Verdict::Missing);
        recorded
    }

    /// Creates `count` benchmarks in groups of ten. Every 50th benchmark has regressed, and every 70th has improved. All benchmarks with the same
    /// verdict have the same change, so only one comparison is computed for each verdict.
    pub fn counted(count: usize) -> Self {
        let kinds = [1.0, 1.12, 0.85].map(|factor| Recipe::new("a kind", 100.0, factor));
        let of_kinds = kinds.map(|recipe| Self::of(&[recipe]));
        let mut recorded = Self::of(&[]);
        for at in 0..count {
            let (kind, factor) = match at {
                _ if at % 50 == 49 => (1, 1.12),
                _ if at % 70 == 69 => (2, 0.85),
                _ => (0, 1.0),
            };
            let id = format!("group {:02}/function/{}", at / 10, at % 10);
            let recipe = Recipe::new(&id, 100.0 + at as f64, factor);
            let measurement = recipe.measurement(factor, 0, true);
            let key = measurement.benchmark.key.clone();
            let comparison = of_kinds[kind].comparisons.values().next().cloned();
            recorded
                .comparisons
                .extend(comparison.map(|found| (key, found)));
            recorded.measurements.push(measurement);
            for (salt, run) in (0..).zip(&mut recorded.base) {
                run.push(recipe.measurement(1.0, salt, false));
            }
        }
        recorded
    }

    fn of(recipes: &[Recipe]) -> Self {
        let measurements: Vec<Measurement> = recipes
            .iter()
            .map(|recipe| recipe.measurement(recipe.factor, 0, true))
            .collect();
        let base: Vec<Vec<Measurement>> = (0..BASE_RUNS)
            .map(|salt| {
                let of_run = |recipe: &Recipe| recipe.measurement(1.0, salt, false);
                recipes.iter().map(of_run).collect()
            })
            .collect();
        let references: Vec<Reference<'_>> = (0..recipes.len())
            .map(|at| {
                let runs: Vec<&Measurement> = base.iter().map(|run| &run[at]).collect();
                Reference {
                    averaged: runs.clone(),
                    spread: runs,
                    earlier: vec![],
                }
            })
            .collect();
        let questions: Vec<Question<'_>> = measurements
            .iter()
            .zip(&references)
            .map(|(new, reference)| Question {
                candidate: new,
                reference,
                noise_threshold: NOISE_THRESHOLD,
            })
            .collect();
        let rules = TestPolicy {
            decision: decision(),
            host: HostClass::Dedicated,
            seed: SEED,
        };
        let comparisons = compare(&questions, &rules);
        let keys = measurements.iter().map(|found| found.benchmark.key.clone());
        Self {
            run: run(),
            comparisons: keys.zip(comparisons).collect(),
            verdicts: BTreeMap::new(),
            measurements,
            base,
        }
    }

    fn of_id(&mut self, id: &str) -> &mut Measurement {
        let mut all = self.measurements.iter_mut();
        all.find(|found| found.benchmark.key.id == id)
            .expect("a recipe")
    }

    fn without_reference(&mut self, id: &str, verdict: Verdict) {
        let key = self.of_id(id).benchmark.key.clone();
        self.comparisons.remove(&key);
        self.verdicts.insert(key, verdict);
    }

    fn fail(&mut self, id: &str, message: &str) {
        let found = self.of_id(id);
        found.processes.clear();
        found.failures = (0..PROCESSES)
            .map(|process| Failure {
                process,
                side: Side::Candidate,
                message: message.to_owned(),
            })
            .collect();
        self.without_reference(id, Verdict::Failed);
    }

    /// Returns the findings that a writer gets. Their rows are sorted by benchmark and have verdicts.
    pub fn findings(&self) -> Findings<'_> {
        let decision = decision();
        let mut rows: Vec<Row<'_>> = self
            .measurements
            .iter()
            .map(|measurement| {
                let key = measurement.benchmark.key.clone();
                let comparison = self.comparisons.get(&key).cloned();
                let verdict = comparison.as_ref().map(|found| found.verdict);
                let verdict = verdict.or_else(|| self.verdicts.get(&key).copied());
                Row {
                    reference: match verdict {
                        Some(Verdict::New) => Vec::new(),
                        _ => vec![Some(RunId(41))],
                    },
                    blocking: match verdict {
                        Some(Verdict::Incomparable) => vec![Difference {
                            fact: Fact::Profile,
                            candidate: "dev".into(),
                            base: "bench".into(),
                        }],
                        _ => Vec::new(),
                    },
                    verdict,
                    comparison,
                    ..Row::from_measurement(
                        measurement,
                        summarize_with(measurement, &decision, SEED),
                    )
                }
            })
            .collect();
        for (key, verdict) in &self.verdicts {
            if *verdict == Verdict::Missing {
                rows.push(Row::unmeasured(key.clone(), *verdict, Some(RunId(41))));
            }
        }
        rows.sort_by(|a, b| a.key.cmp(&b.key));
        let regressed = rows
            .iter()
            .any(|row| row.verdict == Some(Verdict::Regressed));
        Findings {
            run: &self.run,
            rows,
            verdicts: Some(ComparisonContext {
                warnings: vec![Difference {
                    fact: Fact::Kernel,
                    candidate: "6.1.1".into(),
                    base: "6.1.0".into(),
                }],
                ..ComparisonContext::new(
                    "the last accepted run of `main`".into(),
                    Method::Stored(Test::BootstrapT),
                    decision,
                    HostClass::Shared,
                )
            }),
            failed_targets: Vec::new(),
            exit_code: u8::from(regressed),
        }
    }

    /// Returns the findings with an exceeded limit, a limit without a decision, a remark and advice.
    pub fn findings_with_limits(&self) -> Findings<'_> {
        let mut findings = self.findings();
        if let Some(verdicts) = &mut findings.verdicts {
            verdicts.limits = LimitReport {
                exceeded: vec![ExceededLimit {
                    key: self.measurements[0].benchmark.key.clone(),
                    text: "median:5%".into(),
                    statistic: Statistic::Median,
                    ceiling: Ceiling::Change(0.05),
                    found: Estimate {
                        estimate: 0.12,
                        lower: 0.09,
                        upper: 0.15,
                    },
                    shared_level: Some(SharedLevel::bonferroni(0.95, 3)),
                }],
                remarks: vec![LimitNote::ForNothing("p99:1ms".into())],
            };
            verdicts.remarks = vec![RunNote::StoredAlone {
                reason: "run 41 has no kept executables".into(),
            }];
            verdicts.advice =
                vec!["Accept: cargo perfcheck accept 42   (if the change is intended)".into()];
        }
        findings
    }
}

/// Returns one benchmark of each kind.
fn recipes() -> Vec<Recipe> {
    let bytes = Throughput {
        bytes: Some(65_536),
        elements: None,
    };
    let elements = Throughput {
        bytes: None,
        elements: Some(1_000),
    };
    let text = |recipe: Recipe| Recipe {
        target: "text",
        ..recipe
    };
    vec![
        Recipe::new("sort/stable/10", 112.3, 1.0004),
        Recipe {
            throughput: elements,
            ..Recipe::new("sort/stable/1000", 12_340.0, 1.083)
        },
        Recipe {
            throughput: elements,
            ..Recipe::new("sort/unstable/1000", 9_876.0, 0.912)
        },
        Recipe {
            drift: 0.03,
            ..Recipe::new("sort/unstable/10", 88.8, 1.01)
        },
        Recipe {
            drift: 0.02,
            ..Recipe::new("sort/heap", 45_600.0, 1.06)
        },
        Recipe::new("sort/panics", 50.0, 1.0),
        Recipe::new("sort/introduced", 77.7, 1.0),
        Recipe {
            allocations: Some([12, 14]),
            ..Recipe::new("collect", 1_234.0, 1.001)
        },
        text(Recipe {
            throughput: bytes,
            ..Recipe::new("parse/json", 31_415.0, 1.32)
        }),
        text(Recipe::new("parse/other profile", 500.0, 1.0)),
        text(Recipe {
            latencies: true,
            ..Recipe::new("serve", 2_000_000.0, 0.9995)
        }),
        text(Recipe::new("größe/長い名前/λ", 640.0, 1.0)),
        text(Recipe::new(HOSTILE, 3_200.0, 1.05)),
        text(Recipe::new(
            "a group with a long name/and a function whose name says everything about it/with_parameters=1000000,mode=exhaustive",
            98_700.0,
            1.0,
        )),
    ]
}

fn decision() -> DecisionSettings {
    DecisionSettings {
        resamples: 2_000,
        ..DecisionSettings::default()
    }
}

fn run() -> Run {
    Run {
        id: RUN,
        finished: Some(Timestamp(1_767_225_660_000_000_000)),
        status: RunStatus::Complete,
        acceptance: Acceptance::Pending,
        begun: NewRun {
            build: None,
            partition: None,
            past: None,
            started: Timestamp(1_767_225_600_000_000_000),
            git: Some(GitState {
                commit: "0123456789abcdef0123456789abcdef01234567".into(),
                branch: Some("topic".into()),
                dirty: true,
            }),
            environment: Environment {
                host: HostFacts {
                    cpu: "A processor".into(),
                    architecture: "x86_64".into(),
                    os: "linux".into(),
                    cores: 8,
                    kernel: "6.1.1".into(),
                    governor: Some("performance".into()),
                    microcode: None,
                    shared: Some(false),
                },
                build: BuildFacts {
                    rustc: "rustc 1.95.0 (59807616e 2026-04-14)".into(),
                    target: "x86_64-unknown-linux-gnu".into(),
                    profile: "bench".into(),
                    rustflags: String::new(),
                },
            },
            load: Some(0.25),
            seed: SEED,
            decision: decision(),
            tool_version: "0.1.0".into(),
        },
        pair: None,
        plan: None,
        source: None,
    }
}

mod tests {
    use super::*;

    #[test]
    fn the_recorded_runs_have_every_verdict() {
        let recorded = Recorded::all_verdicts();
        let tally = recorded.findings_with_limits().tally();
        for &verdict in Verdict::ALL {
            assert!(tally.count(verdict) > 0, "no {verdict}: {tally:?}");
        }
        assert_eq!(recorded.base.len() as u64, BASE_RUNS);
        let many = Recorded::counted(500);
        let tally = many.findings().tally();
        assert_eq!(tally.count(Verdict::Regressed), 10);
        assert_eq!(tally.count(Verdict::Improved), 6);
        assert!(Recorded::counted(0).findings().rows.is_empty());
    }
}
