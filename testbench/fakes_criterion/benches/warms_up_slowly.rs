//! Imitates Criterion after a slow warm-up: it assumes 70 ns for an iteration of 5 ns, so its samples are much shorter than requested.

use std::env;

use fakes_criterion::greeted;

const WARM_UP_NS: f64 = 70.0;
const ITERATION_NS: f64 = 5.0;
const SAMPLES: u32 = 100;

fn main() {
    let mut runner = greeted();
    if runner.begin("short") {
        let mut words = env::args().skip_while(|word| word != "--measurement-time");
        let seconds = words.nth(1).and_then(|word| word.parse::<f64>().ok());
        // Criterion's ramp d, 2 d, 3 d, ..., but with a tenth of the iterations.
        let ramp = f64::from(SAMPLES * (SAMPLES + 1) / 2) * 10.0;
        let step = (seconds.unwrap_or(5.0) * 1e9 / WARM_UP_NS / ramp).ceil();
        let counts = (1..=SAMPLES).map(|place| f64::from(place) * step);
        let samples: Vec<_> = counts.map(|count| (count, count * ITERATION_NS)).collect();
        runner.complete("short", &samples);
        runner.wait(1.0, "ns");
    }
}
