//! `explain`: how a verdict on stored numbers was reached, and the messages if there is no verdict.

use crate::commands::crates::Crate;
use crate::commands::scripted::{QUICK, about, explanation, says, steady, stored};
use crate::support::{Finished, Machine};

const JSON: [&str; 2] = ["--message-format", "json"];

fn explain(machine: &Machine, words: &[&str]) -> Finished {
    stored(machine, &["explain"])
        .args(words)
        .args(JSON)
        .run()
        .expect_code(0)
}

#[test]
fn a_regression_is_explained_with_the_numbers_of_the_comparison() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    steady(&machine, &[("text", 200.0)]).run().expect_code(1);
    let compared = stored(&machine, &["compare", "1", "2"]).args(JSON).run();
    let compared = compared
        .messages("benchmark-compared")
        .into_iter()
        .find(|message| message["benchmark"]["id"] == "text")
        .expect("compared");
    let told = explanation(&explain(&machine, &["text"]));
    assert_eq!(told["run"], 2);
    assert_eq!(told["verdict"], "regressed");
    assert_eq!(told["decided_by"], "bootstrap-t");
    let interval = about(&told, "interval")["numbers"].clone();
    assert_eq!(interval["change"], compared["change"]);
    assert_eq!(interval["adjusted_p_slower"], compared["p_value"]);
    assert_eq!(interval["family"], 3);
    // Three benchmarks share the significance level of 1 %. This is the first of the three steps of Holm's procedure.
    let level = interval["level_slower"].as_f64().expect("a level");
    assert!((level - 0.01 / 3.0).abs() < 1e-12, "{interval}");
    let estimate = about(&told, "estimate")["numbers"].clone();
    assert_eq!(estimate["run_std_dev"], compared["run_std_dev"]);
    assert_eq!(estimate["degrees_of_freedom"], 4.0);
    says(&told, "measured", &["Run 2 of ", "3 processes"]);
    says(&told, "reference", &["run 1 of ", "3 processes"]);
}

#[test]
fn what_decided_and_what_would_have_made_it_another_verdict_is_told_of_each() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    steady(&machine, &[("text", 200.0), ("memory", 108.0)])
        .run()
        .expect_code(1);
    let slower = explanation(&explain(&machine, &["text"]));
    says(
        &slower,
        "decision",
        &["lower bound", "The verdict is regressed"],
    );
    says(
        &slower,
        "otherwise",
        &["would not have been `regressed`", "noise threshold"],
    );
    let open = explanation(&explain(&machine, &["arithmetic"]));
    assert_eq!(open["verdict"], "inconclusive");
    says(&open, "decision", &["The verdict is inconclusive"]);
    says(
        &open,
        "otherwise",
        &["would have been `regressed`", "`unchanged` needs"],
    );
    let callable = about(&open, "otherwise")["numbers"]["smallest_callable"].as_f64();
    assert!(callable.is_some_and(|callable| callable > 0.02), "{open}");
    let doubtful = explanation(&explain(&machine, &["memory"]));
    assert_eq!(doubtful["verdict"], "suspect", "{doubtful}");
    says(
        &doubtful,
        "decision",
        &["drift between runs", "The verdict is suspect"],
    );
    says(
        &doubtful,
        "t-score",
        &["alone would give the verdict `regressed`"],
    );
    steady(&machine, &[("text", 50.0)]).run().expect_code(0);
    let faster = explanation(&explain(&machine, &["text"]));
    assert_eq!(
        (&faster["run"], &faster["verdict"]),
        (&3.into(), &"improved".into())
    );
    says(
        &faster,
        "decision",
        &["upper bound", "The verdict is improved"],
    );
}

#[test]
fn n37_what_is_significant_includes_the_extremes_and_the_explanation_says_so() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    steady(&machine, &[("text", 200.0)]).run().expect_code(1);
    let told = explanation(&explain(&machine, &["text"]));
    says(
        &told,
        "location",
        &["No sample was left out", "as an outlier"],
    );
}

#[test]
fn the_run_that_is_named_is_explained_as_it_was_decided_then() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    steady(&machine, &[("text", 200.0)]).run().expect_code(1);
    stored(&machine, &["accept", "2"]).run().expect_code(0);
    steady(&machine, &[("text", 200.0)]).run().expect_code(0);
    let newest = explanation(&explain(&machine, &["text"]));
    assert_eq!(newest["run"], 3);
    let then = explanation(&explain(&machine, &["text", "--run", "2"]));
    assert_eq!(
        (&then["run"], &then["verdict"]),
        (&2.into(), &"regressed".into())
    );
    assert_eq!(then["decided_by"], "bootstrap-t");
    says(&then, "reference", &["run 1 of "]);
}

#[test]
fn a_run_that_the_t_score_decided_or_a_name_chose_is_recognised_as_such() {
    let machine = Machine::new();
    steady(&machine, &[])
        .args(["--save-baseline", "main"])
        .run()
        .expect_code(0);
    steady(&machine, &[]).run().expect_code(0);
    steady(&machine, &[("text", 110.0)])
        .args(["--ignore-drift"])
        .run()
        .expect_code(1);
    let told = explanation(&explain(&machine, &["text"]));
    assert_eq!(told["decided_by"], "t-score", "{told}");
    says(&told, "location", &["means over processes"]);
    steady(&machine, &[("text", 300.0)])
        .args(["--baseline", "main"])
        .run()
        .expect_code(1);
    let told = explanation(&explain(&machine, &["text"]));
    assert_eq!(told["decided_by"], "bootstrap-t", "{told}");
    says(&told, "reference", &["run 1 of "]);
}

#[test]
fn what_was_accepted_since_changes_no_explanation() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    for _ in 0..2 {
        steady(&machine, &[("text", 200.0)]).run().expect_code(1);
    }
    stored(&machine, &["accept", "2"]).run().expect_code(0);
    let told = explanation(&explain(&machine, &["text"]));
    assert_eq!(told["run"], 3);
    says(&told, "reference", &["run 1 of "]);
}

#[test]
fn a_decision_is_explained_as_it_was_made_whatever_was_accepted_or_set_since() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    steady(&machine, &[("text", 100.5)]).run().expect_code(0);
    steady(&machine, &[("text", 200.0)]).run().expect_code(1);
    let told = explanation(&explain(&machine, &["text"]));
    says(&told, "reference", &["mean of 2 runs (2, 1)"]);
    // From now on, new runs are compared with run 2 only. The stored verdict was reached with the mean of runs 1 and 2, so its explanation does not
    // change.
    stored(&machine, &["accept", "2"]).run().expect_code(0);
    assert_eq!(explanation(&explain(&machine, &["text"])), told);
    let p_value = &about(&told, "interval")["numbers"]["adjusted_p_slower"];
    let shown = stored(&machine, &["show", "--stats"]).args(JSON).run();
    let of_text = shown
        .messages("benchmark-statistics")
        .into_iter()
        .find(|message| message["benchmark"]["id"] == "text");
    let of_text = of_text.expect("measured");
    assert_eq!(of_text["verdict"], "regressed");
    assert_eq!(of_text["p_value"], *p_value, "{of_text}");
}

#[test]
fn verdicts_without_a_comparison_say_why_there_was_none() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a", "b"], "");
    made.measure(&machine, &["a", "b"], &[])
        .run()
        .expect_code(0);
    let explain = |id: &str| {
        let run = made.perfcheck(&machine, &["explain", id]).args(JSON).run();
        explanation(&run.expect_code(0))
    };
    let told = explain("a");
    assert_eq!(told["verdict"], "new");
    assert!(told["decided_by"].is_null(), "{told}");
    says(&told, "decision", &["No reference has this benchmark"]);
    made.list(&["a"]);
    made.measure(&machine, &["a"], &[]).run().expect_code(0);
    let told = explain("b");
    assert_eq!(
        (&told["verdict"], &told["run"]),
        (&"missing".into(), &2.into())
    );
    says(&told, "decision", &["Run 1 has this benchmark", "removed"]);
    made.list(&["a v2"]);
    made.measure(&machine, &["a"], &[]).run().expect_code(0);
    let told = explain("a");
    assert_eq!(told["verdict"], "incomparable");
    assert_eq!(
        about(&told, "difference")["numbers"]["fact"],
        "benchmark-version"
    );
    says(&told, "otherwise", &["--allow-different benchmark-version"]);
}

#[test]
fn a_failed_benchmark_says_in_which_processes_and_why() {
    let machine = Machine::new();
    let failed = machine
        .perfcheck()
        .testbench("")
        .args(["-p", "panics", "--bench", "panics", "in_body"])
        .args(QUICK);
    failed.run().expect_code(4);
    let told = explanation(&explain(&machine, &["in_body"]));
    assert_eq!(told["verdict"], "failed");
    says(
        &told,
        "failure",
        &["The benchmark failed in processes 1, 2", "panicked"],
    );
    says(
        &told,
        "decision",
        &["None of the benchmark's processes produced samples"],
    );
}

#[test]
fn what_cannot_be_explained_says_what_to_do_next() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    let refused = |words: &[&str], code: i32, texts: &[&str]| {
        stored(&machine, &["explain"])
            .args(words)
            .run()
            .expect_code(code)
            .expect_stderr(texts);
    };
    refused(
        &["txet"],
        2,
        &["no benchmark `txet`", "did you mean", "steady/steady: text"],
    );
    refused(&["e"], 2, &["matches 3 benchmarks", "name one of"]);
    refused(
        &["text", "--run", "nothing"],
        6,
        &["no baseline or run `nothing`"],
    );
    steady(&machine, &[]).arg("memory").run().expect_code(0);
    refused(
        &["text", "--run", "2"],
        6,
        &["run 2 has no verdict about `text`", "omit `--run`"],
    );
    let empty = Machine::new();
    stored(&empty, &["explain", "text"])
        .run()
        .expect_code(6)
        .expect_stderr(&["no runs are stored"]);
}

#[test]
fn the_text_fits_a_narrow_terminal_and_says_what_the_message_says() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    steady(&machine, &[("text", 200.0)]).run().expect_code(1);
    let text = stored(&machine, &["explain", "text", "--full"])
        .run()
        .expect_code(0);
    for line in text.stdout.lines() {
        assert!(line.chars().count() <= 80, "{line:?} is too long");
    }
    let told = explanation(&explain(&machine, &["text"]));
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let all = words(&text.stdout);
    for sentence in told["sentences"].as_array().expect("a list") {
        let said = words(sentence["text"].as_str().expect("text"));
        assert!(all.contains(&said), "no {said:?} in {text}");
    }
    // Repeating the command gives the same output with any number of threads, because it draws nothing at random.
    let again = stored(&machine, &["explain", "text", "--full"]).env("RAYON_NUM_THREADS", "2");
    assert_eq!(again.run().stdout, text.stdout);
}

#[test]
fn four_lines_say_what_changed_compared_with_what_how_certain_and_what_to_do() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    steady(&machine, &[("text", 200.0)]).run().expect_code(1);
    let told = |words: &[&str]| stored(&machine, words).run().expect_code(0).stdout;
    let text = told(&["explain", "text"]);
    let lines: Vec<&str> = text.lines().collect();
    let begins = [
        "steady/steady text, run 2: regressed",
        "",
        "change",
        "reference",
        "certainty",
        "next",
        "",
    ];
    for (line, begin) in lines.iter().zip(begins) {
        assert!(line.starts_with(begin), "{text}");
    }
    for said in [
        "+100",
        "slower by more than noise",
        "Run 1",
        "1 % chance",
        "accept text --run 2",
    ] {
        assert!(text.contains(said), "no {said:?} in {text}");
    }
    let in_full = "explain text --run 2 --full --manifest-path ";
    assert!(lines[7].contains(in_full), "{text}");
    assert_eq!(lines.len(), 8, "{text}");
    // Only `--full` prints the whole derivation; `-v` does not.
    assert_eq!(told(&["explain", "text", "-v"]), text);
    let full = told(&["explain", "text", "--full"]);
    let words: Vec<&str> = full.split_whitespace().collect();
    let full = words.join(" ");
    assert!(full.contains("The verdict is regressed"), "{full}");
}
