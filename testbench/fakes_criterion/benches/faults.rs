//! Each benchmark breaks the protocol by the fault that its id names. Only `first` and `last` are correct.

use fakes_criterion::{Cbor, Runner, completed, connect, greeted};

type Fault = fn(&mut Runner);

const FAULTS: [(&str, Fault); 11] = [
    ("four_gigabytes", |runner| runner.write(&[0xff; 4])),
    ("garbage", |runner| runner.write(b"\0\0\0\x04@@@@")),
    ("dies_within_a_message", |runner| {
        runner.write(b"\0\0\x01\0abc");
        std::process::exit(0);
    }),
    ("dies_within_a_length", |runner| {
        runner.write(b"\0\0");
        std::process::exit(0);
    }),
    ("dies", |_| {
        eprintln!("its last words");
        std::process::abort();
    }),
    ("unknown_message", |runner| {
        runner.send(&Cbor::variant("Surprise", []));
    }),
    ("unasked_answer", |runner| {
        runner.send(&Cbor::variant(
            "FormattedValue",
            [("value", Cbor::text("1 s"))],
        ));
    }),
    ("connects_twice", |_| {
        let _second = connect();
        std::thread::park();
    }),
    ("uneven_columns", |runner| {
        runner.send(&completed("uneven_columns", &[1.0, 2.0], vec![1000.0]));
    }),
    ("negative_time", |runner| {
        runner.complete("negative_time", &[(1.0, -1000.0)]);
        runner.wait(1.0, "ns");
    }),
    ("no_unit", |runner| {
        runner.complete("no_unit", &[(1.0, 1000.0)]);
        runner.wait(f64::NAN, "");
    }),
];

fn main() {
    let mut runner = greeted();
    runner.measure("first");
    for (id, fault) in FAULTS {
        if runner.begin(id) {
            fault(&mut runner);
            // Do not begin another benchmark before the runner has noticed the fault.
            runner.wait(1.0, "ns");
        }
    }
    runner.measure("last");
}
