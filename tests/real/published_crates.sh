#!/usr/bin/env bash
# Tests `cargo perfcheck --harness as-is` on published crates, with the version of Criterion that their authors chose. Checks for each crate that
# exactly the benchmarks that its benches list are stored, that the same code is no regression (side by side and against a baseline), and that
# a slowdown in its code is one.
#
#   tests/real/published_crates.sh [CRATE...]       default: all of the list below
#
# PERFCHECK: the executable to test (default: a release build of this repository). CONTROLS: how often the same code is measured side by
# side (default 1). Works in target/published_crates and keeps it, because Criterion takes longer to build than to run. It is built once for
# the crate alone and once for both sides of a comparison. Exit status 0 if all checks pass. Needs the registry, git and python3.
set -euo pipefail

here=$(cd "$(dirname "$0")/../.." && pwd)
. "$here/tests/real/scratch.sh"
. "$here/tests/real/registry.sh"

# subject NAME: sets the variables for a crate. `in_turn` has the benchmarks that are measured side by side. `slow` makes the crate's own code do its
# work twice, and `slowed` has the benchmarks that are slower then.
subjects=(httpdate crc32fast rpds async-executor unicode hex)
subject() {
    features= processes=3 benches=(--bench '*')
    case $1 in
    httpdate)
        kind=parser members=(httpdate=1.0.3)
        in_turn=(parse_asctime encode_date) slowed=(parse_asctime)
        slow() { sed -i 's/^    s.parse::<HttpDate>().map(|d| d.into())$/    let _ = std::hint::black_box(s.parse::<HttpDate>());\n&/' src/lib.rs; }
        ;;
    crc32fast)
        kind=hash members=(crc32fast=1.5.4)
        in_turn=(baseline/1024 specialized/16384 combine/32) slowed=(baseline/1024 specialized/16384)
        slow() {
            sed -i 's/^        self.state = match &self.spec {$/        core::hint::black_box(match \&self.spec {\n            None => baseline::update_fast_16(self.state, buf),\n            Some(spec) => spec.update(self.state, buf),\n        });\n&/' src/lib.rs
        }
        ;;
    rpds)
        kind='data structures' members=(rpds=1.2.1) processes=2
        in_turn=('rpds hash trie map get' 'rpds vector get' 'std hash map get') slowed=('rpds hash trie map get')
        slow() { sed -i 's/^        self.root.get(key, key_hash, 0, self.degree).map(EntryWithHash::value)$/        core::hint::black_box(self.root.get(key, key_hash, 0, self.degree));\n&/' src/map/hash_trie_map/mod.rs; }
        ;;
    async-executor)
        kind=asynchronous members=(async-executor=1.14.1) features=static
        in_turn=(executor::create single_thread/executor::spawn_one) slowed=(executor::create)
        slow() { sed -i '/pub fn spawn<T: Send/,/^    }$/ s/^        let mut active = self.state().active();$/&\n        drop(core::hint::black_box(async_task::spawn(core::future::pending::<()>(), |_: Runnable| ())));/' src/lib.rs; }
        ;;
    unicode)
        # One bench target needs a feature that is off. Cargo skips it with `--benches`, but not if a pattern matches it.
        benches=(--benches)
        kind='workspace of three' members=(writeable=0.6.4 tinystr=0.8.5 fixed_decimal=0.7.3) features=fixed_decimal/ryu
        in_turn=(from_string/0012.3400 isize/smaller overview/read/TinyAsciiStr) slowed=(from_string/0012.3400)
        slow() { sed -i '/fn from_str(s: &str)/,/^    }$/ s/^        Self::try_from_str(s)$/        let _ = core::hint::black_box(Self::try_from_str(s));\n&/' fixed_decimal/src/signed_decimal.rs; }
        ;;
    hex)
        kind='old codec' members=(hex=0.4.3) processes=1
        in_turn=(hex_encode) slowed=(hex_encode)
        slow() { sed -i 's/^    data.encode_hex()$/    core::hint::black_box(data.encode_hex::<String>());\n&/' src/lib.rs; }
        ;;
    *) echo "error: no crate is called $1 here: ${subjects[*]}" && exit 2 ;;
    esac
}

work=${CARGO_TARGET_DIR:-$here/target}/published_crates
mkdir -p "$work/.cargo"
find_perfcheck
private_state
export CARGO_TARGET_DIR=$work/target
# Build dependencies without optimization, because most of the script's time goes to builds. The crate itself is optimized as usual.
printf '[profile.bench.package."*"]\nopt-level = 0\n' >"$work/.cargo/config.toml"
# All crates are unpacked in the same directory, one after the other, so that a dependency that they share is built only once.
crate=$work/crate

prepare() {
    rm -rf "$crate" "$PERFCHECK_STORE"* && mkdir -p "$crate" && cd "$crate"
    if ((${#members[@]} == 1)); then
        unpack "${members[0]%%=*}" "${members[0]#*=}" .
        printf '\n[workspace]\n' >>Cargo.toml
    else
        local member names=()
        for member in "${members[@]}"; do
            unpack "${member%%=*}" "${member#*=}" "${member%%=*}"
            names+=("${member%%=*}")
        done
        printf '[workspace]\nresolver = "2"\nmembers = [%s]\n\n[patch.crates-io]\n' "$(printf '"%s", ' "${names[@]}")" >Cargo.toml
        # Let the members depend on each other by path, as in the repository that they come from.
        printf '%s = { path = "%s" }\n' "${names[0]}" "${names[0]}" >>Cargo.toml
    fi
    printf 'target\n' >.gitignore
    cargo generate-lockfile --quiet
    criterion=$(sed -n '/^name = "criterion"$/{n;s/version = "\(.*\)"/\1/p}' Cargo.lock)
    git init --quiet .
    git add --all
    git -c user.name=test -c user.email=test@localhost commit --quiet -m "As published"
}

# listed: prints a line for each benchmark in `cargo bench -- --list`: its package, target and title.
listed() {
    cargo bench --quiet --features "$features" "${benches[@]}" --no-run --message-format json >"$work/built"
    cargo bench --features "$features" "${benches[@]}" -- --list >"$work/list" 2>&1
    python3 - "$work/built" "$work/list" <<'PY'
import json, re, sys
built = {}
for message in map(json.loads, open(sys.argv[1])):
    if message["reason"] == "compiler-artifact" and message["executable"]:
        # The id of a package ends with #name@version, or with #version after a path that ends with the name.
        path, fragment = message["package_id"].rsplit("#", 1)
        package = fragment.split("@")[0] if "@" in fragment else path.rsplit("/", 1)[-1]
        built[message["executable"].rsplit("/", 1)[-1]] = package, message["target"]["name"]
for line in open(sys.argv[2]):
    if running := re.match(r" +Running .*[/(]([^/]+)\)$", line):
        package, target = built[running[1]]
    # The oldest version of Criterion writes `: bench`, the others `: benchmark`.
    elif title := re.match(r"(.*): bench(mark)?$", line):
        print(package, target, title[1], sep="\t")
PY
}

# stored: prints the same for each benchmark in the store. The title is the id, which Criterion cuts after 100 bytes.
stored() {
    "$PERFCHECK" perfcheck history --message-format json | python3 -c '
import json, sys
for message in map(json.loads, sys.stdin):
    if message["reason"] == "benchmark":
        key = message["benchmark"]
        title = key["id"].encode()
        title = title.decode() if len(title) <= 100 else title[:100].decode(errors="ignore") + "..."
        print(key["package"], key["target"], title, sep="\t")'
}

fail() {
    echo "FAILED: $name: $*"
    exit 1
}
# perfcheck STATUS FLAG...: runs the tool, and fails unless it exits with STATUS.
perfcheck() {
    local wanted=$1 status=0
    shift
    "$PERFCHECK" perfcheck --harness as-is --features "$features" --message-format json "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
    ((status == wanted)) || { cat "$work/err" && verdicts && fail "cargo perfcheck $* ended with $status, not $wanted"; }
}
verdicts() {
    python3 -c '
import json, sys
for message in map(json.loads, open(sys.argv[1])):
    if message["reason"] == "benchmark-compared":
        print(message["verdict"], message["benchmark"]["id"], sep="\t")' "$work/out"
}
# regressed ID...: fails unless the last run called these benchmarks `regressed`. Others may have changed with the code layout.
regressed() {
    local missed
    missed=$(comm -23 <(printf '%s\n' "$@" | sort) <(verdicts | sed -n 's/^regressed\t//p' | sort))
    [ -z "$missed" ] || { verdicts && fail "not called regressed: $missed"; }
}

names=("$@")
((${#names[@]})) || names=("${subjects[@]}")
printf '%-26s %-9s %-20s %7s %10s  %s\n' crate criterion kind targets benchmarks result
for name in "${names[@]}"; do
    subject "$name"
    prepare
    listed | sort >"$work/listed"
    [ -s "$work/listed" ] || fail "lists nothing"
    perfcheck 0 --rounds "$processes" --warm-up-time 5ms --measurement-time 20ms --save-baseline published
    stored | sort >"$work/stored"
    diff "$work/listed" "$work/stored" || fail "what is stored is not what is listed"

    declare -A controls=()
    for _ in $(seq "${CONTROLS:-1}"); do
        perfcheck 0 --against HEAD --measure-identical --exact "${in_turn[@]}"
        for verdict in $(verdicts | cut -f1); do controls[$verdict]=$((${controls[$verdict]:-0} + 1)); done
    done
    perfcheck 0 --baseline published --exact "${in_turn[@]}"

    slow
    ! git diff --quiet || fail "it could not be slowed down"
    perfcheck 1 --against HEAD --exact "${in_turn[@]}"
    regressed "${slowed[@]}"
    perfcheck 1 --baseline published --exact "${in_turn[@]}"
    regressed "${slowed[@]}"
    git checkout --quiet .

    result=
    for verdict in $(printf '%s\n' "${!controls[@]}" | sort); do result+="${controls[$verdict]} $verdict, "; done
    printf '%-26s %-9s %-20s %7s %10s  %s\n' "${members[*]//=/ }" "$criterion" "$kind" "$(cut -f1,2 "$work/listed" | sort -u | wc -l)" \
        "$(wc -l <"$work/listed")" "same code: ${result%, }; slowed down: regressed"
    unset controls
done
