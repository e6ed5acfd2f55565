#!/usr/bin/env python3
"""The same workloads under Criterion 0.8 and tango 0.9: two executables, built as base and as candidate, compared as each tool compares.

    peers.py RESULTS.jsonl [--cycles N] [--peers criterion,tango,criterion-under-us,native] [--conditions quiet,noisy]

`criterion-under-us` is the very executables of `criterion`, compared by `cargo perfcheck --against-executable`; `native` is the same comparison with
benches on the crate `perfcheck`.

A cycle measures, for each condition, the base against itself, +2 % and +5 %, in seeded random order, by each peer. It gives a line of JSON for
every verdict, as arena.py writes them, with the peer as label: table.py reads both. Run it again and it goes on where it stopped.
A cycle takes about three minutes with both peers; twelve give 36 verdicts a cell and 72 with both conditions.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import time
from pathlib import Path

from arena import HERE, MAIN, Noise, Results

COSTS = {"identical": 1000, "plus2": 1020, "plus5": 1050}
CRATE = HERE / "peers"
TOOL = HERE.parent.parent / "target/release/cargo-perfcheck"
SECONDS = 2


def build(bin_directory):
    """Every cost as an executable of its own. The base has a copy, so that both sides are files of their own everywhere."""
    bin_directory.mkdir(parents=True, exist_ok=True)
    for cost in sorted(set(COSTS.values())):
        command = ["cargo", "bench", "--no-run", "--quiet", "--manifest-path", str(CRATE / "Cargo.toml"), "--message-format", "json"]
        made = subprocess.run(command, env=os.environ | {"ARENA_PER_MILLE": str(cost)}, check=True, text=True, stdout=subprocess.PIPE)
        for message in map(json.loads, made.stdout.splitlines()):
            if message.get("executable") and message["target"]["kind"] == ["bench"]:
                shutil.copy2(message["executable"], bin_directory / f"{message['target']['name']}-{cost}")
    for peer in ("criterion", "tango", "native"):
        shutil.copy2(bin_directory / f"{peer}-1000", bin_directory / f"{peer}-base")


def run(words, directory, **environment):
    done = subprocess.run([str(word) for word in words], cwd=directory, env=os.environ | environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", done.stdout).replace("\r", "\n"), done.returncode


def criterion(bin_directory, cost):
    """Baseline and candidate one after the other. The words on stdout are the verdict, the file has the change."""
    home = bin_directory / "criterion-home"
    shutil.rmtree(home, ignore_errors=True)
    flags = ["--bench", "--noplot", "--color", "never", "--warm-up-time", 0.5, "--measurement-time", SECONDS]
    run([bin_directory / "criterion-base", *flags, "--save-baseline", "base"], bin_directory, CRITERION_HOME=str(home))
    told, exit_code = run([bin_directory / f"criterion-{cost}", *flags, "--baseline", "base"], bin_directory, CRITERION_HOME=str(home))
    found, name = {}, None
    phrases = {"has regressed": "regressed", "has improved": "improved", "within noise": "unchanged", "No change": "unchanged"}
    for line in told.splitlines():
        word = line.split(" ", 1)[0]
        name = word if word in MAIN else name
        for phrase, verdict in phrases.items():
            if phrase in line and name:
                mean = json.loads((home / name / "change" / "estimates.json").read_text())["mean"]
                bounds = mean["confidence_interval"]
                found[name] = {"verdict": verdict, "change": mean["point_estimate"],
                               "lower": bounds["lower_bound"], "upper": bounds["upper_bound"]}
    return found, exit_code


def tango(bin_directory, cost):
    """Both at once. A star marks what it holds to be a change."""
    told, exit_code = run([bin_directory / f"tango-{cost}", "--color", "never", "compare", bin_directory / "tango-base",
                           "-t", SECONDS, "--bench"], bin_directory)
    found = {}
    for line in told.splitlines():
        seen = re.match(r"(\w+)\s+\[.*\]\s+([-+0-9.]+)%(\*?)", line)
        if seen and seen[1] in MAIN:
            change = float(seen[2]) / 100
            verdict = "unchanged" if not seen[3] else "regressed" if change > 0 else "improved"
            found[seen[1]] = {"verdict": verdict, "change": change, "lower": None, "upper": None}
    return found, exit_code


def in_turn(bench):
    """`cargo perfcheck` on this bench target, built with the cost, against the executable of the base."""

    def compare(bin_directory, cost):
        store = bin_directory / "store.db"
        words = [TOOL, "perfcheck", "--manifest-path", CRATE / "Cargo.toml", "--bench", bench, "--measure-identical", "--store", store,
                 "--against-executable", bin_directory / f"{bench}-base", "--message-format", "json", "--quiet"]
        told, exit_code = run(words, bin_directory, ARENA_PER_MILLE=str(cost))
        messages = [json.loads(line) for line in told.splitlines() if line.startswith("{")]
        compared = [message for message in messages if message["reason"] == "benchmark-compared"]
        found = {message["benchmark"]["id"]: {"verdict": message["verdict"], "seconds": message["seconds"],
                                                  "rounds": (message["paired"] or {}).get("rounds")}
                 | {member: (message["change"] or {}).get(name)
                    for member, name in (("change", "estimate"), ("lower", "lower"), ("upper", "upper"))} for message in compared}
        return found, exit_code

    return compare


PEERS = {"criterion": criterion, "tango": tango, "criterion-under-us": in_turn("criterion"), "native": in_turn("native")}


def trial(peer, row, condition, cycle, bin_directory):
    key = f"{peer}/{row}/{condition}/{cycle}"
    started, began = time.time(), time.monotonic()
    found, exit_code = PEERS[peer](bin_directory, COSTS[row])
    wall = time.monotonic() - began
    common = {"trial": key, "label": peer, "row": row, "tree": str(COSTS[row]), "against": "1000", "condition": condition,
              "truth": (COSTS[row] - 1000) / 10, "wall": round(wall, 3), "seconds": round(wall / len(MAIN), 3), "rounds": None,
              "exit_code": exit_code, "benchmarks": len(found), "started": round(started, 3)}
    if set(found) != set(MAIN):
        return [common | {"workload": None, "verdict": "error", "stderr": f"found {sorted(found)}"}]
    return [common | {"workload": name} | found[name] for name in MAIN]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("--cycles", type=int, default=12)
    parser.add_argument("--peers", default="criterion,tango")
    parser.add_argument("--conditions", default="quiet,noisy")
    parser.add_argument("--rows", default=",".join(COSTS))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    bin_directory = options.results.with_suffix(".bin").resolve()
    build(bin_directory)
    results, rng = Results(options.results), random.Random(f"peers/{options.seed}")
    for cycle in range(options.cycles):
        order = [(peer, row, condition) for peer in options.peers.split(",") for row in options.rows.split(",")
                 for condition in options.conditions.split(",")]
        rng.shuffle(order)
        for peer, row, condition in order:
            if f"{peer}/{row}/{condition}/{cycle}" in results.done:
                continue
            if condition == "noisy":
                with Noise(rng.getrandbits(16)):
                    lines = trial(peer, row, condition, cycle, bin_directory)
            else:
                lines = trial(peer, row, condition, cycle, bin_directory)
            results.add(lines)
            print(f"{lines[0]['trial']} {lines[0]['wall']:.1f} s", *(f"{line['workload']}={line['verdict']}" for line in lines), flush=True)


if __name__ == "__main__":
    main()
