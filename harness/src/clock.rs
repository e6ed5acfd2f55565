//! The clock's smallest step, the conversion of times to the protocol's nanoseconds, and two aids for the parent's tests.
//!
//! An artificial slowdown (the bench protocol, section 8) gives the self-test a side that is known to be slower. The scripted clock (section 7)
//! computes all reported times from a script, so that results are exact. Everything else runs as usual.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::sampler::Sampler;

/// Returns the smallest nonzero difference between two clock readings in 32 tries. This is the effective resolution: the larger of the counter's
/// step and the cost of a reading.
pub(crate) fn measure_quantum() -> Duration {
    (0..32)
        .map(|_| {
            let start = Instant::now();
            loop {
                let step = start.elapsed();
                if !step.is_zero() {
                    return step;
                }
            }
        })
        .min()
        .unwrap_or(Duration::from_nanos(1))
}

/// Returns the time in nanoseconds, limited to the protocol's range: below 2^63.
pub(crate) fn saturating_nanos(time: Duration) -> u64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX) as u64
}

/// The environment variable that holds the slowdown, in millionths.
pub(crate) const SLOWDOWN_VARIABLE: &str = "PERFCHECK_SLOWDOWN";

/// The fewest additional iterations that represent a slowdown accurately enough. Below this number, the sample waits after its body instead.
const FEWEST_EXTRA: f64 = 20.0;

/// The fraction by which samples are artificially slowed down.
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
            .map_err(|_| format!("{SLOWDOWN_VARIABLE}: {text:?} is not a number of millionths"))?;
        Ok(Self {
            fraction: f64::from(millionths) / 1e6,
            carry: 0.0,
        })
    }

    /// Returns the factor by which times grow.
    pub(crate) fn factor(&self) -> f64 {
        1.0 + self.fraction
    }

    /// Takes one slowed-down sample: it runs more than the reported `iterations`, or waits after its body.
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

/// The environment variable that holds the script.
pub(crate) const SCRIPT_VARIABLE: &str = "PERFCHECK_SCRIPTED_CLOCK";

/// In a scripted latency benchmark, every operation whose number is a multiple of `TAIL_EVERY` takes the time `tail_ns`.
const TAIL_EVERY: u64 = 50;

/// The times per iteration that the scripted clock reports, by benchmark and process.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Script {
    /// For each id, the times of the processes 0, 1, and so on. Later processes repeat these times from the beginning
    items: BTreeMap<String, Vec<ScriptedTimes>>,
}

/// The scripted times of one benchmark in one process.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ScriptedTimes {
    ns_per_iteration: f64,
    /// Time of the slow operations of a latency benchmark
    tail_ns: f64,
}

impl ScriptedTimes {
    /// Parses `NS` or `NS~TAIL`.
    fn parse(text: &str) -> Result<Self, String> {
        let number = |text: &str| {
            text.parse()
                .ok()
                .filter(|ns: &f64| ns.is_finite() && *ns > 0.0)
                .ok_or_else(|| {
                    format!("{SCRIPT_VARIABLE}: {text:?} is not a positive number of nanoseconds")
                })
        };
        let (ns, tail) = text.split_once('~').unwrap_or((text, text));
        Ok(Self {
            ns_per_iteration: number(ns)?,
            tail_ns: number(tail)?,
        })
    }

    fn scaled_by(self, factor: f64) -> Self {
        Self {
            ns_per_iteration: self.ns_per_iteration * factor,
            tail_ns: self.tail_ns * factor,
        }
    }
}

impl Script {
    /// Parses `ID=NS/NS/...;ID=...`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let items = text
            .split(';')
            .filter(|item| !item.is_empty())
            .map(|item| {
                let (id, times) = item
                    .rsplit_once('=')
                    .ok_or_else(|| format!("{SCRIPT_VARIABLE}: {item:?} is not ID=NS/NS/..."))?;
                let times = times
                    .split('/')
                    .map(ScriptedTimes::parse)
                    .collect::<Result<_, _>>()?;
                Ok((id.to_owned(), times))
            })
            .collect::<Result<_, String>>()?;
        Ok(Self { items })
    }

    /// Returns the scripted times of `id` in the given process, if the script has this id.
    fn process_times(&self, id: &str, process: usize) -> Option<ScriptedTimes> {
        let times = self.items.get(id)?;
        Some(times[process % times.len()])
    }

    /// Returns the stopwatch for a benchmark that is about to start.
    pub(crate) fn stopwatch(&self, id: &str, process: usize, slowdown: Slowdown) -> Stopwatch {
        match self.process_times(id, process) {
            Some(pace) => Stopwatch::Scripted {
                pace: pace.scaled_by(slowdown.factor()),
                sample: 0,
            },
            None => Stopwatch::Real(slowdown),
        }
    }
}

/// The source of the reported times of a benchmark.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Stopwatch {
    /// The real clock.
    Real(Slowdown),
    /// The values of a sampler that measures something other than time. Warm-ups use the real clock.
    Amounts,
    /// The script. `sample` is the index of the next sample since the benchmark started.
    Scripted { pace: ScriptedTimes, sample: u32 },
}

impl Stopwatch {
    /// Runs one pass of the warm-up. Returns its time in nanoseconds, first without, then with set-up and drops.
    pub(crate) fn warm_up(&self, sampler: &mut Sampler<'_>, iterations: u64) -> (u64, u64) {
        let start = Instant::now();
        let measured = sampler(iterations);
        match self {
            Self::Real(_) => (
                saturating_nanos(measured),
                saturating_nanos(start.elapsed()),
            ),
            Self::Amounts => {
                let elapsed_ns = saturating_nanos(start.elapsed());
                (elapsed_ns, elapsed_ns)
            }
            Self::Scripted { pace, .. } => {
                let scripted = scripted_ns(iterations, pace.ns_per_iteration, 0);
                (scripted, scripted)
            }
        }
    }

    /// Takes one sample and returns its time in nanoseconds.
    pub(crate) fn sample(&mut self, sampler: &mut Sampler<'_>, iterations: u64) -> u64 {
        match self {
            Self::Real(slowdown) => saturating_nanos(slowdown.sample(sampler, iterations)),
            Self::Amounts => saturating_nanos(sampler(iterations)),
            Self::Scripted { pace, sample } => {
                sampler(iterations);
                let scripted = scripted_ns(iterations, pace.ns_per_iteration, *sample);
                *sample = sample.wrapping_add(1);
                scripted
            }
        }
    }

    /// Returns the corresponding clock for single operations.
    pub(crate) fn operation_clock(&self) -> OperationClock {
        match self {
            Self::Real(slowdown) => OperationClock::Real {
                factor: slowdown.factor(),
                carry: 0.0,
            },
            // Single operations are always timed, even if samples are amounts.
            Self::Amounts => OperationClock::Real {
                factor: 1.0,
                carry: 0.0,
            },
            Self::Scripted { pace, .. } => OperationClock::Scripted {
                pace: *pace,
                sample: 0,
                operations: 0,
                passed_ns: 0,
            },
        }
    }
}

/// The source of the reported times of a latency benchmark's operations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum OperationClock {
    /// The real clock. Times are multiplied by the factor to simulate a slowdown, because an operation cannot be run in part. `carry` is the
    /// remainder of rounding.
    Real { factor: f64, carry: f64 },
    /// The script. `sample` and `operations` count from the start of the benchmark; `passed_ns` is the sum of the times so far.
    Scripted {
        pace: ScriptedTimes,
        sample: u32,
        operations: u64,
        passed_ns: u64,
    },
}

impl Default for OperationClock {
    fn default() -> Self {
        Stopwatch::Real(Slowdown::default()).operation_clock()
    }
}

impl OperationClock {
    /// Returns the time of an operation, and its end counted from the beginning of the first sample, both in nanoseconds.
    pub(crate) fn reported_times(&mut self, measured: Duration, ended: Duration) -> (u64, u64) {
        match self {
            Self::Real { factor, carry } => {
                let mut elapsed_ns = saturating_nanos(measured);
                if *factor > 1.0 {
                    let wanted = elapsed_ns as f64 * *factor + *carry;
                    *carry = wanted.fract();
                    elapsed_ns = wanted as u64;
                }
                (elapsed_ns, saturating_nanos(ended))
            }
            Self::Scripted {
                pace,
                sample,
                operations,
                passed_ns,
            } => {
                *operations += 1;
                let ns = if *operations % TAIL_EVERY == 0 {
                    pace.tail_ns
                } else {
                    pace.ns_per_iteration
                };
                let elapsed_ns = scripted_ns(1, ns, *sample);
                *passed_ns += elapsed_ns;
                (elapsed_ns, *passed_ns)
            }
        }
    }

    /// Ends a sample: the operations that follow belong to the next one.
    pub(crate) fn end_sample(&mut self) {
        if let Self::Scripted { sample, .. } = self {
            *sample = sample.wrapping_add(1);
        }
    }
}

/// Returns the scripted time of sample i with M iterations: `round(M * NS * (1 + 1e-3 * (i mod 7)))`.
fn scripted_ns(iterations: u64, ns_per_iteration: f64, sample: u32) -> u64 {
    let wobble = 1.0 + 1e-3 * f64::from(sample % 7);
    let ns = (iterations as f64 * ns_per_iteration * wobble).round() as u64;
    saturating_nanos(Duration::from_nanos(ns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantum_is_never_zero() {
        assert!(!measure_quantum().is_zero());
    }

    #[test]
    fn times_stay_below_two_to_the_63() {
        assert_eq!(saturating_nanos(Duration::from_nanos(7)), 7);
        assert_eq!(saturating_nanos(Duration::MAX), (1 << 63) - 1);
    }

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

    #[test]
    fn the_process_chooses_in_turn_among_the_times() {
        let script = Script::parse("a=b=10/20.5;g/c d=3").unwrap();
        let ns = |id, process| Some(script.process_times(id, process)?.ns_per_iteration);
        assert_eq!(ns("a=b", 0), Some(10.0));
        assert_eq!(ns("a=b", 1), Some(20.5));
        assert_eq!(ns("a=b", 2), Some(10.0));
        assert_eq!(ns("g/c d", 7), Some(3.0));
        assert_eq!(ns("a", 0), None);
        assert_eq!(
            script.stopwatch("a", 0, Slowdown::default()),
            Stopwatch::Real(Slowdown::default())
        );
    }

    #[test]
    fn scripts_that_make_no_sense_are_refused() {
        for script in [
            "a", "a=", "a=x", "a=1/", "a=0", "a=-1", "a=inf", "a=NaN", "a=1~", "a=1~0",
        ] {
            assert!(Script::parse(script).is_err(), "{script}");
        }
        assert_eq!(Script::parse(""), Ok(Script::default()));
    }

    #[test]
    fn each_fiftieth_operation_is_of_the_tail() {
        let script = Script::parse("a=10/10.4~500").unwrap();
        let clock = |process| {
            let stopwatch = script.stopwatch("a", process, Slowdown::default());
            stopwatch.operation_clock()
        };
        let read =
            |clock: &mut OperationClock| clock.reported_times(Duration::ZERO, Duration::ZERO);
        let mut steady = clock(0);
        assert!((1..=100).all(|n| read(&mut steady) == (10, 10 * n)));
        let mut tailed = clock(1);
        let of_tail: Vec<_> = (1..=100).filter(|_| read(&mut tailed).0 == 500).collect();
        assert_eq!(of_tail, [50, 100]);
    }

    #[test]
    fn what_rounding_leaves_of_a_slower_operation_is_carried_on() {
        let slowdown = Slowdown::parse("0050000").unwrap();
        let mut clock = Stopwatch::Real(slowdown).operation_clock();
        let times =
            (0..4).map(|_| clock.reported_times(Duration::from_nanos(10), Duration::from_secs(3)));
        let times: Vec<_> = times.collect();
        assert_eq!(times.iter().map(|(ns, _)| ns).sum::<u64>(), 42);
        assert!(times.iter().all(|&(_, ended)| ended == 3_000_000_000));
    }

    #[test]
    fn scripted_times_wobble_by_the_index_of_the_sample() {
        let mut stopwatch = Script::parse("a=100")
            .unwrap()
            .stopwatch("a", 0, Slowdown::default());
        let mut iterations = 0;
        let mut sampler = |count| {
            iterations += count;
            Duration::from_secs(1)
        };
        let times: Vec<u64> = (0..8).map(|_| stopwatch.sample(&mut sampler, 10)).collect();
        assert_eq!(times, [1000, 1001, 1002, 1003, 1004, 1005, 1006, 1000]);
        assert_eq!(stopwatch.warm_up(&mut sampler, 3), (300, 300));
        assert_eq!(iterations, 83, "the body runs all the same");
    }
}
