//! How often the p-value of a test is at most a given level, on data without a difference.

use super::band::{marked, printed};
use super::noise::Shape;
use super::simulated;
use perfcheck_stats::{
    FisherExact, KruskalWallis, MannWhitney, MannWhitneyMethod, Resampling, SignedRank, Stream,
    TScore, WelchDf, WelchTest, sign_flip_upper_tail,
};
use perfcheck_tools::numbers::Numbers;

const LEVELS: [f64; 5] = [0.001, 0.01, 0.05, 0.1, 0.5];

/// A test that is applied to data without a difference, and a row of the table.
struct Row {
    name: &'static str,
    p: fn(&mut Numbers) -> Option<f64>,
    /// Whether the test draws resamples. This takes long, so the test runs a fifth as often.
    resamples: bool,
}

const fn exact(name: &'static str, p: fn(&mut Numbers) -> Option<f64>) -> Row {
    Row {
        name,
        p,
        resamples: false,
    }
}

const fn bootstrap(name: &'static str, p: fn(&mut Numbers) -> Option<f64>) -> Row {
    Row {
        name,
        p,
        resamples: true,
    }
}

/// Prints how often the p-value of each test is at most each level.
pub fn print(runs: u64) {
    let many = runs * 5;
    println!("### p-values where there is nothing to find\n");
    println!(
        "How often p <= a, in per cent: {many} runs a row, {runs} where resamples are drawn. Bands that hold 99 % of such counts ({many} and {runs} runs): {}. \
         `▲` alarms more often than a, `▼` less often (exact tests of few values cannot reach every a).\n",
        LEVELS
            .map(|a| format!(
                "a = {a}: {} and {}",
                printed(many, a, 2),
                printed(runs, a, 2)
            ))
            .join(", ")
    );
    println!("| test | a = .001 | .01 | .05 | .1 | .5 |");
    println!("|---|---|---|---|---|---|");
    for row in ROWS {
        let runs = if row.resamples { runs } else { many };
        let p = simulated(runs, row.name, row.p);
        let cells = LEVELS.map(|level| {
            let made = p.iter().flatten().count() as u64;
            // A p that is a multiple of 1/n may differ from a in the last bit.
            let hits = p.iter().flatten().filter(|p| **p <= level + 1e-12).count();
            marked(hits as u64, made, level, 2)
        });
        println!("| {} | {} |", row.name, cells.join(" | "));
    }
    println!();
}

const ROWS: &[Row] = &[
    exact("Welch, 5 and 5, normal", |n| welch(Shape::Normal, 5, 5, n)),
    exact("Welch, 5 and 20, normal", |n| {
        welch(Shape::Normal, 5, 20, n)
    }),
    exact("Welch, 20 and 20, normal", |n| {
        welch(Shape::Normal, 20, 20, n)
    }),
    exact("Welch, 20 and 20, heavy-tailed", |n| {
        welch(Shape::HeavyTailed, 20, 20, n)
    }),
    exact("Mann-Whitney exact (rank sum), 8 and 8, log-normal", |n| {
        mann_whitney(8, MannWhitneyMethod::Exact, n)
    }),
    exact(
        "Mann-Whitney exact (rank sum), 20 and 20, log-normal",
        |n| mann_whitney(20, MannWhitneyMethod::Exact, n),
    ),
    exact("Mann-Whitney asymptotic, 20 and 20", |n| {
        mann_whitney(20, MannWhitneyMethod::Asymptotic, n)
    }),
    exact("Mann-Whitney corrected, 20 and 20", |n| {
        mann_whitney(20, MannWhitneyMethod::AsymptoticCorrected, n)
    }),
    exact("Kruskal-Wallis, 3 groups of 10", |n| {
        let groups: Vec<Vec<f64>> = (0..3).map(|_| Shape::LogNormal.values(10, n)).collect();
        let groups: Vec<&[f64]> = groups.iter().map(Vec::as_slice).collect();
        Some(KruskalWallis::test(&groups)?.p)
    }),
    bootstrap("t-score, slower, 3 and 3, normal", |n| t_score(3, 3, n)),
    bootstrap("t-score, slower, 5 and 5, normal", |n| t_score(5, 5, n)),
    bootstrap("t-score, slower, 10 and 10, normal", |n| t_score(10, 10, n)),
    bootstrap("t-score, slower, 20 and 20, normal", |n| t_score(20, 20, n)),
    bootstrap("t-score, slower, 5 and 50, normal", |n| t_score(5, 50, n)),
    exact("sign flip, 20 differences of up to 60", |n| {
        let differences: Vec<i64> = (0..20)
            .map(|_| i64::try_from(n.0.index(121)).expect("small") - 60)
            .collect();
        Some(sign_flip_upper_tail(&differences))
    }),
    exact("signed rank, above, 10", |n| signed_rank(10, n)),
    exact("signed rank, above, 40", |n| signed_rank(40, n)),
    exact("Fisher exact, 10 and 10", |n| {
        // Five of twenty values are marked. Count how many of these are among the first ten.
        let mut left = 5;
        let mut first = 0;
        for place in 0..20 {
            if n.0.index(20 - place) < left {
                left -= 1;
                first += usize::from(place < 10);
            }
        }
        Some(FisherExact::new(10).upper_tail(first, 5 - first))
    }),
];

fn welch(shape: Shape, candidate: usize, base: usize, numbers: &mut Numbers) -> Option<f64> {
    let (candidate, base) = (
        shape.values(candidate, numbers),
        shape.values(base, numbers),
    );
    Some(WelchTest::test(&candidate, &base, WelchDf::Fractional)?.p)
}

fn mann_whitney(count: usize, method: MannWhitneyMethod, numbers: &mut Numbers) -> Option<f64> {
    let shape = Shape::LogNormal;
    let (candidate, base) = (shape.values(count, numbers), shape.values(count, numbers));
    MannWhitney::from_groups(&candidate, &base)?.p_value(method)
}

fn t_score(candidate: usize, base: usize, numbers: &mut Numbers) -> Option<f64> {
    let seed = numbers.0.index(u32::MAX) as u64;
    let shape = Shape::Normal;
    let (candidate, base) = (
        shape.values(candidate, numbers),
        shape.values(base, numbers),
    );
    let stream = Stream {
        seed,
        name: "p-values",
    };
    let resampling = Resampling {
        resamples: 5_000,
        stream,
    };
    Some(TScore::test(&candidate, &base, 0.0, 0.0, 0.01, resampling)?.p_greater)
}

fn signed_rank(count: usize, numbers: &mut Numbers) -> Option<f64> {
    let differences: Vec<f64> = (0..count)
        .map(|_| Shape::HeavyTailed.draw(numbers) - 100.0)
        .collect();
    Some(SignedRank::new(&differences)?.p_above(0.0))
}
