//! Seeded mutations of well-formed input, for the tests of decoders. A decoder must decode or reject every input, without a panic and without
//! unbounded memory.
//!
//! A test tries 3,000 inputs, or goes on for `PERFCHECK_ATTACK_SECONDS` seconds if that is set. The seed is always the same.

use perfcheck_stats::{Draws, Stream};
use std::time::{Duration, Instant};

/// Byte sequences that have a meaning in text or binary formats. Mutations insert them, because random bytes rarely form them.
const MEANINGFUL: [&[u8]; 14] = [
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"-1",
    b"18446744073709551615",
    b"1e999",
    b"null",
    b"\0\0\0\0",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
];
/// Number of inputs that a test tries if `PERFCHECK_ATTACK_SECONDS` is not set.
const USUAL: u64 = 3_000;
/// The largest length of a mutated input, in bytes.
const LONGEST: usize = 1 << 16;

/// Calls `decode` with mutations of the inputs in `corpus`. `name` gives each decoder its own random stream.
pub fn attack(name: &str, corpus: &[Vec<u8>], mut decode: impl FnMut(&[u8])) {
    let seconds = std::env::var("PERFCHECK_ATTACK_SECONDS").ok();
    let seconds = seconds.and_then(|text| text.parse().ok());
    let until = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let mut tried = 0;
    while until.map_or(tried < USUAL, |until| Instant::now() < until) {
        let draws = &mut Draws::new(Stream { seed: 1, name }, tried);
        let mut input = corpus[draws.index(corpus.len() as u32)].clone();
        for _ in 0..=draws.index(4) {
            mutate(&mut input, draws);
        }
        input.truncate(LONGEST);
        decode(&input);
        tried += 1;
    }
}

fn mutate(input: &mut Vec<u8>, draws: &mut Draws) {
    if input.is_empty() {
        return;
    }
    let at = draws.index(input.len() as u32);
    let length = [1, 2, 9, 100][draws.index(4)];
    let to = (at + length).min(input.len());
    let piece = MEANINGFUL[draws.index(MEANINGFUL.len() as u32)];
    match draws.index(6) {
        0 => input[at] ^= 1 << draws.index(8),
        1 => drop(input.splice(at..to, piece.iter().copied())),
        2 => drop(input.splice(at..at, piece.iter().copied())),
        3 => drop(input.drain(at..to)),
        4 => input.truncate(at),
        _ => {
            let again = input[at..to].to_vec();
            drop(input.splice(at..at, again));
        }
    }
}
