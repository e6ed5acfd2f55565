#!/usr/bin/env python3
"""Checks whether the tests notice faults. Plants faults in statistics, decisions, imports, pivots and limits, and runs the tests with each of them.

    tools/mutants.py [--seed N] [--count N] [--minutes M] [--only GLOB] [--wide] [--least SHARE]

cargo-mutants (https://mutants.rs) lists the possible faults and must be installed. This script draws a seeded sample of them and plants all of these
at once in a copy of the last commit. A function with faults gets a body for each of them, and the variable `PLANTED_FAULT` chooses a body. So the
tests are built only once, and each fault takes only as long as the tests run. Faults that do not compile are left out, and so are faults in `const`
functions, which cannot read a variable.

With `--wide`, a fault that the tests of its package do not notice is also tried with the tests of the whole tool that are about statistics. This
takes some minutes for each fault. Faults that tools/mutants_kept.txt lists count as noticed. The exit code is 1 if the share of noticed faults is
below `--least`.
"""

import argparse
import fnmatch
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
KEPT = ROOT / "tools/mutants_kept.txt"
# The copy in which the faults are planted, and the directory of its builds.
TREE, BUILDS = ROOT / "target/mutants/tree", ROOT / "target/mutants/builds"
# The sources in which faults are planted, and for each of them the arguments of `cargo test` that run its tests.
PLACES = {
    "crates/stats/src/*": ["-p", "perfcheck-stats", "--lib", "--tests"],
    "crates/analysis/src/*": ["-p", "perfcheck-analysis", "--lib"],
    "src/interchange/*": ["--lib", "--test", "library", "--test", "cli", "--", "interchange", "exchange", "systems", "exchanging", "importing"],
    "src/commands/compare/pivot*": ["--lib", "--test", "cli", "--", "pivot", "commands::filters", "commands::serializers"],
}
# The arguments of `cargo test` for tests that check statistics through the whole tool.
WIDE = ["--test", "library", "--test", "cli", "--", "systems", "exchange", "commands::", "against::"]
# After this number of seconds, the tests of a package or of the whole tool are stopped, and the fault counts as noticed. Tests take less.
TIMEOUT, WIDE_TIMEOUT = 120, 900
# The memory of the tests is limited to this number of bytes, because a fault may make them allocate without end.
MEMORY = 16 << 30
SWITCH = """
#[doc(hidden)]
pub fn planted_fault() -> u32 {
    static FAULT: std::sync::OnceLock<u32> = std::sync::OnceLock::new();
    *FAULT.get_or_init(|| std::env::var("PLANTED_FAULT").map_or(0, |number| number.parse().expect("a number")))
}
"""


def tests_of(path):
    return next((words for pattern, words in PLACES.items() if fnmatch.fnmatch(path, pattern)), None)


def list_faults(only):
    listed = subprocess.run(["cargo", "mutants", "--list", "--json", "--workspace"], cwd=TREE, check=True, capture_output=True, text=True)
    return [fault for fault in json.loads(listed.stdout) if tests_of(fault["file"]) and fnmatch.fnmatch(fault["file"], only)]


def plant(path, text, faults):
    """Returns the source with all faults of one file, and for each fault the lines of its body and of the function with all bodies."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)

    def offsets(span):
        return tuple(starts[span[end]["line"] - 1] + span[end]["column"] - 1 for end in ("start", "end"))

    functions = {}
    for fault in faults:
        if fault["function"]:
            functions.setdefault(offsets(fault["function"]["span"]), []).append(fault)
    changed, places, at = [], {}, 0
    for (begin, end), inside in sorted(functions.items()):
        opening = body_of(text, begin, end)
        # Plant no faults in a function that is inside another one.
        if begin < at or opening is None:
            continue
        changed.append(text[at : opening + 1] + "\nmatch crate::planted_fault() {")
        bodies, start = {}, "".join(changed).count("\n")
        for fault in inside:
            first, last = offsets(fault["span"])
            body = text[opening + 1 : first] + fault["replacement"] + text[last : end - 1]
            line = "".join(changed).count("\n") + 1
            changed.append(f"\n{fault['number']} => {{{body}}}")
            bodies[fault["number"]] = range(line + 1, line + 2 + body.count("\n"))
        changed.append(f"\n_ => {{{text[opening + 1 : end - 1]}}}\n}}\n")
        whole = range(start, "".join(changed).count("\n") + 2)
        places |= {number: (path, lines, whole) for number, lines in bodies.items()}
        at = end - 1
    return "".join(changed) + text[at:], places


def body_of(text, begin, end):
    """Returns where the body of a function begins, unless the function is `const`."""
    signature = re.compile(r"[^{}]*?\bfn\b").match(text, begin, end)
    if not signature or "const" in signature.group():
        return None
    depth = 0
    for at in range(signature.end(), end):
        depth += (text[at] in "([") - (text[at] in ")]")
        if text[at] == "{" and depth == 0:
            return at
    return None


def build(words, faults):
    """Plants the faults that compile, builds the tests, and returns the numbers of those faults."""
    planted = list(faults)
    while True:
        subprocess.run(["git", "checkout", "--quiet", "--", "."], cwd=TREE, check=True)
        places = {}
        for path in sorted({fault["file"] for fault in planted}):
            text, found = plant(path, (TREE / path).read_text(encoding="utf-8"), [fault for fault in planted if fault["file"] == path])
            (TREE / path).write_text(text, encoding="utf-8")
            places |= found
        for root in sorted({(TREE / path.partition("src/")[0] / "src/lib.rs") for path, _, _ in places.values()}):
            root.write_text(root.read_text(encoding="utf-8") + SWITCH, encoding="utf-8")
        command = ["cargo", "test", "--no-run", "--locked", "--message-format", "json", *words[: words.index("--") if "--" in words else None]]
        built = subprocess.run(command, cwd=TREE, env=variables(), capture_output=True, text=True)
        if built.returncode == 0:
            return set(places)
        wrong = set()
        for line in built.stdout.splitlines():
            message = json.loads(line).get("message")
            if not isinstance(message, dict) or message["level"] != "error":
                continue
            in_bodies = {number for number, (path, body, _) in places.items() if has_span_in(message, path, body)}
            # If no single body is wrong, the bodies of a function do not fit together, such as closures of different types.
            wrong |= in_bodies or {number for number, (path, _, function) in places.items() if has_span_in(message, path, function)}
        if not wrong:
            sys.exit(f"error: cargo {' '.join(command[1:])} fails without any fault\n{built.stderr}")
        planted = [fault for fault in planted if fault["number"] in places and fault["number"] not in wrong]


def has_span_in(message, path, lines):
    """Returns whether a message of the compiler points to these lines of the file."""
    return any(span["file_name"] == path and span["line_start"] in lines and span["line_end"] in lines for span in message["spans"])


def variables(fault=0):
    # Do not let proptest store inputs that fail only because of a planted fault.
    ours = {"PLANTED_FAULT": str(fault), "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "1", "CARGO_TARGET_DIR": str(BUILDS), "RUSTFLAGS": "--cap-lints=warn"}
    return os.environ | ours


def notice(words, fault, timeout=TIMEOUT):
    """Runs these tests with a fault. Returns how they noticed it, or None if they did not."""
    running = subprocess.Popen(
        ["cargo", "test", "--quiet", "--locked", *words],
        cwd=TREE,
        env=variables(fault),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
    )
    try:
        return "caught" if running.wait(timeout) else None
    except subprocess.TimeoutExpired:
        # Kill the whole process group, because the tests would go on if only cargo were killed.
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        return "timeout"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop to plant after this time, builds not included")
    parser.add_argument("--only", default="*", help="files, as a glob")
    parser.add_argument("--wide", action="store_true")
    parser.add_argument("--least", type=float, default=0.95, help="share of noticed faults below which this fails")
    chosen = parser.parse_args()
    shutil.rmtree(TREE, ignore_errors=True)
    subprocess.run(["git", "clone", "--quiet", "--shared", str(ROOT), str(TREE)], check=True)
    kept = {line.split(" # ")[0].strip() for line in KEPT.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")}
    all_faults = sorted(list_faults(chosen.only), key=lambda fault: fault["name"])
    sample = random.Random(chosen.seed).sample(all_faults, min(chosen.count, len(all_faults)))
    for number, fault in enumerate(sample, 1):
        fault["number"] = number
    counts, missed = {}, []

    def count(outcome, fault):
        counts[outcome] = counts.get(outcome, 0) + 1
        print(f"{outcome:8} {fault['name']}", flush=True)

    left = chosen.minutes * 60
    for words in PLACES.values():
        here = [fault for fault in sample if tests_of(fault["file"]) is words]
        if not here or left <= 0:
            continue
        compiled = build(words, here)
        if notice(words, 0):
            sys.exit(f"error: cargo test {' '.join(words)} fails without any fault")
        began = time.monotonic()
        for fault in here:
            if fault["number"] not in compiled:
                count("unbuilt", fault)
            elif outcome := notice(words, fault["number"]):
                count(outcome, fault)
            elif without_line(fault["name"]) in kept:
                count("kept", fault)
            else:
                missed.append(fault)
            if time.monotonic() - began > left:
                break
        left -= time.monotonic() - began
    if chosen.wide and missed:
        build(WIDE, missed)
    for fault in missed:
        count((chosen.wide and notice(WIDE, fault["number"], WIDE_TIMEOUT)) or "missed", fault)
    tested = sum(number for outcome, number in counts.items() if outcome != "unbuilt")
    noticed, listed = counts.get("caught", 0) + counts.get("timeout", 0), counts.get("kept", 0)
    print(f"{noticed} of {tested} faults noticed, {listed} are listed in {KEPT.name}, of {len(all_faults)} there are (seed {chosen.seed})")
    return 0 if noticed + listed >= chosen.least * tested else 1


def without_line(name):
    """Returns the name of a fault without line and column, which change when the file is edited."""
    path, _, rest = name.partition(":")
    return f"{path}: {rest.partition(': ')[2]}"


if __name__ == "__main__":
    sys.exit(main())
