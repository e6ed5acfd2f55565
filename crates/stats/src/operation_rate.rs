//! Operations per second, from times of single operations.

use super::description::Description;

/// Operations per second, computed from times of single operations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OperationRates {
    /// Rate at the mean time, 1e9 / ns
    pub mean: f64,
    /// Rate at the longest time
    pub least: f64,
    /// Rate at the shortest time
    pub most: f64,
}

impl OperationRates {
    /// Converts `times_ns`, nanoseconds in any order, into rates. A time of 0 is below the clock's resolution, and gets the rate 0. `None` without
    /// values, with a negative value or one that is not finite.
    pub fn from_times(times_ns: &[f64]) -> Option<Self> {
        let times = Description::compute(times_ns).filter(|times| times.min >= 0.0)?;
        Some(Self {
            mean: per_second(times.mean),
            least: per_second(times.max),
            most: per_second(times.min),
        })
    }
}

fn per_second(time_ns: f64) -> f64 {
    if time_ns > 0.0 { 1e9 / time_ns } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_times_have_no_rate() {
        assert_eq!(OperationRates::from_times(&[1.0, -1.0]), None);
        assert_eq!(OperationRates::from_times(&[]), None);
    }
}
