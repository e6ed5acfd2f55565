#!/usr/bin/env python3
"""Ranks functions whose order is known. Counts how often `rank` tells equal functions apart, and how often it finds differences of 2 %.

Makes a package with benches on the crate `perfcheck`. Each of the five workloads of harnesses.py is there as six functions: two do the same work, two do
2 % more, and two do 2 % more than these. The functions differ in a constant, so that the compiler does not merge them. Ranks the six functions of each
workload in each cycle. Before each cycle, the functions get a random order, with unused functions between them. So each ranking has three pairs of equal
functions, and eight pairs whose work differs by 2 %.

    tools/rank.py --tool target/release/cargo-perfcheck [--cycles 4] [--peers criterion,divan] [--peer-cycles N] [--noise] [--seed 1] [--keep DIRECTORY]
        [-- ARGUMENTS]

`--peers` gives the package the same benches on Criterion and on divan. In each of the first `--peer-cycles` cycles (by default, in all of them), these also
measure each workload, by `cargo bench` with their default settings. For each workload, `rank` and its peers run one after the other, in a random order.
The peers print times but no ranks. People read them so:

    criterion   prints an interval for each function: one is faster if its interval ends before the other's begins
    divan       prints a median for each function: one is faster if the other's median is larger by 1 % or more

Some people compare nothing but values. For them, the table counts how often the values of the equal functions differ by 1 % or more. The value is the middle
one of Criterion's interval, divan's median, and `value_ns` in the messages of `rank`.

`--noise` runs `arena/noise.py` during every second cycle. ARGUMENTS are added to the command line of `rank`. Prints a line for each ranking and a table at
the end. In a line, each function has its rank, and the difference of its value from the smallest one. The exit code is 1 if `rank` told equal functions apart.
"""

import argparse
import collections
import dataclasses
import itertools
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from criterion_suite import HEAD, KINDS, write
from harnesses import WORKLOADS, build_bench, commit_package, machine_noise, package, unused_functions
from planted_code import told

# Minimum units of work per call. Units are whole, so with fewer of them the functions could not differ by 2 %.
UNITS = 500
# The functions that do the same work, from the least work to the most. Each does 2 % more than the ones before it.
EQUAL = (("least", "least_again"), ("middle", "middle_again"), ("most", "most_again"))
# For each function, its work as a multiple of the least.
FUNCTIONS = {function: 1.02**level for level, pair in enumerate(EQUAL) for function in pair}
# The pairs whose work differs by 2 %, each as the faster function and the slower one.
STEPS = [(fast, slow) for less, more in itertools.pairwise(EQUAL) for fast in less for slow in more]
# People who read values take those that differ by this ratio for different.
VISIBLE_RATIO = 1.01
NANOSECONDS = {"ps": 1e-3, "ns": 1.0, "µs": 1e3, "ms": 1e6, "s": 1e9}


@dataclasses.dataclass(frozen=True)
class Ranking:
    """How a tool ranks the functions of a workload."""
    # The value of each function, in nanoseconds.
    values: dict
    ranks: dict
    # For each function, the functions that are faster.
    faster: dict
    # How many functions are neither told apart from the reference nor shown to be as fast. Only `rank` says this.
    undecided: int | None
    # The seconds after the build.
    seconds: float

    def count_equal_told_apart(self):
        return sum(one in self.faster[other] or other in self.faster[one] for one, other in EQUAL)

    def count_equal_visible(self):
        values = [sorted((self.values[one], self.values[other])) for one, other in EQUAL]
        return sum(is_visible(smaller, larger) for smaller, larger in values)

    def count_found(self):
        return sum(fast in self.faster[slow] for fast, slow in STEPS)

    def count_turned(self):
        return sum(slow in self.faster[fast] for fast, slow in STEPS)

    def show_order(self):
        """Returns the functions with their ranks, and with the differences of their values from the smallest one."""
        least = min(self.values.values())
        order = sorted(FUNCTIONS, key=lambda function: (self.ranks[function], self.values[function]))
        return ", ".join(f"{self.ranks[function]} {function} {100 * (self.values[function] / least - 1):+.2f} %" for function in order)


@dataclasses.dataclass(frozen=True)
class Times:
    """The times in a peer's report of a function, in nanoseconds: the ends and the middle of an interval, or minimum, median and maximum."""
    low: float
    middle: float
    high: float


def is_visible(value, larger):
    return larger >= VISIBLE_RATIO * value


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
    functions += unused_functions(rng)
    rng.shuffle(functions)
    return "\n".join([HEAD, "use std::hint::black_box;\n", *functions])


def make(top, rng, peers):
    calls = {
        "own": "".join(
            f'    suite.bench("{name}/{function}", |b| b.iter(|| workloads::{name}_{function}(black_box(40))));\n' for name in WORKLOADS for function in FUNCTIONS
        ),
        "criterion": "".join(
            f'    let mut group = criterion.benchmark_group("{name}");\n'
            + "".join(f'    group.bench_function("{function}", |b| b.iter(|| workloads::{name}_{function}(black_box(40))));\n' for function in FUNCTIONS)
            + "    group.finish();\n"
            for name in WORKLOADS
        ),
        "divan": "".join(
            f"mod {name} {{\n    use super::black_box;\n\n"
            + "".join(f"    #[divan::bench]\n    fn {function}() -> u64 {{\n        workloads::{name}_{function}(black_box(40))\n    }}\n\n" for function in FUNCTIONS)
            + "}\n\n"
            for name in WORKLOADS
        ),
    }
    commit_package(top, package({harness: calls[harness] for harness in ("own", *peers)}) | {"src/lib.rs": library(rng)})


def rank(tool, top, scratch, workload, more):
    """Ranks the functions of a workload with `rank`."""
    words = [tool, "perfcheck", "rank", f"{workload}/*", "--bench", "own", "--message-format", "json", *more]
    messages, said, took = told(words, top, scratch, ("Looking",))
    found = {one["label"].split("/")[1]: one for one in messages if one["reason"] == "benchmark-ranked"}
    ranks = {function: one["rank"] for function, one in found.items() if one["rank"] is not None}
    if sorted(ranks) != sorted(FUNCTIONS):
        sys.exit(f"{' '.join(words)} ranked {len(ranks)} benchmarks\n{said}")
    faster = {function: {other for other in FUNCTIONS if ranks[other] < ranks[function]} for function in FUNCTIONS}
    undecided = sum(one["standing"] == "open" for one in found.values())
    return Ranking({function: one["value_ns"] for function, one in found.items()}, ranks, faster, undecided, took)


def read_times(*cells):
    """Reads times such as `1.25 µs`."""
    return Times(*(float(value) * NANOSECONDS[unit] for value, unit in (cell.split() for cell in cells)))


def read_criterion(report):
    """Reads lines such as `mix/first   time:   [97.1 ns 97.3 ns 97.6 ns]`."""
    lines = re.findall(r"^\w+/(\w+) +time: +\[(.*)\]$", report, re.MULTILINE)
    return {function: read_times(*re.findall(r"[0-9.]+ \w+", interval)) for function, interval in lines}


def read_divan(report):
    """Reads lines such as `├─ first   97.1 ns   │ 121.1 ns   │ 97.6 ns   │ 98.1 ns   │ 100   │ 3200`. They have minimum, maximum, median and mean."""
    found = {}
    for function, line in re.findall(r"[├╰]─ (\w+) +(.*)", report):
        least, most, median, *_ = (cell.strip() for cell in line.split("│"))
        # A line without times names a workload.
        if median:
            found[function] = read_times(least, median, most)
    return found


def is_interval_below(one, other):
    return one.high < other.low


def is_median_below(one, other):
    return is_visible(one.middle, other.middle)


# For each peer: what stands between the names of workload and function, how its report is read, and whether a function is faster than another.
PEERS = {"criterion": ("/", read_criterion, is_interval_below), "divan": ("::", read_divan, is_median_below)}


def rank_by_peer(top, peer, workload):
    """Ranks the functions of a workload by the report of a peer."""
    between, read, is_faster = PEERS[peer]
    build_bench(top, peer)
    words = ["cargo", "bench", "--bench", peer, "--", workload + between]
    started = time.monotonic()
    done = subprocess.run(words, cwd=top, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    took = time.monotonic() - started
    found = read(done.stdout)
    if done.returncode != 0 or sorted(found) != sorted(FUNCTIONS):
        sys.exit(f"{' '.join(words)} measured {len(found)} benchmarks\n{done.stdout}{done.stderr}")
    faster = {function: {other for other in FUNCTIONS if is_faster(found[other], found[function])} for function in FUNCTIONS}
    ranks = {function: 1 + len(others) for function, others in faster.items()}
    return Ranking({function: times.middle for function, times in found.items()}, ranks, faster, None, took)


def show(results):
    print(
        f"\n{'condition':<9} {'ranker':<9} {'groups':>6} {'equal told apart':>16} {'values 1 % apart':>16} {'2 % found':>12} {'turned around':>13} "
        f"{'cannot tell':>11} {'seconds: median':>16} {'most':>6}"
    )
    for (condition, ranker), found in sorted(results.items()):
        pairs = len(EQUAL) * len(found)
        apart = f"{sum(one.count_equal_told_apart() for one in found)} of {pairs}"
        visible = f"{sum(one.count_equal_visible() for one in found)} of {pairs}"
        steps = f"{sum(one.count_found() for one in found)} of {len(STEPS) * len(found)}"
        turned = sum(one.count_turned() for one in found)
        undecided = "-" if ranker in PEERS else sum(one.undecided for one in found)
        seconds = [one.seconds for one in found]
        print(
            f"{condition:<9} {ranker:<9} {len(found):>6} {apart:>16} {visible:>16} {steps:>12} {turned:>13} "
            f"{undecided:>11} {statistics.median(seconds):>16.1f} {max(seconds):>6.1f}"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--cycles", type=int, default=4)
    parser.add_argument("--peers", default="", help="criterion,divan or one of them")
    parser.add_argument("--peer-cycles", type=int)
    parser.add_argument("--noise", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("more", nargs="*", metavar="ARGUMENTS")
    options = parser.parse_args()
    peers = [peer for peer in options.peers.split(",") if peer]
    if not set(peers) <= set(PEERS):
        parser.error(f"the peers are {', '.join(PEERS)}")
    peer_cycles = options.cycles if options.peer_cycles is None else options.peer_cycles
    tool = str(pathlib.Path(options.tool).resolve())
    scratch = (options.keep or pathlib.Path(tempfile.mkdtemp(prefix="rank-"))).resolve()
    if options.keep and scratch.exists() and any(scratch.iterdir()):
        sys.exit(f"{scratch} is not empty")
    top = scratch / "workloads"
    rng = random.Random(options.seed)
    results = collections.defaultdict(list)
    try:
        make(top, rng, peers)
        for cycle in range(options.cycles):
            write(top, {"src/lib.rs": library(rng)})
            tools = ["rank", *(peers if cycle < peer_cycles else [])]
            with machine_noise(cycle, options.noise) as condition:
                for name in rng.sample(list(WORKLOADS), len(WORKLOADS)):
                    for ranker in rng.sample(tools, len(tools)):
                        one = rank_by_peer(top, ranker, name) if ranker in PEERS else rank(tool, top, scratch, name, options.more)
                        results[condition, ranker].append(one)
                        print(
                            f"{condition} {name:<6} {ranker:<9} {one.show_order():<110} equal apart: {one.count_equal_told_apart()} "
                            f"2 % found: {one.count_found()} turned: {one.count_turned()} {one.seconds:.1f} s",
                            flush=True,
                        )
    finally:
        if not options.keep:
            shutil.rmtree(scratch, ignore_errors=True)
        show(results)
    ours = [one for (_, ranker), found in results.items() if ranker not in PEERS for one in found]
    sys.exit(1 if any(one.count_equal_told_apart() for one in ours) else 0)


if __name__ == "__main__":
    main()
