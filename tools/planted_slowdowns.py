#!/usr/bin/env python3
"""Measures how often `explain` names the function that became slower.

Takes published crates with the Criterion benches in their packages. In each crate, it draws functions at random from those that a benchmark runs, and
adds a loop to the beginning of one function at a time. `cargo perfcheck --against HEAD` measures a benchmark that runs this function, and
`cargo perfcheck explain` lists functions. The script reports the rank of the slowed function in this list.

A build with line tables is run by callgrind, whose counts by source line show which functions run, how much a turn of the loop costs, and which
symbols have the loop. Set-up that Criterion does not time (`iter_batched`) is left out, because a loop there would not change the measured time.
A function that is inlined has no symbol, so `explain` can only name the function that it was inlined into. Therefore two ranks are reported: that of
the function itself, and that of any function whose symbol has the loop. Generic functions are compared without their type arguments.

Prints a line for each slowdown, and writes a line to slowdowns.jsonl in the scratch directory. With --keep DIRECTORY, the next call continues from
there.

    tools/planted_slowdowns.py --tool target/release/cargo-perfcheck [--slowdowns 100] [--seed 1] [--crates NAME=VERSION[=FEATURES]...]
                               [--keep DIRECTORY] [--minutes M]

Needs cargo, git, valgrind and the registry. The exit code is 1 if fewer slowdowns were called `regressed` than `--slowdowns` asks for.
"""

import argparse
import collections
import dataclasses
import json
import os
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from planted_code import git, told
from rust_functions import Function, functions_of, with_statements

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "arena"))
from table import exact_interval, percent  # noqa: E402

# The crates, as name, version and features with `=` between them. The syntax is that of tests/real/criterion_unedited.sh.
CRATES = """
    base64=0.22.1 httparse=1.10.1 semver=1.0.28 httpdate=1.0.3 rpds=1.2.1 fancy-regex=0.19.2 tinytemplate=1.2.1 fraction=0.17.0
    tinyvec=1.13.3=alloc,real_blackbox fixed_decimal=0.7.3=ryu
""".split()

# A function is slowed down only if it executes at least this share of the instructions of a benchmark.
LEAST_SHARE = 0.01
# The largest number of benchmarks of a crate in which functions are searched.
MOST_BENCHMARKS = 30
# The number of turns of the loop in the build that finds out the cost of a turn.
TRIAL_TURNS = 64
# Instructions of the loop, as a share of those of the benchmark: of the whole loop at the first attempt, and the most that a single turn may cost.
SHARE, LARGEST_TURN = 0.2, 0.5
# The number of attempts. After an attempt that was not called `regressed`, the loop is made larger by this factor. After a change above the largest
# one, it is made smaller, if it has more than one turn.
ATTEMPTS, LARGER, LARGEST_CHANGE = 3, 2.5, 0.6
MOST_TURNS = 1_000_000

LOOP = """
{ let mut planted = core::hint::black_box(1_u64); let mut left = core::hint::black_box(%d_u32); while left != 0 { planted = core::hint::black_box(planted.rotate_left(5) ^ left as u64); left -= 1; } }
"""


@dataclasses.dataclass(frozen=True)
class Case:
    """A function, a benchmark that runs it, and the number of instructions of an iteration of this benchmark."""

    function: Function
    target: str
    id: str
    instructions: int

    def key(self):
        return [self.function.file, self.function.line, self.target, self.id]


class Subject:
    """A published crate in the scratch directory, in a git repository with one commit."""

    def __init__(self, word, place):
        self.name, self.version, self.features = (word.split("=") + ["", ""])[:3]
        self.place = place
        self.top = place / "crates" / self.name
        self.unpack()
        self.functions = self.scan()

    def scan(self):
        """Returns the functions of the sources as they are now."""
        return [one for file in sorted((self.top / "src").rglob("*.rs")) for one in functions_of(file, self.top)]

    def flags(self):
        return ["--features", self.features] if self.features else []

    def unpack(self):
        """Unpacks the crate as the scripts in tests/real/ do, or restores it if it is there."""
        if (self.top / ".git/HEAD").exists():
            self.restore()
            return
        shutil.rmtree(self.top, ignore_errors=True)
        registry = HERE.parent / "tests/real/registry.sh"
        subprocess.run(["bash", "-c", '. "$0" && unpack "$@"', registry, self.name, self.version, self.top], check=True)
        with (self.top / "Cargo.toml").open("a") as manifest:
            manifest.write("\n[workspace]\n")
        (self.top / ".gitignore").write_text("target\n")
        subprocess.run(["cargo", "generate-lockfile", "--quiet"], cwd=self.top, check=True)
        git(self.top, "init", "--quiet")
        git(self.top, "add", "--all")
        git(self.top, "commit", "--quiet", "-m", "As published")

    def plant(self, statements):
        """Writes a statement to the beginning of each of these functions."""
        for file in {function.file for function in statements}:
            here = {function: statement for function, statement in statements.items() if function.file == file}
            path = self.top / file
            path.write_text(with_statements(path.read_text(), here))

    def restore(self):
        git(self.top, "checkout", "--quiet", ".")

    def built(self, target="*"):
        """Builds the bench executables with line tables, and returns them by target. Returns none if they do not build. All crates share a target
        directory, so that a dependency that they share is built only once."""
        variables = os.environ | {"CARGO_TARGET_DIR": str(self.place / "target"), "CARGO_PROFILE_BENCH_DEBUG": "line-tables-only", "CARGO_PROFILE_BENCH_STRIP": "none"}
        words = ["cargo", "bench", "--no-run", "--quiet", "--message-format", "json", *self.flags(), "--bench", target]
        done = subprocess.run(words, cwd=self.top, env=variables, capture_output=True, text=True, check=False)
        if done.returncode:
            return {}
        messages = [json.loads(line) for line in done.stdout.splitlines()]
        return {one["target"]["name"]: one["executable"] for one in messages if one.get("executable")}

    def cases(self, seed):
        """Returns the cases to try, in a random order in which each function occurs once before any function occurs twice."""
        known = self.place / f"{self.name}.json"
        if not known.exists():
            known.write_text(json.dumps(self.executed(seed)))
        by_place = {(one.file, one.line): one for one in self.functions}
        cases = [Case(by_place[file, line], *rest) for file, line, *rest in json.loads(known.read_text())]
        random.Random(f"{seed} {self.name}").shuffle(cases)
        times, turn = collections.Counter(), {}
        for case in cases:
            turn[case] = times[case.function]
            times[case.function] += 1
        return sorted(cases, key=turn.get)

    def executed(self, seed):
        """Returns the functions that run: file and line of the function, and target, id and instructions of a benchmark that runs it."""
        built = self.built()
        if not built:
            print(f"{self.name} {self.version}: its benches do not build", flush=True)
            return []
        listed = [(target, id) for target, executable in sorted(built.items()) for id in benchmarks_of(executable, self.top)]
        found = []
        for target, id in random.Random(f"{seed} {self.name}").sample(listed, min(MOST_BENCHMARKS, len(listed))):
            counted = profile(built[target], id, self.top)
            total = instructions_of(counted)
            by_function = collections.Counter()
            for lines in counted.values():
                for (file, line), count in lines.items():
                    by_function[self.at(file, line)] += count
            runs = [one for one, count in by_function.items() if one and one.is_plain and count >= LEAST_SHARE * total]
            found += [[one.file, one.line, target, id, total] for one in runs]
        return sorted(found)

    def at(self, file, line):
        """Returns the innermost function that has this line, or None if the line is not in this crate."""
        inside = [one for one in self.functions if file == str(self.top / one.file) and one.line <= line <= one.last]
        return max(inside, key=lambda one: one.line, default=None)

    def tried(self, case):
        """Returns how many instructions a turn of the loop adds to an iteration, and the symbols that run the loop, those that run it most first."""
        self.plant({case.function: LOOP % TRIAL_TURNS})
        built = self.built(case.target)
        self.restore()
        counted = profile(built[case.target], case.id, self.top) if built else {}
        place = (str(self.top / case.function.file), case.function.body_line + 1)
        holders = {symbol: lines[place] for symbol, lines in counted.items() if lines[place]}
        turn = (instructions_of(counted) - case.instructions) / TRIAL_TURNS
        return turn, sorted(holders, key=holders.get, reverse=True)


def benchmarks_of(executable, top):
    """Returns the ids that Criterion lists for an executable."""
    done = subprocess.run([executable, "--bench", "--list"], cwd=top, capture_output=True, text=True, check=False)
    found = [re.fullmatch(r"(.*): bench(mark)?", line) for line in done.stdout.splitlines()]
    return [one[1] for one in found if one]


# callgrind writes a part of its counts at each reading of the clock. Criterion usually reads it four times and times what lies between the second and
# the third reading, so there are five parts, and only the third one counts. With `iter_custom`, in older versions, and in benchmarks that read the
# clock themselves, the number of parts differs, and all parts count.
PARTS_OF_ONE_BATCH, TIMED_OF_ONE_BATCH = 5, 2


def profile(executable, id, top):
    """Returns the timed instructions of an iteration by symbol, and for each symbol by file and line."""
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch) / "out"
        collect = ["--collect-atstart=no", "--toggle-collect=*bencher*Bencher*iter*", "--dump-before=*clock_gettime*", f"--callgrind-out-file={out}"]
        words = ["valgrind", "--tool=callgrind", *collect, executable, "--bench", "--test", f"^{re.escape(id)}$"]
        subprocess.run(words, cwd=top, capture_output=True, check=False)
        written = sorted(out.parent.glob("out.*"), key=lambda part: int(part.suffix[1:])) + [out] * out.exists()
        parts = [part for part in map(read_callgrind, (one.read_text() for one in written)) if instructions_of(part)]
    if len(parts) == PARTS_OF_ONE_BATCH:
        return parts[TIMED_OF_ONE_BATCH]
    counted = collections.defaultdict(collections.Counter)
    for part in parts:
        for symbol, lines in part.items():
            counted[symbol].update(lines)
    return counted


def instructions_of(counted):
    return sum(sum(lines.values()) for lines in counted.values())


def read_callgrind(text):
    """Returns the own instructions of each symbol, by file and line. The manual of valgrind describes the format ("Callgrind Format
    Specification")."""
    counted = collections.defaultdict(collections.Counter)
    names = {}
    symbol = file = ""
    line, is_call = 0, False
    for row in text.splitlines():
        key, _, word = row.partition("=")
        if key in ("fl", "fi", "fe", "cfi", "cfl", "fn", "cfn"):
            # A name is written in full only once, with a number that stands for it afterwards.
            number, _, name = word.partition(" ")
            name = names.setdefault((key[-2:] == "fn", number), name)
            if key == "fn":
                symbol = name
            elif not key.startswith("c"):
                file = name
        elif key == "calls":
            is_call = True
        elif row[:1] in tuple("0123456789+-*"):
            position, count = row.split()[:2]
            line = line if position == "*" else int(position) + (line if position[0] in "+-" else 0)
            # The line after a call has the cost of the callee, which is not an own cost of this function.
            if not is_call:
                counted[symbol][file, line] += int(count)
            is_call = False
    return counted


def segments(name):
    """Returns the parts of a readable name without type arguments. For `<a::B<T> as c::D>::e::<F>` they are a, B, D and e."""
    name = re.sub(r"\.llvm\.\d+$", "", name.strip())
    if name.startswith("<"):
        end = end_of_brackets(name)
        kind, _, of_trait = name[1 : end - 1].partition(" as ")
        found = segments(kind.lstrip("&*").removeprefix("mut "))
        found += segments(of_trait)[-1:]
        return found + segments(name[end:].removeprefix("::"))
    found, place, begin = [], 0, 0
    while place < len(name):
        if name[place] == "<":
            found.append(name[begin:place])
            begin = place = place + end_of_brackets(name[place:])
        elif name.startswith("::", place):
            found.append(name[begin:place])
            begin = place = place + 2
        else:
            place += 1
    found.append(name[begin:])
    closure = re.compile(r"\{+closure.*")
    return [closure.sub("{closure}", part) for part in found if part]


def end_of_brackets(text):
    """Returns the position after the bracket that closes the bracket at the beginning."""
    depth = 0
    for place, letter in enumerate(text):
        is_arrow = letter == ">" and text[place - 1] == "-"
        depth += (letter == "<") - (letter == ">" and not is_arrow)
        if depth == 0:
            return place + 1
    return len(text)


def is_symbol_of(symbol, function):
    """Returns whether a symbol is that of the function itself, and not that of a function into which it was inlined."""
    parts = segments(symbol)
    words = set(re.findall(r"\w+", symbol))
    return parts[-1:] == [function.name] and (not function.owners or not words.isdisjoint(function.owners))


def compared(tool, subject, case, *more):
    """Compares the work tree with the commit, with `more` flags. Returns the messages, the other output, and the seconds that the tool needed after
    the verdict."""
    words = [tool, "perfcheck", "--against", "HEAD", *subject.flags(), "--bench", case.target, "--exact", case.id, "--message-format", "json", *more]
    messages, said, took = told(words, subject.top, subject.place, "Counting")
    return {one["reason"]: one for one in messages}, said, took


def explained(tool, subject, case, run):
    """Runs `explain`. Returns the functions that it names, the most suspicious one first, the kind of evidence for them, and the seconds it took."""
    began = time.monotonic()
    [explanation], _, _ = told([tool, "perfcheck", "explain", case.id, "--run", str(run), "--message-format", "json"], subject.top, subject.place, ())
    took = time.monotonic() - began
    numbers = {one["about"]: one["numbers"] for one in explanation["sentences"]}
    for about, by in (("instructions", "counts"), ("sampled-time", "samples")):
        if known := numbers.get(about):
            return [one["name"] for one in known["functions"]], by, took
    code = numbers.get("code") or {"functions": []}
    return [one["name"] for one in code["functions"] if not one["same_code"]], "code", took


def rank(names, is_meant):
    """Returns the rank, counted from 1, of the first name for which `is_meant` is true. Returns None if there is no such name."""
    return next((place for place, name in enumerate(names, 1) if is_meant(name)), None)


def slowed(tool, subject, case):
    """Slows down the function of a case, and returns what the tool says about it. `outcome` is `called` if the verdict was `regressed`."""
    found = {"crate": subject.name, "version": subject.version, "case": case.key(), "function": case.function.name}
    turn, holders = subject.tried(case)
    if not holders or turn <= 0:
        return found | {"outcome": "not run"}
    if turn > LARGEST_TURN * case.instructions:
        return found | {"outcome": "too hot"}
    turns = max(1, round(SHARE * case.instructions / turn))
    for attempt in range(1, ATTEMPTS + 1):
        turns = min(turns, MOST_TURNS)
        subject.plant({case.function: LOOP % turns})
        messages, said, counting = compared(tool, subject, case)
        subject.restore()
        if "benchmark-compared" not in messages:
            return found | {"outcome": "failed", "said": said[-500:]}
        verdict = messages["benchmark-compared"]
        change = (verdict["change"] or {}).get("estimate")
        found |= {"attempts": attempt, "turns": turns, "verdict": verdict["verdict"], "change": change}
        is_called = verdict["verdict"] == "regressed"
        if is_called and (change <= LARGEST_CHANGE or turns == 1 or attempt == ATTEMPTS):
            break
        turns = max(1, round(turns * SHARE / change)) if is_called else round(turns * LARGER) + 1
    if not is_called:
        return found | {"outcome": "not called"}
    finished = messages["run-finished"]
    names, by, explaining = explained(tool, subject, case, finished["run"])
    parts_of_holders = [segments(one) for one in holders]
    return found | {
        "outcome": "called",
        "by": by,
        "names": names,
        "holders": holders,
        "has_symbol": any(is_symbol_of(one, case.function) for one in holders),
        "rank": rank(names, lambda name: is_symbol_of(name, case.function)),
        "rank_of_holder": rank(names, lambda name: segments(name) in parts_of_holders),
        "seconds": counting + explaining,
        "remarks": [one for one in finished["remarks"] if "not counted" in one],
    }


def line_of(found):
    file, line, target, id = found["case"]
    place = f"{found['crate']} {found['function']} ({file}:{line}) in {target} {id}"
    if found["outcome"] != "called":
        return f"{place}: {found['outcome']} {found.get('verdict', '')}"
    how = "" if found["has_symbol"] else f", inlined into {found['holders'][0]}"
    ranks = f"rank {found['rank'] or '-'}, of what runs it {found['rank_of_holder'] or '-'}"
    return f"{place}: {100 * found['change']:+.1f} %{how}: {ranks}, by {found['by']}, {found['seconds']:.1f} s: {', '.join(found['names'][:3])}"


def rates(title, called, member):
    """Prints how often the function has rank 1, and how often it is among the first three."""
    for most, word in ((1, "first"), (3, "among three")):
        count = sum(1 for one in called if one[member] and one[member] <= most)
        lower, upper = exact_interval(count, len(called))
        print(f"| {title} | {word} | {count} of {len(called)} | {percent(count / len(called))} ({percent(lower)} to {percent(upper)}) |")


def table(all_found):
    called = [one for one in all_found if one["outcome"] == "called"]
    outcomes = collections.Counter(one["outcome"] for one in all_found)
    print(f"\n{len(called)} slowdowns called in {len({one['crate'] for one in called})} crates; tried: {dict(outcomes)}")
    if not called:
        return
    with_symbol = [one for one in called if one["has_symbol"]]
    print("\n| | | count | share (exact 95 % interval) |\n|---|---|---|---|")
    rates("the function, of all", called, "rank")
    rates("it or what it is inlined into, of all", called, "rank_of_holder")
    if with_symbol:
        rates("the function, of those that have a symbol", with_symbol, "rank")
    print("\n| crate | called | with a symbol | it is first | it or its holder is first | among three | change |\n|---|---|---|---|---|---|---|")
    for crate in dict.fromkeys(one["crate"] for one in called):
        here = [one for one in called if one["crate"] == crate]
        first = sum(one["rank"] == 1 for one in here)
        holders = [one["rank_of_holder"] or 99 for one in here]
        change = statistics.median(one["change"] for one in here)
        print(
            f"| {crate} {here[0]['version']} | {len(here)} | {sum(one['has_symbol'] for one in here)} | {first} | {sum(place == 1 for place in holders)} "
            f"| {sum(place <= 3 for place in holders)} | {100 * change:+.0f} % |"
        )
    seconds = [one["seconds"] for one in called]
    print(f"\ncounting and explaining: {statistics.median(seconds):.1f} s (median), {max(seconds):.1f} s at most, {sum(one > 10 for one in seconds)} beyond 10 s")


def run_trials(options, name, measure, line_of):
    """Runs trials by `measure`, and returns the results of all trials, also of earlier calls with the same `--keep`.

    `measure` is called with the options, the directory for the crates, the time of its end, all results, and a function that adds a result. That
    function also writes the result to a file, and prints its line.
    """
    options.tool = str(pathlib.Path(options.tool).resolve())
    place = (options.keep or pathlib.Path(tempfile.mkdtemp(prefix=f"planted-{name}-"))).resolve()
    place.mkdir(parents=True, exist_ok=True)
    path = place / f"{name}.jsonl"
    all_found = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def record(found):
        all_found.append(found)
        written.write(json.dumps(found) + "\n")
        written.flush()
        print(line_of(found), flush=True)

    try:
        with path.open("a") as written:
            measure(options, place, time.monotonic() + 60 * options.minutes, all_found, record)
    finally:
        if not options.keep:
            shutil.rmtree(place, ignore_errors=True)
    return all_found


def measure(options, place, ends, all_found, record):
    """Tries slowdowns in the crates in turn, until enough of them were called `regressed`, no case is left, or the time is over."""
    subjects = [Subject(word, place) for word in options.crates]
    known = [(one["crate"], one["case"]) for one in all_found]
    waiting = {subject: [case for case in subject.cases(options.seed) if (subject.name, case.key()) not in known] for subject in subjects}
    while any(waiting.values()):
        for subject in subjects:
            # In each round, try cases of this crate until a slowdown is called `regressed`.
            while waiting[subject]:
                if sum(one["outcome"] == "called" for one in all_found) >= options.slowdowns or time.monotonic() > ends:
                    return
                found = slowed(options.tool, subject, waiting[subject].pop(0))
                record(found)
                if found["outcome"] == "called":
                    break


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--slowdowns", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--crates", nargs="+", default=CRATES)
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    options = parser.parse_args()
    all_found = run_trials(options, "slowdowns", measure, line_of)
    table(all_found)
    sys.exit(sum(one["outcome"] == "called" for one in all_found) < options.slowdowns)


if __name__ == "__main__":
    main()
