#!/usr/bin/env python3
"""Checks what `cargo perfcheck coverage` says about published crates: plants slowdowns of the sizes that it predicts, and panics in functions that
it calls never executed.

**Slowdowns.** In each crate, the script draws benchmarks, and functions that `coverage` says they see. It commits a state in which each of these
functions begins with a loop that does nothing yet. `coverage` of this state predicts the smallest slowdown of each function that its benchmark shows.
Before that, a comparison of identical code (`--measure-identical`) measures how much the benchmarks vary on this machine. Then the loop of one
function at a time gets turns, and `cargo perfcheck --against HEAD` compares the benchmark with the commit: once with turns for the predicted slowdown,
and once with turns for half of it. A slowdown is found if the verdict is `regressed`. It changes two constants, so inlining and the order of the
code stay as they are.

How much a turn costs is found by a comparison of its own, with turns for about five times the predicted change of the benchmark. The loop does not run
in each call. It runs about every 25 microseconds, with more turns: in a benchmark that takes 100 ns, even a single turn in each call would be too
much, and a processor hides a short loop by executing it together with the code around it.

The planted size is the slowdown of the function times its share, as a change of the benchmark's time. So the script assumes, as `coverage` does, that
a share of the instructions is the same share of the time. It prints for each comparison the planted and the measured change. Functions are skipped if
the loop does not slow their benchmark, if the cost of a turn was not measured precisely, or if a turn is too much.

**Panics.** The script plants panics in functions that are never executed, ten in one build, and runs each of the drawn benchmarks once. For this, the
benches are built without optimization and on Criterion. Functions in which a panic does not compile are skipped. In code that the build
leaves out, a panic cannot be hit. As a control, a panic is also planted in one function of each crate that is executed. It must be hit.

Prints a line for each function, and writes a line to coverage.jsonl in the scratch directory. With --keep DIRECTORY, the next call continues from
there. With `--slowdowns 0 --panics 0`, the crates are only prepared, which may take some minutes each. Words behind `--` are passed to each
comparison, for example `-- --time-per-benchmark 10s`.

    tools/planted_coverage.py --tool target/release/cargo-perfcheck [--slowdowns 200] [--panics 100] [--seed 1] [--crates NAME=VERSION[=FEATURES]...]
                              [--benchmarks 8] [--functions 40] [--keep DIRECTORY] [--minutes M] [-- FLAG...]

Needs cargo, git, valgrind and the registry. The exit code is 1 if fewer than 90 % of the predicted slowdowns were found, if more than 10 % of the
halves were found, if a panic was hit, or if a control was not.
"""

import argparse
import collections
import dataclasses
import json
import math
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import time

from planted_code import git, told
from planted_slowdowns import CRATES, LOOP, MOST_TURNS, Subject, compared, exact_interval, percent, run_trials
from rust_functions import Function

# Functions are drawn if a slowdown by at most this factor is predicted to be found.
LARGEST_SLOWDOWN = 3.0
# About how many nanoseconds lie between two runs of the loop, and about how many a turn takes. A sample takes about 500,000.
PERIOD, TURN = 25_000, 0.5
# About how many instructions a call needs to find out that the loop does not run.
INSTRUCTIONS_OF_CALL = 5
# The change of the benchmark with which the cost of a turn is measured, as a multiple of the predicted one. Measuring goes on until it is certain that
# the change is above the second number times this change. The third is the largest half of an interval, as a share of the change.
CALIBRATION, CERTAIN, PRECISION = 5, 0.8, 0.3
# The number of attempts, and the largest factor by which the number of turns increases from one to the next.
ATTEMPTS, LARGEST_FACTOR = 2, 10
# A single turn may take at most this share of half of the predicted change. Half of it may be exceeded by rounding by at most this factor.
LARGEST_TURN, LARGEST_EXCESS = 0.6, 1.1
PANICS_IN_BUILD = 10
MESSAGE = "perfcheck planted "
# At least this share of the predicted slowdowns must be found, and at most this share of their halves.
LEAST_FOUND, MOST_HALVES = 0.9, 0.1

# The loop runs in the first call, and then once in every so many calls. The two numbers are those of the calls between and of the turns.
COUNTED_LOOP = """
{ static PLANTED: core::sync::atomic::AtomicU32 = core::sync::atomic::AtomicU32::new(0); let left = PLANTED.load(core::sync::atomic::Ordering::Relaxed); if left == 0 { PLANTED.store(core::hint::black_box(%d_u32), core::sync::atomic::Ordering::Relaxed); LOOP } else { PLANTED.store(left - 1, core::sync::atomic::Ordering::Relaxed); } }
""".replace("LOOP", LOOP.strip())
IDLE_LOOP = COUNTED_LOOP % (2**32 - 1, 0)


class ToolError(Exception):
    """A command did not do what this script needs."""


@dataclasses.dataclass(frozen=True)
class Case:
    """A function that begins with a loop, and what `coverage` predicts about it."""

    function: Function
    target: str
    id: str
    # The function's share of this benchmark, and the smallest slowdown of the function that the benchmark shows.
    share: float
    slowdown: float
    # The change of the benchmark that this slowdown makes.
    size: float
    # How long an iteration takes, and about how often it calls the function.
    nanoseconds: float
    calls: float

    def key(self):
        return [self.function.file, self.function.line, self.target, self.id]


@dataclasses.dataclass(frozen=True)
class Prepared:
    """A crate whose commit has the loops, and what `coverage` says about this commit."""

    subject: Subject
    benchmarks: list
    cases: list
    # The functions that are never executed, and those that are executed in timed code.
    never: list
    timed: list


def call_tool(options, subject, words, last):
    """Runs a command of the tool, which writes messages of the kind `last` if it succeeds. Returns the messages by kind."""
    words = [options.tool, "perfcheck", *words, *subject.flags(), "--message-format", "json"]
    messages, said, _ = told(words, subject.top, subject.place, ())
    found = collections.defaultdict(list)
    for one in messages:
        found[one["reason"]].append(one)
    if last not in found:
        raise ToolError(f"{' '.join(words)}\n{said[-2000:]}")
    return found


def selection(benchmarks):
    """Returns the words that select these benchmarks and no others."""
    targets = sorted({one["target"] for one in benchmarks})
    names = [f"{one['package']}/{one['target']}: {one['id']}" for one in benchmarks]
    return [word for target in targets for word in ("--bench", target)] + ["--exact", *names]


def coverage(options, subject, benchmarks):
    """Runs `coverage`. Returns its messages about functions, the one about all of them, and the instructions of each line by file and line."""
    tracefile = subject.place / "lcov.info"
    # A tracefile has counts only of functions that are covered, so count all of them as covered that are seen at all.
    words = ["coverage", *selection(benchmarks), "--within", "1000000%", "--report", f"lcov={tracefile}"]
    found = call_tool(options, subject, words, "coverage-finished")
    counted, file = {}, ""
    for row in tracefile.read_text().splitlines():
        kind, _, value = row.partition(":")
        if kind == "SF":
            file = value
        elif kind == "DA":
            line, count = value.split(",")
            counted[file, int(line)] = int(count)
    return found["function-covered"], found["coverage-finished"][0], counted


def functions_with_rows(subject, rows):
    """Returns each function of the crate that `coverage` has a row about, with this row. Functions of macros are not in the crate's list."""
    by_place = {(one.file, one.line): one for one in subject.functions}
    places = [(by_place.get((row["file"], row["first_line"])), row) for row in rows]
    return [(function, row) for function, row in places if function]


def is_promising(function, row):
    return function.is_plain and row["execution"] == "timed" and row["slowdown"] <= LARGEST_SLOWDOWN


def prepare(options, subject):
    """Draws functions, commits loops in them, and asks for the coverage of this commit. Reads all that from a file if it is known."""
    known = subject.place / f"{subject.name}.json"
    if not known.exists():
        began = time.monotonic()
        git(subject.top, "reset", "--quiet", "--hard", ":/As published")
        subject.functions = subject.scan()
        found = describe(options, subject)
        known.write_text(json.dumps(found))
        assumed = f", {found['assumed']} with an assumed sensitivity" if found["assumed"] else ""
        print(
            f"{subject.name} {subject.version}: {len(found['benchmarks'])} benchmarks{assumed}, {len(found['cases'])} functions with loops, "
            f"{len(found['never'])} never executed, {time.monotonic() - began:.0f} s {' '.join(found['remarks'])}",
            flush=True,
        )
    found = json.loads(known.read_text())
    by_place = {(one.file, one.line): one for one in subject.functions}
    cases = [Case(by_place[file, line], *rest) for file, line, *rest in found["cases"]]
    never, timed = ([by_place[file, line] for file, line in found[name]] for name in ("never", "timed"))
    return Prepared(subject, found["benchmarks"], cases, never, timed)


def describe(options, subject):
    """Returns what `prepare` keeps in a file."""
    rng = random.Random(f"{options.seed} {subject.name}")
    listed = call_tool(options, subject, ["list"], "benchmark-found")["benchmark-found"]
    benchmarks = rng.sample([one["benchmark"] for one in listed], min(options.benchmarks, len(listed)))
    rows, _, _ = coverage(options, subject, benchmarks)
    promising = [function for function, row in functions_with_rows(subject, rows) if is_promising(function, row)]
    drawn = rng.sample(promising, min(options.functions, len(promising)))
    kept, _ = build_planted(subject, dict.fromkeys(drawn, IDLE_LOOP), benchmarks)
    commit_loops(subject, kept)

    words = [*selection(benchmarks), "--against", "HEAD", "--measure-identical", "--instructions", "never", *options.words]
    identical = call_tool(options, subject, words, "run-finished")["benchmark-compared"]
    times = {(one["benchmark"]["target"], one["benchmark"]["id"]): one["compared"]["base"] for one in identical if one["compared"]}
    rows, finished, counted = coverage(options, subject, benchmarks)
    sensitivities = {(one["benchmark"]["target"], one["benchmark"]["id"]): one for one in finished["benchmarks"]}
    cases, places = [], {"never": [], "timed": []}
    for function, row in functions_with_rows(subject, rows):
        if row["execution"] in places:
            places[row["execution"]].append([function.file, function.line])
        # The function's own lines follow the loop, which has a line of its own.
        calls = counted.get((function.file, function.body_line + 1), 0) / INSTRUCTIONS_OF_CALL
        key = row["benchmark"] and (row["benchmark"]["target"], row["benchmark"]["id"])
        if has_loop(subject, function) and is_promising(function, row) and calls and key in times:
            size = sensitivities[key]["smallest_change"]
            cases.append([function.file, function.line, *key, row["share"], row["slowdown"], size, times[key], calls])
    rng.shuffle(cases)
    for some in places.values():
        rng.shuffle(some)
    assumed = sum(not one["is_measured"] for one in finished["benchmarks"])
    return {"benchmarks": benchmarks, "cases": cases, **places, "assumed": assumed, "remarks": finished["remarks"]}


def commit_loops(subject, functions):
    subject.plant(dict.fromkeys(functions, IDLE_LOOP))
    with (subject.top / "Cargo.toml").open("a") as manifest:
        # Each planted slowdown is a build of its own, which is needed only once.
        manifest.write("\n[workspace.metadata.perfcheck]\nkept-builds-mib = 400\n")
    git(subject.top, "add", "--all")
    git(subject.top, "commit", "--quiet", "-m", "With loops")
    subject.functions = subject.scan()


def has_loop(subject, function):
    return (subject.top / function.file).read_text().startswith(IDLE_LOOP, function.body + 1)


def build_planted(subject, statements, benchmarks):
    """Plants statements in functions, and builds the bench targets of these benchmarks without optimization. Leaves out functions in which the
    statement does not compile. Returns the functions that are left, and the executables by target."""
    statements = dict(statements)
    while True:
        executables, culprits = try_build(subject, statements, benchmarks)
        if executables is not None:
            return list(statements), executables
        # The error may be at another place, for example if it is in a macro. Then try one function at a time.
        culprits = culprits or [one for one in statements if try_build(subject, {one: statements[one]}, benchmarks)[0] is None]
        if not culprits:
            raise ToolError(f"{subject.name} {subject.version}: its benches do not build without optimization")
        for one in culprits:
            del statements[one]


def try_build(subject, statements, benchmarks):
    """Returns the executables by target, or None if the build fails; and the functions with a statement in which the compiler found errors."""
    subject.plant(statements)
    planted = subject.scan()
    profile = {"OPT_LEVEL": "0", "LTO": "off", "DEBUG": "false", "CODEGEN_UNITS": "16"}
    variables = os.environ | {f"CARGO_PROFILE_BENCH_{name}": value for name, value in profile.items()}
    # Code behind a panic is unreachable, which some crates forbid.
    variables |= {"CARGO_TARGET_DIR": str(subject.place / "target"), "CARGO_INCREMENTAL": "1", "RUSTFLAGS": "--cap-lints=warn"}
    targets = [word for target in sorted({one["target"] for one in benchmarks}) for word in ("--bench", target)]
    words = ["cargo", "bench", "--no-run", "--quiet", "--message-format", "json", *subject.flags(), *targets]
    done = subprocess.run(words, cwd=subject.top, env=variables, capture_output=True, text=True, check=False)
    subject.restore()
    messages = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode == 0:
        return {one["target"]["name"]: one["executable"] for one in messages if one.get("executable")}, []
    errors = [one["message"] for one in messages if one["reason"] == "compiler-message" and one["message"]["level"] == "error"]
    spans = [span for error in errors for part in (error, *error["children"]) for span in part["spans"]]
    found = set()
    for span in spans:
        # A statement does not change the order of the functions.
        pairs = zip(subject.functions, planted)
        inside = [(one, now) for one, now in pairs if now.file == span["file_name"] and now.line <= span["line_start"] <= now.last]
        if inside:
            found.add(max(inside, key=lambda pair: pair[1].line)[0])
    return None, sorted(found & set(statements), key=lambda one: (one.file, one.line))


def run_benchmarks(subject, executables, benchmarks):
    """Runs each benchmark once, as `cargo bench -- --test` does. Returns all output, and whether all benchmarks succeeded."""
    said, is_well = "", True
    for target, executable in sorted(executables.items()):
        ids = [re.escape(one["id"]) for one in benchmarks if one["target"] == target]
        words = [executable, "--bench", "--test", f"^({'|'.join(ids)})$"]
        done = subprocess.run(words, cwd=subject.top, capture_output=True, text=True, errors="replace", check=False)
        said += done.stdout + done.stderr
        is_well &= done.returncode == 0 and len(re.findall(r"^Success$", done.stdout, re.MULTILINE)) == len(ids)
    return said, is_well


def plant_panics(subject, functions, benchmarks):
    """Plants a panic in each of these functions, and runs the benchmarks until none is hit any more. Returns the outcome by function."""
    outcomes = dict.fromkeys(functions, "not compiled")
    left = functions
    while left:
        # A panic that the bench catches is printed as well.
        left, executables = build_planted(subject, {one: f'\npanic!("{MESSAGE}{functions.index(one)}");\n' for one in left}, benchmarks)
        said, is_well = run_benchmarks(subject, executables, benchmarks)
        hit = {functions[int(number)] for number in re.findall(MESSAGE + r"(\d+)", said)}
        outcomes |= dict.fromkeys(hit, "hit")
        left = [one for one in left if one not in hit]
        if not hit:
            # Without a hit, all benchmarks must have run.
            return outcomes | dict.fromkeys(left, "not hit" if is_well else "failed")
    return outcomes


def check_panics(prepared, quota, ends, known, record):
    """Plants panics in up to `quota` functions that are never executed, and before that in one that is executed."""
    subject = prepared.subject

    def plant(functions, kind):
        for function, outcome in plant_panics(subject, functions, prepared.benchmarks).items():
            found = {"kind": kind, "crate": subject.name, "version": subject.version, "place": [function.file, function.line]}
            record(found | {"function": function.name, "outcome": outcome})

    done = [one["place"] for one in known if one["crate"] == subject.name and one["kind"] == "panic"]
    waiting = [one for one in prepared.never if [one.file, one.line] not in done]
    if quota > 0 and waiting and not any(one["kind"] == "control" and one["crate"] == subject.name for one in known):
        plant([one for one in prepared.timed if one.is_plain][:1], "control")
    while quota > 0 and waiting and time.monotonic() < ends:
        group, waiting = waiting[: min(quota, PANICS_IN_BUILD)], waiting[min(quota, PANICS_IN_BUILD) :]
        before = count_panics(known)
        plant(group, "panic")
        quota -= count_panics(known) - before


def compare(options, subject, case, every, turns, *more):
    """Gives the loop of a function so many turns in one of `every` calls, and compares, with `more` flags. Returns what the comparison found."""
    path = subject.top / case.function.file
    text, begin = path.read_text(), case.function.body + 1
    path.write_text(text[:begin] + COUNTED_LOOP % (every - 1, turns) + text[begin + len(IDLE_LOOP) :])
    began = time.monotonic()
    messages, said, _ = compared(options.tool, subject, case, "--instructions", "never", *options.words, *more)
    took = time.monotonic() - began
    subject.restore()
    if "benchmark-compared" not in messages:
        raise ToolError(f"{case.key()}: nothing was compared\n{said[-2000:]}")
    one = messages["benchmark-compared"]
    change = one["change"] or {}
    return {
        "turns": turns,
        "verdict": one["verdict"],
        "change": change.get("estimate"),
        "interval": [change.get("lower"), change.get("upper")],
        "seconds": took,
        "measuring": one["seconds"],
    }


def calibrate(options, subject, case, every):
    """Returns by how much a turn changes the benchmark, or None if this is not known precisely; and the comparisons that this took."""
    wanted = CALIBRATION * case.size
    turns = wanted * case.nanoseconds * every / (case.calls * TURN)
    trials = []
    while True:
        turns = min(max(1, round(turns)), MOST_TURNS)
        trials.append(compare(options, subject, case, every, turns, "--noise-threshold", f"{100 * CERTAIN * wanted}%"))
        change, (lower, upper) = trials[-1]["change"] or 0.0, trials[-1]["interval"]
        is_precise = None not in (lower, upper) and upper - lower <= 2 * PRECISION * change
        if is_precise and change >= case.size or len(trials) == ATTEMPTS:
            return (change / turns if is_precise and change > 0 else None), trials
        turns *= wanted / max(change, wanted / LARGEST_FACTOR)


def check_slowdown(options, subject, case):
    """Plants slowdowns of a function. Returns what was found, for the file of results."""
    found = {"kind": "slowdown", "crate": subject.name, "version": subject.version, "case": case.key(), "function": case.function.name}
    found |= {name: getattr(case, name) for name in ("share", "slowdown", "size", "nanoseconds", "calls")}
    try:
        return found | plant_slowdowns(options, subject, case)
    except ToolError as error:
        return found | {"outcome": "failed", "said": str(error)}


def plant_slowdowns(options, subject, case):
    """Plants the predicted slowdown of a function, and half of it, after a comparison that shows how much a turn costs."""
    every = max(1, round(case.calls * PERIOD / case.nanoseconds))
    turn, trials = calibrate(options, subject, case, every)
    found = {"every": every, "calibration": trials}
    if turn is None:
        return found | {"outcome": "not slowed" if (trials[-1]["change"] or 0.0) < case.size else "imprecise"}
    if turn > LARGEST_TURN * case.size / 2:
        return found | {"outcome": "too coarse"}
    half = round(case.size / 2 / turn)
    half -= half * turn > LARGEST_EXCESS * case.size / 2
    for name, turns in (("whole", round(case.size / turn)), ("half", half)):
        found[name] = compare(options, subject, case, every, turns) | {"planted": turns * turn}
    return found | {"outcome": "tried"}


def signed(fraction):
    return "-" if fraction is None else f"{100 * fraction:+.2f} %"


def line_of(found):
    if found["kind"] != "slowdown":
        file, line = found["place"]
        return f"{found['crate']} {found['function']} ({file}:{line}): {found['kind']} {found['outcome']}"
    file, line, target, id = found["case"]
    place = f"{found['crate']} {found['function']} ({file}:{line}) in {target} {id}: {percent(found['share'])}, predicted {signed(found['slowdown'])}"
    if found["outcome"] == "failed":
        return f"{place}: {found['said']}"
    if found["outcome"] != "tried":
        trial = found["calibration"][-1]
        return f"{place}: {found['outcome']}, {signed(trial['change'])} with {trial['turns']} turns in one of {found['every']} calls"
    parts = [
        f"{name} {signed(one['planted'])} measured {signed(one['change'])} {one['verdict']} in {one['seconds']:.1f} s"
        for name, one in ((name, found[name]) for name in ("whole", "half"))
    ]
    return f"{place}: {', '.join(parts)}"


def select(all_found, kind, *outcomes):
    return [one for one in all_found if one["kind"] == kind and one["outcome"] in outcomes]


def count_panics(all_found):
    return len(select(all_found, "panic", "hit", "not hit"))


def count_found(tried, name):
    return sum(one[name]["verdict"] == "regressed" for one in tried)


def quartiles(values):
    return " / ".join(f"{one:.2f}" for one in statistics.quantiles(values, n=4, method="inclusive")) if len(values) > 1 else f"{values[0]:.2f}"


def rate(count, trials):
    lower, upper = exact_interval(count, trials)
    return f"{count} of {trials}, {percent(count / trials)} ({percent(lower)} to {percent(upper)})"


def table_of_slowdowns(all_found):
    tried = select(all_found, "slowdown", "tried")
    outcomes = collections.Counter(one["outcome"] for one in all_found if one["kind"] == "slowdown")
    print(f"\nSlowdowns of functions: {dict(outcomes)}")
    if not tried:
        return
    print("\n| crate | functions | predicted slowdown | of the benchmark | predicted size found | half found | seconds |\n|---|---|---|---|---|---|---|")
    for crate in dict.fromkeys(one["crate"] for one in tried):
        here = [one for one in tried if one["crate"] == crate]
        slowdown, size = (statistics.median(one[name] for one in here) for name in ("slowdown", "size"))
        seconds = statistics.fmean(one[name]["seconds"] for one in here for name in ("whole", "half"))
        print(
            f"| {crate} {here[0]['version']} | {len(here)} | {signed(slowdown)} | {signed(size)} "
            f"| {count_found(here, 'whole')} | {count_found(here, 'half')} | {seconds:.1f} |"
        )
    print("\n| | found (exact 95 % interval) | measured / planted, quartiles | seconds | of these measuring |\n|---|---|---|---|---|")
    for name, title in (("whole", "predicted size"), ("half", "half of it")):
        trials = [one[name] for one in tried]
        ratios = [one["change"] / one["planted"] for one in trials if one["change"] is not None]
        measuring = [one["measuring"] for one in trials if one["measuring"] is not None]
        print(
            f"| {title} | {rate(count_found(tried, name), len(tried))} | {quartiles(ratios) if ratios else '-'} "
            f"| {statistics.fmean(one['seconds'] for one in trials):.1f} | {statistics.fmean(measuring) if measuring else 0:.1f} |"
        )


def table_of_panics(all_found):
    outcomes = collections.Counter(one["outcome"] for one in all_found if one["kind"] == "panic")
    controls = collections.Counter(one["outcome"] for one in all_found if one["kind"] == "control")
    print(f"\nPanics in functions that are never executed: {dict(outcomes)}; in functions that are executed: {dict(controls)}")
    if trials := count_panics(all_found):
        print(f"hit: {rate(outcomes['hit'], trials)}")


def is_as_predicted(options, all_found):
    """Reports whether the results are as good as they have to be."""
    tried = select(all_found, "slowdown", "tried")
    is_well = not select(all_found, "panic", "hit", "failed") and not select(all_found, "control", "not hit", "failed")
    if options.slowdowns:
        is_well &= bool(tried) and count_found(tried, "whole") >= LEAST_FOUND * len(tried) and count_found(tried, "half") <= MOST_HALVES * len(tried)
    return is_well and (not options.panics or count_panics(all_found) > 0)


def check_crate(options, subject, parts, ends, all_found, record):
    """Checks functions of a crate: one of `parts` equal parts of what is still wanted, or fewer if the crate has fewer."""
    prepared = prepare(options, subject)
    panics = math.ceil((options.panics - count_panics(all_found)) / parts)
    check_panics(prepared, panics, ends, all_found, record)
    slowdowns = math.ceil((options.slowdowns - len(select(all_found, "slowdown", "tried"))) / parts)
    known = [one["case"] for one in all_found if one["kind"] == "slowdown" and one["crate"] == subject.name]
    waiting = [case for case in prepared.cases if case.key() not in known]
    while slowdowns > 0 and waiting and time.monotonic() < ends:
        found = check_slowdown(options, subject, waiting.pop(0))
        record(found)
        slowdowns -= found["outcome"] == "tried"


def measure(options, place, ends, all_found, record):
    """Checks the crates one after the other. Crates with many functions then make up for those with few."""
    subjects = [Subject(word, place) for word in options.crates]
    for is_second in (False, True):
        waiting = list(subjects)
        while waiting:
            parts = 1 if is_second else len(waiting)
            subject = waiting.pop(0)
            now = time.monotonic()
            if now > ends:
                return
            try:
                check_crate(options, subject, parts, now + (ends - now) / parts, all_found, record)
            except ToolError as error:
                print(f"{subject.name} {subject.version} is left out: {error}", flush=True)
                subjects.remove(subject)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--slowdowns", type=int, default=200)
    parser.add_argument("--panics", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--crates", nargs="+", default=CRATES)
    parser.add_argument("--benchmarks", type=int, default=8, help="draw at most this number of benchmarks in a crate")
    parser.add_argument("--functions", type=int, default=40, help="draw at most this number of functions in a crate")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("words", nargs="*", help="flags for each comparison, behind --")
    options = parser.parse_args()
    all_found = run_trials(options, "coverage", measure, line_of)
    table_of_slowdowns(all_found)
    table_of_panics(all_found)
    sys.exit(not is_as_predicted(options, all_found))


if __name__ == "__main__":
    main()
