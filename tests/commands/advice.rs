//! Advice on the next step, and suggestions for misspelled words.

use std::collections::BTreeSet;
use std::fs;

use crate::against::project::Project;
use crate::commands::scripted::{CLOCK, QUICK, steady, stored};
use crate::support::{Finished, Machine, testbench};

#[test]
fn few_benchmarks_are_accepted_by_name_and_the_command_that_is_offered_does_that() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    let table = steady(&machine, &[("text", 200.0)]).run().expect_code(1);
    assert!(
        table.stdout.contains("cargo perfcheck accept text --run 2"),
        "{table}"
    );
    stored(&machine, &["accept", "text", "--run", "2"])
        .run()
        .expect_code(0);
    let runs = stored(&machine, &["store", "runs"]).run().expect_code(0);
    assert!(
        runs.stdout.contains("not accepted; 1 benchmark accepted"),
        "{runs}"
    );
    let json = ["store", "runs", "--message-format", "json"];
    let messages = stored(&machine, &json).run().messages("run");
    assert_eq!(messages[0]["accepted_benchmarks"][0]["id"], "text");
    assert_eq!(messages[1]["accepted_benchmarks"], serde_json::json!([]));
}

#[test]
fn where_everything_is_slower_the_run_is_accepted() {
    let machine = Machine::new();
    steady(&machine, &[]).arg("text").run().expect_code(0);
    let table = steady(&machine, &[("text", 200.0)])
        .arg("text")
        .run()
        .expect_code(1);
    assert!(table.stdout.contains("cargo perfcheck accept 2"), "{table}");
}

#[test]
fn of_a_named_baseline_the_name_is_moved_and_then_the_next_run_is_green() {
    let machine = Machine::new();
    let named = ["--save-baseline", "v1"];
    steady(&machine, &[]).args(named).run().expect_code(0);
    let slower = |name: &str| {
        let run = steady(&machine, &[("text", 200.0)]);
        run.args(["--baseline", name]).run()
    };
    let red = slower("v1").expect_code(1);
    let line = "\nAccept: cargo perfcheck baseline save v1 2 --manifest-path ";
    assert!(red.stdout.contains(line), "{red}");
    // If the user names the reference by its number, accepting a run does not change the reference of the next run.
    let by_number = slower("1").expect_code(1);
    assert!(by_number.stdout.contains("\nWhy: "), "{by_number}");
    assert!(!by_number.stdout.contains("Accept"), "{by_number}");
    stored(&machine, &["baseline", "save", "v1", "2"])
        .run()
        .expect_code(0);
    slower("v1").expect_code(0);
}

#[test]
fn beside_a_revision_nothing_is_offered_to_accept() {
    let machine = Machine::new();
    let project = Project::new(&machine);
    project.git(&["branch", "before"]);
    project.takes(200);
    let comment = machine.home().join("comment.md");
    let report = format!("markdown={}", comment.display());
    for flag in ["--against", "--against-merge-base"] {
        let words = [
            "--offline",
            "--as-built",
            "--seed",
            "7",
            flag,
            "before",
            "cost",
        ];
        let run = project
            .perfcheck(&words)
            .args(["--report", &report])
            .run()
            .expect_code(1);
        let comment = fs::read_to_string(&comment).expect("written");
        for text in [&run.stdout, &comment] {
            assert!(text.contains("Why: cargo perfcheck explain"), "{text}");
            assert!(!text.to_lowercase().contains("accept"), "{text}");
        }
    }
}

#[test]
fn with_nothing_but_new_benchmarks_status_6_has_its_reason() {
    let machine = Machine::new();
    steady(&machine, &[])
        .args(["text", "--save-baseline", "v1"])
        .run()
        .expect_code(0);
    let run = steady(&machine, &[])
        .args(["memory", "--baseline", "v1"])
        .run()
        .expect_code(6);
    let reason = "Nothing could be compared with `v1` (run 1), which has none of these benchmarks: exit status 6.";
    assert!(run.stdout.contains(reason), "{run}");
    let compared = stored(&machine, &["compare", "v1", "latest", "--filter", "memory"])
        .run()
        .expect_code(6);
    assert!(compared.stdout.contains(reason), "{compared}");
}

#[test]
fn a_name_that_moves_says_from_where() {
    let machine = Machine::new();
    let save = || {
        let run = steady(&machine, &[]).args(["--save-baseline", "v1"]).run();
        run.expect_code(0).stdout
    };
    assert!(save().contains("Baseline `v1` is run 1."));
    assert!(save().contains("Baseline `v1` is now run 2; it was run 1."));
}

#[test]
fn a_mistyped_command_is_refused_unless_it_has_found_benchmarks_before() {
    let machine = Machine::new();
    for (word, meant) in [
        ("histroy", "history"),
        ("diff", "compare"),
        ("runs", "store runs"),
        ("self-test", "doctor --self-test"),
    ] {
        let refused = steady(&machine, &[]).arg(word).run().expect_code(2);
        let refused = refused.expect_stderr(&[
            &format!("there is no command `{word}`"),
            &format!("did you mean `cargo perfcheck {meant}`?"),
            &format!("`cargo perfcheck run {word}`"),
        ]);
        assert!(!refused.stderr.contains("Finished"), "{refused}");
    }
    let other = steady(&machine, &[]).arg("nothing_like_it").run();
    let other = other.expect_code(4);
    assert!(!other.stderr.contains("did you mean"), "{other}");
    // After `run` and after `--`, every word is a filter.
    let said = machine.perfcheck().args(["run", "histroy"]);
    let said = said.args(["-p", "steady"]).testbench("").run();
    said.expect_code(4)
        .expect_stderr(&["whose id contains `histroy`"]);
    let escaped = steady(&machine, &[]).args(["--", "histroy"]).run();
    escaped.expect_code(4);

    // A word that matches a stored benchmark is a filter, even if it resembles a command.
    let lists = || steady(&machine, &[]).arg("lists").run();
    lists().expect_code(2);
    let known = machine.home().join("known.csv");
    std::fs::write(&known, "name,value\nlists of words,100\n").expect("written");
    let import = ["--columns", "id=name,value=value", "--unit", "ns"];
    stored(
        &machine,
        &["store", "import", known.to_str().expect("a path")],
    )
    .args(import)
    .run()
    .expect_code(0);
    lists().expect_code(4);
}

#[test]
fn a_benchmark_in_the_place_of_a_run_is_recognised() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    stored(&machine, &["show", "tex"])
        .run()
        .expect_code(2)
        .expect_stderr(&[
            "no run is called `tex`",
            "steady/steady: text",
            "show latest tex",
        ]);
    stored(&machine, &["show", "nothing_like_it"])
        .run()
        .expect_code(6)
        .expect_stderr(&["there is no baseline or run `nothing_like_it`"]);
}

#[test]
fn an_order_that_means_nothing_is_refused_before_anything_is_done() {
    let machine = Machine::new();
    for time in [100.0, 100.5] {
        steady(&machine, &[("text", time)]).run().expect_code(0);
    }
    let pivot = |values: &str, order: &str| {
        let request = format!("rows=id,cols=run,value={values}");
        let words = ["compare", "1", "2", "--pivot", &request, "--sort", order];
        stored(&machine, &words).run()
    };
    pivot("time", "worst")
        .expect_code(2)
        .expect_stderr(&["needs verdicts"]);
    pivot("time", "change")
        .expect_code(2)
        .expect_stderr(&["needs a change", "+change"]);
    pivot("ratio", "time")
        .expect_code(2)
        .expect_stderr(&["needs a time value"]);
    pivot("time+change", "change").expect_code(0);
    let self_test = ["doctor", "--self-test", "--sort", "change"];
    stored(&machine, &self_test)
        .run()
        .expect_code(2)
        .expect_stderr(&["--sort worst"]);
}

#[test]
fn histories_are_sorted_by_their_levels() {
    let machine = Machine::new();
    let times = [("text", 50.0), ("memory", 300.0)];
    steady(&machine, &times).run().expect_code(0);
    let words = ["history", "--all-branches", "--sort", "time"];
    let table = stored(&machine, &words).run().expect_code(0).stdout;
    let place = |id: &str| {
        table
            .find(id)
            .unwrap_or_else(|| panic!("no {id} in {table}"))
    };
    assert!(place("memory") < place("text"), "{table}");
}

#[test]
fn a_number_with_a_sign_is_refused_as_a_number() {
    let machine = Machine::new();
    for (words, reason) in [
        (["--noise-threshold", "-5%"], "`-5%`"),
        (
            ["--noise-threshold", "1000%"],
            "`1000%` is not below 100 %\n",
        ),
        (["--seed", "-1"], "invalid value '-1' for '--seed <N>'"),
        (["--time-budget", "-1s"], "invalid value '-1s'"),
    ] {
        let run = stored(&machine, &["compare", "1", "2"]).args(&words[..]);
        let run = match words[0] {
            "--time-budget" => steady(&machine, &[]).args(words),
            _ => run,
        };
        let refused = run.run().expect_code(2);
        assert!(refused.stderr.contains(reason), "{refused}");
        assert!(!refused.stderr.contains("use '--"), "{refused}");
    }
}

#[test]
fn a_baseline_has_a_short_name_that_means_nothing_else() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    let long = "x".repeat(101);
    for name in ["..", "a/../b", "/a", "a//b", ".hidden", "HEAD", &long] {
        let refused = stored(&machine, &["baseline", "save", name]).run();
        let refused = refused.expect_code(2);
        assert!(
            refused
                .stderr
                .contains("is not a valid name for a baseline"),
            "{refused}"
        );
    }
    for name in ["v1.0", "release/1.x", "head", &"x".repeat(100)] {
        stored(&machine, &["baseline", "save", name])
            .run()
            .expect_code(0);
    }
    let missing = stored(&machine, &["show", "nope"]).run().expect_code(6);
    let text = "there is no baseline or run `nope`; the baselines are: ";
    assert!(missing.stderr.contains(text), "{missing}");
}

#[test]
fn an_executable_that_is_none_is_refused_before_anything_is_built() {
    let machine = Machine::new();
    let directory = machine.home().display().to_string();
    let refused = machine
        .perfcheck()
        .args(["-p", "steady", "--against-executable", &directory])
        .testbench("")
        .run()
        .expect_code(2);
    assert!(refused.stderr.contains("it is not a file"), "{refused}");
    assert!(!refused.stderr.contains("Finished"), "{refused}");
}

/// Returns the `cargo perfcheck` commands that the output suggests.
fn offered(finished: &Finished) -> Vec<String> {
    let texts = [&finished.stdout, &finished.stderr];
    let lines = texts.into_iter().flat_map(|text| text.lines());
    let mut commands = Vec::new();
    for line in lines {
        for (start, _) in line.match_indices("cargo perfcheck ") {
            let is_quoted = line[..start].ends_with('`');
            let rest = &line[start..];
            let end = if is_quoted { "`" } else { "   (" };
            commands.push(rest.split(end).next().unwrap_or(rest).to_owned());
        }
    }
    commands
}

#[test]
fn commands_about_an_id_that_begins_with_a_dash_run_as_they_are_printed() {
    let machine = Machine::new();
    let package = testbench("names");
    let package = package.parent().expect("a directory");
    let clock = |nanoseconds: f64| {
        format!(
            "plain=100/101/100;--bench={nanoseconds}/{:.2}/{:.2}",
            nanoseconds + 0.01,
            nanoseconds + 0.02
        )
    };
    let measured = |nanoseconds| {
        let run = machine.perfcheck().args(QUICK).current_dir(package);
        // With the variable `CI`, the machine counts as shared. On a shared machine, a small change is `suspect`.
        let run = run.env(CLOCK, clock(nanoseconds)).env("CI", "1");
        run.args(["--exact", "--", "plain", "--bench"]).run()
    };
    let on_stored = |words: &[&str], code| {
        let run = machine.perfcheck().args(words).current_dir(package);
        run.run().expect_code(code)
    };
    measured(100.0).expect_code(0);
    let texts = [
        measured(110.0).expect_code(0),
        measured(200.0).expect_code(1),
        on_stored(&["explain", "--run", "1", "--", "--bench"], 0),
        on_stored(&["explain", "--run", "2", "--", "--bench"], 0),
        on_stored(&["explain", "--run", "3", "--", "--bench"], 0),
        on_stored(&["show", "--", "--bench"], 2),
        on_stored(&["show", "2", "--report", "svg"], 2),
    ];
    let mut tried = BTreeSet::new();
    for command in texts.iter().flat_map(offered) {
        // Skip commands with the placeholder `FUNCTION`, which the user must replace.
        let is_whole = command.contains("--bench") && !command.contains("FUNCTION");
        if !is_whole || !tried.insert(command.clone()) {
            continue;
        }
        let pasted = machine.pasted(&command).env(CLOCK, clock(100.0));
        let run = pasted.current_dir(package).run();
        assert!([0, 1].contains(&run.code()), "{command}\n{run}");
    }
    let words = |command: &str| {
        tried
            .iter()
            .any(|tried| tried.starts_with(&format!("cargo perfcheck {command} ")))
    };
    for command in ["explain", "accept", "show", "history", "--exact", "-p"] {
        assert!(words(command), "{command} is not among {tried:#?}");
    }
}
