#!/usr/bin/env bash
# Compares how long it takes to write our page with how long the reports of Criterion 0.8 with plotters take, for as many benchmarks and resamples.
#
# Criterion compares stored samples (100 of each benchmark) with a stored baseline and plots them, without sampling. The difference to the
# same call with --noplot is the time of its plots. Our tool compares two stored runs that have 10 processes with 100 samples and writes
# the page. Whole processes are timed, one after the other, and CPU time is user and system time together. With its default of 100,000
# resamples, Criterion takes seconds per benchmark. So thousands of benchmarks are compared with fewer resamples, for both tools.
# Needs python3 and GNU time.
# Usage: tools/page_cost.sh [COUNT[:RESAMPLES]...]      default: 200:100000 2000:1000
set -euo pipefail

counts=("$@")
((${#counts[@]})) || counts=(200:100000 2000:1000)
root=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
target=${CARGO_TARGET_DIR:-$root/target}
perfcheck=${PERFCHECK:-$target/release/cargo-perfcheck}
[[ -x $perfcheck ]] || cargo build --quiet --release --manifest-path "$root/Cargo.toml" --bin cargo-perfcheck

mkdir -p "$scratch/plots/benches" "$scratch/plots/src" "$scratch/text-index/src"
touch "$scratch/plots/src/lib.rs" "$scratch/text-index/src/lib.rs"
cat >"$scratch/plots/Cargo.toml" <<'TOML'
[package]
name = "plots"
version = "0.1.0"
edition = "2024"

[dev-dependencies]
criterion = { version = "0.8", default-features = false, features = ["html_reports", "plotters", "cargo_bench_support"] }

[[bench]]
name = "trivial"
harness = false

[workspace]
TOML
cat >"$scratch/plots/benches/trivial.rs" <<'RUST'
use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;

fn trivial(c: &mut Criterion) {
    let count: u64 = std::env::var("COUNT").expect("COUNT").parse().expect("a number");
    for index in 0..count {
        c.bench_function(&format!("trivial/{index}"), |b| {
            b.iter(|| (0..black_box(50 + index % 7)).fold(index, |sum, x| black_box(sum ^ x)));
        });
    }
}

criterion_group!(all, trivial);
criterion_main!(all);
RUST
criterion=$(CARGO_TARGET_DIR=$scratch/plots/target cargo bench --quiet --no-run --manifest-path "$scratch/plots/Cargo.toml" --message-format json |
    sed -n 's/.*"executable":"\([^"]*trivial-[^"]*\)".*/\1/p')

# timed NAME COMMAND...: runs a command and prints its wall time, CPU time and memory. The exit status 1 is allowed, because it means a regression.
timed() {
    local name=$1 status=0
    shift
    /usr/bin/env time -q -f '%e %U %S %M' -o "$scratch/time" "$@" >"$scratch/out" 2>&1 || status=$?
    if ((status > 1)); then
        cat "$scratch/out"
        return "$status"
    fi
    awk -v name="$name" '{ printf "  %-34s %8.2f s wall %8.2f s CPU %8.1f MB\n", name, $1, $2 + $3, $4 / 1024 }' "$scratch/time"
}

for wanted in "${counts[@]}"; do
    export COUNT=${wanted%%:*}
    resamples=100000
    [[ $wanted == *:* ]] && resamples=${wanted#*:}
    echo "$COUNT benchmarks, $resamples resamples"
    export CRITERION_HOME=$scratch/criterion-$COUNT
    # Take the samples. The few resamples are enough here, because the analysis is repeated from the samples below.
    for baseline in base candidate; do
        "$criterion" --bench --noplot --nresamples 1001 --warm-up-time 0.001 --measurement-time 0.01 --save-baseline "$baseline" >/dev/null 2>&1
    done
    timed "Criterion, analysis and plots" "$criterion" --bench --nresamples "$resamples" --load-baseline candidate --baseline base
    timed "Criterion, analysis alone" "$criterion" --bench --noplot --nresamples "$resamples" --load-baseline candidate --baseline base
    printf '[package]\nname = "text-index"\nversion = "0.1.0"\nedition = "2024"\n\n[workspace]\n\n[workspace.metadata.perfcheck]\nresamples = %s\n' "$resamples" >"$scratch/text-index/Cargo.toml"
    export PERFCHECK_STORE=$scratch/$COUNT-$resamples.db PERFCHECK_CACHE=$scratch/cache
    python3 "$root/tests/page/store.py" many "$COUNT" | sed "s/\"resamples\":100000/\"resamples\":$resamples/" >"$scratch/many.jsonl"
    cd "$scratch/text-index"
    "$perfcheck" perfcheck store import "$scratch/many.jsonl" >/dev/null 2>&1
    timed "page, comparison and statistics" "$perfcheck" perfcheck report before after --report "html=$scratch/page.html"
    timed "compare alone" "$perfcheck" perfcheck compare before after
    echo "  page: $(stat -c %s "$scratch/page.html") bytes; Criterion's reports: $(du -sb "$CRITERION_HOME" | cut -f1) bytes, $(find "$CRITERION_HOME" -name '*.svg' -o -name '*.html' | wc -l) pictures and pages"
    rm -rf "$CRITERION_HOME" "$scratch/page.html" "$scratch/many.jsonl"
done
