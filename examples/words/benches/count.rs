use perfcheck::{Suite, Throughput, black_box};

fn count(suite: &mut Suite) {
    suite.bench_inputs("count", [100, 10_000], |b, words| {
        let text = "the quick brown fox jumps over the lazy dog ".repeat(words / 9);
        b.throughput(Throughput::bytes(text.len() as u64));
        b.iter(|| words::count(black_box(&text)));
    });
}

perfcheck::main!(count);
