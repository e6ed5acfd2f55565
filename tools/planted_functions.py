#!/usr/bin/env python3
"""Measures whether the comparison of machine code overlooks a changed function, and how many unchanged functions it recognizes as the same.

Makes a program of many functions in Rust and in C. Plants random changes in it, several at a time, and builds it again. The example `compare_executables` of
perfcheck-code then compares each executable with the first one. A change is one of an immediate, a body, a call, a string, a table, a variable, a
thread-local variable and so on. Each build also has harmless changes: functions are added that nothing calls, lines move, or the sources are in another
order. The exit code is 1 if a changed function is not listed as different, or if the comparison says that the program cannot reach a difference.

The program is never run, so it can be built for any processor.

    tools/planted_functions.py [--target aarch64-unknown-linux-gnu] [--cargo-flags FLAGS] [--rustflags FLAGS] [--cc cc] [--changes 200] [--at-once 3]
        [--seed 1] [--keep DIRECTORY]

Uses the environment variables `CARGO` and `RUSTC` if they are set, as the file `env` of `tests/platforms/set_up.sh` does. Windows needs
`--target x86_64-pc-windows-gnu --cc x86_64-w64-mingw32-gcc --rustflags=-Clink-arg=-lmsvcrt`. macOS needs, for example,
`--target x86_64-apple-darwin --cc "DIRECTORY/zig/bin/python -m ziglang cc -target x86_64-macos-none" --rustflags=-Clinker=REPOSITORY/tests/platforms/link_for_macos.sh`,
with the directory of `set_up.sh`. A target without a standard library needs the flags
`--cargo-flags=-Zbuild-std=std,panic_abort` and the variable `RUSTC_BOOTSTRAP=1`.
"""

import argparse
import collections
import os
import pathlib
import random
import shlex
import shutil
import subprocess
import sys
import tempfile

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
VARIANTS = 3

# For each kind of function: its source in the library, and the name of the function that must be listed as different if VALUE changes. The program calls `run_N`.
RUST = {
    "immediate": ("#[inline(never)] pub fn run_N(n: u64) -> u64 { n.rotate_left(3) ^ VALUE }", "run_N"),
    "inlined": ("#[inline(always)] fn inlined_N(n: u64) -> u64 { n.wrapping_mul(VALUE) }\n#[inline(never)] pub fn run_N(n: u64) -> u64 { inlined_N(n) + 1 }", "run_N"),
    "body": ("#[inline(never)] pub fn run_N(n: u64) -> u64 { (0..n).filter(|i| i % VALUE_SMALL == 0).map(|i| i ^ n).sum() }", "run_N"),
    "call": (
        "#[inline(never)] fn first_N(n: u64) -> u64 { n.wrapping_mul(n) ^ UNIQUE71 }\n#[inline(never)] fn second_N(n: u64) -> u64 { n.wrapping_mul(n) ^ UNIQUE72 }\n"
        "#[inline(never)] pub fn run_N(n: u64) -> u64 { FIRST_OR_SECOND_N(n) + 3 }\n#[inline(never)] pub fn both_N(n: u64) -> u64 { first_N(n) + second_N(n) }",
        "run_N",
    ),
    "text": ("#[inline(never)] pub fn run_N(n: u64) -> u64 { let s: &'static str = if n > 1000 { \"more\" } else { \"text number VALUE\" }; std::hint::black_box(s).len() as u64 }", "run_N"),
    "words": (
        "#[inline(never)] fn words_N(n: u64) -> &'static str { match n % 6 { 0 => \"zero\", 1 => \"one\", 2 => \"two\", 3 => \"three\", 4 => \"four VALUE\", _ => \"five\" } }\n"
        "#[inline(never)] pub fn run_N(n: u64) -> u64 { std::hint::black_box(words_N(n)).as_bytes()[2].into() }",
        "words_N",
    ),
    "table": (
        "pub static TABLE_N: [u64; 40] = { let mut table = [7; 40]; table[17] = VALUE; table };\n#[inline(never)] pub fn run_N(n: u64) -> u64 { TABLE_N[(n % 40) as usize] }",
        "run_N",
    ),
    "small_table": (
        "#[inline(never)] pub fn run_N(n: u64) -> u64 { const PROMOTED: [i32; 9] = [91, -82, 73, 64, VALUE, 46, 37, 28, 19]; i64::from(PROMOTED[(n % 9) as usize]) as u64 }",
        "run_N",
    ),
    "float": ("#[inline(never)] pub fn run_N(n: u64) -> u64 { ((n as f64) * VALUE.5) as u64 }", "run_N"),
    "variables": (
        "use std::sync::atomic::{AtomicU64 as Atomic_N, Ordering as Ordering_N};\nstatic ONE_N: Atomic_N = Atomic_N::new(5);\nstatic TWO_N: Atomic_N = Atomic_N::new(VALUE);\nstatic THREE_N: Atomic_N = Atomic_N::new(7);\n"
        "#[inline(never)] pub fn run_N(n: u64) -> u64 { ONE_N.fetch_add(n, Ordering_N::Relaxed) ^ TWO_N.fetch_add(n, Ordering_N::Relaxed) ^ THREE_N.fetch_add(n, Ordering_N::Relaxed) }",
        "run_N",
    ),
    "array_variables": (
        "use std::sync::atomic::{AtomicU32 as AtomicArray_N, Ordering as OrderingArray_N};\nstatic LEFT_N: [AtomicArray_N; 4] = [const { AtomicArray_N::new(3) }; 4];\nstatic RIGHT_N: [AtomicArray_N; 4] = [const { AtomicArray_N::new(VALUE) }; 4];\n"
        "#[inline(never)] pub fn run_N(n: u64) -> u64 { let at = (n % 4) as usize; let l = LEFT_N[at].fetch_add(1, OrderingArray_N::Relaxed); let r = RIGHT_N[at].fetch_add(2, OrderingArray_N::Relaxed); u64::from(l ^ r) }",
        "run_N",
    ),
    "thread": (
        "thread_local!(static LEVEL_N: std::cell::Cell<u64> = const { std::cell::Cell::new(VALUE) });\n#[inline(never)] pub fn run_N(n: u64) -> u64 { LEVEL_N.with(|l| { l.set(l.get() + n); l.get() }) }",
        "run_N",
    ),
    "dyn": (
        "pub struct Plain_N; pub struct Other_N; pub trait Step_N { fn step(&self, n: u64) -> u64; }\nimpl Step_N for Plain_N { #[inline(never)] fn step(&self, n: u64) -> u64 { n.wrapping_mul(VALUE) } }\n"
        "impl Step_N for Other_N { #[inline(never)] fn step(&self, n: u64) -> u64 { n.wrapping_sub(UNIQUE5) } }\n#[inline(never)] fn dyn_N(n: u64) -> Box<dyn Step_N> { if n == 77 { Box::new(Other_N) } else { Box::new(Plain_N) } }\n"
        "#[inline(never)] pub fn run_N(n: u64) -> u64 { std::hint::black_box(dyn_N(n)).step(n) }",
        "<planted::Plain_N as planted::Step_N>::step",
    ),
    "arms": (
        "#[inline(never)] pub fn run_N(n: u64) -> u64 { let mut v: Vec<u64> = (0..n).collect(); match n { 0 => v.push(1), 1 => { v.pop(); } 2 => v.clear(), 3 => v.reverse(), 4 => v.sort(), 5 => v.extend([1, VALUE]), 6 => v.truncate(3), 7 => v.insert(0, 9), _ => v.dedup() }; v.len() as u64 ^ v.first().copied().unwrap_or(3) }",
        "run_N",
    ),
    "panic": ("#[inline(never)] pub fn run_N(n: u64) -> u64 { if n == 77 { panic!(\"never {n} VALUE\") } n }", "run_N"),
    "generic": (
        "#[inline(never)] fn generic_N<T: Copy + Into<u64>>(items: &[T]) -> u64 { items.iter().fold(VALUE, |sum, item| sum.wrapping_mul(31).wrapping_add((*item).into())) }\n"
        "#[inline(never)] pub fn run_N(n: u64) -> u64 { generic_N(&[n as u8, 7]) ^ generic_N(&[n as u32, 9]) }",
        "generic_N",
    ),
    "pointers": (
        "#[inline(never)] fn up_N(n: u64) -> u64 { n + UNIQUE7 }\n#[inline(never)] fn down_N(n: u64) -> u64 { n * VALUE }\nstatic STEPS_N: [fn(u64) -> u64; 3] = [up_N, down_N, up_N];\n"
        "#[inline(never)] pub fn run_N(n: u64) -> u64 { STEPS_N[(n % 3) as usize](n) }",
        "down_N",
    ),
}
C = {
    "c_immediate": ("__attribute__((noinline)) unsigned long run_N(unsigned long n) { return n * VALUE; }", "run_N"),
    "c_variables": (
        "static int one_N = 5, two_N = VALUE, three_N = 7;\n__attribute__((noinline)) unsigned long run_N(unsigned long n) { one_N += n; two_N += one_N; three_N ^= two_N; return three_N; }",
        "run_N",
    ),
    "c_arrays": (
        "static const int left_N[4] = {1, 2, 3, 4}, right_N[4] = {5, VALUE, 7, 8};\n__attribute__((noinline)) unsigned long run_N(unsigned long n) { return left_N[n & 3] ^ right_N[(n + 1) & 3]; }",
        "run_N",
    ),
    "c_switch": (
        "extern int puts(const char *);\n__attribute__((noinline)) unsigned long run_N(unsigned long n) { switch (n) { case 0: return puts(\"a VALUE\"); case 1: return n * 3; case 2: return n ^ 0x55; case 3: return n / 7; case 4: return puts(\"b\"); case 5: return n % 11; default: return 1; } }",
        "run_N",
    ),
    "c_names": (
        "static const char *const names_N[] = {\"alpha\", \"beta VALUE\", \"gamma\", \"delta\"};\n__attribute__((noinline)) unsigned long run_N(unsigned long n) { return names_N[n & 3][n & 1]; }",
        "run_N",
    ),
    "c_double": ("__attribute__((noinline)) unsigned long run_N(unsigned long n) { return (unsigned long)((double)n * VALUE.25); }", "run_N"),
}
NAMES = [f"{kind}_{variant}" for kind in [*RUST, *C] for variant in range(VARIANTS)]


def parts(name):
    kind, variant = name.rsplit("_", 1)
    return (RUST if kind in RUST else C)[kind], kind in RUST, variant


def filled(text, name, value):
    which = "first" if value % 2 else "second"
    # A unique number in each function, because compilers merge equal functions into one.
    text = text.replace("UNIQUE", str(1000 + NAMES.index(name)))
    text = text.replace("FIRST_OR_SECOND", which).replace("VALUE_SMALL", str(value % 1000 + 2)).replace("VALUE", str(value))
    return text.replace("_N", f"_{name}")


def expected(name):
    """The name of the function that must be listed as different if the value of `name` changes."""
    (_, function), is_rust, _ = parts(name)
    function = function.replace("_N", f"_{name}")
    return function if not is_rust or function.startswith("<") else f"planted::{function}"


def changed_value(name, value):
    new = random.randrange(100_000, 1_000_000)
    # Whether the value is even selects the called function, and its last three digits select the divisor. Both must change, too.
    while new % 2 == value % 2 or new % 1000 == value % 1000:
        new = random.randrange(100_000, 1_000_000)
    return new


def write(top, values, harmless):
    rust, c = [], []
    for name in NAMES:
        (text, _), is_rust, _ = parts(name)
        (rust if is_rust else c).append(filled(text, name, values[name]))
    if "dead" in harmless:
        rust.insert(random.randrange(len(rust)), "#[inline(never)] #[unsafe(no_mangle)] pub extern \"C\" fn dead(n: u64) -> u64 { (0..n).map(|i| i / 3).sum() }")
    if "lines" in harmless:
        rust.insert(random.randrange(len(rust)), "\n// A comment.\n\n")
    if "order" in harmless:
        random.shuffle(rust)
    # C compilers compute the addresses of neighboring variables from that of one of them, so the code changes with their order.
    if "order in C" in harmless:
        random.shuffle(c)
    calls = []
    for name in NAMES:
        _, is_rust, _ = parts(name)
        calls.append(f"\"{name}\" => planted::run_{name}(n)," if is_rust else f"\"{name}\" => unsafe {{ run_{name}(n) }},")
        if name.startswith("call"):
            calls.append(f"\"both {name}\" => planted::both_{name}(n),")
    declared = "".join(f"fn run_{name}(n: u64) -> u64; " for name in NAMES if not parts(name)[1])
    files = {
        "Cargo.toml": '[workspace]\n\n[package]\nname = "planted"\nversion = "0.0.0"\nedition = "2024"\npublish = false\n\n[profile.release]\ndebug = "line-tables-only"\n',
        "src/lib.rs": "#![allow(non_camel_case_types, non_upper_case_globals, dead_code)]\n" + "\n".join(rust),
        "src/main.rs": f"unsafe extern \"C\" {{ {declared} }}\nfn main() {{\n    let n = std::env::args().count() as u64;\n    let found = match std::env::args().nth(1).unwrap_or_default().as_str() {{\n        "
        + "\n        ".join(calls)
        + "\n        _ => 0,\n    };\n    println!(\"{found}\");\n}\n",
        "c/planted.c": "\n".join(c),
    }
    for path, text in files.items():
        path = top / path
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def call(words, **more):
    done = subprocess.run(words, capture_output=True, text=True, **more)
    if done.returncode:
        sys.exit(f"{shlex.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


def build(top, options):
    """Builds the program, always at the same path, and returns the bytes of the executable."""
    call([*shlex.split(options.cc), "-O2", "-fPIE", "-c", "planted.c", "-o", "planted.o"], cwd=top / "c")
    flags = f"-Clink-arg={top}/c/planted.o {options.rustflags}"
    environment = dict(os.environ, CARGO_TARGET_DIR=str(top / "target"), RUSTFLAGS=flags)
    words = [os.environ.get("CARGO", "cargo"), "build", "--quiet", "--release", *shlex.split(options.cargo_flags)]
    # Cargo does not know that the executable depends on the object file, so touch a source.
    (top / "src/main.rs").touch()
    call([*words, *(["--target", options.target] if options.target else [])], cwd=top, env=environment)
    name = "planted.exe" if "windows" in options.target else "planted"
    return (top / "target" / (options.target or "") / "release" / name).read_bytes()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="")
    parser.add_argument("--cargo-flags", default="")
    parser.add_argument("--rustflags", default="")
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--changes", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    random.seed(options.seed)
    scratch = (options.keep or pathlib.Path(tempfile.mkdtemp(prefix="planted-"))).resolve()
    top = scratch / "planted"
    plain = {name: value for name, value in os.environ.items() if name not in {"RUSTC", "CARGO", "CARGO_TARGET_DIR", "LD_LIBRARY_PATH"}}
    example = ["cargo", "build", "--quiet", "--release", "-p", "perfcheck-code", "--example", "compare_executables", "--target-dir", str(scratch / "compare")]
    call(example, cwd=REPOSITORY, env=plain)
    compare = scratch / "compare/release/examples/compare_executables"
    values = {name: random.randrange(100_000, 1_000_000) for name in NAMES}
    write(top, values, set())
    base = scratch / "base"
    base.write_bytes(build(top, options))
    planted, overlooked, rounds, untouched, named = 0, [], 0, 0, collections.Counter()
    same = total = 0
    by_kind = collections.Counter()
    try:
        while planted < options.changes:
            rounds += 1
            # Every fifth build has only harmless changes.
            count = 0 if rounds % 5 == 0 else min(random.randint(1, options.at_once), options.changes - planted)
            changed = random.sample(NAMES, count)
            harmless = set(random.sample(["dead", "lines", "order", "order in C"], 2))
            write(top, dict(values, **{name: changed_value(name, values[name]) for name in changed}), harmless)
            candidate = scratch / "candidate"
            candidate.write_bytes(build(top, options))
            lines = call([compare, base, candidate]).splitlines()
            counts = dict(line.split(" ", 1) for line in lines[:3])
            differ = {line.split(" ", 1)[1]: line.split(" ", 1)[0] for line in lines[3:]}
            same += int(counts["same"]) + int(counts["moved"])
            total += int(counts["same"]) + int(counts["moved"]) + len([line for line in lines[3:] if not line.startswith("added")])
            for name in NAMES:
                function = expected(name)
                # On Windows, a function of the standard library, of which each thread-local variable has an instance, makes the initial value.
                instance = f"<planted::LEVEL_{name}::"
                is_found = any(one == function or one.startswith(f"{function}::<") or instance in one for one in differ)
                if name in changed:
                    planted += 1
                    by_kind[name.rsplit("_", 1)[0]] += 1
                    if not is_found or counts["reach"] == "same":
                        overlooked.append((rounds, name))
                else:
                    untouched += 1
                    if is_found:
                        named[name.rsplit("_", 1)[0]] += 1
            others = [name for name in differ if "planted::" not in name and name not in {expected(one) for one in NAMES}]
            print(f"{rounds}: {sorted(changed)} and {sorted(harmless)}: reach {counts['reach']}, {len(overlooked)} overlooked of {planted}; also differ {others[:6]} {len(others)}", flush=True)
    finally:
        if not options.keep:
            shutil.rmtree(scratch, ignore_errors=True)
    print(f"\n{planted} changes in {rounds} builds, {', '.join(f'{kind} {count}' for kind, count in by_kind.items())}")
    print(f"overlooked: {len(overlooked)} {overlooked}")
    print(f"{untouched} times a planted function did not change: {sum(named.values())} times it counted as different, {dict(named)}")
    print(f"of {total} functions of all bases, {same} counted as the same ({100 * same / total:.2f} %)")
    sys.exit(1 if overlooked else 0)


if __name__ == "__main__":
    main()
