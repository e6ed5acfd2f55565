#!/usr/bin/env python3
"""Which rows of the checklist of the five systems have no test yet.

    python3 tests/systems/rows.py            lists them, row by row
    python3 tests/systems/rows.py --strict   the same, and fails if there is one
    python3 tests/systems/rows.py --list     every row with its tests

A test belongs to a row if its name begins with the row's id: `n13_quartiles_are_of_nearest_rank`, `m_x9_...`; one that shows several rows begins with
all of them: `n27_n28_...`. Tests are looked for in every `.rs` file of the repository's own packages: of the tool, of the harness, of what lies in
`tests/`. One that is ignored is none.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = {"target", ".git", "testbench"}

# What each row asks for, in a few words.
ROWS = {
    # NBenchmark
    "N1": "warm-up is not recorded",
    "N2": "a settling step after the warm-up",
    "N3": "a configurable number of samples",
    "N4": "set-up and tear-down are not timed",
    "N5": "allocations are counted before the tear-down",
    "N6": "raw times are kept whole",
    "N7": "timer resolution is printed",
    "N8": "trimming does not depend on the order",
    "N9": "policy: none",
    "N10": "policy: top 5 %",
    "N11": "policy: both 5 %",
    "N12": "policy: IQR fence",
    "N13": "quartiles of nearest rank",
    "N14": "raw samples are tested",
    "N15": "mean of trimmed samples",
    "N16": "median by nearest rank",
    "N17": "percentiles by nearest rank",
    "N18": "extremes of trimmed samples",
    "N19": "standard deviation",
    "N20": "standard error",
    "N21": "margin of error",
    "N22": "t table",
    "N23": "t quantile",
    "N24": "normal quantile",
    "N25": "checked against references on every build",
    "N26": "coefficient of variation and its warning",
    "N27": "allocations across threads",
    "N28": "the framework's own allocations",
    "N29": "Mann-Whitney with mid-ranks on raw samples",
    "N30": "U",
    "N31": "p with correction for ties",
    "N32": "strictly below alpha",
    "N33": "five per group at least",
    "N34": "exact p for small samples",
    "N35": "significant, not significant, not tested",
    "N36": "the full record",
    "N37": "extremes are part of the test: explained",
    "N-X1": "five launches by default",
    "N-X2": "process variance ratio",
    "N-X4": "paired log ratio",
    "N-X5": "gate: threshold and interval",
    "N-X6": "percentiles of raw samples",
    "N-X7": "winsorised standard error",
    "N-X8": "distribution-free interval of the median",
    "N-X9": "automatic choice of the exact test",
    "N-X10": "Kruskal-Wallis before several comparisons",
    "N-X11": "Cliff's delta and its gate",
    "N-X12": "Hodges-Lehmann shift",
    "N-X13": "drift and dependence of samples",
    "N-X14": "a slow cluster is a mode",
    "N-X15": "jitter of the host",
    "N-X16": "host drift canary",
    "N-X17": "MAD policy",
    "N-X18": "measured clock resolution",
    "N-X20": "drift gate",
    "N-X22": "random order with a seed",
    "N-X23": "interrupted samples",
    # Criterion.rs
    "C1": "four phases",
    "C2": "warm-up doubles",
    "C3": "measurement time and sample size",
    "C4": "iterations rise linearly",
    "C5": "the step of the ramp",
    "C6": "only whole samples are timed",
    "C7": "samples are stored bit by bit",
    "C8": "outlier labels",
    "C9": "outliers stay",
    "C10": "slope with bootstrap",
    "C11": "mean, median, deviation, MAD with bootstrap",
    "C12": "comparison with what was stored",
    "C13": "bootstrapped t-score",
    "C14": "relative differences with intervals",
    "C15": "else: no change",
    "C16": "noise threshold",
    "C17": "charts",
    "C-X1": "Criterion's own settings",
    "C-X2": "automatic choice between linear and flat",
    "C-X3": "Welch's t statistic",
    "C-X10": "layout jitter",
    # mmtests
    "M1": "one reference and several others",
    "M2": "an iteration is an execution",
    "M3": "minimum, maximum, mean, deviation",
    "M4": "harmonic mean of rates",
    "M5": "Welch's test",
    "M6": "stars for what differs",
    "M7": "stars for the mean of the kind",
    "M8": "mean of launch means",
    "M9": "variability across launches",
    "M10": "subselection of a launch",
    "M11": "mean over the launches' medians",
    "M12": "other hardware is refused or named",
    "M-X2": "intervals that do not overlap",
    "M-X5": "subselection with replacement and its interval",
    "M-X6": "best-95 % mean",
    "M-X7": "percentiles in order of preference",
    "M-X8": "positive means better",
    "M-X9": "deviation of the harmonic mean",
    "M-X11": "geometric mean of ratios",
    "M-X12": "differing environments are printed",
    "M-X14": "rates that are no rates",
    # BenchForge
    "B1": "monotonic clock",
    "B2": "the harness times, not the body",
    "B3": "background work is noted",
    "B4": "HDR histogram",
    "B5": "its geometry",
    "B6": "its error",
    "B7": "its percentiles",
    "B8": "its mean and deviation",
    "B9": "reservoir of 10,000",
    "B10": "windows of a second",
    "B11": "statistics over launches",
    "B12": "nothing is pooled across launches",
    "B13": "bootstrap by whole indices",
    "B14": "few launches: a warning, and t",
    "B15": "same seed, same interval",
    "B16": "one launch: a point",
    "B17": "five launches",
    "B18": "ratios",
    "B19": "verdict at 0.95 and 1.05",
    "B20": "closed loop: printed",
    "B21": "coordinated omission: documented",
    "B22": "no claims below the histogram's error",
    "B-X1": "ratios of launch percentiles with an interval",
    "B-X3": "reservoirs merged by operations",
    # Serializer methodology
    "S1": "columns of the table that is read",
    "S2": "units are declared",
    "S3": "fences",
    "S4": "per group",
    "S5": "ten samples at least",
    "S6": "no spread, no filter",
    "S7": "never nothing left",
    "S8": "first samples go first",
    "S9": "counts add up",
    "S10": "counts are printed",
    "S11": "rates",
    "S12": "pivot tables",
    "S13": "distribution plots",
    "S14": "absurd extremes",
    "S15": "unscaled MAD, percentiles",
    "S16": "bootstrap of the mean",
    "S17": "Cliff's delta",
    "S18": "Hedges' g",
    "S19": "the fastest as a reference",
    "S20": "two versions compared as a family",
    "S21": "thresholds in one place",
    "S22": "limits are stated",
    "S-X1": "an outlier in one value of a row is one in all",
    "S-X2": "named policies",
    "S-X3": "a seed per group",
    "S-X6": "a gate needs the whole interval",
    # Degenerate inputs (docs/STATISTICS.md, section 7)
    "D1": "no samples on a side",
    "D2": "one sample a side",
    "D3": "equal constants",
    "D4": "different constants",
    "D5": "times that are no times",
    "D6": "samples of no time",
    "D7": "benchmarks of one run alone",
    "D8": "launches that died",
    "D9": "no spread between the quartiles",
    "D10": "a filter that would leave nothing",
    "D11": "no degrees of freedom",
    "D12": "resamples without a value",
    "D13": "another host, compiler or profile",
    "D14": "the same run on both sides",
    "D15": "a time against a rate",
    "D16": "clock and suspension",
    "D17": "an id twice",
}

TEST = re.compile(r"^[ \t]*#\[test\]((?:\s*#\[[^\]]*\])*)\s*(?:async\s+)?fn\s+(\w+)", re.MULTILINE)
ID = re.compile(r"([ncmbsd])(_x)?(\d+)_")


def rows_of(name):
    """The ids at the start of a test's name."""
    found, at = [], 0
    while match := ID.match(name, at):
        system, beyond, number = match.groups()
        found.append(f"{system.upper()}{'-X' if beyond else ''}{int(number)}")
        at = match.end()
    return found


def tests():
    """Every row that has a test, with their places."""
    found = {}
    for path in sorted(ROOT.rglob("*.rs")):
        place = path.relative_to(ROOT)
        if SKIPPED.isdisjoint(place.parts):
            for attributes, name in TEST.findall(path.read_text(encoding="utf-8")):
                if "#[ignore" not in attributes:
                    for row in rows_of(name):
                        found.setdefault(row, []).append(f"{place.as_posix()}: {name}")
    return found


def main():
    found = tests()
    unknown = sorted(set(found) - set(ROWS))
    missing = [row for row in ROWS if row not in found]
    if "--list" in sys.argv[1:]:
        for row, text in ROWS.items():
            print(f"{row:6} {text}", *found.get(row, ["-"]), sep="\n         ")
        return 0
    for row in unknown:
        print(f"{row:6} is no row, but has {', '.join(found[row])}")
    for row in missing:
        print(f"{row:6} {ROWS[row]}")
    print(f"{len(ROWS) - len(missing)} of {len(ROWS)} rows have a test", file=sys.stderr)
    return 1 if "--strict" in sys.argv[1:] and (missing or unknown) else 0


if __name__ == "__main__":
    sys.exit(main())
