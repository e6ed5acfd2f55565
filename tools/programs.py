#!/usr/bin/env python3
"""Measures whole programs. Reports how often a change was reported for identical and for slower programs, and seconds per verdict.

Six programs of one package run from 5 ms to 1.5 s. Four published ones are a search tool (ripgrep), a compressor (brotli), a formatter of JSON (jsonxf)
and a parser of Markdown (pulldown-cmark). The work tree is compared with HEAD. The words of `--work` say how it differs: not at all (`same`), by unused
functions that move the others (`layout`), or by that many percent more work (a number). In a published program, more work is a loop at the start of
`main`, with as many iterations as its first measured time asks for.

    tools/programs.py --tool target/release/cargo-perfcheck [--programs own,published] [--work same,layout,3] [--cycles 4] [--layouts 5] [--noise]
        [--hyperfine EXECUTABLE] [--seed 1] [--keep DIRECTORY]

`--programs` selects by kind or by name. `--layouts N` draws from the same N layouts each time, so that kept builds are used again. `--noise` runs
`arena/noise.py` during every second cycle. `--hyperfine` also lets hyperfine measure both executables, one after the other, with its default settings
and without a shell. It counts as "called" if hyperfine's summary names one of them as at least 1 % faster. Prints a line for each verdict and a table at
the end. The exit code is 1 if cargo-perfcheck reported a change for a program that does the same work.
"""

import argparse
import collections
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

from criterion_suite import HEAD, KINDS, commit, write
from harnesses import CALLED, UNCHANGED, machine_noise, show, show_change, unused_functions
from planted_code import git, told

# About how many milliseconds a run of each of our programs takes.
OWN = {"mix": 5, "sort": 15, "tree": 50, "parse": 120, "hash": 400, "text": 1_500}
# For each published program: its version, its main file, its arguments and whether it reads the corpus from standard input.
PUBLISHED = {
    "ripgrep": ("14.1.1", "crates/core/main.rs", "rg", ["-c", "fn|[a-z]+ing", "corpus.txt"], False),
    "brotli": ("8.0.4", "src/bin/brotli.rs", "brotli", ["-c", "-q5"], True),
    "jsonxf": ("1.1.1", "src/main.rs", "jsonxf", ["-i", "corpus.json"], False),
    "pulldown-cmark": ("0.13.6", "src/main.rs", "pulldown-cmark", [], True),
}
# Nanoseconds of an iteration of the loop that is planted in a published program.
NS_PER_ITERATION = 1.6


class Own:
    """The package with our programs."""

    def __init__(self, scratch):
        self.top = scratch / "own"
        entries = "".join(f'[[package.metadata.perfcheck.program]]\nname = "{name}"\nbin = "{name}"\n\n' for name in OWN)
        files = {
            "Cargo.toml": f'[workspace]\n\n[package]\nname = "workloads"\nversion = "0.0.0"\nedition = "2024"\npublish = false\n\n{entries}',
            "src/lib.rs": self.library("same", None),
            ".gitignore": "/target\n",
        }
        for name in OWN:
            files[f"src/bin/{name}.rs"] = f'fn main() {{\n    println!("{{}}", workloads::{name}(std::env::args().count() as u64));\n}}\n'
        write(self.top, files)
        subprocess.run(["cargo", "generate-lockfile", "--quiet"], cwd=self.top, check=True)
        git(self.top, "init", "--quiet")
        commit(self.top, "Six programs", {})

    @staticmethod
    def library(work, rng):
        more = 0 if work in UNCHANGED else float(work)
        functions = []
        for name, milliseconds in OWN.items():
            unit, body = KINDS[name]
            body = body.replace("WORK", f"black_box({round(milliseconds * 1e6 / unit * (1 + more / 100))})")
            functions.append(f"#[inline(never)]\npub fn {name}(n: u64) -> u64 {{\n    {body}\n}}\n")
        if work == "layout":
            functions += unused_functions(rng)
            rng.shuffle(functions)
        return "\n".join([HEAD, "use std::hint::black_box;\n", *functions])

    def plant(self, work, rng, _):
        write(self.top, {"src/lib.rs": self.library(work, rng)})


class Published:
    """A published crate with a program."""

    def __init__(self, scratch, name):
        version, main, binary, arguments, reads = PUBLISHED[name]
        self.top, self.main = scratch / name, main
        shutil.copytree(unpacked(scratch, name, version), self.top)
        for path in [self.top, *self.top.rglob("*")]:
            path.chmod(path.stat().st_mode | 0o200)
        manifest = (self.top / "Cargo.toml").read_text()
        stdin = 'stdin = "corpus.txt"\n' if reads else ""
        entry = f'\n[[package.metadata.perfcheck.program]]\nname = "{name}"\nbin = "{binary}"\nargs = {json.dumps(arguments)}\n{stdin}'
        workspace = "" if "[workspace]" in manifest else "\n[workspace]\n"
        rng = random.Random(1)
        words = ["fn", "let", "reading", "of", "*stars*", "`code`", "[link](x)", "writing", "1234", "lines", "struct", "_low_"]
        lines = [" ".join(rng.choices(words, k=12)) for _ in range(40_000)]
        values = [{"id": i, "name": rng.choice(words), "values": [rng.random() for _ in range(8)]} for i in range(20_000)]
        write(
            self.top,
            {"Cargo.toml": manifest + entry + workspace, "corpus.txt": "\n".join(lines), "corpus.json": json.dumps(values), ".gitignore": "/target\n"},
        )
        subprocess.run(["cargo", "generate-lockfile", "--quiet"], cwd=self.top, check=True)
        git(self.top, "init", "--quiet")
        commit(self.top, "As published", {})
        self.source = (self.top / main).read_text()

    def plant(self, work, rng, nanoseconds):
        source = self.source
        if work == "layout":
            source += "\n" + "\n".join(unused_functions(rng))
        elif work != "same":
            count = round(nanoseconds * float(work) / 100 / NS_PER_ITERATION)
            loop = KINDS["mix"][1].replace("WORK", f"std::hint::black_box({count}_u64)").replace("n,", "7_u64,").replace("|mixed, i|", "|mixed: u64, i: u64|")
            source, found = re.subn(r"(?m)^((?:pub )?fn main\(\)[^{]*\{)", lambda start: f"{start[1]}\n    std::hint::black_box({loop});", source, count=1)
            assert found, f"no main function in {self.main}"
        write(self.top, {self.main: source})


def unpacked(scratch, name, version):
    """Lets cargo fetch a published crate, and returns the directory with its files."""
    top = scratch / f"fetch-{name}"
    write(top, {"src/lib.rs": "", "Cargo.toml": f'[workspace]\n[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n{name} = "={version}"\n'})
    # `cargo metadata` leaves out dependencies without a library.
    subprocess.run(["cargo", "vendor", "--quiet", "vendor"], cwd=top, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return top / "vendor" / name


def compare(tool, suite, scratch, name):
    """Compares one program with HEAD, and returns the message about it."""
    words = [tool, "perfcheck", "--program", name, "--against", "HEAD", "--measure-identical", "--message-format", "json"]
    messages, said, _ = told(words, suite.top, scratch, ("Ready", "Fresh"))
    found = [one for one in messages if one["reason"] == "benchmark-compared"]
    if len(found) != 1 or found[0]["seconds"] is None:
        sys.exit(f"{' '.join(words)} compared {len(found)} programs\n{said}")
    return found[0]


def build_program(top, name, target):
    """Builds a program as `cargo build --release` does. Returns its executable, copied away from the next build's place."""
    binary = PUBLISHED[name][2] if name in PUBLISHED else name
    subprocess.run(["cargo", "build", "--release", "--quiet", "--bin", binary, "--target-dir", target], cwd=top, check=True)
    return target / "release" / binary


def compare_by_hyperfine(hyperfine, suite, scratch, name):
    """Returns what hyperfine reports about both executables, in the form that `compare` returns."""
    arguments, reads = PUBLISHED[name][3:] if name in PUBLISHED else ([], False)
    base = scratch / f"base-{suite.top.name}"
    if not base.exists():
        subprocess.run(["git", "clone", "--quiet", suite.top, base], check=True)
    executables = [build_program(top, name, scratch / f"target-{suite.top.name}-{side}") for side, top in (("base", base), ("candidate", suite.top))]
    report = scratch / "hyperfine.json"
    words = [hyperfine, "--shell=none", "--style=none", "--warmup=1", f"--export-json={report}"]
    words += ["--input", suite.top / "corpus.txt"] if reads else []
    started = time.monotonic()
    subprocess.run(
        [*words, *(" ".join([str(path), *(f"'{one}'" for one in arguments)]) for path in executables)],
        cwd=suite.top,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    base_mean, candidate_mean = (one["mean"] for one in json.loads(report.read_text())["results"])
    change = candidate_mean / base_mean - 1
    verdict = "regressed" if change >= 0.01 else "improved" if change <= -0.01 else "unchanged"
    return {"verdict": verdict, "change": {"estimate": change}, "seconds": time.monotonic() - started}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--programs", default="own,published")
    parser.add_argument("--work", default="same,layout,3")
    parser.add_argument("--cycles", type=int, default=4)
    parser.add_argument("--layouts", type=int)
    parser.add_argument("--noise", action="store_true")
    parser.add_argument("--hyperfine")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    tool = str(pathlib.Path(options.tool).resolve())
    wanted = options.programs.split(",")
    names = [name for kind, some in (("own", OWN), ("published", PUBLISHED)) for name in some if kind in wanted or name in wanted]
    scratch = (options.keep or pathlib.Path(tempfile.mkdtemp(prefix="programs-"))).resolve()
    if options.keep and scratch.exists() and any(scratch.iterdir()):
        sys.exit(f"{scratch} is not empty")
    rng = random.Random(options.seed)
    results = collections.defaultdict(list)
    try:
        own = Own(scratch)
        suites = {name: own if name in OWN else Published(scratch, name) for name in names}
        # The first comparison of each program only tells its time.
        times = {name: compare(tool, suites[name], scratch, name)["compared"]["base"] for name in names if name in PUBLISHED}
        for cycle in range(options.cycles):
            trials = [(work, name) for work in options.work.split(",") for name in names]
            rng.shuffle(trials)
            with machine_noise(cycle, options.noise) as condition:
                for work, name in trials:
                    layout = random.Random(f"{options.seed} {rng.randrange(options.layouts)}") if options.layouts else rng
                    suites[name].plant(work, layout, times.get(name))
                    found = {"perfcheck": compare(tool, suites[name], scratch, name)}
                    if options.hyperfine:
                        found["hyperfine"] = compare_by_hyperfine(options.hyperfine, suites[name], scratch, name)
                    suites[name].plant("same", None, None)
                    for by, one in found.items():
                        results[condition, work, by].append(one)
                        print(f"{condition} {work:<6} {name:<14} {by:<9} {one['verdict']:<13} {show_change(one):>9} {one['seconds']:.1f} s", flush=True)
    finally:
        if not options.keep:
            shutil.rmtree(scratch, ignore_errors=True)
        show(results)
    same = [one for (_, work, by), found in results.items() if work in UNCHANGED and by == "perfcheck" for one in found]
    sys.exit(1 if any(one["verdict"] in CALLED for one in same) else 0)


if __name__ == "__main__":
    main()
