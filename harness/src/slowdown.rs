//! An artificial slowdown that the parent asks for (the bench protocol, section 8). The parent's self-test uses it to get a side that is known
//! to be slower.

use std::time::{Duration, Instant};

use crate::sampler::Sampler;

/// The environment variable that holds the slowdown, in millionths.
pub(crate) const VARIABLE: &str = "PERFCHECK_SLOWDOWN";

/// The fewest additional iterations that represent a slowdown accurately enough. Below this number, the sample waits after its body instead.
const FEWEST_EXTRA: f64 = 20.0;

/// The fraction by which samples are made slower than their iterations alone.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Slowdown {
    fraction: f64,
    /// Remainder of rounding, carried to the next sample
    carry: f64,
}

impl Slowdown {
    /// Parses the variable's value. An empty text means no slowdown.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let millionths: u32 = text
            .parse()
            .map_err(|_| format!("{VARIABLE}: {text:?} is no number of millionths"))?;
        Ok(Self {
            fraction: f64::from(millionths) / 1e6,
            carry: 0.0,
        })
    }

    /// Returns the factor by which times grow.
    pub(crate) fn factor(&self) -> f64 {
        1.0 + self.fraction
    }

    /// Takes one sample that reports `iterations` but really runs more of them, or waits after its body.
    pub(crate) fn sample(&mut self, sampler: &mut Sampler<'_>, iterations: u64) -> Duration {
        let extra = iterations as f64 * self.fraction;
        if extra == 0.0 {
            return sampler(iterations);
        }
        if extra >= FEWEST_EXTRA {
            let wanted = extra + self.carry;
            self.carry = wanted.fract();
            return sampler(iterations + wanted as u64);
        }
        let measured = sampler(iterations);
        let start = Instant::now();
        let wait = measured.mul_f64(self.fraction);
        while start.elapsed() < wait {
            std::hint::spin_loop();
        }
        measured + start.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_side_runs_more_iterations_or_waits() {
        let mut slow = Slowdown::parse("0020000").unwrap();
        let mut ran = Vec::new();
        let mut sampler = |iterations| {
            ran.push(iterations);
            Duration::from_micros(100)
        };
        for _ in 0..4 {
            assert_eq!(slow.sample(&mut sampler, 1025), Duration::from_micros(100));
        }
        assert!(slow.sample(&mut sampler, 10) >= Duration::from_micros(102));
        assert_eq!(ran, [1045, 1046, 1045, 1046, 10]);
    }

    #[test]
    fn without_a_slowdown_nothing_is_added() {
        for text in ["", "0000000"] {
            let mut none = Slowdown::parse(text).unwrap();
            let mut sampler = |iterations| Duration::from_nanos(iterations);
            assert_eq!(none.sample(&mut sampler, 7), Duration::from_nanos(7));
            assert_eq!(none.factor(), 1.0);
        }
        assert!(Slowdown::parse("2%").is_err());
    }
}
