#!/usr/bin/env bash
# Builds the unedited Criterion benches of published crates on perfcheck's harness. Checks for each crate that this harness lists the same benchmarks as
# Criterion, that each of them runs, and that the same code measured side by side exits with 0.
#
#   tests/real/criterion_unedited.sh [NAME=VERSION[=FEATURES]...]       default: the list below
#
# Environment variables:
#   PERFCHECK    the executable to test (default: a release build of this repository)
#   COLD         also builds the benches from nothing and after an edit, on Criterion and on this harness, and prints how many seconds that takes
#   TIMES        also measures up to eight benchmarks of each crate on both harnesses, alternately and twice on each, and prints how much the medians differ
#   SELF_TEST=N  also compares these benchmarks N times with themselves and N times with a copy that is 2 % slower, and counts the verdicts
#
# Works in target/criterion_unedited and keeps that directory, so each version of Criterion is built only once. The exit status is 0 if all crates pass.
# Needs the registry, git and python3.
set -euo pipefail

# The default list of crates. It is sorted by the version of Criterion that the authors chose, from 0.3 to 0.8. At the end are crates with CodSpeed's
# replacement of Criterion.
crates=(tinytemplate=1.2.1 typed-arena=2.0.2 sharded-slab=0.1.7 tracing=0.1.44 fixed-hash=0.6.1 anes=0.1.6=parser
    itertools=0.13.0
    thread_local=1.1.9 half=2.7.1 constant_time_eq=0.4.2 k256=0.13.4=ecdsa,sha256,expose-field ed25519-dalek=2.2.0=rand_core
    opentelemetry_sdk=0.33.1=bench_profiling,testing,experimental_metrics_bound_instruments,experimental_metrics_custom_reader,spec_unstable_metrics_views
    tungstenite=0.29.0 phf_generator=0.13.1
    async-io=2.6.0 futures-concurrency=7.7.1
    handlebars=6.4.2 scc=3.8.8 html5ever=0.39.0 ryu=1.0.23 deadpool=0.13.1=rt_tokio_1 criterion-cycles-per-byte=0.8.0
    nybbles=0.4.6=arbitrary)
(($# == 0)) || crates=("$@")
here=$(cd "$(dirname "$0")/../.." && pwd)
. "$here/tests/real/scratch.sh"
. "$here/tests/real/registry.sh"

work=${CARGO_TARGET_DIR:-$here/target}/criterion_unedited
mkdir -p "$work/.cargo"
find_perfcheck
private_state
# The target directory of builds with Criterion itself. The tool builds in its cache.
export CARGO_TARGET_DIR=$work/target
# Build quickly: most of the script's time goes to builds.
printf '[profile.bench]\nopt-level = 1\nlto = false\ncodegen-units = 16\ndebug = false\n[profile.bench.package."*"]\nopt-level = 0\n' >"$work/.cargo/config.toml"
# All crates are built in the same directory, one after the other, so a dependency that they share is built only once.
crate=$work/crate

prepare() {
    rm -rf "$crate" "$PERFCHECK_STORE"* "$PERFCHECK_CACHE"/*/kept && mkdir -p "$crate" && cd "$crate"
    unpack "$name" "$version" .
    printf '\n[workspace]\n' >>Cargo.toml
    printf 'target\n' >.gitignore
    cargo generate-lockfile --quiet
    git init --quiet .
    git add --all --force
    git -c user.name=test -c user.email=test@localhost commit --quiet -m "As published"
}

# locked: prints the versions of Criterion in the lock file.
locked() { sed -nE '/^name = "(codspeed-criterion-compat|criterion)"$/{n;s/version = "(.*)"/\1/p}' Cargo.lock | sort -u | paste -sd ' '; }

# listed: prints the benchmarks that Criterion lists, one per line: target and title.
listed() {
    cargo bench --quiet --features "$features" --bench '*' --no-run --message-format json >"$work/built" 2>"$work/err" ||
        { cp "$work/err" "$work/$name.err" && return 1; }
    cargo bench --features "$features" --bench '*' -- --list >"$work/list" 2>&1 || { tail -3 "$work/list" >"$work/err" && return 1; }
    python3 - "$work/built" "$work/list" <<'PY'
import json, re, sys
built = {}
for message in map(json.loads, open(sys.argv[1])):
    if message["reason"] == "compiler-artifact" and message["executable"]:
        built[message["executable"].rsplit("/", 1)[-1]] = message["target"]["name"]
for line in open(sys.argv[2]):
    if running := re.match(r" +Running .*[/(]([^/]+)\)$", line):
        target = built[running[1]]
    # Criterion 0.3 writes `: bench`.
    elif title := re.match(r"(.*): bench(mark)?$", line):
        print(target, title[1], sep="\t")
PY
}

# ids [titles]: prints the benchmarks in the output of the last call of the tool, one per line: target and id, or target and title. Criterion makes a
# title from an id: it cuts the id after 100 bytes, and appends a number if another benchmark has the same title.
ids() {
    python3 -c '
import json, sys
seen = set()
for message in map(json.loads, open(sys.argv[1])):
    key = message.get("benchmark")
    if not key:
        continue
    name = key["id"]
    if "titles" in sys.argv:
        if len(name.encode()) > 100:
            name = name.encode()[:100].decode(errors="ignore") + "..."
        plain, number = name, 2
        while (key["target"], name) in seen:
            name, number = f"{plain} #{number}", number + 1
        seen.add((key["target"], name))
    print(key["target"], name, sep="\t")' "$work/out" "$@"
}

# perfcheck COMMAND...: runs a command of the tool on the benches.
perfcheck() {
    local command=$1
    shift
    "$PERFCHECK" perfcheck $command --features "$features" --bench '*' --message-format json "$@" >"$work/out" 2>"$work/err" </dev/null ||
        { status=$? && cp "$work/err" "$work/$name.err" && cp "$work/out" "$work/$name.out" && return $status; }
}

# seconds COMMAND...: runs the command and prints its processor and wall seconds.
seconds() {
    local TIMEFORMAT='%U %S %R'
    { time "$@" >"$work/cold.log" 2>&1; } 2>&1 | awk '{ printf "%.0f s of processor, %.0f s", $1 + $2, $3 }'
}

# on_criterion: builds the benches on Criterion in `$cold`. Prints the seconds.
on_criterion() { CARGO_TARGET_DIR=$cold seconds cargo bench --features "$features" --bench '*' --no-run; }

# on_ours: builds the benches on this harness in `$cold`, and lists them. Prints the seconds.
on_ours() { PERFCHECK_CACHE=$cold seconds "$PERFCHECK" perfcheck list --features "$features" --bench '*'; }

# cold: builds the benches from nothing and after an edit of the crate, first on Criterion and then on this harness. Prints the seconds.
cold() {
    local cold=$work/cold build
    for build in on_criterion on_ours; do
        rm -rf "$cold"
        echo "    $build, from nothing: $($build)"
        find src -name '*.rs' -exec sed -i '$a// An edit.' {} +
        echo "    $build, after an edit: $($build)"
        git checkout --quiet src
    done
    rm -rf "$cold"
}

# some_ids: prints at most eight of the benchmarks, evenly spread over the sorted list.
some_ids() {
    python3 -c '
import sys
names = sorted(line.rstrip("\n").split("\t")[1] for line in open(sys.argv[1]))
print(*names[:: -(-len(names) // 8)], sep="\n")' "$work/ids"
}

# as_published COMMAND...: runs the command with the crate's own profile instead of the quick one.
as_published() {
    mv "$work/.cargo/config.toml" "$work/config.toml"
    "$@" || true
    mv "$work/config.toml" "$work/.cargo/config.toml"
}

# self_test: compares some benchmarks with themselves and with a copy that is 2 % slower, SELF_TEST times each.
self_test() {
    local some
    mapfile -t some < <(some_ids)
    perfcheck 'doctor --self-test' --trials "$SELF_TEST" --exact "${some[@]}" || true
    python3 - "$work/out" <<'PY'
import json, sys
for message in map(json.loads, open(sys.argv[1])):
    if message["reason"] == "self-test-benchmark":
        counts = ", ".join(f"{kind}: " + " ".join(f"{count} {verdict}" for verdict, count in message[kind].items() if count) for kind in ("same", "slowed"))
        print(f"    {message['benchmark']['id'][:60]:60} {counts}, {message['seconds_per_verdict']:.1f} s")
    elif message["reason"] == "self-test-finished":
        for kind in ("false_alarms", "found"):
            print(f"    {kind}: {message[kind]['count']} of {message[kind]['of']}")
PY
}

# times: measures some benchmarks on Criterion itself and on this harness. Prints the ratio of the medians for each.
times() {
    local some turn harness
    mapfile -t some < <(some_ids)
    for turn in 1 2; do
        for harness in as-is perfcheck; do
            # Each measurement has its own store. Without an earlier run in the store, the tool measures only the work tree.
            PERFCHECK_STORE=$work/times.$harness.$turn perfcheck '' --harness "$harness" \
                --rounds 3 --warm-up-time 0.2s --measurement-time 0.5s --exact "${some[@]}" || true
            mv "$work/out" "$work/times.$harness.$turn.json"
            rm -f "$work/times.$harness.$turn" "$work/times.$harness.$turn"-*
        done
    done
    python3 - "$work"/times.{as-is,perfcheck}.{1,2}.json <<'PY'
import json, math, sys
def medians(path):
    messages = [json.loads(line) for line in open(path)]
    return {tuple(one["benchmark"].values()): one["summary"]["median_ns"]["estimate"] for one in messages
            if one["reason"] == "benchmark-measured" and one["summary"]}
as_is, as_is_again, ours, ours_again = map(medians, sys.argv[1:])
for key in as_is:
    if key in as_is_again and key in ours and key in ours_again:
        ratio = math.sqrt(ours[key] * ours_again[key] / as_is[key] / as_is_again[key])
        print(f"    {key[2][:60]:60} {as_is[key]:12.1f} ns, this harness {100 * (ratio - 1):+6.1f} %, "
              f"Criterion again {100 * (as_is_again[key] / as_is[key] - 1):+6.1f} %")
PY
}

# check: checks the current crate. Sets `result` to the outcome, and `targets` and `benchmarks` to their numbers.
check() {
    targets=- benchmarks=-
    if ! listed | sort >"$work/listed"; then
        result="Criterion itself: $(grep -m1 '^error' "$work/err" || tail -1 "$work/err")" && return 1
    fi
    targets=$(cut -f1 "$work/listed" | sort -u | wc -l) benchmarks=$(wc -l <"$work/listed")
    if ((benchmarks == 0)); then result="Criterion lists nothing" && return 1; fi
    if ! perfcheck list; then result="list: $(tail -1 "$work/err")" && return 1; fi
    result=$(sed -n 's/.*cannot replace it, because /fell back: /p' "$work/err" | head -1)
    if [[ -n $result ]]; then return 1; fi
    # Only executables with Criterion itself contain the name of this variable, which Criterion reads.
    if ! ls "$PERFCHECK_CACHE"/*/kept/* >"$work/kept" 2>&1; then result="no build was kept" && return 1; fi
    if grep -rqs CARGO_CRITERION_PORT "$PERFCHECK_CACHE"/*/kept; then result="Criterion itself without a reason" && return 1; fi
    ids titles | sort >"$work/replaced"
    ids >"$work/ids"
    if ! diff "$work/listed" "$work/replaced" >"$work/$name.diff"; then
        result="lists others: $(grep -c '^<' "$work/$name.diff") missing, $(grep -c '^>' "$work/$name.diff") more" && return 1
    fi
    local some
    mapfile -t some < <(ids | cut -f2 | sed -n '1p;$p')
    if ! perfcheck '' --rounds 2 --warm-up-time 1ms --measurement-time 2ms --samples 2; then
        result="not every benchmark runs: $(tail -1 "$work/err")" && return 1
    fi
    if ! perfcheck '' --against HEAD --measure-identical --rounds 5 --exact "${some[@]}"; then
        result="against itself: exit code $status" && return 1
    fi
    result=replaced
}

failed=0
printf '%-24s %-14s %7s %10s  %s\n' crate criterion targets benchmarks 'harness or reason'
for crate_name in "${crates[@]}"; do
    IFS== read -r name version features <<<"$crate_name="
    features=${features%=}
    prepare
    check || failed=1
    printf '%-24s %-14s %7s %10s  %s\n' "$name $version" "$(locked)" "$targets" "$benchmarks" "$result"
    [[ -z ${COLD:-} ]] || as_published cold
    [[ -z ${TIMES:-} || $result != replaced ]] || as_published times
    [[ -z ${SELF_TEST:-} || $result != replaced ]] || as_published self_test
done
exit $failed
