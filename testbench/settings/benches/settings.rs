//! All settings that an author can make: on the suite, in a group and in a nested group.

use perfcheck::{SamplingMode, Suite, Throughput, black_box};
use std::time::Duration;

fn settings(suite: &mut Suite) {
    suite.bench("nothing_set", |b| b.iter(|| black_box(1) + 1));

    // These settings apply to everything that follows, including groups.
    suite
        .processes(4)
        .warm_up_time(Duration::from_millis(20))
        .measurement_time(Duration::from_millis(50));
    suite.bench("times", |b| b.iter(|| black_box(1) + 1));

    let mut group = suite.group("group");
    group.samples(30).noise_threshold(0.05).version("2");
    group.bench("inherits", |b| b.iter(|| black_box(1) + 1));
    group
        .version("3")
        .bench("other_version", |b| b.iter(|| black_box(1) + 1));

    let mut modes = group.group("mode");
    for (name, mode) in [
        ("standard", SamplingMode::Standard),
        ("linear", SamplingMode::Linear),
        ("flat", SamplingMode::Flat),
        ("auto", SamplingMode::Auto),
    ] {
        modes
            .sampling_mode(mode)
            .bench(name, |b| b.iter(|| black_box(1) + 1));
    }

    let mut throughput = suite.group("throughput");
    throughput
        .throughput(Throughput::bytes(1024))
        .bench("bytes", |b| b.iter(|| black_box(1) + 1));
    throughput
        .throughput(Throughput::bytes(1024).and_elements(16))
        .bench("both", |b| b.iter(|| black_box(1) + 1));
    // This setting is made while the benchmark runs, and replaces the announced one.
    throughput.bench("replaced", |b| {
        b.throughput(Throughput::elements(7))
            .iter(|| black_box(1) + 1);
    });
}

/// Settings apply only in the function that makes them.
fn another_function(suite: &mut Suite) {
    suite.bench("nothing_set_again", |b| b.iter(|| black_box(1) + 1));
}

perfcheck::main!(settings, another_function);
