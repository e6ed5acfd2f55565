#!/usr/bin/env bash
# Makes the files of this directory anew, each with the program whose format it is. What was said of the machine is replaced.
#
#   tests/exchange/samples/make.sh [DIRECTORY]
#
# Needs cargo, the registry, python3, hyperfine and critcmp; what is not there is passed over and said. README.md has the versions that made the files.
set -euo pipefail

here=$(cd "$(dirname "$0")/../../.." && pwd)
. "$here/tests/real/scratch.sh"
out=${1:-$here/tests/exchange/samples}
scratch_directory
mkdir -p "$out"
out=$(cd "$out" && pwd)
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$work/target}

# ONLY, if set: names of programs, a word each.
has() {
    [[ -z "${ONLY:-}" || " $ONLY " == *" $1 "* ]] || return 1
    case $1 in criterion | divan | libtest) set -- cargo ;; esac
    command -v "$1" >/dev/null || { echo "$1 is not there: its files stay as they are"; return 1; }
}

if has hyperfine; then
    name=hyperfine
    [[ $(hyperfine --version) == "hyperfine 1."* ]] || name=hyperfine-2
    hyperfine --shell none --runs 5 --export-json "$out/$name.json" 'sleep 0.01' 'sleep 0.02' >/dev/null 2>&1
    # A shell, parameters of which the command has one, a name of its own, a command that fails.
    hyperfine --shell sh --runs 3 --ignore-failure --parameter-list seconds 0.01,0.02 --parameter-list threads 1,2 --export-json "$out/$name-parameters.json" \
        --command-name 'pause {seconds}' 'sleep {seconds}; exit 3' >/dev/null 2>&1
    hyperfine --shell none --runs 1 --export-json "$out/$name-once.json" 'sleep 0.01' >/dev/null 2>&1
fi

cat >"$work/bench.rs" <<'RUST'
use criterion::{criterion_group, criterion_main, BenchmarkId, Criterion, SamplingMode, Throughput};
use std::hint::black_box;

fn sums(c: &mut Criterion) {
    c.bench_function("alone", |b| b.iter(|| (0..black_box(100_u64)).fold(0, |a, i| a ^ i)));
    let mut group = c.benchmark_group("sums: \"all\" of/them?");
    for length in [10_u64, 1000] {
        group.throughput(Throughput::Elements(length));
        group.bench_with_input(BenchmarkId::new("fold", length), &length, |b, length| {
            b.iter(|| (0..*length).fold(0, |a, i| black_box(a ^ i)))
        });
    }
    group.finish();
    let mut group = c.benchmark_group("flat");
    group.sampling_mode(SamplingMode::Flat).throughput(Throughput::Bytes(4096));
    group.bench_function("copy", |b| b.iter(|| vec![black_box(1_u8); 4096]));
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10).without_plots()
        .warm_up_time(std::time::Duration::from_millis(20)).measurement_time(std::time::Duration::from_millis(50));
    targets = sums
}
criterion_main!(benches);
RUST
criterion() {
    local version=$1 place=$work/criterion-$1
    criterion_crate "$place" sums "$version"
    cp "$work/bench.rs" "$place/benches/sums.rs"
    cd "$place"
    export CRITERION_HOME=$place/target/criterion
    for baseline in before after; do
        cargo bench --quiet --bench sums -- --noplot --save-baseline $baseline >/dev/null 2>"$work/errors" || { cat "$work/errors"; return 1; }
    done
    cargo bench --quiet --bench sums -- --noplot --output-format bencher --discard-baseline >"$work/bencher-$version.txt" 2>/dev/null || true
}
if has criterion; then
    criterion 0.8.2
    rm -rf "$out/criterion-0.8" && cp -r "$work/criterion-0.8.2/target/criterion" "$out/criterion-0.8"
    grep bench: "$work/bencher-0.8.2.txt" >"$out/bencher.txt"
    if has critcmp; then
        critcmp --target-dir "$work/criterion-0.8.2/target" --export before >"$out/critcmp.json"
    fi
    criterion 0.3.6
    rm -rf "$out/criterion-0.3" && cp -r "$work/criterion-0.3.6/target/criterion" "$out/criterion-0.3"
fi

package() {
    mkdir -p "$work/$1/benches" "$work/$1/src" && cd "$work/$1" && : >src/lib.rs
    printf '[package]\nname = "%s"\nversion = "0.0.0"\nedition = "2021"\n\n%s\n\n[workspace]\n' "$1" "$2" >Cargo.toml
}
of_divan() {
    printf '[dev-dependencies]\ndivan = "=%s"\ndivan-macros = "=%s"\n\n[[bench]]\nname = "of_divan"\nharness = false\n' "$1" "$1"
}

if has divan; then
    package printed "$(of_divan 0.1.21)"
    cat >benches/of_divan.rs <<'RUST'
use divan::counter::BytesCount;

#[global_allocator]
static ALLOCATIONS: divan::AllocProfiler = divan::AllocProfiler::system();

fn main() {
    divan::main();
}

#[divan::bench(args = [10, 1000])]
fn sum(n: u64) -> u64 {
    (0..n).fold(0, |sum, i| divan::black_box(sum ^ i))
}

#[divan::bench(ignore)]
fn ignored() {}

mod inner {
    #[divan::bench(threads = [1, 2])]
    fn on_threads() -> u64 {
        super::sum(100)
    }

    #[divan::bench(types = [String, Vec<u8>])]
    fn make<T: From<&'static str>>() -> T {
        T::from(divan::black_box("text"))
    }
}

#[divan::bench(args = ["a b", "c"])]
fn copy(bencher: divan::Bencher, text: &str) {
    bencher.counter(BytesCount::of_str(text)).bench(|| divan::black_box(text).to_owned());
}

#[divan::bench(sample_count = 2)]
fn slow() {
    std::thread::sleep(std::time::Duration::from_millis(3));
}
RUST
    cargo bench --quiet --bench of_divan -- --max-time 0.05 2>/dev/null >"$out/divan-0.1.21.txt"

    package printed_long_ago "$(of_divan 0.1.2)"
    cat >benches/of_divan.rs <<'RUST'
fn main() {
    divan::main();
}

#[divan::bench]
fn sum() -> u64 {
    (0..divan::black_box(1000)).fold(0, |sum, i| divan::black_box(sum ^ i))
}

#[divan::bench_group]
mod inner {
    #[divan::bench(consts = [1, 2])]
    fn array<const N: usize>() -> [u64; N] {
        divan::black_box([7; N])
    }
}
RUST
    cargo bench --quiet --bench of_divan -- --max-time 0.05 >"$out/divan-0.1.2.txt" 2>/dev/null

fi

if has libtest; then
    package of_libtest ""
    cat >benches/of_libtest.rs <<'RUST'
#![feature(test)]
extern crate test;

mod inner {
    #[bench]
    fn copy(b: &mut test::Bencher) {
        b.bytes = 4096;
        b.iter(|| vec![std::hint::black_box(1_u8); 4096]);
    }
}

#[bench]
fn sum(b: &mut test::Bencher) {
    b.iter(|| (0..std::hint::black_box(100_000_u64)).fold(0, |sum, i| std::hint::black_box(sum ^ i)));
}

#[bench]
fn less_than_a_nanosecond(b: &mut test::Bencher) {
    b.iter(|| 1);
}

#[bench]
#[ignore]
fn ignored(_: &mut test::Bencher) {}

#[bench]
fn panics(_: &mut test::Bencher) {
    panic!("no data");
}

#[test]
fn works() {}
RUST
    export RUSTC_BOOTSTRAP=1 RUST_BACKTRACE=0
    cargo bench --bench of_libtest 2>/dev/null >"$out/libtest.txt" || true
    cargo bench --quiet --bench of_libtest 2>/dev/null >"$out/libtest-quiet.txt" || true
fi

cd "$out"
WORK=$work python3 - <<'PYTHON'
"""Says nothing of the machine: its paths are replaced. Everything else stays as it was written."""
import os, pathlib

for path in pathlib.Path(".").glob("*.txt"):
    path.write_text(path.read_text().replace(os.environ["WORK"], "/home/somebody/project"))
PYTHON
