#!/usr/bin/env bash
# Measures real `#[bench]` functions and real benches of divan through the command line. Checks that all of them are listed, that 30 % more
# work than in the last commit is a regression, and that the same work is none. With valgrind, also checks the instructions per iteration of divan
# benches against a direct count by callgrind.
#
#   tests/real/printed_check.sh
#
# PERFCHECK: the executable to test (default: it is built). Needs cargo, git and the registry. RUSTC_BOOTSTRAP allows `#[bench]` on a stable compiler.
set -euo pipefail

here=$(cd "$(dirname "$0")/../.." && pwd)
. "$here/tests/real/scratch.sh"
find_perfcheck
scratch_directory
private_state
export RUSTC_BOOTSTRAP=1
unset CARGO_TARGET_DIR

fail() {
    echo "error: $*"
    exit 1
}

mkdir -p "$work/printed/src" "$work/printed/benches" && cd "$work/printed"
cat >Cargo.toml <<'TOML'
[package]
name = "printed"
version = "0.0.0"
edition = "2021"

[dev-dependencies]
divan = "0.1.21"

[[bench]]
name = "of_divan"
harness = false

[[bench]]
name = "of_libtest"

[workspace]
TOML
cat >src/lib.rs <<'RUST'
#![cfg_attr(test, feature(test))]

/// Multiplications, each of which waits for the one before it.
#[inline(never)]
pub fn chain(n: u64) -> u64 {
    let mut x = n;
    for _ in 0..n * 10 / 10 {
        x = x.wrapping_mul(6_364_136_223_846_793_005).rotate_left(5) ^ 7;
    }
    x
}

#[cfg(test)]
mod tests {
    extern crate test;

    #[bench]
    fn in_the_library(b: &mut test::Bencher) {
        b.iter(|| super::chain(std::hint::black_box(1000)));
    }

    #[test]
    fn works() {
        assert_ne!(super::chain(1), 1);
    }
}
RUST
cat >benches/of_divan.rs <<'RUST'
fn main() {
    divan::main();
}

#[divan::bench(args = [1000, 5000])]
fn chain(n: u64) -> u64 {
    printed::chain(n)
}

#[divan::bench(threads = [1, 2])]
fn on_threads() -> u64 {
    printed::chain(divan::black_box(1000))
}

#[divan::bench(ignore)]
fn ignored() {}
RUST
cat >benches/of_libtest.rs <<'RUST'
#![feature(test)]
extern crate test;

mod module {
    #[bench]
    fn chain(b: &mut test::Bencher) {
        b.iter(|| printed::chain(std::hint::black_box(5000)));
    }
}

#[bench]
#[ignore]
fn ignored(_: &mut test::Bencher) {}

#[bench]
fn panics(_: &mut test::Bencher) {
    panic!("no data");
}
RUST
printf 'target\nCargo.lock\n' >.gitignore
git init --quiet . && git add -A
git -c user.name=nobody -c user.email=nobody@localhost commit --quiet -m "Before"

listed=$("$PERFCHECK" perfcheck list)
echo "$listed"
for id in chain/1000 chain/5000 on_threads/t=1 on_threads/t=2 module::chain panics; do
    grep -qF "$id" <<<"$listed" || fail "$id is not listed"
done
! grep -q ignored <<<"$listed" || fail "an ignored benchmark is listed"
"$PERFCHECK" perfcheck list --lib | grep -qF tests::in_the_library || fail "the library's benchmark is not listed"

status=0
"$PERFCHECK" perfcheck --rounds 3 || status=$?
((status == 4)) || fail "a benchmark that panics gave $status"

# instructions FILE: writes a line for each benchmark of divan: its id, its instructions per iteration, and whether the count is exact.
instructions() {
    "$PERFCHECK" perfcheck --rounds 3 --no-rerun --fail-on none --bench of_divan --instructions always --message-format json >"$work/messages"
    python3 - "$work/messages" <<'PY' >"$1"
import json, sys
for line in open(sys.argv[1]):
    message = json.loads(line)
    if message["reason"] == "benchmark-measured":
        found = message["instructions"]
        print(message["benchmark"]["id"], found["per_iteration"], found["exact"])
PY
}
# by_hand NAME SIZE: prints the instructions that callgrind counts in the function `chain` in one sample of SIZE iterations.
by_hand() {
    local executable
    executable=$(find "$work/printed/target/release/deps" -name 'of_divan-*' -perm -u+x -type f)
    valgrind --tool=callgrind --callgrind-out-file="$work/callgrind.out" --toggle-collect='printed::chain' "$executable" --bench --exact "$1" \
        --sample-count 1 --sample-size "$2" >/dev/null 2>&1
    sed -n 's/^totals: //p' "$work/callgrind.out"
}
if valgrind --version >/dev/null 2>&1; then
    instructions "$work/counted"
    instructions "$work/again"
    cat "$work/counted"
    cmp <(grep -v on_threads "$work/counted") <(grep -v on_threads "$work/again") || fail "two runs have counted different instructions"
    (($(grep -c True "$work/counted") >= 2)) || fail "what is deterministic is not exact"
    cargo bench --quiet --bench of_divan --no-run
    for n in 1000 5000; do
        python3 - "$(sed -n "s|^chain/$n \\([0-9.]*\\) True|\\1|p" "$work/counted")" "$(by_hand "of_divan::chain::$n" 64)" <<'PY' || fail "chain/$n: not what callgrind counts"
import sys
tool, hand = float(sys.argv[1]), int(sys.argv[2]) / 64
print(f"{tool} instructions, by hand {hand}: {tool / hand - 1:+.4%}")
# The tool may count a few instructions more, because those of divan's loop, which is timed, too, belong to an iteration.
assert 0 <= tool - hand < 20, (tool, hand)
PY
    done
fi

sed -i.before 's|n \* 10 / 10|n * 13 / 10|' src/lib.rs
for target in of_divan of_libtest; do
    filter=chain
    status=0
    "$PERFCHECK" perfcheck --against HEAD --bench "$target" "$filter" || status=$?
    ((status == 1)) || fail "30 % more work in $target ended with $status"
done
cp src/lib.rs.before src/lib.rs
echo '// The same work.' >>src/lib.rs
status=0
"$PERFCHECK" perfcheck --against HEAD --measure-identical --bench of_divan chain || status=$?
((status == 0)) || fail "the same work ended with $status"

# The times that libtest prints vary much on a busy machine, but no verdict may come from that.
status=0
"$PERFCHECK" perfcheck --against HEAD --measure-identical --bench of_libtest chain | tee "$work/same" || status=$?
((status != 1)) || fail "the same work of libtest is called a regression"
! grep -q improved "$work/same" || fail "the same work of libtest is called an improvement"
