//! Reads the whole state of the machine before a measurement.

use super::files::SystemFiles;
use super::frequency::frequency;
use super::limits::surroundings;
use super::memory::memory;
use super::power::power;
use super::processors::{online, processors};
use super::timer::timer;
use perfcheck_analysis::model::MachineState;

/// Position of the nice value after the name of the program.
const NICE: usize = 16;

/// Reads the whole state; `ci` is whether this is a CI runner.
pub fn machine_state(files: &dyn SystemFiles, ci: bool) -> MachineState {
    let online = online(files);
    let load = files.line("/proc/loadavg");
    let stat = files.text("/proc/self/stat");
    MachineState {
        timer: timer(files),
        frequency: frequency(files, &online),
        processors: processors(files, &online),
        surroundings: surroundings(files, ci),
        memory: memory(files),
        power: power(files),
        load: load.and_then(|line| line.split(' ').next()?.parse().ok()),
        address_randomisation: files
            .number("/proc/sys/kernel/randomize_va_space")
            .and_then(|value| u8::try_from(value).ok()),
        nice: stat.and_then(|stat| nice(&stat)),
    }
}

fn nice(stat: &str) -> Option<i32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(NICE)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::files::tests::TestFiles;
    use super::*;
    use crate::host::RealFiles;

    #[test]
    fn load_randomisation_and_our_nice_value_are_read() {
        let texts = TestFiles::from_texts([
            ("/proc/loadavg", "1.50 0.80 0.40 1/200 999\n"),
            ("/proc/sys/kernel/randomize_va_space", "2\n"),
            (
                "/proc/self/stat",
                "9 (x) R 1 9 9 0 -1 0 0 0 0 0 1 2 3 4 30 10 1 0",
            ),
        ]);
        let found = machine_state(&texts, false);
        assert_eq!(found.load, Some(1.5));
        assert_eq!(found.address_randomisation, Some(2));
        assert_eq!(found.nice, Some(10));
    }

    #[test]
    fn on_a_system_that_tells_nothing_only_the_timer_is_known() {
        let found = machine_state(&TestFiles::from_texts([]), false);
        let expected = MachineState {
            timer: found.timer.clone(),
            ..MachineState::default()
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn this_machine_can_be_looked_at_whatever_it_is() {
        let found = machine_state(&RealFiles, true);
        assert!(found.surroundings.ci);
        assert!(found.timer.reading_ns.is_some());
    }
}
