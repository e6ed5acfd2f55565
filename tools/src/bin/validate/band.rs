//! The range in which a count should be if its probability is as stated.

/// Returns the smallest and the largest plausible count among `trials` with probability `p`: at most half a percent of counts is beyond each.
pub fn binomial_band(trials: u64, p: f64) -> (u64, u64) {
    let n = trials as f64;
    // Compute P(k) from P(k - 1), in logarithms so that the first values do not underflow.
    let mut log_chance = n * (-p).ln_1p();
    let odds = p.ln() - (-p).ln_1p();
    let mut below = 0.0;
    let mut lower = None;
    for k in 0..=trials {
        below += log_chance.exp();
        if below > 0.005 && lower.is_none() {
            lower = Some(k);
        }
        if below >= 0.995 {
            return (lower.unwrap_or(0), k);
        }
        log_chance += odds + ((n - k as f64) / (k as f64 + 1.0)).ln();
    }
    (lower.unwrap_or(0), trials)
}

/// Formats a rate such as `95.1`, with `▼` if it is below the band of `p` and `▲` if above.
pub fn marked(hits: u64, trials: u64, p: f64, decimals: usize) -> String {
    let (low, high) = binomial_band(trials, p);
    let mark = match hits {
        hits if hits < low => " ▼",
        hits if hits > high => " ▲",
        _ => "",
    };
    format!("{:.decimals$}{mark}", 100.0 * hits as f64 / trials as f64)
}

/// Formats the smallest and the largest plausible rate for the probability `p`, in percent.
pub fn printed(trials: u64, p: f64, decimals: usize) -> String {
    let (low, high) = binomial_band(trials, p);
    let percent = |count: u64| 100.0 * count as f64 / trials as f64;
    format!(
        "{:.decimals$} to {:.decimals$}",
        percent(low),
        percent(high)
    )
}
