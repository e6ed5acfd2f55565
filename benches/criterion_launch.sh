#!/usr/bin/env bash
# Wall time of one launch of a Criterion bench under `cargo perfcheck` beside the bench alone with the same times, in turn.
#
#   benches/criterion_launch.sh [TIMES]      default: 5
#
# Prints both in seconds. Alone, Criterion also analyses (as little as it lets itself be told to) and writes; under us it does not. What a run does once (cargo, discovery, the glance
# at how long iterations take) is taken off: a run of two launches less one of one launch. PERFCHECK: the executable (default: built here).
set -euo pipefail

times=${1:-5}
here=$(cd "$(dirname "$0")/.." && pwd)
if [ -z "${PERFCHECK:-}" ]; then
    cargo build --quiet --release --manifest-path "$here/Cargo.toml"
    PERFCHECK=${CARGO_TARGET_DIR:-$here/target}/release/cargo-perfcheck
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PERFCHECK_SECRET=$work/secret PERFCHECK_CACHE=$work/cache CRITERION_HOME=$work/criterion
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$here/target}/criterion_runner
mkdir -p "$work/crate/src" "$work/crate/benches" && cd "$work/crate"
: >src/lib.rs
cat >Cargo.toml <<'TOML'
[package]
name = "launch"
version = "0.0.0"
edition = "2021"

[dev-dependencies]
criterion = { version = "=0.8.2", default-features = false }

[[bench]]
name = "launch"
harness = false

[workspace]

[profile.bench]
opt-level = 1
debug = false
TOML
cat >benches/launch.rs <<'RUST'
use criterion::{criterion_group, criterion_main, BenchmarkId, Criterion};
use std::hint::black_box;

fn sums(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sum");
    for rounds in [100_u64, 1_000, 10_000, 100_000] {
        group.bench_with_input(BenchmarkId::from_parameter(rounds), &rounds, |b, rounds| {
            b.iter(|| (0..*rounds).fold(1, |sum: u64, i| black_box(sum ^ i).wrapping_mul(sum | 1)))
        });
    }
    group.finish();
}

criterion_group!(benches, sums);
criterion_main!(benches);
RUST
cargo bench --quiet --no-run
bench=$(cargo bench --no-run --bench launch --message-format json 2>/dev/null |
    sed -n 's/.*"executable":"\([^"]*\)".*/\1/p')
now() { date +%s%N; }
seconds() { printf '%d.%03d' $(($1 / 1000000000)) $(($1 / 1000000 % 1000)); }
for ((i = 0; i < times; i++)); do
    since=$(now)
    "$bench" --bench --noplot --warm-up-time 0.1 --measurement-time 0.4 --sample-size 400 --nresamples 1000 >/dev/null 2>&1
    alone=$(($(now) - since))
    took=()
    for launches in 1 2; do
        since=$(now)
        PERFCHECK_STORE=$work/$i-$launches.db "$PERFCHECK" perfcheck --launches "$launches" --samples 400 --quiet >/dev/null 2>&1
        took+=($(($(now) - since)))
    done
    echo "alone $(seconds "$alone") s, a launch under us $(seconds $((took[1] - took[0]))) s"
done
