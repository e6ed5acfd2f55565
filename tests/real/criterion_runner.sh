#!/usr/bin/env bash
# Runs unchanged benches on Criterion itself under `cargo perfcheck`: one bench file with criterion 0.8.2, 0.5.1 and 0.3.6 from the registry.
# Checks that every benchmark that the bench lists is stored with its throughput and its unit; that --baseline and --against find a planted
# slowdown, and report none where there is none; and that a panic, a hang and Ctrl-C have the right effects.
#
#   tests/real/criterion_runner.sh [VERSION...]      e.g. 0.8.2; default: all three
#
# PERFCHECK: the executable to test (default: a release build of this repository). KEEP: a directory to work in, which is not removed.
# Exit status 0 if all checks pass. Needs cargo, the registry, git, python3 and valgrind; takes about five minutes, most of it builds of Criterion.
set -euo pipefail

here=$(cd "$(dirname "$0")/../.." && pwd)
. "$here/tests/real/scratch.sh"
find_perfcheck
versions=("$@")
((${#versions[@]})) || versions=(0.8.2 0.5.1 0.3.6)
scratch_directory
private_state
# Keep this directory between calls, because Criterion takes longer to build than to run.
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$here/target}/criterion_runner
rm -f "$PERFCHECK_STORE"

crate=$work/crate
rm -rf "$crate" && mkdir -p "$crate"/{v0_8_2,v0_5_1,v0_3_6}/{src,benches} && cd "$crate"
printf '[workspace]\nresolver = "2"\nmembers = ["v0_8_2", "v0_5_1", "v0_3_6"]\n' >Cargo.toml
# Build quickly, because the measured times do not matter here.
printf '[profile.bench]\nopt-level = 1\ndebug = false\n' >>Cargo.toml
for version in 0.8.2 0.5.1 0.3.6; do
    name=v${version//./_}
    : >"$name/src/lib.rs"
    # Rename the dependency, because the tool must recognize Criterion by what it prints and not by the name of the crate.
    cat >"$name/Cargo.toml" <<TOML
[package]
name = "$name"
version = "0.0.0"
edition = "2021"

[dev-dependencies]
measures = { package = "criterion", version = "=$version", default-features = false }

[[bench]]
name = "work"
harness = false
TOML
    cat >"$name/benches/work.rs" <<'RUST'
use measures::measurement::{Measurement, ValueFormatter};
use measures::{criterion_group, criterion_main, BatchSize, BenchmarkId, Criterion, Throughput};
use std::cell::Cell;
use std::hint::black_box;

/// Times the work.
const FACTOR: u64 = 1;

fn work(rounds: u64) -> u64 {
    (0..rounds * FACTOR).fold(1, |sum, i| black_box(sum ^ i).wrapping_mul(sum | 1))
}

fn groups(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("sum (all)");
    group.throughput(Throughput::Bytes(1024));
    for rounds in [1_000, 20_000] {
        group.bench_with_input(BenchmarkId::new("fold", rounds), &rounds, |b, rounds| {
            b.iter(|| work(*rounds))
        });
    }
    group.finish();
    criterion.bench_function("plain", |b| b.iter(|| work(5_000)));
    let mut group = criterion.benchmark_group("fixed");
    group.sample_size(13).noise_threshold(0.25);
    group.throughput(Throughput::Elements(7));
    group.bench_function("in code", |b| {
        b.iter_batched(|| 5_000, work, BatchSize::SmallInput)
    });
    group.finish();
    if std::env::var_os("PANICS").is_some() {
        criterion.bench_function("panics", |b| b.iter(|| Vec::<u8>::new()[black_box(3)]));
    }
    if std::env::var_os("HANGS").is_some() {
        criterion.bench_function("hangs", |b| b.iter(|| std::thread::park()));
    }
    if let Some(path) = std::env::var_os("LOCK") {
        criterion.bench_function("locked", |b| {
            let lock = std::fs::File::create(&path).unwrap();
            lock.try_lock().expect("somebody else has the lock");
            b.iter(|| work(5_000))
        });
    }
    criterion.bench_function("same", |b| b.iter(|| work(3_000)));
}

fn once_more(criterion: &mut Criterion) {
    criterion.bench_function("same", |b| b.iter(|| work(9_000)));
}

thread_local!(static STEPS: Cell<u64> = Cell::new(0));

/// Counts what the work does, in thousandths of a step.
struct Steps;

impl Measurement for Steps {
    type Intermediate = u64;
    type Value = u64;
    fn start(&self) -> u64 {
        STEPS.with(Cell::get)
    }
    fn end(&self, start: u64) -> u64 {
        STEPS.with(Cell::get) - start
    }
    fn add(&self, a: &u64, b: &u64) -> u64 {
        a + b
    }
    fn zero(&self) -> u64 {
        0
    }
    fn to_f64(&self, value: &u64) -> f64 {
        *value as f64
    }
    fn formatter(&self) -> &dyn ValueFormatter {
        self
    }
}

impl ValueFormatter for Steps {
    fn scale_values(&self, _: f64, _: &mut [f64]) -> &'static str {
        "mstep"
    }
    fn scale_throughputs(&self, _: f64, _: &Throughput, _: &mut [f64]) -> &'static str {
        "mstep"
    }
    fn scale_for_machines(&self, values: &mut [f64]) -> &'static str {
        for value in values {
            *value *= 1e-3;
        }
        "step"
    }
}

fn steps(criterion: &mut Criterion<Steps>) {
    criterion.bench_function("steps", |b| {
        b.iter(|| {
            STEPS.with(|steps| steps.set(steps.get() + 1_500));
            work(100)
        })
    });
}

criterion_group!(benches, groups, once_more);
criterion_group! { name = counted; config = Criterion::default().with_measurement(Steps); targets = steps }
criterion_main!(benches, counted);
RUST
done
printf 'target\n' >.gitignore
git init -q . && git add -A
git -c user.name=test -c user.email=test@localhost commit -q -m "The benches as they are"

# perfcheck STATUS VERSION FLAG...: runs the tool on the bench with this version of Criterion, and fails unless it exits with STATUS.
perfcheck() {
    local wanted=$1 name=v${2//./_} status=0
    shift 2
    "$PERFCHECK" perfcheck -p "$name" "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
    if ((status != wanted)); then
        cat "$work/out" "$work/err"
        echo "FAILED: cargo perfcheck -p $name $* ended with $status, not $wanted"
        exit 1
    fi
}
# check EXPRESSION: fails unless this Python expression about the messages of the last run is true. `measured` and `compared` have messages by id.
check() {
    python3 - "$work/out" "$1" <<'PY' || { cat "$work/out" "$work/err"; exit 1; }
import json, sys
messages = [json.loads(line) for line in open(sys.argv[1])]
of = lambda reason: {m["benchmark"]["id"]: m for m in messages if m["reason"] == reason}
measured, compared = of("benchmark-measured"), of("benchmark-compared")
verdicts = {id: m["verdict"] for id, m in compared.items()}
counts = {id: m["instructions"]["per_iteration"] for id, m in measured.items() if m["instructions"]}
if not eval(sys.argv[2]):
    sys.exit(f"FAILED: {sys.argv[2]}\nmeasured: {sorted(measured)}\nverdicts: {verdicts}")
PY
}
slow() { sed -i 's/FACTOR: u64 = 1;/FACTOR: u64 = 2;/' "$crate/$1/benches/work.rs"; }
usual() { git checkout -q -- .; }

json=(--message-format json)
# The shortest measurement. Versions before 0.4 accept only whole seconds.
short=(--rounds 3 --warm-up-time 20ms --measurement-time 60ms)
for version in "${versions[@]}"; do
    name=v${version//./_}
    echo "==> criterion $version"
    cargo bench --quiet -p "$name" --no-run
    # Version 0.3.6 has no terse format, and writes `: bench` after each name.
    cargo bench --quiet -p "$name" -- --list 2>/dev/null | sed -n 's/: bench\(mark\)\?$//p' | sort >"$work/listed"
    perfcheck 0 "$version" "${short[@]}" "${json[@]}" --save-baseline "$name"
    python3 -c '
import json, sys
messages = map(json.loads, open(sys.argv[1]))
print("\n".join(m["benchmark"]["id"] for m in messages if m["reason"] == "benchmark-measured"))' "$work/out" | sort >"$work/stored"
    diff "$work/listed" "$work/stored" || { echo "FAILED: what is stored is not what is listed"; exit 1; }
    [ "$(wc -l <"$work/stored")" = 7 ]
    check 'measured["sum (all)/fold/1000"]["throughput"] == {"bytes": 1024, "elements": None}'
    check 'measured["fixed/in code"]["throughput"]["elements"] == 7'
    check 'measured["fixed/in code"]["sampling"]["samples"] == 13'
    check 'all(len(l["samples"] if "samples" in l else l) for m in measured.values() for l in m["processes"])'
    check 'measured["steps"]["metric"] == {"kind": "amount", "unit": "10^-3 step"}'
    check 'measured["steps"]["summary"]["median_ns"]["estimate"] == 1500'
    check 'measured["same #2"]["summary"]["median_ns"]["estimate"] > 2 * measured["same"]["summary"]["median_ns"]["estimate"]'
    # Counted instructions are those of the benchmark's work, without set-up, drops and Criterion itself. If two benchmarks have the same name, the
    # second one cannot be selected, so it has no count.
    perfcheck 0 "$version" "${short[@]}" "${json[@]}" --instructions always --no-rerun --fail-on none
    check 'all((id == "same #2") == (m["instructions"] is None) for id, m in measured.items())'
    check '[m for m in messages if m["reason"] == "run-finished"][0]["remarks"] == ["instructions of `same #2` were not counted: another benchmark has the same name"]'
    check 'all(m["instructions"]["exact"] for id, m in measured.items() if m["instructions"])'
    check 'abs(counts["sum (all)/fold/20000"] / counts["sum (all)/fold/1000"] / 20 - 1) < 0.01'
    check 'abs(counts["plain"] / counts["sum (all)/fold/1000"] / 5 - 1) < 0.01'
    check 'abs(counts["fixed/in code"] / counts["plain"] - 1) < 0.02'
    if grep -q 'Unable to complete' "$work/err"; then
        echo 'FAILED: a warning that our settings have caused is shown'
        exit 1
    fi
    [ "$version" = 0.3.6 ] && continue
    # The filter of the tool selects ids that have characters with a special meaning in Criterion's own filter.
    perfcheck 0 "$version" "${short[@]}" "${json[@]}" --exact 'sum (all)/fold/1000'
    check 'list(measured) == ["sum (all)/fold/1000"]'

    # The executables that were kept with the baseline are measured side by side with the current ones.
    perfcheck 0 "$version" "${json[@]}" --baseline "$name" --exact plain
    slow "$name"
    perfcheck 1 "$version" "${json[@]}" --baseline "$name" --exact plain
    check 'verdicts == {"plain": "regressed"}'
    perfcheck 1 "$version" --against HEAD "${json[@]}" --exact plain 'fixed/in code' steps
    check 'verdicts["plain"] == "regressed" and verdicts["fixed/in code"] == "regressed"'
    # This benchmark takes a lock, so two processes cannot run it at the same time. Instructions are then counted in one process after the other.
    LOCK=$work/lock perfcheck 1 "$version" --against HEAD "${json[@]}" --instructions always --exact locked
    check 'compared["locked"]["instructions"]["exact"] and compared["locked"]["instructions"]["verdict"] == "regressed"'
    # Compare with stored numbers only.
    perfcheck 1 "$version" "${short[@]}" "${json[@]}" --baseline "$name" --no-rerun --exact plain
    check 'verdicts == {"plain": "regressed"}'
    usual
    perfcheck 0 "$version" --against HEAD --measure-identical "${json[@]}" --exact plain 'sum (all)/fold/1000'
    check '"regressed" not in verdicts.values()'

    # Benchmarks that do not run the changed code are not measured.
    sed -i 's/work(100)/work(101)/' "$crate/$name/benches/work.rs"
    perfcheck 0 "$version" --against HEAD "${json[@]}" --exact plain 'fixed/in code' steps
    check 'compared["plain"]["same"] == compared["fixed/in code"]["same"] == "run" and list(measured) == ["steps"]'
    usual

    PANICS=1 HANGS=1 perfcheck 4 "$version" "${short[@]}" --timeout 3s "${json[@]}"
    check '{id for id, m in measured.items() if m["failures"]} == {"panics", "hangs"}'
    check 'len(measured) == 9'
    grep -q 'index out of bounds' "$work/err"
    grep -q 'no answer to `measure` within' "$work/err"
done

echo '==> Ctrl-C'
name=v${versions[0]//./_}
# Start the tool from Python, because a background job of a script without job control ignores SIGINT.
python3 - "$PERFCHECK" "$name" <<'PY'
import os, signal, subprocess, sys, time
run = subprocess.Popen([sys.argv[1], "perfcheck", "-p", sys.argv[2], "--rounds", "100"], stderr=subprocess.PIPE,
                       stdout=subprocess.PIPE, start_new_session=True)
def benches():
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            if "/work-" in open(f"/proc/{process}/cmdline").read().split("\0")[0] and os.getsid(int(process)) == run.pid:
                found.append(process)
        except OSError:
            pass
    return found
deadline = time.time() + 120
while not benches() and time.time() < deadline:
    time.sleep(0.02)
time.sleep(1)
os.kill(run.pid, signal.SIGINT)
_, err = run.communicate(timeout=30)
assert run.returncode == 130, (run.returncode, err)
assert not benches(), "a bench is left behind"
PY
echo 'All is as it should be.'
