#!/usr/bin/env bash
# Published crates under `cargo perfcheck --harness as-is`: their benches on the Criterion that their authors chose. Of each crate:
# what is stored is what its benches list; the same code is no regression, in turn and beside a baseline; its own code made slower is one.
#
#   tests/real/published_crates.sh [CRATE...]       default: all of the list below
#
# PERFCHECK: the executable to test (default: built here, release). CONTROLS: how often the same code is measured in turn (default 1).
# Works in target/published_crates, which it leaves behind: Criterion takes longer to build than to run, and is built once for the crate
# as it stands and once for the two sides of an A/B. Exit status 0 if all is as it should be. Needs the registry, git and python3.
set -euo pipefail

here=$(cd "$(dirname "$0")/../.." && pwd)
. "$here/tests/real/scratch.sh"
. "$here/tests/real/registry.sh"

# What is measured in turn, and what of it is slower once `slow` was called: then the crate's own code does the same work twice.
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
        # One of its bench targets needs a feature that is off: cargo passes over it unless a pattern names it.
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
# The time of this script is that of its builds. What is measured and slowed down is optimised as always.
printf '[profile.bench.package."*"]\nopt-level = 0\n' >"$work/.cargo/config.toml"
# One place for all of them, one after the other: what they depend on is built once for those that depend on the same.
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
        # They depend on one another as in the repository that they come from.
        printf '%s = { path = "%s" }\n' "${names[0]}" "${names[0]}" >>Cargo.toml
    fi
    printf 'target\n' >.gitignore
    cargo generate-lockfile --quiet
    criterion=$(sed -n '/^name = "criterion"$/{n;s/version = "\(.*\)"/\1/p}' Cargo.lock)
    git init --quiet .
    git add --all
    git -c user.name=test -c user.email=test@localhost commit --quiet -m "As published"
}

# What `cargo bench -- --list` names: package, target and title, a line each.
listed() {
    cargo bench --quiet --features "$features" "${benches[@]}" --no-run --message-format json >"$work/built"
    cargo bench --features "$features" "${benches[@]}" -- --list >"$work/list" 2>&1
    python3 - "$work/built" "$work/list" <<'PY'
import json, re, sys
built = {}
for message in map(json.loads, open(sys.argv[1])):
    if message["reason"] == "compiler-artifact" and message["executable"]:
        # ...#name@version, or ...#version after a path that ends with the name.
        path, fragment = message["package_id"].rsplit("#", 1)
        package = fragment.split("@")[0] if "@" in fragment else path.rsplit("/", 1)[-1]
        built[message["executable"].rsplit("/", 1)[-1]] = package, message["target"]["name"]
for line in open(sys.argv[2]):
    if running := re.match(r" +Running .*[/(]([^/]+)\)$", line):
        package, target = built[running[1]]
    # The oldest one calls them `: bench`.
    elif title := re.match(r"(.*): bench(mark)?$", line):
        print(package, target, title[1], sep="\t")
PY
}

# What the store has. A title is an id that Criterion cuts after 100 bytes.
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
# perfcheck STATUS FLAG...: runs it; the status must be this one.
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
# regressed ID...: the last run has called these so. Others may have moved with the layout of the code.
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
