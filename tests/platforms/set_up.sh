#!/usr/bin/env bash
# Prepares this machine to compile and run the project for other systems, and writes the file DIRECTORY/env for shells to read.
#
#   tests/platforms/set_up.sh DIRECTORY
#
# Takes Debian's packages and, for C code of macOS, `ziglang` from the Python registry. The cross compilers, qemu and Wine are installed. The Rust compiler
# is only unpacked into DIRECTORY, so that it does not replace that of this machine. It is needed because Debian also has the sources of the standard library
# for it, from which cargo makes the standard libraries of other systems (`-Zbuild-std`). Cargo itself is that of this machine.
#
# Ends with 3 and says why if the packages cannot be had here. If DIRECTORY is already prepared, there is nothing to do.
set -euo pipefail
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
directory=$(cd "$1" && pwd)
toolchain=$directory/toolchain/usr
version=1

unavailable() {
    echo "not available here: $*"
    exit 3
}

[[ ! -e $directory/version || $(<"$directory/version") != "$version" ]] || exit 0
[[ $(uname -sm) == "Linux x86_64" ]] || unavailable "packages for x86-64 Linux"
command -v apt-get >/dev/null || unavailable "apt-get"
cargo=$(rustup which cargo 2>/dev/null || command -v cargo) || unavailable "cargo"
as=()
((EUID == 0)) || as=(sudo --non-interactive)
"${as[@]}" apt-get update -qq || unavailable "the package lists of apt-get"

# The names of some packages contain a version, so follow the dependencies to find them.
depends() {
    apt-cache depends "$@" 2>/dev/null | sed -n 's/^ *Depends: \(libstd-rust-web-.*\|libllvm[0-9.]*\)$/\1/p'
}
apt-cache show rustc-web >/dev/null 2>&1 || unavailable "the package rustc-web"
libraries=$(depends libstd-rust-web-dev)
mapfile -t compiler < <(printf '%s\n' rustc-web rust-web-clippy rust-web-src libstd-rust-web-dev $libraries $(depends $libraries) | sort -u)
installed=(gcc-mingw-w64-x86-64 gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static wine64 musl-tools python3-venv)
"${as[@]}" apt-get install -y -qq "${installed[@]}" >/dev/null || unavailable "${installed[*]}"

rm -rf "$directory/packages" "$directory/toolchain" "$directory/wine"
mkdir -p "$directory/packages"
(cd "$directory/packages" && apt-get download -qq "${compiler[@]}") || unavailable "${compiler[*]}"
for package in "$directory"/packages/*.deb; do dpkg -x "$package" "$directory/toolchain"; done
rm -rf "$directory/packages"

cat >"$directory/env" <<ENV
export LD_LIBRARY_PATH=$toolchain/lib/x86_64-linux-gnu
export RUSTC=$toolchain/bin/rustc RUSTDOC=$toolchain/bin/rustdoc RUSTC_BOOTSTRAP=1
export CARGO=$cargo BUILD_STD="-Zbuild-std=std,panic_abort,panic_unwind,test" CLIPPY_DRIVER=$toolchain/bin/clippy-driver
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
export CC_aarch64_unknown_linux_gnu=aarch64-linux-gnu-gcc AR_aarch64_unknown_linux_gnu=aarch64-linux-gnu-ar
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64-static -L /usr/aarch64-linux-gnu"
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc
export CC_x86_64_pc_windows_gnu=x86_64-w64-mingw32-gcc AR_x86_64_pc_windows_gnu=x86_64-w64-mingw32-ar
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=/usr/lib/wine/wine64 WINEPREFIX=$directory/wine WINEDEBUG=-all
export WINEDLLOVERRIDES=winemenubuilder.exe=d
export CC_x86_64_unknown_linux_musl=musl-gcc CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_LINKER=musl-gcc
export CARGO_TARGET_X86_64_UNKNOWN_LINUX_MUSL_RUSTFLAGS="-Clink-self-contained=no -Crelocation-model=static -Lnative=$directory/musl"
export CC_aarch64_apple_darwin=$directory/compile-for-macos AR_aarch64_apple_darwin=$directory/archive-for-macos
unset DISPLAY
ENV
. "$directory/env"

# Debian does not have the two objects with which each program for Windows begins and ends, so compile them.
objects=$toolchain/lib/rustlib/x86_64-pc-windows-gnu/lib
mkdir -p "$objects"
for name in rsbegin rsend; do
    source=$(find "$toolchain/src" -path "*/library/rtstartup/$name.rs" -print -quit)
    "$RUSTC" --target x86_64-pc-windows-gnu --edition 2024 --cap-lints allow --emit=obj -o "$objects/$name.o" "$source"
done

# A compiler of the Rust project brings a library for unwinding that is made for musl. That of gcc serves as well, with one function of glibc.
mkdir -p "$directory/musl"
musl-gcc -Wall -O1 -c -o "$directory/musl/frames.o" "$here/frames.c"
cp "$(gcc -print-file-name=libgcc_eh.a)" "$directory/musl/libunwind.a"
ar rs "$directory/musl/libunwind.a" "$directory/musl/frames.o"

# Wine 8 lacks a library from which the standard library needs one function, for random numbers. Its services keep pipes open, so no pipe is given to it.
"$CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER" wineboot --init >"$directory/wineboot.log" 2>&1 </dev/null || true
/usr/lib/wine/wineserver -w || true
system=$WINEPREFIX/drive_c/windows/system32
[[ -d $system ]] || unavailable "Wine: see $directory/wineboot.log"
[[ -e $system/bcryptprimitives.dll ]] ||
    x86_64-w64-mingw32-gcc -shared -O1 -o "$system/bcryptprimitives.dll" "$here/random.c" -ladvapi32

# Some crates have C code. `cargo check` compiles it, too, although nothing is linked.
python3 -m venv "$directory/zig"
"$directory/zig/bin/python" -m pip install --quiet ziglang==0.17.1 || unavailable "ziglang from the Python registry"
cat >"$directory/compile-for-macos" <<C
#!/usr/bin/env bash
# Zig has another name for the target than the crate \`cc\`, and chooses the version of macOS itself.
kept=()
for word in "\$@"; do
    [[ \$word == --target=* || \$word == -mmacosx-version-min=* ]] || kept+=("\$word")
done
exec "$directory/zig/bin/python" -m ziglang cc -target aarch64-macos-none "\${kept[@]}"
C
cat >"$directory/archive-for-macos" <<C
#!/usr/bin/env bash
exec "$directory/zig/bin/python" -m ziglang ar "\$@"
C
chmod +x "$directory"/{compile,archive}-for-macos
echo "$version" >"$directory/version"
