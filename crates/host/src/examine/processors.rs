//! Reads the state of the processors: their number, which of them this process may use, whether they share cores, and whether they are alike. Also
//! reads the settings of frequency scaling (governor, driver, preference, boost, limits) and the timer (its source in the kernel, its step, the
//! duration of a reading).

#![expect(
    clippy::disallowed_methods,
    reason = "the place that times the timer itself"
)]

use std::collections::BTreeSet;
use std::hint::black_box;
use std::time::Instant;

use super::files::{SystemFiles, field, parse_number_list};
use perfcheck_analysis::model::{FrequencyState, Nanos, ProcessorState, TimerState};

const CPU: &str = "/sys/devices/system/cpu";
/// Cores are of different kinds if their highest frequencies or capacities differ by more than this factor. Favored cores of one kind differ by less.
const ALIKE: f64 = 1.2;

/// Returns the numbers of the online processors.
pub(super) fn online(files: &dyn SystemFiles) -> Vec<u32> {
    let list = files.line(&format!("{CPU}/online"));
    list.and_then(|list| parse_number_list(&list))
        .unwrap_or_default()
}

/// Reads the state of the processors.
pub(super) fn processors(files: &dyn SystemFiles, online: &[u32]) -> ProcessorState {
    let status = files.text("/proc/self/status").unwrap_or_default();
    let allowed = field(&status, "Cpus_allowed_list").and_then(parse_number_list);
    let siblings = online.iter().filter_map(|cpu| {
        let list = files.line(&format!("{CPU}/cpu{cpu}/topology/thread_siblings_list"))?;
        let all = parse_number_list(&list)?;
        Some(all.iter().filter(|other| online.contains(other)).count())
    });
    let isolated = files.line(&format!("{CPU}/isolated"));
    let nodes = files.line("/sys/devices/system/node/online");
    ProcessorState {
        online: (!online.is_empty()).then_some(online.len()),
        allowed: allowed.map(|allowed| {
            let usable = |cpu: &&u32| online.is_empty() || online.contains(cpu);
            allowed.iter().filter(usable).count()
        }),
        threads_per_core: siblings.max().filter(|threads| *threads > 0),
        isolated: isolated
            .and_then(|list| parse_number_list(&list))
            .unwrap_or_default(),
        hybrid: hybrid(files, online),
        nodes: nodes
            .and_then(|list| parse_number_list(&list))
            .map(|nodes| nodes.len()),
    }
}

/// Returns the size in bytes of the last cache before memory: the largest cache of the first processor.
pub fn last_level_cache(files: &dyn SystemFiles) -> Option<u64> {
    let caches = format!("{CPU}/cpu0/cache");
    let sizes = files.names(&caches).into_iter().filter_map(|name| {
        let size = files.line(&format!("{caches}/{name}/size"))?;
        let (number, unit) = size.split_at(size.find(|c: char| !c.is_ascii_digit())?);
        let bytes_of_unit = match unit {
            "K" => 1 << 10,
            "M" => 1 << 20,
            _ => return None,
        };
        number.parse::<u64>().ok()?.checked_mul(bytes_of_unit)
    });
    sizes.max()
}

/// Reports whether there are different kinds of cores. Intel lists two kinds; elsewhere capacities or frequencies
/// differ.
fn hybrid(files: &dyn SystemFiles, online: &[u32]) -> Option<bool> {
    let kinds = ["/sys/devices/cpu_core/cpus", "/sys/devices/cpu_atom/cpus"];
    if kinds.iter().all(|kind| files.line(kind).is_some()) {
        return Some(true);
    }
    ["cpu_capacity", "cpufreq/cpuinfo_max_freq"]
        .iter()
        .find_map(|name| {
            let found = online
                .iter()
                .filter_map(|cpu| files.number(&format!("{CPU}/cpu{cpu}/{name}")));
            let found: Vec<f64> = found.map(|value| value as f64).collect();
            let most = found.iter().copied().reduce(f64::max)?;
            let least = found.iter().copied().reduce(f64::min)?;
            Some(most > least * ALIKE)
        })
}

const NO_TURBO: &str = "/sys/devices/system/cpu/intel_pstate/no_turbo";
const BOOST: &str = "/sys/devices/system/cpu/cpufreq/boost";

/// Reads the frequency settings of the processors in `online`.
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

/// Returns whether boost is on, and the file that switches it. Intel's driver has a switch that disables boost; the others have one that enables it.
fn boost(files: &dyn SystemFiles) -> (Option<bool>, Option<&'static str>) {
    if let Some(forbidden) = files.number(NO_TURBO) {
        return (Some(forbidden == 0), Some(NO_TURBO));
    }
    match files.number(BOOST) {
        Some(allowed) => (Some(allowed != 0), Some(BOOST)),
        None => (None, None),
    }
}

const SOURCES: &str = "/sys/devices/system/clocksource/clocksource0";
/// Number of differences between readings. The smallest one is the step.
const DIFFERENCES: usize = 32;
/// Number of readings after which the search for differences ends.
const MOST_READINGS: usize = 1_000_000;
/// Number of readings in a batch.
const BATCH: u32 = 2_000;
/// Number of batches. The fastest one counts.
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
    fn the_last_cache_is_the_largest() {
        let texts = TestFiles::from_texts([
            ("/sys/devices/system/cpu/cpu0/cache/index0/size", "48K\n"),
            ("/sys/devices/system/cpu/cpu0/cache/index2/size", "1024K\n"),
            ("/sys/devices/system/cpu/cpu0/cache/index3/size", "32M\n"),
            ("/sys/devices/system/cpu/cpu0/cache/index4/size", "many\n"),
        ]);
        assert_eq!(last_level_cache(&texts), Some(32 << 20));
        assert_eq!(
            last_level_cache(&TestFiles::from_texts([])),
            None,
            "it is not told"
        );
    }

    #[test]
    fn what_a_cpuset_leaves_and_what_shares_a_core_are_counted() {
        let texts = TestFiles::from_texts([
            ("/sys/devices/system/cpu/online", "0-3\n"),
            ("/sys/devices/system/cpu/isolated", "3\n"),
            (
                "/proc/self/status",
                "Name:\tx\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1,9\n",
            ),
            (
                "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
                "0,2\n",
            ),
            (
                "/sys/devices/system/cpu/cpu1/topology/thread_siblings_list",
                "1,7\n",
            ),
            ("/sys/devices/system/node/online", "0-1\n"),
        ]);
        let online = online(&texts);
        assert_eq!(online, [0, 1, 2, 3]);
        let found = processors(&texts, &online);
        assert_eq!((found.online, found.allowed), (Some(4), Some(2)));
        assert_eq!(found.threads_per_core, Some(2));
        assert_eq!(found.isolated, [3]);
        assert_eq!(found.nodes, Some(2));
        assert_eq!(found.hybrid, None);
    }

    #[test]
    fn cores_are_of_different_kinds_where_capacity_or_frequency_says_so() {
        let capacities = |second| {
            TestFiles::from_texts([
                ("/sys/devices/system/cpu/cpu0/cpu_capacity", "1024"),
                ("/sys/devices/system/cpu/cpu1/cpu_capacity", second),
            ])
        };
        assert_eq!(hybrid(&capacities("446"), &[0, 1]), Some(true));
        assert_eq!(hybrid(&capacities("1000"), &[0, 1]), Some(false));
        let intel = TestFiles::from_texts([
            ("/sys/devices/cpu_core/cpus", "0-7"),
            ("/sys/devices/cpu_atom/cpus", "8-15"),
        ]);
        assert_eq!(hybrid(&intel, &[0, 1]), Some(true));
        assert_eq!(hybrid(&TestFiles::from_texts([]), &[0, 1]), None);
    }

    #[test]
    fn without_the_system_s_files_nothing_is_known() {
        let nothing = TestFiles::from_texts([]);
        assert_eq!(online(&nothing), [0; 0]);
        assert_eq!(processors(&nothing, &[]), ProcessorState::default());
    }

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
