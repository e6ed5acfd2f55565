#!/usr/bin/env bash
# Benches of published crates, unchanged, on `perfcheck-criterion`: fetches each crate from the registry, points its `criterion` at the crate
# here, builds its bench targets, lists them and runs every benchmark once. With PERFCHECK, also a short run of that executable.
#
#   tests/real/criterion_crates.sh [NAME=VERSION[=FEATURES]...]       default: the list below
#
# KEEP: a directory to work in and to leave behind. Exit status 0 if every crate builds and runs. Needs the registry.
set -euo pipefail

# A codec on criterion 0.3, a parser, codecs on 0.4, a counter, a queue on 0.5, hashes, data structures, asynchronous ones on 0.8.
crates=(hex=0.4.3 httparse=1.10.1 base64=0.22.1 bytecount=0.6.9 flume=0.11.1 crc32fast=1.5.4 ahash=0.8.12 tinyvec=1.13.3=alloc,real_blackbox
    rpds=1.2.1 itoa=1.0.18 async-executor=1.14.1=static event-listener=5.4.2 httpdate=1.0.3 writeable=0.6.4 tinystr=0.8.5=serde
    fixed_decimal=0.7.3=ryu)
(($# == 0)) || crates=("$@")
here=$(cd "$(dirname "$0")/../.." && pwd)
. "$here/tests/real/scratch.sh"
. "$here/tests/real/registry.sh"
scratch_directory
private_state
export CARGO_TARGET_DIR=$work/target
# What is asked is whether they build and run.
export CARGO_PROFILE_BENCH_OPT_LEVEL=${CARGO_PROFILE_BENCH_OPT_LEVEL:-1} CARGO_PROFILE_BENCH_DEBUG=false CARGO_PROFILE_BENCH_LTO=off
export CARGO_PROFILE_BENCH_CODEGEN_UNITS=16

failed=0
printf '%-24s %-8s %7s %11s  %s\n' crate criterion targets benchmarks result
for crate in "${crates[@]}"; do
    IFS== read -r name version features <<< "$crate="
    features=${features%=}
    subject=$work/$name
    rm -rf "$subject"
    unpack "$name" "$version" "$subject" 'package = "perfcheck-criterion"' "path = \"$here/harness/criterion\""
    printf '\n[workspace]\n' >> "$subject/Cargo.toml"
    was=$(criterion_of "$(fetched "$name" "$version")")
    cd "$subject"
    result=ok targets=0 benchmarks=0
    if ! cargo bench --quiet --features "$features" --bench '*' --no-run > "$work/$name.log" 2>&1; then
        result="does not build: $(grep -m1 '^error' "$work/$name.log")"
    elif ! cargo bench --features "$features" --bench '*' -- --list --format terse > "$work/$name.list" 2> "$work/$name.log"; then
        result="does not list: $(tail -1 "$work/$name.log")"
    elif benchmarks=$(wc -l < "$work/$name.list") && targets=$(grep -c '^ *Running ' "$work/$name.log") && [ "$benchmarks" = 0 ]; then
        result="lists nothing"
    elif grep -qv ': benchmark$' "$work/$name.list"; then
        result="lists something else"
    elif ! cargo bench --quiet --features "$features" --bench '*' -- --test > "$work/$name.tested" 2> "$work/$name.log"; then
        result="fails: $(tail -1 "$work/$name.log")"
    elif [ "$(grep -c '^Success$' "$work/$name.tested")" != "$benchmarks" ]; then
        result="not every benchmark ran"
    elif [ -n "${PERFCHECK:-}" ]; then
        "$PERFCHECK" perfcheck --quiet --features "$features" --rounds 2 --warm-up-time 2ms --measurement-time 10ms --samples 5 --message-format json > "$work/$name.json" 2> "$work/$name.log" ||
            result="cargo perfcheck: $(tail -1 "$work/$name.log")"
        stored=$("$PERFCHECK" perfcheck history --message-format json 2> /dev/null | grep -c '"benchmark' || true)
        result="$result, $stored in the store"
    fi
    case $result in ok*) ;; *) failed=1 ;; esac
    printf '%-24s %-8s %7s %11s  %s\n' "$name $version" "$was" "$targets" "$benchmarks" "$result"
done
exit $failed
