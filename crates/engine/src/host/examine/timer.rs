//! Examines the timer: its source in the kernel, its step, and the duration of a reading.

#![expect(
    clippy::disallowed_methods,
    reason = "the place that times the timer itself"
)]

use std::hint::black_box;
use std::time::Instant;

use super::files::SystemFiles;
use perfcheck_analysis::model::{Nanos, TimerState};

const SOURCES: &str = "/sys/devices/system/clocksource/clocksource0";
/// Number of differences of which the smallest is the step.
const DIFFERENCES: usize = 32;
/// Number of readings after which the search for differences ends.
const MOST_READINGS: usize = 1_000_000;
/// Readings in a batch, and the number of batches. The fastest batch counts.
const BATCH: u32 = 2_000;
const BATCHES: usize = 10;

/// Reads the names of clock sources, and runs two short measurements.
pub(super) fn timer(files: &dyn SystemFiles) -> TimerState {
    TimerState {
        step_ns: measure_step(),
        reading_ns: measure_reading(),
        ..read_sources(files)
    }
}

fn read_sources(files: &dyn SystemFiles) -> TimerState {
    let available = files.line(&format!("{SOURCES}/available_clocksource"));
    let words = available.iter().flat_map(|line| line.split_whitespace());
    TimerState {
        source: files.line(&format!("{SOURCES}/current_clocksource")),
        available: words.map(str::to_owned).collect(),
        ..TimerState::default()
    }
}

/// Returns the smallest nonzero difference between successive readings.
fn measure_step() -> Option<Nanos> {
    let mut found = Vec::with_capacity(DIFFERENCES);
    let mut before = Instant::now();
    for _ in 0..MOST_READINGS {
        let now = Instant::now();
        let difference = now - before;
        before = now;
        if !difference.is_zero() {
            found.push(Nanos::from(difference));
            if found.len() == DIFFERENCES {
                break;
            }
        }
    }
    found.into_iter().min()
}

fn measure_reading() -> Option<f64> {
    let batch = || {
        let start = Instant::now();
        for _ in 0..BATCH {
            black_box(Instant::now());
        }
        start.elapsed().as_nanos() as f64 / f64::from(BATCH)
    };
    (0..BATCHES).map(|_| batch()).reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::super::files::tests::TestFiles;
    use super::*;

    #[test]
    fn the_source_and_its_alternatives_are_named_where_the_system_names_them() {
        let texts = TestFiles::from_texts([
            (
                "/sys/devices/system/clocksource/clocksource0/current_clocksource",
                "hpet\n",
            ),
            (
                "/sys/devices/system/clocksource/clocksource0/available_clocksource",
                "tsc hpet acpi_pm \n",
            ),
        ]);
        let found = read_sources(&texts);
        assert_eq!(found.source.as_deref(), Some("hpet"));
        assert_eq!(found.available, ["tsc", "hpet", "acpi_pm"]);
        assert_eq!(
            read_sources(&TestFiles::from_texts([])),
            TimerState::default()
        );
    }

    #[test]
    fn a_reading_takes_time_and_the_timer_moves() {
        assert!(measure_reading().is_some_and(|nanoseconds| nanoseconds > 0.0));
        assert!(measure_step().is_some_and(|step| step > Nanos(0)));
    }
}
