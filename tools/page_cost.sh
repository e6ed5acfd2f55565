#!/usr/bin/env bash
# What the page costs beside the reports of Criterion 0.8 with plotters, for the same number of benchmarks and of resamples.
#
# Criterion analyses and plots stored samples (100 of each benchmark) against a stored baseline, without sampling; its plots alone are the
# difference to the same call with --noplot. Ours compares two stored runs of 10 processes of 100 samples a side and writes the page.
# Whole processes, one after the other; CPU time is user and system together. Needs python3 and GNU time.
# Criterion takes seconds of each benchmark at its usual 100,000 resamples: of thousands it is compared at fewer, which shrinks what both do.
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

# timed NAME COMMAND...: wall time, CPU time and memory of a command. Status 1 is a regression, which is a result.
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
    # What is said while sampling is not kept: analysis is made anew from the samples.
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
