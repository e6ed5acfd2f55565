#!/usr/bin/env python3
"""Tests `cargo perfcheck` in situations from public issue threads, each of them on a tiny crate.

  tests/real/situations/play.py [NAME...]       plays the situations whose names contain one of the words, or all
  tests/real/situations/play.py --part K/N      plays every N-th situation, beginning with the K-th
  tests/real/situations/play.py --list          prints README.md, which lists the situations with their threads
  tests/real/situations/play.py --check         fails if README.md is not what --list prints

PERFCHECK: the executable to test (default: target/debug/cargo-perfcheck, which is built). Needs cargo and git.
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import traceback

sys.dont_write_bytecode = True
import benches  # noqa: E402, F401
import cargo  # noqa: E402, F401
import command_line  # noqa: E402, F401
import environment  # noqa: E402, F401
import repositories  # noqa: E402, F401
from subject import HERE, Subject, Unexpected, remove  # noqa: E402
from table import SITUATIONS  # noqa: E402

LIST = pathlib.Path(__file__).with_name("README.md")


def markdown():
    def row(each):
        link = f"[{each.thread}](https://github.com/{each.thread.replace('#', '/issues/')})"
        cells = [f"`{each.name}`", link, each.what, each.expected, each.before or "so"]
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"

    rows = [row(each) for each in SITUATIONS]
    return "\n".join([f"""# Situations

{len(SITUATIONS)} situations from public issue threads. `tests/real/situations/play.py` plays each with `cargo perfcheck` on a tiny crate and checks the outcome; `--list` prints this page.
The last column says what happened when the situation was first tried.

| name | thread | situation | outcome | first |
|---|---|---|---|---|""", *rows, ""])


def play(each, tool, places):
    """Plays a situation. Returns what went wrong, and how many seconds it took. Situations that are played one after the other in the same directory
    share what cargo compiled."""
    place, began = places.pop(), time.monotonic()
    try:
        each.play(Subject(place, tool))
        return None, time.monotonic() - began
    except Unexpected as wrong:
        return str(wrong), time.monotonic() - began
    except Exception:
        return traceback.format_exc(), time.monotonic() - began
    finally:
        places.append(place)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("names", nargs="*")
    arguments.add_argument("--list", action="store_true")
    arguments.add_argument("--check", action="store_true")
    arguments.add_argument("--part", default="1/1")
    arguments.add_argument("--jobs", type=int, default=2)
    given = arguments.parse_args()
    if given.list:
        print(markdown(), end="")
        return 0
    if given.check:
        if LIST.read_text() == markdown():
            return 0
        print(f"{LIST} is not what --list prints")
        return 1
    tool = os.environ.get("PERFCHECK")
    if not tool:
        subprocess.run(["cargo", "build", "--quiet", "--locked", "--bin", "cargo-perfcheck"], cwd=HERE, check=True)
        tool = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", HERE / "target")) / "debug/cargo-perfcheck"
    wanted = [each for each in SITUATIONS if not given.names or any(name in each.name for name in given.names)]
    first, step = map(int, given.part.split("/"))
    wanted = wanted[(first - 1) % step::step]
    work = pathlib.Path(os.environ.get("KEEP") or tempfile.mkdtemp())
    places, failed, printing = [work / f"at{place}" for place in range(given.jobs)], [], threading.Lock()
    began = time.monotonic()

    def played(each):
        wrong, took = play(each, pathlib.Path(tool).resolve(), places)
        with printing:
            print(f"{'FAILED' if wrong else 'ok':6} {took:5.1f} s  {each.name}  ({each.thread})", flush=True)
            if wrong:
                failed.append(each.name)
                print("    " + wrong.replace("\n", "\n    "), flush=True)

    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        list(pool.map(played, wanted))
    if "KEEP" not in os.environ:
        remove(work)
    print(f"{len(wanted) - len(failed)} of {len(wanted)} as expected, {time.monotonic() - began:.0f} s{': not so ' if failed else ''}{', '.join(failed)}")
    return 1 if failed or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
