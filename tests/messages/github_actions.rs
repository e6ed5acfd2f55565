//! Tests the output of a run in a job of GitHub Actions. Without any flag, the run annotates regressions and writes a job summary. Text that a bench
//! prints must not give commands to GitHub.

use super::{quick, steady};
use crate::support::{Finished, Machine, Perfcheck};
use std::fs;

/// Sets the environment of a GitHub Actions job.
fn in_job(run: Perfcheck, machine: &Machine) -> Perfcheck {
    run.env("GITHUB_ACTIONS", "true")
        .env("GITHUB_STEP_SUMMARY", machine.home().join("summary.md"))
        .env("GITHUB_WORKFLOW", "benchmarks")
        .env("GITHUB_JOB", "measure")
}

fn summary(machine: &Machine) -> String {
    fs::read_to_string(machine.home().join("summary.md")).expect("a summary")
}

fn commands(finished: &Finished) -> Vec<String> {
    let lines = finished.stdout.lines().chain(finished.stderr.lines());
    let commands = lines.filter(|line| line.trim_start().starts_with("::"));
    commands.map(str::to_owned).collect()
}

#[test]
fn a_regression_is_annotated_and_in_the_summary_of_the_job() {
    let machine = Machine::new();
    let first = in_job(steady(&machine, "100/101/100"), &machine)
        .run()
        .expect_code(0);
    assert_eq!(commands(&first), Vec::<String>::new());
    let second = in_job(steady(&machine, "150/151/150"), &machine)
        .run()
        .expect_code(1);
    let [annotation] = &commands(&second)[..] else {
        panic!("not one annotation: {second}");
    };
    // The annotation is on the line that declares the benchmark.
    let file = "testbench/steady/benches/steady.rs";
    let source = std::fs::read_to_string(file).expect("readable");
    let line = source
        .lines()
        .position(|line| line.contains("\"arithmetic\""));
    let line = line.expect("declared") + 1;
    let head = format!(
        "::error file={file},line={line},title=regressed%3A arithmetic::steady/steady: arithmetic%0Aregressed: +"
    );
    assert!(line > 1 && annotation.starts_with(&head), "{annotation}");
    assert!(
        second.stderr.contains(annotation.as_str()),
        "beside the result, not in it"
    );
    // The summary has the reports of both calls in the step.
    let summary = summary(&machine);
    let marker = "<!-- cargo-perfcheck: benchmarks/measure -->\n### Benchmarks: ";
    assert_eq!(summary.matches(marker).count(), 2, "{summary}");
    let row = "| ▲ **regressed** | 100.6\u{a0}ns | 150.8\u{a0}ns | +49.8\u{a0}% |";
    assert!(summary.contains(row), "{summary}");
    // The summary suggests commands that read the store, so it also says where the store is.
    let store = machine.store().display().to_string();
    let commands = summary.find("cargo perfcheck explain ").expect("a command");
    let place = summary.find(&format!("The commands read the store <code>{store}</code>"));
    assert!(place.is_some_and(|place| place > commands), "{summary}");
}

#[test]
fn annotations_that_are_asked_for_come_once_and_below_the_table() {
    let machine = Machine::new();
    in_job(steady(&machine, "100/101/100"), &machine)
        .run()
        .expect_code(0);
    let run = in_job(steady(&machine, "150/151/150"), &machine)
        .args(["--report", "github"])
        .run()
        .expect_code(1);
    assert_eq!(commands(&run).len(), 1);
    let (table, annotations) = run.stdout.split_once("\n::error ").expect("an annotation");
    assert!(table.contains("arithmetic") && !annotations.is_empty());
}

#[test]
fn elsewhere_nothing_comes_without_asking() {
    let machine = Machine::new();
    steady(&machine, "100/101/100").run().expect_code(0);
    let run = steady(&machine, "150/151/150")
        .env("GITHUB_STEP_SUMMARY", machine.home().join("summary.md"))
        .run()
        .expect_code(1);
    assert_eq!(commands(&run), Vec::<String>::new());
    assert!(!machine.home().join("summary.md").exists());
}

#[test]
fn a_summary_that_cannot_be_written_is_a_warning() {
    let machine = Machine::new();
    let nowhere = machine.home().join("missing").join("summary.md");
    in_job(steady(&machine, "100/101/100"), &machine)
        .env("GITHUB_STEP_SUMMARY", nowhere)
        .run()
        .expect_code(0)
        .expect_stderr(&["warning: the job summary was not written"]);
}

#[test]
fn what_a_bench_prints_commands_nothing_in_a_job_and_passes_as_it_is_elsewhere() {
    let machine = Machine::new();
    // The times are real, so ignore the verdicts.
    let run =
        || quick(&machine, "prints_to_stdout").args(["--exact", "to_stderr", "--fail-on", "none"]);
    let in_job = in_job(run(), &machine).run().expect_code(0);
    assert_eq!(commands(&in_job), Vec::<String>::new());
    for line in [
        "\n  :\\:error::a command\n",
        "\n##\\[error]another\n",
        "\n:\\:set-output name=a::b\n",
    ] {
        assert!(in_job.stderr.contains(line), "no {line:?}: {in_job}");
    }
    let elsewhere = run().env_remove("CI").run();
    for line in [
        "\n  ::error::a command\n",
        "\n##[error]another\n",
        "\n::set-output name=a::b\n",
    ] {
        assert!(elsewhere.stderr.contains(line), "no {line:?}: {elsewhere}");
    }
}

#[test]
fn what_a_bench_prints_is_harmless_where_it_is_shown_and_as_it_is_in_a_file() {
    let shown = "\\u{1b}]0;title\\u{7}\\u{1b}]8;;http://a\\u{1b}\\link\\u{1b}]8;;\\u{1b}\\\n\\u{1b}[3A\\u{1b}[2K\\u{202e}\u{1b}[31mred\u{1b}[0m\\rback";
    let raw = "\u{1b}]0;title\u{7}\u{1b}]8;;http://a\u{1b}\\link\u{1b}]8;;\u{1b}\\\n\u{1b}[3A\u{1b}[2K\u{202e}\u{1b}[31mred\u{1b}[0m\rback\n";
    let machine = Machine::new();
    // The times are real, so ignore the verdicts.
    let run =
        || quick(&machine, "prints_to_stdout").args(["--exact", "to_stderr", "--fail-on", "none"]);
    for name in ["CI", "TF_BUILD", "TEAMCITY_VERSION"] {
        let in_job = run()
            .env_remove("CI")
            .env(name, "true")
            .run()
            .expect_code(0);
        let log = &in_job.stderr;
        assert!(log.contains(&format!("{shown}\n")), "{in_job}");
        assert!(log.contains("a ##vso\\[task.complete"), "{in_job}");
    }
    let in_file = run().env_remove("CI").run().expect_code(0);
    assert!(in_file.stderr.contains(raw), "{in_file}");
    assert!(
        in_file.stderr.contains("a ##vso[task.complete"),
        "{in_file}"
    );
    if !std::process::Command::new("script")
        .args(["-qec", "true", "/dev/null"])
        .output()
        .is_ok_and(|output| output.status.success())
    {
        crate::support::skipped("no `script`, which makes a terminal");
        return;
    }
    let line = format!(
        "'{}' perfcheck --manifest-path '{}' -p prints_to_stdout --exact to_stderr --fail-on none --rounds 3 --warm-up-time 1ms --measurement-time 5ms",
        env!("CARGO_BIN_EXE_cargo-perfcheck"),
        crate::support::testbench("").display()
    );
    let mut in_terminal = machine.command("script");
    in_terminal
        .args(["-qec", &line, "/dev/null"])
        .env("PERFCHECK_NO_RERUN", "1")
        .env("PERFCHECK_STORE", machine.store());
    let run = crate::support::run(in_terminal).expect_code(0);
    // Compare line by line, because progress may be redrawn between two lines.
    for line in shown.lines() {
        assert!(run.stdout.contains(line), "{line}: {run}");
    }
    assert!(
        !run.stdout.contains("\u{1b}]") && !run.stdout.contains('\u{202e}'),
        "{run}"
    );
}

#[test]
fn a_bench_target_that_failed_as_a_whole_is_annotated_though_all_others_are_fine() {
    let machine = Machine::new();
    let both = quick(&machine, "unknown_version").args(["-p", "sequential"]);
    let run = in_job(both, &machine).run().expect_code(4);
    let head = "::error file=testbench/unknown_version/benches/unknown_version.rs,line=1,title=failed%3A unknown_version/unknown_version::";
    assert!(
        commands(&run)
            .iter()
            .any(|command| command.starts_with(head)),
        "{run}"
    );
    assert!(summary(&machine).contains(": FAIL, 1 bench target failed; "));
}

#[test]
fn a_report_that_cannot_be_written_loses_no_run() {
    let machine = Machine::new();
    let directory = machine.home().join("reports");
    fs::create_dir(&directory).expect("a directory");
    steady(&machine, "100/101/100")
        .arg("--report")
        .arg(format!(
            "junit={}",
            directory.join("missing").join("a.xml").display()
        ))
        .run()
        .expect_code(2)
        .expect_stderr(&["there is no directory"]);
    steady(&machine, "100/101/100")
        .arg("--report")
        .arg("markdown=/dev/full")
        .run()
        .expect_code(5)
        .expect_stderr(&["could not write the result: /dev/full"]);
    let listed = super::stored(&machine, "store runs --message-format json");
    assert_eq!(listed.messages("run").len(), 1, "{listed}");
    let file = directory.join("report.md");
    steady(&machine, "150/151/150")
        .arg("--report")
        .arg(format!("markdown={}", file.display()))
        .run()
        .expect_code(1);
    let report = fs::read_to_string(&file).expect("a report");
    assert!(
        report.starts_with("<!-- cargo-perfcheck: benchmarks -->\n"),
        "{report}"
    );
    assert_eq!(fs::read_dir(&directory).expect("a directory").count(), 1);
}
