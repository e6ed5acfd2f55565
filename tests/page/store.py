#!/usr/bin/env python3
"""Writes made-up runs in the exchange format, for `cargo perfcheck store import`: the same bytes for the same arguments.

  store.py story           forty runs of a small workspace, as a user would have them; the last one is compared with the one before
  store.py cases           runs with every verdict, and with names that would like to be markup
  store.py many N [RUNS [SAMPLES]]
                           two runs of N benchmarks, 10 processes of 100 samples each; before them others with a history

Baselines `before` and `after` name the last two runs.
"""

import json
import math
import random
import sys

DAY = 86_400 * 10**9
START = 1_792_000_000 * 10**9
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    "a\"b'c`d&amp;e",
    "javascript:alert(3)//__proto__/constructor",
    "größe/ソート/🦀/10",
    "right\u202eleft\u001b[31mred\u0007",
    "-" * 40 + "very_long_name_without_any_place_to_break_it" * 6,
    "=cmd()|'x'!A1/@everyone/::error::x",
]


class Run:
    """One run on its way to lines."""

    def __init__(self, number, dirty=False, **build):
        self.number = number
        self.random = random.Random(f"run {number}")
        self.names = []
        self.series = {}
        self.features = {}
        self.verdicts = []
        self.failed = set()
        self.build = {
            "rustc": "rustc 1.95.0 (59807616e 2026-04-14)",
            "target": "x86_64-unknown-linux-gnu",
            "profile": "bench",
            "rustflags": "",
            **build,
        }
        self.dirty = dirty

    def measure(self, ident, ns, *, spread=0.0015, noise=0.003, processes=10, samples=100, throughput=None,
                target="bench", drift=0.0, slow=0.0, ramp=True, features=(), modes=None, verdict="unchanged",
                threshold=0.02, words=None, interrupted=0.0):
        """Adds a benchmark of `ns` nanoseconds: `spread` between processes, `noise` within one; a share of samples takes thrice as long and more."""
        rng = random.Random(f"{self.number} {ident}")
        iterations = max(1, round(1e6 / ns))
        for process in range(processes):
            centre = ns * math.exp(rng.gauss(0, spread))
            if modes and rng.random() < modes[1]:
                centre *= modes[0]

            def sample(count, place):
                time = centre * (1 + noise * rng.gammavariate(2, 0.5) + drift * place)
                if rng.random() < 0.012:
                    time *= 1 + rng.paretovariate(2.5) * 0.05
                if rng.random() < slow:
                    time *= 1.35
                if interrupted and rng.random() < interrupted:
                    time *= 2 + rng.paretovariate(1)
                return [count, max(1, round(count * time + rng.gauss(0, 12)))]

            unit = max(1, iterations // 10)
            linear = [sample(unit * (i + 1), 0) for i in range(10)] if ramp else []
            flat = [sample(iterations, i / samples) for i in range(samples)]
            warm = [iterations * 80, round(iterations * 80 * centre * 1.03)]
            self.features.setdefault((target, process), list(features))
            self.series.setdefault((target, process), []).append({
                "reason": "series",
                "benchmark": {
                    "key": {"package": "text-index", "target": target, "id": ident},
                    "version": None,
                    "throughput": throughput or {"bytes": None, "elements": None},
                    "settings": {},
                    "metric": {"kind": "time"},
                    "other_throughput": words,
                },
                "sampling": {"processes": processes, "samples": samples, "warm_up": 100_000_000,
                             "measurement": 400_000_000, "mode": "standard"},
                "noise_threshold": threshold,
                "outcome": {"measured": {"warm_up": warm, "linear": linear, "flat": flat}},
            })
        self.verdict(ident, verdict, ns, target)

    def fail(self, ident, target="bench", processes=10):
        """Adds a benchmark of which every process failed."""
        for process in range(processes):
            self.series.setdefault((target, process), []).append({
                "reason": "series",
                "benchmark": {
                    "key": {"package": "text-index", "target": target, "id": ident},
                    "version": None, "throughput": {"bytes": None, "elements": None}, "settings": {},
                    "metric": {"kind": "time"},
                },
                "sampling": {"processes": processes, "samples": 100, "warm_up": 100_000_000,
                             "measurement": 400_000_000, "mode": "standard"},
                "noise_threshold": 0.02,
                "outcome": {"failed": {
                    "side": "candidate",
                    "message": "panicked at benches/query.rs:41:9: index out of bounds: the len is 8 but the index is 8",
                }},
            })
        self.verdict(ident, "failed", None, target)

    def verdict(self, ident, word, ns, target):
        key = {"package": "text-index", "target": target, "id": ident}
        self.verdicts.append({"reason": "verdict", "benchmark": key, "verdict": word, "typical_ns": ns,
                              "change": None, "reference": None})

    def lines(self):
        started = START + self.number * DAY
        commit = "".join(self.random.choice("0123456789abcdef") for _ in range(40))
        yield {
            "reason": "run",
            "begun": {
                "started": started, "git": {"commit": commit, "branch": "main", "dirty": self.dirty},
                "environment": {
                    "host": {"cpu": "AMD Ryzen 9 7950X 16-Core Processor", "architecture": "x86_64", "os": "linux",
                             "cores": 16, "kernel": "6.8.0-45-generic" if self.number < 39 else "6.8.0-48-generic",
                             "governor": "performance", "microcode": "0xa601206", "shared": False},
                    "build": self.build,
                },
                "load": round(0.1 + self.random.random() * 0.3, 2), "seed": 1000 + self.number,
                "decision": {"noise_threshold": 0.02, "significance_level": 0.01, "confidence_level": 0.95,
                             "resamples": 100_000},
                "tool_version": "0.1.0",
            },
            "finished": started + 95 * 10**9, "acceptance": "automatic", "exit_code": 0, "pair": None, "plan": None, "source": None, "baselines": self.names,
        }
        for (target, process), series in sorted(self.series.items(), key=lambda item: item[0]):
            at = started + (process * 9 + 1) * 10**9
            pass_ns = round(148_700 * (1 + self.random.gauss(0, 0.002)))
            yield {
                "reason": "process",
                "head": {
                    "package": "text-index", "target": target, "ordinal": process, "attempt": 0,
                    "started": at, "padding_bytes": self.random.randrange(4096),
                    "harness": {"name": "perfcheck", "version": "0.1.0", "quantum_ns": 20},
                    "conduct": {"threads": 1, "cpu": 800_000_000, "working_time": 810_000_000, "involuntary_switches": 3,
                                "stolen": 0, "processor": 2, "control": {"pass": pass_ns, "spread": 260}},
                    "failure": None,
                },
                "target_facts": {"features": self.features.get((target, process), [])},
            }
            yield from series
        order = lambda verdict: (verdict["benchmark"]["target"], verdict["benchmark"]["id"])
        yield from sorted(self.verdicts, key=order)


def write(runs):
    lines = [{"reason": "perfcheck-export", "format": 1, "tool_version": "0.1.0"}]
    for run in runs:
        lines.extend(run.lines())
    lines.append({"reason": "end", "lines": len(lines) + 1})
    for line in lines:
        print(json.dumps(line, ensure_ascii=False, separators=(",", ":")))


def throughput(size, elements=False):
    return {"bytes": None if elements else size, "elements": size if elements else None}


def story(runs=40):
    found = []
    for number in range(runs):
        run = Run(number, dirty=number == runs - 1)
        last = number == runs - 1
        rng = random.Random(f"day {number}")
        today = lambda: math.exp(rng.gauss(0, 0.0012))
        # What is past is there for its values: few samples tell them.
        few = {"threshold": 0.03} | ({} if number >= runs - 2 else {"samples": 60})
        for size in (256, 1024, 4096, 16384, 65536):
            json_ns = 60 + 0.92 * size ** 1.01
            toml_ns = 140 + 2.3 * size
            step = 0.86 if number >= 9 else 1.0
            slower = 1 + 0.03 * math.log2(size / 64) if last else 1.0
            run.measure(f"parse/json/{size}", json_ns * step * slower * today(), throughput=throughput(size),
                        target="parse", slow=0.05 if last and size > 4096 else 0.0,
                        verdict="improved" if number == 9 else "unchanged", **few)
            run.measure(f"parse/toml/{size}", toml_ns * today(), throughput=throughput(size), target="parse", **few)
        for count in (100, 1000, 10_000):
            log = math.log2(count)
            faster = 0.92 - 0.011 * log if last else 1.0
            run.measure(f"index/insert/{count}", 21 * log * count ** 0.2 * faster * today(), target="index",
                        throughput=throughput(count, True), **few)
            run.measure(f"index/lookup/{count}", 9.4 * log * today(), target="index",
                        throughput=throughput(count, True), **few)
        run.measure("index/merge", 412_000 * today() * (1.013 if last else 1), target="index", noise=0.01, **few)
        run.measure("query/prefix", 1_830 * today() * (1.031 if last else 1), target="query", spread=0.012, noise=0.02, **few)
        run.measure("query/fuzzy", 88_400 * today(), target="query", spread=0.03, noise=0.05, modes=(1.12, 0.4), **few)
        run.measure("query/boolean", 12_700 * today(), target="query", words="3 terms", **few)
        run.measure("tokenize/ascii", 486 * today(), target="query", throughput=throughput(4096), **few)
        run.measure("tokenize/unicode", 2_212 * today(), target="query", throughput=throughput(4096), **few)
        if last:
            run.measure("query/phrase", 5_310 * today(), target="query", **few)
        else:
            run.measure("query/legacy", 9_120 * today(), target="query", **few)
        found.append(run)
    name(found)
    return found


def cases():
    found = []
    for number in range(32):
        run, new = Run(number), number == 31
        run.measure("verdict/unchanged", 1000, spread=0.0004, noise=0.0004, samples=60)
        if number < 30:
            found.append(run)
            continue
        run.measure("verdict/regressed", 1000 * (1.2 if new else 1))
        run.measure("verdict/improved", 1000 * (0.8 if new else 1))
        run.measure("verdict/suspect", 1000 * (1.035 if new else 1), spread=0.002)
        run.measure("verdict/inconclusive", 1000, spread=0.08, noise=0.05, processes=4)
        run.measure("verdict/incomparable", 1000, target="other", features=["simd"] if new else [])
        run.measure("verdict/one-process", 1000, processes=1)
        run.measure("verdict/one-sample", 1000, processes=3, samples=1, ramp=False)
        run.measure("host/busy", 2470, interrupted=0.15)
        if new:
            run.measure("verdict/new", 1000)
            run.fail("verdict/failed")
        else:
            run.measure("verdict/missing", 1000)
            run.measure("verdict/failed", 1000)
        for index, ident in enumerate(HOSTILE):
            run.measure(ident, 500 + index, processes=3, samples=20)
        run.measure("time/picoseconds", 0.31, processes=3, samples=20)
        run.measure("time/seconds", 2.4e9, processes=3, samples=5, ramp=False)
        found.append(run)
    name(found)
    return found


def many(count, runs=2, samples=100):
    found = []
    last = 13
    for number in range(last + 1 - runs, last + 1):
        run = Run(number)
        few = {"samples": samples} if number >= last - 1 else {"processes": 4, "samples": samples // 2, "ramp": False}
        for index in range(count):
            group, size = divmod(index, 5)
            ns = 40 * 4 ** size * (1 + group % 7 / 3)
            change = 1.1 if number == last and index % 23 == 0 else 1.0
            run.measure(f"group{group % 40:02}/function{group:03}/{4 ** (size + 3)}", ns * change,
                        throughput=throughput(4 ** (size + 3)), target=f"bench{group % 4}", **few)
        found.append(run)
    name(found)
    return found


def name(runs):
    runs[-2].names = ["before"]
    runs[-1].names = ["after"]


def main():
    match sys.argv[1:]:
        case ["story"]:
            write(story())
        case ["cases"]:
            write(cases())
        case ["many", count, *more]:
            write(many(int(count), *map(int, more)))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
