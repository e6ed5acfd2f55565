//! Samples from an imported file to the output: no digit is lost, and no sample is missing in a description.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::commands::scripted::stored;
use crate::support::{Finished, Machine, Perfcheck};

const JSON: [&str; 2] = ["--message-format", "json"];

fn import(machine: &Machine, name: &str, table: &str, words: &[&str]) -> Finished {
    let path: PathBuf = machine.home().join(format!("{name}.csv"));
    std::fs::write(&path, table).expect("a file in our own directory");
    stored(machine, &["store", "import"])
        .arg(path)
        .args(["--save-baseline", name])
        .args(words)
        .run()
        .expect_code(0)
}

fn json(machine: &Machine, words: &[&str]) -> Perfcheck {
    stored(machine, words).args(JSON)
}

/// Returns decimal numbers of up to 17 digits from 1e-9 to 1e15, the same for every test.
fn decimals(count: u64) -> impl Iterator<Item = String> {
    (0..count).map(|i| {
        // Steele, Lea and Flood's mixing function of a counter.
        let mut z = (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        let digits = 1 + z % 9 * 10_u64.pow(16) + (z >> 4) % 10_u64.pow(16);
        let text = format!("{digits:017}");
        format!(
            "{}.{}e{}",
            &text[..1],
            &text[1..],
            i64::try_from(i % 24).expect("below 24") - 9
        )
    })
}

#[test]
fn every_decimal_number_that_is_imported_comes_back_as_the_float_nearest_to_it() {
    let machine = Machine::new();
    // The standard library parses digits exactly. The power of ten converts the unit to nanoseconds.
    for (unit, power) in [("ns", 0), ("us", 3), ("s", 9), ("amount:pages", 0)] {
        let name = unit.replace(':', "-");
        let mut table = "name,value\n".to_owned();
        let mut expected = Vec::new();
        for (at, text) in decimals(480).enumerate() {
            let (digits, exponent) = text.split_once('e').unwrap();
            let exponent = exponent.parse::<i32>().unwrap() + power;
            if exponent < 16 {
                writeln!(table, "{at:03},{text}").unwrap();
                expected.push(format!("{digits}e{exponent}").parse::<f64>().unwrap());
            }
        }
        import(
            &machine,
            &name,
            &table,
            &["--columns", "id=name,value=value", "--unit", unit],
        );
        let shown = json(&machine, &["show", &name]).run().expect_code(0);
        let found: Vec<f64> = shown
            .messages("benchmark-measured")
            .iter()
            .map(|message| message["summary"]["mean_ns"]["estimate"].as_f64().unwrap())
            .collect();
        assert_eq!(found.len(), expected.len());
        let off = found
            .iter()
            .zip(&expected)
            .filter(|(a, b)| a.to_bits() != b.to_bits());
        assert_eq!(off.count(), 0, "of {} in {unit}", expected.len());
    }
}

/// Returns reference values that [`reference.py`](../../crates/stats/tests/systems/reference.py) computed.
fn reference(section: &str) -> Vec<Value> {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/stats/tests/systems/reference.json");
    let reference: Value =
        serde_json::from_str(&std::fs::read_to_string(path).expect("a file of this directory"))
            .expect("JSON");
    reference[section].as_array().expect("a list").clone()
}

fn table_of_processes(processes: &Value) -> String {
    let mut table = "name,process,value\n".to_owned();
    for (process, values) in processes.as_array().expect("a list").iter().enumerate() {
        for value in values.as_array().expect("a list") {
            writeln!(table, "a,{process},{value}").expect("a string takes it");
        }
    }
    table
}

#[test]
fn changes_of_mean_and_median_are_of_all_samples_of_processes_of_unequal_length_and_limits_follow_them()
 {
    for set in reference("unequal processes") {
        let machine = Machine::new();
        for (side, name) in ["base", "candidate"].into_iter().enumerate() {
            let table = table_of_processes(&set["groups"][side]);
            let columns = [
                "--columns",
                "id=name,process=process,value=value",
                "--unit",
                "ns",
            ];
            import(&machine, name, &table, &columns);
        }
        let compared = json(&machine, &["compare", "base", "candidate"])
            .args(["--limit", "mean:10%", "--fail-on", "none"])
            .run()
            .expect_code(1);
        let message = compared.messages("benchmark-compared").pop().unwrap();
        for (member, quantity) in [
            ("change_of_mean", "change of mean"),
            ("change_of_median", "change of median"),
        ] {
            let found = message[member]["estimate"].as_f64().unwrap();
            let expected = set[quantity].as_f64().unwrap();
            assert!(
                (found / expected - 1.0).abs() < 1e-12,
                "{quantity}: {found} is not {expected}"
            );
        }
        let exceeded = compared.messages("limit-exceeded").pop().unwrap();
        assert_eq!(
            exceeded["found"]["estimate"], message["change_of_mean"]["estimate"],
            "{exceeded}"
        );
        // The tool's own decision uses the first samples of all processes, which show the opposite.
        assert!(
            message["change"]["estimate"].as_f64().unwrap() < 0.0,
            "{message}"
        );
    }
}
