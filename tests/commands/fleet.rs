//! `history` of side-by-side runs from several machines, as in a team's store: often only the commit of the base is known, because the base's run is
//! in another store.

use perfcheck_analysis::model::{
    Acceptance, BenchmarkInProcess, BySide, Extras, GitState, Measurement, Nanos, NewRun,
    ProcessOutcome, ProcessRecord, Purpose, Run, RunEnd, RunId, RunVerdict, Sample, Series,
    Timestamp, Verdict,
};
use perfcheck_store::{Store, WorkspaceId};
use serde_json::Value;

use crate::commands::scripted::{steady, stored};
use crate::support::{Finished, Machine};

/// The machines of the fleet, each with the factor by which its times differ from those of the first machine, and with its processor.
const MACHINES: [(f64, &str); 4] = [
    (1.0, "Old processor"),
    (1.7, "Old processor"),
    (0.6, "New processor"),
    (2.3, "New processor"),
];
const THRESHOLD: f64 = 0.01;

/// A store that tests fill with side-by-side runs of `text`. Each of these runs is a changed copy of a really measured one.
struct Fleet<'m> {
    machine: &'m Machine,
    store: Store,
    workspace: WorkspaceId,
    like: Run,
    measured: Measurement,
    process: ProcessRecord,
    runs: i64,
    /// The state of a linear congruential generator with Knuth's constants. It begins with the same seed, so every test gets the same store.
    noise: u64,
}

impl<'m> Fleet<'m> {
    fn new(machine: &'m Machine) -> Self {
        steady(machine, &[]).arg("text").run().expect_code(0);
        let store = Store::open(&machine.store()).expect("opens");
        let like = store.run_summary(RunId(1)).expect("reads");
        let measured = store.measurements(RunId(1), None).expect("reads").remove(0);
        let head = store.processes(RunId(1)).expect("reads").remove(0);
        Self {
            machine,
            workspace: like.workspace,
            like: like.run,
            process: ProcessRecord {
                head,
                target_facts: measured.target_facts.clone(),
                benchmarks: Vec::new(),
            },
            measured,
            store,
            runs: 0,
            noise: 1,
        }
    }

    fn uniform(&mut self) -> f64 {
        self.noise = self
            .noise
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.noise >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    /// Records a side-by-side measurement of `commit` against `base` on a machine. Both are given as the number of the commit and its time. Returns
    /// the verdict.
    fn measure(&mut self, machine: usize, base: (usize, f64), commit: (usize, f64)) -> Verdict {
        let error = 0.002 + 0.003 * self.uniform();
        let found = (commit.1 / base.1).ln() + error * self.normal();
        let (lower, upper) = (found - 2.65 * error, found + 2.65 * error);
        let threshold = THRESHOLD.ln_1p();
        let verdict = if lower > threshold {
            Verdict::Regressed
        } else if upper < -threshold {
            Verdict::Improved
        } else if lower >= -threshold && upper <= threshold {
            Verdict::Unchanged
        } else {
            Verdict::Inconclusive
        };
        let new = [base.0, commit.0].map(|commit| self.new_run(machine, commit));
        let runs = self
            .store
            .begin_pair(
                self.workspace,
                BySide {
                    base: &new[0],
                    candidate: &new[1],
                },
                "{}",
                Purpose::Comparison,
            )
            .expect("begins");
        for (side, (_, ns)) in [(runs.base, base), (runs.candidate, commit)] {
            let process = self.process(ns * MACHINES[machine].0);
            self.store.record_process(side, &process).expect("records");
        }
        let end = |verdicts| RunEnd {
            conclusion: None,
            finished: new[1].started,
            acceptance: Acceptance::Pending,
            exit_code: 0,
            verdicts,
        };
        let found = RunVerdict {
            key: self.measured.benchmark.key.clone(),
            verdict,
            typical_ns: None,
            change: Some(found.exp_m1()),
            standard_error: Some(error),
            // The reference run is not in this store.
            reference: None,
        };
        self.store
            .finish_pair(
                runs,
                BySide {
                    base: &end(Vec::new()),
                    candidate: &end(vec![found]),
                },
            )
            .expect("ends");
        verdict
    }

    fn new_run(&mut self, machine: usize, commit: usize) -> NewRun {
        self.runs += 1;
        let mut environment = self.like.begun.environment.clone();
        MACHINES[machine].1.clone_into(&mut environment.host.cpu);
        NewRun {
            started: Timestamp(self.like.begun.started.0 + self.runs * 60_000_000_000),
            git: Some(GitState {
                commit: format!("{commit:040x}"),
                branch: Some("fleet".to_owned()),
                dirty: false,
            }),
            environment,
            load: None,
            seed: self.runs.cast_unsigned(),
            ..self.like.begun.without_build()
        }
    }

    fn process(&self, ns: f64) -> ProcessRecord {
        let of = |sample: &Sample| Sample {
            elapsed: Nanos((sample.iterations as f64 * ns).round() as u64),
            ..*sample
        };
        let series = &self.measured.processes[0].series;
        let series = Series {
            warm_up: of(&series.warm_up),
            linear: series.linear.iter().map(of).collect(),
            flat: series.flat.iter().map(of).collect(),
        };
        ProcessRecord {
            benchmarks: vec![BenchmarkInProcess {
                benchmark: self.measured.benchmark.clone(),
                sampling: self.measured.sampling,
                noise_threshold: THRESHOLD,
                outcome: ProcessOutcome::Measured(series),
                extras: Extras::default(),
            }],
            ..self.process.clone()
        }
    }

    /// Measures each commit against the last accepted one, alternately on two machines, which are replaced midway. Every eighth commit is also
    /// measured against the first. A regression is accepted with its third run.
    fn measure_all(&mut self, times: &[f64]) {
        let (mut reference, mut regressed) = (0, 0);
        for commit in 1..times.len() {
            let machine = commit % 2 + 2 * usize::from(commit >= times.len() / 2);
            let here = (commit, times[commit]);
            let verdict = self.measure(machine, (reference, times[reference]), here);
            regressed += usize::from(verdict == Verdict::Regressed);
            let is_accepted = match verdict {
                Verdict::Regressed => regressed == 3,
                verdict => verdict != Verdict::Inconclusive,
            };
            if is_accepted {
                (reference, regressed) = (commit, 0);
            }
            if commit % 8 == 0 {
                self.measure(machine, (0, times[0]), here);
            }
        }
    }

    fn history(&self, words: &[&str]) -> Finished {
        let all = ["history", "text", "--branch", "fleet", "--last", "200"];
        let run = stored(self.machine, &all).args(words).run();
        run.expect_code(0)
    }
}

/// Returns the commits at which a new level begins, according to the points of a history.
fn steps(points: &[Value]) -> Vec<usize> {
    let begin = points.iter().filter(|point| !point["step"].is_null());
    begin.map(commit_of).collect()
}

fn commit_of(point: &Value) -> usize {
    let commit = point["git"]["commit"].as_str().expect("a commit");
    usize::from_str_radix(commit, 16).expect("a number")
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// Returns the times of 128 commits. At each commit in `steps`, the time is multiplied by the given factor and stays at that level.
fn times(steps: &[(usize, f64)]) -> Vec<f64> {
    let mut ns = 100.0;
    let time = |commit: usize| {
        let step = steps.iter().find(|(at, _)| *at == commit);
        ns *= step.map_or(1.0, |(_, factor)| *factor);
        ns
    };
    (0..128).map(time).collect()
}

#[test]
fn steps_are_located_over_machines_that_were_swapped_and_in_another_store() {
    let machine = Machine::new();
    let mut fleet = Fleet::new(&machine);
    let planted = [(15, 1.02), (38, 0.98), (60, 1.02), (80, 1.02), (110, 0.98)];
    let times = times(&planted);
    fleet.measure_all(&times);
    let json = ["--message-format", "json"];
    let told = fleet.history(&json);
    let points = told.messages("history-point");
    let found = steps(&points);
    assert_eq!(found.len(), planted.len(), "{found:?}");
    for (found, (commit, _)) in found.iter().zip(planted) {
        assert!(found.abs_diff(commit) <= 1, "{found} is not {commit}");
    }
    // The change covers the whole history, and values have the scale of the newest run's machine.
    let last = points.last().expect("points");
    let since = &last["since_first"];
    let truth = times[127] / times[1];
    assert!(
        (number(&since["estimate"]) + 1.0 - truth).abs() <= 0.005,
        "{since}"
    );
    assert!(
        number(&since["lower"]) < truth - 1.0 && truth - 1.0 < number(&since["upper"]),
        "{since}"
    );
    let counted = points.iter().filter(|point| point["left_out"].is_null());
    assert_eq!(counted.count(), points.len());
    let ns = number(&last["value"]);
    assert!(ns > 60.0 && ns < 230.0, "{last}");
    let drawn = fleet.history(&[]);
    assert!(drawn.stdout.contains("From run "), "{drawn}");
    // The runs give the same history after export to a file and import into another store.
    let runs: Vec<String> = (2..=fleet.runs / 2 + 1)
        .map(|run| run.to_string())
        .collect();
    let file = machine.home().join("fleet.jsonl");
    let export = stored(&machine, &["store", "export"]).args(&runs);
    export.arg("--output").arg(&file).run().expect_code(0);
    let elsewhere = |words: &[&str]| {
        let store = machine.home().join("elsewhere.db");
        stored(&machine, words).arg("--store").arg(store)
    };
    let import = elsewhere(&["store", "import"]).arg(&file);
    import.run().expect_code(0);
    let there = elsewhere(&["history", "text", "--branch", "fleet", "--last", "200"]);
    let there = there.args(json).run().expect_code(0);
    assert_eq!(steps(&there.messages("history-point")), found);
    // The output is the same for any number of threads.
    let one = stored(
        &machine,
        &["history", "text", "--branch", "fleet", "--last", "200"],
    )
    .args(json)
    .env("RAYON_NUM_THREADS", "1")
    .run();
    assert_eq!(one.expect_code(0).stdout, told.stdout);
    // Showing fewer runs does not change the steps found.
    let few = ["history", "text", "--branch", "fleet", "--last", "60"];
    let few = stored(&machine, &few).args(json).run().expect_code(0);
    let points = few.messages("history-point");
    let first = commit_of(&points[0]);
    let found = found.into_iter().filter(|commit| *commit > first);
    assert_eq!(steps(&points), found.collect::<Vec<_>>());
}

#[test]
fn a_history_without_a_step_has_none_on_any_machine() {
    let machine = Machine::new();
    let mut fleet = Fleet::new(&machine);
    fleet.measure_all(&times(&[]));
    let told = fleet.history(&["--message-format", "json"]);
    let points = told.messages("history-point");
    assert_eq!(steps(&points), [0; 0]);
    let course = &told.messages("benchmark-history")[0];
    assert_eq!(course["counted"], points.len());
    assert_eq!(
        (&course["processors"], &course["trends"]),
        (&Value::Null, &Value::Array(Vec::new()))
    );
}

#[test]
fn processors_that_disagree_are_told_and_kept_apart() {
    let machine = Machine::new();
    let mut fleet = Fleet::new(&machine);
    for commit in 1..16 {
        for machine in [0, 2] {
            // From commit 8 on, the code is slower on the old processor only.
            let time = |commit: usize| {
                if commit >= 8 && machine == 0 {
                    106.0
                } else {
                    100.0
                }
            };
            let (base, here) = (commit - 1, commit);
            fleet.measure(machine, (base, time(base)), (here, time(here)));
        }
    }
    let told = fleet.history(&["--message-format", "json"]);
    let found = &told.messages("benchmark-history")[0];
    let processors = &found["processors"];
    assert!(number(&processors["p_value"]) <= 0.001, "{processors}");
    assert_eq!(processors["shown"], "New processor");
    assert_eq!(processors["changes"].as_array().expect("changes").len(), 2);
    for (change, (processor, truth)) in processors["changes"]
        .as_array()
        .expect("changes")
        .iter()
        .zip([("Old processor", 0.06), ("New processor", 0.0)])
    {
        assert_eq!(change["processor"], processor);
        assert!(
            (number(&change["change"]["estimate"]) - truth).abs() < 0.015,
            "{change}"
        );
    }
    assert_eq!(
        found["levels"].as_array().expect("levels").len(),
        1,
        "{found}"
    );
    let points = told.messages("history-point");
    for point in &points {
        let why = &point["left_out"]["why"];
        let is_old = (number(&point["run"]) as usize).is_multiple_of(2);
        let expected = if is_old {
            Value::from("other-processor")
        } else {
            Value::Null
        };
        assert_eq!(*why, expected, "{point}");
    }
    let text = fleet.history(&[]).stdout;
    for said in [
        "Changes differ between processors (p 0.",
        "on `Old processor`",
        "measured on another processor",
    ] {
        assert!(text.contains(said), "no {said:?} in {text}");
    }
}
