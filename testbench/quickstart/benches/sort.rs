//! Fresh input for every iteration: sorting what is sorted already would measure something else.

use perfcheck::{BatchSize, Suite, Throughput, black_box};

fn sort(suite: &mut Suite) {
    let lines: Vec<&str> = include_str!("../data/source.txt").lines().collect();

    let mut group = suite.group("sort");
    for count in [100, 1_000] {
        let lines = &lines[..count];
        group.throughput(Throughput::elements(count as u64));
        group.bench(format!("stable/{count}"), |b| {
            // The first closure makes the input, the second is measured.
            b.iter_batched_ref(
                || lines.to_vec(),
                |lines| lines.sort(),
                BatchSize::SmallInput,
            );
        });
        group.bench(format!("unstable/{count}"), |b| {
            b.iter_batched_ref(
                || lines.to_vec(),
                |lines| lines.sort_unstable(),
                BatchSize::SmallInput,
            );
        });
    }

    // Changes below 5 % are noise here; a change of the version says that the benchmark itself is another one.
    group.noise_threshold(0.05).version("2");
    group.bench("is_sorted", |b| b.iter(|| black_box(&lines).is_sorted()));
}

perfcheck::main!(sort);
