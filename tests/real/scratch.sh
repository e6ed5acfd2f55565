# Functions that several scripts use. A script sources this file after it has set $here to the root of the repository.

# find_perfcheck: sets PERFCHECK, the executable to test, if the caller has not set it. Then it is built from this repository.
find_perfcheck() {
    if [ -z "${PERFCHECK:-}" ]; then
        cargo build --quiet --release --locked --manifest-path "$here/Cargo.toml"
        PERFCHECK=${CARGO_TARGET_DIR:-$here/target}/release/cargo-perfcheck
    fi
}

# scratch_directory: sets $work to a new directory that is removed at the end of the script, or to KEEP, which is not removed.
scratch_directory() {
    work=${KEEP:-$(mktemp -d)}
    mkdir -p "$work"
    trap leave_scratch EXIT
}
leave_scratch() { [ -n "${KEEP:-}" ] || rm -rf "$work"; }

# private_state: makes the tool use a store and a cache below $work.
private_state() {
    export PERFCHECK_STORE=$work/store.db PERFCHECK_CACHE=$work/cache
    unset PERFCHECK_NO_RERUN
}

# criterion_crate DIRECTORY BENCH VERSION: creates a crate that is a workspace of its own, with a bench target on this version of Criterion. The
# caller writes benches/BENCH.rs.
criterion_crate() {
    mkdir -p "$1/src" "$1/benches"
    : >"$1/src/lib.rs"
    cat >"$1/Cargo.toml" <<TOML
[package]
name = "$2"
version = "0.0.0"
edition = "2021"

[dev-dependencies]
criterion = { version = "=$3", default-features = false }

[[bench]]
name = "$2"
harness = false

[workspace]
TOML
}
