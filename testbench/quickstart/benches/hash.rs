//! A group with inputs: two hash functions, each for a short and a long text.

use perfcheck::{Suite, Throughput, black_box};
use xxhash_rust::xxh3::xxh3_64;

const TEXT: &[u8] = include_bytes!("../data/source.txt");
const LENGTHS: [usize; 2] = [64, 65_536];

fn hash(suite: &mut Suite) {
    let mut group = suite.group("hash");

    // One benchmark for each input: hash/crc32/64 and hash/crc32/65536.
    group.bench_inputs("crc32", LENGTHS, |b, length| {
        let input = &TEXT[..length];
        // With bytes per iteration, the report also shows MB/s.
        b.throughput(Throughput::bytes(length as u64));
        // `black_box` hides the value from the compiler, which could otherwise compute the result in advance.
        b.iter(|| crc32fast::hash(black_box(input)));
    });

    group.bench_inputs("xxh3", LENGTHS, |b, length| {
        let input = &TEXT[..length];
        b.throughput(Throughput::bytes(length as u64));
        b.iter(|| xxh3_64(black_box(input)));
    });
}

perfcheck::main!(hash);
