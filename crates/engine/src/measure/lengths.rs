//! The lengths of a benchmark's samples, process by process, and by how much the next process must sample longer (pure).
//!
//! A process lays its samples out by its warm-up. A slow warm-up makes all of its samples too short, and only the iteration time of all processes
//! together can reveal that.

use perfcheck_analysis::compare::{ASSUMED_CLOCK_STEP_NS, ProcessSampling, typical_iteration_ns};

/// Target length after samples came out too short, in nanoseconds. Samples shorter than 100 us are not tested.
pub(super) const LEAST_SAMPLE_NS: f64 = 250_000.0;
/// Maximum factor by which a process samples longer than its settings say.
const MOST_STRETCH: u32 = 16;

/// The processes of one side that have sampled a benchmark, in order.
#[derive(Debug, Default)]
pub struct SampleLengths {
    processes: Vec<ProcessSampling>,
}

impl SampleLengths {
    /// Adds the next process.
    pub fn add(&mut self, process: ProcessSampling) {
        self.processes.push(process);
    }

    /// Returns the time of an iteration, in nanoseconds, if the samples of the last process were too short.
    pub fn known_ns_if_short(&self) -> Option<f64> {
        let typical_ns = self.typical_ns()?;
        let last = self.processes.last()?;
        is_too_short(*last, typical_ns).then_some(typical_ns)
    }

    /// Returns the number of processes to repeat: those whose samples were too short. Returns 0 if all were, because another process would not change
    /// that.
    pub fn processes_to_repeat(&self) -> u32 {
        let Some(typical_ns) = self.typical_ns() else {
            return 0;
        };
        let processes = self.processes.iter();
        let short = processes
            .filter(|one| is_too_short(**one, typical_ns))
            .count();
        if short == self.processes.len() {
            0
        } else {
            short as u32
        }
    }

    /// Returns the factor by which the next process must sample longer than its settings say, a power of two. The last process had the factor
    /// `stretch`.
    pub fn stretch_after(&self, stretch: u32) -> u32 {
        let (Some(typical_ns), Some(last)) = (self.typical_ns(), self.processes.last()) else {
            return 1;
        };
        let unstretched_ns = last.length_ns(typical_ns) / f64::from(stretch);
        if !is_too_short(
            ProcessSampling {
                iterations: last.iterations / f64::from(stretch),
                ..*last
            },
            typical_ns,
        ) {
            return 1;
        }
        let wanted = (LEAST_SAMPLE_NS / unstretched_ns).min(f64::from(MOST_STRETCH));
        (wanted.ceil() as u32).next_power_of_two().min(MOST_STRETCH)
    }

    fn typical_ns(&self) -> Option<f64> {
        typical_iteration_ns(self.processes.iter().copied())
    }
}

fn is_too_short(process: ProcessSampling, typical_ns: f64) -> bool {
    process.is_too_short(typical_ns, ASSUMED_CLOCK_STEP_NS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(processes: &[(f64, f64)]) -> SampleLengths {
        let mut lengths = SampleLengths::default();
        for (iterations, iteration_ns) in processes {
            lengths.add(ProcessSampling {
                iterations: *iterations,
                iteration_ns: *iteration_ns,
            });
        }
        lengths
    }

    #[test]
    fn the_process_after_a_short_one_samples_for_longer_and_the_next_one_as_ever() {
        let quiet = (100_000.0, 5.6);
        assert_eq!(lengths(&[quiet]).stretch_after(1), 1);
        // 17 us instead of 250.
        assert_eq!(lengths(&[quiet, (3_000.0, 5.6)]).stretch_after(1), 16);
        assert_eq!(lengths(&[quiet, (12_000.0, 5.6)]).stretch_after(1), 4);
        // The warm-up was slow again, but now the samples are long enough.
        let again = [quiet, (12_000.0, 5.6), (48_000.0, 5.6)];
        assert_eq!(lengths(&again).stretch_after(4), 4);
        let calm = [quiet, (12_000.0, 5.6), (400_000.0, 5.6)];
        assert_eq!(lengths(&calm).stretch_after(4), 1);
        assert_eq!(lengths(&[]).stretch_after(1), 1);
        assert_eq!(lengths(&[(10.0, 0.0)]).stretch_after(1), 16, "no time");
    }

    #[test]
    fn a_process_is_measured_again_for_the_length_of_its_samples_and_not_for_their_time() {
        let quiet = (100_000.0, 5.6);
        let lengths_of = |last| lengths(&[quiet, quiet, last]);
        assert_eq!(lengths_of((3_000.0, 5.6)).processes_to_repeat(), 1);
        assert_eq!(lengths_of((3_000.0, 5_600.0)).processes_to_repeat(), 1);
        assert_eq!(lengths_of((100_000.0, 5_600.0)).processes_to_repeat(), 0);
        assert_eq!(lengths(&[(3_000.0, 5.6); 5]).processes_to_repeat(), 0);
        assert_eq!(
            lengths_of((3_000.0, 5_600.0)).known_ns_if_short(),
            Some(5.6)
        );
        assert_eq!(lengths_of(quiet).known_ns_if_short(), None);
    }
}
