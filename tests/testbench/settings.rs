//! Settings in the code of a bench apply, and are stored.

use serde_json::{Value, json};

use crate::commands::scripted::CLOCK;
use crate::support::Machine;

const IDS: [&str; 12] = [
    "nothing_set",
    "nothing_set_again",
    "times",
    "group/inherits",
    "group/other_version",
    "group/mode/standard",
    "group/mode/linear",
    "group/mode/flat",
    "group/mode/auto",
    "throughput/bytes",
    "throughput/both",
    "throughput/replaced",
];

#[test]
fn what_the_author_set_is_in_force_and_stored() {
    let machine = Machine::new();
    // Scripted iterations are long, so that only a few fit into the set times.
    let paces = IDS.map(|id| format!("{id}=10000"));
    let run = machine
        .perfcheck()
        .testbench("")
        .args(["-p", "settings", "--message-format", "json"])
        .env(CLOCK, paces.join(";"))
        .run()
        .expect_code(0);
    let shown = machine
        .perfcheck()
        .args(["show", "--message-format", "json"])
        .testbench("")
        .run()
        .expect_code(0);
    for output in [run, shown] {
        let messages = output.messages("benchmark-measured");
        assert_eq!(messages.len(), IDS.len());
        let of = |id: &str| -> &Value {
            let found = messages
                .iter()
                .find(|message| message["benchmark"]["id"] == id);
            found.unwrap_or_else(|| panic!("{id} was not measured"))
        };
        let times = |warm_up_ns: u64, measurement_ns: u64, processes: u64| {
            move |sampling: &Value| {
                assert_eq!(sampling["warm_up_ns"], warm_up_ns);
                assert_eq!(sampling["measurement_ns"], measurement_ns);
                assert_eq!(sampling["processes"], processes);
            }
        };
        for id in ["nothing_set", "nothing_set_again"] {
            times(100_000_000, 400_000_000, 5)(&of(id)["sampling"]);
            assert_eq!(of(id)["processes"].as_array().map(Vec::len), Some(5));
            assert_eq!(of(id)["version"], Value::Null);
        }
        for id in [
            "times",
            "group/inherits",
            "group/mode/linear",
            "throughput/bytes",
        ] {
            times(20_000_000, 50_000_000, 4)(&of(id)["sampling"]);
            assert_eq!(
                of(id)["processes"].as_array().map(Vec::len),
                Some(4),
                "{id}"
            );
        }
        assert_eq!(of("group/inherits")["version"], "2");
        assert_eq!(of("group/other_version")["version"], "3");
        for mode in ["standard", "linear", "flat", "auto"] {
            let of_mode = of(&format!("group/mode/{mode}"));
            assert_eq!(of_mode["sampling"]["mode"], mode);
            assert_eq!(of_mode["sampling"]["samples"], 30);
            let process = &of_mode["processes"][0];
            let samples = |phase: &str| process[phase]["iterations"].as_array().map_or(0, Vec::len);
            match mode {
                "standard" => assert_eq!((samples("linear"), samples("flat")), (10, 30)),
                "flat" => assert_eq!((samples("linear"), samples("flat")), (0, 30)),
                _ => assert_eq!((samples("linear"), samples("flat")), (30, 0), "{mode}"),
            }
        }
        let throughput = |id: &str| of(id)["throughput"].clone();
        assert_eq!(
            throughput("throughput/bytes"),
            json!({"bytes": 1024, "elements": null})
        );
        assert_eq!(
            throughput("throughput/both"),
            json!({"bytes": 1024, "elements": 16})
        );
        assert_eq!(
            throughput("throughput/replaced"),
            json!({"bytes": null, "elements": 7})
        );
    }
}

#[test]
fn an_iteration_longer_than_a_sample_should_be_is_a_sample() {
    let machine = Machine::new();
    let run = machine
        .perfcheck()
        .testbench("")
        .args(["-p", "slow_iteration", "30ms", "--rounds", "2"])
        .args(["--warm-up-time", "1ms", "--measurement-time", "300ms"])
        .args(["--message-format", "json"])
        .run()
        .expect_code(0);
    for process in run.messages("benchmark-measured")[0]["processes"]
        .as_array()
        .expect("processes")
    {
        assert_eq!(process["linear"]["iterations"], json!([]));
        let flat = process["flat"]["iterations"].as_array().expect("samples");
        assert!(
            !flat.is_empty() && flat.iter().all(|iterations| *iterations == 1),
            "{flat:?}"
        );
    }
}
