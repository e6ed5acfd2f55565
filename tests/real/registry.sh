# Fetches and unpacks published crates. Other scripts source this file.

# Dev-dependencies that only tests use. They are left out, because benches do not need them.
spared='version-sync|pretty_assertions|no-panic|quickcheck|wasm-bindgen-test|debugger_test|debugger_test_parser|rstest|rstest_reuse|serde_test|static_assertions|critical-section'

# fetched NAME VERSION: fetches a crate from the registry and prints the directory of its files. Do not change these files, which belong to cargo.
fetched() {
    local scratch path
    scratch=$(mktemp -d)
    mkdir "$scratch/src" && : >"$scratch/src/lib.rs"
    printf '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n%s = "=%s"\n[workspace]\n' "$1" "$2" >"$scratch/Cargo.toml"
    cargo fetch --quiet --manifest-path "$scratch/Cargo.toml"
    path=$(cargo metadata --format-version 1 --manifest-path "$scratch/Cargo.toml" | grep -o "\"manifest_path\":\"[^\"]*/$1-$2/Cargo.toml\"" | head -1 | sed 's/^"manifest_path":"//; s/\/Cargo.toml"$//')
    rm -rf "$scratch"
    [[ -n $path ]] || {
        echo "error: the registry has no $1 $2" >&2
        return 1
    }
    echo "$path"
}

# unpack NAME VERSION DIRECTORY [LINE...]: copies a crate with its benches to DIRECTORY. Leaves out tests, examples and dev-dependencies that only
# tests use. If LINEs are given, they replace the version of the dependency `criterion` in the manifest.
unpack() {
    local name=$1 version=$2 directory=$3 source
    shift 3
    # Stop if fetching failed, because an empty path would copy from `/`.
    source=$(fetched "$name" "$version") || return 1
    mkdir -p "$directory" && cp -r "$source/." "$directory" && chmod -R u+w "$directory"
    rm -f "$directory/Cargo.lock" "$directory/Cargo.toml.orig" "$directory/.cargo_vcs_info.json"
    awk -v lines="$(printf '%s\n' "$@")" -v spared="^\\\\[dev-dependencies\\\\.\"?($spared)\"?\\\\]" '
        /^\[/ {
            skipping = ($0 ~ spared) || /^\[\[test\]\]/ || /^\[\[example\]\]/
            in_criterion = ($0 ~ /dev-dependencies\.criterion\]$/)
            if (in_criterion && lines) {
                print
                print lines
                next
            }
        }
        in_criterion && lines && /^version *=/ { next }
        !skipping { print }
    ' "$source/Cargo.toml" >"$directory/Cargo.toml"
}

# criterion_of DIRECTORY: prints the version of criterion in the manifest of the crate.
criterion_of() {
    awk '/dev-dependencies\.criterion\]/ { found = 1 } found && /^version/ { gsub(/[version = "^]/, ""); print; exit }' "$1/Cargo.toml"
}
