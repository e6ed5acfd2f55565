//! Prints Criterion's warning about short times between lines of its own, and reports measurements of several kinds.

use fakes_criterion::{Cbor, greeted};

fn main() {
    let mut runner = greeted();
    if std::env::args().count() <= 2 {
        // The runner only asks for the version and then kills this process. Criterion would warm up for seconds here.
        std::thread::park();
    }
    if runner.begin("steps") {
        println!("from the bench");
        // Criterion prints the warning in pieces.
        eprint!("\nWarning: Unable to ");
        eprint!("complete 10 samples in 5.0ms. You may wish to ");
        eprintln!("increase target time to 1.0s.");
        eprintln!("to stderr");
        runner.complete("steps", &[(1.0, 3.0), (2.0, 6.0), (3.0, 9.5)]);
        runner.wait(1.0, "steps");
    }
    if runner.begin_with("frames", vec![Cbor::map([("Frames", Cbor::Whole(3))])]) {
        runner.complete("frames", &[(1.0, 3e6), (2.0, 6e6)]);
        runner.wait(1.0, "ns");
    }
    if runner.begin("energy") {
        runner.complete("energy", &[(1.0, 3.0), (2.0, 6.0)]);
        runner.wait(1e-6, "J");
    }
    if runner.begin("processor time") {
        runner.complete("processor time", &[(1.0, 0.5), (2.0, 1.0)]);
        runner.wait(1.0, "s");
    }
    runner.send(&Cbor::variant(
        "FinishedBenchmarkGroup",
        [("group", Cbor::text("steps"))],
    ));
    runner.wait(1.0, "");
    // Two benchmarks have the same full id.
    runner.measure("twice");
    runner.measure("twice");
}
