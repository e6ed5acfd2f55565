#!/usr/bin/env bash
# Tests the store of a team: how fast it is when it is large, and what happens when senders and servers are killed. PostgreSQL must be installed. The
# script uses a server in a temporary directory.
#
#   tools/team_store.sh [scale [RUNS [BENCHMARKS [PROCESSES [SAMPLES [PUSHED]]]]]]    default: 1000 100 5 20 1000
#   tools/team_store.sh kills [SENDERS [SERVERS [SEED]]]                             default: 1000 50 1
#
# `scale 100000` needs 20 GB of disk space. Goals: 100 ms for the history of one benchmark, 1 s for compare, 200 ms for store runs, and 10 round trips
# and 1 s for store push.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
cd "$here"
what=${1:-scale}
[ $# -gt 0 ] && shift
case $what in
scale)
    cargo build --quiet --release -p cargo-perfcheck -p perfcheck-tools --features cargo-perfcheck/postgres --bin cargo-perfcheck --bin team_store
    "${CARGO_TARGET_DIR:-$here/target}/release/team_store" "$@"
    ;;
kills)
    PERFCHECK_KILLS="${1:-1000},${2:-50},${3:-1}" cargo test --quiet --test cli team::kills::a_sender -- --nocapture
    ;;
*)
    sed -n '2,7s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
