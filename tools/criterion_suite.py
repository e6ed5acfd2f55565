#!/usr/bin/env python3
"""Checks a suite of 80 Criterion benchmarks with a time budget of a minute: are benchmarks that a commit does not reach proven `unchanged` at once,
and is a benchmark found that a commit makes slower?

Creates a workspace of two crates. One of them has a library of 80 functions that take 1 to 50 microseconds (ten kinds of work in eight sizes), and a
benchmark for each on Criterion from the registry. Two commits follow, and `cargo perfcheck --against HEAD~1 --time-budget 60s` compares each with the
one before:

    untouched   changes comments, another module and the other crate, and adds a function that nothing calls; no benchmark runs code that differs
    slower      makes one function do 10 % more work

Prints how each benchmark was decided, and how many seconds that took after the build. The exit code is 1 if a benchmark that does not run the changed
code is called changed, or if the slower one is not found.

    tools/criterion_suite.py --tool target/release/cargo-perfcheck [--criterion 0.8] [--slower KIND_SIZE] [--keep DIRECTORY]
"""

import argparse
import collections
import pathlib
import shutil
import subprocess
import sys
import tempfile

from planted_code import git, told

BUDGET = "60s"
# The goal for a commit that reaches no benchmark: all are proven `unchanged` within this number of seconds after the build.
GOAL_SECONDS = 10
MORE_WORK = 1.1
# About how many nanoseconds a call of the functions of each size takes.
SIZES = (1_000, 1_700, 3_000, 5_000, 9_000, 16_000, 28_000, 50_000)

# For each kind of work: about how many nanoseconds a unit of it takes, and the body of a function of `n: u64`. `WORK` stands for the number of units.
KINDS = {
    "mix": (1.6, "(0..WORK).fold(n, |mixed, i| (mixed ^ i).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(7))"),
    "divide": (7.0, "(1..WORK + 1).fold(n << 40, |sum, i| (sum ^ (i << 41)) / (i | 3) + sum)"),
    "float": (5.0, "(1..WORK + 1).fold(n as f64, |sum, i| (sum + 1.0 / i as f64).sqrt() + sum / 3.0).to_bits()"),
    "collatz": (1.5, "(0..WORK).fold(n, |at, i| if at % 2 == 0 { at / 2 + i % 3 } else { at.wrapping_mul(3) + 1 })"),
    "sort": (15.0, "{ let mut items: Vec<u64> = (0..WORK).map(|i| scrambled(i ^ n)).collect(); items.sort_unstable(); items[items.len() / 2] }"),
    "tree": (50.0, "{ let tree: BTreeMap<u64, u64> = (0..WORK).map(|i| (scrambled(i ^ n), i)).collect(); tree.range(n..).take(9).map(|(_, value)| value).sum() }"),
    "hash": (35.0, "{ let mut seen = HashMap::<u64, u64, BuildHasherDefault<DefaultHasher>>::default(); for i in 0..WORK { *seen.entry(scrambled(i ^ n) % 97).or_default() += i; } seen[&(scrambled(n) % 97)] }"),
    "text": (30.0, "{ let text: String = (0..WORK).map(|i| if (i ^ n) % 5 == 0 { \"seven \" } else { \"word \" }).collect(); text.split(' ').map(str::len).sum::<usize>() as u64 }"),
    "parse": (25.0, "(0..WORK).map(|i| [\"17\", \"4096\", \"x\", \"281474976710656\"][((i ^ n) % 4) as usize].parse::<u64>().unwrap_or(i)).fold(0, u64::wrapping_add)"),
    "walk": (2.5, "{ let next: Vec<usize> = (0..61).map(|i| (i * 17 + n as usize) % 61).collect(); (0..WORK).fold(0_usize, |at, i| next[(at + i as usize) % 61]) as u64 }"),
}
HEAD = """\
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasherDefault;

fn scrambled(n: u64) -> u64 {
    let n = (n ^ (n >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    n ^ (n >> 27)
}
"""
UNITS = {f"{kind}_{size}": max(1, round(SIZES[size] / unit)) for kind, (unit, _) in KINDS.items() for size in range(len(SIZES))}


def library(units):
    functions = [HEAD]
    for name, count in units.items():
        _, body = KINDS[name.split("_")[0]]
        functions.append(f"#[inline(never)]\npub fn {name}(n: u64) -> u64 {{\n    {body.replace('WORK', str(count))}\n}}\n")
    return "\n".join(functions)


def write(top, files):
    for path, text in files.items():
        path = top / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def commit(top, message, files):
    write(top, files)
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "--message", message)


def make(top, criterion):
    """Creates the workspace and its first commit."""
    benches = "".join(f'    criterion.bench_function("{name}", |b| b.iter(|| suite::{name}(black_box(40))));\n' for name in UNITS)
    manifest = (
        '[workspace]\nmembers = ["other"]\n\n[package]\nname = "suite"\nversion = "0.0.0"\nedition = "2024"\npublish = false\n\n[lib]\nbench = false\n\n'
        '[[bench]]\nname = "all"\nharness = false\n\n'
        f'[dev-dependencies]\ncriterion = {{ version = "{criterion}", default-features = false }}\n'
    )
    files = {
        "Cargo.toml": manifest,
        "src/lib.rs": library(UNITS),
        "benches/all.rs": "use criterion::{Criterion, criterion_group, criterion_main};\nuse std::hint::black_box;\n\n"
        f"fn all(criterion: &mut Criterion) {{\n{benches}}}\n\ncriterion_group!(benches, all);\ncriterion_main!(benches);\n",
        "other/Cargo.toml": '[package]\nname = "other"\nversion = "0.0.0"\nedition = "2024"\n\n[lib]\nbench = false\n',
        "other/src/lib.rs": "pub fn other(n: u64) -> u64 {\n    n + 1\n}\n",
        ".gitignore": "/target\n",
    }
    write(top, files)
    subprocess.run(["cargo", "generate-lockfile", "--quiet"], cwd=top, check=True)
    git(top, "init", "--quiet")
    commit(top, "A suite", {})


def untouched(units):
    """Returns the files of the commit `untouched`: the same functions below a new comment, and code that nothing calls."""
    comment = "//! Work of several kinds.\n//!\n//! None of it is of any use.\n\npub mod more;\n\n"
    unused = "\npub fn nobody(text: &str) -> usize {\n    text.bytes().filter(u8::is_ascii_digit).count()\n}\n"
    return {
        "src/lib.rs": comment + library(units) + unused,
        "src/more.rs": "pub fn more(items: &[u64]) -> u64 {\n    items.iter().sum::<u64>() ^ 7\n}\n",
        "other/src/lib.rs": "pub fn other(n: u64) -> u64 {\n    n * 3\n}\n",
        "README.md": "# A suite\n",
    }


def compare(tool, top, scratch):
    """Runs the comparison. Returns its messages by benchmark, and how many seconds it took after the build."""
    words = [tool, "perfcheck", "--against", "HEAD~1", "--time-budget", BUDGET, "--message-format", "json"]
    messages, said, took = told(words, top, scratch, ("Ready", "Found"))
    found = {one["benchmark"]["id"]: one for one in messages if one["reason"] == "benchmark-compared"}
    if sorted(found) != sorted(UNITS):
        sys.exit(f"{' '.join(words)} compared {len(found)} of {len(UNITS)} benchmarks\n{said}")
    return found, took


def show(title, found, took):
    """Prints how the benchmarks were decided. Returns how many were proven `unchanged`."""
    how = collections.Counter((one["verdict"], one["same"] or "measured") for one in found.values())
    print(f"\n{title}: {took:.1f} s after the build")
    for (verdict, same), count in sorted(how.items()):
        print(f"  {count:>3} {verdict}, {same if same == 'measured' else f'proven: {same}'}")
    return sum(one["same"] is not None for one in found.values())


def changed(found):
    return {id for id, one in found.items() if one["verdict"] in ("regressed", "improved")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--criterion", default="0.8")
    parser.add_argument("--slower", default="tree_3", choices=sorted(UNITS), metavar="KIND_SIZE")
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    tool = str(pathlib.Path(options.tool).resolve())
    scratch = (options.keep or pathlib.Path(tempfile.mkdtemp(prefix="criterion-suite-"))).resolve()
    top = scratch / "suite"
    shutil.rmtree(top, ignore_errors=True)
    slower = UNITS | {options.slower: round(UNITS[options.slower] * MORE_WORK)}
    try:
        make(top, options.criterion)
        commit(top, "Nothing that runs", untouched(UNITS))
        found, took = compare(tool, top, scratch)
        proven = show("untouched", found, took)
        is_met = proven == len(UNITS) and took <= GOAL_SECONDS
        print(f"  goal, all proven within {GOAL_SECONDS} s: {'met' if is_met else 'missed'}")
        false = changed(found)

        commit(top, "One does more work", {"src/lib.rs": untouched(slower)["src/lib.rs"]})
        found, took = compare(tool, top, scratch)
        show(f"slower, {options.slower}", found, took)
        one = found[options.slower]
        estimate = (one["change"] or {}).get("estimate")
        print(f"  {options.slower}: {one['verdict']}{'' if estimate is None else f', {100 * estimate:+.1f} %'}")
        measured = sorted(id for id, one in found.items() if one["same"] is None and id != options.slower)
        print(f"  others that were measured: {', '.join(measured) or 'none'}")
        false |= changed(found) - {options.slower}
    finally:
        if not options.keep:
            shutil.rmtree(scratch, ignore_errors=True)
    is_found = one["verdict"] == "regressed"
    print(f"\ncalled changed and not reached: {', '.join(sorted(false)) or 'none'}; the slower one was {'found' if is_found else 'not found'}")
    sys.exit(1 if false or not is_found else 0)


if __name__ == "__main__":
    main()
