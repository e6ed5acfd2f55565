#!/usr/bin/env python3
"""Would the tests notice? Plants faults in statistics, decisions, imports, pivots and limits, and runs the tests on each.

    tools/mutants.py [--seed N] [--count N] [--minutes M] [--only GLOB] [--wide] [--least SHARE]

cargo-mutants (https://mutants.rs) makes the list of faults and must be installed; this script takes a seeded sample of it, plants each fault in the
working tree, runs the tests of its package, and takes it back. With `--wide` a fault that these tests do not notice goes on to the tests of the
whole tool that are about statistics; that takes some minutes each. Faults that tools/mutants_kept.txt lists count as noticed; ends with 1 if the
share of those that are is below `--least`.
"""

import argparse
import fnmatch
import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
KEPT = ROOT / "tools/mutants_kept.txt"
# What is planted in, and the tests beside it.
PLACES = {
    "crates/stats/src/*": ["-p", "perfcheck-stats", "--lib", "--tests"],
    "crates/analysis/src/*": ["-p", "perfcheck-analysis", "--lib"],
    "src/interchange/*": ["--lib", "--test", "library", "--test", "cli", "--", "interchange", "exchange", "systems", "exchanging", "importing"],
    "src/commands/compare/pivot*": ["--lib", "--test", "cli", "--", "pivot", "commands::filters", "commands::serializers"],
}
# The tests of statistics through the whole tool.
WIDE = ["--test", "library", "--test", "cli", "--", "systems", "exchange", "commands::", "against::"]
# Seconds, longer than tests and their builds take: of a package, and of the whole tool.
TIMEOUT, WIDE_TIMEOUT = 240, 900
# Bytes: a fault may ask for all memory there is.
MEMORY = 16 << 30


def tests_of(path):
    return next((words for pattern, words in PLACES.items() if fnmatch.fnmatch(path, pattern)), None)


def faults(only):
    listed = subprocess.run(
        ["cargo", "mutants", "--list", "--json", "--diff", "--workspace"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    for fault in json.loads(listed.stdout):
        path = fault["file"]
        if tests_of(path) and fnmatch.fnmatch(path, only):
            yield fault


def planted(fault, back=False):
    command = ["git", "apply", "--whitespace=nowarn"] + (["--reverse"] if back else []) + ["-"]
    changes = fault["diff"].split("\n", 2)[2]
    diff = f"--- a/{fault['file']}\n+++ b/{fault['file']}\n{changes}"
    subprocess.run(command, cwd=ROOT, input=diff, check=True, text=True)


def notice(words, timeout=TIMEOUT):
    """Whether these tests, or the compiler, notice."""
    # What a fault makes fail is no case for later.
    variables = os.environ | {"PROPTEST_DISABLE_FAILURE_PERSISTENCE": "1"}
    running = subprocess.Popen(
        ["cargo", "test", "--quiet", "--locked", *words],
        cwd=ROOT,
        env=variables,
        text=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
    )
    try:
        _, errors = running.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        # The tests, too, and not cargo alone.
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate()
        return "timeout"
    if running.returncode == 0:
        return None
    return "unbuilt" if "could not compile" in errors else "caught"


def tried(fault, wide):
    planted(fault)
    try:
        return notice(tests_of(fault["file"])) or (notice(WIDE, WIDE_TIMEOUT) if wide else None) or "missed"
    finally:
        planted(fault, back=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--only", default="*", help="files, as a glob")
    parser.add_argument("--wide", action="store_true")
    parser.add_argument("--least", type=float, default=0.95, help="share of noticed faults below which this fails")
    said = parser.parse_args()
    if subprocess.run(["git", "diff", "--quiet"], cwd=ROOT).returncode:
        sys.exit("error: the working tree has changes; faults are planted in it")
    kept = {line.split(" # ")[0].strip() for line in KEPT.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")}
    all_faults = sorted(faults(said.only), key=lambda fault: fault["name"])
    sample = random.Random(said.seed).sample(all_faults, min(said.count, len(all_faults)))
    if said.minutes == float("inf"):
        # One place after the other: what lies below is built once.
        sample.sort(key=lambda fault: (list(PLACES.values()).index(tests_of(fault["file"])), fault["name"]))
    for words in {tuple(tests_of(fault["file"])) for fault in sample}:
        if notice(list(words)):
            sys.exit(f"error: cargo test {' '.join(words)} fails without any fault")
    began, counts = time.monotonic(), {}
    for fault in sample:
        if time.monotonic() - began > said.minutes * 60:
            break
        outcome = tried(fault, said.wide)
        if outcome == "missed" and without_line(fault["name"]) in kept:
            outcome = "kept"
        counts[outcome] = counts.get(outcome, 0) + 1
        print(f"{outcome:8} {fault['name']}", flush=True)
    tested = sum(count for outcome, count in counts.items() if outcome != "unbuilt")
    noticed, listed = counts.get("caught", 0) + counts.get("timeout", 0), counts.get("kept", 0)
    print(f"{noticed} of {tested} faults noticed, {listed} are listed in {KEPT.name}, of {len(all_faults)} there are (seed {said.seed})")
    return 0 if noticed + listed >= said.least * tested else 1


def without_line(name):
    """The name of a fault without line and column, which move."""
    path, _, rest = name.partition(":")
    return f"{path}: {rest.partition(': ')[2]}"


if __name__ == "__main__":
    sys.exit(main())
