#!/usr/bin/env python3
"""Checks what `cargo perfcheck` without options says about many harmless commits in a row, and whether `history` finds the changes among them.

Clones the arena's repository, adds a commit before each run, and runs `cargo perfcheck` as a user would. Each commit adds a comment, a function that
nothing calls, or another module. With `--layouts`, it also takes the source of one of the arena's layouts, which does the same work in an executable
with other bytes. From run `--slowed N` on, the tool shares its processor with a busy process, which halves the speed of the machine. From run
`--planted N` on, everything takes 5 % longer. A run with regressions is accepted, so that the next run reports only the next change.
Prints a line for each run, the number of verdicts of each kind, and the steps in the history of each benchmark.

    tools/plain_runs.py ARENA_REPOSITORY --tool target/release/cargo-perfcheck [--runs 50] [--slowed N] [--planted N] [--layouts] [--targets main,more] [--scratch DIRECTORY]
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

PLANTED = 1050


def git(repository, *words):
    who = {f"GIT_{role}_{what}": "plain" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(["git", *words], cwd=repository, env=os.environ | who, check=True, stdout=subprocess.DEVNULL)


def change(repository, index, planted, layouts):
    """Commits a change that does not affect any result. If `planted` is true, the commit also makes everything slower."""
    if layouts:
        git(repository, "checkout", "--quiet", f"layout-{index % 25:02}", "--", ".")
    library, workloads = repository / "src/lib.rs", repository / "src/workloads.rs"
    kind = ("comment", "function", "module")[index % 3]
    if kind == "comment":
        # A comment line moves the code down. This changes the executable, because it has the line numbers that panics print.
        text = workloads.read_text()
        place = text.index("\nuse ") + 1
        workloads.write_text(f"{text[:place]}// Comment {index}.\n{text[place:]}")
    elif kind == "function":
        text = workloads.read_text()
        workloads.write_text(text + f"\npub fn nobody_{index}(text: &str) -> usize {{\n    text.len() * {index}\n}}\n")
    else:
        (repository / f"src/module_{index}.rs").write_text(f"pub fn nobody(items: &[u64]) -> u64 {{\n    items.iter().sum::<u64>() ^ {index}\n}}\n")
        library.write_text(library.read_text() + f"\npub mod module_{index};\n")
    if planted:
        slow = repository / "src/slow.rs"
        slow.write_text(slow.read_text().replace("AtomicU32::new(1000)", f"AtomicU32::new({PLANTED})"))
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", f"harmless {index}: {kind}")


@contextlib.contextmanager
def half_a_machine():
    """Keeps the last processor busy, and returns the words that bind a command to this processor. So the command gets half of its time."""
    processor = str(max(os.sched_getaffinity(0)))
    busy = subprocess.Popen(["taskset", "-c", processor, sys.executable, "-c", "while True: pass"])
    try:
        yield ["taskset", "-c", processor]
    finally:
        busy.kill()
        busy.wait()


def perfcheck(options, place, words, before=()):
    environment = os.environ | {"PERFCHECK_STORE": str(place / "store.db"), "PERFCHECK_CACHE": str(place / "cache")}
    command = [*before, options.tool, "perfcheck", *words]
    done = subprocess.run(command, cwd=place / "repository", env=environment, text=True, capture_output=True, check=False)
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return done, messages


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("arena", type=pathlib.Path)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--slowed", type=int)
    parser.add_argument("--planted", type=int)
    parser.add_argument("--layouts", action="store_true")
    parser.add_argument("--targets", default="main,more")
    parser.add_argument("--scratch", type=pathlib.Path)
    options = parser.parse_args()
    options.tool = str(pathlib.Path(options.tool).resolve())
    place = options.scratch or pathlib.Path(tempfile.mkdtemp(prefix="plain-runs-"))
    place.mkdir(parents=True, exist_ok=True)
    git(place, "clone", "--quiet", str(options.arena.resolve()), "repository")
    git(place / "repository", "switch", "--quiet", "-c", "work", "base")
    targets = [word for target in options.targets.split(",") for word in ("--bench", target)]
    counts, codes = collections.Counter(), collections.Counter()
    for index in range(1, options.runs + 1):
        change(place / "repository", index, options.planted and index >= options.planted, options.layouts)
        is_slowed = options.slowed and index >= options.slowed
        began = time.monotonic()
        with half_a_machine() if is_slowed else contextlib.nullcontext([]) as before:
            done, messages = perfcheck(options, place, ["--message-format", "json", *targets], before)
        seconds = time.monotonic() - began
        finished = next((one for one in messages if one["reason"] == "run-finished"), None)
        if finished is None:
            sys.exit(f"run {index} ended with {done.returncode}: {done.stderr}")
        verdicts = {name: count for name, count in finished["verdicts"].items() if count}
        measured = sum(one["reason"] == "benchmark-measured" for one in messages)
        called = [one["benchmark"]["id"] for one in messages if one.get("verdict") in ("regressed", "improved")]
        print(f"{index:>3}  exit {done.returncode}  {seconds:5.1f} s  load {os.getloadavg()[0]:4.1f}  measured {measured}  {verdicts} {called or ''}", flush=True)
        codes[done.returncode] += 1
        if index > 1:
            counts.update(verdicts)
        if done.returncode == 1:
            perfcheck(options, place, ["accept", str(finished["run"])])
    print(f"\nverdicts of runs 2 to {options.runs}: {dict(counts)}; exit statuses: {dict(codes)}")
    _, messages = perfcheck(options, place, ["history", "--message-format", "json", "--last", str(options.runs)])
    for one in messages:
        steps = one.get("steps")
        if steps is not None:
            print(json.dumps({"benchmark": one["benchmark"]["id"], "points": len(one.get("points", [])), "steps": steps}))
    disk = sum(file.stat().st_blocks * 512 for file in (place / "cache").rglob("*") if file.is_file())
    print(f"cache: {disk / 2**20:.0f} MiB; store: {(place / 'store.db').stat().st_size / 2**20:.1f} MiB; in {place}")


if __name__ == "__main__":
    main()
