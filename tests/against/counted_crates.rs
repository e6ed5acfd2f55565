//! Counts instructions of benches that use Criterion or divan. Local crates with the same names replace the real ones, so that no registry is needed.
//! These replacements contain the functions whose calls mark the beginning and the end of the timed code. The scripts in tests/real/ use the real
//! crates. The tests are skipped if valgrind is not installed.

use serde_json::{Value, json};
use std::path::PathBuf;

use crate::against::flame_graphs::names_in_base;
use crate::against::instructions::{LIBRARY, UNDER_VALGRIND, beside_more_turns, has_valgrind};
use crate::against::project::{Project, TAKES_100, compared};
use crate::commands::scripted::finish;
use crate::support::Machine;

/// Source of the crate that replaces Criterion. The times that it reports are made up, but it really runs the code that is counted.
const CRITERION: &str = r#"
use runner::greeted;

pub mod bencher {
    pub struct Bencher<M> {
        pub iterations: u64,
        pub measurement: M,
    }

    impl<M> Bencher<M> {
        #[inline(never)]
        pub fn iter<O>(&mut self, mut routine: impl FnMut() -> O) {
            let began = std::time::Instant::now();
            for _ in 0..self.iterations {
                std::hint::black_box(routine());
            }
            std::hint::black_box(began.elapsed());
        }
    }
}

pub fn bench(id: &str, body: impl Fn(&mut bencher::Bencher<()>)) {
    let has = |flag: &str| std::env::args().any(|argument| argument == flag);
    let run = |iterations| body(&mut bencher::Bencher { iterations, measurement: () });
    if has("--test") {
        run(1);
    } else if has("--profile-time") {
        eprintln!("Benchmarking {id}: Profiling for 1.0000 s");
        for doubled in 0..10 {
            run(1 << doubled);
        }
    } else {
        let mut runner = greeted();
        if std::env::args().count() <= 2 {
            std::thread::park();
        }
        runner.measure(id);
    }
}
"#;

/// Source of the crate that replaces divan. It reports 100 ns for each iteration of every benchmark, in a table like that of divan.
const DIVAN: &str = r#"
pub mod benchmark {
    pub struct BenchContext;

    impl BenchContext {
        pub fn sample_recorder(size: u64, body: &dyn Fn()) {
            #[inline(never)]
            fn sync_impl(is_start: bool) {
                std::hint::black_box(is_start);
            }

            sync_impl(true);
            for _ in 0..size {
                body();
            }
            sync_impl(false);
        }
    }
}

/// `set_up` makes what is run; what it does is not timed.
pub fn main(target: &str, benches: &[(&str, &dyn Fn() -> Box<dyn Fn()>)]) {
    let arguments: Vec<String> = std::env::args().collect();
    let place = |flag: &str| arguments.iter().position(|argument| argument == flag);
    let after = |flag: &str| place(flag).map(|place| arguments[place + 1].clone());
    if place("--format").is_some() {
        for (name, _) in benches {
            println!("{target}::{name}: benchmark");
        }
        return;
    }
    if place("--list").is_some() || place("--test").is_some() {
        println!("{target}");
        for (name, set_up) in benches {
            println!("├─ {name}");
            if place("--test").is_some() {
                set_up()();
            }
        }
        return;
    }
    eprintln!("Timer precision: 20 ns");
    println!("{target} fastest │ slowest │ median │ mean │ samples │ iters");
    let Some(wanted) = after("--exact") else { return };
    let size = after("--sample-size").map_or(7, |size| size.parse().expect("a number"));
    for (name, set_up) in benches {
        if wanted == format!("{target}::{name}") {
            benchmark::BenchContext::sample_recorder(size, &set_up());
            let time = "100.0 ns";
            println!("╰─ {name} {time} │ {time} │ {time} │ {time} │ 1 │ {size}");
        }
    }
}
"#;

/// Creates a project with the bench target `costs`, which uses the crate `name` with the source `library`.
fn project<'m>(machine: &'m Machine, name: &str, library: &str) -> Project<'m> {
    let stand_in = machine.home().join(name);
    std::fs::create_dir_all(stand_in.join("src")).expect("a directory");
    let manifest = format!(
        "[package]\nname = {name:?}\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n"
    );
    std::fs::write(stand_in.join("Cargo.toml"), manifest).expect("written");
    std::fs::write(stand_in.join("src/lib.rs"), library).expect("written");
    let project = Project::without_benches(machine);
    let manifest = project.root().join("Cargo.toml");
    let manifest = std::fs::read_to_string(manifest).expect("there");
    let dependency = format!(
        "[dev-dependencies]\n{name} = {{ path = {} }}\n",
        json!(stand_in)
    );
    project.write(
        "Cargo.toml",
        &manifest.replace("[dev-dependencies]\n", &dependency),
    );
    project.add_target("costs");
    project.write("src/lib.rs", LIBRARY);
    project
}

/// Returns code that takes a lock which another process may hold. While instructions are counted, the process that holds the lock waits until another
/// process finds the lock taken and writes a file to say so.
fn take_a_lock(machine: &Machine) -> String {
    let lock = machine.home().join("lock").display().to_string();
    let met = met(machine).display().to_string();
    format!(
        r#"
        let is_counted = {UNDER_VALGRIND};
        let lock = std::fs::File::create({lock:?}).expect("created");
        if lock.try_lock().is_err() {{
            if is_counted {{
                std::fs::write({met:?}, "").expect("written");
            }}
            panic!("somebody else has the lock");
        }}
        let began = std::time::Instant::now();
        while is_counted && !std::fs::exists({met:?}).expect("known") && began.elapsed().as_secs() < 20 {{
            std::thread::sleep(std::time::Duration::from_millis(20));
        }}
        "#
    )
}

/// Creates a project whose dependency `criterion` runs benchmarks as Criterion does.
fn criterion_project(machine: &Machine) -> Project<'_> {
    let fake = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/testbench/fakes_criterion/src/lib.rs"
    );
    let library = format!("#[path = {fake:?}]\n#[allow(dead_code)]\nmod runner;\n{CRITERION}");
    project(machine, "criterion", &library)
}

fn met(machine: &Machine) -> PathBuf {
    machine.home().join("met")
}

#[test]
fn sides_of_criterion_that_fail_at_once_are_counted_alone() {
    if !has_valgrind() {
        return;
    }
    let machine = Machine::new();
    let project = criterion_project(&machine);
    let bench = format!(
        "fn main() {{ criterion::bench(\"work\", |b| {{ {} b.iter(|| planted::work(planted::TURNS / 20)) }}) }}",
        take_a_lock(&machine)
    );
    project.write("benches/costs.rs", &bench);
    project.commit();
    let run = beside_more_turns(&project).expect_code(1);
    assert!(met(&machine).exists(), "{run}");
    assert!(run.stderr.contains("somebody else has the lock"), "{run}");
    let work = compared(&run, "work");
    assert_eq!(work["verdict"], "regressed", "{run}");
    assert_eq!(work["instructions"]["exact"], true, "{run}");
    let names = names_in_base(&project);
    let begin = names
        .first()
        .is_some_and(|name| name.starts_with("criterion::bencher::Bencher<M>::iter"));
    assert!(
        begin && names.iter().any(|name| name == "planted::work"),
        "{names:?}"
    );
}

#[test]
fn a_bench_of_divan_is_counted_by_function_as_it_is() {
    if !has_valgrind() {
        return;
    }
    let machine = Machine::new();
    let project = project(&machine, "divan", DIVAN);
    let bench = format!(
        r#"
        fn work() -> Box<dyn Fn()> {{
            // No part of an iteration.
            let turns = planted::TURNS / 20 + planted::work(20_000) % 2;
            Box::new(move || drop(std::hint::black_box(planted::work(turns))))
        }}

        fn locked() -> Box<dyn Fn()> {{
            {}
            Box::new(move || {{
                let _ = &lock;
                std::hint::black_box(planted::work(planted::TURNS / 40));
            }})
        }}

        fn main() {{
            divan::main("costs", &[("work", &work), ("locked", &locked)]);
        }}
        "#,
        take_a_lock(&machine)
    );
    project.write("benches/costs.rs", &bench);
    project.commit();
    let run = beside_more_turns(&project).expect_code(1);
    // The two sides ran one after the other while they were timed, but at the same time while instructions were counted.
    assert!(met(&machine).exists(), "{run}");
    assert!(run.stderr.contains("somebody else has the lock"), "{run}");
    let work = compared(&run, "work");
    assert_eq!(work["verdict"], "regressed", "{run}");
    let found = &work["instructions"];
    let number = |value: &Value| value.as_f64().expect("a number");
    let (base, candidate) = (number(&found["base"]), number(&found["candidate"]));
    assert_eq!(found["exact"], true, "{found}");
    // The loop and the closure add the same number of instructions on both sides, so the ratio is slightly below 1.1.
    assert!((candidate / base - 1.1).abs() < 0.002, "{found}");
    let first = &found["functions"][0];
    assert_eq!(first["name"], "planted::work", "{found}");
    let own = number(&first["candidate"]) - number(&first["base"]);
    assert_eq!(own, candidate - base, "{found}");
    let names = names_in_base(&project);
    let is_there = |part: &str| names.iter().any(|name| name.contains(part));
    assert!(is_there("planted::work") && !is_there("main"), "{names:?}");
    assert_eq!(
        compared(&run, "locked")["instructions"]["exact"],
        true,
        "{run}"
    );
}

#[test]
fn a_bench_whose_iterations_nobody_can_set_is_named_with_this_reason() {
    if !has_valgrind() {
        return;
    }
    let machine = Machine::new();
    let project = Project::like_libtest(&machine, TAKES_100, "");
    let words = ["--rounds", "2", "--no-rerun", "--instructions", "always"];
    let run = project.measure_in_layouts(&words).with_valgrind();
    let run = run.run().expect_code(0);
    let remarks = finish(&run)["remarks"].to_string();
    let why = "instructions of `work` were not counted: libtest benches do not report how many iterations they run";
    assert!(remarks.contains(why), "{remarks}");
}

/// Checks that the only benchmark of the project executes nothing of the library but `work`.
#[track_caller]
fn check_coverage(project: &Project<'_>) {
    let finished = project
        .perfcheck(&["coverage", "--offline", "--message-format", "json"])
        .with_valgrind()
        .run()
        .expect_code(0);
    let functions = finished.messages("function-covered");
    let [work, other] = &functions[..] else {
        panic!("two functions: {finished}");
    };
    assert_eq!(work["function"], "planted::work", "{finished}");
    assert_eq!(work["benchmark"]["package"], "planted", "{finished}");
    assert!(work["share"].as_f64() > Some(0.9), "{finished}");
    assert_eq!(other["function"], "planted::other", "{finished}");
    assert_eq!(other["execution"], "never", "{finished}");
}

#[test]
fn coverage_is_counted_in_benches_of_criterion() {
    if !has_valgrind() {
        return;
    }
    let machine = Machine::new();
    let project = criterion_project(&machine);
    let bench = "fn main() { criterion::bench(\"work\", |b| b.iter(|| planted::work(500))) }";
    project.write("benches/costs.rs", bench);
    project.commit();
    check_coverage(&project);
}

#[test]
fn coverage_is_counted_in_benches_of_divan() {
    if !has_valgrind() {
        return;
    }
    let machine = Machine::new();
    let project = project(&machine, "divan", DIVAN);
    let bench = r#"
        fn work() -> Box<dyn Fn()> {
            Box::new(|| drop(std::hint::black_box(planted::work(500))))
        }

        fn main() {
            divan::main("costs", &[("work", &work)]);
        }
    "#;
    project.write("benches/costs.rs", bench);
    project.commit();
    check_coverage(&project);
}
