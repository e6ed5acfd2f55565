#!/usr/bin/env bash
# Measures how long it takes to build a bench harness from nothing: a crate with one benchmark, in the bench profile, with two jobs and a
# fresh target directory each time. Sources are fetched beforehand. perfcheck, divan, criterion and perfcheck-criterion (`drop-in`) take
# turns, so that changes in the load of the machine affect all of them equally.
#
#   tools/harness_cold_build.sh [REPEATS]      (default 3)
#
# Goals: perfcheck takes at most 1/5 of the time of divan and 1/15 of the time of criterion.
set -euo pipefail
export LC_ALL=C

repeats=${1:-3}
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CARGO_TARGET_DIR CARGO_BUILD_TARGET_DIR

# new NAME DEPENDENCY: creates a crate with this dev-dependency. The source of its benchmark is read from stdin.
new() {
    mkdir -p "$work/$1/src" "$work/$1/benches"
    cat >"$work/$1/Cargo.toml" <<MANIFEST
[package]
name = "cold-build-$1"
version = "0.0.0"
edition = "2021"

[dev-dependencies]
$2

[[bench]]
name = "fibonacci"
harness = false

[workspace]
MANIFEST
    cat >"$work/$1/src/lib.rs" <<'LIB'
pub fn fibonacci(n: u64) -> u64 {
    if n < 2 { n } else { fibonacci(n - 1) + fibonacci(n - 2) }
}
LIB
    cat >"$work/$1/benches/fibonacci.rs"
    cargo fetch --quiet --manifest-path "$work/$1/Cargo.toml"
}

new perfcheck "perfcheck = { path = \"$root/harness\" }" <<'BENCH'
use perfcheck::{black_box, Suite};

fn numbers(suite: &mut Suite) {
    suite.bench("fibonacci", |b| b.iter(|| cold_build_perfcheck::fibonacci(black_box(20))));
}

perfcheck::main!(numbers);
BENCH

new divan 'divan = "0.1"' <<'BENCH'
fn main() {
    divan::main();
}

#[divan::bench]
fn fibonacci() -> u64 {
    cold_build_divan::fibonacci(divan::black_box(20))
}
BENCH

for name in criterion drop-in; do
    case $name in
    criterion) dependency='criterion = "0.8"' ;;
    drop-in) dependency="criterion = { package = \"perfcheck-criterion\", path = \"$root/harness/criterion\" }" ;;
    esac
    new "$name" "$dependency" <<BENCH
use criterion::{criterion_group, criterion_main, Criterion};
use std::hint::black_box;

fn numbers(c: &mut Criterion) {
    c.bench_function("fibonacci", |b| b.iter(|| cold_build_${name//-/_}::fibonacci(black_box(20))));
}

criterion_group!(benches, numbers);
criterion_main!(benches);
BENCH
done

# build NAME: builds the crate from nothing and prints how many seconds that took.
build() {
    local start=$EPOCHREALTIME
    cargo bench --quiet --offline --no-run --jobs 2 --manifest-path "$work/$1/Cargo.toml" --target-dir "$work/target"
    local end=$EPOCHREALTIME
    rm -rf "$work/target"
    awk "BEGIN { printf \"%.2f\\n\", $end - $start }"
}

median() {
    sort -n "$1" | awk '{ t[NR] = $1 } END { print (t[int((NR + 1) / 2)] + t[int(NR / 2) + 1]) / 2 }'
}

harnesses=(perfcheck divan criterion drop-in)
for ((repeat = 0; repeat < repeats; repeat++)); do
    for ((turn = 0; turn < 4; turn++)); do
        name=${harnesses[(repeat + turn) % 4]}
        build "$name" >>"$work/$name.seconds"
    done
done

ours=$(median "$work/perfcheck.seconds")
printf '%-10s %9s %7s %9s   %s\n' harness 'median s' crates 'ours is' target
for name in "${harnesses[@]}"; do
    seconds=$(median "$work/$name.seconds")
    crates=$(cargo tree --offline --manifest-path "$work/$name/Cargo.toml" --edges normal,build,dev --prefix none --no-dedupe |
        sed 's/ (.*//' | sort -u | wc -l)
    case $name in
    divan) target='at most 1/5' ;;
    criterion) target='at most 1/15' ;;
    *) target='' ;;
    esac
    # Subtract one from the number of crates, which is the crate that has the benchmark.
    awk "BEGIN { printf \"%-10s %9.2f %7d %9s   %s\\n\", \"$name\", $seconds, $crates - 1, sprintf(\"1/%.1f\", $seconds / $ours), \"$target\" }"
done
