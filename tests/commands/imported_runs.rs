//! Imported runs are shown and compared like any other runs, and the output names their limitations.

use std::path::{Path, PathBuf};

use crate::commands::importing::{JSON, file, import, last, noise, table};
use crate::commands::scripted::{stored, verdicts};
use crate::commands::serializer_log;
use crate::support::Machine;

/// A few resamples are enough, because verdicts here come from ranks, and no test checks the intervals of summaries.
const FEW: [&str; 2] = ["--resamples", "1000"];

#[test]
fn m4_rates_have_harmonic_means_and_their_changes_say_what_the_sign_means() {
    let machine = Machine::new();
    let before = file(
        &machine,
        "before.csv",
        "name,rate\na,2000\na,4000\na,5000\n",
    );
    let after = file(&machine, "after.csv", "name,rate\na,1000\na,2000\na,2500\n");
    for path in [&before, &after] {
        import(&machine, &[path], "id=name,value=rate[ops/s]", "")
            .run()
            .expect_code(0);
    }
    let shown = stored(&machine, &["show", "1"])
        .args(JSON)
        .run()
        .expect_code(0);
    let measured = last(&shown, "benchmark-measured");
    assert_eq!(
        measured["metric"],
        serde_json::json!({"kind": "rate", "unit": "ops"})
    );
    let mean = measured["rate_per_second"]["mean"]["estimate"]
        .as_f64()
        .expect("a mean");
    let harmonic = 3.0 / (1.0 / 2000.0 + 1.0 / 4000.0 + 1.0 / 5000.0);
    assert!((mean - harmonic).abs() < 1e-6 * harmonic, "{mean}");
    let compared = stored(&machine, &["compare", "1", "2"]).args(FEW).run();
    assert!(
        compared.stdout.contains("+ always means slower"),
        "{compared}"
    );
    assert!(compared.stdout.contains("kops/s"), "{compared}");
    let centered = stored(&machine, &["compare", "1", "2", "--center", "mean"]).args(FEW);
    let centered = centered.run();
    let summary = "a: mean 3.158 kops/s → 1.579 kops/s (+100 %)";
    assert!(centered.stdout.contains(summary), "{centered}");
}

#[test]
fn d15_times_and_rates_are_not_compared_and_unknown_machines_are_told_from_known_ones() {
    let machine = Machine::new();
    let log = file(&machine, "log.csv", &table(noise(20, 1e3)));
    for words in [
        "--unit ns",
        "--unit ops/s",
        "--unit ns --fact cpu=abacus",
        "--unit ns",
    ] {
        import(&machine, &[&log], "id=name,value=ns", words)
            .run()
            .expect_code(0);
    }
    let compare = |base: &str, new: &str| stored(&machine, &["compare", base, new]).args(FEW).run();
    let of_metrics = compare("1", "2").expect_code(6);
    assert!(
        of_metrics.stdout.contains("metric: time -> rate of ops"),
        "{of_metrics}"
    );
    let of_machines = compare("1", "3").expect_code(6);
    assert!(
        of_machines.stdout.contains("cpu: unknown -> abacus"),
        "{of_machines}"
    );
    compare("1", "4").expect_code(0);
    compare("1", "1").expect_code(2);
    let refused = import(
        &machine,
        &[&log],
        "id=name,value=ns",
        "--unit ns --fact weather=fine",
    )
    .run()
    .expect_code(2);
    assert!(
        refused.stderr.contains("`weather` is not a known fact"),
        "{refused}"
    );
}

#[test]
fn s22_the_limits_of_imported_comparisons_are_stated() {
    let machine = Machine::new();
    for (name, around) in [("a.csv", 1e3), ("b.csv", 1.5e3)] {
        let log = file(&machine, name, &table(noise(30, around)));
        import(&machine, &[&log], "id=name,value=ns", "--unit ns")
            .run()
            .expect_code(0);
    }
    let compared = stored(&machine, &["compare", "1", "2"])
        .args(FEW)
        .run()
        .expect_code(1);
    for words in [
        "another program measured these values",
        "but not its size",
        "does not say which process measured",
    ] {
        assert!(
            compared.stderr.contains(words) || compared.stdout.contains(words),
            "{words}:\n{compared}"
        );
    }
}

#[test]
fn amounts_are_shown_drawn_and_explained_in_their_unit_and_no_limit_in_time_is_for_them() {
    let machine = Machine::new();
    for (name, around) in [("a.csv", 1e3), ("b.csv", 1.5e3)] {
        let log = file(&machine, name, &table(noise(30, around)));
        import(&machine, &[&log], "id=name,value=ns", "--unit amount:steps")
            .run()
            .expect_code(0);
    }
    let picture = stored(&machine, &["show", "2", "a", "--report", "svg"])
        .run()
        .expect_code(0);
    assert!(picture.stdout.contains("steps per iteration"), "{picture}");
    assert!(!picture.stdout.contains(" ns"), "{picture}");
    let summary = ["--center", "mean", "--outliers", "top5"];
    let compared = stored(&machine, &["compare", "1", "2", "--limit", "mean:1ns"])
        .args(FEW)
        .args(summary)
        .run()
        .expect_code(1);
    assert!(compared.stdout.contains(" steps → "), "{compared}");
    assert!(!compared.stdout.contains(" ns"), "{compared}");
    assert!(
        compared.stdout.contains(
            "`mean:1ns` does not apply to `a`: the samples are not times, or this statistic cannot be computed from them"
        ),
        "{compared}"
    );
}

#[test]
fn sessions_are_processes_and_then_the_usual_test_decides() {
    let machine = Machine::new();
    let sessions = |around: f64| -> Vec<PathBuf> {
        (0..3)
            .map(|day| {
                let name = format!("{around}-{day}.csv");
                file(
                    &machine,
                    &name,
                    &table(noise(40, around * (1.0 + 0.001 * f64::from(day)))),
                )
            })
            .collect()
    };
    for around in [1e3, 1e3 * 1.5] {
        let files = sessions(around);
        let paths: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
        let said = import(&machine, &paths, "id=name,value=ns", "--unit ns")
            .args(JSON)
            .run()
            .expect_code(0);
        assert_eq!(last(&said, "import-finished")["processes"], 3);
        assert!(
            !said.stderr.contains("does not say which process"),
            "{said}"
        );
    }
    let compared = stored(&machine, &["compare", "1", "2"])
        .args(FEW)
        .args(JSON)
        .run()
        .expect_code(1);
    let message = last(&compared, "benchmark-compared");
    assert_eq!(
        (&message["decided_by"], &message["verdict"]),
        (&"bootstrap-t".into(), &"regressed".into())
    );
}

#[test]
fn imports_of_an_unknown_host_are_taken_for_a_shared_machine_until_the_user_says_otherwise() {
    let machine = Machine::new();
    let sessions = |around: f64, words: &str| {
        let files: Vec<PathBuf> = (0..3)
            .map(|day| {
                let text = table(noise(40, around * (1.0 + 0.001 * f64::from(day))));
                file(&machine, &format!("{around}-{day}.csv"), &text)
            })
            .collect();
        let paths: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
        import(&machine, &paths, "id=name,value=ns", words)
            .run()
            .expect_code(0);
    };
    // On a shared machine, drift between runs can explain a change of eight percent. On a dedicated machine it cannot.
    for words in ["--unit ns", "--unit ns --fact host=dedicated"] {
        for around in [1e3, 1.08e3] {
            sessions(around, words);
        }
    }
    let compare = |base: &str, new: &str| stored(&machine, &["compare", base, new]).args(FEW).run();
    let unknown = compare("1", "2").expect_code(0);
    assert!(
        unknown.stdout.contains("--fact host=dedicated"),
        "{unknown}"
    );
    let dedicated = compare("3", "4").expect_code(1);
    assert!(!dedicated.stdout.contains("--fact host"), "{dedicated}");
    let refused = import(
        &machine,
        &[&file(&machine, "log.csv", &table(noise(20, 1e3)))],
        "id=name,value=ns",
        "--unit ns --fact host=mine",
    )
    .run()
    .expect_code(2);
    assert!(
        refused.stderr.contains("`dedicated` nor `shared`"),
        "{refused}"
    );
}

#[test]
fn degenerate_tables_get_no_verdict_and_no_crash() {
    let machine = Machine::new();
    for (name, text) in [
        ("one.csv", table([5.0])),
        ("other.csv", table([7.0])),
        ("same.csv", table([5.0; 20])),
        ("same-again.csv", table([5.0; 20]) + "b,1\n"),
        ("zeros.csv", table([0.0; 20])),
    ] {
        let log = file(&machine, name, &text);
        import(
            &machine,
            &[&log],
            "id=name,value=ns",
            "--unit ns --outliers iqr",
        )
        .run()
        .expect_code(0);
    }
    let verdict = |base: &str, new: &str| {
        let compared = stored(&machine, &["compare", base, new])
            .args(FEW)
            .args(JSON)
            .run();
        verdicts(&compared)["a"].clone()
    };
    assert_eq!(verdict("1", "2"), "inconclusive");
    assert_eq!(verdict("3", "4"), "unchanged");
}

#[test]
fn s12_s20_eight_percent_of_one_serializer_are_found_with_holm_and_nothing_else_is() {
    let machine = Machine::new();
    let columns =
        "id=SerializerName/TestDataName/StringOrStream,value=TimeSer,repetition=RepetitionIndex";
    for (seed, version, slower) in [(1, "v1", None), (2, "v2", Some("S07"))] {
        let log = file(
            &machine,
            &format!("{version}.csv"),
            &serializer_log::log(seed, slower),
        );
        let words =
            format!("--unit ticks:100ns --drop-first --outliers iqr --save-baseline {version}");
        let said = import(&machine, &[&log], columns, &words)
            .args(JSON)
            .run()
            .expect_code(0);
        let counts = &last(&said, "import-finished")["source"]["counts"];
        assert_eq!(
            (&counts["runs_raw"], &counts["warmup_skipped"]),
            (&12_120.into(), &120.into())
        );
    }
    let compared = stored(&machine, &["compare", "v1", "v2"])
        .args(FEW)
        .args(JSON)
        .run()
        .expect_code(1);
    let found = verdicts(&compared);
    assert_eq!(found.len(), 120);
    for (id, verdict) in found {
        let expected = if id.starts_with("S07/") {
            "regressed"
        } else {
            "unchanged"
        };
        assert_eq!(verdict, expected, "{id}");
    }
    let pivot = stored(
        &machine,
        &[
            "compare",
            "v2",
            "--pivot",
            "rows=SerializerName,cols=TestDataName,value=median",
            "--report",
            "csv",
        ],
    )
    .args(["--filter", "string"])
    .run()
    .expect_code(0);
    assert!(
        pivot.stdout.contains("Integer,ObjectGraph,Person"),
        "{pivot}"
    );
    assert_eq!(
        pivot
            .stdout
            .lines()
            .filter(|line| line.starts_with("S0"))
            .count(),
        10,
        "{pivot}"
    );
}

#[test]
fn a_slash_within_a_cell_is_shown_as_it_was_and_found_by_it() {
    let machine = Machine::new();
    let cells =
        "codec,kind,ns\nfast,application/json,100\nfast,application/json,101\nfast,100%2,7\n";
    let path = file(&machine, "cells.csv", cells);
    import(&machine, &[&path], "id=codec/kind,value=ns", "--unit ns")
        .args(FEW)
        .run()
        .expect_code(0);
    let shown = stored(&machine, &["show", "1"]).run().expect_code(0);
    assert!(shown.stdout.contains("application/json"), "{shown}");
    assert!(shown.stdout.contains("100%2"), "{shown}");
    assert!(
        !shown.stdout.contains("%2F") && !shown.stdout.contains("%252"),
        "{shown}"
    );
    // JSON has the id itself, in which the parts remain separated.
    let told = stored(&machine, &["show", "1", "application/json"])
        .args(JSON)
        .run();
    let told = told.expect_code(0);
    assert_eq!(
        last(&told, "benchmark-measured")["benchmark"]["id"],
        "fast/application%2Fjson"
    );
    assert_eq!(told.messages("benchmark-measured").len(), 1, "{told}");
    // Error messages that list existing names also show them unescaped.
    let unknown = stored(&machine, &["explain", "nothing"]).run();
    let unknown = unknown.expect_stderr(&["fast/application/json"]);
    assert!(!unknown.stderr.contains("%2F"), "{unknown}");
}

#[test]
fn a_name_without_end_pads_no_other_row() {
    let machine = Machine::new();
    let endless = "x".repeat(900);
    let rows = format!("name,ns\n{endless},100\n{endless},101\nb,7\nb,7.1\nc,8\nc,8.1\n");
    let path = file(&machine, "endless.csv", &rows);
    import(&machine, &[&path], "id=name,value=ns", "--unit ns")
        .args(FEW)
        .run()
        .expect_code(0);
    for words in [&["show", "1"][..], &["history"]] {
        let shown = stored(&machine, words).run().expect_code(0);
        let long: Vec<&str> = shown
            .stdout
            .lines()
            .filter(|line| line.len() > 200)
            .collect();
        assert_eq!(long.len(), 1, "{shown}");
        assert!(long[0].contains(&endless), "{shown}");
    }
}

#[test]
fn b11_b13_imported_operations_have_percentiles_over_processes_with_deviation_and_bootstrap() {
    let machine = Machine::new();
    // Each process has operations of 1 to 1000 ns, multiplied by a factor of 10, 11 or 13. So the percentile q of a process is 1000 q times its
    // factor.
    let factors = [10, 11, 13];
    let rows: String = (factors.iter())
        .flat_map(|factor| (1..=1000).map(move |i| format!("a,{factor},{}\n", i * factor)))
        .collect();
    let log = file(&machine, "ops.csv", &format!("step,iteration,ns\n{rows}"));
    let columns = "id=step,value=ns,process=iteration";
    import(&machine, &[&log], columns, "--unit ns")
        .run()
        .expect_code(0);
    let shown = stored(&machine, &["show", "--stats"]).args(JSON).run();
    let found = last(&shown, "benchmark-statistics")["over_processes"].clone();
    assert_eq!(found["observations"], "samples");
    assert_eq!(found["processes"], 3);
    // These are np.mean and np.std(ddof=1) for 10, 11 and 13, and their ratio. One of 27 resamples has only the smallest value, and one has only the
    // largest. These two resamples give the bounds.
    let (mean, sd) = (11.333_333_333_333_334, 1.527_525_231_651_946_6);
    let is_of_processes = |value: &serde_json::Value, scale: f64, what: &str| {
        let near = |member: &serde_json::Value, expected: f64| {
            let found = member.as_f64().unwrap_or(f64::NAN);
            let near = (found - expected).abs() <= 1e-12 * expected;
            assert!(near, "{what}: {found} is not {expected}");
        };
        near(&value["mean"], mean * scale);
        near(&value["std_dev"], sd * scale);
        near(&value["cv"], sd / mean);
        near(&value["interval"]["lower"], 10.0 * scale);
        near(&value["interval"]["upper"], 13.0 * scale);
    };
    let ranks = [500.0, 950.0, 990.0, 999.0, 1000.0];
    for (at, rank) in ranks.into_iter().enumerate() {
        is_of_processes(&found["percentiles"][at], rank, &rank.to_string());
    }
    is_of_processes(&found["mean_ns"], 500.5, "the mean");
    assert_eq!(found["count"]["mean"], 1000.0);
    // The upper bound of the rate is one second divided by the smallest mean of a process.
    assert_eq!(found["per_second"]["interval"]["upper"], 1e9 / 5_005.0);
    let text = stored(&machine, &["show", "--stats"]).run().stdout;
    let line = "p99.9 by process  11.32 µs [9.990 µs, 12.99 µs], std dev 1.526 µs, CV 13.48 %";
    assert!(text.contains(line), "{text}");
}
