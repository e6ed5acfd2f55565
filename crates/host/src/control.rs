//! The control workload: a fixed amount of work in this process, run between two bench processes, never during a
//! measurement.
//!
//! No change of the user's code affects it, so changes of its time are changes of the host. A pass is a chain of
//! dependent integer operations. Its time depends on the clock frequency and on other users of the processor, but not
//! on memory or the optimizer.

#![expect(
    clippy::disallowed_methods,
    reason = "the place that times the control workload"
)]

use std::hint::black_box;
use std::time::Instant;

use super::EnvironmentVariables;
use perfcheck_analysis::model::{Control, Nanos};

/// Number of passes in one probe, which take about 3 ms in total.
const PASSES: usize = 40;

/// Number of steps in a pass.
const STEPS: u32 = 25_000;

/// A probe that runs the control workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControlProbe {
    /// Scripted results for tests, one per process, repeated from the first after the last. `None` for real measurements.
    script: Option<Vec<Control>>,
}

impl ControlProbe {
    /// Creates a probe. If the clock of the benches is scripted, the control is too (docs/internals/src/protocol.md, section
    /// 7).
    pub fn from_variables(variables: &EnvironmentVariables) -> Self {
        let script = variables.scripted_clock.as_ref().map(|_| {
            let text = variables.scripted_control.as_deref().unwrap_or_default();
            text.split('/').filter_map(parse_scripted).collect()
        });
        Self { script }
    }

    /// Reports whether times are scripted, so that the state of the host does not matter.
    pub fn is_scripted(&self) -> bool {
        self.script.is_some()
    }

    /// Runs the workload before the process number `ordinal`; `None` if the script has no entries.
    pub fn measure(&self, ordinal: u32) -> Option<Control> {
        match &self.script {
            Some(script) if script.is_empty() => None,
            Some(script) => Some(script[ordinal as usize % script.len()]),
            None => Some(summarize_passes(std::array::from_fn(|_| timed_pass()))),
        }
    }
}

/// Parses `PASS` or `PASS~SPREAD`, in nanoseconds.
fn parse_scripted(text: &str) -> Option<Control> {
    let (pass, spread) = text.split_once('~').unwrap_or((text, "0"));
    Some(Control {
        pass: Nanos(pass.parse().ok()?),
        spread: Nanos(spread.parse().ok()?),
    })
}

fn timed_pass() -> u64 {
    let start = Instant::now();
    let mut state = black_box(0x9E37_79B9_7F4A_7C15_u64);
    for _ in 0..STEPS {
        // One step of xorshift64* (Marsaglia 2003; Vigna 2016); each step depends on the previous one.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state = state.wrapping_mul(0x2545_F491_4F6C_DD1D);
    }
    black_box(state);
    Nanos::from(start.elapsed()).0
}

/// Returns the median and the median absolute deviation.
fn summarize_passes(mut passes: [u64; PASSES]) -> Control {
    let pass = upper_median(&mut passes);
    let mut distances = passes.map(|one| one.abs_diff(pass));
    Control {
        pass: Nanos(pass),
        spread: Nanos(upper_median(&mut distances)),
    }
}

/// Returns the upper median.
fn upper_median(values: &mut [u64; PASSES]) -> u64 {
    values.sort_unstable();
    values[PASSES / 2]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_is_median_and_median_distance_whatever_a_few_passes_met() {
        let mut passes = [1000; PASSES];
        passes[..5].fill(9_000_000);
        passes[5..30].fill(1010);
        let control = summarize_passes(passes);
        assert_eq!((control.pass, control.spread), (Nanos(1010), Nanos(0)));
        let even = summarize_passes(std::array::from_fn(|i| 1000 + i as u64));
        // |x - 1020| of 1000..=1039: 0, then 1 to 19 twice, and 20.
        assert_eq!((even.pass, even.spread), (Nanos(1020), Nanos(10)));
        assert!((even.jitter() - 10.0 / 1020.0).abs() < 1e-12);
    }

    #[test]
    fn the_workload_takes_time_and_its_passes_are_alike() {
        let control = ControlProbe { script: None }.measure(0).unwrap();
        assert!(control.pass > Nanos(0));
        assert!(control.spread <= control.pass);
    }

    #[test]
    fn with_a_script_processes_take_its_times_side_by_side_and_an_empty_one_gives_none() {
        let script = |text: &str| ControlProbe {
            script: Some(text.split('/').filter_map(parse_scripted).collect()),
        };
        let looks = script("70000/75000~3000");
        let found = [0, 1, 2].map(|process| looks.measure(process).map(|x| (x.pass.0, x.spread.0)));
        assert_eq!(found, [(70_000, 0), (75_000, 3000), (70_000, 0)].map(Some));
        assert_eq!(script("").measure(0), None);
    }
}
