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
    export PERFCHECK_STORE=$work/store.db PERFCHECK_CACHE=$work/cache
    unset PERFCHECK_NO_RERUN
}

# criterion_crate DIRECTORY BENCH VERSION: a crate, a workspace of its own, with a bench target on this Criterion; benches/BENCH.rs is left to the caller.
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

# built_quickly DIRECTORY: benches of this workspace are built quickly rather than well.
built_quickly() { printf '\n[profile.bench]\nopt-level = 1\ndebug = false\n' >>"$1/Cargo.toml"; }
