#!/usr/bin/env python3
"""Measures the same five workloads on several harnesses. Reports seconds per verdict, and how often a change was reported for identical and for slower code.

    own         benches on the crate `perfcheck`
    criterion   Criterion benches on perfcheck's harness, which replaces Criterion
    as-is       the same benches on Criterion itself (`--harness as-is`)
    divan       divan benches, on the version of divan in the registry
    report      the Criterion benches, compared by Criterion itself: it runs both executables, one after the other, with `--save-baseline` and `--baseline`
    tango       tango benches, compared by tango itself

Makes a package with bench targets for `perfcheck`, Criterion, divan and tango. Compares the work tree with HEAD, one benchmark at a time. Each
workload is compared on all harnesses, one after the other, in a new random order each time. The words of `--work` say how the work tree differs from HEAD: not
at all (`same`), by a random order of the functions with unused functions between them (`layout`), or by that many percent more work (a number).

    tools/harnesses.py --tool target/release/cargo-perfcheck [--harnesses criterion,as-is] [--cycles 4] [--work same,2,5] [--layouts N] [--noise] [--seed 1]
        [--keep DIRECTORY]

`--layouts N` draws each order of functions from the same N orders, so that kept builds can be used again. By default, each order is new.
`--noise` runs `arena/noise.py` during every second cycle. Prints a line for each verdict and a table at the end. Before that, prints how many processor seconds
each of the first four takes to build both sides with an empty cache and to measure one benchmark. The exit code is 1 if a change was reported for code
that does the same work.
`--keep` keeps the package, the builds and the store in DIRECTORY, which must be new or empty.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import random
import re
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
# The arguments of cargo-perfcheck for each harness.
ARGUMENTS = {
    "own": ["--bench", "own"],
    "criterion": ["--bench", "criterion"],
    "as-is": ["--bench", "criterion", "--harness", "as-is"],
    "divan": ["--bench", "divan"],
}
# For each harness, the dependency of a package with benches on it.
DEPENDENCIES = {
    "own": f'perfcheck = {{ path = "{HERE.parent / "harness"}" }}',
    "criterion": 'criterion = "0.8"',
    "divan": 'divan = "0.1"',
    "tango": 'tango-bench = "0.9"',
}
# For each harness, the source of a bench target. `CALLS` stands for the code of its benchmarks.
BENCHES = {
    "own": "use perfcheck::{Suite, black_box};\n\nfn all(suite: &mut Suite) {\nCALLS}\n\nperfcheck::main!(all);\n",
    "criterion": "use criterion::{Criterion, criterion_group, criterion_main};\nuse std::hint::black_box;\n\n"
    "fn all(criterion: &mut Criterion) {\nCALLS}\n\ncriterion_group!(benches, all);\ncriterion_main!(benches);\n",
    "divan": "use std::hint::black_box;\n\nfn main() {\n    divan::main();\n}\n\nCALLS",
    "tango": "use std::hint::black_box;\nuse tango_bench::{IntoBenchmarks, benchmark_fn, tango_benchmarks};\n\n"
    "fn all() -> impl IntoBenchmarks {\n    [\nCALLS    ]\n}\n\ntango_benchmarks!(all());\n",
}
# About how many nanoseconds one call of each workload takes.
WORKLOADS = {"mix": 60, "text": 3_000, "tree": 6_000, "sort": 15_000, "parse": 50_000}
# Minimum units of work per call. Units are whole, so with fewer of them a workload could not do 1 % more.
STEPS = 100
CALLED = ("regressed", "improved")
VERDICTS = (*CALLED, "unchanged", "inconclusive")
# The words of `--work` for which the functions do the same work as in HEAD.
UNCHANGED = ("same", "layout")


def unused_functions(rng):
    """Returns functions that nothing calls. The attribute `used` keeps them in the executable, where they move other functions."""
    return [
        f"#[used]\nstatic UNUSED_{at}: fn(u64) -> u64 = unused_{at};\nfn unused_{at}(n: u64) -> u64 {{\n    "
        + f"(0..{rng.randrange(2, 99)}).fold(n, |sum, i| (sum ^ i).rotate_left(7)) / (n | 1)\n}}\n"
        for at in range(rng.randrange(1, 20))
    ]


def library(work, rng=None):
    """Returns the source of the library for a word of `--work`, which the top of this file explains."""
    more = 0 if work in UNCHANGED else float(work)
    functions = []
    for name, nanoseconds in WORKLOADS.items():
        unit, body = KINDS[name]
        count = max(STEPS, round(nanoseconds / unit))
        count = round(count * (1 + more / 100))
        body = body.replace("WORK", f"black_box({count})")
        functions.append(f"#[inline(never)]\npub fn {name}(n: u64) -> u64 {{\n    {body}\n}}\n")
    if work == "layout":
        functions += unused_functions(rng)
        rng.shuffle(functions)
    return "\n".join([HEAD, "use std::hint::black_box;\n", *functions])


def package(calls):
    """Returns the files of a package without its library. It has a bench target for each harness of `calls`, which gives the code of its benchmarks."""
    targets = "".join(f'[[bench]]\nname = "{harness}"\nharness = false\n\n' for harness in calls)
    dependencies = "".join(f"{DEPENDENCIES[harness]}\n" for harness in calls)
    return {
        "Cargo.toml": '[workspace]\n\n[package]\nname = "workloads"\nversion = "0.0.0"\nedition = "2024"\npublish = false\n\n[lib]\nbench = false\n\n'
        f"{targets}[dev-dependencies]\n{dependencies}",
        ".gitignore": "/target\n",
    } | {f"benches/{harness}.rs": BENCHES[harness].replace("CALLS", body) for harness, body in calls.items()}


def commit_package(top, files):
    """Writes a package, locks its dependencies, and makes a repository of it."""
    write(top, files)
    subprocess.run(["cargo", "generate-lockfile", "--quiet"], cwd=top, check=True)
    git(top, "init", "--quiet")
    commit(top, "Five workloads", {})


def make(top):
    calls = {
        "own": "    suite.bench(\"NAME\", |b| b.iter(|| workloads::NAME(black_box(40))));\n",
        "criterion": "    criterion.bench_function(\"NAME\", |b| b.iter(|| workloads::NAME(black_box(40))));\n",
        "divan": "#[divan::bench]\nfn NAME() -> u64 {\n    workloads::NAME(black_box(40))\n}\n\n",
        "tango": "        benchmark_fn(\"NAME\", |b| b.iter(|| workloads::NAME(black_box(40)))),\n",
    }
    calls = {harness: "".join(call.replace("NAME", name) for name in WORKLOADS) for harness, call in calls.items()}
    commit_package(top, package(calls) | {"src/lib.rs": library("same")})


def compare(tool, top, scratch, harness, workload):
    """Compares one benchmark with HEAD, and returns the message about it."""
    words = [tool, "perfcheck", workload, "--against", "HEAD", "--measure-identical", *ARGUMENTS[harness], "--message-format", "json"]
    messages, said, _ = told(words, top, scratch, ("Ready", "Fresh"))
    found = [one for one in messages if one["reason"] == "benchmark-compared"]
    if len(found) != 1 or found[0]["seconds"] is None:
        sys.exit(f"{' '.join(words)} compared {len(found)} benchmarks\n{said}")
    return found[0]


def build_bench(top, target):
    """Builds a bench target as `cargo bench` does, and returns its executable."""
    words = ["cargo", "bench", "--no-run", "--quiet", "--bench", target, "--message-format", "json"]
    built = subprocess.run(words, cwd=top, check=True, text=True, stdout=subprocess.PIPE)
    return [found for line in built.stdout.splitlines() if (found := json.loads(line).get("executable"))][-1]


def compare_by_criterion(base, candidate, scratch, workload):
    """Returns what Criterion reports about two executables. Criterion warms up for half a second and samples for two, as in arena/peers.py."""
    home = scratch / "criterion-home"
    shutil.rmtree(home, ignore_errors=True)
    flags = ["--bench", "--noplot", "--color", "never", "--warm-up-time", "0.5", "--measurement-time", "2", workload]
    said = ""
    for executable, baseline in ((base, "--save-baseline"), (candidate, "--baseline")):
        environment = dict(os.environ, CRITERION_HOME=str(home))
        done = subprocess.run([executable, *flags, baseline, "base"], env=environment, check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        said = done.stdout
    phrases = {"has regressed": "regressed", "has improved": "improved", "within noise": "unchanged", "No change": "unchanged"}
    change = json.loads((home / workload / "change" / "estimates.json").read_text())["mean"]["point_estimate"]
    found = [verdict for phrase, verdict in phrases.items() if phrase in said]
    if not found:
        sys.exit(f"Criterion compared nothing\n{said}")
    return found[0], change


def compare_by_tango(base, candidate, scratch, workload):
    """Returns what tango reports about two executables. Tango samples for two seconds, as in arena/peers.py, and marks a change with a star."""
    words = [candidate, "--color", "never", "compare", base, "-t", "2", "-f", workload, "--bench"]
    done = subprocess.run(words, cwd=scratch, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    found = re.search(rf"{workload}\s+\[.*\]\s+([-+0-9.]+)%(\*?)", done.stdout)
    if not found:
        sys.exit(f"tango compared nothing\n{done.stdout}")
    change = float(found[1]) / 100
    return "unchanged" if not found[2] else "regressed" if change > 0 else "improved", change


PEERS = {"report": ("criterion", compare_by_criterion), "tango": ("tango", compare_by_tango)}


def compare_as_peer(top, base, scratch, peer, workload):
    """Lets another tool compare one benchmark. Returns the result in the form that `compare` returns."""
    target, function = PEERS[peer]
    executables = [build_bench(directory, target) for directory in (base, top)]
    started = time.monotonic()
    verdict, change = function(*executables, scratch, workload)
    return {"verdict": verdict, "change": {"estimate": change}, "seconds": time.monotonic() - started}


def build_seconds(tool, top, scratch, harness):
    """Returns the processor seconds that it takes to build both sides (from the same sources) with an empty cache and to measure one benchmark."""
    shutil.rmtree(scratch / "cache", ignore_errors=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    compare(tool, top, scratch, harness, "mix")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@contextlib.contextmanager
def machine_noise(cycle, wanted):
    """Runs `arena/noise.py` during every second cycle, if `wanted`. Gives the name of the condition."""
    if not wanted or cycle % 2 == 0:
        yield "quiet"
        return
    noise = subprocess.Popen([sys.executable, HERE / "arena" / "noise.py", "--seed", str(cycle)], stdin=subprocess.PIPE)
    try:
        time.sleep(1)
        yield "busy"
    finally:
        noise.terminate()
        noise.wait()


def show_change(one):
    """Formats the change of a comparison, if it has one."""
    change = (one["change"] or {}).get("estimate")
    return "" if change is None else f"{100 * change:+.2f} %"


def show(results):
    """Prints the table, with a line for each condition, word of `--work` and harness."""
    names = "".join(f" {verdict:>13}" for verdict in VERDICTS)
    print(f"\n{'condition':<9} {'work':<6} {'harness':<10} {'verdicts':>8}{names} {'seconds: median':>16} {'most':>6}")
    for (condition, work, harness), found in sorted(results.items()):
        seconds = [one["seconds"] for one in found]
        verdicts = collections.Counter(one["verdict"] for one in found)
        counts = "".join(f" {verdicts[verdict]:>13}" for verdict in VERDICTS)
        print(f"{condition:<9} {work:<6} {harness:<10} {len(found):>8}{counts} {statistics.median(seconds):>16.1f} {max(seconds):>6.1f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--harnesses", default="criterion,as-is")
    parser.add_argument("--cycles", type=int, default=4)
    parser.add_argument("--work", default="same,2,5")
    parser.add_argument("--layouts", type=int)
    parser.add_argument("--noise", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    tool = str(pathlib.Path(options.tool).resolve())
    scratch = (options.keep or pathlib.Path(tempfile.mkdtemp(prefix="harnesses-"))).resolve()
    harnesses = options.harnesses.split(",")
    top = scratch / "workloads"
    if options.keep and scratch.exists() and any(scratch.iterdir()):
        sys.exit(f"{scratch} is not empty")
    rng = random.Random(options.seed)
    results = collections.defaultdict(list)
    try:
        make(top)
        base = scratch / "base"
        shutil.copytree(top, base)
        for harness in [one for one in harnesses if one in ARGUMENTS]:
            print(f"{harness}: {build_seconds(tool, top, scratch, harness):.0f} processor seconds to build and measure one benchmark", flush=True)
        for cycle in range(options.cycles):
            trials = [(work, name) for work in options.work.split(",") for name in WORKLOADS]
            rng.shuffle(trials)
            with machine_noise(cycle, options.noise) as condition:
                for work, name in trials:
                    layout = random.Random(f"{options.seed} {rng.randrange(options.layouts)}") if options.layouts else rng
                    write(top, {"src/lib.rs": library(work, layout)})
                    for harness in rng.sample(harnesses, len(harnesses)):
                        one = compare_as_peer(top, base, scratch, harness, name) if harness in PEERS else compare(tool, top, scratch, harness, name)
                        results[condition, work, harness].append(one)
                        print(f"{condition} {work:<6} {name:<6} {harness:<10} {one['verdict']:<13} {show_change(one):>9} {one['seconds']:.1f} s", flush=True)
    finally:
        if not options.keep:
            shutil.rmtree(scratch, ignore_errors=True)
        show(results)
    same = [one for (_, work, harness), found in results.items() if work in UNCHANGED and harness in ARGUMENTS for one in found]
    sys.exit(1 if any(one["verdict"] in CALLED for one in same) else 0)


if __name__ == "__main__":
    main()
