use perfcheck::{BatchSize, SamplingMode, Suite, Throughput, black_box, labelled, matrix};
use std::time::Duration;

fn numbers(suite: &mut Suite) {
    // `black_box` hides a value from the compiler, which could compute the result beforehand.
    suite.bench("sum", |b| b.iter(|| (0..black_box(1000_u64)).sum::<u64>()));
}

fn sorting(suite: &mut Suite) {
    // Ids are paths: sort/stable, sort/unstable/10, ...
    let mut group = suite.group("sort");
    group.throughput(Throughput::elements(1000));
    group.bench("stable", |b| {
        // Set-up: runs once in each process, and only if this benchmark is selected.
        let data: Vec<u64> = (0..1000).rev().collect();
        // The first closure makes the input of an iteration; only the second is timed.
        b.iter_batched_ref(|| data.clone(), |v| v.sort(), BatchSize::SmallInput);
    });
    group.bench_inputs("unstable", [10, 100, 1000], |b, count| {
        let data: Vec<u64> = (0..count).rev().collect();
        b.throughput(Throughput::elements(count));
        b.iter_batched(|| data.clone(), sorted, BatchSize::SmallInput);
    });
}

fn sorted(mut data: Vec<u64>) -> Vec<u64> {
    data.sort_unstable();
    data
}

fn copying(suite: &mut Suite) {
    // Settings apply to what follows in the same function.
    suite
        .processes(7)
        .measurement_time(Duration::from_millis(600));
    // Every combination: copy/1/a/true, copy/1/a/false, ...
    let cases = matrix([1, 2], ["a", "b"]).and([true, false]);
    suite.bench_inputs("copy", cases, |b, (count, text, upper)| {
        b.iter(|| {
            let copy = black_box(text).repeat(count);
            if upper { copy.to_uppercase() } else { copy }
        });
    });
    // Values without a short text of their own get labels: length/empty, length/long.
    let inputs = labelled([("empty", vec![]), ("long", vec![0_u8; 4096])]);
    suite.bench_inputs("length", inputs, |b, words| {
        b.iter(|| black_box(&words).len());
    });
}

fn special(suite: &mut Suite) {
    let mut group = suite.group("special");
    group
        .version("2") // what it measures has changed: not comparable with version 1
        .noise_threshold(0.05)
        .samples(200)
        .warm_up_time(Duration::from_millis(300))
        .sampling_mode(SamplingMode::Flat);
    group.bench("threads", |b| {
        if std::thread::available_parallelism().map_or(1, |n| n.get()) < 2 {
            return b.skip("needs two processors");
        }
        // Your own clock: how long did so many iterations take?
        b.iter_custom(|iterations| {
            let start = std::time::Instant::now();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    for i in 0..iterations {
                        black_box(i);
                    }
                });
            });
            start.elapsed()
        });
    });
}

perfcheck::main!(numbers, sorting, copying, special);
