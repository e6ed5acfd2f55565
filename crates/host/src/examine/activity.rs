//! Measures the machine's activity during a measurement, as the difference between two snapshots of its counters.
//!
//! Fields are those of `proc_stat(5)`, `proc_pid_stat(5)` and `proc_vmstat(5)`.

use std::collections::BTreeMap;

use super::files::SystemFiles;
use super::limits::quota_waits;
use super::processors::online;
use crate::os;
use perfcheck_analysis::model::{BusyProgram, HostActivity};

/// Largest number of programs in the list.
const MOST_NAMED: usize = 3;
/// A listed program keeps at least this many processors busy.
const WORTH_A_NAME: f64 = 0.05;

/// The values of the system's counters at one time. They count from the start of the machine.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ActivitySnapshot {
    /// Clock ticks of all processors together.
    times: Option<CpuTimes>,
    /// Ticks of this process and of those that it has waited for.
    own: Option<u64>,
    /// Name and ticks of each process, without the ticks of processes that it has waited for.
    processes: BTreeMap<ProcessIdentity, (String, u64)>,
    slowed_by_heat: Option<u64>,
    out_of_quota: Option<u64>,
    swapped_pages: Option<u64>,
}

/// Process id, and the tick at which the process began. Ids are reused, and names can change (those of kernel workers
/// often do).
type ProcessIdentity = (u32, u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct CpuTimes {
    all: u64,
    idle: u64,
    stolen: u64,
}

impl ActivitySnapshot {
    /// Takes a snapshot; `own_id` is the id of this process.
    pub fn read(files: &dyn SystemFiles, own_id: u32) -> Self {
        let own = files.text("/proc/self/stat");
        let processes = files.names("/proc").into_iter().filter_map(|name| {
            let id: u32 = name.parse().ok()?;
            let stat = files.text(&format!("/proc/{id}/stat"))?;
            let (name, ticks) = parse_process(&stat)?;
            (id != own_id).then(|| ((id, ticks.began), (name.to_owned(), ticks.own)))
        });
        Self {
            times: files
                .text("/proc/stat")
                .and_then(|text| parse_times(text.lines().next()?)),
            own: own
                .and_then(|stat| parse_process(&stat).map(|(_, ticks)| ticks.own + ticks.waited)),
            processes: processes.collect(),
            slowed_by_heat: throttle_count(files),
            out_of_quota: quota_waits(files),
            swapped_pages: files
                .text("/proc/vmstat")
                .and_then(|text| swapped_pages(&text)),
        }
    }

    /// Returns the activity between two snapshots that are `seconds` apart.
    pub fn difference_to(&self, later: &Self, seconds: f64) -> HostActivity {
        let times = self.times.zip(later.times);
        let all = times.map(|(before, after)| after.all.saturating_sub(before.all) as f64);
        let all = all.filter(|ticks| *ticks > 0.0);
        let share = |ticks: u64| all.map(|all| (ticks as f64 / all).clamp(0.0, 1.0));
        let stolen =
            times.and_then(|(before, after)| share(after.stolen.saturating_sub(before.stolen)));
        let others = || {
            let (before, after) = times?;
            let busy = |times: CpuTimes| times.all - times.idle - times.stolen;
            let own = later.own?.saturating_sub(self.own?);
            share(busy(after).saturating_sub(busy(before)).saturating_sub(own))
        };
        let since = |pick: fn(&Self) -> Option<u64>| Some(pick(later)?.saturating_sub(pick(self)?));
        HostActivity {
            seconds,
            stolen_share: stolen,
            others_share: others(),
            busiest: self.busiest(later, seconds),
            slowed_by_heat: since(|look| look.slowed_by_heat),
            out_of_quota: since(|look| look.out_of_quota),
            swapped_pages: since(|look| look.swapped_pages),
        }
    }

    /// Returns the busiest programs. Processes of the same name are added up, because a build has many of them.
    fn busiest(&self, later: &Self, seconds: f64) -> Vec<BusyProgram> {
        let per_second = os::clock_ticks_per_second() as f64;
        let mut by_name: BTreeMap<&str, u64> = BTreeMap::new();
        for (process, (name, ticks)) in &later.processes {
            let before = self.processes.get(process);
            let ticks = ticks.saturating_sub(before.map_or(0, |(_, ticks)| *ticks));
            // The name of a kernel worker ends with its current task after a slash.
            let name = name
                .split_once('/')
                .map_or(&**name, |(kind, _)| match kind {
                    "kworker" => kind,
                    _ => name,
                });
            *by_name.entry(name).or_default() += ticks;
        }
        let mut found: Vec<BusyProgram> = by_name
            .into_iter()
            .map(|(name, ticks)| BusyProgram {
                name: name.to_owned(),
                processors: ticks as f64 / per_second / seconds.max(1e-3),
            })
            .filter(|program| program.processors >= WORTH_A_NAME)
            .collect();
        found.sort_by(|one, two| two.processors.total_cmp(&one.processors));
        found.truncate(MOST_NAMED);
        found
    }
}

/// Parses the line for all processors: user, nice, system, idle, iowait, irq, softirq, steal. The times of guests are
/// included in the first two.
fn parse_times(line: &str) -> Option<CpuTimes> {
    let mut words = line.split_whitespace();
    if words.next() != Some("cpu") {
        return None;
    }
    let ticks: Vec<u64> = words.take(8).filter_map(|word| word.parse().ok()).collect();
    Some(CpuTimes {
        all: ticks.iter().sum(),
        idle: ticks.get(3)? + ticks.get(4)?,
        stolen: ticks.get(7).copied().unwrap_or(0),
    })
}

struct ProcessTicks {
    /// Start of the process in ticks since the machine was started.
    began: u64,
    own: u64,
    /// Ticks of processes that it has waited for.
    waited: u64,
}

/// Parses the name and ticks. The name is in parentheses and can contain any character, even parentheses.
fn parse_process(stat: &str) -> Option<(&str, ProcessTicks)> {
    let (head, rest) = stat.rsplit_once(')')?;
    let (_, name) = head.split_once('(')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let sum = |range| {
        let fields = fields.get::<std::ops::Range<usize>>(range)?;
        Some(
            fields
                .iter()
                .filter_map(|field| field.parse::<u64>().ok())
                .sum(),
        )
    };
    Some((
        name,
        ProcessTicks {
            began: fields.get(19).and_then(|field| field.parse().ok())?,
            own: sum(11..13)?,
            waited: sum(13..15)?,
        },
    ))
}

/// Returns the number of times that processors and packages were throttled. A counter shared by several cores is
/// counted more than once, but zero remains zero.
fn throttle_count(files: &dyn SystemFiles) -> Option<u64> {
    let counts = online(files).into_iter().flat_map(|cpu| {
        ["core_throttle_count", "package_throttle_count"].map(|name| {
            let path = format!("/sys/devices/system/cpu/cpu{cpu}/thermal_throttle/{name}");
            files.number(&path)
        })
    });
    let known: Vec<u64> = counts.flatten().collect();
    (!known.is_empty()).then(|| known.iter().sum())
}

fn swapped_pages(text: &str) -> Option<u64> {
    let value = |name: &str| {
        let found = text
            .lines()
            .filter_map(|line| line.split_once(' '))
            .find(|(key, _)| *key == name);
        found?.1.trim().parse::<u64>().ok()
    };
    Some(value("pswpin")? + value("pswpout")?)
}

#[cfg(test)]
mod tests {
    use super::super::files::tests::TestFiles;
    use super::*;

    const STAT: &str = "7 (a) b (c) R 1 7 7 0 -1 0 0 0 0 0 TICKS 40 5 20 20 0 1 0 900";

    #[test]
    fn what_others_used_is_what_was_busy_less_our_own_time() {
        let look = |all: &'static str, own: &'static str, other: &'static str| {
            let texts = TestFiles::from_texts([
                ("/proc/stat", all),
                ("/proc/self/stat", own),
                ("/proc/50/stat", own),
                ("/proc/60/stat", other),
                ("/proc/vmstat", "pgfault 5\npswpin 1\npswpout 2\n"),
            ]);
            ActivitySnapshot::read(&texts, 50)
        };
        let before = look(
            "cpu  100 0 0 900 0 0 0 0 0 0\ncpu0 1 1 1 1\n",
            "50 (perfcheck) S 1 1 1 0 -1 0 0 0 0 0 10 0 0 0 20 0 1 0 500",
            "60 (rustc) R 1 1 1 0 -1 0 0 0 0 0 100 0 0 0 20 0 1 0 600",
        );
        // 1000 ticks: 500 idle, 100 stolen, 400 busy, 150 of these by this process.
        let after = look(
            "cpu  450 0 50 1300 100 0 0 100 0 0\n",
            "50 (perfcheck) S 1 1 1 0 -1 0 0 0 0 0 60 0 100 0 20 0 1 0 500",
            "60 (rustc) R 1 1 1 0 -1 0 0 0 0 0 300 50 0 0 20 0 1 0 600",
        );
        let found = before.difference_to(&after, 5.0);
        assert_eq!(found.stolen_share, Some(0.1));
        assert_eq!(found.others_share, Some(0.25));
        assert_eq!(found.swapped_pages, Some(0));
        assert_eq!(found.slowed_by_heat, None);
        let names: Vec<&str> = found.busiest.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["rustc"], "our own process is no other program");
        let per_second = os::clock_ticks_per_second() as f64;
        assert_eq!(found.busiest[0].processors, 250.0 / per_second / 5.0);
    }

    #[test]
    fn a_process_that_changes_its_name_has_not_done_in_a_moment_what_it_did_since_it_began() {
        let look = |stat: &'static str| {
            let texts = TestFiles::from_texts([("/proc/60/stat", stat)]);
            ActivitySnapshot::read(&texts, 50)
        };
        let worker = "60 (kworker/u8:3-flush) I 2 0 0 0 -1 0 0 0 0 0 0 90000 0 0 20 0 1 0 600";
        let renamed = "60 (kworker/u8:3-mm) I 2 0 0 0 -1 0 0 0 0 0 0 90002 0 0 20 0 1 0 600";
        let busier = "60 (kworker/u8:3-mm) I 2 0 0 0 -1 0 0 0 0 0 0 99000 0 0 20 0 1 0 600";
        let another = "60 (kworker/u8:3-flush) I 2 0 0 0 -1 0 0 0 0 0 0 90000 0 0 20 0 1 0 700";
        let named = |later: &'static str| look(worker).difference_to(&look(later), 10.0).busiest;
        assert_eq!(named(renamed), []);
        assert_eq!(named(busier)[0].name, "kworker");
        let per_second = os::clock_ticks_per_second() as f64;
        assert_eq!(named(busier)[0].processors, 9000.0 / per_second / 10.0);
        assert_eq!(
            named(another)[0].processors,
            90000.0 / per_second / 10.0,
            "the number came to a process that began later"
        );
    }

    #[test]
    fn a_program_may_have_brackets_and_blanks_in_its_name() {
        let stat = STAT.replace("TICKS", "30");
        let (name, ticks) = parse_process(&stat).unwrap();
        assert_eq!(name, "a) b (c");
        assert_eq!((ticks.own, ticks.waited), (70, 25));
        assert!(parse_process("7 (a").is_none());
        assert!(parse_process("7 (a) R 1").is_none());
    }

    #[test]
    fn slowing_down_by_heat_is_summed_over_processors() {
        let texts = TestFiles::from_texts([
            ("/sys/devices/system/cpu/online", "0-1"),
            (
                "/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
                "2",
            ),
            (
                "/sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count",
                "3",
            ),
        ]);
        assert_eq!(throttle_count(&texts), Some(5));
    }

    #[test]
    fn where_nothing_can_be_read_nothing_is_known_of_what_happened() {
        let nothing = ActivitySnapshot::read(&TestFiles::from_texts([]), 1);
        let found = nothing.difference_to(&nothing, 1.0);
        let expected = HostActivity {
            seconds: 1.0,
            ..HostActivity::default()
        };
        assert_eq!(found, expected);
    }
}
