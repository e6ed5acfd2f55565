#!/usr/bin/env python3
"""Unmodified Criterion benches on perfcheck's harness and on Criterion itself: seconds a verdict, identical code called changed, slowdowns found.

Makes a package with five workloads and a benchmark for each on Criterion from the registry. Compares the work tree with HEAD, one benchmark at a time, with
`--harness perfcheck` and `--harness as-is` in turn and in an order drawn anew for each cycle. The work tree is HEAD itself (`same`), or does more work.

    tools/criterion_harness.py --tool target/release/cargo-perfcheck [--cycles 4] [--more 2,5] [--noise] [--criterion 0.8] [--seed 1] [--keep DIRECTORY]

`--noise` runs `arena/noise.py` beside every second cycle. Prints a line for each verdict and a table at the end. Ends with 1 if identical code was called
changed on perfcheck's harness. Builds count separately: the table has the CPU seconds of the first build of each harness.
"""

import argparse
import collections
import pathlib
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from criterion_suite import HEAD, KINDS, commit, write
from planted_code import git, told

HERE = pathlib.Path(__file__).resolve().parent
HARNESSES = ("perfcheck", "as-is")
# Nanoseconds that one call of each workload takes, about.
WORKLOADS = {"mix": 60, "text": 3_000, "tree": 6_000, "sort": 15_000, "parse": 50_000}
# Units of work are whole, so the smallest workloads do a multiple of this many.
STEPS = 100
CALLED = ("regressed", "improved")


def library(more):
    """The functions, with `more` percent more work."""
    functions = [HEAD, "use std::hint::black_box;\n"]
    for name, nanoseconds in WORKLOADS.items():
        unit, body = KINDS[name]
        count = max(STEPS, round(nanoseconds / unit))
        count = round(count * (1 + more / 100))
        body = body.replace("WORK", f"black_box({count})")
        functions.append(f"#[inline(never)]\npub fn {name}(n: u64) -> u64 {{\n    {body}\n}}\n")
    return "\n".join(functions)


def make(top, criterion):
    benches = "".join(f'    criterion.bench_function("{name}", |b| b.iter(|| suite::{name}(black_box(40))));\n' for name in WORKLOADS)
    manifest = (
        '[workspace]\n\n[package]\nname = "suite"\nversion = "0.0.0"\nedition = "2024"\npublish = false\n\n[lib]\nbench = false\n\n'
        f'[[bench]]\nname = "all"\nharness = false\n\n[dev-dependencies]\ncriterion = "{criterion}"\n'
    )
    files = {
        "Cargo.toml": manifest,
        "src/lib.rs": library(0),
        "benches/all.rs": "use criterion::{Criterion, criterion_group, criterion_main};\nuse std::hint::black_box;\n\n"
        f"fn all(criterion: &mut Criterion) {{\n{benches}}}\n\ncriterion_group!(benches, all);\ncriterion_main!(benches);\n",
        ".gitignore": "/target\n",
    }
    write(top, files)
    subprocess.run(["cargo", "generate-lockfile", "--quiet"], cwd=top, check=True)
    git(top, "init", "--quiet")
    commit(top, "Five workloads", {})


def compare(tool, top, scratch, harness, workload):
    """The comparison of one benchmark."""
    words = [tool, "perfcheck", "--against", "HEAD", "--measure-identical", "--harness", harness, "--exact", workload, "--message-format", "json"]
    messages, said, _ = told(words, top, scratch, ("Ready", "Fresh"))
    found = [one for one in messages if one["reason"] == "benchmark-compared"]
    if len(found) != 1:
        sys.exit(f"{' '.join(words)} compared {len(found)} benchmarks\n{said}")
    return found[0]


def build_seconds(tool, top, scratch, harness):
    """CPU seconds of building both sides, whose sources are the same, from nothing."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    compare(tool, top, scratch, harness, "mix")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def show(results):
    """The table: a line for each condition and amount of work."""
    print(f"\n{'condition':<9} {'work':<6} {'harness':<10} {'verdicts':>8} {'called':>7} {'seconds: median':>16} {'most':>6}")
    for (condition, more, harness), found in sorted(results.items()):
        seconds = [one["seconds"] for one in found]
        called = sum(one["verdict"] in CALLED for one in found)
        work = "same" if more == 0 else f"+{more} %"
        print(f"{condition:<9} {work:<6} {harness:<10} {len(found):>8} {called:>7} {statistics.median(seconds):>16.1f} {max(seconds):>6.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--criterion", default="0.8")
    parser.add_argument("--cycles", type=int, default=4)
    parser.add_argument("--more", default="2,5")
    parser.add_argument("--noise", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    tool = str(pathlib.Path(options.tool).resolve())
    scratch = (options.keep or pathlib.Path(tempfile.mkdtemp(prefix="criterion-harness-"))).resolve()
    top = scratch / "suite"
    shutil.rmtree(scratch, ignore_errors=True)
    amounts = [0] + [int(text) for text in options.more.split(",")]
    rng = random.Random(options.seed)
    results = collections.defaultdict(list)
    try:
        make(top, options.criterion)
        for harness in HARNESSES:
            print(f"{harness}: {build_seconds(tool, top, scratch, harness):.0f} CPU seconds to build and measure once", flush=True)
        for cycle in range(options.cycles):
            is_noisy = options.noise and cycle % 2 == 1
            noise = subprocess.Popen([HERE / "arena" / "noise.py", "--seed", str(cycle)], stdin=subprocess.PIPE) if is_noisy else None
            time.sleep(1 if is_noisy else 0)
            trials = [(more, name) for more in amounts for name in WORKLOADS]
            rng.shuffle(trials)
            for more, name in trials:
                write(top, {"src/lib.rs": library(more)})
                for harness in rng.sample(HARNESSES, 2):
                    one = compare(tool, top, scratch, harness, name)
                    condition = "busy" if is_noisy else "quiet"
                    results[condition, more, harness].append(one)
                    change = (one["change"] or {}).get("estimate")
                    change = "" if change is None else f"{100 * change:+.2f} %"
                    print(f"{condition} +{more} % {name:<6} {harness:<10} {one['verdict']:<13} {change:>9} {one['seconds']:.1f} s", flush=True)
            if noise:
                noise.terminate()
                noise.wait()
    finally:
        if not options.keep:
            shutil.rmtree(scratch, ignore_errors=True)
    show(results)
    own = [one for (_, more, harness), found in results.items() if more == 0 and harness == "perfcheck" for one in found]
    sys.exit(1 if any(one["verdict"] in CALLED for one in own) else 0)


if __name__ == "__main__":
    main()
