#!/usr/bin/env bash
# Measures how long `cargo perfcheck history`, `compare`, `show`, `store prune` and other commands take on a large store. Prints the median of N
# repeats of each whole command.
#
#   tools/store_scale.sh [N [RUNS BENCHMARKS PROCESSES SAMPLES]]     default: 11 repeats, 10000 100 5 20
#   tools/store_scale.sh 3 50 10000 5 20                            many benchmarks in few runs
#
# Limits of the default: history 50 ms, compare 1 s.
#
# BEFORE: another executable, which takes turns with the one that is built here. Both must print the same bytes, for any number of threads.
# ONLY: names of the commands to measure, one per line, as they are in the output. The default needs about 1 GB of disk space.
set -euo pipefail
repeats=${1:-11}
[ $# -gt 0 ] && shift
here=$(cd "$(dirname "$0")/.." && pwd)
cargo build --quiet --release --manifest-path "$here/Cargo.toml" --bin cargo-perfcheck -p cargo-perfcheck -p perfcheck-tools --bin store_scale
bin=${CARGO_TARGET_DIR:-$here/target}/release
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/crate/src"
printf '[package]\nname = "scale"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\nmetadata.perfcheck.id = "scale"\n' > "$work/crate/Cargo.toml"
: > "$work/crate/src/lib.rs"
"$bin/store_scale" "${1:-10000}" "${2:-100}" "${3:-5}" "${4:-20}" "$work"
mapfile -t only <<< "${ONLY:-}"
python3 "$here/tools/store_scale.py" "$bin/cargo-perfcheck" ${BEFORE:+"$BEFORE"} --work "$work" --last "${1:-10000}" --repeats "$repeats" ${ONLY:+--only "${only[@]}"}
