#!/usr/bin/env bash
# Tests the exit codes on a real crate: `hex` from the registry, with benches written for our harness. Saves a baseline, makes `encode`
# do its work twice (exit 1, regressed) and reverts this (exit 0). Then measures identical code again and again, and counts the benchmarks
# that are called a regression (there should be none).
#
#   tests/real/real_crate.sh [RERUNS] [-- FLAGS of cargo perfcheck for the reruns, e.g. --ignore-drift]
#
# PERFCHECK: the executable to test (default: a release build of this repository). NOISE: a command to run during the reruns.
# KEEP: a directory to work in, which is not removed. Exit status 0 if all exit codes were right.
set -euo pipefail

reruns=${1:-0}
shift || true
[ "${1:-}" = "--" ] && shift
here=$(cd "$(dirname "$0")/../.." && pwd)
. "$here/tests/real/scratch.sh"
. "$here/tests/real/registry.sh"
find_perfcheck
scratch_directory
noise=
finish() {
    [ -z "$noise" ] || kill "$noise" 2>/dev/null || true
    leave_scratch
}
trap finish EXIT
private_state
source=$(fetched hex 0.4.3)
rm -rf "$work/hex" && mkdir "$work/hex" && cp -r "$source/src" "$work/hex/" && cd "$work/hex"
mkdir benches
cat > Cargo.toml <<TOML
[package]
name = "hex"
version = "0.4.3"
edition = "2018"

[features]
default = ["std"]
std = ["alloc"]
alloc = []

[dev-dependencies]
perfcheck = { path = "$here/harness" }

[[bench]]
name = "codec"
harness = false

[workspace]
TOML
cat > benches/codec.rs <<'RUST'
use perfcheck::{black_box, Suite, Throughput};

fn codec(suite: &mut Suite) {
    let bytes: Vec<u8> = (0..4096_u32).map(|i| (i * 31) as u8).collect();
    let text = hex::encode(&bytes);
    let mut group = suite.group("hex");
    group.throughput(Throughput::bytes(4096));
    group.bench("encode", |b| b.iter(|| hex::encode(black_box(&bytes))));
    group.bench("decode", |b| b.iter(|| hex::decode(black_box(&text)).unwrap()));
}

perfcheck::main!(codec);
RUST
git init --quiet && git add . && git -c user.name=t -c user.email=t@t commit --quiet -m "hex 0.4.3"

run() { "$PERFCHECK" perfcheck --quiet "$@"; }
expect() { # expect STATUS WHAT COMMAND...
    local wanted=$1 what=$2 status=0
    shift 2
    "$@" > "$work/out" 2> "$work/err" || status=$?
    if [ "$status" != "$wanted" ]; then
        echo "FAILED: $what: exit $status, not $wanted"
        cat "$work/out" "$work/err"
        exit 1
    fi
    echo "ok: $what: exit $status"
}
expect 0 "a baseline is saved" run --save-baseline before
sed -i 's/^    data.encode_hex()$/    std::hint::black_box(data.encode_hex::<String>());\n    data.encode_hex()/' src/lib.rs
git diff --quiet && { echo "FAILED: the slowdown could not be planted"; exit 1; }
expect 1 "encode does its work twice" run --baseline before
grep -q 'encode.*regressed' "$work/out" || { echo "FAILED: encode is not called regressed"; cat "$work/out"; exit 1; }
cat "$work/out"
git checkout --quiet src/lib.rs
expect 0 "reverted" run --baseline before

if [ "$reruns" -gt 0 ]; then
    if [ -n "${NOISE:-}" ]; then
        $NOISE & noise=$!
    fi
    declare -A seen=()
    for _ in $(seq "$reruns"); do
        status=0
        run --message-format json "$@" > "$work/out" 2> "$work/err" || status=$?
        seen["exit $status"]=$((${seen["exit $status"]:-0} + 1))
        for verdict in $(sed -n 's/.*"reason":"benchmark-compared".*"verdict":"\([a-z]*\)".*/\1/p' "$work/out"); do
            seen[$verdict]=$((${seen[$verdict]:-0} + 1))
        done
    done
    echo "$reruns reruns of identical code${*:+ with $*}${NOISE:+ under load}:"
    for key in "${!seen[@]}"; do echo "  $key: ${seen[$key]}"; done | sort
    [ -z "${seen["exit 1"]:-}" ] || exit 1
fi
