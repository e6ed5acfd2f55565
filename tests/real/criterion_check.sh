#!/usr/bin/env bash
# Compares the statistics of Criterion with ours, on samples that Criterion has just taken. The benches are those of `itoa` from the registry, and one
# of our own with flat sampling and outliers.
#
#   tests/real/criterion_check.sh
#
# KEEP: a directory to work in, which is not removed. Exit status 0 if all numbers agree. Needs cargo and the registry.
set -euo pipefail

here=$(cd "$(dirname "$0")/../.." && pwd)
. "$here/tests/real/scratch.sh"
. "$here/tests/real/registry.sh"
scratch_directory
export CRITERION_HOME=$work/criterion
# Keep this directory between calls, because Criterion takes longer to build than to run.
target=${CARGO_TARGET_DIR:-$here/target}/criterion_check
: >"$work/output"

# Build in the dev profile, which the tests use, too, so that nothing is built twice.
cargo build --quiet --locked --manifest-path "$here/Cargo.toml" -p perfcheck-tools --bin criterion_check

source=$(fetched itoa 1.0.18)
rm -rf "$work/itoa" && cp -r "$source" "$work/itoa" && chmod -R u+w "$work/itoa"
# Make the copy a workspace of its own, so that cargo does not search the parent directories for one. Its lock file was copied with it.
printf '\n[workspace]\n' >>"$work/itoa/Cargo.toml"

criterion_crate "$work/own" own 0.8.2
cd "$work/own"
cat >benches/own.rs <<'RUST'
use criterion::{criterion_group, criterion_main, Criterion, SamplingMode};
use std::hint::black_box;

fn sum(count: u64) -> u64 {
    (0..count).fold(1, |sum, i| sum ^ black_box(i).wrapping_mul(sum | 1))
}

fn own(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("own");
    group.bench_function("linear", |b| b.iter(|| sum(1_000)));
    // Now and then an iteration is long: outliers on the upper side.
    let mut turn = 0_u64;
    group.bench_function("disturbed", |b| {
        b.iter(|| {
            turn += 1;
            sum(if turn % 5_003 == 0 { 900_000 } else { 500 })
        })
    });
    group.sampling_mode(SamplingMode::Flat).sample_size(30);
    group.bench_function("flat, of a name so long that it has its own line", |b| b.iter(|| sum(20_000)));
    group.finish();
}

criterion_group!(benches, own);
criterion_main!(benches);
RUST

for crate in itoa own; do
    CARGO_TARGET_DIR=$target cargo bench --quiet --bench '*' --manifest-path "$work/$crate/Cargo.toml" -- \
        --noplot --warm-up-time 0.1 --measurement-time 0.5 >>"$work/output" 2>"$work/errors" || {
        cat "$work/errors"
        exit 1
    }
done
"$(dirname "$target")/debug/criterion_check" "$CRITERION_HOME" "$work/output"
