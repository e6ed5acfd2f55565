//! Many benchmarks at once: error rates for all of them together, messages about undecided benchmarks, and which runs become references.

use serde_json::Value;

use crate::commands::crates::Crate;
use crate::commands::scripted::{
    CLOCK, QUICK, about, explanation, finish, reference_runs, verdict, verdicts,
};
use crate::support::{Finished, Machine};

const JSON: [&str; 2] = ["--message-format", "json"];
/// Settings of a dedicated machine: without earlier runs, the assumed drift between runs is 1 % (standard deviation, 4 degrees of freedom).
const DEDICATED: &str = "[workspace.metadata.perfcheck]\nhost = \"dedicated\"\n";

/// Creates eight benchmarks and measures them once. [`slower`] then measures four of them 12 % slower.
fn eight(machine: &Machine, tables: &str) -> Crate {
    let ids: Vec<String> = (0..8).map(|i| format!("b{i}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let made = Crate::of(machine, &ids, tables);
    made.measure(machine, &ids, &[]).run().expect_code(0);
    made
}

fn slower(machine: &Machine, made: &Crate, words: &[&str]) -> Finished {
    let ids: Vec<String> = (0..8).map(|i| format!("b{i}")).collect();
    let (changed, same) = ids.split_at(4);
    let same: Vec<&str> = same.iter().map(String::as_str).collect();
    let changed: Vec<(&str, f64)> = changed.iter().map(|id| (id.as_str(), 112.0)).collect();
    made.measure(machine, &same, &changed).args(words).run()
}

fn close(found: &Value, expected: f64, within: f64) {
    let found = found.as_f64().expect("a number");
    assert!((found - expected).abs() < within, "{found} and {expected}");
}

/// Each of four benchmarks becomes 12 % slower, and 2 % count as noise. Its t-score is `ln 1.12 - ln 1.02 = 0.09353` divided by the standard error
/// `0.01 sqrt 2`, which is 6.613. With four degrees of freedom, its p-value is `1/2 - 3/8 x (1 - x^2 / 12)`, where `x = t / sqrt(1 + t^2 / 4) =
/// 1.9144`. That is 0.001357. Holm's procedure requires a p-value below `0.01 / 8 = 0.00125` for the first benchmark. The procedure of Benjamini and
/// Hochberg requires one below `4 x 0.01 / 8 = 0.005` for all four.
#[test]
fn the_share_of_false_alarms_calls_what_the_chance_of_any_does_not() {
    let machine = Machine::new();
    let made = eight(&machine, DEDICATED);
    let family_wise = slower(&machine, &made, &[]).expect_code(0);
    assert_eq!(finish(&family_wise)["verdicts"]["regressed"], 0);
    for id in ["b0", "b1", "b2", "b3"] {
        assert_eq!(verdict(&family_wise, id), "suspect", "{family_wise}");
    }
    let words = ["compare", "1", "2", "--correction", "bh"];
    let of_calls = made.perfcheck(&machine, &words).args(JSON).run();
    let of_calls = of_calls.expect_code(1);
    let called = verdicts(&of_calls);
    let called: Vec<&str> = called
        .iter()
        .filter(|(_, verdict)| *verdict == "regressed")
        .map(|(id, _)| id.as_str())
        .collect();
    assert_eq!(called, ["b0", "b1", "b2", "b3"]);
    let compared = of_calls.messages("benchmark-compared");
    let first = compared
        .iter()
        .find(|message| message["benchmark"]["id"] == "b0")
        .expect("b0");
    // The adjusted p is 0.001357 x 8 / 4. The lower bound uses t = 4.604 at the level 0.005: exp(0.11333 - 4.604 x 0.014142) - 1.
    close(&first["p_value"], 0.002_714, 2e-5);
    close(&first["change"]["lower"], 0.0494, 5e-4);
    let text = made.perfcheck(&machine, &words).run().expect_code(1).stdout;
    assert!(text.contains("false discovery rate 1 %"), "{text}");
    assert!(!text.contains("any false alarm"), "{text}");
}

#[test]
fn the_workspace_says_what_is_kept_at_its_level_and_the_exit_status_follows() {
    let machine = Machine::new();
    let made = eight(&machine, &format!("{DEDICATED}correction = \"bh\"\n"));
    let run = slower(&machine, &made, &[]).expect_code(1);
    assert_eq!(finish(&run)["verdicts"]["regressed"], 4, "{run}");
    let told = made
        .perfcheck(&machine, &["explain", "b0"])
        .args(JSON)
        .run();
    let told = explanation(&told.expect_code(0));
    let interval = about(&told, "interval")["numbers"].clone();
    close(&interval["level_slower"], 0.005, 1e-12);
    close(&interval["p_slower"], 0.001_357, 1e-5);
    assert!(
        told.to_string().contains("Benjamini-Hochberg procedure"),
        "{told}"
    );
    // The command line overrides the table.
    let words = ["compare", "1", "2", "--correction", "holm"];
    made.perfcheck(&machine, &words).run().expect_code(0);
    // A side-by-side measurement shares the level among looks and benchmarks, so it rejects this flag.
    made.perfcheck(&machine, &["--against", "HEAD", "--correction", "bh"])
        .env_remove("PERFCHECK_NO_RERUN")
        .run()
        .expect_code(2)
        .expect_stderr(&[
            "`--correction` applies only to stored runs",
            "any false alarm",
        ]);
}

/// Measures a run in which the processes of the benchmark `a` differ so much that no change of its time is certain. `floor` is the time in the
/// fastest process.
fn noisy(machine: &Machine, made: &Crate, floor: f64) -> Finished {
    let clock = format!("a={floor}/{}/{};calm=100/101/100", floor * 1.5, floor * 1.3);
    let run = made.perfcheck(machine, &QUICK).args(JSON).env(CLOCK, clock);
    run.run().expect_code(0)
}

fn acceptance(machine: &Machine, made: &Crate, run: u64) -> String {
    let runs = made.perfcheck(machine, &["store", "runs"]).args(JSON).run();
    let runs = runs.expect_code(0).messages("run");
    let found = runs.iter().find(|one| one["run"] == run).expect("a run");
    found["acceptance"].as_str().expect("a word").to_owned()
}

#[test]
fn what_looks_slower_and_is_not_decided_is_no_reference_until_it_is_accepted() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a", "calm"], "");
    noisy(&machine, &made, 100.0);
    // The change is 3 %. On a shared machine, 2 % count as noise, and the drift between runs gives a standard error of at least 3 % x sqrt 2. So the
    // second run does not look slower.
    let little = noisy(&machine, &made, 103.0);
    assert_eq!(verdict(&little, "a"), "inconclusive", "{little}");
    assert_eq!(finish(&little)["look_slower"], 0);
    assert_eq!(acceptance(&machine, &made, 2), "automatic");
    let much = noisy(&machine, &made, 160.0);
    assert_eq!(verdict(&much, "a"), "inconclusive", "{much}");
    assert_eq!(finish(&much)["look_slower"], 1, "{much}");
    assert_eq!(acceptance(&machine, &made, 3), "pending");
    let again = noisy(&machine, &made, 160.0);
    assert_eq!(reference_runs(&again, "a"), [2, 1], "{again}");
    let text = made.perfcheck(&machine, &["compare", "1", "3", "--report", "markdown"]);
    let text = text.run().expect_code(0).stdout;
    assert!(
        text.contains("2 benchmarks are inconclusive; 1 of them looks slower."),
        "{text}"
    );
    made.perfcheck(&machine, &["accept", "4"])
        .run()
        .expect_code(0);
    let after = noisy(&machine, &made, 160.0);
    assert_eq!(reference_runs(&after, "a"), [4], "{after}");
}

#[test]
fn advice_names_what_looks_slower_and_the_command_that_accepts_it() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a", "calm"], "");
    noisy(&machine, &made, 100.0);
    let clock = "a=215/322/280;calm=100/101/100";
    let run = made.perfcheck(&machine, &QUICK).env(CLOCK, clock).run();
    let run = run.expect_code(0);
    for text in [
        "2 benchmarks are inconclusive; 1 of them looks slower.",
        "inconclusive: `a` looks 115.0 % slower, but this is not certain.\nRun 2 is not accepted.\n",
        "Accept: cargo perfcheck accept 2",
    ] {
        assert!(run.stdout.contains(text), "no {text:?} in {run}");
    }
}

#[test]
fn nothing_is_called_well_where_nothing_was_decided() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a"], "");
    let measure = |clock: &str| {
        let run = made.perfcheck(&machine, &QUICK).env(CLOCK, clock);
        run.args(["--report", "markdown"])
            .run()
            .expect_code(0)
            .stdout
    };
    measure("a=100/150/130");
    let open = measure("a=104/150/130");
    assert!(open.contains("1 benchmark is inconclusive."), "{open}");
    for well in ["No benchmark", "unchanged", "No regression"] {
        assert!(!open.contains(well), "{open}");
    }
}
