"""Times commands on a large store: store_scale.py EXECUTABLE [BEFORE] --work DIRECTORY --last RUN [--repeats N] [--only COMMAND...].

DIRECTORY has `perfcheck.db` as `store_scale` fills it, and `crate`, the package that the commands are called in. Wall and CPU time (user and system) of the whole command, medians. With BEFORE, another executable, both are started in turn, and what they print is compared
byte by byte, with one thread and with several.
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
    """Seconds of wall and of CPU, and a digest of what was printed."""
    environment = os.environ | {"PERFCHECK_STORE": str(store), "PERFCHECK_CACHE": str(work / "cache")}
    if threads:
        environment["RAYON_NUM_THREADS"] = threads
    with open(work / "out", "wb") as out, open(work / "err", "wb") as errors:
        began = time.monotonic()
        child = subprocess.Popen([executable, "perfcheck", *words], cwd=work / "crate", env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=errors)
        _, status, used = os.wait4(child.pid, 0)
        wall = time.monotonic() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    # A regression in made-up data is no failure of this script.
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
                    # A file of its own each time; what is written to it is not the copying of it.
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
