#!/usr/bin/env bash
# Benches on a Criterion that cannot connect to a runner, under `cargo perfcheck`: criterion 0.3.2, 0.3.0 and 0.2.11 from the registry.
# Every benchmark is measured by the files that it writes, with its throughput; nothing is left behind; a panic is its own; a planted
# slowdown is caught by --against.
#
#   tests/real/criterion_files.sh [VERSION...]      e.g. 0.3.2; default: all three
#
# PERFCHECK: the executable to test (default: built here, release). KEEP: a directory to work in and to leave behind. Exit status 0
# if all is as it should be. Needs cargo, the registry and git; takes about five minutes.
set -euo pipefail

here=$(cd "$(dirname "$0")/../.." && pwd)
. "$here/tests/real/scratch.sh"
find_perfcheck
versions=("$@")
((${#versions[@]})) || versions=(0.3.2 0.3.0 0.2.11)
scratch_directory
private_state
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$here/target}/criterion_runner TMPDIR=$work/temporary
mkdir -p "$TMPDIR"

# perfcheck STATUS FLAG...: runs it; the status must be this one.
perfcheck() {
    local wanted=$1 status=0
    shift
    "$PERFCHECK" perfcheck "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
    ((status == wanted)) || failed "cargo perfcheck $* ended with $status, not $wanted"
    [ -z "$(find "$TMPDIR" -name 'cargo-perfcheck-*')" ] || failed 'a directory is left behind'
    [ ! -e target/criterion ] && [ ! -e "$CARGO_TARGET_DIR/criterion" ] || failed 'Criterion wrote where the user would find it'
}
failed() {
    cat "$work/out" "$work/err"
    echo "FAILED: $1"
    exit 1
}
said() { grep -q "$1" "$work/$2" || failed "\`$1\` is not said"; }

for version in "${versions[@]}"; do
    echo "==> criterion $version"
    crate=$work/v${version//./_}
    rm -rf "$crate"
    criterion_crate "$crate" work "$version"
    built_quickly "$crate"
    cd "$crate"
    printf 'target\n' >.gitignore
    cat >benches/work.rs <<'RUST'
use criterion::{criterion_group, criterion_main, Benchmark, Criterion, Throughput};
use std::hint::black_box;

/// Times the work.
const FACTOR: u64 = 1;

fn work(rounds: u64) -> u64 {
    (0..rounds * FACTOR).fold(1, |sum, i| black_box(sum ^ i).wrapping_mul(sum | 1))
}

fn groups(criterion: &mut Criterion) {
    criterion.bench("sum (all)", Benchmark::new("fold", |b| b.iter(|| work(1_000))).throughput(Throughput::Bytes(1024)));
    criterion.bench_function("plain", |b| b.iter(|| work(5_000)));
    if std::env::var_os("PANICS").is_some() {
        criterion.bench_function("panics", |b| b.iter(|| Vec::<u8>::new()[black_box(3)]));
    }
}

criterion_group!(benches, groups);
criterion_main!(benches);
RUST
    git init -q . && git add -A
    git -c user.name=test -c user.email=test@localhost commit -q -m "The benches as they are"

    perfcheck 0 --rounds 1
    said '^  plain  ' out
    said '^  sum (all)/fold .*/s' out
    PANICS=1 perfcheck 4 --rounds 1 --exact panics
    said 'index out of bounds' err
    # The others take 16 s for a round of what they cannot be told.
    if [ "$version" = 0.3.2 ]; then
        sed -i 's/FACTOR: u64 = 1;/FACTOR: u64 = 2;/' benches/work.rs
        perfcheck 1 --against HEAD --rounds 12 --exact plain
        said regressed out
    fi
done
echo 'All is as it should be.'
