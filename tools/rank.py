#!/usr/bin/env python3
"""Ranks functions whose order is known. Counts how often `rank` tells equal functions apart, and how often it finds differences of 2 %.

Makes a package with benches on the crate `perfcheck`. Each of the five workloads of harnesses.py is there as four functions: `first` and `second` do the
same work, `two` does 2 % more, and `four` does 2 % more than `two`. The functions differ in a constant, so that the compiler does not merge them. Ranks
the four functions of each workload in each cycle. Before each cycle, the functions get a random order, with unused functions between them.

    tools/rank.py --tool target/release/cargo-perfcheck [--cycles 4] [--noise] [--seed 1] [--keep DIRECTORY] [-- ARGUMENTS]

`--noise` runs `arena/noise.py` during every second cycle. ARGUMENTS are added to the command line of `rank`. Prints a line for each ranking and a table at
the end. The exit code is 1 if equal functions were told apart.
"""

import argparse
import collections
import json
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

from criterion_suite import HEAD, KINDS, commit, write
from harnesses import HERE, WORKLOADS, machine_noise
from planted_code import git, told

# Minimum units of work per call. Units are whole, so with fewer of them the functions could not differ by 2 %.
UNITS = 500
# For each function, its work as a multiple of that of `first`.
FUNCTIONS = {"first": 1.0, "second": 1.0, "two": 1.02, "four": 1.02 * 1.02}


def library(rng):
    functions = []
    for name, nanoseconds in WORKLOADS.items():
        unit, body = KINDS[name]
        least = max(UNITS, round(nanoseconds / unit))
        for tag, (function, factor) in enumerate(FUNCTIONS.items(), 1):
            count = round(least * factor)
            functions.append(
                f"#[inline(never)]\npub fn {name}_{function}(n: u64) -> u64 {{\n    let work = black_box({count + tag}) - {tag};\n    "
                + f"{body.replace('WORK', 'work')}\n}}\n"
            )
    # The attribute `used` keeps functions in the executable that nothing calls.
    functions += [
        f"#[used]\nstatic UNUSED_{at}: fn(u64) -> u64 = unused_{at};\nfn unused_{at}(n: u64) -> u64 {{\n    "
        + f"(0..{rng.randrange(2, 99)}).fold(n, |sum, i| (sum ^ i).rotate_left(7)) / (n | 1)\n}}\n"
        for at in range(rng.randrange(1, 20))
    ]
    rng.shuffle(functions)
    return "\n".join([HEAD, "use std::hint::black_box;\n", *functions])


def make(top, rng):
    calls = "".join(
        f'    suite.bench("{name}/{function}", |b| b.iter(|| workloads::{name}_{function}(black_box(40))));\n' for name in WORKLOADS for function in FUNCTIONS
    )
    files = {
        "Cargo.toml": '[workspace]\n\n[package]\nname = "workloads"\nversion = "0.0.0"\nedition = "2024"\npublish = false\n\n[lib]\nbench = false\n\n'
        f'[[bench]]\nname = "own"\nharness = false\n\n[dev-dependencies]\nperfcheck = {{ path = "{HERE.parent / "harness"}" }}\n',
        "src/lib.rs": library(rng),
        "benches/own.rs": f"use perfcheck::{{Suite, black_box}};\n\nfn all(suite: &mut Suite) {{\n{calls}}}\n\nperfcheck::main!(all);\n",
        ".gitignore": "/target\n",
    }
    write(top, files)
    subprocess.run(["cargo", "generate-lockfile", "--quiet"], cwd=top, check=True)
    git(top, "init", "--quiet")
    commit(top, "Five workloads", {})


def rank(tool, top, scratch, workload, more):
    """Ranks the functions of a workload. Returns the message about each function, and the seconds after the build."""
    words = [tool, "perfcheck", "rank", f"{workload}/*", "--message-format", "json", *more]
    messages, said, took = told(words, top, scratch, ("Looking",))
    found = {one["label"].split("/")[1]: one for one in messages if one["reason"] == "benchmark-ranked"}
    if sorted(found) != sorted(FUNCTIONS):
        sys.exit(f"{' '.join(words)} ranked {len(found)} benchmarks\n{said}")
    return found, took


def judge(found):
    """Returns whether the equal functions have different ranks, how many of the three steps of 2 % were found, and how many were turned around."""
    ranks = {function: one["rank"] for function, one in found.items()}
    steps = [("first", "two"), ("second", "two"), ("two", "four")]
    return (
        ranks["first"] != ranks["second"],
        sum(ranks[fast] < ranks[slow] for fast, slow in steps),
        sum(ranks[fast] > ranks[slow] for fast, slow in steps),
    )


def show(results):
    print(f"\n{'condition':<9} {'groups':>6} {'equal told apart':>16} {'2 % found':>12} {'turned around':>13} {'cannot tell':>11} {'seconds: median':>16} {'most':>6}")
    for condition, found in sorted(results.items()):
        apart, steps, wrong, undecided, seconds = zip(*found)
        print(
            f"{condition:<9} {len(found):>6} {sum(apart):>16} {f'{sum(steps)} of {3 * len(found)}':>12} {sum(wrong):>13} {sum(undecided):>11} "
            f"{statistics.median(seconds):>16.1f} {max(seconds):>6.1f}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--cycles", type=int, default=4)
    parser.add_argument("--noise", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("more", nargs="*", metavar="ARGUMENTS")
    options = parser.parse_args()
    tool = str(pathlib.Path(options.tool).resolve())
    scratch = (options.keep or pathlib.Path(tempfile.mkdtemp(prefix="rank-"))).resolve()
    if options.keep and scratch.exists() and any(scratch.iterdir()):
        sys.exit(f"{scratch} is not empty")
    top = scratch / "workloads"
    rng = random.Random(options.seed)
    results = collections.defaultdict(list)
    try:
        make(top, rng)
        for cycle in range(options.cycles):
            write(top, {"src/lib.rs": library(rng)})
            with machine_noise(cycle, options.noise) as condition:
                for name in rng.sample(list(WORKLOADS), len(WORKLOADS)):
                    found, took = rank(tool, top, scratch, name, options.more)
                    apart, steps, wrong = judge(found)
                    undecided = sum(one["standing"] == "open" for one in found.values())
                    results[condition].append((apart, steps, wrong, undecided, took))
                    order = ", ".join(f"{one['rank']} {function}" for function, one in found.items())
                    print(f"{condition} {name:<6} {order:<40} {json.dumps(apart)} {steps} {took:.1f} s", flush=True)
    finally:
        if not options.keep:
            shutil.rmtree(scratch, ignore_errors=True)
        show(results)
    sys.exit(1 if any(one[0] for found in results.values() for one in found) else 0)


if __name__ == "__main__":
    main()
