//! Code layouts. In each round, both sides are linked again with the functions in the same new order, so that no difference comes from the layout.

use std::fs;

use perfcheck_analysis::model::RunId;
use perfcheck_store::Store;

use serde_json::{Value, json};

use crate::against::project::{Project, compared};
use crate::commands::scripted::{about, explanation, says, verdict};
use crate::support::{Finished, Machine};

/// Returns the layout number of each process of a run, in the order of the processes.
fn layouts(machine: &Machine, run: i64) -> Vec<Option<u32>> {
    let store = Store::open(&machine.store()).expect("a store");
    let processes = store.processes(RunId(run)).expect("there");
    processes
        .into_iter()
        .map(|process| process.layout)
        .collect()
}

/// Returns the remarks about the whole comparison. The remark about stolen processor time is left out, because it depends on the host.
fn said(run: &Finished) -> Value {
    let mut remarks = run.messages("run-finished")[0]["remarks"].clone();
    let all = remarks.as_array_mut().expect("remarks");
    all.retain(|remark| !remark.to_string().contains("other virtual machines took"));
    remarks
}

#[test]
fn a_plain_run_and_the_kept_build_of_the_run_before_share_layouts() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    project.measure_in_layouts(&[]).run().expect_code(0);
    project.takes(120);
    let run = project.measure_in_layouts(&[]).run().expect_code(1);
    let cost = compared(&run, "cost");
    assert_eq!(cost["verdict"], "regressed", "{run}");
    assert!(cost["paired"]["layouts"].as_u64() > Some(1), "{cost}");
}

#[test]
fn a_change_is_called_over_layouts_that_both_sides_share() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    project.takes(120);
    let run = project
        .measure_in_layouts(&["--against", "HEAD", "--measure-identical"])
        .run()
        .expect_code(1);
    assert_eq!(verdict(&run, "cost"), "regressed", "{run}");
    assert_eq!(verdict(&run, "constant"), "unchanged", "{run}");
    let (base, candidate) = (layouts(&machine, -1), layouts(&machine, 1));
    assert_eq!(base, candidate);
    assert!(candidate.len() >= 30, "{candidate:?}");
    assert!(candidate.iter().all(Option::is_some), "{candidate:?}");
    let called = compared(&run, "cost");
    let told = project
        .perfcheck(&["explain", "cost"])
        .args(["--message-format", "json"])
        .run();
    let told = explanation(&told.expect_code(0));
    assert_eq!(
        about(&told, "look")["numbers"]["layouts"],
        called["paired"]["layouts"]
    );
    says(
        &told,
        "look",
        &["code layouts", "in the same way on both sides"],
    );
    let of_called = called["paired"]["layouts"].as_u64().expect("a number");
    let of_same = compared(&run, "constant")["paired"]["layouts"].as_u64();
    assert!(of_called > 1 && of_same >= Some(of_called), "{run}");
    assert_eq!(said(&run), json!([]));
    // A comparison of the stored runs gives the same result.
    let stored = project
        .measure_in_layouts(&["compare", "1/base", "1"])
        .run()
        .expect_code(1);
    assert_eq!(compared(&stored, "cost"), called);
}

#[test]
fn what_is_slower_in_one_layout_alone_is_not_called_slower() {
    let machine = Machine::new();
    let project = Project::without_benches(&machine);
    project.add_target("costs");
    // A benchmark that is slow if its function is at the same address as in the first relinked process.
    let place = machine.home().join("place");
    project.benchmarks(&format!(
        r#"
        let here = (takes as fn(&mut Bencher<'_>, u64) as usize & 4095).to_string();
        let place = {place:?};
        let is_relinked = std::env::current_exe().unwrap().to_string_lossy().contains("/running/");
        if is_relinked && planted::NANOSECONDS == 130 && !std::path::Path::new(place).exists() {{
            std::fs::write(place, &here).unwrap();
        }}
        let is_slow = std::fs::read_to_string(place).is_ok_and(|slow| slow == here);
        suite.bench("cost", |b| takes(b, if is_slow {{ planted::NANOSECONDS }} else {{ 100 }}));
        "#
    ));
    project.commit();
    project.takes(130);
    // `--measure-identical` prevents the trial that finds benchmarks whose code is the same. The trial would run the function before the first
    // measured process does.
    let words = ["--against", "HEAD", "--measure-identical"];
    let run = project.measure_in_layouts(&words).run().expect_code(0);
    assert!(fs::exists(&place).expect("readable"), "{run}");
    assert_ne!(verdict(&run, "cost"), "regressed", "{run}");
    // Executables that run as they were built have only one layout, so the processes have no layout numbers.
    fs::remove_file(&place).expect("removed");
    let words = ["--against", "HEAD", "--measure-identical", "--rounds", "20"];
    let run = project.measure(&words).run().expect_code(0);
    assert_eq!(compared(&run, "cost")["paired"]["layouts"], 0);
    assert!(layouts(&machine, 4).iter().all(Option::is_none));
    assert_eq!(said(&run), json!([]));
}

#[test]
fn where_a_link_cannot_be_repeated_that_is_said_and_executables_run_as_they_were_built() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    // This flag overrides the linker that the tool sets in order to record the link, because the compiler uses the last linker that is named.
    project.write(
        ".cargo/config.toml",
        "[build]\nrustflags = [\"-Clinker=cc\"]\n",
    );
    project.commit();
    project.takes(120);
    let run = project
        .measure_in_layouts(&["--against", "HEAD"])
        .run()
        .expect_code(1);
    assert_eq!(verdict(&run, "cost"), "regressed", "{run}");
    let expected = "the code layout of costs was not varied because linking the bench again does not give the same executable";
    assert_eq!(said(&run), json!([expected]), "{run}");
    assert!(layouts(&machine, 2).iter().all(Option::is_none));
}

#[test]
fn links_that_the_author_shuffles_are_laid_out_alike() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    let shuffled = |seed: u32| {
        let script = format!(
            "fn main() {{ println!(\"cargo:rustc-link-arg-benches=-Wl,--shuffle-sections=.text*={seed}\"); }}\n"
        );
        project.write("build.rs", &script);
    };
    // The time of the benchmark depends only on the address of a function, so a difference between the sides comes from the layout.
    project.benchmarks(
        r#"
        let place = takes as fn(&mut Bencher<'_>, u64) as usize & 4095;
        suite.bench("cost", |b| takes(b, 100 + place as u64 / 256));
        "#,
    );
    shuffled(1);
    project.commit();
    shuffled(2);
    // The code is the same on both sides, so only `--measure-identical` makes the tool measure it. If both sides get the same layouts, no change is
    // found.
    let words = ["--against", "HEAD", "--measure-identical"];
    let run = project.measure_in_layouts(&words).run().expect_code(0);
    assert_eq!(
        verdict(&run, "cost"),
        "unchanged",
        "{}",
        compared(&run, "cost")
    );
    // If the executables run as they were built, the layout looks like a change. One shuffle in sixteen leaves the function where it was, so try
    // several seeds.
    let is_called = (2..7).any(|seed| {
        shuffled(seed);
        let words = ["--against", "HEAD", "--measure-identical"];
        let as_built = project.measure(&words).run();
        verdict(&as_built, "cost") != "unchanged"
    });
    assert!(is_called);
}
