#!/usr/bin/env bash
# Wall time of one launch of a Criterion bench under `cargo perfcheck` beside the bench alone with the same times, in turn.
#
#   benches/criterion_launch.sh [TIMES]      default: 5
#
# Prints both in seconds. Alone, Criterion also analyses (as little as it lets itself be told to) and writes; under us it does not. What a run does once (cargo, discovery, the glance
# at how long iterations take) is not in it: the second of three launches is timed. PERFCHECK: the executable (default: built here).
set -euo pipefail

times=${1:-5}
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/tests/support/scratch.sh"
find_perfcheck
scratch_directory
private_state
export CRITERION_HOME=$work/criterion
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
    # From the line that announces a launch to the line that announces the next one.
    under_us=$(PERFCHECK_STORE=$work/$i.db "$PERFCHECK" perfcheck --launches 3 --samples 400 2>&1 >/dev/null |
        while read -r line; do
            case $line in
            "Launch 2 "*) since=$(now) ;;
            "Launch 3 "*) echo $(($(now) - since)) ;;
            esac
        done)
    echo "alone $(seconds "$alone") s, a launch under us $(seconds "$under_us") s"
done
