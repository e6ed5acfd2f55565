#!/usr/bin/env bash
# Makes the archive of a release for one target in target/dist. Then unpacks the archive and runs the program in it.
#
#   packaging/archive.sh TARGET            compiles the tool with the profile `dist`; needs the target's standard library and a C compiler for it
#   packaging/archive.sh TARGET PROGRAM    takes PROGRAM, which is already compiled
#
# `[package.metadata.binstall]` describes the layout: NAME-vVERSION-TARGET.tar.gz contains a folder of that name. A file SOURCES is in the folder and beside
# the archive. It is the hash of the sources from which the program was compiled; action.yml takes the archive only if its own sources have the same hash.
# The program must be able to run on this machine, because it writes its own completions and manual pages.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/.."

fail() {
    echo "error: $*" >&2
    exit 1
}

(($# == 1 || $# == 2)) || fail "usage: packaging/archive.sh TARGET [PROGRAM]"
target=$1
program=${2-}
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
name=cargo-perfcheck-v$version-$target
out=target/dist
began=$SECONDS

if [[ -z $program ]]; then
    # Keep the paths of this machine out of the program.
    export RUSTFLAGS="${RUSTFLAGS-} --remap-path-prefix=$PWD=. --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
    cc=CC_${target//-/_}
    if [[ $target == *-musl && -z ${!cc-} ]]; then export "$cc=musl-gcc"; fi
    cargo build --profile dist --locked --package cargo-perfcheck --bin cargo-perfcheck --target "$target"
    program=${CARGO_TARGET_DIR:-target}/$target/dist/cargo-perfcheck
fi
echo "compiled in $((SECONDS - began)) s: $(stat --format=%s "$program") bytes"
if [[ $target == *-musl ]] && ldd "$program" 2>&1 | grep -q '=>'; then fail "$program is not static"; fi
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

# manual WORD...: writes the manual page of a command and the pages of its subcommands, whose names are in that page.
manual() {
    local page stem=cargo-perfcheck word below
    for word in "$@"; do stem+=-$word; done
    page=$out/$name/man/man1/$stem.1
    "$program" perfcheck man "$@" >"$page"
    # In the page, each hyphen is escaped by a backslash, which is the octal character 134. Remove the backslashes.
    tr -d '\134' <"$page" | sed -n "s/^$stem-\([^ ]*\)(1)\$/\1/p" | while read -r below; do
        [[ $below == help ]] || manual "$@" "$below"
    done
}
manual

# action.yml computes the hash with the same command.
find Cargo.toml Cargo.lock src crates harness -type f | sort | git hash-object --stdin-paths | git hash-object --stdin >"$out/SOURCES"
cp "$out/SOURCES" "$out/$name"
# All files get the time of the commit, so that archives of the same files are identical.
tar --create --directory "$out" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git log -1 --format=%ct)" "$name" | gzip --best --no-name >"$out/$name.tar.gz"
(cd "$out" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
(cd "$out" && sha256sum --check --quiet "$name.tar.gz.sha256")
tar --extract --file "$out/$name.tar.gz" --directory "$scratch"
[[ $(HOME=$scratch "$scratch/$name/cargo-perfcheck" --version) == "cargo-perfcheck $version" ]] || fail "the program in the archive does not run"
for kind in "completions/" "man/man1/"; do
    [[ -z $(find "$scratch/$name/$kind" -empty) ]] || fail "the archive has an empty file in $kind"
done
if command -v objdump >/dev/null; then
    oldest=$(objdump -T "$program" 2>/dev/null | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1 || true)
    echo "needs ${oldest:-no C library}"
fi
echo "$out/$name.tar.gz: $(stat --format=%s "$out/$name.tar.gz") bytes, $(find "$scratch/$name" -type f | wc -l) files"
