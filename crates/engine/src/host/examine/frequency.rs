//! Reads the settings of frequency scaling: governor, driver, preference, boost, limits.

use std::collections::BTreeSet;

use super::files::SystemFiles;
use perfcheck_analysis::model::FrequencyState;

const NO_TURBO: &str = "/sys/devices/system/cpu/intel_pstate/no_turbo";
const BOOST: &str = "/sys/devices/system/cpu/cpufreq/boost";

/// Reads the settings of the processors in `online`.
pub(super) fn frequency(files: &dyn SystemFiles, online: &[u32]) -> FrequencyState {
    let of = |processor: &u32, name: &str| {
        files.line(&format!(
            "/sys/devices/system/cpu/cpu{processor}/cpufreq/{name}"
        ))
    };
    let words = |name: &str| -> Vec<String> {
        let found: BTreeSet<String> = online.iter().filter_map(|cpu| of(cpu, name)).collect();
        found.into_iter().collect()
    };
    let numbers = |name: &str| -> Vec<u64> {
        let found = online.iter().filter_map(|cpu| of(cpu, name)?.parse().ok());
        found.collect()
    };
    let (boost, boost_switch) = boost(files);
    FrequencyState {
        governors: words("scaling_governor"),
        driver: words("scaling_driver").into_iter().next(),
        preferences: words("energy_performance_preference"),
        boost,
        boost_switch,
        lowest_khz: numbers("scaling_min_freq").into_iter().min(),
        highest_khz: numbers("scaling_max_freq").into_iter().max(),
    }
}

/// Intel's driver has a switch that disables boost; the others have one that enables it.
fn boost(files: &dyn SystemFiles) -> (Option<bool>, Option<&'static str>) {
    if let Some(forbidden) = files.number(NO_TURBO) {
        return (Some(forbidden == 0), Some(NO_TURBO));
    }
    match files.number(BOOST) {
        Some(allowed) => (Some(allowed != 0), Some(BOOST)),
        None => (None, None),
    }
}

#[cfg(test)]
mod tests {
    use super::super::files::tests::TestFiles;
    use super::*;

    #[test]
    fn governors_of_all_processors_are_named_once_and_limits_span_them() {
        let texts = TestFiles::from_texts([
            (
                "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
                "powersave\n",
            ),
            (
                "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor",
                "performance\n",
            ),
            (
                "/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor",
                "powersave\n",
            ),
            (
                "/sys/devices/system/cpu/cpu0/cpufreq/scaling_min_freq",
                "800000\n",
            ),
            (
                "/sys/devices/system/cpu/cpu1/cpufreq/scaling_max_freq",
                "4200000\n",
            ),
            (
                "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver",
                "intel_pstate\n",
            ),
            (NO_TURBO, "0\n"),
        ]);
        let found = frequency(&texts, &[0, 1, 2]);
        assert_eq!(found.governors, ["performance", "powersave"]);
        assert_eq!(
            (found.lowest_khz, found.highest_khz),
            (Some(800_000), Some(4_200_000))
        );
        assert_eq!(found.driver.as_deref(), Some("intel_pstate"));
        assert_eq!(
            (found.boost, found.boost_switch),
            (Some(true), Some(NO_TURBO))
        );
    }

    #[test]
    fn boost_is_on_unless_the_switch_says_otherwise_and_unknown_without_a_switch() {
        assert_eq!(
            boost(&TestFiles::from_texts([(NO_TURBO, "1")])).0,
            Some(false)
        );
        assert_eq!(
            boost(&TestFiles::from_texts([(BOOST, "1")])),
            (Some(true), Some(BOOST))
        );
        assert_eq!(boost(&TestFiles::from_texts([(BOOST, "0")])).0, Some(false));
        assert_eq!(boost(&TestFiles::from_texts([])), (None, None));
        assert_eq!(
            frequency(&TestFiles::from_texts([]), &[0]),
            FrequencyState::default()
        );
    }
}
