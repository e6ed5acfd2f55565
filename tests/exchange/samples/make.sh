#!/usr/bin/env bash
# Makes the files of this directory anew, each with the program whose format it is. What was said of the machine is replaced.
#
#   tests/exchange/samples/make.sh [DIRECTORY]
#
# Needs cargo, the registry, git, python3 with pytest-benchmark and google-benchmark, go, g++ with Google Benchmark, hyperfine and critcmp; what is not
# there is passed over and said. README.md has the versions that made the files.
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
    hyperfine --shell none --runs 5 --export-json "$work/hyperfine.json" 'sleep 0.01' 'sleep 0.02' >/dev/null 2>&1
    cp "$work/hyperfine.json" "$out/hyperfine.json"
    # A shell, parameters, a name of its own, a command that fails, one run.
    hyperfine --runs 3 --ignore-failure --parameter-list seconds 0.01,0.02 --export-json "$out/hyperfine-parameters.json" \
        --command-name 'pause {seconds}' 'sleep {seconds}; exit 3' >/dev/null 2>&1
    hyperfine --shell none --runs 1 --export-json "$out/hyperfine-once.json" 'sleep 0.01' >/dev/null 2>&1
fi

if has g++ && echo '#include <benchmark/benchmark.h>' | g++ -E -x c++ - >/dev/null 2>&1; then
    cat >"$work/bench.cc" <<'CPP'
#include <benchmark/benchmark.h>

#include <cstring>
#include <vector>

static void Copy(benchmark::State& state) {
  std::vector<char> from(state.range(0), 'x'), to(state.range(0));
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size());
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
  state.SetLabel("a label");
}
BENCHMARK(Copy)->Arg(64)->Arg(4096);

static void Sum(benchmark::State& state) {
  unsigned long sum = 0;
  for (auto _ : state) {
    for (unsigned long i = 0; i < 1000; i++) benchmark::DoNotOptimize(sum += i * i);
  }
  state.counters["sums"] = benchmark::Counter(state.iterations(), benchmark::Counter::kIsRate);
}
BENCHMARK(Sum)->Unit(benchmark::kMicrosecond)->Threads(2)->UseRealTime();

static void Fails(benchmark::State& state) {
  state.SkipWithError("there is no file");
  for (auto _ : state) {
  }
}
BENCHMARK(Fails);

BENCHMARK_MAIN();
CPP
    g++ -O2 -o "$work/bench" "$work/bench.cc" -lbenchmark -lpthread
    cd "$work"
    ./bench --benchmark_min_time=0.01 --benchmark_out_format=json --benchmark_out="$out/google-1.7.json" >/dev/null 2>&1 || true
    ./bench --benchmark_min_time=0.01 --benchmark_repetitions=3 --benchmark_format=json >"$out/google-1.7-repetitions.json" 2>/dev/null || true
    ./bench --benchmark_min_time=0.01 --benchmark_repetitions=3 --benchmark_report_aggregates_only=true --benchmark_filter='Copy|Sum' \
        --benchmark_format=json >"$out/google-1.7-aggregates.json" 2>/dev/null
fi

if has python3 && python3 -c 'import google_benchmark' 2>/dev/null; then
    cat >"$work/bench.py" <<'PYTHON'
import google_benchmark as benchmark


@benchmark.register
@benchmark.option.range(8, 64)
def sort(state):
    while state:
        sorted(range(state.range(0), 0, -1))


@benchmark.register
def skips(state):
    state.skip_with_error("nothing to do")
    while state:
        pass


benchmark.main()
PYTHON
    (cd "$work" && python3 bench.py --benchmark_min_time=0.01s --benchmark_repetitions=2 --benchmark_format=json) >"$out/google-1.9-repetitions.json" 2>/dev/null
else
    echo "google-benchmark for Python is not there: its file stays as it is"
fi

if has python3 && python3 -c 'import pytest_benchmark' 2>/dev/null; then
    mkdir -p "$work/py/tests" && cd "$work/py"
    cat >tests/test_sort.py <<'PYTHON'
import pytest


@pytest.mark.benchmark(group="sorting")
@pytest.mark.parametrize("length", [10, 1000])
def test_sort(benchmark, length):
    benchmark.pedantic(sorted, args=(range(length, 0, -1),), rounds=5, iterations=3)


def test_sum(benchmark):
    benchmark.extra_info["note"] = "all of them"
    benchmark.pedantic(sum, args=(range(1000),), rounds=4)
PYTHON
    git init --quiet . && git add -A
    git -c user.name=nobody -c user.email=nobody@localhost commit --quiet -m "Begin"
    python3 -m pytest -q --benchmark-json="$out/pytest.json" >/dev/null
    python3 -m pytest -q --benchmark-save=first >/dev/null
    cp .benchmarks/*/0001_first.json "$out/pytest-saved.json"
fi

if has go; then
    mkdir -p "$work/go/deep" && cd "$work/go"
    printf 'module example.org/sums\n\ngo 1.19\n' >go.mod
    cat >sums_test.go <<'GO'
package sums

import (
	"fmt"
	"strings"
	"testing"
)

var sink int

func BenchmarkSum(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			for i := 0; i < b.N; i++ {
				for k := 0; k < n; k++ {
					sink += k
				}
			}
			b.ReportMetric(float64(n), "terms/op")
		})
	}
}

func BenchmarkRepeat(b *testing.B) {
	b.SetBytes(4096)
	for i := 0; i < b.N; i++ {
		sink += len(strings.Repeat("x", 4096))
	}
}

func BenchmarkLogs(b *testing.B) {
	b.Log("said by the benchmark")
	for i := 0; i < b.N; i++ {
		sink++
	}
}

func BenchmarkParallel(b *testing.B) {
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
		}
	})
}

func BenchmarkSkips(b *testing.B) { b.Skip("not here") }
GO
    cat >deep/deep_test.go <<'GO'
package deep

import "testing"

func BenchmarkFails(b *testing.B) { b.Fatal("no data") }

func BenchmarkNothing(b *testing.B) {
	for i := 0; i < b.N; i++ {
	}
}
GO
    go test -bench . -count 3 -benchmem -benchtime 5ms ./... >"$out/go.txt" 2>&1 || true
    # Three processes, and names without the number of processors.
    for _ in 1 2 3; do go test -cpu 1 -bench 'Sum|Repeat' -count 1 -benchtime 5ms .; done >"$out/go-processes.txt" 2>&1
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
"""Says nothing of the machine: its names, paths, revision and load are replaced. Everything else stays as it was written."""
import json, os, pathlib, re

for path in pathlib.Path(".").glob("google*.json"):
    text = path.read_text()
    for name, value in [("host_name", '"host"'), ("executable", '"./bench"'), ("date", '"2025-01-05T10:00:00+00:00"'), ("num_cpus", "8"), ("load_avg", "[0.5,0.25,0.125]")]:
        text = re.sub(rf'("{name}": )("[^"]*"|\[[^]]*\]|\d+)', lambda found: found[1] + value, text, count=1)
    path.write_text(text)
for path in pathlib.Path(".").glob("pytest*.json"):
    value = json.loads(path.read_text())
    value["machine_info"].update(node="host", release="6.1.0")
    value["machine_info"]["cpu"] = {"arch": "X86_64", "bits": 64, "count": 8, "brand_raw": "A Processor @ 2.00GHz"}
    value["commit_info"].update(id="0" * 40, project="project")
    # As it writes them itself.
    path.write_text(json.dumps(value, indent=4))
for path in pathlib.Path(".").glob("*.txt"):
    text = path.read_text().replace(os.environ["WORK"], "/home/somebody/project")
    path.write_text(re.sub(r"(?m)^cpu: .*", "cpu: A Processor @ 2.00GHz", text))
PYTHON
