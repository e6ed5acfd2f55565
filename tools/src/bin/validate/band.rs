//! Where a count lies if its chance is what it is said to be.

/// The smallest and the largest count of `trials` that a chance of `p` leaves with 99 %: at most half a per cent lies beyond each.
pub fn binomial_band(trials: u64, p: f64) -> (u64, u64) {
    let n = trials as f64;
    // P(k) from P(k - 1), in logarithms so that the first ones do not vanish.
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

/// `95.1`, with `▼` below the band of `p` and `▲` above it.
pub fn marked(hits: u64, trials: u64, p: f64, decimals: usize) -> String {
    let (low, high) = binomial_band(trials, p);
    let mark = match hits {
        hits if hits < low => " ▼",
        hits if hits > high => " ▲",
        _ => "",
    };
    format!("{:.decimals$}{mark}", 100.0 * hits as f64 / trials as f64)
}

/// The band of `p` in per cent.
pub fn printed(trials: u64, p: f64, decimals: usize) -> String {
    let (low, high) = binomial_band(trials, p);
    let percent = |count: u64| 100.0 * count as f64 / trials as f64;
    format!(
        "{:.decimals$} to {:.decimals$}",
        percent(low),
        percent(high)
    )
}
