#!/usr/bin/env bash
# Links an executable for macOS on Linux, with LLD from the Rust toolchain of this machine and with Zig's list of the functions in Apple's libraries.
# It takes the arguments that rustc gives to `cc` on a Mac, and the environment that `set_up.sh` writes.
set -euo pipefail
linkers=("$(dirname "$CARGO")"/../lib/rustlib/*/bin/gcc-ld/ld64.lld)
libraries=("$(dirname "$CC_aarch64_apple_darwin")"/zig/lib/python3*/site-packages/ziglang/lib/libc/darwin)
words=()
while (($#)); do
    case $1 in
    -Xlinker)
        words+=("$2")
        shift
        ;;
    -Wl,*)
        IFS=, read -ra parts <<<"${1#-Wl,}"
        words+=("${parts[@]}")
        ;;
    -mmacosx-version-min=*) words+=(-platform_version macos "${1#*=}" "${1#*=}") ;;
    # Both libraries are parts of `libSystem`.
    -nodefaultlibs | -lc | -lm) ;;
    *) words+=("$1") ;;
    esac
    shift
done
stubs=$(mktemp -d)
trap 'rm -rf "$stubs"' EXIT
# LLD does not know the newest processors in the list.
sed -E -z 's/arm64e\.x1-[a-z]+,?[ \n]*//g; s/,([ \n]*\])/\1/g' "${libraries[0]}/libSystem.tbd" >"$stubs/libSystem.tbd"
"${linkers[0]}" "${words[@]}" "-L$stubs"
