#!/usr/bin/env python3
"""Two hundred data sets through the command line, everything deterministic compared with values of its own.

  corpus.py TOOL [DIRECTORY]

TOOL is an executable of cargo-perfcheck. The data sets (offsets up to 1e12, up to 5,000 values and 50 processes a side, ties, constants, tiny
values, heavy tails, two modes) are the same for ever. They are written as tables, imported, described and compared; what the messages say is
compared with what `reference.py` computes from exact fractions, NumPy and SciPy. Ends with 1 where a value is off by more than 1e-9 of itself.
"""

import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np
from scipy import stats as st

sys.path.append(str(pathlib.Path(__file__).parents[2] / "crates/stats/tests/systems"))
from reference import holm, kruskal, moments, root, rounded, welch

SEED = 20_261_122
SETS = 200
BOUND = 1e-9
HERE = pathlib.Path(__file__).parent
MANIFEST = HERE.parent.parent / "testbench" / "quickstart" / "Cargo.toml"


# ---- Data: (name, processes of the base, processes of the candidate) ----


def shapes(rng):
    """Kinds of data; each takes how many values and a shift in per cent."""
    step = lambda exponent: lambda n, s: 10.0**exponent + np.round(rng.normal(2 * s, 12, n)) / 8192
    return [
        ("normal", lambda n, s: rng.normal(100 + s, 3, n)),
        ("log-normal", lambda n, s: rng.lognormal(4, 0.4, n) * (1 + s / 100)),
        ("offset 1e3", step(3)),
        ("exponential", lambda n, s: 50 + s + rng.exponential(4, n)),
        ("offset 1e6", step(6)),
        ("ties", lambda n, s: rng.integers(1, 9, n) + int(s > 2)),
        ("offset 1e9", step(9)),
        ("two modes", lambda n, s: rng.normal(100 + s, 1, n) + 40 * (rng.random(n) < 0.35)),
        ("offset 1e12", step(12)),
        ("tiny", lambda n, s: 1e-5 * rng.lognormal(0, 1, n) * (1 + s / 100)),
        ("huge", lambda n, s: 1e12 * rng.lognormal(0, 0.3, n)),
        ("Pareto", lambda n, s: (1 + rng.pareto(1.3, n)) * (1 + s / 100)),
        ("heavy ties", lambda n, s: rng.integers(1, 3, n)),
        ("outliers", lambda n, s: rng.normal(200 + s, 2, n) * np.where(rng.random(n) < 0.04, 50, 1)),
        ("trend", lambda n, s: 100 + s + np.arange(n) * 5 / n + rng.normal(0, 1, n)),
        ("constant", lambda n, s: np.full(n, 64.0 + int(s > 2))),
        ("steps of 1e9", lambda n, s: 1e9 + rng.normal(s, 1, n)),
    ]


def datasets():
    rng = np.random.default_rng(SEED)
    kinds = shapes(rng)
    out = []
    for at in range(SETS):
        kind, draw = kinds[at % len(kinds)]
        most = (9, 14, 40, 120, 400, 5000)[(at // len(kinds)) % 6] if at % 23 else 5000
        if most == 5000 and at % 3:
            most = 1000
        digits = 17 if any(word in kind for word in ("offset", "steps", "huge")) else (6, 9, 17)[at % 3]
        sides = []
        for shift in (0, int(rng.integers(0, 6))):
            k = int(rng.choice([1, 2, 3, 5, 9, 20, 50])) if most > 100 else int(rng.choice([1, 2, 3, 5]))
            n = int(rng.integers(max(6, 2 * k, most // 2), max(7, 2 * k + 1, most) + 1))
            cuts = sorted(rng.choice(np.arange(2, n), k - 1, replace=False)) if k > 1 else []
            values = rounded(draw(n, shift), digits)
            sides.append([values[a:b] for a, b in zip([0, *cuts], [*cuts, n]) if b > a])
        out.append((f"{at:03} {kind}", *sides))
    return out


# ---- The tool ----


class Tool:
    def __init__(self, executable, directory):
        self.executable, self.directory = str(pathlib.Path(executable).resolve()), directory

    def run(self, *words, codes=(0, 1)):
        words = [self.executable, "perfcheck", *words, "--store", str(self.directory / "corpus.db"), "--manifest-path", str(MANIFEST)]
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PERFCHECK_")}
        done = subprocess.run(words, capture_output=True, text=True, env=kept)
        if done.returncode not in codes:
            sys.exit(f"{' '.join(words)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
        return done.stdout

    def messages(self, reason, *words):
        lines = map(json.loads, self.run(*words, "--message-format", "json").splitlines())
        found = {line["benchmark"]["id"]: line for line in lines if line["reason"] == reason}
        assert len(found) == SETS, f"{len(found)} of {SETS} {reason} from {words}"
        return found

    def store(self, name, sets, side):
        path = self.directory / f"{name}.csv"
        with path.open("w") as file:
            file.write("name,process,value\n")
            for id, *sides in sets:
                for process, values in enumerate(sides[side]):
                    file.writelines(f"{id},{process},{value!r}\n" for value in values)
        self.run("store", "import", str(path), "--columns", "id=name,process=process,value=value", "--unit", "ns", "--save-baseline", name)


# ---- Comparing ----


class Checks:
    def __init__(self):
        self.rows, self.failures, self.context = {}, {}, ""

    def value(self, quantity, found, expected, size=0.0):
        """Relative to the expected value; `size` is for what is a part of something larger that is shown."""
        count, worst = self.rows.get(quantity, (0, 0.0))
        if found is None or expected is None:
            off = 0.0 if found is expected else math.inf
        else:
            expected = float(expected)
            off = 0.0 if found == expected else abs(found - expected) / max(abs(expected), size)
        if not off <= BOUND:
            self.failures.setdefault(quantity, []).append(f"{self.context}: {quantity} is {found} instead of {expected}, off by {off:.1e}")
        self.rows[quantity] = (count + 1, max(worst, off))

    def p(self, quantity, found, expected):
        """A p that is below the bound on both sides may be any such number."""
        if found is not None and expected is not None and max(found, float(expected)) < BOUND:
            self.value(f"{quantity}, both below {BOUND:.0e}", 0.0, 0.0)
        else:
            self.value(quantity, found, expected)

    def within(self, quantity, found, low, high):
        inside = found is not None and float(low) * (1 - BOUND) <= found <= float(high) * (1 + BOUND)
        self.value(quantity, 0.0 if inside else found, 0.0)

    def report(self):
        for quantity, (count, worst) in self.rows.items():
            print(f"{quantity:44} {count:7} values, worst {worst:.0e}")
        print(f"{sum(count for count, _ in self.rows.values())} values compared of {SETS} data sets, worst relative difference "
              f"{max(worst for _, worst in self.rows.values()):.1e}, {sum(map(len, self.failures.values()))} beyond {BOUND:.0e}")
        for quantity, failures in self.failures.items():
            for failure in failures[:4]:
                print(f"error: {failure}")
        return bool(self.failures)


# ---- What is expected ----


def flat(processes):
    return [value for values in processes for value in values]


def equal_within(x, y):
    """How far apart differences of these values may be and count as equal."""
    return 4 * np.finfo(float).eps * max(np.abs(x).max(), np.abs(y).max())


def shift(x, y):
    """Hodges and Lehmann's; with ties, where the mid-distribution function of the differences is a half, exact at 0."""
    differences = np.sort((x[:, None] - y[None, :]).ravel())
    if len(set(x) | set(y)) == len(x) + len(y):
        return np.median(differences)
    apart, pairs = equal_within(x, y), len(differences)

    def group(rank):
        value = differences[rank - 1]
        below = np.searchsorted(differences, value - apart, "left")
        through = np.searchsorted(differences, value + apart, "right")
        return 0.0 if abs(value) <= apart else value, int(below), int(through)

    value, below, through = middle = group(math.ceil(pairs / 2))
    if pairs < below + through:
        around = [group(below), middle] if below else [middle]
    else:
        around = [middle, group(through + 1)] if through < pairs else [middle]
    ranks, values = [(below + through) / 2 for _, below, through in around], [value for value, _, _ in around]
    if values[0] < 0 < values[-1]:
        ranks.insert(1, around[0][2])
        values.insert(1, 0.0)
    return np.interp(pairs / 2, ranks, values)


def floor_rank(x, p):
    return sorted(x)[max(1, math.floor(p * len(x))) - 1]


def quantile(rule, x, p):
    if rule == "floor-rank":
        return floor_rank(x, p)
    return np.quantile(x, p, method={"linear": "linear", "inverted-cdf": "inverted_cdf"}[rule])


def deviation(x):
    return root(moments(x)[1]) if len(x) > 1 else None


def left_by(policy, x):
    """What a policy leaves of x."""
    ascending, n = sorted(x), len(x)
    if policy == "top5":
        return ascending[: n - math.ceil(n / 20)]
    if policy == "both5":
        return ascending[n // 20 : n - n // 20]
    if policy == "iqr":
        q1, q3 = np.quantile(x, [0.25, 0.75])
        reach = 1.5 * (q3 - q1)
        return [v for v in x if q1 - reach <= v <= q3 + reach] if n >= 10 and reach > 0 else x
    if policy == "mad":
        centre, mad = np.median(x), st.median_abs_deviation(x)
        reach = 3 * 1.4826 * mad
        return [v for v in x if centre - reach <= v <= centre + reach] if n >= 3 and mad > 0 else x
    if policy == "winsorized":
        return list(np.clip(x, *np.quantile(x, [0.05, 0.95])))
    return x


def describe(checks, found, processes):
    x = flat(processes)
    ascending, (mean, _), sd = sorted(x), moments(x), deviation(x)
    means = [moments(values)[0] for values in processes]
    checks.value("samples, processes", found["samples"], len(x))
    checks.value("samples, processes", found["processes"], len(processes))
    checks.value("mean", found["mean_ns"]["estimate"], mean)
    checks.value("median", found["median_ns"]["estimate"], np.median(x))
    checks.value("sd", found["std_dev_ns"] and found["std_dev_ns"]["estimate"], sd)
    checks.value("MAD, scaled", found["median_abs_dev_ns"]["estimate"], st.median_abs_deviation(x) * 1.4826)
    checks.value("extremes", found["min_ns"], ascending[0])
    checks.value("extremes", found["max_ns"], ascending[-1])
    checks.value("cv", found["cv"], sd / float(mean))
    for percent in (5, 25, 75, 95, 99):
        checks.value("quantile, inverted CDF", found["percentiles_ns"][f"p{percent}"], quantile("inverted-cdf", x, percent / 100))
    if len(processes) > 1:
        centre, variance = moments(means)
        error = root(variance / len(means))
        checks.value("mean over processes", found["mean_over_processes_ns"]["estimate"], centre)
        checks.value("standard error over processes", found["std_err_ns"], error)
        checks.value("margin over processes", found["margin_ns"], st.t.ppf(0.975, len(means) - 1) * error)


def columns(checks, found, processes):
    x = sorted(flat(processes))
    figures = {figure["statistic"]: figure["value"] for figure in found["statistics"]}
    checks.value("sd", figures["std-dev"], deviation(x))
    means = [moments(values)[0] for values in processes]
    checks.value("sd of process means", figures["process-std-dev"], deviation(means))
    for name, value in figures.items():
        percent = int(name.split("-")[-1].strip("p")) if name[-1].isdigit() else None
        if name.startswith("best-"):
            checks.value("mean of the best", value, moments(x[: max(1, len(x) * percent // 100)])[0])
        elif percent is not None:
            checks.value("quantile, nearest rank", value, quantile("inverted-cdf", x, percent / 100))
        elif name == "subselection":
            low, high = (np.mean([f(values) for values in processes]) for f in (min, max))
            checks.within("subselection, range", value, low, high)


def effects(checks, found, a, b):
    x, y = np.array(a), np.array(b)
    checks.value("Cliff's delta", found["cliffs_delta"], (2 * st.mannwhitneyu(x, y).statistic - len(a) * len(b)) / (len(a) * len(b)))
    if len(set(a)) > 1 or len(set(b)) > 1:
        df = len(a) + len(b) - 2
        (ma, va), (mb, vb) = moments(a), moments(b)
        g = float(ma - mb) / root(((len(a) - 1) * va + (len(b) - 1) * vb) / df) * (1 - 3 / (4 * df - 1))
        checks.value("Hedges' g", found["hedges_g"], g)
    else:
        checks.value("Hedges' g", found["hedges_g"], None)
    checks.value("shift", found["shift_ns"]["estimate"], shift(x, y), equal_within(x, y))


def mann_whitney(a, b, method):
    """The p of a method; none where it has none."""
    ties, pairs = len(set(a) | set(b)) < len(a) + len(b), len(a) * len(b)
    if method == "exact" and (ties or pairs > 10_000):
        return None
    if method == "exact" or (method == "auto" and not ties and len(a) + len(b) <= 20):
        return st.mannwhitneyu(a, b, method="exact").pvalue
    return st.mannwhitneyu(a, b, method="asymptotic", use_continuity=method != "asymptotic").pvalue


def tests(checks, found, name, observations, rule):
    """All benchmarks of one comparison, as a family."""
    raw = {}
    for id, (a, b) in observations.items():
        checks.context = f"{id}, {name}"
        tested = found[id]["tested"]
        varies = len(set(a)) > 1 or len(set(b)) > 1
        if not varies:
            # The difference is exact, and no test is made: p says no more than that there is none.
            p = 1.0 if a[0] == b[0] else None
            checks.value("no test without spread", tested["statistic"], None)
        elif name == "welch":
            t, df, p = None, None, None
            if min(len(a), len(b)) > 1:
                difference, _, t, df = welch(a, b)
                p = 2 * st.t.sf(abs(t), df)
                change = found[id]["change"]["estimate"]
                checks.value("Welch, change", change, difference / float(moments(b)[0]))
            checks.value("Welch t", tested["statistic"], t)
            checks.value("Welch df", tested["degrees_of_freedom"], df)
        elif name == "kruskal":
            h = kruskal([a, b])
            p = st.chi2.sf(h, 1)
            checks.value("Kruskal-Wallis H", tested["statistic"], h)
        else:
            u = st.mannwhitneyu(a, b).statistic
            checks.value("Mann-Whitney U", tested["statistic"], min(u, len(a) * len(b) - u))
            p = mann_whitney(a, b, name)
        checks.p(f"p, {name}", tested["p_value"], p)
        raw[id] = 1.0 if p is None else float(p)
    adjusted = {
        "holm": holm,
        "bh": lambda p: list(st.false_discovery_control(p)),
        "none": lambda p: p,
    }[rule](list(raw.values()))
    for id, p in zip(raw, adjusted):
        checks.context = f"{id}, {name}"
        if found[id]["tested"]["p_value"] is not None:
            checks.p(f"p adjusted, {rule}", found[id]["tested"]["adjusted_p_value"], p)


def main(executable, directory):
    tool, checks, sets = Tool(executable, directory), Checks(), datasets()
    for side, name in enumerate(("base", "new")):
        tool.store(name, sets, side)
        shown = tool.messages("benchmark-statistics", "show", name, "--stats")
        for id, *sides in sets:
            checks.context = f"{id}, {name}"
            describe(checks, shown[id]["statistics"], sides[side])
    figures = tool.messages("benchmark-columns", "compare", "base", "new", "--statistic", "all")
    for id, *sides in sets:
        for side, processes in enumerate(sides):
            checks.context = f"{id}, column {side}"
            columns(checks, figures[id]["columns"][side], processes)

    compare = lambda *words: tool.messages("benchmark-compared", "compare", "base", "new", "--resamples", "1000", *words)
    samples = {id: (flat(new), flat(base)) for id, base, new in sets}
    of_all = compare("--test", "welch", "--observations", "samples")
    tests(checks, of_all, "welch", samples, "holm")
    for id, base, new in sets:
        checks.context = id
        a, b = samples[id]
        effects(checks, of_all[id]["effects"], a, b)
        # A change is told as a fraction of the base: near 1 it has the digits of the ratio.
        change = of_all[id]["change_of_mean"]["estimate"]
        checks.value("ratio of means", 1 + change, moments(a)[0] / moments(b)[0])
        change = of_all[id]["change_of_median"]["estimate"]
        checks.value("ratio of medians", 1 + change, statistics.median(a) / statistics.median(b))
    for method, rule in (("auto", "holm"), ("exact", "bh"), ("asymptotic", "none"), ("asymptotic-cc", "bh")):
        found = compare("--test", "mann-whitney", "--observations", "samples", "--rank-p", method, "--correction", rule)
        tests(checks, found, method, samples, rule)
    tests(checks, compare("--test", "kruskal", "--observations", "samples", "--correction", "bh"), "kruskal", samples, "bh")

    # Process means are numbers of 64 bits, and so are the observations that they are.
    means = {id: [[float(moments(x)[0]) for x in side] for side in (new, base)] for id, base, new in sets}
    found = compare("--test", "welch", "--correction", "none")
    several = {id: pair for id, pair in means.items() if min(map(len, pair)) > 1}
    tests(checks, found, "welch", several, "none")

    for policy in ("none", "top5", "both5", "iqr", "mad", "winsorized"):
        found = compare("--test", "welch", "--outliers", policy, "--center", "mean")
        for id, base, new in sets:
            checks.context = f"{id}, {policy}"
            for side, processes in (("base", base), ("candidate", new)):
                left, center = left_by(policy, flat(processes)), found[id]["centers"]
                if center is None:
                    assert policy == "none", id
                    continue
                checks.value("values left by a policy", center[side]["used"], len(left))
                checks.value(f"mean, outliers {policy}", center[side]["value_ns"], moments(left)[0])
    for rule in ("inverted-cdf", "linear", "floor-rank"):
        for center, p in (("median", 0.5), ("floor", 0.01)):
            found = compare("--test", "welch", "--center", center, "--quantile", rule)
            for id, base, new in sets:
                checks.context = f"{id}, {center}, {rule}"
                for side, processes in (("base", base), ("candidate", new)):
                    expected = quantile(rule, flat(processes), p)
                    checks.value(f"quantile, {rule}", found[id]["centers"][side]["value_ns"], expected)
        found = compare("--test", "p95-ratio", "--observations", "samples", "--quantile", rule)
        for id, (a, b) in samples.items():
            checks.context = f"{id}, p95, {rule}"
            expected = quantile(rule, a, 0.95) / quantile(rule, b, 0.95)
            checks.value("ratio of 95th percentiles", found[id]["tested"]["statistic"], expected)
    return checks.report()


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as scratch:
        sys.exit(main(sys.argv[1], pathlib.Path(sys.argv[2] if len(sys.argv) == 3 else scratch)))
