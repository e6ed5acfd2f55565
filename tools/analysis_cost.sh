#!/usr/bin/env bash
# Compares how long our analysis of one comparison takes with that of Criterion 0.8.2, both with 100,000 resamples.
#
# Criterion compares 100 stored samples of one benchmark with a stored baseline, without sampling or plotting. Our program compares five
# processes with 390 samples on each side and summarizes both sides. The two programs take turns, and whole processes are timed.
# Usage: tools/analysis_cost.sh [REPETITIONS]
set -euo pipefail

repetitions=${1:-5}
root=$(cd "$(dirname "$0")/.." && pwd)
crate=$root/tools/analysis_cost
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target}
export CRITERION_HOME=$CARGO_TARGET_DIR/analysis_cost

cargo build --quiet --release --manifest-path "$root/Cargo.toml" -p perfcheck-tools --bin analysis_cost
cargo build --quiet --release --manifest-path "$crate/Cargo.toml"
criterion=$(cargo bench --quiet --no-run --manifest-path "$crate/Cargo.toml" --message-format json |
    sed -n 's/.*"executable":"\([^"]*stored-[^"]*\)".*/\1/p')

# Save two baselines under names of our own, because Criterion uses the name `new` itself.
for baseline in base candidate; do
    "$criterion" --bench --noplot --warm-up-time 0.5 --measurement-time 1 --save-baseline "$baseline" >/dev/null 2>&1
done
"$CARGO_TARGET_DIR/release/analysis-cost" "$repetitions" \
    "$criterion" --bench --noplot --load-baseline candidate --baseline base -- \
    "$CARGO_TARGET_DIR/release/analysis_cost" --once
