//! Reads the processors: their number, those that this process may use, sharing of cores, and whether they are alike.

use super::files::{SystemFiles, field, parse_number_list};
use perfcheck_analysis::model::ProcessorState;

const CPU: &str = "/sys/devices/system/cpu";
/// Factor between the highest frequencies or capacities of cores from which on they are considered different kinds.
/// Favored cores of one kind differ by less.
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

/// Returns the size in bytes of the largest cache of the first processor, which is the last one before memory.
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
}
