#!/usr/bin/env python3
"""Checks whether a change of machine code is ever overlooked, and how many benchmarks that it does not reach are proven `unchanged`.

Creates a workspace of two crates in which each benchmark runs code of its own. Plants random changes in it, several at a time, and compares it with
its first commit (`cargo perfcheck --against HEAD`). A change can be in code that is inlined, in a generic function, behind a trait object, in a
dependency, in a constant, in a string, in a static table or in a table of strings. Other changes affect no code that runs: a comment, a function that
nothing calls, or code at other lines. The exit code is 1 if a benchmark that runs changed code was called `unchanged` without a measurement.

    tools/planted_code.py --tool target/release/cargo-perfcheck [--changes 200] [--at-once 5] [--seed 1] [--keep DIRECTORY]
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
VARIANTS = 4

# For each kind of code: its text in the library, its text in the dependency, and the body of its benchmark. A change replaces `VALUE`.
KINDS = {
    "inlined": ("#[inline(always)] pub fn inlined_N(n: u64) -> u64 { n.rotate_left(3) ^ VALUE }", "", "planted::inlined_N(n)"),
    "generic": (
        "pub fn generic_N<T: Copy + Into<u64>>(items: &[T]) -> u64 { items.iter().fold(VALUE, |sum, item| sum.wrapping_mul(31).wrapping_add((*item).into())) }",
        "",
        "planted::generic_N(&[n as u8, 7]) ^ planted::generic_N(&[n as u32, 9])",
    ),
    "dyn": (
        "pub struct Plain_N; pub struct Other_N; pub trait Step_N { fn step(&self, n: u64) -> u64; }\n"
        "impl Step_N for Plain_N { fn step(&self, n: u64) -> u64 { n.wrapping_mul(VALUE) } }\n"
        "impl Step_N for Other_N { fn step(&self, n: u64) -> u64 { n.wrapping_sub(5) } }\n"
        "pub fn dyn_N(n: u64) -> Box<dyn Step_N> { if n == 77 { Box::new(Other_N) } else { Box::new(Plain_N) } }",
        "",
        "planted::dyn_N(n).step(n)",
    ),
    "dependency": (
        "pub fn dependency_N(n: u64) -> u64 { beneath::deep_N(n) + 1 }",
        "#[inline(never)] pub fn deep_N(n: u64) -> u64 { n.wrapping_add(VALUE) }",
        "planted::dependency_N(n)",
    ),
    "constant": (
        "pub const CONSTANT_N: f64 = VALUE.5;\n#[inline(never)] pub fn constant_N(n: u64) -> f64 { (n as f64) * CONSTANT_N }",
        "",
        "planted::constant_N(n)",
    ),
    "text": (
        "#[inline(never)] pub fn text_N(n: u64) -> &'static str { if n > 1000 { \"more\" } else { \"text number VALUE\" } }",
        "",
        "planted::text_N(n).len()",
    ),
    "table": (
        "pub static TABLE_N: [u64; 40] = { let mut table = [7; 40]; table[17] = VALUE; table };\n"
        "#[inline(never)] pub fn table_N(n: u64) -> u64 { TABLE_N[(n % 40) as usize] }",
        "",
        "planted::table_N(n)",
    ),
    "words": (
        "#[inline(never)] pub fn words_N(n: u64) -> &'static str { match n % 6 { 0 => \"zero\", 1 => \"one\", 2 => \"two\", 3 => \"three\", 4 => \"four VALUE\", _ => \"five\" } }",
        "",
        "planted::words_N(n).len()",
    ),
}
NAMES = [f"{kind}_{variant}" for kind in KINDS for variant in range(VARIANTS)]


def write(top, values, harmless):
    """Writes the workspace with these values. `harmless` names the kinds of changes to add that affect no code that runs."""
    library, beneath, benches = [], [], []
    for name in NAMES:
        kind, variant = name.split("_")
        for parts, text in zip((library, beneath, benches), KINDS[kind]):
            parts.append(text.replace("_N", f"_{variant}").replace("VALUE", str(values[name])))
        benches[-1] = f'    suite.bench("{name}", |b| {{ let n = black_box(40_u64); b.iter(|| {benches[-1]}) }});'
    if "dead" in harmless:
        library.insert(random.randrange(len(library)), "#[inline(never)] pub fn dead(n: u64) -> u64 { n / 3 }")
    if "comment" in harmless:
        beneath.insert(0, "// A comment.\n\n")
    if "lines" in harmless:
        library.insert(random.randrange(len(library)), "\n\n\n")
    if "order" in harmless:
        random.shuffle(library)
    files = {
        "Cargo.toml": '[workspace]\nmembers = ["beneath"]\n\n[package]\nname = "planted"\nversion = "0.0.0"\nedition = "2024"\npublish = false\n\n[lib]\nbench = false\n\n'
        '[[bench]]\nname = "all"\nharness = false\n\n[dependencies]\nbeneath = { path = "beneath" }\n\n'
        f"[dev-dependencies]\nperfcheck = {{ path = {json.dumps(str(REPOSITORY / 'harness'))} }}\n",
        "beneath/Cargo.toml": '[package]\nname = "beneath"\nversion = "0.0.0"\nedition = "2024"\n\n[lib]\nbench = false\n',
        "beneath/src/lib.rs": "\n".join(beneath),
        "src/lib.rs": "#![allow(non_camel_case_types)]\n" + "\n".join(library),
        "benches/all.rs": "use std::hint::black_box;\n\nfn all(suite: &mut perfcheck::Suite) {\n" + "\n".join(benches) + "\n}\n\nperfcheck::main!(all);\n",
        ".gitignore": "/target\n",
    }
    for path, text in files.items():
        path = top / path
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def git(top, *words):
    identity = ["-c", "user.name=planted", "-c", "user.email=planted@localhost"]
    subprocess.run(["git", *identity, *words], cwd=top, check=True, capture_output=True)


def private_environment(scratch):
    """Returns environment variables with which the tool keeps its store and its cache in `scratch`."""
    return dict(os.environ, XDG_DATA_HOME=str(scratch / "data"), XDG_CACHE_HOME=str(scratch / "cache"))


def told(words, top, scratch, marks):
    """Runs the tool. Returns its JSON messages, its other output, and the seconds since its last line of output that begins with one of `marks`."""
    since, said = None, []
    with tempfile.TemporaryFile("w+") as written:
        process = subprocess.Popen(words, cwd=top, env=private_environment(scratch), stdout=written, stderr=subprocess.PIPE, text=True)
        for line in process.stderr:
            said.append(line)
            if line.lstrip().startswith(marks):
                since = time.monotonic()
        process.wait()
        took = time.monotonic() - (since or time.monotonic())
        written.seek(0)
        return [json.loads(line) for line in written], "".join(said), took


def compare(tool, top, scratch):
    """Compares the workspace with its commit. Returns for each benchmark why it was not measured, if it was not, and the seconds after the build."""
    words = [tool, "perfcheck", "--against", "HEAD", "--rounds", "5", "--message-format", "json"]
    messages, said, took = told(words, top, scratch, ("Ready", "Found"))
    found = {one["benchmark"]["id"]: one["same"] for one in messages if one["reason"] == "benchmark-compared"}
    if sorted(found) != sorted(NAMES):
        sys.exit(f"{' '.join(words)} compared {len(found)} of {len(NAMES)} benchmarks\n{said}")
    return found, took


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--changes", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    random.seed(options.seed)
    tool = str(pathlib.Path(options.tool).resolve())
    scratch = options.keep or pathlib.Path(tempfile.mkdtemp(prefix="planted-"))
    top = scratch / "planted"
    values = {name: random.randrange(100_000, 1_000_000) for name in NAMES}
    write(top, values, set())
    git(top, "init", "--quiet")
    git(top, "add", ".")
    git(top, "commit", "--quiet", "-m", "base")
    planted, overlooked, untouched, proven, seconds, rounds = 0, [], 0, {}, 0.0, 0
    by_kind = dict.fromkeys(KINDS, 0)
    try:
        while planted < options.changes:
            rounds += 1
            # Every fifth time, change no code that runs.
            count = 0 if rounds % 5 == 0 else min(options.at_once, options.changes - planted)
            changed = random.sample(NAMES, count)
            harmless = set(random.sample(["dead", "comment", "lines", "order"], 2))
            new = dict(values, **{name: random.randrange(100_000, 1_000_000) for name in changed})
            write(top, new, harmless)
            found, took = compare(tool, top, scratch)
            seconds += took
            for name in NAMES:
                if name in changed:
                    planted += 1
                    by_kind[name.split("_")[0]] += 1
                    if found[name] is not None:
                        overlooked.append((rounds, name, found[name]))
                else:
                    untouched += 1
                    proven[found[name]] = proven.get(found[name], 0) + 1
            print(f"{rounds}: {sorted(changed)} and {sorted(harmless)}, {took:.1f} s: {len(overlooked)} overlooked of {planted}; untouched {proven}", flush=True)
    finally:
        if not options.keep:
            shutil.rmtree(scratch, ignore_errors=True)
    print(f"\n{planted} changes in {rounds} builds, {', '.join(f'{kind} {count}' for kind, count in by_kind.items())}")
    print(f"overlooked: {len(overlooked)} {overlooked}")
    named = {None: "measured", "executable": "the same executable", "reachable": "proven without running", "run": "proven by running"}
    print(f"{untouched} times a benchmark that no change reaches: " + ", ".join(f"{count} {named[same]}" for same, count in proven.items()))
    print(f"{seconds / rounds:.1f} s after the build on average, {len(NAMES)} benchmarks")
    sys.exit(1 if overlooked else 0)


if __name__ == "__main__":
    main()
