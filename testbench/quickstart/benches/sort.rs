//! Each iteration gets a fresh input, because sorting data that are already sorted would measure something else.

use perfcheck::{BatchSize, Suite, Throughput, matrix};

fn sort(suite: &mut Suite) {
    let lines: Vec<&str> = include_str!("../data/source.txt").lines().collect();

    let mut group = suite.group("sort");
    // Here, changes below 3 % count as noise. Results of different versions are not compared.
    group.noise_threshold(0.03).version("1");

    // Every combination of two parameters: sort/lines/100/stable, sort/lines/100/unstable, ...
    let cases = matrix([100, 1_000], ["stable", "unstable"]);
    group.bench_inputs("lines", cases, |b, (count, algorithm)| {
        let sort = match algorithm {
            "stable" => <[&str]>::sort,
            _ => <[&str]>::sort_unstable,
        };
        b.throughput(Throughput::elements(count as u64));
        // The first closure makes the input of an iteration; only the second closure is timed.
        b.iter_batched_ref(
            || lines[..count].to_vec(),
            |lines| sort(lines),
            BatchSize::SmallInput,
        );
    });
}

perfcheck::main!(sort);
