#!/usr/bin/env python3
"""Tests `cargo perfcheck --against` on commits of published crates: what it calls changed, what it does not measure, and which functions it names.

    tests/real/real_commits.py [releases|unreached|regressions [CRATE...]]       default: all three

releases: a release commit changes only the version number. No benchmark may be called changed, whether it is measured or not. The benches are the
    crate's own, with the version of Criterion and the profile that its authors chose. (Those of quick-xml are in this file, because its package
    does not have them.)
unreached: the step from one published version to the next changes no code that a bench target reaches. All benchmarks must be proven `unchanged`
    without a measurement.
regressions: a slowdown from the history of a crate, which the maintainers describe and whose function they name. The versions before and after it are
    compared. If it was fixed later, the fixed version is the base, and the version before the fix is the candidate. The slowdown must be called
    `regressed`, and `explain` must name the function among its first three.

A commit is made from two packages of the registry, in a repository of its own. PERFCHECK: the executable to test (default: a release build of this
repository). KEEP: a directory to work in, which is not removed. The exit status is 0 if all checks pass. Needs the registry, git and bash, and
valgrind for `regressions`.
"""

import dataclasses
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent.parent.parent
# The largest rank that the function that the maintainers named may have in the list of `explain`.
FIRST = 3


@dataclasses.dataclass
class Step:
    """A commit that leads from one version of a crate to another, with the bench target that is measured."""

    crate: str
    base: str
    candidate: str
    # The bench target that is measured. If `source` is given, it is the text of the bench, written for our harness or for the crate's own Criterion.
    bench: str
    source: str = ""
    criterion: bool = False
    # For releases: the benchmarks that are measured although nothing differs. Both sides have the sources of `candidate`.
    measured: tuple = ()
    # For regressions: the benchmark that is slower, the name of the function, and where the maintainers describe the slowdown.
    slower: str = ""
    named: str = ""
    said: str = ""


QUICK_XML = """
use criterion::{Criterion, criterion_group, criterion_main};
use quick_xml::escape::{escape, unescape};
use std::hint::black_box;

fn escaping(c: &mut Criterion) {
    let plain = "a sentence without anything that has to be written in another way, ".repeat(8);
    let some = "age > 72 && age < 21, \\"quoted\\" and 'quoted', then a stretch of plain words; ".repeat(8);
    let mut group = c.benchmark_group("escape_text");
    group.bench_function("no_chars_to_escape_long", |b| b.iter(|| black_box(escape(black_box(plain.as_str())))));
    group.bench_function("escaped_chars_long", |b| b.iter(|| black_box(escape(black_box(some.as_str())))));
    group.finish();
    let mut group = c.benchmark_group("unescape_text");
    group.bench_function("entity_reference", |b| b.iter(|| black_box(unescape(black_box("age &gt; 72 &amp;&amp; age &lt; 21")))));
    group.finish();
}

criterion_group!(benches, escaping);
criterion_main!(benches);
"""

AHO_CORASICK = """
use perfcheck::{Suite, black_box};

fn small(suite: &mut Suite) {
    suite.bench("build/nfa", |b| b.iter(|| aho_corasick::nfa::noncontiguous::NFA::new(black_box(["foo", "bar", "quux"])).unwrap()));
    let built = aho_corasick::AhoCorasick::new(["foo", "bar", "quux"]).unwrap();
    let text = "neither of the three words until here: quux ".repeat(20);
    suite.bench("find", |b| b.iter(|| built.find_iter(black_box(&text)).count()));
}

perfcheck::main!(small);
"""

NOM = """
use nom::number::complete::double;
use perfcheck::{Suite, black_box};

fn numbers(suite: &mut Suite) {
    let texts = ["3.14159", "-1234.5678e-3", "123456789.12345", "0.000125", "6.02214076e23", "42"];
    suite.bench("double", |b| b.iter(|| texts.iter().map(|text| double::<_, ()>(black_box(*text)).unwrap().1).sum::<f64>()));
    suite.bench("digits", |b| b.iter(|| nom::character::complete::digit1::<_, ()>(black_box("1234567890 rest")).unwrap().1.len()));
}

perfcheck::main!(numbers);
"""

PEST = """
use perfcheck::{Suite, black_box};
use pest::{ParserState, ParseResult, iterators::Pairs, state};

#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
enum Rule { line, word }

type State<'i> = Box<ParserState<'i, Rule>>;

fn word(s: State<'_>) -> ParseResult<State<'_>> {
    s.rule(Rule::word, |s| s.match_range('a'..'z').and_then(|s| s.repeat(|s| s.match_range('a'..'z'))))
}

fn line(s: State<'_>) -> ParseResult<State<'_>> {
    s.rule(Rule::line, |s| s.repeat(|s| word(s).and_then(|s| s.match_string(" "))).and_then(|s| s.match_string("\\n")))
}

fn parse(text: &str) -> Pairs<'_, Rule> {
    state(text, |s| s.repeat(line)).unwrap()
}

fn iterating(suite: &mut Suite) {
    let text = "several words stand in a line \\n".repeat(60);
    let pairs = parse(&text);
    suite.bench("nested", |b| b.iter(|| {
        black_box(&pairs).clone().map(|line| line.into_inner().map(|word| word.as_str().len()).sum::<usize>()).sum::<usize>()
    }));
}

perfcheck::main!(iterating);
"""

REGEX_SYNTAX = """
use perfcheck::{Suite, black_box};

fn classes(suite: &mut Suite) {
    // Every other letter: no two ranges touch.
    let letters = |count: u32| (0..count).filter_map(|n| char::from_u32(0x4e00 + 2 * n)).collect::<String>();
    let (few, many) = (format!("[{}]", letters(4)), format!("[{}]", letters(200)));
    suite.bench("class/4", |b| b.iter(|| regex_syntax::parse(black_box(&few)).unwrap()));
    suite.bench("class/200", |b| b.iter(|| regex_syntax::parse(black_box(&many)).unwrap()));
}

perfcheck::main!(classes);
"""

PARTS = {
    "releases": [
        # This is its commit 6242da0, "Release 0.39.0".
        Step("quick-xml", "0.38.4", "0.39.0", "escaping", source=QUICK_XML, criterion=True,
             measured=("escape_text/no_chars_to_escape_long", "escape_text/escaped_chars_long", "unescape_text/entity_reference")),
        Step("base64", "0.22.0", "0.22.1", "benchmarks", measured=("encode_small_input/encode/100", "decode_small_input/decode_slice/100")),
        Step("itoa", "1.0.16", "1.0.17", "bench", measured=("u64[max]/itoa", "u128[max]/itoa", "u64[half]/std::fmt")),
        Step("semver", "1.0.27", "1.0.28", "parse", measured=("parse Version", "parse VersionReq")),
        Step("httpdate", "1.0.2", "1.0.3", "benchmarks", measured=("parse_imf_fixdate", "parse_asctime")),
    ],
    "unreached": [
        Step("itoa", "1.0.16", "1.0.17", "bench"),
        Step("tinytemplate", "1.2.0", "1.2.1", "benchmarks"),
        Step("glam", "0.21.1", "0.21.2", "vec4"),
    ],
    "regressions": [
        Step("aho-corasick", "1.0.5", "1.0.4", "small", source=AHO_CORASICK, slower="build/nfa", named=r"noncontiguous::(NFA::add_transition|Compiler::(init|set|add|close)_\w+)",
             said="BurntSushi/aho-corasick#126"),
        Step("nom", "7.0.0", "7.1.0", "numbers", source=NOM, slower="double", named=r"FromStr>::from_str|number::complete::double|dec2flt",
             said="7.1.0 in its changelog"),
        Step("pest", "2.5.2", "2.5.3", "iterating", source=PEST, slower="nested", named=r"Pairs<.*>::move_cursor|position::line_col",
             said="pest-parser/pest#784"),
        Step("regex-syntax", "0.8.11", "0.8.10", "classes", source=REGEX_SYNTAX, slower="class/200", named=r"IntervalSet<.*>::(push|canonicalize)",
             said="1.12.4 in the changelog of regex, rust-lang/regex#1308"),
    ],
}


class Failed(Exception):
    """A check that failed."""


def run(words, cwd=None, env=None, status=(0,)):
    """Runs a command and returns its output. Fails if the exit status is not one of these."""
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True)
    if done.returncode not in status:
        raise Failed(f"{' '.join(map(str, words))} ended with {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout


def sections(manifest):
    """Returns the sections of a manifest that cargo wrote. Each is a list of lines that begins with its header."""
    parts = [[]]
    for line in manifest.splitlines():
        if line.startswith("["):
            parts.append([])
        parts[-1].append(line)
    return parts


class Workshop:
    """The tool, and the directory in which all crates are unpacked, one after the other, so that a dependency that they share is built only once."""

    def __init__(self, work):
        self.work = work
        self.crate = work / "crate"
        self.env = dict(os.environ, PERFCHECK_CACHE=str(work / "cache"))
        self.env.pop("PERFCHECK_NO_RERUN", None)
        self.tool = os.environ.get("PERFCHECK")
        if not self.tool:
            run(["cargo", "build", "--quiet", "--release", "--locked", "--manifest-path", HERE / "Cargo.toml"])
            self.tool = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", HERE / "target")) / "release/cargo-perfcheck"

    def unpack(self, step, version):
        """Replaces the files in the directory by those of this version, with the benches of the step."""
        for path in self.crate.iterdir():
            if path.name not in (".git", "Cargo.lock"):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        script = '. "$0/tests/real/registry.sh"; unpack "$1" "$2" .'
        lock = self.crate / "Cargo.lock"
        kept = lock.read_bytes() if lock.exists() else None
        run(["bash", "-euc", script, HERE, step.crate, version], cwd=self.crate)
        if kept:
            lock.write_bytes(kept)
        manifest = self.crate / "Cargo.toml"
        text = manifest.read_text()
        if step.source:
            unwanted = r"\[\[(bench|test|example)\]\]" if step.criterion else r"\[\[(bench|test|example)\]\]|\[(target\..*\.)?dev-dependencies"
            text = "\n".join("\n".join(part) for part in sections(text) if not (part and re.match(unwanted, part[0])))
            text += f'\n[[bench]]\nname = "{step.bench}"\nharness = false\n'
            if not step.criterion:
                text += f"\n[dev-dependencies]\nperfcheck = {{ path = {json.dumps(str(HERE / 'harness'))} }}\n"
            (self.crate / "benches").mkdir(exist_ok=True)
            (self.crate / "benches" / f"{step.bench}.rs").write_text(step.source)
        manifest.write_text(text + "\n[workspace]\n")
        (self.crate / ".gitignore").write_text("/target\n/Cargo.lock\n")

    def commit(self, subject):
        git = ["git", "-c", "user.name=test", "-c", "user.email=test@localhost"]
        run([*git, "add", "--all"], cwd=self.crate)
        run([*git, "commit", "--quiet", "-m", subject], cwd=self.crate)

    def prepare(self, step, release):
        """Creates a repository with two commits, which are the base and the candidate of the step."""
        shutil.rmtree(self.crate, ignore_errors=True)
        self.crate.mkdir(parents=True)
        run(["git", "init", "--quiet", "."], cwd=self.crate)
        if release:
            self.unpack(step, step.candidate)
            manifest = self.crate / "Cargo.toml"
            text = manifest.read_text()
            released = f'version = "{step.candidate}"'
            manifest.write_text(text.replace(released, f'version = "{step.base}"', 1))
            self.commit(step.base)
            manifest.write_text(text)
        else:
            self.unpack(step, step.base)
            self.commit(step.base)
            self.unpack(step, step.candidate)
        self.commit(f"Release {step.candidate}")
        self.env["PERFCHECK_STORE"] = str(self.work / f"{step.crate}-{step.candidate}-{step.bench}.db")
        pathlib.Path(self.env["PERFCHECK_STORE"]).unlink(missing_ok=True)

    def messages(self, *flags, status=(0, 1)):
        words = [self.tool, "perfcheck", *flags, "--message-format", "json"]
        return [json.loads(line) for line in run(words, cwd=self.crate, env=self.env, status=status).splitlines()]

    def against(self, step, *flags):
        """Compares the last commit with the one before it, and returns the message about each benchmark."""
        said = self.messages("--against", "HEAD~1", "--bench", step.bench, *flags)
        compared = {message["benchmark"]["id"]: message for message in said if message["reason"] == "benchmark-compared"}
        if not compared:
            raise Failed("nothing was compared")
        return compared

    def blamed(self, benchmark):
        """Returns the functions that `explain` names, in its order: those that execute more instructions, then those whose code changed."""
        (said,) = [message for message in self.messages("explain", benchmark) if message["reason"] == "explanation"]
        names = []
        for about in ("instructions", "code"):
            for sentence in said["sentences"]:
                if sentence["about"] == about:
                    functions = sentence["numbers"].get("functions") or []
                    if about == "instructions":
                        functions = [function for function in functions if (function["candidate"] or 0) > (function["base"] or 0)]
                    names += [function["name"] for function in functions if function["name"] not in names]
        return names


def counted(compared):
    """Counts the benchmarks by verdict, and by why both sides were known to be the same, if they were."""
    verdicts = {}
    for message in compared.values():
        word = message["verdict"] + (f" by {message['same']}" if message["same"] else " when measured")
        verdicts[word] = verdicts.get(word, 0) + 1
    return ", ".join(f"{count} {word}" for word, count in sorted(verdicts.items()))


def percent(message):
    estimate = message["change"]
    value = estimate["estimate"] if isinstance(estimate, dict) else estimate
    return "-" if value is None else f"{value * 100:+.1f} %"


def called(compared):
    return {name: message for name, message in compared.items() if message["verdict"] in ("regressed", "improved")}


def release(shop, step):
    shop.prepare(step, release=True)
    plain = shop.against(step)
    measured = shop.against(step, "--measure-identical", "--exact", *step.measured)
    if len(measured) != len(step.measured):
        raise Failed(f"measured were {sorted(measured)}")
    said = f"{counted(plain)}; measured all the same: {counted(measured)} ({', '.join(percent(message) for message in measured.values())})"
    wrong = {**called(plain), **called(measured)}
    if wrong:
        raise Failed(f"{said}; called changed: {', '.join(f'{name} {percent(message)}' for name, message in wrong.items())}")
    return said


def unreached(shop, step):
    shop.prepare(step, release=False)
    compared = shop.against(step)
    said = counted(compared)
    if any(message["verdict"] != "unchanged" or not message["same"] for message in compared.values()):
        wrong = [name for name, message in compared.items() if not message["same"]]
        raise Failed(f"{said}; not proven: {', '.join(wrong[:6])}")
    return said


def regression(shop, step):
    shop.prepare(step, release=False)
    compared = shop.against(step)
    slower = compared[step.slower]
    names = shop.blamed(step.slower)
    place = next((place for place, name in enumerate(names, 1) if re.search(step.named, name)), None)
    said = f"{slower['verdict']} {percent(slower)}; named {place or 'nowhere'} of {len(names)}: {'; '.join(names[:FIRST])}; {step.said}"
    if slower["verdict"] != "regressed" or place is None or place > FIRST:
        raise Failed(said)
    return said


CHECKS = {"releases": release, "unreached": unreached, "regressions": regression}


def main():
    parts = sys.argv[1:2] or list(PARTS)
    if not set(parts) <= set(PARTS):
        sys.exit(__doc__)
    work = pathlib.Path(os.environ.get("KEEP") or tempfile.mkdtemp(prefix="real-commits-")).resolve()
    work.mkdir(parents=True, exist_ok=True)
    rows = []
    try:
        shop = Workshop(work)
        for part in parts:
            for step in PARTS[part]:
                if sys.argv[2:] and step.crate not in sys.argv[2:]:
                    continue
                began = time.monotonic()
                try:
                    result, said = "ok", CHECKS[part](shop, step)
                except Failed as failed:
                    result, said = "FAILED", str(failed)
                rows.append((part, f"{step.crate} {step.base} -> {step.candidate}", step.bench, result, f"{time.monotonic() - began:.0f} s"))
                print(f"{result}: {part}, {rows[-1][1]}, {step.bench}: {said}", flush=True)
    finally:
        if not os.environ.get("KEEP"):
            shutil.rmtree(work, ignore_errors=True)
    print()
    for row in [("part", "commit", "bench", "result", "took"), *rows]:
        print(f"{row[0]:12} {row[1]:34} {row[2]:12} {row[3]:7} {row[4]:>6}")
    sys.exit(0 if rows and all(row[3] == "ok" for row in rows) else 1)


if __name__ == "__main__":
    main()
