//! Exact intervals of proportions.

/// The exact interval of a proportion (Clopper and Pearson 1934) at 95 %: where the binomial tails are 2.5 %.
pub fn exact_interval(hits: u64, of: u64) -> (f64, f64) {
    let bisect = |holds: &dyn Fn(f64) -> bool| {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if holds(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    };
    let lower = if hits == 0 {
        0.0
    } else {
        bisect(&|p| 1.0 - at_most(hits - 1, of, p) < 0.025)
    };
    (lower, bisect(&|p| at_most(hits, of, p) > 0.025))
}

/// The probability of at most `hits` of `of` at `p`.
fn at_most(hits: u64, of: u64, p: f64) -> f64 {
    let mut log_term = of as f64 * (-p).ln_1p();
    let mut sum = log_term.exp();
    for i in 0..hits.min(of) {
        log_term += ((of - i) as f64 / (i + 1) as f64).ln() + p.ln() - (-p).ln_1p();
        sum += log_term.exp();
    }
    sum.min(1.0)
}
