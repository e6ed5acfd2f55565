"""Times commands on a large store: store_scale.py EXECUTABLE [BEFORE] --work DIRECTORY --last RUN [--repeats N] [--only COMMAND...].

DIRECTORY has `perfcheck.db`, as the program `store_scale` fills it, and `crate`, the package in which the commands are called. The script prints
medians of the wall time and the CPU time (user and system) of each whole command. If BEFORE, another executable, is given, both executables take
turns, and what they print is compared byte by byte, with one thread and with several.
"""

import argparse
import hashlib
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time


def run(executable, words, store, work, threads=None):
    """Runs a command. Returns its wall and CPU time in seconds, and a digest of what it printed."""
    environment = os.environ | {"PERFCHECK_STORE": str(store), "PERFCHECK_CACHE": str(work / "cache")}
    if threads:
        environment["RAYON_NUM_THREADS"] = threads
    with open(work / "out", "wb") as out, open(work / "err", "wb") as errors:
        began = time.monotonic()
        child = subprocess.Popen([executable, "perfcheck", *words], cwd=work / "crate", env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=errors)
        _, status, used = os.wait4(child.pid, 0)
        wall = time.monotonic() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    # The exit code 1 is allowed, because the made-up data may contain a regression.
    if child.returncode not in (0, 1):
        sys.exit(f"{' '.join(words)} ended with {child.returncode}: {(work / 'err').read_text()}")
    return wall, used.ru_utime + used.ru_stime, hashlib.sha256((work / "out").read_bytes()).hexdigest()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("executables", nargs="+", metavar="EXECUTABLE")
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--last", type=int, required=True)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=[])
    given = parser.parse_args()
    work, last = given.work.resolve(), given.last
    store = work / "perfcheck.db"
    commands = {
        "history": ["history"],
        "history of some": ["history", "function/1"],
        "history of all": ["history", "group"],
        "compare": ["compare", str(last - 1), str(last)],
        "compare as JSON": ["compare", str(last - 1), str(last), "--message-format", "json"],
        "show": ["show", str(last)],
        "show --stats": ["show", str(last), "--stats"],
        "explain": ["explain", "group/function/7"],
        "report as a page": ["report", str(last), "--report", f"html={work / 'page.html'}"],
        "report as Markdown": ["report", str(last), "--report", "markdown"],
        "store runs": ["store", "runs"],
        "store export of a run": ["store", "export", str(last)],
        "store import of a run": ["store", "import", str(work / "exported.jsonl"), "--dry-run"],
        "baseline list": ["baseline", "list"],
        "store prune": ["store", "prune", "--keep-last", str(max(1, last // 5)), "--yes"],
    }
    for name, words in commands.items():
        if given.only and name not in given.only:
            continue
        if name == "store import of a run":
            with open(work / "exported.jsonl", "wb") as file:
                environment = os.environ | {"PERFCHECK_STORE": str(store)}
                subprocess.run([given.executables[0], "perfcheck", "store", "export", str(last)], cwd=work / "crate", env=environment, stdout=file, check=True)
        measured, printed = [[] for _ in given.executables], set()
        for _ in range(given.repeats):
            for place, executable in enumerate(given.executables):
                used = store
                if name == "store prune":
                    # Use a fresh copy of the store each time. Wait until the copy is on the disk, so that writing it is not timed.
                    used = work / "pruned.db"
                    shutil.copyfile(store, used)
                    os.sync()
                *times, digest = run(executable, words, used, work)
                measured[place].append(times)
                printed.add(digest)
        if len(given.executables) > 1:
            for threads in ("1", "3"):
                if name != "store prune":
                    printed.add(run(given.executables[0], words, store, work, threads)[-1])
        (work / "pruned.db").unlink(missing_ok=True)
        figures = []
        for times in measured:
            wall, cpu = (statistics.median(column) for column in zip(*times))
            figures.append(f"{wall:8.2f} s, CPU {cpu:8.2f} s")
        same = "" if len(printed) == 1 else f"   {len(printed)} DIFFERENT OUTPUTS"
        print(f"{name:24} {'   before: '.join(figures)}{same}", flush=True)


main()
