#!/usr/bin/env bash
# Makes the archive of a release for one target, below target/dist, and uses it once.
#
#   packaging/archive.sh TARGET            compiles the tool with the profile `dist`; needs the target's standard library and a C compiler for it
#   packaging/archive.sh TARGET PROGRAM    the same with a program that is already compiled
#
# The layout is that of `[package.metadata.binstall]`: NAME-vVERSION-TARGET.tar.gz with a folder of that name. In it and beside it lies a file SOURCES,
# the hash of what the program was compiled from: action.yml takes the archive only if it has the same sources.
# The program must run here, because it writes its own completions and manual pages.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."

fail() {
    echo "error: $*" >&2
    exit 1
}

(($# == 1 || $# == 2)) || fail "the arguments are a target, and perhaps a program"
target=$1
program=${2-}
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
name=cargo-perfcheck-v$version-$target
out=target/dist
began=$SECONDS

if [[ -z $program ]]; then
    # Without the paths of this machine.
    export RUSTFLAGS="${RUSTFLAGS-} --remap-path-prefix=$PWD=. --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
    cc=CC_${target//-/_}
    if [[ $target == *-musl && -z ${!cc-} ]]; then export "$cc=musl-gcc"; fi
    cargo build --profile dist --locked --package cargo-perfcheck --bin cargo-perfcheck --target "$target"
    program=${CARGO_TARGET_DIR:-target}/$target/dist/cargo-perfcheck
fi
echo "compiled in $((SECONDS - began)) s: $(stat --format=%s "$program") bytes"
[[ $("$program" --version) == "cargo-perfcheck $version" ]] || fail "$program is not version $version"

rm -rf "${out:?}/$name"
mkdir -p "$out/$name/completions" "$out/$name/man/man1"
install -m 755 "$program" "$out/$name/cargo-perfcheck"
cp README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$out/$name"
python3 packaging/notices.py "$target" >"$out/$name/THIRD-PARTY.txt"

complete() {
    "$program" perfcheck completions "$1" >"$out/$name/completions/$2"
}
complete bash cargo-perfcheck.bash
complete elvish cargo-perfcheck.elv
complete fish cargo-perfcheck.fish
complete powershell _cargo-perfcheck.ps1
complete zsh _cargo-perfcheck

# manual WORD...: the page of a command, and those of its commands, which it names.
manual() {
    local page stem=cargo-perfcheck word below
    for word in "$@"; do stem+=-$word; done
    page=$out/$name/man/man1/$stem.1
    "$program" perfcheck man "$@" >"$page"
    # In a page, a hyphen has a backslash, which is character 134.
    tr -d '\134' <"$page" | sed -n "s/^$stem-\([^ ]*\)(1)\$/\1/p" | while read -r below; do
        [[ $below == help ]] || manual "$@" "$below"
    done
}
manual

# The same as in action.yml.
find Cargo.toml Cargo.lock src crates harness -type f | sort | git hash-object --stdin-paths | git hash-object --stdin >"$out/SOURCES"
cp "$out/SOURCES" "$out/$name"
# Only the commit decides what is in the archive: its time is that of all files.
tar --create --directory "$out" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" "$name" | gzip --best --no-name >"$out/$name.tar.gz"
(cd "$out" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
(cd "$out" && sha256sum --check --quiet "$name.tar.gz.sha256")
tar --extract --file "$out/$name.tar.gz" --directory "$scratch"
[[ $(HOME=$scratch "$scratch/$name/cargo-perfcheck" --version) == "cargo-perfcheck $version" ]] || fail "the program in the archive does not run"
for kind in "completions/" "man/man1/"; do
    [[ -z $(find "$scratch/$name/$kind" -empty) ]] || fail "an empty file in $kind"
done
if command -v objdump >/dev/null; then
    oldest=$(objdump -T "$program" 2>/dev/null | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1 || true)
    echo "needs ${oldest:-no C library}"
fi
echo "$out/$name.tar.gz: $(stat --format=%s "$out/$name.tar.gz") bytes, $(find "$scratch/$name" -type f | wc -l) files"
