#!/usr/bin/env python3
"""Reference values for the statistics of crates/stats, by NumPy and SciPy.

  reference.py                 writes reference.json, which the golden test reads, and serializers.json, which the tests of import and pivots read
  reference.py --check         computes both anew and compares them with the files: words, keys and lengths exactly, numbers to 1e-12 of themselves, because the
                               last digit of some depends on the processor
  reference.py --report        reads the golden test's output from standard input and puts its table into docs/internals/src/validation.md

    python3 tests/systems/reference.py
    cargo test -p perfcheck-stats --test systems golden -- --nocapture | python3 crates/stats/tests/systems/reference.py --report

Where a library has the quantity, the library is called; for what rests on a mean or on deviations from it that is Python's `statistics`, whose sums
are exact fractions: NumPy's and SciPy's lose the digits that an offset takes. What is computed from its definition, because no library has it, is in
the functions below the line "By definition" and is marked so in the report. Holm's and Benjamini and Hochberg's corrections are by definition, and
Benjamini and Hochberg's is compared with SciPy's as well.
"""

import itertools
import json
import math
import pathlib
import re
import statistics
import sys
from fractions import Fraction

SEED = 20_240_607
HERE = pathlib.Path(__file__).parent
PAGE = HERE.parents[3] / "docs/internals/src/validation.md"
QUANTILES = [0.0, 0.05, 0.07, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0]
LEVELS = [0.9, 0.95, 0.99]


# ---- Data ----


def rounded(values, digits=6):
    """Values that take few characters and are exactly what the reader reads."""
    return [float(f"{value:.{digits}g}") for value in values]


def datasets(np):
    """Pairs of samples, (kind, a, b), the same for ever."""
    rng = np.random.default_rng(SEED)
    pairs = []

    def add(kind, a, b):
        digits = {"far from zero": 10, "offset": 17}.get(kind, 6)
        pairs.append((kind, rounded(a, digits), rounded(b, digits)))

    sizes = [(3, 3), (5, 5), (5, 8), (9, 10), (10, 10), (12, 19), (20, 20), (21, 34), (30, 12), (49, 50), (60, 7)]
    for m, n in sizes:
        shift = 1.0 + 0.02 * rng.integers(-3, 6)
        add("normal", rng.normal(100, 3, m), rng.normal(100 * shift, 3, n))
        add("log-normal", rng.lognormal(4, 0.3, m), rng.lognormal(4, 0.3, n) * shift)
        add("exponential", 50 + rng.exponential(4, m), 50 * shift + rng.exponential(4, n))
        add("Cauchy", 1000 + rng.standard_cauchy(m), 1001 + rng.standard_cauchy(n))
        add("Pareto", 1 + rng.pareto(1.1, m), (1 + rng.pareto(1.1, n)) * shift)
        add("ties", rng.integers(1, 9, m), rng.integers(2, 10, n))
        add("heavy ties", rng.integers(1, 3, m), rng.integers(1, 4, n))
        add("huge", 1e12 * rng.normal(5, 1, m), 1e12 * rng.normal(5, 1, n))
        add("tiny", 1e-12 * rng.lognormal(0, 1, m), 1e-12 * rng.lognormal(0, 1, n))
        add("far from zero", [1e9 + x for x in np.round(rng.normal(0, 5, m))], [1e9 + x for x in np.round(rng.normal(2, 5, n))])
        add("about zero", rng.normal(0, 1, m), rng.normal(0.3, 2, n))
        add("two modes", rng.normal(100, 1, m) + 40 * (rng.random(m) < 0.4), rng.normal(100, 1, n) + 40 * (rng.random(n) < 0.3))
        outlier = rng.normal(200, 2, m)
        outlier[-1] *= 100
        add("one outlier", outlier, rng.normal(202, 2, n))
        add("many scales", 10.0 ** rng.uniform(-6, 6, m), 10.0 ** rng.uniform(-6, 6, n))
        add("constant and not", [64.0] * m, 64 + rng.normal(0, 1, n))
        add("trend", 100 + np.arange(m) + rng.normal(0, 1, m), 100 + rng.normal(0, 1, n))
    for m, n in itertools.product(range(1, 6), range(1, 6)):
        add("few", rng.lognormal(3, 0.5, m), rng.lognormal(3, 0.5, n))
        add("few with ties", rng.integers(1, 4, m), rng.integers(1, 4, n))
    for m, n in [(1, 1), (2, 3), (10, 10), (25, 50)]:
        add("constants", [5.0] * m, [5.0] * n)
        add("different constants", [100.0] * m, [108.0] * n)
        add("zeros", [0.0] * m, [0.0] * n)
    # Steps of 2^-13 are what numbers near 1e12 can tell apart.
    for exponent, (m, n) in itertools.product((3, 6, 9, 12), [(5, 8), (30, 20), (200, 120)]):
        steps = lambda count, shift: 10.0**exponent + np.round(rng.normal(shift, 12, count)) / 8192
        add("offset", steps(m, 4), steps(n, 0))
    add("long", rng.lognormal(3, 0.8, 5000), rng.lognormal(3.05, 0.8, 300))
    add("long", rng.normal(100, 3, 700), rng.normal(100.2, 3, 5000))
    # The vectors that published documents print.
    add("published", range(10, 15), range(12, 17))
    add("published", range(1, 6), range(6, 11))
    add("published", [1.1, 2.2, 3.3, 4.4, 5.5, 6.6], [2, 3, 4, 5, 6, 7])
    add("published", [10, 10.2, 9.9, 10.1, 10.3], [10.5, 10.7, 10.4, 10.6, 10.9, 10.6])
    add("published", range(1, 21), [1, 1, 2, 2, 4, 6, 9])
    add("published", [100, 110, 90], [5] * 9 + [1000])
    return pairs


# ---- By definition: what no library has ----


def order_statistic_ranks(n, level, st):
    """Ranks of the interval of a median, below 50 values from the binomial distribution."""
    if n < 50:
        lower = int(st.binom.ppf((1 - level) / 2, n, 0.5))
        return (lower, n + 1 - lower) if lower >= 1 else None
    z = st.norm.ppf((1 + level) / 2)
    lower = math.floor((n - z * math.sqrt(n)) / 2)
    upper = math.ceil(1 + (n + z * math.sqrt(n)) / 2)
    return (lower, upper) if lower >= 1 and upper <= n else None


def u_counts(m, n):
    """How many orders of m and n values have U = 0, 1, ..., in whole numbers: the product of Gauss's polynomials."""
    counts = [1] + [0] * (m * n)
    for i in range(1, m + 1):
        for u in range(m * n, n + i - 1, -1):
            counts[u] -= counts[u - n - i]
        for u in range(i, m * n + 1):
            counts[u] += counts[u - i]
    return counts


def shift_rank(m, n, level):
    """The largest k with 2 P(U <= k - 1) <= 1 - level."""
    counts = u_counts(m, n)
    total, below, k = math.comb(m + n, n), 0, 0
    for count in counts:
        below += count
        # level has two decimals
        if 2 * below * 100 > (100 - round(level * 100)) * total:
            return k
        k += 1
    return k


def harmonic_deviation(x, hmean):
    return math.sqrt(sum((1 / v - 1 / hmean) ** 2 for v in x) * hmean**4 / len(x))


def holm(p):
    order = sorted(range(len(p)), key=lambda i: p[i])
    out, worst = [0.0] * len(p), 0.0
    for step, i in enumerate(order):
        worst = max(worst, p[i] * (len(p) - step))
        out[i] = min(worst, 1.0)
    return out


def moments(x):
    """Mean and variance (n - 1) as exact fractions."""
    x = [Fraction(v) for v in x]
    return statistics.mean(x), statistics.variance(x) if len(x) > 1 else None


def root(fraction):
    """The square root of a fraction, whatever its size."""
    return math.sqrt(fraction)


def welch(a, b):
    """Difference, standard error, t and degrees of freedom from exact moments."""
    (ma, va), (mb, vb) = moments(a), moments(b)
    va, vb = va / len(a), vb / len(b)
    error = root(va + vb)
    return float(ma - mb), error, float(ma - mb) / error, float((va + vb) ** 2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1)))


def kruskal(groups):
    """H from exact mid-ranks."""
    pooled = sorted(v for x in groups for v in x)
    n, ranks, ties, at = len(pooled), {}, 0, 0
    for value, same in itertools.groupby(pooled):
        t = len(list(same))
        ranks[value], ties, at = Fraction(2 * at + t + 1, 2), ties + t**3 - t, at + t
    between = sum(len(x) * (sum(ranks[v] for v in x) / len(x) - Fraction(n + 1, 2)) ** 2 for x in groups)
    return float(12 * between / (n * (n + 1)) / (1 - Fraction(ties, n**3 - n)))


def lag_one(x):
    d = [Fraction(v) for v in x]
    mean = statistics.mean(d)
    d = [v - mean for v in d]
    return float(sum(v * w for v, w in zip(d, d[1:])) / sum(v * v for v in d))


def modal_value(np, x):
    x = x - np.median(x)
    q1, q3 = np.percentile(x, [25, 75])
    width = 2 * (q3 - q1) / np.cbrt(len(x))
    if width <= 0:
        return 2.0
    bins = min(max(math.ceil((x.max() - x.min()) / width), 1), 10_000)
    h, _ = np.histogram(x, bins=bins)
    h = np.concatenate([[0], h, [0]])
    return float(np.abs(np.diff(h)).sum() / h.max())


def yuen_error(np, x, kept):
    """s_w sqrt(n) / h of a sample of which only values from min(kept) to max(kept) stayed as they were."""
    h = len(kept)
    if h < 2:
        return None
    return root(moments(np.clip(x, min(kept), max(kept)))[1] * len(x)) / h


def jackknife_error(values):
    """Tukey's standard error from the values with one cluster left out each."""
    return root(moments(values)[1] * (len(values) - 1) ** 2 / len(values))


def left_out(np, x, f):
    return [float(f(np.delete(x, i))) for i in range(len(x))]


def jackknife_interval(np, st, x, f, logarithmic):
    """Student's interval of f(x) at 95 %; of a logarithm where all values have one."""
    values, observed = left_out(np, x, f), float(f(x))
    t = st.t.ppf(0.975, len(x) - 1)
    if logarithmic and min(values) > 0 and observed > 0:
        error = jackknife_error(np.log(values))
        return [observed * math.exp(-t * error), observed * math.exp(t * error)]
    error = jackknife_error(values)
    low, high = observed - t * error, observed + t * error
    return [max(low, 0.0) if logarithmic else low, high]


def jackknife_ratio(np, st, a, b):
    """Student's interval of mean(a) / mean(b) - 1 at 95 %, on logarithms, with Welch's degrees of freedom."""
    va, vb = (jackknife_error(np.log(left_out(np, x, np.mean))) ** 2 for x in (a, b))
    centre = math.log(a.mean() / b.mean())
    if va + vb == 0:
        return [math.expm1(centre)] * 2
    df = (va + vb) ** 2 / (va**2 / (len(a) - 1) + vb**2 / (len(b) - 1))
    half = st.t.ppf(0.975, df) * math.sqrt(va + vb)
    return [math.expm1(centre - half), math.expm1(centre + half)] if centre + half < 700 else "skip"


def sign_flip_tail(differences):
    """P(sum of flipped differences >= their sum), counted in whole numbers."""
    counts = {0: 1}
    for d in differences:
        flipped = {}
        for total, count in counts.items():
            for sign in (d, -d):
                flipped[total + sign] = flipped.get(total + sign, 0) + count
        counts = flipped
    hits = sum(count for total, count in counts.items() if total >= sum(differences))
    return hits / 2 ** len(differences)


# ---- One sample ----


def number(value):
    value = float(value)
    return value if math.isfinite(value) else None


def of_one(np, st, x):
    x = np.array(x)
    n, out = len(x), {}
    ascending = np.sort(x)
    mean, variance = moments(x)
    error = root(variance / n) if n > 1 else None
    out["mean"] = number(mean)
    out["sd"] = root(variance) if n > 1 else None
    out["standard error"] = error
    out["cv"] = root(variance) / float(mean) if n > 1 and mean != 0 else None
    out["median"] = number(np.median(x))
    out["mad"] = number(st.median_abs_deviation(x))
    out["mad scaled"] = number(st.median_abs_deviation(x, scale=1 / 1.4826))
    out["min"], out["max"] = number(x.min()), number(x.max())
    out["quantile InvertedCdf"] = [number(v) for v in np.quantile(x, QUANTILES, method="inverted_cdf")]
    out["quantile Linear"] = [number(v) for v in np.quantile(x, QUANTILES)]
    out["quantile FloorRank"] = [float(ascending[min(n, max(1, math.floor(p * n))) - 1]) for p in QUANTILES]
    positive = bool((x > 0).all())
    out["harmonic mean"] = number(st.hmean(x)) if positive else None
    out["harmonic deviation"] = number(harmonic_deviation(x, st.hmean(x))) if positive else None
    out["geometric mean"] = number(st.gmean(x)) if positive else None
    percents = [50, 75, 90, 95, 99]
    best = lambda order, p: order[: max(1, n * p // 100)]
    out["best mean, lower"] = [number(moments(best(ascending, p))[0]) for p in percents]
    out["best mean, higher"] = [number(moments(best(ascending[::-1], p))[0]) for p in percents]
    out["percentile, lower"] = [float(best(ascending, p)[-1]) for p in percents]
    out["percentile, higher"] = [float(best(ascending[::-1], p)[-1]) for p in percents]
    if n > 1:
        out["t margin"] = [number(st.t.ppf((1 + level) / 2, n - 1) * error) for level in LEVELS]
    else:
        out["t margin"] = [None] * 3
    ranks = [order_statistic_ranks(n, level, st) for level in LEVELS]
    out["median interval"] = [None if r is None else [float(ascending[r[0] - 1]), float(ascending[r[1] - 1])] for r in ranks]

    q1, q3 = np.percentile(x, [25, 75])
    iqr = q3 - q1
    high, low = x - q3, q1 - x
    out["outlier labels"] = [
        int((low > 3 * iqr).sum()),
        int(((low > 1.5 * iqr) & (low <= 3 * iqr)).sum()),
        int(((high > 1.5 * iqr) & (high <= 3 * iqr)).sum()),
        int((high > 3 * iqr).sum()),
    ] if iqr > 0 else [0] * 4

    def fence(q1, q3, k):
        kept = x[(x >= q1 - k * (q3 - q1)) & (x <= q3 + k * (q3 - q1))]
        return kept

    nearest = np.percentile(x, [25, 75], method="inverted_cdf")
    mad = st.median_abs_deviation(x)
    top = x if n == 1 else ascending[: n - math.ceil(n / 20)]
    policies = {
        "TopFivePercent": top,
        "BothFivePercent": np.sort(st.trimboth(x, 0.05)),
        "IqrFence, nearest rank": fence(*nearest, 1.5),
        "IqrFence, interpolated": fence(q1, q3, 1.5) if n >= 10 and q1 < q3 else x,
        "IqrFence, wide": fence(q1, q3, 3.0) if n >= 10 and q1 < q3 else x,
        "Mad": x if n < 3 or mad == 0 else x[np.abs(x - np.median(x)) <= 3 * 1.4826 * mad],
    }
    for name, kept in policies.items():
        out[name] = [len(kept), number(moments(kept)[0]), yuen_error(np, x, kept)]
    lo, hi = np.percentile(x, [5, 95])
    clipped = np.clip(x, lo, hi)
    h = int(((x >= lo) & (x <= hi)).sum())
    middle, spread = moments(clipped)
    out["Winsorise5To95"] = [n, number(middle), root(spread * n) / h if h > 1 else None]

    varies = len(set(x)) > 1
    out["lag-1 autocorrelation"] = number(lag_one(x)) if n >= 3 and varies else None
    out["modal value"] = number(modal_value(np, x))
    m = np.arange(1, n + 1.0)
    slope = np.linalg.lstsq(m[:, None], m * x, rcond=None)[0][0]
    out["slope through the origin"] = number(slope)
    total = ((m * x - (m * x).mean()) ** 2).sum()
    out["R^2 through the origin"] = number(1 - ((m * x - slope * m) ** 2).sum() / total) if total > 0 else None
    line = st.linregress(m, m * x) if n >= 3 else None
    out["line"] = [number(line.intercept), number(line.slope)] if line else None
    # A deviation that is a rounding error has a meaningless logarithm.
    sd = lambda v: (v - np.median(v)).std(ddof=1) if len(set(v)) > 1 else 0.0
    out["jackknife, median"] = jackknife_interval(np, st, x, np.median, False) if n >= 2 else None
    out["jackknife, SD"] = jackknife_interval(np, st, x, sd, True) if n >= 3 else None
    if out["jackknife, SD"] and not all(map(math.isfinite, out["jackknife, SD"])):
        out["jackknife, SD"] = "skip"
    if 3 <= n <= 5 and varies:
        out["BCa"] = bca(np, st, x)
    return out


def bca(np, st, x):
    """SciPy's BCa interval of the mean from the bootstrap distribution written out whole: all n^n resamples.

    Sorted, because resamples that hold the same values must have the same mean to the last bit: the bias counts those equal to the observed one.
    """
    x = np.sort(x)

    class Given:
        bootstrap_distribution = np.array([np.mean(np.sort(draw)) for draw in itertools.product(x, repeat=len(x))])

    out = []
    for level in LEVELS:
        found = st.bootstrap((x,), np.mean, n_resamples=0, bootstrap_result=Given, method="BCa", confidence_level=level)
        low, high = found.confidence_interval
        out.append([number(low), number(high)])
    return out


# ---- Two samples: a is new, b is base ----


def of_both(np, st, a, b):
    a, b = np.array(a), np.array(b)
    m, n, out = len(a), len(b), {}
    everything = np.concatenate([a, b])
    ties, all_equal = len(set(everything)) < m + n, len(set(everything)) == 1
    test = lambda **how: st.mannwhitneyu(a, b, **how)
    out["U"] = number(test(method="asymptotic").statistic)
    out["Mann-Whitney p, asymptotic"] = 1.0 if all_equal else number(test(method="asymptotic", use_continuity=False).pvalue)
    out["Mann-Whitney p, corrected"] = 1.0 if all_equal else number(test(method="asymptotic").pvalue)
    # Beyond 10,000 pairs nobody asks for exact counts.
    few = m * n <= 10_000
    out["Mann-Whitney p, exact"] = number(test(method="exact").pvalue) if few and not ties else None
    if all_equal:
        out["Kruskal-Wallis"] = [0.0, 1.0]
    else:
        h = kruskal([a, b])
        out["Kruskal-Wallis"] = [h, number(st.chi2.sf(h, 1))]
    constant = len(set(a)) == 1 and len(set(b)) == 1
    out["Welch"] = out["Welch p"] = out["Welch p, df floored"] = out["Welch interval"] = None
    out["Hedges g"] = out["Cohen d"] = None
    if m > 1 and n > 1 and not constant:
        difference, error, t, df = welch(a, b)
        out["Welch"] = [t, df]
        out["Welch p"] = number(2 * st.t.sf(abs(t), df))
        out["Welch p, df floored"] = number(2 * st.t.sf(abs(t), max(1, math.floor(df))))
        # SciPy's own test of the same values without their offset.
        found = st.ttest_ind(a - np.median(everything), b - np.median(everything), equal_var=False)
        assert math.isclose(t, found.statistic, rel_tol=1e-7, abs_tol=1e-9) and math.isclose(df, found.df, rel_tol=1e-7), (t, df, found)
        half = st.t.ppf(0.975, df) * error
        out["Welch interval"] = [number(difference - half), number(difference + half)]
        df = m + n - 2
        pooled = root(((m - 1) * moments(a)[1] + (n - 1) * moments(b)[1]) / df)
        out["Cohen d"] = number(difference / pooled)
        out["Hedges g"] = number(difference / pooled * (1 - 3 / (4 * df - 1)))
    d = a[: min(m, n)] - b[: min(m, n)]
    sizes = np.abs(d)
    unequal = len(set(sizes)) == len(d) and 0 not in sizes and len(d) <= 60
    out["signed rank p"] = number(st.wilcoxon(d, alternative="greater", method="exact").pvalue) if unequal else "skip"
    walsh = ((d[:, None] + d[None, :]) / 2)[np.triu_indices(len(d))]
    out["signed rank estimate"] = number(np.median(walsh))
    whole = bool((d == np.round(d)).all() and sizes.sum() < 1000)
    out["sign flip p"] = sign_flip_tail([int(v) for v in d]) if whole else "skip"
    positive = m > 1 and n > 1 and min(f(v) for v in (a, b) for f in (np.mean, lambda v: min(left_out(np, v, np.mean)))) > 0
    out["jackknife ratio of means"] = jackknife_ratio(np, st, a, b) if positive else None
    out["Cliff's delta"] = number(np.sign(a[:, None] - b[None, :]).mean())
    shifts = np.sort((a[:, None] - b[None, :]).ravel())
    out["shift"] = number(np.median(shifts))
    out["shift interval, exact"], out["shift interval, normal"] = [], []
    for level in LEVELS:
        k = shift_rank(m, n, level) if few else 0
        out["shift interval, exact"].append([float(shifts[k - 1]), float(shifts[m * n - k])] if k >= 1 else None)
        k = math.floor(m * n / 2 - st.norm.ppf((1 + level) / 2) * math.sqrt(m * n * (m + n + 1) / 12))
        out["shift interval, normal"].append([float(shifts[k - 1]), float(shifts[m * n - k])] if k >= 1 else None)
    pairs = [(x, y) for x, y in zip(a, b) if x > 0 and y > 0]
    out["paired log ratio"] = None
    if len(pairs) > 1:
        logs = np.array([math.log(x) - math.log(y) for x, y in pairs])
        if len(set(logs)) > 1:
            low, high = st.ttest_1samp(logs, 0).confidence_interval(0.95)
        else:
            low = high = logs[0]
        values = [number(np.exp(v)) if v < 700 else None for v in (logs.mean(), low, high)]
        # Intervals of two pairs may leave the range of a float.
        out["paired log ratio"] = values if None not in values else "skip"
    p95 = [np.quantile(v, 0.95, method="inverted_cdf") for v in (a, b)]
    out["ratio of 95th percentiles"] = number(p95[0] / p95[1]) if min(p95) > 0 else None
    return out


# ---- Several groups, families, distributions ----


def groups(np, st):
    rng = np.random.default_rng(SEED + 1)
    sets = []
    for k in (2, 3, 4, 6):
        for kind in ("continuous", "ties"):
            for _ in range(4):
                sizes = rng.integers(2, 12, k)
                if kind == "ties":
                    sets.append([rounded(rng.integers(1, 6, size) + rng.integers(0, 2)) for size in sizes])
                else:
                    sets.append([rounded(rng.normal(10 + rng.integers(0, 2), 2, size)) for size in sizes])
    for k, most in ((10, 40), (20, 30), (50, 20)):
        for offset in (0.0, 1e3, 1e6, 1e9, 1e12):
            levels = np.round(rng.normal(0, 6, k))
            sizes = rng.integers(2, most, k)
            sets.append([rounded(offset + np.round(rng.normal(300 + level, 12, size)) / 8192, 17) for level, size in zip(levels, sizes)])
    return [of_groups(np, st, data) for data in sets]


def of_groups(np, st, data):
    h, k = kruskal(data), len(data)
    described = [moments(x) for x in data]
    means = [mean for mean, _ in described]
    centre, spread = moments(means)
    errors = [root(variance / len(x)) for (_, variance), x in zip(described, data)]
    ratio = root(moments([float(np.median(x)) for x in data])[1]) / statistics.mean(errors)
    between = sum(len(x) * (mean - centre) ** 2 for x, mean in zip(data, means)) / (k - 1)
    variance = statistics.mean([variance * (len(x) - 1) / len(x) for (_, variance), x in zip(described, data)])
    half = st.norm.ppf(0.975) * root((between + variance) / sum(map(len, data)))
    return {
        "groups": data,
        "Kruskal-Wallis": [h, number(st.chi2.sf(h, k - 1))],
        "mean of process means": [number(centre), root(spread)],
        "process variance ratio": number(ratio),
        "subselection of everything": [number(centre), number(half)],
    }


def described(np, st):
    """Samples as `show --stats --outliers POLICY` describes them: processes of one benchmark each, and what the policies leave of all."""
    rng = np.random.default_rng(SEED + 7)
    slow = rng.lognormal(4, 0.2, 200)
    slow[[7, 40, 90, 133, 180]] *= [3, 9, 25, 2.5, 0.2]
    two = np.concatenate([rng.normal(250, 4, 60), rng.normal(310, 5, 40)])
    sets = {
        "skewed": [slow],
        "normal": [rng.normal(1000, 12, 40)],
        "two modes": [two],
        "one far out": [np.append(rng.normal(80, 1, 20), 4000)],
        "nine": [np.append(rng.normal(80, 1, 8), 400)],
        "two": [[10, 14]],
        "ties": [rng.integers(30, 37, 60)],
        "three processes": [rng.normal(100 + 9 * k, 2 + k, n) for k, n in enumerate((30, 55, 24))],
    }
    out = []
    for name, processes in sets.items():
        processes = [rounded(x) for x in processes]
        values = np.array([v for x in processes for v in x])
        out.append({
            "name": name,
            "processes": processes,
            "policies": {policy: after(np, st, values, policy) for policy in ("none", "top5", "both5", "iqr", "mad", "winsorized")},
            "of processes": [after(np, st, np.array(x), "none") for x in processes],
        })
    return out


def resampled(np, items, f, count):
    """`f` of every resample of eight items, and where the bounds of a 95 % interval lie that `count` resamples give: at the quantiles of the whole
    distribution that are five standard errors of the share to either side of 2.5 and 97.5 %."""
    k = len(items)
    values, weights = [], []
    for drawn in itertools.combinations_with_replacement(range(k), k):
        times = [drawn.count(i) for i in range(k)]
        values.append(f([item for item, n in zip(items, times) for _ in range(n)]))
        weights.append(math.factorial(k) // math.prod(map(math.factorial, times)))
    order = np.argsort(values, kind="stable")
    shares = np.cumsum(np.array(weights, dtype=object)[order])
    assert shares[-1] == k**k
    quantile = lambda share: number(values[order[int(np.searchsorted(shares, math.ceil(share * k**k)))]])
    error = 5 * math.sqrt(0.025 * 0.975 / count)
    return {
        "estimate": number(f(items)),
        "lower": [quantile(0.025 - error), quantile(0.025 + error)],
        "upper": [quantile(0.975 - error), quantile(0.975 + error)],
    }


def bootstrapped(np, st):
    """Eight processes of a few samples, and eight points of a ramp: statistics of the pool of what is drawn."""
    rng = np.random.default_rng(SEED + 11)
    processes = [rounded(rng.lognormal(4.6 + 0.03 * (i % 3), 0.06, n), 5) for i, n in enumerate((3, 5, 4, 6, 3, 5, 4, 7))]
    iterations = [10 * i for i in range(1, 9)]
    times = [int(v) for v in np.round(np.array(iterations) * rng.normal(1000, 30, 8))]
    pool = lambda f: lambda drawn: float(f(np.concatenate(drawn)))
    line = lambda points: float(np.linalg.lstsq(np.array(points)[:, :1], np.array(points)[:, 1], rcond=None)[0][0])
    count = 10_000
    of = lambda f: resampled(np, [np.array(x) for x in processes], pool(f), count)
    return {
        "resamples": count,
        "processes": processes,
        "mean": of(np.mean),
        "median": of(np.median),
        "sd": of(lambda x: np.std(x, ddof=1)),
        "mad": of(lambda x: st.median_abs_deviation(x, scale=1 / 1.4826)),
        "iterations": iterations,
        "times": times,
        "slope": resampled(np, list(zip(map(float, iterations), map(float, times))), line, count),
    }


def after(np, st, x, policy):
    """What is left by a policy; the standard error is Yuen's: that of the winsorised sample over the share that is left."""
    x, n = np.sort(x), len(x)
    low, high = x[0], x[-1]
    if policy == "top5" and n > 1:
        high = x[n - math.ceil(n / 20) - 1]
    elif policy == "both5":
        low, high = x[n // 20], x[n - n // 20 - 1]
    elif policy == "iqr" and n >= 10:
        q1, q3 = np.percentile(x, [25, 75])
        if q3 > q1:
            low, high = q1 - 1.5 * (q3 - q1), q3 + 1.5 * (q3 - q1)
    elif policy == "mad" and n >= 3:
        reach = 3 * 1.4826 * st.median_abs_deviation(x)
        if reach > 0:
            low, high = np.median(x) - reach, np.median(x) + reach
    elif policy == "winsorized":
        low, high = np.percentile(x, [5, 95])
    if policy in ("top5", "both5"):
        below = n // 20 if policy == "both5" else 0
        above = n // 20 if policy == "both5" else math.ceil(n / 20) if n > 1 else 0
        used = x[below : n - above]
    else:
        below, above = int((x < low).sum()), int((x > high).sum())
        used = np.clip(x, low, high) if policy == "winsorized" else x[below : n - above]
    left = n - below - above
    out = {
        "used": len(used),
        "removed": n - len(used),
        "replaced": below + above if policy == "winsorized" else 0,
        "mean": number(np.mean(used)),
        "median": number(np.median(used)),
        "std_dev": number(np.std(used, ddof=1)) if len(used) > 1 else None,
        "mad": number(st.median_abs_deviation(used)),
        "percentiles": [number(np.percentile(used, q, method="inverted_cdf")) for q in (5, 25, 75, 95, 99)],
        "min": number(used.min()),
        "max": number(used.max()),
        "std_err": None,
    }
    if left > 1:
        error = np.std(np.clip(x, used.min(), used.max()), ddof=1) * math.sqrt(n) / left
        if below + above == 0:
            error = st.sem(x)
        elif policy == "both5" and n % 20 == 0:
            # The one case that SciPy has.
            error = float(st.mstats.trimmed_stde(x, limits=(0.05, 0.05)))
        bounds = st.t.interval(0.95, left - 1, out["mean"], error)
        out |= {"std_err": number(error), "df": left - 1, "interval": [number(v) for v in bounds], "margin": number(st.t.ppf(0.975, left - 1) * error)}
    return out


def unequal_processes(np):
    """Two runs each: processes of unequal length, whose first samples say the opposite of all."""
    rng = np.random.default_rng(SEED + 3)
    out = []
    for k, later in ((9, 2.5), (4, 4.0)):
        side = lambda first, rest: [
            rounded(rng.lognormal(5, 0.5, n) * np.where(np.arange(n) < 12, first, rest), 17) for n in rng.integers(12, 120, k)
        ]
        base, candidate = side(1.0, 1.0), side(0.6, later)
        means = [moments(sum(run, []))[0] for run in (candidate, base)]
        medians = [Fraction(statistics.median(map(Fraction, sum(run, [])))) for run in (candidate, base)]
        out.append({
            "groups": [base, candidate],
            "change of mean": float(means[0] / means[1] - 1),
            "change of median": float(medians[0] / medians[1] - 1),
        })
    return out


def families(np, st):
    rng = np.random.default_rng(SEED + 2)
    out = []
    for m in (1, 2, 4, 7, 20):
        for power in (1, 3, 6):
            p = rounded(rng.random(m) ** power, 5)
            if m == 7:
                p[3] = p[5]
            out.append({"p": p, "Holm": holm(p), "Benjamini-Hochberg": [float(v) for v in st.false_discovery_control(p)]})
    p = [0.01, 0.04, 0.03, 0.005]
    out.append({"p": p, "Holm": holm(p), "Benjamini-Hochberg": [float(v) for v in st.false_discovery_control(p)]})
    return out


def distributions(st):
    ps = [1e-6, 0.0005, 0.005, 0.025, 0.05, 0.2, 0.5, 0.75, 0.9, 0.95, 0.975, 0.995, 0.9995]
    dfs = [1, 2, 3, 4, 4.7, 5, 9, 17.3, 29, 99, 199, 1000]
    ts = [-40, -8, -2.5, -1, -0.01, 0, 0.3, 1.96, 5, 12, 60]
    tables = [(1, 0), (3, 1), (8, 1), (5, 5), (2, 9), (10, 0), (10, 3), (7, 7)]
    trials = [(0, 1), (0, 20), (1, 20), (7, 20), (19, 20), (3, 500), (250, 500), (40, 4000)]
    return {
        "tables of ten": tables,
        "Fisher exact p": [float(st.fisher_exact([[i, 10 - i], [j, 10 - j]], "greater").pvalue) for i, j in tables],
        "trials": trials,
        "proportion bounds": [
            [float(st.beta.ppf(0.025, k, n - k + 1)) if k else 0.0, float(st.beta.ppf(0.975, k + 1, n - k))] for k, n in trials
        ],
        "p": ps,
        "df": dfs,
        "t": ts,
        "normal quantile": [float(st.norm.ppf(p)) for p in ps],
        "t quantile": [[float(st.t.ppf(p, df)) for p in ps] for df in dfs],
        "normal tail": [float(st.norm.sf(t)) for t in ts if t < 38],
        "t tail": [[float(st.t.sf(t, df)) for t in ts] for df in dfs],
    }


# ---- The serializer methodology, as import and pivots tell it ----

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
# Of a mean: level, resamples, base seed. The first is the default.
INTERVALS = [(0.95, 2000, 42), (0.8, 2000, 42), (0.95, 200, 42), (0.95, 2000, 7)]
SERIALIZERS = [("csharp", "Avro", 1.0), ("csharp", "Json", 1.9), ("rust", "Bincode", 1.04)]
TEST_DATA = [("Integer", 400), ("Person", 2600)]


def mix(value):
    """SplitMix64's step and output (Steele, Lea and Flood 2014)."""
    z = (value + GOLDEN) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def derived_seed(base, name):
    """The seed of a name: FNV-1a, then SplitMix64."""
    hashed = 0xCBF29CE484222325
    for byte in name.encode():
        hashed = ((hashed ^ byte) * 0x100000001B3) & MASK
    return mix(base ^ mix(hashed))


def indices(seed, name, block, count):
    """Indices below `count`: xoshiro256++ (Blackman and Vigna 2019), two of 32 bits of each output, multiply and shift (Lemire 2019)."""
    state, s = mix((derived_seed(seed, name) + block) & MASK), []
    for _ in range(4):
        s.append(mix(state))
        state = (state + GOLDEN) & MASK
    rotated = lambda x, k: ((x << k) | (x >> (64 - k))) & MASK
    while True:
        drawn = (rotated((s[0] + s[3]) & MASK, 23) + s[0]) & MASK
        shifted = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = rotated(s[3], 45)
        yield ((drawn >> 32) * count) >> 32
        yield ((drawn & 0xFFFFFFFF) * count) >> 32


def bootstrapped_mean(np, values, level, resamples, seed):
    """The percentile interval of the mean, quantiles interpolated; blocks of 1024 resamples."""
    values = np.asarray(values, dtype=float)
    means = []
    for resample in range(resamples):
        if resample % 1024 == 0:
            draws = indices(seed, "mean", resample // 1024, len(values))
        means.append(values[[next(draws) for _ in values]].mean())
    return [number(v) for v in np.quantile(means, [(1 - level) / 2, (1 + level) / 2])]


def serializer_tables(np):
    """Two versions of a log: repetition 0 is slow, some are outliers, one value is a stall of 90 s. Bincode reads 12 % slower in the second."""
    rng = np.random.default_rng(SEED + 3)
    tables = []
    for version in (1, 2):
        rows = []
        for language, serializer, factor in SERIALIZERS:
            for data, base in TEST_DATA:
                for repetition in range(31):
                    ser, deser = (base * factor * x * rng.lognormal(0, 0.05) for x in (1.0, 1.6))
                    if version == 2 and serializer == "Bincode":
                        deser *= 1.12
                    if repetition == 0:
                        ser, deser = ser * 40, deser * 25
                    elif rng.random() < 0.06:
                        ser *= rng.uniform(1.5, 4.0)
                    if (version, serializer, data, repetition) == (1, "Avro", "Person", 17):
                        ser = 9e10
                    rows.append([language, serializer, data, repetition, round(ser), round(deser)])
        tables.append(rows)
    return tables


def fenced(np, values):
    """What Tukey's fences at 1.5 IQR leave, quartiles interpolated."""
    q1, q3 = np.percentile(values, [25, 75])
    return values[(values >= q1 - 1.5 * (q3 - q1)) & (values <= q3 + 1.5 * (q3 - q1))]


def hedges(np, x, y):
    df = len(x) + len(y) - 2
    pooled = math.sqrt(((len(x) - 1) * x.var(ddof=1) + (len(y) - 1) * y.var(ddof=1)) / df)
    return (x.mean() - y.mean()) / pooled * (1 - 3 / (4 * df - 1))


def rank_p(st, x, y):
    return float(st.mannwhitneyu(x, y, use_continuity=True, method="asymptotic").pvalue)


def serializers(np, st):
    tables = serializer_tables(np)
    header = "Language,SerializerName,TestDataName,RepetitionIndex,TimeSer,TimeDeser"
    csv = ["\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n" for rows in tables]
    warm, left = ({}, {}), ({}, {})
    for version, rows in enumerate(tables):
        for _, serializer, data, repetition, *times in rows:
            for label, time in zip(["ser", "deser"], times):
                if repetition > 0:
                    warm[version].setdefault(f"{serializer}/{data}/{label}", []).append(float(time))
    for version in (0, 1):
        for key, values in warm[version].items():
            warm[version][key] = np.array(values)
            left[version][key] = fenced(np, np.array(values))
    described = {}
    for key, x in left[0].items():
        group, label = key.rsplit("/", 1)
        low, high = np.percentile(warm[0][key], [5, 95])
        described[key] = {
            "counts": [len(warm[0][key]) + 1, 1, len(warm[0][key]) - len(x), len(x)],
            "time": number(x.mean()),
            "ops": number(1e9 / x.mean()),
            "min-ops": number(1e9 / x.max()),
            "max-ops": number(1e9 / x.min()),
            "median": number(np.median(x)),
            "std-dev": number(x.std(ddof=1)),
            "cv": number(x.std(ddof=1) / x.mean()),
            "mad": number(st.median_abs_deviation(x)),
            **{f"p{p}": number(np.percentile(x, p)) for p in (5, 25, 75, 95, 99)},
            "winsorized": number(np.clip(warm[0][key], low, high).mean()),
            "intervals": [
                bootstrapped_mean(np, x, level, resamples, derived_seed(seed, f"{group}/{['ser', 'deser'].index(label)}"))
                for level, resamples, seed in INTERVALS
            ],
        }
    columns = [f"{data}/{label}" for data, _ in TEST_DATA for label in ("ser", "deser")]
    relative, tested = {}, []
    for column in columns:
        keys = [f"{serializer}/{column}" for _, serializer, _ in SERIALIZERS]
        fastest = min(keys, key=lambda key: left[0][key].mean())
        for key in keys:
            x, y = left[0][key], left[0][fastest]
            quantile = lambda p: number(np.percentile(x, p) / np.percentile(y, p))
            relative[key] = {
                "is reference": key == fastest,
                "cliffs-delta": number(np.sign(x[:, None] - y[None, :]).mean()),
                "hedges-g": number(hedges(np, x, y)),
                "ratio-p50": quantile(50),
                "ratio-p95": quantile(95),
                "ratio-p99": quantile(99),
                "ratio-ops": number(y.mean() / x.mean()),
            }
            if key != fastest:
                tested.append((key, rank_p(st, left[0][key], left[0][fastest])))
    for (key, _), adjusted in zip(tested, holm([p for _, p in tested])):
        relative[key]["p-value"] = number(adjusted)
    keys = sorted(warm[0])
    p = [rank_p(st, left[1][key], left[0][key]) for key in keys]
    versions = {key: number(adjusted) for key, adjusted in zip(keys, holm(p))}
    return {"csv": csv, "intervals": INTERVALS, "described": described, "relative": relative, "versions": versions}


def made():
    """The texts of the two files, by name."""
    import numpy as np
    import scipy
    from scipy import stats as st
    import warnings

    warnings.simplefilter("ignore")
    pairs = datasets(np)
    content = {
        "made with": f"NumPy {np.__version__}, SciPy {scipy.__version__}",
        "quantiles": QUANTILES,
        "levels": LEVELS,
        "pairs": [
            {"kind": kind, "a": a, "b": b, "of a": of_one(np, st, a), "of both": of_both(np, st, a, b)} for kind, a, b in pairs
        ],
        "groups": groups(np, st),
        "unequal processes": unequal_processes(np),
        "families": families(np, st),
        "described": described(np, st),
        "bootstrapped": bootstrapped(np, st),
        "distributions": distributions(st),
    }

    def short(value):
        """14 digits, whole numbers without their .0: that is half of the file. Data are as they are."""
        if isinstance(value, float):
            value = float(f"{value:.14g}")
            return whole(value)
        if isinstance(value, list):
            return [short(v) for v in value]
        if isinstance(value, dict):
            return {k: whole(v) if k in ("a", "b", "groups") and isinstance(v, list) and is_data(v) else short(v) for k, v in value.items()}
        return value

    def is_data(value):
        return bool(value) and (isinstance(value[0], float) or isinstance(value[0], list))

    def whole(value):
        if isinstance(value, list):
            return [whole(v) for v in value]
        return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else value

    text = json.dumps(short(content), separators=(",", ":"), allow_nan=False)
    # One line a data set, so that a difference can be read.
    text = text.replace('{"kind"', '\n{"kind"').replace('{"name"', '\n{"name"').replace('{"groups":[[', '\n{"groups":[[')
    text_of_serializers = json.dumps(short(serializers(np, st)), separators=(",", ":"), allow_nan=False)
    text_of_serializers = text_of_serializers.replace('":{', '":\n{')
    return {"reference.json": text + "\n", "serializers.json": text_of_serializers + "\n"}


def write():
    for name, text in made().items():
        (HERE / name).write_text(text)
        print(f"{name}: {len(text) // 1024} KiB")


def differences(kept, computed, place):
    """Where two values differ: in structure, in a word, or in a number by more than 1e-12 of it."""
    numbers = [type(value) in (int, float) for value in (kept, computed)]
    if all(numbers):
        if not math.isclose(kept, computed, rel_tol=1e-12, abs_tol=0.0):
            yield f"{place}: {kept!r} in the file, {computed!r} computed"
    elif type(kept) is not type(computed):
        yield f"{place}: {kept!r:.60} in the file, {computed!r:.60} computed"
    elif isinstance(kept, dict):
        if list(kept) != list(computed):
            yield f"{place}: other keys: {sorted(set(kept) ^ set(computed)) or 'the same in another order'}"
            return
        for key in kept:
            yield from differences(kept[key], computed[key], f"{place}/{key}")
    elif isinstance(kept, list):
        if len(kept) != len(computed):
            yield f"{place}: {len(kept)} values in the file, {len(computed)} computed"
            return
        for index, (one, other) in enumerate(zip(kept, computed)):
            yield from differences(one, other, f"{place}/{index}")
    elif kept != computed:
        yield f"{place}: {kept!r:.60} in the file, {computed!r:.60} computed"


def check():
    found = []
    for name, text in made().items():
        found += differences(json.loads((HERE / name).read_text()), json.loads(text), name)
    for line in found[:20]:
        print(line)
    if found:
        sys.exit(f"{len(found)} differences")


def report():
    table = [line.strip() for line in sys.stdin if line.startswith("| ")]
    if not table:
        sys.exit("no table on standard input: see the usage at the top of this file")
    content = json.loads((HERE / "reference.json").read_text())
    kinds = sorted({pair["kind"] for pair in content["pairs"]})
    counts = f"""computed with {content["made with"]} from {len(content["pairs"])} pairs of seeded samples
({", ".join(kinds)}), {len(content["groups"])} sets of groups and {len(content["families"])} families of p-values"""
    page, replaced = re.subn(r"computed with .*? families of p-values", lambda _: counts, PAGE.read_text(), count=1, flags=re.DOTALL)
    page, tables = re.subn(r"(?<=\n\|---\|---\|---\|---\|\n)(\|[^\n]*\n)+", lambda _: "\n".join(table) + "\n", page, count=1)
    if not replaced or not tables:
        sys.exit(f"{PAGE} has no place for the counts or for the table")
    PAGE.write_text(page)


if __name__ == "__main__":
    {"": write, "--report": report, "--check": check}["".join(sys.argv[1:])]()
