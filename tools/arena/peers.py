#!/usr/bin/env python3
"""Measures the same workloads with other tools. Each tool compares two executables, the base and the candidate, in its own way.

    peers.py RESULTS.jsonl [--cycles N] [--peers criterion,tango,criterion-under-us,native] [--conditions quiet,noisy]
    peers.py RESULTS.jsonl --kinds threads,millis,memory,waits [--peers criterion,tango,zenbench,zenbench-iterate]

`criterion-under-us` uses the same executables as `criterion`, but `cargo perfcheck --against-executable` compares them. `native` is the same
comparison with benches on the crate `perfcheck`. `zenbench` uses its mode for decisions, `zenbench-iterate` the one for trying out changes.

In a cycle, each tool compares the base with itself, with 2 % and with 5 % more work under each condition, in a seeded random order. With `--kinds`,
it compares the base with itself and with the candidates of the row `hard-slower` of arena.py, for each kind. Each verdict becomes a line of JSON in
the format of arena.py, with the name of the tool as label, so table.py reads both. If the script is run again, it continues where it stopped.
A cycle takes about three minutes with Criterion and tango. Twelve cycles give 36 verdicts per cell, and 72 with both conditions.
"""

import argparse
import dataclasses
import json
import os
import random
import re
import shutil
import subprocess
import time
from pathlib import Path

from arena import HARD, HERE, MAIN, Noise, Results, rows
from make_repo import SPEEDS

CRATE = HERE / "peers"
TOOL = HERE.parent.parent / "target/release/cargo-perfcheck"
SECONDS = 2


@dataclasses.dataclass(frozen=True)
class Pair:
    """A comparison of the base with another build of the same benchmarks."""
    row: str
    # The work of the candidate, in per mille of the work of the base.
    cost: int
    # The kind, if these are hard workloads.
    kind: str | None = None

    def names(self):
        return HARD[self.kind] if self.kind else MAIN

    def executable(self, bin_directory, peer, build):
        return bin_directory / f"{'hard_' if self.kind else ''}{peer}-{build}"

    def environment(self):
        return {"ARENA_KIND": self.kind} if self.kind else {}


EASY_PAIRS = [Pair("identical", 1000), Pair("plus2", 1020), Pair("plus5", 1050)]
HARD_PAIRS = [Pair(name, SPEEDS.get(row.tree, 1000), kind)
              for name in ("hard-same", "hard-slower") for row in rows((), ())[name] for kind in row.targets]


def build(bin_directory, pairs):
    """Builds an executable for each amount of work. The base also gets a copy, so that both sides are different files in every comparison."""
    bin_directory.mkdir(parents=True, exist_ok=True)
    for cost in sorted({1000} | {pair.cost for pair in pairs}):
        command = ["cargo", "bench", "--no-run", "--quiet", "--manifest-path", str(CRATE / "Cargo.toml"), "--message-format", "json"]
        made = subprocess.run(command, env=os.environ | {"ARENA_PER_MILLE": str(cost)}, check=True, text=True, stdout=subprocess.PIPE)
        for message in map(json.loads, made.stdout.splitlines()):
            if message.get("executable") and message["target"]["kind"] == ["bench"]:
                for name in [str(cost)] + ["base"] * (cost == 1000):
                    shutil.copy2(message["executable"], bin_directory / f"{message['target']['name']}-{name}")


def run(words, directory, **environment):
    done = subprocess.run([str(word) for word in words], cwd=directory, env=os.environ | environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", done.stdout).replace("\r", "\n"), done.returncode


def criterion(bin_directory, pair):
    """Measures the base and then the candidate with Criterion. The verdict is taken from its output, and the change from the file that it writes."""
    home = bin_directory / "criterion-home"
    shutil.rmtree(home, ignore_errors=True)
    flags = ["--bench", "--noplot", "--color", "never", "--warm-up-time", 0.5, "--measurement-time", SECONDS]
    environment = pair.environment() | {"CRITERION_HOME": str(home)}
    run([pair.executable(bin_directory, "criterion", "base"), *flags, "--save-baseline", "base"], bin_directory, **environment)
    told, exit_code = run([pair.executable(bin_directory, "criterion", pair.cost), *flags, "--baseline", "base"], bin_directory, **environment)
    found, name = {}, None
    phrases = {"has regressed": "regressed", "has improved": "improved", "within noise": "unchanged", "No change": "unchanged"}
    for line in told.splitlines():
        word = line.split(" ", 1)[0]
        name = word if word in pair.names() else name
        for phrase, verdict in phrases.items():
            if phrase in line and name:
                mean = json.loads((home / name / "change" / "estimates.json").read_text())["mean"]
                bounds = mean["confidence_interval"]
                found[name] = {"verdict": verdict, "change": mean["point_estimate"],
                               "lower": bounds["lower_bound"], "upper": bounds["upper_bound"]}
    return found, exit_code


def tango(bin_directory, pair):
    """Measures both executables at the same time with tango, which marks significant changes with a star."""
    words = [pair.executable(bin_directory, "tango", pair.cost), "--color", "never", "compare",
             pair.executable(bin_directory, "tango", "base"), "-t", SECONDS, "--bench"]
    told, exit_code = run(words, bin_directory, **pair.environment())
    found = {}
    for line in told.splitlines():
        seen = re.match(r"(\w+)\s+\[.*\]\s+([-+0-9.]+)%(\*?)", line)
        if seen and seen[1] in pair.names():
            change = float(seen[2]) / 100
            verdict = "unchanged" if not seen[3] else "regressed" if change > 0 else "improved"
            found[seen[1]] = {"verdict": verdict, "change": change, "lower": None, "upper": None}
    return found, exit_code


def zenbench_runs(bin_directory, pair):
    """Returns an empty directory, and a function that runs a build of the pair in it. So no trial sees files of another one."""
    home = bin_directory / "zenbench-home"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    environment = pair.environment() | {"XDG_CACHE_HOME": str(home / "cache")}
    return home, lambda build, *flags: run([pair.executable(bin_directory, "zenbench", build), "--bench", *flags], home, **environment)


def zenbench(bin_directory, pair):
    """Measures five processes of the base and then five of the candidate with zenbench. If it noticed other load, it refuses to decide, and all
    verdicts are inconclusive."""
    _, measure = zenbench_runs(bin_directory, pair)
    flags = ["--mode=confirm", "--workload-id=hard", "--rounds=30"]
    told, exit_code = measure("base", *flags, "--save-baseline=base")
    refused = "cannot promote baseline" in told
    if not refused:
        told, exit_code = measure(pair.cost, *flags, "--baseline=base")
        refused = "UNCONFIRMED" in told
    if refused:
        nothing = {"verdict": "inconclusive", "change": None, "lower": None, "upper": None}
        return dict.fromkeys(pair.names(), nothing), exit_code
    verdicts = {"regression": "regressed", "improvement": "improved", "equivalent": "unchanged", "non_inferior": "unchanged",
                "inconclusive": "inconclusive"}
    found = {}
    for line in told.splitlines():
        seen = re.match(r"\s*(\w+)::\1: ([-+0-9.]+)% \[([-+0-9.]+)%, ([-+0-9.]+)%\] (\w+) ", line)
        if seen:
            change, lower, upper = (float(bound) / 100 for bound in seen.groups()[1:4])
            found[seen[1]] = {"verdict": verdicts[seen[5]], "change": change, "lower": lower, "upper": upper}
    return found, exit_code


def zenbench_iterate(bin_directory, pair):
    """Measures a process of each side with zenbench. In this mode it says slower or faster if the change is above 1 % and above two standard errors,
    but does not call this a decision."""
    home, measure = zenbench_runs(bin_directory, pair)
    told, _ = measure("base")
    # In this mode zenbench saves no baseline. The file that it keeps of each run can be used as one after `data_root` is added.
    kept, baselines = json.loads((home / re.search(r"evidence → (\S+)", told)[1]).read_text()), home / ".zenbench" / "baselines"
    baselines.mkdir()
    (baselines / "base.json").write_text(json.dumps(kept | {"data_root": str(home / ".zenbench" / "data")}))
    told, exit_code = measure(pair.cost, "--baseline=base")
    verdicts = {"▲ slower": "regressed", "▼ faster": "improved", "unchanged": "unchanged"}
    found = {}
    for line in told.splitlines():
        seen = re.match(r"\s*(\w+) +[0-9.]+ns → +[0-9.]+ns +([-+0-9.]+)% +(▲ slower|▼ faster|unchanged)", line)
        if seen:
            found[seen[1]] = {"verdict": verdicts[seen[3]], "change": float(seen[2]) / 100, "lower": None, "upper": None}
    return found, exit_code


def in_turn(bench):
    """Returns a function that compares this bench target with the executable of the base, using `cargo perfcheck`. The target is built with the work
    of the candidate."""

    def compare(bin_directory, pair):
        store = bin_directory / "store.db"
        words = [TOOL, "perfcheck", "--manifest-path", CRATE / "Cargo.toml", "--bench", bench, "--measure-identical", "--store", store,
                 "--against-executable", bin_directory / f"{bench}-base", "--message-format", "json", "--quiet"]
        told, exit_code = run(words, bin_directory, ARENA_PER_MILLE=str(pair.cost))
        messages = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
        compared = [message for message in messages if message["reason"] == "benchmark-compared"]
        found = {message["benchmark"]["id"]: {"verdict": message["verdict"], "seconds": message["seconds"],
                                                  "rounds": (message["paired"] or {}).get("rounds")}
                 | {member: (message["change"] or {}).get(name)
                    for member, name in (("change", "estimate"), ("lower", "lower"), ("upper", "upper"))} for message in compared}
        return found, exit_code

    return compare


EASY_PEERS = {"criterion": criterion, "tango": tango, "criterion-under-us": in_turn("criterion"), "native": in_turn("native")}
HARD_PEERS = {"criterion": criterion, "tango": tango, "zenbench": zenbench, "zenbench-iterate": zenbench_iterate}


def key(peer, pair, condition, cycle):
    return "/".join(filter(None, (peer, pair.row, pair.kind, condition, str(cycle))))


def trial(peers, peer, pair, condition, cycle, bin_directory):
    started, began = time.time(), time.monotonic()
    found, exit_code = peers[peer](bin_directory, pair)
    wall, names = time.monotonic() - began, pair.names()
    common = {"trial": key(peer, pair, condition, cycle), "label": peer, "row": pair.row, "tree": str(pair.cost), "against": "1000",
              "condition": condition, "truth": (pair.cost - 1000) / 10, "wall": round(wall, 3), "seconds": round(wall / len(names), 3),
              "rounds": None, "exit_code": exit_code, "benchmarks": len(found), "started": round(started, 3)}
    if set(found) != set(names):
        return [common | {"workload": None, "verdict": "error", "stderr": f"found {sorted(found)}"}]
    return [common | {"workload": name} | found[name] for name in names]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("--cycles", type=int, default=12)
    parser.add_argument("--kinds", help=f"hard workloads in place of {', '.join(MAIN)}: {','.join(HARD)} or some of them")
    parser.add_argument("--peers", help="default: criterion,tango; with --kinds all but ours")
    parser.add_argument("--conditions", default="quiet,noisy")
    parser.add_argument("--rows", help="default: all")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.kinds:
        peers, pairs = HARD_PEERS, [pair for pair in HARD_PAIRS if pair.kind in options.kinds.split(",")]
    else:
        peers, pairs = EASY_PEERS, EASY_PAIRS
    chosen = options.peers.split(",") if options.peers else list(peers) if options.kinds else ["criterion", "tango"]
    pairs = [pair for pair in pairs if not options.rows or pair.row in options.rows.split(",")]
    if not pairs or not set(chosen) <= set(peers):
        parser.error(f"no such rows, kinds or peers; of these workloads the peers are {', '.join(peers)}")
    bin_directory = options.results.with_suffix(".bin").resolve()
    build(bin_directory, pairs)
    results, rng = Results(options.results), random.Random(f"peers/{options.seed}")
    for cycle in range(options.cycles):
        order = [(peer, pair, condition) for peer in chosen for pair in pairs for condition in options.conditions.split(",")]
        rng.shuffle(order)
        for peer, pair, condition in order:
            if key(peer, pair, condition, cycle) in results.done:
                continue
            if condition == "noisy":
                with Noise(rng.getrandbits(16)):
                    lines = trial(peers, peer, pair, condition, cycle, bin_directory)
            else:
                lines = trial(peers, peer, pair, condition, cycle, bin_directory)
            results.add(lines)
            print(f"{lines[0]['trial']} {lines[0]['wall']:.1f} s", *(f"{line['workload']}={line['verdict']}" for line in lines), flush=True)


if __name__ == "__main__":
    main()
