//! Facts about the machine that affect verdicts: controls that raise noise thresholds, and the processors to which benchmarks are bound.

use perfcheck_analysis::model::{
    Acceptance, BenchmarkInProcess, BySide, Extras, NewRun, ProcessOutcome, ProcessRecord, Purpose,
    RunEnd, RunId, RunVerdict, Timestamp, Verdict,
};
use perfcheck_store::Store;
use std::collections::BTreeSet;
use std::fs;
use std::num::NonZero;

use crate::against::project::{Project, compared};
use crate::commands::scripted::verdict;
use crate::support::{Finished, Machine, skipped};

/// Adds twenty controls of `cost` to the store. Each is a copy of the stored run `control` in which `change` is the measured change.
fn add_controls(machine: &Machine, control: &Finished, change: f64) {
    let mut store = Store::open(&machine.store()).expect("opens");
    let number = control.messages("run-finished")[0]["run"].as_i64();
    let number = RunId(number.expect("a number"));
    let like = store.run_summary(number).expect("reads");
    let run = NewRun {
        load: None,
        seed: 1,
        ..like.run.begun.without_build()
    };
    let measured = store.measurements(number, None).expect("reads");
    let cost = measured
        .into_iter()
        .find(|found| found.benchmark.key.id == "cost")
        .expect("measured");
    let process = ProcessRecord {
        head: store.processes(number).expect("reads").remove(0),
        target_facts: cost.target_facts,
        benchmarks: vec![BenchmarkInProcess {
            benchmark: cost.benchmark.clone(),
            sampling: cost.sampling,
            noise_threshold: cost.noise_threshold,
            outcome: ProcessOutcome::Measured(cost.processes[0].series.clone()),
            extras: Extras::default(),
        }],
    };
    for _ in 0..20 {
        let BySide { base, candidate } = store
            .begin_pair(
                like.workspace,
                BySide {
                    base: &run,
                    candidate: &run,
                },
                "{}",
                Purpose::Control,
            )
            .expect("begins");
        for side in [base, candidate] {
            store.record_process(side, &process).expect("records");
        }
        let end = |verdicts| RunEnd {
            conclusion: None,
            finished: Timestamp(1),
            acceptance: Acceptance::Pending,
            exit_code: 0,
            verdicts,
        };
        let found = RunVerdict {
            key: cost.benchmark.key.clone(),
            verdict: Verdict::Unchanged,
            typical_ns: None,
            change: Some(change),
            standard_error: Some(0.003),
            reference: Some(base),
        };
        store
            .finish_pair(
                BySide { base, candidate },
                BySide {
                    base: &end(Vec::new()),
                    candidate: &end(vec![found]),
                },
            )
            .expect("ends");
    }
}

#[test]
fn what_controls_have_shown_raises_the_threshold_and_is_stored_with_the_plan() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    let control = project
        .measure(&["--against", "HEAD", "--measure-identical"])
        .run()
        .expect_code(0);
    project.takes(102);
    let run = project.measure(&["--against", "HEAD"]).run().expect_code(1);
    assert_eq!(verdict(&run, "cost"), "regressed", "{run}");

    add_controls(&machine, &control, -0.03);
    let run = project
        .measure(&["--against", "HEAD", "--measure-identical"])
        .run()
        .expect_code(0);
    assert_eq!(verdict(&run, "cost"), "unchanged", "{run}");
    let said = compared(&run, "cost");
    assert_eq!(said["noise_threshold"], 0.03, "{run}");
    let notes = said["notes"].to_string();
    assert!(notes.contains("threshold-raised"), "{run}");
    assert_eq!(compared(&run, "constant")["noise_threshold"], 0.01, "{run}");

    // A later comparison of the stored runs gives the same result, although controls were added meanwhile.
    add_controls(&machine, &control, 0.5);
    let (base, new) = (
        said["reference_runs"][0].to_string(),
        said["run"].to_string(),
    );
    let again = project
        .perfcheck(&["compare", &base, &new, "--message-format", "json"])
        .run()
        .expect_code(0);
    let again = compared(&again, "cost");
    for part in ["verdict", "change", "noise_threshold", "notes"] {
        assert_eq!(again[part], said[part], "{part}");
    }

    project.takes(160);
    let run = project.measure(&["--against", "HEAD"]).run().expect_code(1);
    assert_eq!(verdict(&run, "cost"), "regressed", "{run}");
    // Earlier controls do not raise the noise threshold of a control.
    project.takes(100);
    let control = project
        .measure(&["--against", "HEAD", "--measure-identical"])
        .run()
        .expect_code(0);
    assert_eq!(
        compared(&control, "cost")["noise_threshold"],
        0.01,
        "{control}"
    );
}

/// A benchmark that writes the processors it may use to a file, at every sample.
const TELLS: &str = r#"
fn tells(b: &mut Bencher<'_>, place: &str) {
    use std::io::Write;
    let mut file = std::fs::File::options().create(true).append(true).open(place).expect("a file");
    b.iter_custom(move |iterations| {
        let status = std::fs::read_to_string("/proc/thread-self/status").expect("Linux");
        let allowed = status.lines().find(|line| line.starts_with("Cpus_allowed_list")).expect("told");
        writeln!(file, "{allowed}").expect("written");
        Duration::from_nanos(iterations * 1000)
    });
}
"#;

#[cfg_attr(
    not(target_os = "linux"),
    ignore = "only Linux binds processes to processors"
)]
#[test]
fn a_benchmark_of_one_thread_is_bound_to_a_processor_after_its_first_round_and_others_are_not() {
    if std::thread::available_parallelism().map_or(1, NonZero::get) == 1 {
        skipped("one processor");
        return;
    }
    let machine = Machine::new();
    let project = Project::without_benches(&machine);
    let place = |name: &str| machine.home().join(name);
    let tells = |name: &str| format!("tells(b, {:?})", place(name).to_str().expect("Unicode"));
    for (target, before) in [
        ("alone", ""),
        (
            "crowd",
            "std::thread::spawn(|| loop { std::thread::park() });",
        ),
    ] {
        project.add_target(target);
        let body = format!(
            "use perfcheck::{{Bencher, Suite}};\nuse std::time::Duration;\n{TELLS}\n\
             fn all(suite: &mut Suite) {{ suite.bench({target:?}, |b| {{ {before} {}; }}); }}\n\
             perfcheck::main!(all);\n",
            tells(target)
        );
        project.write(&format!("benches/{target}.rs"), &body);
    }
    project.commit();
    project
        .measure(&["--against", "HEAD", "--measure-identical", "--rounds", "8"])
        .run()
        .expect_code(0);
    let store = Store::open(&machine.store()).expect("opens");
    let led = |run: i64| -> Vec<Vec<bool>> {
        let measured = store.measurements(RunId(run), None).expect("reads");
        let processes = measured.into_iter().flat_map(|found| found.processes);
        processes.map(|process| process.extras.led).collect()
    };
    let (of_base, of_candidate) = (led(-1), led(1));
    assert!(of_base.iter().all(|quads| !quads.is_empty()));
    let exchanged = of_candidate
        .iter()
        .map(|quads| quads.iter().map(|led| !led).collect::<Vec<_>>());
    assert!(
        of_base.into_iter().eq(exchanged),
        "one side leads each quad"
    );

    let seen = |name: &str| -> BTreeSet<String> {
        let text = fs::read_to_string(place(name)).expect("written");
        text.lines().map(str::to_owned).collect()
    };
    let all = seen("crowd");
    assert_eq!(all.len(), 1, "never bound: {all:?}");
    let bound: Vec<_> = seen("alone").difference(&all).cloned().collect();
    assert!(seen("alone").is_superset(&all), "free in its first round");
    let one = |list: &String| {
        let number = list.split_whitespace().nth(1);
        number.is_some_and(|number| number.parse::<u32>().is_ok())
    };
    assert!(!bound.is_empty() && bound.iter().all(one), "{bound:?}");
}
