//! `compare --pivot`: pivot tables of stored measurements by dimensions of their ids and runs.

use serde_json::Value;
use std::fmt::Write;

use crate::commands::crates::Crate;
use crate::support::{Finished, Machine};

/// Two codecs with two modes each, and their times.
const CODECS: [(&str, f64); 4] = [
    ("quick/read", 100.0),
    ("quick/write", 400.0),
    ("slow|er/read", 200.0),
    ("slow|er/write", 300.0),
];

/// Measures a run in which `write` of the slow codec takes `slow_write_ns`.
fn measure(machine: &Machine, slow_write_ns: f64) -> Crate {
    let ids = CODECS.map(|(id, _)| id);
    let made = Crate::of(machine, &ids, "");
    let mut changed = CODECS;
    changed[3].1 = slow_write_ns;
    let run = made
        .measure(machine, &[], &changed)
        .args(["--fail-on", "none"]);
    run.run().expect_code(0);
    made
}

fn pivot(made: &Crate, machine: &Machine, words: &str) -> Finished {
    let words: Vec<&str> = std::iter::once("compare").chain(words.split(' ')).collect();
    made.perfcheck(machine, &words).run()
}

/// Returns the cells of a row.
#[track_caller]
fn cells(finished: &Finished, row: &str) -> Vec<Value> {
    let messages = finished.messages("pivot-row");
    let found = messages
        .into_iter()
        .find(|message| message["row"][0] == row);
    let found = found.unwrap_or_else(|| panic!("no row {row:?}:\n{finished}"));
    found["cells"].as_array().expect("a list").clone()
}

fn numbers(cells: &[Value]) -> Vec<f64> {
    let numbers = cells.iter().map(|cell| cell["number"].as_f64());
    numbers.map(|number| number.unwrap_or(f64::NAN)).collect()
}

#[test]
fn s12_rows_and_columns_are_parts_of_ids() {
    let machine = Machine::new();
    let made = measure(&machine, 300.0);
    let found = pivot(
        &made,
        &machine,
        "latest --pivot rows=group,cols=function,value=median",
    )
    .expect_code(0);
    let expected = "\
group        read     write
quick    100.3 ns  401.2 ns
slow|er  200.6 ns  300.9 ns
";
    assert!(found.stdout.starts_with(expected), "{found}");
    let markdown = pivot(
        &made,
        &machine,
        "--pivot rows=group,cols=function,value=median --report markdown-table",
    );
    let expected = "\
| group | read | write |
| :-- | --: | --: |
| quick | 100.3 ns | 401.2 ns |
| slow\\|er | 200.6 ns | 300.9 ns |
";
    assert!(markdown.expect_code(0).stdout.starts_with(expected));
    let csv = pivot(
        &made,
        &machine,
        "--pivot rows=function,cols=group,value=median --report csv",
    );
    let csv = csv.expect_code(0).stdout;
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "function,quick,slow|er");
    assert!(
        lines[1].starts_with("read,100.") && lines.len() == 3,
        "{csv}"
    );
}

#[test]
fn s11_operations_per_second_are_of_the_mean_the_longest_and_the_shortest_time() {
    let machine = Machine::new();
    let made = measure(&machine, 300.0);
    let words = "--pivot rows=id,value=time+ops+min-ops+max-ops+min+max --message-format json";
    let found = cells(&pivot(&made, &machine, words).expect_code(0), "quick/read");
    let [time, ops, least, most, min, max] = numbers(&found)[..] else {
        panic!("six values: {found:?}");
    };
    for (rate, time) in [(ops, time), (least, max), (most, min)] {
        assert!((rate * time / 1e9 - 1.0).abs() < 1e-12, "{rate} {time}");
    }
    assert_eq!(found[1]["unit"], "ops/s");
}

#[test]
fn s17_s18_s19_the_fastest_of_a_column_is_the_reference_and_says_so() {
    let machine = Machine::new();
    let made = measure(&machine, 300.0);
    let words = "--pivot rows=group,cols=function,value=cliffs-delta+hedges-g+ratio";
    let json = pivot(&made, &machine, &format!("{words} --message-format json")).expect_code(0);
    let (quick, slow) = (cells(&json, "quick"), cells(&json, "slow|er"));
    // `quick` reads fastest, the other codec writes fastest.
    let is_reference = |cell: &Value| cell["is_reference"].as_bool().expect("a boolean");
    assert!(is_reference(&quick[0]) && !is_reference(&quick[3]));
    assert!(!is_reference(&slow[0]) && is_reference(&slow[3]));
    assert_eq!(numbers(&quick[..1]), [0.0]);
    assert_eq!(
        (numbers(&slow[..1]), &slow[0]["word"]),
        (vec![1.0], &"large".into())
    );
    assert!(numbers(&slow)[1] > 1.0 && (numbers(&slow)[2] - 2.0).abs() < 0.02);
    let text = pivot(&made, &machine, words).expect_code(0);
    assert!(text.stdout.contains("+0.000 reference"), "{text}");
    assert!(
        text.stdout
            .contains("Relative to the fastest of each column"),
        "{text}"
    );
}

#[test]
fn s_x9_p_values_against_the_fastest_are_called_exploratory_and_are_adjusted() {
    let machine = Machine::new();
    let made = measure(&machine, 300.0);
    let words = "--pivot rows=group,cols=function,value=p-value";
    let text = pivot(&made, &machine, words).expect_code(0);
    assert!(text.stdout.contains("Exploratory"), "{text}");
    let first = pivot(&made, &machine, &format!("{words},versus=first-row")).expect_code(0);
    assert!(!first.stdout.contains("Exploratory"), "{first}");
    let p = |words: &str| {
        let found = pivot(&made, &machine, &format!("{words} --message-format json"));
        numbers(&cells(&found.expect_code(0), "slow|er"))
    };
    let (both, one) = (
        p(&format!("{words},versus=first-row")),
        p(&format!("{words},versus=first-row --filter read")),
    );
    // Three processes per side are too few for a significant difference.
    let found = pivot(&made, &machine, &format!("{words} --message-format json")).expect_code(0);
    assert_eq!(cells(&found, "slow|er")[0]["word"], Value::Null, "{found}");
    // With two tests, the correction doubles the smaller p.
    assert!(
        (both[0] - (2.0 * one[0]).min(1.0)).abs() < 1e-12,
        "{both:?} {one:?}"
    );
}

#[test]
fn runs_are_a_dimension_and_the_first_one_is_the_reference() {
    let machine = Machine::new();
    let made = measure(&machine, 300.0);
    measure(&machine, 600.0);
    let words = "1 2 --pivot rows=id,cols=run,value=change --message-format json";
    let found = pivot(&made, &machine, words).expect_code(0);
    let changed = numbers(&cells(&found, "slow|er/write"));
    assert!(
        changed[0] == 0.0 && (changed[1] - 1.0).abs() < 0.02,
        "{changed:?}"
    );
    assert_eq!(numbers(&cells(&found, "quick/read")), [0.0, 0.0]);
    // Runs are in the order of the command line.
    let text = pivot(&made, &machine, "2 1 --pivot rows=id,cols=run").expect_code(0);
    assert!(
        text.stdout
            .lines()
            .next()
            .expect("a heading")
            .ends_with('1'),
        "{text}"
    );
}

#[test]
fn a_cell_of_several_benchmarks_has_their_geometric_mean_and_no_effect_size() {
    let machine = Machine::new();
    let made = measure(&machine, 300.0);
    let words = "--pivot rows=group,value=time+samples --message-format json";
    let found = pivot(&made, &machine, words).expect_code(0);
    let quick = cells(&found, "quick");
    assert_eq!(quick[0]["benchmarks"], 2);
    let each = pivot(
        &made,
        &machine,
        "--pivot rows=id,value=time --message-format json",
    );
    let time = |id: &str| numbers(&cells(&each, id))[0];
    let expected = (time("quick/read") * time("quick/write")).sqrt();
    assert!((numbers(&quick)[0] / expected - 1.0).abs() < 1e-12);
    let text = pivot(&made, &machine, "--pivot rows=group").expect_code(0);
    assert!(
        text.stdout.contains(
            "Cells with several benchmarks or runs show their geometric mean (for `samples`, the sum): 2 of 2."
        ),
        "{text}"
    );
    pivot(&made, &machine, "--pivot rows=group,value=cliffs-delta")
        .expect_code(2)
        .expect_stderr(&[
            "one benchmark and one run per cell",
            "`quick` has 2",
            "rows=id",
        ])
        .expect_stderr(&["quick/read, quick/write\n"]);
    let all = pivot(&made, &machine, "--pivot rows=run,value=cliffs-delta").expect_code(2);
    assert!(all.stderr.contains(", ...\n"), "{all}");
    let single = pivot(&made, &machine, "--pivot rows=id").expect_code(0);
    assert!(!single.stdout.contains("Cells with several"), "{single}");
}

#[test]
fn runs_that_cannot_be_compared_have_no_ratio() {
    let machine = Machine::new();
    let made = measure(&machine, 300.0);
    let ids = CODECS.map(|(id, _)| id);
    let dev = made.measure(&machine, &ids, &[]).args(["--profile", "dev"]);
    dev.run().expect_code(0);
    let words = "1 2 --pivot rows=id,cols=run,value=time+ratio";
    let found = pivot(&made, &machine, words).expect_code(0);
    assert!(found.stdout.contains("n/c"), "{found}");
    assert!(
        found.stdout.contains("not comparable: profile bench->dev"),
        "{found}"
    );
    let allowed = pivot(
        &made,
        &machine,
        &format!("{words} --allow-different profile"),
    );
    assert!(!allowed.expect_code(0).stdout.contains("n/c"));
}

#[test]
fn s14_a_mean_far_above_the_median_is_worth_a_warning() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["a"], "");
    // One of three processes takes a hundred thousand times as long.
    let script = made.measure(&machine, &["a"], &[]);
    let run = script
        .env(crate::commands::scripted::CLOCK, "a=100/100/10000000")
        .run();
    run.expect_code(0);
    let found = pivot(&made, &machine, "--pivot rows=id").expect_code(0);
    // The mean of the three processes is (1e7 + 100 + 100) / 3, and their median is 100.
    let said = "a in latest: the mean is 33334 times the median";
    assert!(found.stdout.contains(said), "{found}");
}

#[test]
fn unknown_dimensions_and_values_are_named_with_those_that_there_are() {
    let machine = Machine::new();
    let made = measure(&machine, 300.0);
    for (words, said) in [
        (
            "--pivot rows=serializer",
            &["`serializer` is not a dimension", "part1"][..],
        ),
        ("--pivot rows=id,value=speed", &["cliffs-delta"]),
        ("--pivot cols=id", &["`rows` is missing"]),
        ("1 latest --pivot rows=id", &["the same run (1)"]),
        (
            "--pivot rows=id --limit median:5%",
            &["cannot be used with"],
        ),
        ("--pivot rows=id --test welch", &["cannot be used with"]),
    ] {
        pivot(&made, &machine, words)
            .expect_code(2)
            .expect_stderr(said);
    }
    pivot(&made, &machine, "--pivot rows=id --filter nothing").expect_code(4);
}

/// Returns a table of two codecs with two modes and twenty repetitions. `quick_write` is the time that `quick` takes to write.
fn table(quick_write: f64) -> String {
    let mut table = "Codec,Mode,Repetition,Time,Rate\n".to_owned();
    for repetition in 0..20 {
        for (codec, mode, time) in [
            ("quick", "read", 100.0),
            ("quick", "write", quick_write),
            ("=slow", "read", 200.0),
            ("=slow", "write", 400.0),
        ] {
            let time = time + f64::from(repetition % 5);
            let rate = 1e9 / time;
            writeln!(table, "{codec},{mode},{repetition},{time},{rate}").expect("a string");
        }
    }
    table
}

#[test]
fn s12_imported_runs_are_laid_out_by_the_names_of_their_columns() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &[], "");
    for (name, quick_write) in [("old", 300.0), ("new", 324.0)] {
        let file = machine.home().join(format!("{name}.csv"));
        std::fs::write(&file, table(quick_write)).expect("written");
        let columns = "id=Codec/Mode,value=Time,repetition=Repetition";
        let words = [
            "--columns",
            columns,
            "--unit",
            "ns",
            "--save-baseline",
            name,
        ];
        let import = made
            .perfcheck(&machine, &["store", "import"])
            .arg(&file)
            .args(words);
        import.run().expect_code(0);
    }
    let csv = "old new --pivot rows=Codec+Mode,cols=run,value=time --report csv";
    let csv = pivot(&made, &machine, csv).expect_code(0);
    let expected = "Codec,Mode,old,new\r\n\
        \"'=slow\",read,202,202\r\n\
        \"'=slow\",write,402,402\r\n\
        quick,read,102,102\r\n\
        quick,write,302,326\r\n";
    assert_eq!(csv.stdout, expected, "{csv}");
    let words = "new --pivot rows=Codec,cols=Mode,value=ratio+cliffs-delta";
    let text = pivot(&made, &machine, words).expect_code(0);
    assert!(
        text.stdout.contains("1.9804") && text.stdout.contains("reference"),
        "{text}"
    );
    assert!(text.stdout.contains("new was imported"), "{text}");
    pivot(&made, &machine, "new --pivot rows=codec")
        .expect_code(2)
        .expect_stderr(&["`codec` is not a dimension", "Codec, Mode"]);
}

#[test]
fn m4_m7_m_x8_rates_stand_in_columns_with_their_harmonic_mean_and_plus_is_worse() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &[], "");
    for (name, quick_write) in [("old", 300.0), ("new", 330.0)] {
        let file = machine.home().join(format!("{name}.csv"));
        std::fs::write(&file, table(quick_write)).expect("written");
        let columns = "id=Codec/Mode,value=Rate,repetition=Repetition";
        let words = [
            "--columns",
            columns,
            "--unit",
            "ops/s",
            "--save-baseline",
            name,
        ];
        let import = made
            .perfcheck(&machine, &["store", "import"])
            .arg(&file)
            .args(words);
        import.run().expect_code(0);
    }
    let words = "old new --statistic mean --filter quick/write --fail-on none";
    let text = pivot(&made, &machine, words).expect_code(0);
    assert!(text.stdout.contains("Hmean of each run"), "{text}");
    let json = pivot(&made, &machine, &format!("{words} --message-format json"));
    let message = &json.messages("benchmark-columns")[0];
    let statistic = |at: usize| message["columns"][at]["statistics"][0].clone();
    let value = |at: usize| statistic(at)["value"].as_f64().expect("a number");
    assert_eq!(statistic(0)["unit"], "ops/s");
    // The harmonic mean of rates is the reciprocal of the mean of times.
    assert!((value(0) / (1e9 / 302.0) - 1.0).abs() < 1e-6, "{message}");
    let worse = statistic(1)["worse_by"].as_f64().expect("a number");
    assert!((worse - (1.0 - 302.0 / 332.0)).abs() < 1e-6, "{message}");
}

#[test]
fn s13_the_data_of_a_distribution_plot_are_quantiles_by_mode() {
    let machine = Machine::new();
    let made = measure(&machine, 300.0);
    let words = "--pivot rows=group,cols=function,value=min+p25+median+p75+max";
    let found = pivot(&made, &machine, &format!("{words} --message-format json"));
    let quick = numbers(&cells(&found.expect_code(0), "quick"));
    for mode in quick.chunks(5) {
        assert!(mode.is_sorted() && mode[0] < mode[4], "{mode:?}");
    }
    assert_eq!(quick.len(), 10);
    let csv = pivot(&made, &machine, &format!("{words} --report csv")).expect_code(0);
    assert!(
        csv.stdout
            .starts_with("group,read min,read p25,read median,"),
        "{csv}"
    );
}
