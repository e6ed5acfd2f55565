//! Compares the statistics with golden values, which `reference.py` computes from data with a fixed seed. The output of this test is the source of
//! docs/internals/src/validation.md.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use super::checks::{Checks, Quantity, relative};
use perfcheck_stats::*;
use serde_json::Value;

/// Name of the reference that computes with fractions, by Python's `statistics`.
const EXACT: &str = "`statistics`, exact";

/// The percentages of the best values that are averaged, and the percentiles that are computed in order of preference.
const PERCENTS: [u32; 5] = [50, 75, 90, 95, 99];

fn reference() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/systems/reference.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn floats(value: &Value) -> Vec<f64> {
    let values = value.as_array().unwrap();
    values.iter().map(|value| value.as_f64().unwrap()).collect()
}

fn largest(values: &[f64]) -> f64 {
    values
        .iter()
        .fold(0.0, |largest, value| f64::max(largest, value.abs()))
}

/// Returns the width of an interval. If a bound is the sum of two terms, its error is measured relative to this width.
fn width(interval: &Value) -> f64 {
    interval.as_array().map_or(0.0, |_| {
        let bounds = floats(interval);
        bounds[1] - bounds[0]
    })
}

/// Checks location and spread.
fn describe(checks: &mut Checks, x: &[f64], expected: &Value) {
    let described = Description::compute(x).unwrap();
    let quantity = |name, against| relative(name, against);
    for (name, against, found) in [
        ("mean", EXACT, Some(described.mean)),
        ("median", "`numpy.median`", Some(described.median)),
        ("min", "`numpy.min`", Some(described.min)),
        ("max", "`numpy.max`", Some(described.max)),
    ] {
        checks.one(quantity(name, against), &expected[name], found);
    }
    for (name, against, found) in [
        ("sd", EXACT, described.sd),
        ("standard error", EXACT, described.standard_error()),
        ("cv", EXACT, described.cv()),
        (
            "mad",
            "`scipy.stats.median_abs_deviation`",
            Some(described.mad),
        ),
        (
            "mad scaled",
            "the same, `scale`",
            Some(described.mad_scaled()),
        ),
    ] {
        checks.one(quantity(name, against), &expected[name], found);
    }
    let harmonic = HarmonicMean::compute(x);
    let mean = quantity("harmonic mean", "`scipy.stats.hmean`");
    checks.one(mean, &expected["harmonic mean"], harmonic.map(|h| h.mean));
    let deviation = quantity("harmonic deviation", "by definition");
    // The script subtracts reciprocals without scaling them.
    let deviation = deviation.of_size(harmonic.map_or(0.0, |h| h.mean));
    let found = harmonic.map(|h| h.deviation);
    checks.one(deviation, &expected["harmonic deviation"], found);
    let geometric = GeometricMean::compute(x).filter(|found| found.excluded == 0);
    let quantity = quantity("geometric mean", "`scipy.stats.gmean`");
    checks.one(
        quantity,
        &expected["geometric mean"],
        geometric.map(|g| g.mean),
    );
}

/// Checks quantiles by all three definitions, and means and percentiles of the best values.
fn rank(checks: &mut Checks, x: &[f64], expected: &Value, fractions: &[f64]) {
    let mut sorted = x.to_vec();
    sorted.sort_by(f64::total_cmp);
    for (definition, name, against) in [
        (
            Quantile::InvertedCdf,
            "quantile InvertedCdf",
            "`numpy.quantile(method='inverted_cdf')`",
        ),
        (Quantile::Linear, "quantile Linear", "`numpy.quantile`"),
        (Quantile::FloorRank, "quantile FloorRank", "by definition"),
    ] {
        let found: Option<Vec<f64>> = fractions
            .iter()
            .map(|p| definition.select_sorted(&sorted, *p))
            .collect();
        checks.all(relative(name, against), &expected[name], found.as_deref());
    }
    for (preference, side) in [(Better::Lower, "lower"), (Better::Higher, "higher")] {
        let (best, percentile) = (format!("best mean, {side}"), format!("percentile, {side}"));
        let means = PERCENTS.map(|percent| preference.best_mean(x, percent).unwrap());
        checks.all(
            relative(&best, "by definition"),
            &expected[&best],
            Some(&means),
        );
        let percentiles = PERCENTS.map(|percent| preference.percentile(x, percent).unwrap());
        checks.all(
            relative(&percentile, "by definition"),
            &expected[&percentile],
            Some(&percentiles),
        );
    }
}

/// Checks outlier counts, autocorrelation, modes and straight lines.
fn examine(checks: &mut Checks, x: &[f64], expected: &Value) {
    let size = largest(x);
    let counts = OutlierCounts::from_samples(x);
    let counts = [
        counts.low_severe,
        counts.low_mild,
        counts.high_mild,
        counts.high_severe,
    ];
    let counts = counts.map(|count| count as f64);
    checks.all(
        relative("outlier labels", "by definition"),
        &expected["outlier labels"],
        Some(&counts),
    );
    for (name, against, policy) in [
        (
            "TopFivePercent",
            "by definition",
            OutlierPolicy::TopFivePercent,
        ),
        (
            "BothFivePercent",
            "`scipy.stats.trimboth`",
            OutlierPolicy::BothFivePercent,
        ),
        (
            "IqrFence, nearest rank",
            "`numpy.percentile`",
            OutlierPolicy::IqrFence(IqrFence::NEAREST_RANK),
        ),
        (
            "IqrFence, interpolated",
            "`numpy.percentile`",
            OutlierPolicy::IqrFence(IqrFence::INTERPOLATED),
        ),
        (
            "IqrFence, wide",
            "`numpy.percentile`",
            OutlierPolicy::IqrFence(IqrFence::INTERPOLATED_WIDE),
        ),
        (
            "Mad",
            "`scipy.stats.median_abs_deviation`",
            OutlierPolicy::Mad { multiple: 3.0 },
        ),
        (
            "Winsorise5To95",
            "`numpy.clip`, `numpy.percentile`",
            OutlierPolicy::Winsorise5To95,
        ),
    ] {
        let treated = policy.apply(x).unwrap();
        let expected = &expected[name];
        let kept = format!("{name}: values, mean");
        let quantity = relative(&kept, against);
        checks.one(quantity, &expected[0], Some(treated.values.len() as f64));
        checks.one(quantity, &expected[1], mean(&treated.values));
        let error = TrimmedMean::compute(&treated).map(|trimmed| trimmed.standard_error);
        checks.one(
            relative(&format!("{name}: standard error"), "by definition"),
            &expected[2],
            error,
        );
    }
    let correlation = relative("lag-1 autocorrelation", "by definition");
    checks.one(
        correlation,
        &expected["lag-1 autocorrelation"],
        lag_one_autocorrelation(x),
    );
    let modal = relative("modal value", "`numpy.histogram`");
    checks.one(modal, &expected["modal value"], mvalue(x));
    let steps: Vec<f64> = (1_u32..).take(x.len()).map(f64::from).collect();
    let y: Vec<f64> = steps.iter().zip(x).map(|(m, x)| m * x).collect();
    // If values cancel, NumPy's slope does not have enough digits.
    let slope = relative("slope through the origin", "`numpy.linalg.lstsq`").of_size(size);
    checks.one(
        slope,
        &expected["slope through the origin"],
        slope_through_origin(&steps, &y),
    );
    let r2 = relative("R^2 through the origin", "by definition").of_size(1.0);
    checks.one(
        r2,
        &expected["R^2 through the origin"],
        r_squared_through_origin(&steps, &y),
    );
}

/// Checks straight lines, and intervals that are computed by leaving out one value at a time.
fn leave_out(checks: &mut Checks, x: &[f64], expected: &Value) {
    let size = largest(x);
    let (steps, y): (Vec<f64>, Vec<f64>) = (1_u32..)
        .map(f64::from)
        .zip(x)
        .map(|(m, x)| (m, m * x))
        .unzip();
    let line = LinearFit::fit(&steps, &y).map(|line| [line.intercept, line.slope]);
    let quantity = relative("line", "`scipy.stats.linregress`").of_size(size * x.len() as f64);
    checks.all(
        quantity,
        &expected["line"],
        line.as_ref().map(|line| &line[..]),
    );
    let clusters: Vec<&[f64]> = x.chunks(1).collect();
    let median = jackknife_t_interval(&ClusterMedian::new(&clusters), IntervalScale::Plain, 0.95);
    let quantity = relative("jackknife, median", "by definition").of_size(size);
    checks.interval(quantity, &expected["jackknife, median"], median);
    // If one of two values is left out, a constant remains, whose SD is 0.
    if x.len() != 2 && expected["jackknife, SD"] != "skip" {
        let sd = jackknife_t_interval(&ClusterSd::new(&clusters), IntervalScale::Logarithmic, 0.95);
        let quantity = relative("jackknife, SD", "by definition").of_size(size);
        checks.interval(quantity, &expected["jackknife, SD"], sd);
    }
}

/// Checks tests and intervals of values that are paired by index, and a ratio.
fn pair_up(checks: &mut Checks, a: &[f64], b: &[f64], expected: &Value) {
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let ranks = SignedRank::new(&differences).unwrap();
    if expected["signed rank p"] != "skip" {
        let quantity = Quantity::p_value("signed rank p", "`scipy.stats.wilcoxon`");
        checks.one(
            quantity,
            &expected["signed rank p"],
            Some(ranks.p_above(0.0)),
        );
    }
    let quantity = relative("signed rank estimate", "by definition");
    checks.one(
        quantity,
        &expected["signed rank estimate"],
        Some(ranks.estimate()),
    );
    if expected["sign flip p"] != "skip" {
        let whole: Vec<i64> = differences.iter().map(|d| *d as i64).collect();
        let quantity = Quantity::p_value("sign flip p", "by definition");
        checks.one(
            quantity,
            &expected["sign flip p"],
            Some(sign_flip_upper_tail(&whole)),
        );
    }
    let expected = &expected["jackknife ratio of means"];
    if expected != "skip" {
        let (a, b): (Vec<&[f64]>, Vec<&[f64]>) = (a.chunks(1).collect(), b.chunks(1).collect());
        let (a, b) = (ClusterMean::new(&a), ClusterMean::new(&b));
        let quantity = relative("jackknife ratio of means", "by definition").of_size(1.0);
        checks.interval(
            quantity,
            expected,
            jackknife_t_relative_change_interval(&a, &b, 0.95),
        );
    }
}

/// Checks the intervals of a mean and of a median from one sample.
fn bracket(checks: &mut Checks, x: &[f64], expected: &Value, levels: &[f64]) {
    let size = largest(x);
    for (i, level) in levels.iter().enumerate() {
        let t = TInterval::compute(x, *level).map(|t| t.margin);
        checks.one(
            relative("t margin", "`scipy.stats.t.ppf`"),
            &expected["t margin"][i],
            t,
        );
        let median = MedianInterval::compute(x, *level).map(|found| found.interval);
        let quantity = relative(
            "median interval",
            "`scipy.stats.binom.ppf`; by definition from 50 values on",
        );
        checks.interval(quantity, &expected["median interval"][i], median);
        if let Some(expected) = expected.get("BCa") {
            let quantity = relative("BCa", "`scipy.stats.bootstrap`, all resamples").of_size(size);
            checks.interval(quantity, &expected[i], bca_of_all_resamples(x, *level));
        }
    }
}

/// Returns the `BCa` interval of the mean, computed from all n^n possible resamples.
fn bca_of_all_resamples(x: &[f64], level: f64) -> Option<Interval> {
    let n = x.len();
    let clusters: Vec<&[f64]> = x.chunks(1).collect();
    let mean = ClusterMean::new(&clusters);
    let resamples = (0..n.pow(n as u32)).map(|mut code| {
        let mut weights = vec![0; n];
        for _ in 0..n {
            weights[code % n] += 1;
            code /= n;
        }
        mean.evaluate(&weights)
    });
    let without = |left_out: usize| {
        let weights: Vec<u32> = (0..n).map(|i| u32::from(i != left_out)).collect();
        mean.evaluate(&weights)
    };
    let jackknife: Vec<f64> = (0..n).map(without).collect();
    bca_bounds(resamples.collect(), mean.observed(), &jackknife, level)
}

/// Checks tests of two samples.
fn test(checks: &mut Checks, a: &[f64], b: &[f64], expected: &Value) {
    let found = MannWhitney::from_groups(a, b).unwrap();
    checks.one(
        relative("U", "`scipy.stats.mannwhitneyu`"),
        &expected["U"],
        Some(found.u_first),
    );
    for (name, method) in [
        ("Mann-Whitney p, asymptotic", MannWhitneyMethod::Asymptotic),
        (
            "Mann-Whitney p, corrected",
            MannWhitneyMethod::AsymptoticCorrected,
        ),
        ("Mann-Whitney p, exact", MannWhitneyMethod::Exact),
    ] {
        let quantity = Quantity::p_value(name, "`scipy.stats.mannwhitneyu`; constants: 1");
        checks.one(quantity, &expected[name], found.p_value(method));
    }
    kruskal(checks, &[a, b], &expected["Kruskal-Wallis"]);
    let welch = WelchTest::test(a, b, WelchDf::Fractional);
    let statistic = relative("Welch t, df", EXACT);
    let pair = welch.map(|welch| [welch.t, welch.df]);
    checks.all(
        statistic,
        &expected["Welch"],
        pair.as_ref().map(|pair| &pair[..]),
    );
    let p = Quantity::p_value("Welch p", "`scipy.stats.t.sf`");
    checks.one(p, &expected["Welch p"], welch.map(|welch| welch.p));
    let interval =
        relative("Welch interval", "the same").of_size(width(&expected["Welch interval"]));
    checks.interval(
        interval,
        &expected["Welch interval"],
        welch.and_then(|welch| welch.interval(0.95)),
    );
    let floored = WelchTest::test(a, b, WelchDf::Floored).map(|welch| welch.p);
    let p = Quantity::p_value("Welch p, df floored", "`scipy.stats.t.sf`");
    checks.one(p, &expected["Welch p, df floored"], floored);
}

fn kruskal(checks: &mut Checks, groups: &[&[f64]], expected: &Value) {
    let found = KruskalWallis::test(groups).unwrap();
    let h = relative("Kruskal-Wallis H", "exact fractions; constants: 0");
    checks.one(h, &expected[0], Some(found.h));
    let p = Quantity::p_value("Kruskal-Wallis p", "`scipy.stats.chi2.sf`; constants: 1");
    checks.one(p, &expected[1], Some(found.p));
}

/// Checks effect sizes.
fn size_up(checks: &mut Checks, a: &[f64], b: &[f64], expected: &Value, levels: &[f64]) {
    let g = relative("Hedges g", EXACT);
    checks.one(g, &expected["Hedges g"], hedges_g(a, b));
    let d = relative("Cohen d", EXACT);
    checks.one(d, &expected["Cohen d"], cohens_d(a, b));
    let delta = relative("Cliff's delta", "by definition");
    checks.one(delta, &expected["Cliff's delta"], cliffs_delta(a, b));
    let shift = HodgesLehmann::from_groups(a, b).unwrap();
    let quantity = relative("shift", "`numpy.median` of all differences");
    checks.one(quantity, &expected["shift"], shift.estimate());
    for (name, ranks) in [
        ("shift interval, exact", HodgesLehmannRanks::Exact),
        ("shift interval, normal", HodgesLehmannRanks::Normal),
    ] {
        for (i, level) in levels.iter().enumerate() {
            let quantity = relative(name, "by definition");
            checks.interval(quantity, &expected[name][i], shift.interval(*level, ranks));
        }
    }
    if expected["paired log ratio"] != "skip" {
        let found = PairedLogRatio::compute(a, b, 0.95);
        let found = found.map(|found| [found.ratio, found.interval.lower, found.interval.upper]);
        let quantity = relative(
            "paired log ratio",
            "`scipy.stats.ttest_1samp` of logarithms",
        );
        checks.all(
            quantity,
            &expected["paired log ratio"],
            found.as_ref().map(|found| &found[..]),
        );
    }
    let found = quantile_ratio(a, b, 0.95, Quantile::InvertedCdf);
    let quantity = relative("ratio of 95th percentiles", "`numpy.quantile`");
    checks.one(quantity, &expected["ratio of 95th percentiles"], found);
}

/// Checks statistics of several groups of values. Each group stands for a process.
fn processes(checks: &mut Checks, set: &Value) {
    let data: Vec<Vec<f64>> = set["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(floats)
        .collect();
    let groups: Vec<&[f64]> = data.iter().map(Vec::as_slice).collect();
    kruskal(checks, &groups, &set["Kruskal-Wallis"]);
    let means = describe_cluster_means(&groups).unwrap();
    let quantity = relative("mean of process means, sd", EXACT);
    checks.all(
        quantity,
        &set["mean of process means"],
        Some(&[means.mean, means.sd.unwrap()]),
    );
    let ratio = relative("process variance ratio", EXACT);
    checks.one(
        ratio,
        &set["process variance ratio"],
        between_to_within_ratio(&groups),
    );
    let everything = Subsampling {
        parts: 3,
        share: 1.0,
        replacement: Replacement::Without,
    };
    let stream = Stream {
        seed: 1,
        name: "everything",
    };
    let found = SubsampledCentre::compute(&groups, everything, stream).unwrap();
    let half = found.interval(0.95).unwrap().upper - found.centre;
    // A bound of an interval is rounded to about 1e-16 of its center.
    let quantity = relative("subselection of everything, margin", "by definition")
        .of_size(found.centre * 1e-6);
    checks.all(
        quantity,
        &set["subselection of everything"],
        Some(&[found.centre, half]),
    );
}

fn distributions(checks: &mut Checks, tables: &Value) {
    let (ps, dfs, ts) = (
        floats(&tables["p"]),
        floats(&tables["df"]),
        floats(&tables["t"]),
    );
    for (p, expected) in ps.iter().zip(tables["normal quantile"].as_array().unwrap()) {
        let quantity = relative("normal quantile", "`scipy.stats.norm.ppf`").of_size(1e-3);
        checks.one(quantity, expected, normal::quantile(*p));
    }
    for (t, expected) in ts.iter().zip(tables["normal tail"].as_array().unwrap()) {
        let quantity = Quantity::p_value("normal tail", "`scipy.stats.norm.sf`");
        checks.one(quantity, expected, Some(normal::upper_tail(*t)));
    }
    proportions(checks, tables);
    for (i, df) in dfs.iter().enumerate() {
        checks.context = format!("t with {df} degrees of freedom");
        for (p, expected) in ps.iter().zip(tables["t quantile"][i].as_array().unwrap()) {
            let quantity = relative("t quantile", "`scipy.stats.t.ppf`").of_size(1e-3);
            checks.one(quantity, expected, student_t::quantile(*p, *df));
        }
        for (t, expected) in ts.iter().zip(tables["t tail"][i].as_array().unwrap()) {
            let quantity = Quantity::p_value("t tail", "`scipy.stats.t.sf`");
            checks.one(quantity, expected, student_t::upper_tail(*t, *df));
        }
    }
}

/// Checks tests of two proportions of ten trials each, and bounds of single proportions.
fn proportions(checks: &mut Checks, tables: &Value) {
    let counts =
        |name: &str| -> Vec<[u32; 2]> { serde_json::from_value(tables[name].clone()).unwrap() };
    let expected = tables["Fisher exact p"].as_array().unwrap();
    for ([first, second], expected) in counts("tables of ten").into_iter().zip(expected) {
        let p = FisherExact::new(10).upper_tail(first as usize, second as usize);
        let quantity = Quantity::p_value("Fisher exact p", "`scipy.stats.fisher_exact`");
        checks.one(quantity, expected, Some(p));
    }
    let expected = tables["proportion bounds"].as_array().unwrap();
    for ([count, trials], expected) in counts("trials").into_iter().zip(expected) {
        let lower = binomial::lower_bound(count, trials, 0.975).unwrap();
        let upper = binomial::upper_bound(count, trials, 0.975).unwrap();
        let quantity = relative("proportion bounds", "`scipy.stats.beta.ppf`").of_size(1e-3);
        checks.interval(quantity, expected, Some(Interval { lower, upper }));
    }
}

/// Returns the results of all comparisons. They are computed only once.
fn checked() -> &'static Checks {
    static CHECKED: OnceLock<Checks> = OnceLock::new();
    CHECKED.get_or_init(check)
}

fn check() -> Checks {
    let reference = reference();
    let (fractions, levels) = (
        floats(&reference["quantiles"]),
        floats(&reference["levels"]),
    );
    let mut checks = Checks::default();
    for (i, pair) in reference["pairs"].as_array().unwrap().iter().enumerate() {
        checks.context = format!("pair {i}, {}", pair["kind"]);
        let (a, b) = (floats(&pair["a"]), floats(&pair["b"]));
        describe(&mut checks, &a, &pair["of a"]);
        rank(&mut checks, &a, &pair["of a"], &fractions);
        examine(&mut checks, &a, &pair["of a"]);
        bracket(&mut checks, &a, &pair["of a"], &levels);
        leave_out(&mut checks, &a, &pair["of a"]);
        test(&mut checks, &a, &b, &pair["of both"]);
        pair_up(&mut checks, &a, &b, &pair["of both"]);
        size_up(&mut checks, &a, &b, &pair["of both"], &levels);
    }
    for (i, set) in reference["groups"].as_array().unwrap().iter().enumerate() {
        checks.context = format!("groups {i}");
        processes(&mut checks, set);
    }
    for family in reference["families"].as_array().unwrap() {
        let p = floats(&family["p"]);
        checks.context = format!("family of {}", p.len());
        for (name, against, correction) in [
            ("Holm", "by definition", Correction::Holm),
            (
                "Benjamini-Hochberg",
                "`scipy.stats.false_discovery_control`",
                Correction::BenjaminiHochberg,
            ),
        ] {
            let quantity = Quantity::p_value(name, against);
            checks.all(quantity, &family[name], Some(&correction.adjust(&p)));
        }
    }
    distributions(&mut checks, &reference["distributions"]);
    checks
}

#[test]
fn n25_every_statistic_agrees_with_the_reference_values() {
    let checks = checked();
    print!("\n{}", checks.table());
    let failures = checks.failures.len();
    let first: Vec<&str> = checks
        .failures
        .iter()
        .take(40)
        .map(String::as_str)
        .collect();
    assert!(
        first.is_empty(),
        "{failures} failures:\n{}",
        first.join("\n")
    );
}

#[test]
fn there_are_two_hundred_pairs_of_samples_at_least() {
    assert!(reference()["pairs"].as_array().unwrap().len() >= 200);
}

#[test]
fn the_validation_page_names_every_quantity_and_how_often_it_was_compared() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/internals/src/validation.md");
    let page = fs::read_to_string(page).unwrap();
    for row in &checked().rows {
        let line = format!("| {} | {} | {} |", row.quantity, row.against, row.compared);
        assert!(
            page.contains(&line),
            "docs/internals/src/validation.md is out of date: it lacks {line}"
        );
    }
}
