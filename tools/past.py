#!/usr/bin/env python3
"""Finds steps in a history of commits by `history --measure`, and by asv beside it.

Makes a package with a program that takes about 60 ms, and 30 commits. Each commit changes the code without changing the work: it adds functions that
nothing calls, and puts the others into a random order. Three commits also make the program do 5 % more work. Then measures all commits with
`cargo perfcheck history --measure`, and with asv if `--asv` names it. Prints for each how many of the three steps it found at their commits, how many
others it reported, and the seconds.

    tools/past.py --tool target/release/cargo-perfcheck [--asv EXECUTABLE] [--commits 30] [--planted 8,16,24] [--more 5] [--kills N] [--seed 1] [--keep DIRECTORY]
    tools/past.py --tool target/release/cargo-perfcheck --repository DIRECTORY [--kills N] [--seed 1] [--keep DIRECTORY] -- --measure A..B --steps 40 --refine ...

asv (https://github.com/airspeed-velocity/asv, with virtualenv) builds each commit by cargo, too, and runs the program as a benchmark with its default
settings. A step of asv is a jump in its report of regressions, with a threshold of 2 % (`regressions_thresholds`; its default is 5 %). It counts as
found if the jump is at the planted commit.

The second form measures a repository that exists, with the words behind `--`, and prints the commits that it measured and the steps that it found.

`--kills N` kills the tool N times (SIGKILL), each time 20 to 120 seconds after its start, and starts it again. The exit code is 1 if a planted step is not
found, if another step is reported, if a commit was measured twice, or if a killed call had reported a commit that the last call did not have.
"""

import argparse
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

from criterion_suite import HEAD, KINDS, commit, write
from harnesses import unused_functions
from planted_code import git, private_environment

# About how many milliseconds each part of the program takes.
PARTS = {"mix": 20, "sort": 20, "parse": 20}
BENCHMARK = """\
import os
import subprocess

PROGRAM = os.path.join(os.environ["ASV_ENV_DIR"], "target", "release", "work")


def time_work():
    subprocess.run([PROGRAM], check=True, stdout=subprocess.DEVNULL)
"""


def library(more, rng):
    """Returns the source of the package's library, which does `more` times the work."""
    functions = []
    for name, milliseconds in PARTS.items():
        unit, body = KINDS[name]
        body = body.replace("WORK", f"black_box({round(milliseconds * 1e6 / unit * more)})")
        functions.append(f"#[inline(never)]\npub fn {name}(n: u64) -> u64 {{\n    {body}\n}}\n")
    functions += unused_functions(rng)
    rng.shuffle(functions)
    return "\n".join([HEAD, "use std::hint::black_box;\n", *functions])


def make_history(top, options):
    """Makes the package and its commits. Returns the planted commits."""
    rng = random.Random(options.seed)
    calls = ", ".join(f"work::{name}(n)" for name in PARTS)
    files = {
        "Cargo.toml": '[workspace]\n\n[package]\nname = "work"\nversion = "0.0.0"\nedition = "2024"\npublish = false\n',
        "src/main.rs": f'fn main() {{\n    let n = std::env::args().count() as u64;\n    println!("{{:?}}", ({calls}));\n}}\n',
        ".gitignore": "/target\n",
    }
    git(top.parent, "init", "--quiet", "--initial-branch=main", str(top))
    more, planted = 1.0, []
    for number in range(options.commits):
        if number in options.planted:
            more *= 1 + options.more / 100
        write(top, files | {"src/lib.rs": library(more, rng)})
        if number == 0:
            subprocess.run(["cargo", "generate-lockfile", "--quiet"], cwd=top, check=True)
        commit(top, f"Commit {number}", {})
        if number in options.planted:
            planted.append(read_git(top, "rev-parse", "HEAD"))
    return planted


def read_git(top, *words):
    return subprocess.run(["git", *words], cwd=top, check=True, capture_output=True, text=True).stdout.strip()


def call_tool(words, top, scratch, seconds=None):
    """Runs the tool, and kills it after `seconds`. Returns its JSON messages and its other output."""
    with (scratch / "messages").open("w+") as messages, (scratch / "said").open("w+") as said:
        process = subprocess.Popen(words, cwd=top, env=private_environment(scratch), stdout=messages, stderr=said)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for file in (messages, said):
            file.seek(0)
        return [json.loads(line) for line in messages if line.endswith("\n")], said.read()


def measure_past(options, top, scratch, words):
    """Measures commits, killing the tool on the way. Returns the messages of the last call, and says what was lost or done twice."""
    words = [str(pathlib.Path(options.tool).resolve()), "perfcheck", "history", *words, "--message-format", "json"]
    rng = random.Random(options.seed)
    measured, faults = set(), []
    for seconds in [rng.uniform(20, 120) for _ in range(options.kills)] + [None]:
        messages, said = call_tool(words, top, scratch, seconds)
        has_ended = any(one["reason"] == "measure-finished" for one in messages)
        if seconds is None and not has_ended:
            sys.exit(f"{' '.join(words)} did not finish\n{said}")
        commits = [one for one in messages if one["reason"] == "commit-measured"]
        seen = {(one["commit"]["hash"], one["against"]["hash"]): one for one in commits if one["against"]}
        faults += [f"measured twice: {pair}" for pair in measured if pair in seen and not seen[pair]["remembered"]]
        if has_ended:
            faults += [f"lost: {pair}" for pair in measured if pair not in seen]
        measured |= set(seen)
    for fault in faults:
        print(fault)
    return messages, not faults


def steps_of_perfcheck(options, top, scratch):
    """Measures all commits. Returns the commit of each step, or `None` for a step that has no commit, and whether each commit was measured once."""
    root = read_git(top, "rev-list", "--max-parents=0", "HEAD")
    messages, is_right = measure_past(options, top, scratch, ["--program", "work", "--measure", f"{root}..HEAD"])
    return [one["commit"] and one["commit"]["hash"] for one in messages if one["reason"] == "step-found"], is_right


def show_repository(options, scratch):
    """Measures commits of a repository. Prints them and the steps. Returns whether each was measured once."""
    messages, is_right = measure_past(options, options.repository, scratch, options.words)
    seconds = []
    for one in messages:
        if one["reason"] == "commit-measured":
            seconds += [one["seconds"]] if one["seconds"] is not None else []
            changed = ", ".join(f"{it['benchmark']['id']} {100 * it['change']['estimate']:+.1f} %" for it in one["changed"] if it["change"])
            print(one["commit"]["hash"][:10], one["outcome"], "again" if one["remembered"] else "", one["why"] or "", changed)
        elif one["reason"] == "step-found":
            place = one["commit"]["hash"][:10] if one["commit"] else f"{one['after']['hash'][:10]}..{one['until']['hash'][:10]} ({one['why']})"
            print("step", place, one["benchmark"]["id"], f"{100 * one['change']['estimate']:+.1f} %", (one["commit"] or one["until"])["subject"])
        elif one["reason"] == "measure-finished":
            print(json.dumps(one))
    if seconds:
        print(f"median seconds of a commit: {sorted(seconds)[len(seconds) // 2]:.1f}")
    return is_right


def steps_of_asv(asv, top, scratch):
    """Measures all commits with asv. Returns the commit of each jump, or `None` for a jump over several commits."""
    place = scratch / "asv"
    # asv looks for programs only in the environment that it made.
    cargo = shutil.which("cargo")
    build = f"{cargo} build --release --quiet --manifest-path {{build_dir}}/Cargo.toml --target-dir {{env_dir}}/target"
    configuration = {
        "version": 1,
        "project": "work",
        "repo": str(top),
        "branches": ["main"],
        "environment_type": "virtualenv",
        "build_command": [build],
        "install_command": ["in-dir={env_dir} python --version"],
        "uninstall_command": ["in-dir={env_dir} python --version"],
        "regressions_thresholds": {".*": 0.02},
    }
    write(place, {"asv.conf.json": json.dumps(configuration), "benchmarks/__init__.py": "", "benchmarks/work.py": BENCHMARK})
    subprocess.run([asv, "machine", "--yes"], cwd=place, check=True, capture_output=True)
    for words in (["run", "ALL"], ["publish"]):
        done = subprocess.run([asv, *words], cwd=place, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode:
            sys.exit(f"asv {words[0]} ended with {done.returncode}\n{done.stdout}")
    report = json.loads((place / "html/regressions.json").read_text())
    names = json.loads((place / "html/index.json").read_text())["revision_to_hash"]
    # A jump has the newest revision before it, which is absent if the jump is at a single commit, and the oldest revision after it.
    jumps = [jump for one in report["regressions"] for jump in one[4][2]]
    return [names[str(jump[1])] if jump[0] is None else None for jump in jumps]


def compare_planted(options, scratch):
    """Makes the history and measures it. Returns whether all planted steps were found, and no others."""
    top = scratch / "work"
    top.mkdir()
    planted = make_history(top, options)
    began = time.monotonic()
    found, is_right = steps_of_perfcheck(options, top, scratch)
    show("perfcheck", found, planted, began)
    if options.asv:
        began = time.monotonic()
        show("asv", steps_of_asv(str(pathlib.Path(options.asv).absolute()), top, scratch), planted, began)
    return is_right and sorted(map(str, found)) == sorted(planted)


def show(name, found, planted, began):
    right = set(found) & set(planted)
    print(f"{name:<9}  found {len(right)} of {len(planted)}, others {len(found) - len(right)}, {time.monotonic() - began:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--asv")
    parser.add_argument("--commits", type=int, default=30)
    parser.add_argument("--planted", type=lambda text: [int(word) for word in text.split(",")], default=[8, 16, 24])
    parser.add_argument("--more", type=float, default=5)
    parser.add_argument("--repository", type=pathlib.Path)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    scratch = (options.keep or pathlib.Path(tempfile.mkdtemp(prefix="past-"))).resolve()
    scratch.mkdir(parents=True, exist_ok=True)
    try:
        is_right = show_repository(options, scratch) if options.repository else compare_planted(options, scratch)
    finally:
        if not options.keep:
            shutil.rmtree(scratch, ignore_errors=True)
    sys.exit(0 if is_right else 1)


if __name__ == "__main__":
    main()
