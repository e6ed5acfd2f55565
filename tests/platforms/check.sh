#!/usr/bin/env bash
# Compiles the project for other systems, and runs what an emulator can run: the Windows programs under Wine, those of 64-bit ARM under qemu. The static
# program for Linux runs as it is. For macOS, clippy only checks the code, and one test links programs, which are not run.
#
#   tests/platforms/check.sh DIRECTORY               all four targets, completely
#   tests/platforms/check.sh DIRECTORY --sample N    the light part of one target; N modulo 4 chooses it
#   tests/platforms/check.sh DIRECTORY NAME...       these targets: macos, windows, arm, musl
#
# `set_up.sh` must have prepared DIRECTORY. All that is compiled is in DIRECTORY/target.
set -euo pipefail
# Wine creates files with letters beyond ASCII only if the locale has them.
export LC_ALL=C.UTF-8 CARGO_TERM_COLOR=never
exec </dev/null
cd "$(dirname "$0")/../.."
directory=$(cd "$1" && pwd)
shift
. "$directory/env"
export CARGO_TARGET_DIR=$directory/target CARGO_INCREMENTAL=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "error: $*"
    exit 1
}

# run COMMAND...: runs a command and prints it with the time that it took. Wine's services keep pipes open, so the output goes through a file.
run() {
    local since=$SECONDS
    echo "--> ${*/#$PWD\//}"
    "$@" >"$scratch/output" 2>&1 || {
        cat "$scratch/output"
        fail "failed after $((SECONDS - since)) s: $*"
    }
    grep -E '^test result|^Ran |^warning' "$scratch/output" || true
    echo "    $((SECONDS - since)) s"
}

# for_target TRIPLE COMMAND...: calls cargo for a target. The standard library is compiled without optimization, too, and only once.
for_target() {
    local triple=$1 command=$2
    shift 2
    run "$CARGO" "$command" --profile dev $BUILD_STD --locked --target "$triple" "$@"
}

macos() {
    local packages=(--workspace --all-targets)
    [[ $1 == all ]] || packages=(-p cargo-perfcheck -p perfcheck-host --lib)
    # `cargo clippy` would start the clippy of another compiler.
    RUSTC_WORKSPACE_WRAPPER=$CLIPPY_DRIVER CLIPPY_ARGS="-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__" \
        for_target aarch64-apple-darwin check "${packages[@]}"
    [[ $1 == all ]] || return 0
    # Cargo has compiled the whole standard library, not only checked it.
    local libraries=$CARGO_TARGET_DIR/aarch64-apple-darwin/debug/deps name found
    local flags="--target aarch64-apple-darwin -Zunstable-options -Ldependency=$libraries"
    for name in core alloc std compiler_builtins panic_unwind; do
        found=$(ls -t "$libraries/lib$name"-*.rlib | head -n 1)
        flags+=" --extern noprelude:$name=$found"
    done
    run env PERFCHECK_TEST_MACOS_FLAGS="$flags" PERFCHECK_TEST_MACOS_LINKER="$PWD/tests/platforms/link_for_macos.sh" \
        "$CARGO" test --locked -p perfcheck-build --lib -- --ignored functions_of_macos
}

windows() {
    local triple=x86_64-pc-windows-gnu
    # These tests start the cargo that compiled them, which Wine cannot run.
    local native=(--skip cargo::build:: --skip cargo::toolchain::tests::the_libraries_beside)
    for_target "$triple" test -p perfcheck -p perfcheck-code -p perfcheck-host --lib
    [[ $1 == all ]] || return 0
    # Together with the tool, the store would be compiled with PostgreSQL, whose tests need Unix.
    for_target "$triple" test -p perfcheck-store --lib
    for_target "$triple" build -p cargo-perfcheck
    run python3 -B tests/platforms/windows.py "$CARGO_TARGET_DIR/$triple/debug/cargo-perfcheck.exe"
    for_target "$triple" test -p perfcheck-build -p cargo-perfcheck --lib -- "${native[@]}"
}

arm() {
    local packages=(-p perfcheck -p perfcheck-code)
    # One test counts the threads of its process, and one measures the memory of small programs. The emulator has threads and memory of its own.
    local emulator=(--skip our_own_threads_and_time_are_seen --skip a_program_that_needs_more_memory_has_a_higher_peak)
    [[ $1 == light ]] || packages+=(-p perfcheck-criterion -p perfcheck-build -p perfcheck-host)
    for_target aarch64-unknown-linux-gnu test "${packages[@]}" --lib -- "${emulator[@]}"
}

musl() {
    local triple=x86_64-unknown-linux-musl tool
    if [[ $1 == light ]]; then
        for_target "$triple" test -p perfcheck -p perfcheck-code --lib
        return
    fi
    for_target "$triple" build -p cargo-perfcheck
    tool=$CARGO_TARGET_DIR/$triple/debug/cargo-perfcheck
    [[ $(ldd "$tool" 2>&1) == *"not a dynamic executable"* || $(ldd "$tool" 2>&1) == *"statically linked"* ]] || fail "$tool is not static"
    # The static tool works with the cargo and rustc of this machine.
    run env -u RUSTC -u RUSTDOC -u RUSTC_BOOTSTRAP -u LD_LIBRARY_PATH -u CARGO_TARGET_DIR PERFCHECK_STORE="$scratch/perfcheck.db" \
        PERFCHECK_CACHE="$scratch/cache" "$tool" perfcheck --manifest-path testbench/Cargo.toml -p steady --rounds 3
    run env PERFCHECK_STORE="$scratch/perfcheck.db" "$tool" perfcheck history --manifest-path testbench/Cargo.toml
}

targets=(macos windows arm musl)
extent=all
if [[ ${1-} == --sample ]]; then
    targets=("${targets[$2 % 4]}")
    extent=light
elif (($#)); then
    targets=("$@")
fi
for target in "${targets[@]}"; do
    echo "==> $target ($extent)"
    "$target" "$extent"
done
