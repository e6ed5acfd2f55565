#!/usr/bin/env python3
"""Shows that the work in the commits of a repository from make_repo.py differs by as much as their tags say.

    calibrate.py REPO [TAG...] [--workloads alu,sort,alloc] [--time]

For every TAG (default: base, slow-*, fast-5) it prints the instructions per iteration, their ratio to `base`, and a hash of the bench executable
`main`. The instructions are counted by callgrind of valgrind, so they are the same on a busy machine. With --time, it also prints the fastest of
many short samples, for which the tags take turns. This needs a quiet machine.
"""

import argparse
import hashlib
import json
import re
import subprocess
import tempfile
from pathlib import Path

FEW, MANY = 50, 150
SAMPLE_ITERATIONS = {"alu": 5000, "sort": 20, "alloc": 50, "mem": 30, "hash": 150, "parse": 40, "slow_path": 100}


def run(*command, cwd=None):
    done = subprocess.run([str(word) for word in command], cwd=cwd, text=True, capture_output=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stderr}")
    return done


def build(clone, tag, keep):
    """Checks out and builds a tag, always in the same directory. Returns the path of a copy of the example, and the hash of the bench executable."""
    run("git", "checkout", "--quiet", "--force", tag, cwd=clone)
    run("cargo", "build", "--quiet", "--release", "--example", "floor", cwd=clone)
    made = run("cargo", "bench", "--quiet", "--no-run", "--bench", "main", "--message-format", "json", cwd=clone).stdout
    executables = [message["executable"] for message in map(json.loads, made.splitlines())
                   if message.get("executable") and message["target"]["name"] == "main"]
    copy = keep / f"floor-{tag}"
    copy.write_bytes((clone / "target/release/examples/floor").read_bytes())
    copy.chmod(0o755)
    return copy, hashlib.sha256(Path(executables[0]).read_bytes()).hexdigest()[:12]


def instructions(floor, workload):
    def count(iterations):
        told = run("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", floor, workload, iterations).stderr
        return int(re.search(r"Collected : (\d+)", told)[1])
    return (count(MANY) - count(FEW)) / (MANY - FEW)


def floors(built, workload, rounds):
    fastest = dict.fromkeys(built, float("inf"))
    for _ in range(rounds):
        for tag, (floor, _) in built.items():
            sample = float(run(floor, workload, SAMPLE_ITERATIONS[workload], 60).stdout)
            fastest[tag] = min(fastest[tag], sample)
    return fastest


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repo", type=Path)
    parser.add_argument("tags", nargs="*", help="default: base and the speeds; globs of git are understood")
    parser.add_argument("--workloads", default="alu,sort,alloc")
    parser.add_argument("--time", action="store_true")
    parser.add_argument("--rounds", type=int, default=30, help="of --time")
    options = parser.parse_args()
    tags = ["base"]
    for tag in options.tags or ["fast-5", "slow-1", "slow-2", "slow-5", "slow-10"]:
        tags += [name for name in run("git", "tag", "--list", tag, cwd=options.repo).stdout.split() if name not in tags]
    workloads = options.workloads.split(",")

    with tempfile.TemporaryDirectory() as scratch:
        clone = Path(scratch) / "clone"
        run("git", "clone", "--quiet", "--no-checkout", options.repo, clone)
        built = {tag: build(clone, tag, Path(scratch)) for tag in tags}
        print("| commit | executable |" + "".join(f" {name}, instructions | to base |" for name in workloads))
        print("|---|---|" + "---:|---:|" * len(workloads))
        base = {}
        for tag, (floor, digest) in built.items():
            row = f"| `{tag}` | {digest} |"
            for name in workloads:
                count = instructions(floor, name)
                row += f" {count:.1f} | {100 * (count / base.setdefault(name, count) - 1):+.2f} % |"
            print(row, flush=True)
        if options.time:
            print("\n| commit |" + "".join(f" {name}, ns | to base |" for name in workloads))
            print("|---|" + "---:|---:|" * len(workloads))
            timed = {name: floors(built, name, options.rounds) for name in workloads}
            for tag in built:
                cells = (f" {t[tag]:.2f} | {100 * (t[tag] / t['base'] - 1):+.2f} % |" for t in timed.values())
                print(f"| `{tag}` |" + "".join(cells))


if __name__ == "__main__":
    main()
