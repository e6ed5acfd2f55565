#!/usr/bin/env bash
# Compares the wall time of one process of a Criterion bench under `cargo perfcheck` with that of the bench alone. Both have the same warm-up and
# measurement times, and they take turns.
#
#   tools/criterion_launch.sh [PAIRS]      default: 11
#
# Prints both times in seconds with the number of iterations that each made, including the warm-up, and then the medians. The bench only sleeps, so
# both make the same iterations in the same time, and the difference is the work around them. (On a busy machine the first sleeps end late, and
# Criterion plans fewer iterations. A pair whose numbers of iterations differ by more than a tenth is left out.) Alone, Criterion also analyzes the
# samples, as little as its options allow, and writes files. Under `cargo perfcheck` it does not. The time there is all from one process to the next:
# the process, its connection, the record in the store, and the control workload. What a run does only once, such as calling cargo and finding the
# benchmarks, is not included, because the second of three processes is timed.
# PERFCHECK: the executable to measure (default: a release build of this repository).
set -euo pipefail

pairs=${1:-11}
here=$(cd "$(dirname "$0")/.." && pwd)
. "$here/tests/real/scratch.sh"
find_perfcheck
scratch_directory
private_state
export CRITERION_HOME=$work/criterion LAUNCH_ITERATIONS=$work/iterations
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$here/target}/criterion_runner
criterion_crate "$work/crate" launch 0.8.2
built_quickly "$work/crate"
cd "$work/crate"
cat >benches/launch.rs <<'RUST'
use criterion::{criterion_group, BenchmarkId, Criterion};
use std::fs::OpenOptions;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

static ITERATIONS: AtomicU64 = AtomicU64::new(0);

fn sleeps(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sleep");
    for nanoseconds in [100, 1_000, 10_000, 100_000] {
        group.bench_with_input(BenchmarkId::from_parameter(nanoseconds), &nanoseconds, |b, nanoseconds| {
            b.iter_custom(|iterations| {
                ITERATIONS.fetch_add(iterations, Ordering::Relaxed);
                let time = Duration::from_nanos(iterations * nanoseconds);
                std::thread::sleep(time);
                time
            })
        });
    }
    group.finish();
}

criterion_group!(benches, sleeps);

fn main() {
    benches();
    Criterion::default().configure_from_args().final_summary();
    let file = std::env::var_os("LAUNCH_ITERATIONS").expect("the script sets it");
    let mut file = OpenOptions::new().create(true).append(true).open(file).expect("it can be written");
    writeln!(file, "{}", ITERATIONS.load(Ordering::Relaxed)).expect("it can be written");
}
RUST
cargo bench --quiet --no-run
bench=$(cargo bench --no-run --bench launch --message-format json 2>/dev/null |
    sed -n 's/.*"executable":"\([^"]*\)".*/\1/p')
now() { date +%s%N; }
seconds() { printf '%d.%03d' $(($1 / 1000000000)) $(($1 / 1000000 % 1000)); }
median() { sort -n "$1" | sed -n "$(((good + 1) / 2))p"; }
for ((i = 0, good = 0; good < pairs && i < 3 * pairs; i++)); do
    rm -f "$LAUNCH_ITERATIONS"
    since=$(now)
    "$bench" --bench --noplot --warm-up-time 0.1 --measurement-time 0.4 --sample-size 400 --nresamples 1000 >/dev/null 2>&1
    alone=$(($(now) - since))
    # Measure the time from the line that announces the second process to the line that announces the third.
    under_us=$(PERFCHECK_STORE=$work/$i.db "$PERFCHECK" perfcheck --rounds 3 --samples 400 --warm-up-time 100ms --measurement-time 400ms 2>&1 >/dev/null |
        while read -r line; do
            case $line in
            "Launch 2 "*) since=$(now) ;;
            "Launch 3 "*) echo $(($(now) - since)) ;;
            esac
        done)
    made=$(sed -n 1p "$LAUNCH_ITERATIONS")
    made_under_us=$(tail -n 2 "$LAUNCH_ITERATIONS" | sed -n 1p)
    if ((made_under_us * 10 < made * 9 || made_under_us * 9 > made * 10)); then
        echo "left out: $made_under_us iterations under us, $made alone"
        continue
    fi
    good=$((good + 1))
    echo "$alone" >>"$work/alone" && echo "$under_us" >>"$work/under_us"
    echo "alone $(seconds "$alone") s with $made iterations, a launch under us $(seconds "$under_us") s with $made_under_us"
done
((good)) || { echo 'error: the machine is too busy'; exit 1; }
alone=$(median "$work/alone") under_us=$(median "$work/under_us")
echo "medians of $good: alone $(seconds "$alone") s, a launch under us $(seconds "$under_us") s, a difference of $(((under_us - alone) * 1000 / alone)) thousandths"
