//! Computes the iteration counts of a process from the time of one iteration, and makes all random choices of a run: the order of benchmarks and of
//! sides, the processor, the size of the environment.
//!
//! Invariant: random choices depend only on the run's seed, their purpose, the target, and the number of the process or round.

use std::time::Duration;

use crate::child::SampleSpec;
use perfcheck_analysis::model::{SamplingMode, SamplingSettings, Side, limits};
use perfcheck_build::cargo::BenchTarget;
use perfcheck_stats::{Draws, Stream};

/// The target length of a sample in nanoseconds. Shorter samples would suffer from the clock's resolution, and longer ones from more interruptions.
pub(super) const SAMPLE_NS: f64 = 1e6;
/// Steps of the ramp in the standard mode.
const RAMP_STEPS: u64 = 10;
/// Maximum number of samples in a request.
const MOST_SAMPLES: f64 = *limits::SAMPLES.end() as f64;
/// Number of samples in the other modes, unless the user sets it (Criterion's default).
const CLASSIC_SAMPLES: u64 = 100;
/// A pinned schedule is kept while the length of its samples is within this factor of the target length.
const PIN_LENGTH_FACTOR: f64 = 4.0;
/// Maximum time of a pinned schedule, as a multiple of the measurement time. Samples beyond it are omitted.
pub(super) const PIN_TIME_FACTOR: f64 = 2.5;

/// If setup and drops make iterations take more than this many times as long as their bodies, the schedule has fewer iterations, so that the process
/// still ends in reasonable time.
const TOTAL_TIME_FACTOR: f64 = 4.0;

/// The flat phase: `samples` samples of `iterations` iterations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlatSchedule {
    /// Iterations of each sample.
    pub iterations: u64,
    /// Number of samples.
    pub samples: u64,
}

/// The schedule of a process after its warm-up. Both sides of a round have the same schedule, unless they measure two benchmarks of very different
/// speed.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SampleLayout {
    /// The time of an iteration for which the schedule was computed, in nanoseconds: first on the quicker side, then on the slower side. Both are
    /// equal if the schedule is for one side.
    pub(super) iteration_ns: [f64; 2],
    /// The iteration counts of the linear phase: d, 2d, ..., Nd. Empty if there is no linear phase.
    pub(super) linear: Vec<u64>,
    /// The flat phase, if there is one.
    pub(super) flat: Option<FlatSchedule>,
    /// The number of untimed iterations right before each flat sample. It is 0 if there are none.
    pub(super) lead_in: u64,
}

impl SampleLayout {
    /// Returns the number of iterations of a flat sample and of its lead-in.
    pub(super) fn iterations_with_lead_in(&self) -> u64 {
        self.flat.map_or(1, |flat| flat.iterations) + self.lead_in
    }

    /// Sets the number of flat samples.
    pub(super) fn set_samples(&mut self, samples: u64) {
        if let Some(flat) = &mut self.flat {
            flat.samples = samples;
        }
    }

    /// Returns the request for the linear phase.
    pub(super) fn linear_request(&self) -> Vec<SampleSpec> {
        self.linear
            .iter()
            .map(|iterations| SampleSpec {
                iterations: *iterations,
                count: 1,
            })
            .collect()
    }

    /// Returns the request for the flat phase.
    pub(super) fn flat_request(&self) -> Vec<SampleSpec> {
        self.flat
            .iter()
            .map(|flat| SampleSpec {
                iterations: flat.iterations,
                count: flat.samples,
            })
            .collect()
    }
}

/// Returns the time of an iteration, in nanoseconds, for which a schedule is computed: normally `body_ns`. If setup and drops take much longer, the
/// time is increased, so that the process runs fewer iterations and still ends in reasonable time.
pub(super) fn planned_iteration_ns(body_ns: f64, total_ns: f64) -> f64 {
    body_ns.max(total_ns / TOTAL_TIME_FACTOR)
}

/// Returns how long a request should take at `iteration_ns` per iteration.
pub(super) fn expected_duration(request: &[SampleSpec], iteration_ns: f64) -> Duration {
    let iterations: f64 = request
        .iter()
        .map(|spec| spec.iterations as f64 * spec.count as f64)
        .sum();
    Duration::try_from_secs_f64(iterations * iteration_ns / 1e9).unwrap_or(Duration::MAX)
}

/// Computes the schedule of a process. `iteration_ns` is the time of one iteration in the warm-up. `pinned` is the flat phase of the run to be
/// compared with, which the new schedule follows as far as it still fits.
pub(super) fn compute_layout(
    settings: &SamplingSettings,
    iteration_ns: f64,
    pinned: Option<FlatSchedule>,
) -> SampleLayout {
    let iteration_ns = iteration_ns.max(1e-3);
    let time_ns = settings.measurement.as_f64();
    let samples = settings.samples.map(u64::from);
    let classic = samples.unwrap_or(CLASSIC_SAMPLES).max(2);
    match settings.mode {
        SamplingMode::Standard => {
            let linear = compute_ramp(iteration_ns);
            let ramp_ns = linear.iter().sum::<u64>() as f64 * iteration_ns;
            // A request holds at most `MOST_SAMPLES` samples, so a long measurement needs longer ones.
            let sample_ns = SAMPLE_NS.max(time_ns / MOST_SAMPLES);
            let iterations = (sample_ns / iteration_ns).round().max(1.0);
            let fitting = (time_ns - ramp_ns) / (iterations * iteration_ns);
            let own = FlatSchedule {
                iterations: iterations as u64,
                samples: samples.unwrap_or(fitting.floor().clamp(1.0, MOST_SAMPLES) as u64),
            };
            let flat = pinned.map_or(own, |pinned| {
                follow_pinned(own, pinned, samples, iteration_ns, time_ns)
            });
            SampleLayout {
                iteration_ns: [iteration_ns; 2],
                linear,
                flat: Some(flat),
                lead_in: 0,
            }
        }
        SamplingMode::Linear => linear_layout(classic, time_ns, iteration_ns),
        SamplingMode::Flat => flat_layout(classic, time_ns, iteration_ns, pinned),
        SamplingMode::Auto => {
            let linear = linear_layout(classic, time_ns, iteration_ns);
            let linear_ns = linear.linear.iter().sum::<u64>() as f64 * iteration_ns;
            if linear_ns > 2.0 * time_ns {
                flat_layout(classic, time_ns, iteration_ns, pinned)
            } else {
                linear
            }
        }
    }
}

pub(super) fn compute_ramp(iteration_ns: f64) -> Vec<u64> {
    let steps = ((SAMPLE_NS / iteration_ns) as u64).min(RAMP_STEPS);
    if steps < 2 {
        return Vec::new();
    }
    let first = ((SAMPLE_NS / (steps as f64 * iteration_ns)) as u64).max(1);
    (1..=steps).map(|step| step * first).collect()
}

/// Computes Criterion's linear sampling for N samples, measurement time T and iteration time t: d = max(1, ceil(T / t / (N (N + 1) / 2))).
fn linear_layout(samples: u64, time_ns: f64, iteration_ns: f64) -> SampleLayout {
    let total = samples as f64 * (samples + 1) as f64 / 2.0;
    let first = (time_ns / iteration_ns / total).ceil().max(1.0) as u64;
    SampleLayout {
        iteration_ns: [iteration_ns; 2],
        linear: (1..=samples).map(|step| step * first).collect(),
        flat: None,
        lead_in: 0,
    }
}

/// Computes Criterion's flat sampling for N samples, measurement time T and iteration time t: max(1, ceil(T / N / t)) iterations in each sample.
fn flat_layout(
    samples: u64,
    time_ns: f64,
    iteration_ns: f64,
    pinned: Option<FlatSchedule>,
) -> SampleLayout {
    let iterations = (time_ns / samples as f64 / iteration_ns).ceil().max(1.0) as u64;
    let own = FlatSchedule {
        iterations,
        samples,
    };
    let flat = pinned.map_or(own, |pinned| {
        follow_pinned(own, pinned, Some(samples), iteration_ns, time_ns)
    });
    SampleLayout {
        iteration_ns: [iteration_ns; 2],
        linear: Vec::new(),
        flat: Some(flat),
        lead_in: 0,
    }
}

fn follow_pinned(
    own: FlatSchedule,
    pinned: FlatSchedule,
    samples: Option<u64>,
    iteration_ns: f64,
    time_ns: f64,
) -> FlatSchedule {
    let ratio = pinned.iterations as f64 / own.iterations as f64;
    if !(1.0 / PIN_LENGTH_FACTOR..=PIN_LENGTH_FACTOR).contains(&ratio) {
        return own;
    }
    let sample_ns = pinned.iterations as f64 * iteration_ns;
    let most = (PIN_TIME_FACTOR * time_ns / sample_ns).floor();
    let most = most.clamp(1.0, MOST_SAMPLES) as u64;
    FlatSchedule {
        iterations: pinned.iterations,
        samples: samples.unwrap_or(pinned.samples.min(most)),
    }
}

/// Exclusive upper bound of the padding, in bytes: one page, so that every alignment of the stack within a page can occur.
const LARGEST_PADDING: u32 = 4096;

/// Returns the random numbers for `purpose`. Each process or round of a target has numbers of its own, which `block` selects.
pub(super) fn stream(seed: u64, purpose: &str, target: &BenchTarget, block: u64) -> Draws {
    let name = format!("{purpose}/{}/{}", target.package, target.target);
    Draws::new(Stream { seed, name: &name }, block)
}

/// Draws the number of bytes of padding in the environment of a process.
pub(super) fn draw_padding(seed: u64, target: &BenchTarget, block: u64) -> u32 {
    stream(seed, "padding", target, block).index(LARGEST_PADDING) as u32
}

/// Draws the order of the two sides.
pub(super) fn draw_order(coin: &mut Draws) -> [Side; 2] {
    if coin.index(2) == 0 {
        [Side::Base, Side::Candidate]
    } else {
        [Side::Candidate, Side::Base]
    }
}

/// Draws the side that is sampled first in each quad of a round. Each draw decides two quads: the second one begins with the other side, so that the
/// two are ABBA and BAAB.
pub(super) fn draw_leaders(coin: &mut Draws, quads: usize) -> Vec<Side> {
    let pairs = std::iter::repeat_with(|| draw_order(coin));
    pairs.flatten().take(quads).collect()
}

/// Returns the order of the two sides in a round whose processes run one after the other. Each draw decides two rounds: the second one has the
/// reverse order, so that the two make ABBA or BAAB.
pub(super) fn order_of_round(
    seed: u64,
    purpose: &str,
    target: &BenchTarget,
    round: u32,
) -> [Side; 2] {
    let [first, second] = draw_order(&mut stream(seed, purpose, target, u64::from(round / 2)));
    if round.is_multiple_of(2) {
        [first, second]
    } else {
        [second, first]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use perfcheck_analysis::model::{Nanos, SkipSupport, TargetFacts};

    fn settings(mode: SamplingMode, seconds: u64) -> SamplingSettings {
        SamplingSettings {
            mode,
            measurement: Nanos(seconds * 1_000_000_000),
            ..SamplingSettings::default()
        }
    }

    #[test]
    fn no_layout_asks_for_more_than_the_protocol_allows() {
        let [day, hour] = [86_400, 3_600];
        let lengths = [1, 400, 1_000, 5_000, hour, day];
        for mode in [
            SamplingMode::Standard,
            SamplingMode::Linear,
            SamplingMode::Flat,
            SamplingMode::Auto,
        ] {
            for seconds in lengths {
                for iteration_ns in [0.0_f64, 0.3, 7.0, 670_000.0, 1e6, 1.4e6, 3e9] {
                    for samples in [None, Some(2), Some(*limits::SAMPLES.end())] {
                        for pinned in [None, Some(1_000), Some(u64::MAX)] {
                            let settings = SamplingSettings {
                                samples,
                                ..settings(mode, seconds)
                            };
                            let pinned = pinned.map(|samples| FlatSchedule {
                                iterations: (1e6 / iteration_ns.max(1e-3)) as u64 + 1,
                                samples,
                            });
                            let layout = compute_layout(&settings, iteration_ns, pinned);
                            let what =
                                || format!("{mode:?} {seconds} s {iteration_ns} ns {layout:?}");
                            for request in [layout.linear_request(), layout.flat_request()] {
                                let requested: u64 = request.iter().map(|spec| spec.count).sum();
                                assert!(requested <= 1_000_000, "{}", what());
                                let in_range = |spec: &SampleSpec| {
                                    spec.count > 0 && (1..1 << 63).contains(&spec.iterations)
                                };
                                assert!(request.iter().all(in_range), "{}", what());
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_very_long_time_is_measured_in_longer_samples() {
        // 5000 s of 1 ms samples would be 5 million of them. Instead there are 1 million of 5 ms, minus the ramp of 5.5 ms.
        let layout = compute_layout(&settings(SamplingMode::Standard, 5_000), 1_000.0, None);
        let flat = layout.flat.expect("a flat phase");
        assert_eq!((flat.iterations, flat.samples), (5_000, 999_998));
    }

    #[test]
    fn the_standard_process_is_a_ramp_that_ends_near_a_millisecond_and_flat_samples_of_it() {
        let layout = compute_layout(&SamplingSettings::default(), 100.0, None);
        assert_eq!(
            layout.linear,
            (1..=10).map(|step| step * 1000).collect::<Vec<_>>()
        );
        let flat = layout.flat.expect("a flat phase");
        assert_eq!((flat.iterations, flat.samples), (10_000, 394));
        let all = [layout.linear_request(), layout.flat_request()].concat();
        assert!(expected_duration(&all, 100.0) <= Duration::from_millis(400));
    }

    #[test]
    fn an_iteration_longer_than_a_millisecond_is_one_sample_and_there_is_no_ramp() {
        let layout = compute_layout(&SamplingSettings::default(), 30e6, None);
        assert_eq!(layout.linear, [0; 0]);
        assert_eq!(
            layout.flat,
            Some(FlatSchedule {
                iterations: 1,
                samples: 13
            })
        );
        let endless = compute_layout(&SamplingSettings::default(), 2e9, None);
        assert_eq!(
            endless.flat,
            Some(FlatSchedule {
                iterations: 1,
                samples: 1
            })
        );
    }

    #[test]
    fn c4_c5_linear_counts_are_criterions() {
        let layout = compute_layout(&settings(SamplingMode::Linear, 5), 1000.0, None);
        assert_eq!(layout.linear[0], 991);
        assert_eq!(layout.linear[99], 99_100);
        assert_eq!(layout.flat, None);
        let slow = compute_layout(&settings(SamplingMode::Linear, 5), 30e6, None);
        assert_eq!(slow.linear[99], 100);
    }

    #[test]
    fn auto_is_linear_until_that_takes_more_than_twice_the_time() {
        let quick = compute_layout(&settings(SamplingMode::Auto, 5), 1e6, None);
        assert_eq!(quick.linear[0], 1);
        let slow = compute_layout(&settings(SamplingMode::Auto, 5), 30e6, None);
        assert_eq!(slow.linear, [0; 0]);
        assert_eq!(
            slow.flat,
            Some(FlatSchedule {
                iterations: 2,
                samples: 100
            })
        );
    }

    #[test]
    fn a_pinned_schedule_is_followed_while_it_fits() {
        let pinned = Some(FlatSchedule {
            iterations: 10_000,
            samples: 394,
        });
        let twice = compute_layout(&SamplingSettings::default(), 200.0, pinned);
        assert_eq!(twice.flat, pinned);
        let thrice = compute_layout(&SamplingSettings::default(), 300.0, pinned);
        assert_eq!(
            thrice.flat,
            Some(FlatSchedule {
                iterations: 10_000,
                samples: 333
            })
        );
        let tenfold = compute_layout(&SamplingSettings::default(), 1000.0, pinned);
        assert_eq!(tenfold.flat.map(|flat| flat.iterations), Some(1000));
    }

    #[test]
    fn long_set_up_makes_for_fewer_iterations() {
        assert_eq!(planned_iteration_ns(100.0, 100.0), 100.0);
        assert_eq!(planned_iteration_ns(100.0, 400.0), 100.0);
        assert_eq!(planned_iteration_ns(100.0, 40_000.0), 10_000.0);
        let layout = compute_layout(&SamplingSettings::default(), 10_000.0, None);
        let all = [layout.linear_request(), layout.flat_request()].concat();
        assert!(expected_duration(&all, 40_000.0) <= Duration::from_millis(1600));
    }

    #[test]
    fn a_body_without_a_time_still_gets_a_schedule() {
        let layout = compute_layout(&SamplingSettings::default(), 0.0, None);
        assert_eq!(layout.flat.map(|flat| flat.iterations), Some(1_000_000_000));
    }

    #[test]
    fn of_two_rounds_the_second_turns_the_order_of_the_first_around() {
        let target = BenchTarget {
            package: "p".into(),
            target: "t".into(),
            program: "/p".into(),
            first_arguments: Vec::new(),
            directory: "/".into(),
            variables: BTreeMap::new(),
            facts: TargetFacts::default(),
            skipping: SkipSupport::Works,
            programs: Vec::new(),
        };
        let of = |round| order_of_round(7, "sides", &target, round);
        for pair in 0..20 {
            let [first, second] = of(2 * pair);
            assert_ne!(first, second);
            assert_eq!(of(2 * pair + 1), [second, first]);
        }
        let firsts: Vec<Side> = (0..20).map(|pair| of(2 * pair)[0]).collect();
        for side in Side::BOTH {
            assert!(firsts.contains(&side), "{side} is never the first");
        }
    }

    #[test]
    fn of_two_quads_each_side_leads_one_and_a_coin_says_which() {
        let stream = Stream {
            seed: 7,
            name: "quads",
        };
        let of = |quads| draw_leaders(&mut Draws::new(stream, 0), quads);
        let all = of(40);
        assert_eq!(all.len(), 40);
        let firsts: Vec<Side> = all.chunks(2).map(|two| two[0]).collect();
        assert!(all.chunks(2).all(|two| two[0] != two[1]), "{all:?}");
        for side in Side::BOTH {
            assert!(firsts.contains(&side), "{side} never leads the first");
        }
        assert_eq!(of(1), all[..1]);
        assert_eq!(of(0), []);
    }
}
