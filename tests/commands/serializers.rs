//! The serializer methodology from start to end: a log is imported, described and pivoted, and two of its versions are compared.
//!
//! `reference.py` writes the logs and the expected values of `serializers.json` with `NumPy` and `SciPy`. It first selects the values within the
//! fences. From the selected values it computes the statistics, the pivot and the fastest serializer.

use serde_json::Value;
use std::fs;
use std::path::Path;

use crate::commands::scripted::stored;
use crate::support::{Finished, Machine};

const COLUMNS: &str = "id=SerializerName/TestDataName,value.ser=TimeSer,value.deser=TimeDeser,repetition=RepetitionIndex,dimension=Language";

fn reference() -> Value {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/stats/tests/systems/serializers.json");
    let text = fs::read_to_string(file).expect("the reference values");
    serde_json::from_str(&text).expect("JSON")
}

/// Imports version 1 or 2 of the log. `words` has flags in addition to those that all imports here have.
fn import(machine: &Machine, reference: &Value, version: usize, words: &str) -> Finished {
    let path = machine.home().join(format!("v{version}.csv"));
    let text = reference["csv"][version - 1].as_str().expect("a table");
    fs::write(&path, text).expect("a file in our own directory");
    stored(machine, &["store", "import"])
        .arg(path)
        .args(["--columns", COLUMNS, "--unit", "ns", "--drop-first"])
        .args(["--message-format", "json"])
        .args(words.split_whitespace())
        .run()
        .expect_code(0)
}

fn run(machine: &Machine, words: &str) -> Finished {
    stored(machine, &words.split(' ').collect::<Vec<_>>()).run()
}

#[track_caller]
fn near(what: &str, found: &Value, expected: &Value) {
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{what}: {value}"));
    let (found, expected) = (number(found), number(expected));
    let apart = (found - expected).abs();
    assert!(
        apart <= 1e-9 * expected.abs(),
        "{what}: {found} is not {expected}"
    );
}

/// Returns the cell of `value` in the row and the column that `id` names as ROW/COLUMN. A column has several labels, separated by slashes.
fn cell(pivot: &Finished, id: &str, value: &str) -> Value {
    let (serializer, column) = id.split_once('/').expect("an id of three parts");
    let rows = pivot.messages("pivot-row");
    let row = rows.iter().find(|row| row["row"][0] == serializer);
    let cells = row.expect("a row")["cells"]
        .as_array()
        .expect("a list")
        .clone();
    let labels = |cell: &Value| {
        let labels = cell["column"].as_array().expect("a list").iter();
        labels
            .map(|label| label.as_str().expect("text").to_owned())
            .collect::<Vec<_>>()
            .join("/")
    };
    let found = cells
        .into_iter()
        .find(|cell| cell["value"] == value && labels(cell) == column);
    found.unwrap_or_else(|| panic!("no {value} of {id}"))
}

fn pivot(machine: &Machine, values: &str, more: &str) -> Finished {
    let words = format!(
        "compare v1 --pivot rows=SerializerName,cols=TestDataName+value,value={values}{more} --message-format json"
    );
    run(machine, &words).expect_code(0)
}

fn described(reference: &Value) -> &serde_json::Map<String, Value> {
    reference["described"].as_object().expect("an object")
}

#[test]
fn s3_s4_s8_s9_s11_s12_s15_statistics_of_a_pivot_are_of_what_the_fences_leave() {
    let machine = Machine::new();
    let reference = reference();
    let imported = import(&machine, &reference, 1, "--outliers iqr --save-baseline v1");
    for message in imported.messages("benchmark-imported") {
        let id = message["benchmark"]["id"].as_str().expect("an id");
        let expected = &reference["described"][id];
        let counts = ["runs_raw", "warmup_skipped", "outliers_removed", "runs"];
        for (count, expected) in counts
            .iter()
            .zip(expected["counts"].as_array().expect("counts"))
        {
            assert_eq!(&message[count], expected, "{count} of {id}");
        }
        near(id, &message["mean"], &expected["time"]);
        near(id, &message["per_second"]["min"], &expected["min-ops"]);
    }
    // Percentiles and MAD as the methodology defines them: percentiles are interpolated, and the MAD has no factor.
    let percentiles = [5, 25, 75, 95, 99]
        .map(|p| format!("p{p}-linear"))
        .join("+");
    let values = format!(
        "time+ops+min-ops+max-ops+median+std-dev+cv+mad-unscaled+mad+samples+{percentiles}"
    );
    let found = pivot(&machine, &values, "");
    for (id, expected) in described(&reference) {
        for (value, expected) in expected.as_object().expect("an object") {
            let word = match value.as_str() {
                "counts" | "intervals" | "winsorized" => continue,
                "mad" => "mad-unscaled".to_owned(),
                "median" | "max-ops" | "min-ops" => value.clone(),
                percentile if percentile.starts_with('p') => format!("{percentile}-linear"),
                other => other.to_owned(),
            };
            near(
                &format!("{word} of {id}"),
                &cell(&found, id, &word)["number"],
                expected,
            );
        }
        let (mad, scaled) = (cell(&found, id, "mad-unscaled"), cell(&found, id, "mad"));
        let ratio = scaled["number"].as_f64().unwrap() / mad["number"].as_f64().unwrap();
        // The scaled MAD has the factor 1 / scipy.stats.norm.ppf(0.75), which is usually rounded to 1.4826.
        assert!((ratio - 1.4826).abs() < 1e-9, "{ratio}");
        assert_eq!(
            cell(&found, id, "samples")["number"],
            expected["counts"][3].as_f64().unwrap()
        );
    }
}

#[test]
fn s_x2_a_winsorised_mean_is_of_values_drawn_to_the_5_and_95_percent_quantiles() {
    let machine = Machine::new();
    let reference = reference();
    let imported = import(
        &machine,
        &reference,
        1,
        "--outliers winsorize_5_95 --save-baseline v1",
    );
    let found = pivot(&machine, "time", "");
    for message in imported.messages("benchmark-imported") {
        let id = message["benchmark"]["id"].as_str().expect("an id");
        let expected = &described(&reference)[id]["winsorized"];
        near(id, &message["mean"], expected);
        near(id, &cell(&found, id, "time")["number"], expected);
    }
}

#[test]
fn s16_s_x3_intervals_of_means_have_their_level_resamples_and_seed() {
    let machine = Machine::new();
    let reference = reference();
    let settings = reference["intervals"].as_array().expect("a list");
    for (at, setting) in settings.iter().enumerate() {
        let [level, resamples, seed] = &setting.as_array().expect("a list")[..] else {
            panic!("{setting}");
        };
        // The first settings are the defaults, which need no flags.
        let words = match at {
            0 => String::new(),
            _ => format!(" --confidence-level {level} --resamples {resamples} --seed {seed}"),
        };
        let words = format!("--outliers iqr --dry-run{words}");
        let imported = import(&machine, &reference, 1, &words);
        for message in imported.messages("benchmark-imported") {
            let id = message["benchmark"]["id"].as_str().expect("an id");
            let expected = &reference["described"][id]["intervals"][at];
            near(
                &format!("{setting} of {id}"),
                &message["mean_interval"]["lower"],
                &expected[0],
            );
            near(
                &format!("{setting} of {id}"),
                &message["mean_interval"]["upper"],
                &expected[1],
            );
        }
        let interval = &imported.messages("import-finished")[0]["source"]["interval"];
        assert_eq!(interval["confidence_level"].as_f64(), level.as_f64());
        assert_eq!(
            (&interval["resamples"], &interval["seed"]),
            (resamples, seed)
        );
    }
    let path = machine.home().join("v1.csv");
    let command = stored(
        &machine,
        &[
            "store",
            "import",
            "--columns",
            COLUMNS,
            "--unit",
            "ns",
            "-n",
        ],
    );
    let text = command
        .args(["--confidence-level", "80%"])
        .arg(path)
        .run()
        .expect_code(0);
    assert!(text.stdout.contains("80 % interval"), "{text}");
}

#[test]
fn s17_s18_s19_b18_what_is_relative_is_relative_to_the_fastest_after_the_filter() {
    let machine = Machine::new();
    let reference = reference();
    import(&machine, &reference, 1, "--outliers iqr --save-baseline v1");
    let ratios = "ratio-p50-linear+ratio-p95-linear+ratio-p99-linear+ratio-ops";
    let found = pivot(
        &machine,
        &format!("cliffs-delta+hedges-g+p-value+{ratios}"),
        "",
    );
    let mut significant = 0;
    for (id, expected) in reference["relative"].as_object().expect("an object") {
        assert_eq!(
            cell(&found, id, "cliffs-delta")["is_reference"],
            expected["is reference"],
            "{id}"
        );
        // A pivot calls a difference significant if the p-value of the reference is below 5 %.
        let is_significant = expected["p-value"].as_f64().is_some_and(|p| p < 0.05);
        let word = is_significant.then_some("significant");
        assert_eq!(cell(&found, id, "p-value")["word"].as_str(), word, "{id}");
        significant += usize::from(is_significant);
        for (value, expected) in expected.as_object().expect("an object") {
            let word = match value.as_str() {
                "is reference" => continue,
                percentile if percentile.starts_with("ratio-p") => format!("{percentile}-linear"),
                other => other.to_owned(),
            };
            near(
                &format!("{word} of {id}"),
                &cell(&found, id, &word)["number"],
                expected,
            );
        }
    }
    assert!(significant > 0, "{found:?}");
    // Without the filter, the stall would change which serializer is the fastest.
    let raw = pivot(&machine, "cliffs-delta", " --outliers none");
    assert_eq!(
        cell(&raw, "Bincode/Person/ser", "cliffs-delta")["is_reference"],
        true
    );
}

#[test]
fn s14_an_absurd_time_is_said_at_import_and_wherever_the_run_is_described() {
    let machine = Machine::new();
    let reference = reference();
    let imported = import(&machine, &reference, 1, "--outliers iqr --save-baseline v1");
    // One sample takes 9e10 ns, while the median of all thirty samples is 2631 ns. Their mean is also more than a thousand times the median.
    let said = "one sample takes 90.000 s";
    assert!(
        imported
            .stderr
            .contains(&format!("`Avro/Person/ser`: {said}")),
        "{imported}"
    );
    assert_eq!(
        imported.stderr.matches("one sample takes").count(),
        1,
        "{imported}"
    );
    for words in [
        "show v1",
        "show v1 --stats",
        "compare v1 --pivot rows=id,value=time",
        "compare v1 --group-by (ser|deser)$",
    ] {
        let told = run(&machine, words).expect_code(0);
        let text = format!("{}{}", told.stdout, told.stderr);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(said), "{words}: {told}");
        assert!(text.contains("times the median"), "{words}: {told}");
    }
    import(&machine, &reference, 2, "--outliers iqr --save-baseline v2");
    let columns = run(&machine, "compare v1 v2 --statistic mean --fail-on none").expect_code(0);
    assert!(columns.stderr.contains(said), "{columns}");
    // A benchmark gets no such warning merely because it is slow.
    let path = machine.home().join("slow.csv");
    fs::write(&path, "n,s\na,2\na,3\na,2.5\n").expect("a file in our own directory");
    let command = stored(
        &machine,
        &[
            "store",
            "import",
            "--columns",
            "id=n,value=s",
            "--unit",
            "s",
        ],
    );
    let slow = command.arg(path).run().expect_code(0);
    assert!(!slow.stderr.contains("one sample takes"), "{slow}");
}

#[test]
fn s20_versions_are_compared_by_ranks_of_what_the_filter_leaves_and_corrected_by_holm() {
    let machine = Machine::new();
    let reference = reference();
    for version in [1, 2] {
        import(
            &machine,
            &reference,
            version,
            &format!("--outliers iqr --save-baseline v{version}"),
        );
    }
    let words =
        "compare v1 v2 --method serializer --resamples 1000 --fail-on none --message-format json";
    let found = run(&machine, words).expect_code(0);
    let compared = found.messages("benchmark-compared");
    assert_eq!(
        compared.len(),
        reference["versions"].as_object().expect("an object").len()
    );
    for message in compared {
        let id = message["benchmark"]["id"].as_str().expect("an id");
        near(id, &message["p_value"], &reference["versions"][id]);
        let slower = id.starts_with("Bincode/") && id.ends_with("/deser");
        assert_eq!(
            message["verdict"] == "regressed",
            slower,
            "{id}: {}",
            message["verdict"]
        );
    }
}

#[test]
fn s12_the_language_is_a_dimension_of_pivots_and_no_part_of_ids() {
    let machine = Machine::new();
    let reference = reference();
    let imported = import(&machine, &reference, 1, "--outliers iqr --save-baseline v1");
    let dimension = &imported.messages("import-finished")[0]["source"]["dimensions"][0];
    assert_eq!(dimension["name"], "Language");
    assert_eq!(dimension["labels"]["Bincode/Person/deser"], "rust");
    let words =
        "compare v1 --pivot rows=Language,cols=TestDataName+value,value=time --message-format json";
    let found = run(&machine, words).expect_code(0);
    // C# has two serializers, so its cell is their geometric mean. Rust has one.
    let time = |id: &str| {
        described(&reference)[id]["time"]
            .as_f64()
            .expect("a number")
    };
    for column in ["Integer/ser", "Integer/deser", "Person/ser", "Person/deser"] {
        let two = time(&format!("Avro/{column}")) * time(&format!("Json/{column}"));
        let number = |language: &str| {
            cell(&found, &format!("{language}/{column}"), "time")["number"].clone()
        };
        near(column, &number("csharp"), &two.sqrt().into());
        near(
            column,
            &number("rust"),
            &time(&format!("Bincode/{column}")).into(),
        );
    }
    let unknown = run(&machine, "compare v1 --pivot rows=Runtime").expect_code(2);
    assert!(
        unknown
            .stderr
            .contains("SerializerName, TestDataName, value, Language"),
        "{unknown}"
    );
    // A benchmark must have only one language.
    let path = machine.home().join("two.csv");
    fs::write(&path, "n,l,v\na,rust,1\na,go,2\n").expect("a file in our own directory");
    let command = stored(
        &machine,
        &[
            "store",
            "import",
            "--columns",
            "id=n,value=v,dimension=l",
            "--unit",
            "ns",
        ],
    );
    let refused = command.arg(path).run().expect_code(2);
    assert!(
        refused
            .stderr
            .contains("two.csv:3: column `l` is `go`, but was `rust` for `a` before"),
        "{refused}"
    );
}

#[test]
fn s13_split_violins_have_two_series_a_row_of_what_the_filter_left() {
    let machine = Machine::new();
    let reference = reference();
    import(&machine, &reference, 1, "--outliers iqr --save-baseline v1");
    let split = |pattern: &str| {
        let words = ["compare", "v1", "--group-by", pattern, "--report", "svg"];
        stored(&machine, &words).run()
    };
    let picture = split("(ser|deser)$").expect_code(0).stdout;
    // Six rows have a curve and a median for each of the two series.
    for (part, count) in [
        ("<path class=\"area\"", 6),
        ("<path class=\"second\"", 6),
        ("<path class=\"line\"", 12),
    ] {
        assert_eq!(picture.matches(part).count(), count, "{part} in {picture}");
    }
    assert!(
        picture.contains("deser (above) and ser (below), run 1"),
        "{picture}"
    );
    // By nearest rank, the median of the 27 remaining values is the fourteenth, which numpy.median also returns.
    let median = |id: &str| {
        described(&reference)[id]["median"]
            .as_f64()
            .expect("a number")
    };
    assert!(
        picture.contains("Avro/Integer/*: medians deser "),
        "{picture}"
    );
    assert!(
        picture.contains(&format!("ser {:.1} ns.", median("Avro/Integer/ser"))),
        "{picture}"
    );
    assert!(
        picture.contains("outliers_removed 18 (iqr_1.5)"),
        "{picture}"
    );
    assert!(
        !picture.contains("NaN") && !picture.contains("inf"),
        "{picture}"
    );
    let three = split("^([^/]+)").expect_code(2);
    assert!(
        three.stderr.contains("captures 3: Avro, Bincode, Json"),
        "{three}"
    );
}
