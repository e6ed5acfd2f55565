#!/usr/bin/env bash
# Time of `cargo perfcheck history` and `compare` on a large store, the whole command each, medians of N repeats.
#
#   tools/store_scale.sh [N [RUNS BENCHMARKS LAUNCHES SAMPLES]]     default: 11 repeats, 10000 100 5 20
#
# Limits: history 50 ms, compare 1 s. Needs about 1 GB of disk for the default.
set -euo pipefail
repeats=${1:-11}
[ $# -gt 0 ] && shift
here=$(cd "$(dirname "$0")/.." && pwd)
cargo build --quiet --release --manifest-path "$here/Cargo.toml" --bin cargo-perfcheck -p perfcheck-tools --bin store_scale
bin=${CARGO_TARGET_DIR:-$here/target}/release
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/crate/src"
printf '[package]\nname = "scale"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\nmetadata.perfcheck.id = "scale"\n' > "$work/crate/Cargo.toml"
: > "$work/crate/src/lib.rs"
"$bin/store_scale" "${1:-10000}" "${2:-100}" "${3:-5}" "${4:-20}" "$work"
export PERFCHECK_STORE=$work/perfcheck.db
cd "$work/crate"
last=${1:-10000}
for command in history "compare $((last - 1)) $last" "compare $((last - 1)) $last --message-format json"; do
    for _ in $(seq "$repeats"); do
        start=$(date +%s%N)
        # A regression in made-up data is no failure of this script.
        # shellcheck disable=SC2086
        "$bin/cargo-perfcheck" perfcheck $command > "$work/out" || [ $? -eq 1 ]
        echo $((($(date +%s%N) - start) / 1000))
    done | sort -n | awk -v what="$command" '{ t[NR] = $1 } END { printf "%-50s median %8.1f ms, from %.1f to %.1f\n", what, t[int((NR + 1) / 2)] / 1000, t[1] / 1000, t[NR] / 1000 }'
done
