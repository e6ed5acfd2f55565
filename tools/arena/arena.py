#!/usr/bin/env python3
"""Measures how reliably `cargo perfcheck --against REV` distinguishes slower code from equal code, on a quiet machine and under background load.

    arena.py REPO RESULTS.jsonl [--rows identical,plus2] [--trials N] [--conditions quiet,noisy] [--label NAME] [-- ARGUMENT...]

A trial is one command as a user would type it. The work tree of REPO (see make_repo.py) is at one tag, and `--against` names another. Each
benchmark of the trial gives one verdict, which is appended to RESULTS as a line of JSON. The trials of all rows and conditions are mixed in a
seeded random order and spread evenly over time, so that drift of the machine favors none of them. If the script is run again, it continues where
it stopped. The samples stay in the store, which is named as RESULTS but with the suffix .db. ARGUMENTs are passed to every command. Give such
series a --label.
"""

import argparse
import dataclasses
import hashlib
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOOL = HERE.parents[1] / "target" / "release" / "cargo-perfcheck"
CONDITIONS = ("quiet", "noisy")
MAIN, MORE, SLOW_PATH = ("alu", "sort", "alloc"), ("mem", "hash", "parse"), ("slow_path",)
CODE = ("tree", "dyn", "graph", "utf8", "format", "hot", "words")
# The kinds of benchmarks in the workspace `hard`, which are its bench targets, with the names of their benchmarks.
HARD = {
    "threads": ("spawn2", "spawn4", "pool", "channels", "rayon", "tokio"),
    "millis": ("texts1", "texts8", "blocks8", "texts50"),
    "memory": ("graph", "table64", "chase16", "chase64"),
    "waits": ("tokio1", "socket", "file"),
}
MANY = tuple(f"m{number:02}" for number in range(83))
SLOW_ONE = "m36"
TARGETS = {"main": MAIN, "more": MORE, "code": CODE, "slow_path": SLOW_PATH, "many": MANY} | HARD
FAILURES_IN_A_ROW = 3


@dataclasses.dataclass(frozen=True)
class Row:
    """A row of the table. It says which tag is in the work tree, which tag it is compared with, and how often."""
    tree: str
    against: str
    # Number of commands per condition. A full series has about 500 verdicts of the row `identical` and 200 of other rows.
    trials: int
    arguments: tuple = ()
    targets: tuple = ("main",)
    # Only benchmarks whose names begin with one of these words are measured. If there are none, all are measured.
    filters: tuple = ()
    # Whether each benchmark is measured by a command of its own, because a goal limits the time of a single benchmark.
    alone: bool = False
    conditions: tuple = CONDITIONS

    def benchmarks(self, target):
        """Returns the benchmark that each command measures, or None for a command that measures all of them."""
        wanted = [name for name in TARGETS[target] if not self.filters or name.startswith(self.filters)]
        return wanted if self.alone else [None]


def rows(layouts, links, versions, moved):
    two_per_cent = ("--noise-threshold", "2%")
    hard = [(two_per_cent, ("threads", "waits")), ((), ("millis",)), ((), ("memory",))]
    slower = ("slow-5", "slow-2", "slow-3")
    table = {
        "identical": Row("base", "base", 84, ("--measure-identical",)),
        "plus2": Row("slow-2", "base", 34),
        "plus5": Row("slow-5", "base", 34),
        "minus5": Row("fast-5", "base", 34),
        "plus1": Row("slow-1", "base", 34, ("--noise-threshold", "0.5%", "--time-budget", "10s"), alone=True),
        "slow-path": Row("slow-path", "slow-path-base", 100, ("--time-budget", "10s"), ("slow_path",)),
        "slow-path-same": Row("slow-path-base", "slow-path-base", 34, ("--measure-identical",), ("slow_path",)),
        "same": Row("same", "base", 2),
        "layout": [Row(tag, "base", 4) for tag in layouts],
        "links": [Row(tag, "links-00", 2, (), ("code",)) for tag in links if tag != "links-00"],
        "versions": [Row(tag, "base", 2) for tag in versions],
        # The candidate does more work and also has another code layout than the base.
        "moved": [Row(tag, "base", 2, (), ("code",)) for tag in moved],
        "code-plus2": Row("slow-2", "base", 34, (), ("code",)),
        "code-plus5": Row("slow-5", "base", 34, (), ("code",)),
        # Benchmarks of the kinds `threads` and `waits` get a noise threshold of 2 %, as a user might set it for them.
        "hard-same": [Row("base", "base", 20, ("--measure-identical", *threshold), targets) for threshold, targets in hard],
        "hard-slower": [Row(tag, "base", 20, threshold, targets) for (threshold, targets), tag in zip(hard, slower)],
        # The time budget leaves each benchmark a second or less.
        "budget-50": Row("one-10", "base", 10, ("--time-budget", "60s", "--measure-identical"), ("many",), ("m0", "m1", "m2", "m3", "m4")),
        "budget-83": Row("one-10", "base", 10, ("--time-budget", "60s", "--measure-identical"), ("many",)),
        # The same ten benchmarks are measured in one command, and then each in a command of its own.
        "ten": Row("base", "base", 5, ("--measure-identical",), ("many",), ("m0",)),
        "ten-alone": Row("base", "base", 5, ("--measure-identical",), ("many",), ("m0",), alone=True),
        "edited": [Row(f"edited-{percent}", "base", 10, (), ("code",)) for percent in (2, 5, 10)],
    }
    return {name: entry if isinstance(entry, list) else [entry] for name, entry in table.items()}


FULL_SERIES = ("identical", "plus2", "plus5", "minus5", "plus1", "slow-path", "same", "layout")


@dataclasses.dataclass(frozen=True)
class Trial:
    """One command that is run, with the row and the condition to which it belongs."""
    label: str
    name: str
    row: Row
    condition: str
    target: str
    benchmark: str | None
    number: int

    def key(self):
        parts = (self.label, self.name, self.row.tree, self.row.against, self.condition, self.target, self.benchmark or "all", self.number)
        return "/".join(map(str, parts))

    def seed(self):
        return int.from_bytes(hashlib.sha256(self.key().encode()).digest()[:6])


def schedule(options, planted):
    """Returns all trials in their order. The trials of a row are spread evenly over the series, each with a random offset."""
    chosen = options.pairs.split(",") if options.pairs else None
    moved = sorted(tag for tag in planted["slow_per_mille"] if tag.startswith("moved-"))
    pairs = (sorted(planted["layouts"]), planted["links"], planted["versions"], moved)
    table, placed = rows(*(chosen or tags for tags in pairs)), []
    rng = random.Random(f"schedule/{options.seed}")
    for name in options.rows.split(","):
        if name not in table:
            raise SystemExit(f"arena.py: no row {name!r}; there are {', '.join(table)}")
        for row in table[name]:
            for target in options.targets.split(",") if options.targets and row.targets == ("main",) else row.targets:
                for benchmark in row.benchmarks(target):
                    for condition in (c for c in row.conditions if c in options.conditions.split(",")):
                        count = options.trials or row.trials
                        for number in range(count):
                            trial = Trial(options.label, name, row, condition, target, benchmark, number)
                            placed.append(((number + rng.random()) / count, trial))
    return [trial for _, trial in sorted(placed, key=lambda pair: pair[0])]


class Results:
    """The file of verdicts. All lines of a trial are written at once. If a crash has left an incomplete line at the end, it is removed."""

    def __init__(self, path):
        self.path, self.done = path, set()
        if path.exists():
            text = path.read_bytes()
            whole = text[:text.rfind(b"\n") + 1]
            if whole != text:
                path.write_bytes(whole)
            lines = [json.loads(line) for line in whole.splitlines()]
            self.done = {line["trial"] for line in lines if line["verdict"] != "error"}

    def add(self, lines):
        with self.path.open("ab") as file:
            file.write("".join(json.dumps(line) + "\n" for line in lines).encode())


class Noise:
    """Creates background load within a `with` block. The load also ends if this process is killed, because its standard input is then closed."""

    def __init__(self, seed):
        self.seed = seed

    def __enter__(self):
        command = [sys.executable, str(HERE / "noise.py"), "--seed", str(self.seed)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE)
        time.sleep(0.5)

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


def truth(row, planted, benchmark):
    """Returns the planted change of the work in percent. Returns None for slow windows, which no single number describes."""
    if row.tree == "slow-path":
        return None
    if row.tree == "one-10" and benchmark != SLOW_ONE:
        return 0.0
    tree, against = (planted["slow_per_mille"].get(tag, 1000) for tag in (row.tree, row.against))
    return round(100 * (tree / against - 1), 3)


def checkout(repo, tag):
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for command in (["checkout", "--quiet", "--force", "--detach", tag], ["clean", "--quiet", "-d", "--force"]):
        subprocess.run(["git", *command], cwd=repo, env=os.environ | quiet, check=True)


def command(options, trial):
    workspace = options.repo / "hard" if trial.target in HARD else options.repo
    words = [str(options.tool), "perfcheck", "--manifest-path", str(workspace / "Cargo.toml"), "--bench", trial.target,
             "--against", trial.row.against, "--store", str(options.store), "--seed", str(trial.seed()),
             "--message-format", "json", "--quiet", *trial.row.arguments, *options.arguments]
    return words + (["--exact", trial.benchmark] if trial.benchmark else list(trial.row.filters))


def measure(options, trial):
    """Runs the command of a trial. Returns its JSON messages, its exit code, its duration in seconds, and the end of its error output."""
    checkout(options.repo, trial.row.tree)
    began = time.monotonic()
    done = subprocess.run(command(options, trial), text=True, stdin=subprocess.DEVNULL, capture_output=True)
    wall = time.monotonic() - began
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return messages, done.returncode, wall, done.stderr.strip()[-2000:]


def verdicts(options, trial, planted, load):
    started = time.time()
    messages, exit_code, wall, stderr = measure(options, trial)
    compared = [message for message in messages if message["reason"] == "benchmark-compared"]
    finished = next((message for message in messages if message["reason"] == "run-finished"), {})
    common = {
        "trial": trial.key(), "label": trial.label, "row": trial.name, "tree": trial.row.tree, "against": trial.row.against,
        "condition": trial.condition,
        "wall": round(wall, 3), "exit_code": exit_code, "seed": trial.seed(), "run": finished.get("run"),
        "benchmarks": len(compared), "started": round(started, 3), "load": load, "arguments": [*trial.row.arguments, *options.arguments],
    }
    if exit_code not in (0, 1) or not compared:
        return [common | {"workload": trial.benchmark, "verdict": "error", "stderr": stderr}]
    lines = []
    for message in compared:
        change, processes = message.get("change") or {}, message.get("processes") or {}
        seconds = message.get("seconds")
        benchmark = message["benchmark"]["id"]
        lines.append(common | {
            "workload": benchmark, "truth": truth(trial.row, planted, benchmark), "verdict": message["verdict"],
            "change": change.get("estimate"), "lower": change.get("lower"), "upper": change.get("upper"),
            "noise_threshold": message.get("noise_threshold"), "p_value": message.get("p_value"),
            "rounds": message.get("rounds", processes.get("candidate")),
            "seconds": round(wall / len(compared), 3) if seconds is None else seconds, "seconds_are_wall": seconds is None,
            "remarks": message.get("remarks", []), "notes": message.get("notes", []),
        })
    return lines


def main():
    argv, extra = sys.argv[1:], []
    if "--" in argv:
        argv, extra = argv[:argv.index("--")], argv[argv.index("--") + 1:]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repo", type=Path)
    parser.add_argument("results", type=Path)
    parser.add_argument("--rows", default=",".join(FULL_SERIES), help="also: slow-path-same, links, versions, moved, code-plus2, code-plus5, edited, hard-same, hard-slower, budget-50, budget-83, ten, ten-alone")
    parser.add_argument("--trials", type=int, help="commands for each row, pair and condition, in place of a full series")
    parser.add_argument("--conditions", default=",".join(CONDITIONS))
    parser.add_argument("--targets", help="main, more, code or several, in place of main")
    parser.add_argument("--pairs", help="only these layouts, links, versions or moved ones, comma-separated tags")
    parser.add_argument("--label", default="", help="told apart in the table")
    parser.add_argument("--seed", type=int, default=1, help="of order and noise")
    parser.add_argument("--store", type=Path, help="default: RESULTS.db")
    parser.add_argument("--tool", type=Path, default=TOOL, help="default: target/release/cargo-perfcheck")
    parser.add_argument("--minutes", type=float, help="begin no trial after this time")
    parser.add_argument("--dry-run", action="store_true", help="print the commands that are left")
    options = parser.parse_args(argv)
    options.arguments, options.repo = extra, options.repo.resolve()
    options.store = (options.store or options.results.with_suffix(".db")).resolve()
    planted = json.loads((options.repo / ".git" / "arena.json").read_text())
    trials = schedule(options, planted)
    results = Results(options.results)
    left = [trial for trial in trials if trial.key() not in results.done]
    print(f"{len(trials)} commands, {len(left)} of them left", flush=True)
    if options.dry_run:
        for trial in left:
            print(trial.condition, trial.row.tree, " ".join(command(options, trial)))
        return
    if not options.tool.exists():
        raise SystemExit(f"arena.py: {options.tool} does not exist: cargo build --release")
    series(options, planted, results, left)


def series(options, planted, results, left):
    began, failures = time.monotonic(), 0
    for place, trial in enumerate(left):
        if options.minutes and time.monotonic() - began > 60 * options.minutes:
            print("time is up; the same command goes on from here")
            return
        load = os.getloadavg()[0]
        if trial.condition == "noisy":
            with Noise(trial.seed() % 1_000_000):
                lines = verdicts(options, trial, planted, load)
        else:
            lines = verdicts(options, trial, planted, load)
        results.add(lines)
        told = " ".join(f"{line['workload']}={line['verdict']}" for line in lines)
        print(f"{place + 1}/{len(left)} {trial.key()} {lines[0]['wall']:.1f} s {told}", flush=True)
        failures = failures + 1 if lines[0]["verdict"] == "error" else 0
        if failures == 1:
            print(lines[0]["stderr"], file=sys.stderr, flush=True)
        if failures == FAILURES_IN_A_ROW:
            raise SystemExit(f"arena.py: {failures} failures in a row")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit("interrupted; the same command goes on from here") from None
