# What the scripts of tests/ and benches/ have in common; to be sourced, with $here at the root of the sources.

# find_perfcheck: PERFCHECK, the executable to test, else one that is built here.
find_perfcheck() {
    if [ -z "${PERFCHECK:-}" ]; then
        cargo build --quiet --release --locked --manifest-path "$here/Cargo.toml"
        PERFCHECK=${CARGO_TARGET_DIR:-$here/target}/release/cargo-perfcheck
    fi
}

# scratch_directory: $work, a directory of this call that is gone at its end, or KEEP, which stays.
scratch_directory() {
    work=${KEEP:-$(mktemp -d)}
    mkdir -p "$work"
    trap leave_scratch EXIT
}
leave_scratch() { [ -n "${KEEP:-}" ] || rm -rf "$work"; }

# private_state: store, cache and secret below $work.
private_state() {
    export PERFCHECK_STORE=$work/store.db PERFCHECK_CACHE=$work/cache PERFCHECK_SECRET=$work/secret
    unset PERFCHECK_STORED
}

# source_of NAME VERSION: prints where cargo has unpacked this crate of the registry.
source_of() {
    mkdir -p "$work/fetch/src"
    printf '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n%s = "=%s"\n[workspace]\n' "$1" "$2" >"$work/fetch/Cargo.toml"
    : >"$work/fetch/src/lib.rs"
    (
        cd "$work/fetch"
        cargo fetch --quiet
        cargo metadata --format-version 1 | sed -n "s/.*\"manifest_path\":\"\([^\"]*$1-${2//./\\.}\)\/Cargo.toml\".*/\1/p"
    )
}
