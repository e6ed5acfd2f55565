//! Detects the environment of this system: virtual machine, container, and the limits of control groups (cgroups(7),
//! both versions).

use super::files::{SystemFiles, field};
use perfcheck_analysis::model::SystemEnvironment;

const GROUPS: &str = "/sys/fs/cgroup";
/// Values from this size on mean no limit: version 1 writes a huge number.
const UNLIMITED_BYTES: u64 = 1 << 60;

/// Reads the environment; `ci` is whether this is a CI runner.
pub(super) fn surroundings(files: &dyn SystemFiles, ci: bool) -> SystemEnvironment {
    let groups = ControlGroups::read(files);
    let quota = groups.quota();
    SystemEnvironment {
        virtual_machine: virtual_machine(files),
        hypervisor: hypervisor(files),
        container: container(files),
        limits_readable: groups.are_readable(),
        processor_quota: quota.map(|(processors, _)| processors),
        quota_period_us: quota.map(|(_, period_us)| period_us),
        memory_limit_bytes: groups.memory_limit(),
        ci,
    }
}

/// Returns how often the control group used up its quota and had to wait for the next period.
pub(super) fn quota_waits(files: &dyn SystemFiles) -> Option<u64> {
    ControlGroups::read(files).quota_waits()
}

/// Detects a virtual machine by the flag that guests see in `/proc/cpuinfo`, or on other architectures by the vendor.
fn virtual_machine(files: &dyn SystemFiles) -> Option<bool> {
    let cpu_info = files.text("/proc/cpuinfo")?;
    match field(&cpu_info, "flags") {
        Some(flags) => Some(flags.split_whitespace().any(|flag| flag == "hypervisor")),
        None => hypervisor(files).map(|_| true),
    }
}

/// Returns the name of the hypervisor, from the type or vendor that the system reports.
fn hypervisor(files: &dyn SystemFiles) -> Option<String> {
    const MAKERS: [(&str, &str); 10] = [
        ("qemu", "QEMU/KVM"),
        ("kvm", "KVM"),
        ("vmware", "VMware"),
        ("virtualbox", "VirtualBox"),
        ("innotek", "VirtualBox"),
        ("xen", "Xen"),
        ("amazon ec2", "Amazon EC2"),
        ("google compute engine", "Google Compute Engine"),
        ("virtual machine", "Hyper-V"),
        ("parallels", "Parallels"),
    ];
    if let Some(kind) = files.line("/sys/hypervisor/type") {
        return Some(kind);
    }
    let words: Vec<String> = ["sys_vendor", "product_name"]
        .iter()
        .filter_map(|name| files.line(&format!("/sys/class/dmi/id/{name}")))
        .collect();
    let words = words.join(" ").to_lowercase();
    let known = MAKERS.iter().find(|(word, _)| words.contains(word));
    known.map(|(_, name)| (*name).to_owned())
}

fn container(files: &dyn SystemFiles) -> Option<String> {
    let known = [("/.dockerenv", "Docker"), ("/run/.containerenv", "Podman")];
    let by_file = known.iter().find(|(path, _)| files.text(path).is_some());
    if let Some((_, name)) = by_file {
        return Some((*name).to_owned());
    }
    files.line("/run/systemd/container")
}

/// The directories of this process's control groups, from its own group up to the root.
struct ControlGroups<'f> {
    files: &'f dyn SystemFiles,
    unified: Vec<String>,
    processor: Vec<String>,
    memory: Vec<String>,
}

impl<'f> ControlGroups<'f> {
    fn read(files: &'f dyn SystemFiles) -> Self {
        let text = files.text("/proc/self/cgroup").unwrap_or_default();
        let mut groups = Self {
            files,
            unified: Vec::new(),
            processor: Vec::new(),
            memory: Vec::new(),
        };
        // Lines have the form `number:controllers:path`; version 2 has no controllers.
        for line in text.lines() {
            let mut parts = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
                continue;
            };
            let has = |name| controllers.split(',').any(|word| word == name);
            if controllers.is_empty() {
                groups.unified = with_ancestors(GROUPS, path);
            } else if has("cpu") {
                groups.processor = with_ancestors(&format!("{GROUPS}/cpu"), path);
            } else if has("memory") {
                groups.memory = with_ancestors(&format!("{GROUPS}/memory"), path);
            }
        }
        groups
    }

    /// Reports whether the system shows the files of any of the groups. The root group has no files about limits, so `cgroup.controllers` counts,
    /// too.
    fn are_readable(&self) -> bool {
        const OF_TWO: [&str; 3] = ["cpu.max", "cpu.stat", "cgroup.controllers"];
        let has = |group: &str, name: &str| self.files.text(&format!("{group}/{name}")).is_some();
        let mut of_two = self.unified.iter();
        let mut of_one = self.processor.iter();
        of_two.any(|group| OF_TWO.iter().any(|name| has(group, name)))
            || of_one.any(|group| has(group, "cpu.cfs_quota_us"))
    }

    /// Returns the smallest quota of all groups, as a number of processors, and its period in microseconds.
    fn quota(&self) -> Option<(f64, u64)> {
        let files = self.files;
        let of_two = self.unified.iter().filter_map(|group| {
            let line = files.line(&format!("{group}/cpu.max"))?;
            let (quota, period) = line.split_once(' ')?;
            Some((quota.parse::<u64>().ok()?, period.trim().parse().ok()?))
        });
        let of_one = self.processor.iter().filter_map(|group| {
            // -1 means no quota, and is not parsed as an unsigned number.
            let quota = files.number(&format!("{group}/cpu.cfs_quota_us"))?;
            Some((quota, files.number(&format!("{group}/cpu.cfs_period_us"))?))
        });
        of_two
            .chain(of_one)
            .filter(|(_, period)| *period > 0)
            .map(|(quota, period)| (quota as f64 / period as f64, period))
            .min_by(|one, two| one.0.total_cmp(&two.0))
    }

    fn memory_limit(&self) -> Option<u64> {
        let of_two = self
            .unified
            .iter()
            .filter_map(|group| self.files.number(&format!("{group}/memory.max")));
        let of_one = self
            .memory
            .iter()
            .filter_map(|group| self.files.number(&format!("{group}/memory.limit_in_bytes")));
        of_two
            .chain(of_one)
            .filter(|bytes| *bytes < UNLIMITED_BYTES)
            .min()
    }

    /// Returns the largest number of waits among all groups. Each group counts only the effects of its own quota.
    fn quota_waits(&self) -> Option<u64> {
        let groups = self.unified.iter().chain(&self.processor);
        let counts = groups.filter_map(|group| {
            let text = self.files.text(&format!("{group}/cpu.stat"))?;
            let line = text
                .lines()
                .find_map(|line| line.strip_prefix("nr_throttled "))?;
            line.trim().parse().ok()
        });
        counts.max()
    }
}

/// Returns `root` joined with `path` and with all its parents. In a container, `path` may be that of the host, so some of the returned directories
/// may not exist.
fn with_ancestors(root: &str, path: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = path.trim_end_matches('/');
    while !rest.is_empty() {
        found.push(format!("{root}{rest}"));
        rest = rest.rsplit_once('/').map_or("", |(above, _)| above);
    }
    found.push(root.to_owned());
    found
}

#[cfg(test)]
mod tests {
    use super::super::files::tests::TestFiles;
    use super::*;

    #[test]
    fn the_smallest_quota_above_us_holds() {
        let texts = TestFiles::from_texts([
            ("/proc/self/cgroup", "0::/pods/one/job\n"),
            ("/sys/fs/cgroup/pods/one/job/cpu.max", "max 100000\n"),
            ("/sys/fs/cgroup/pods/one/cpu.max", "150000 100000\n"),
            ("/sys/fs/cgroup/pods/cpu.max", "400000 100000\n"),
            ("/sys/fs/cgroup/pods/one/memory.max", "1073741824\n"),
            ("/sys/fs/cgroup/pods/memory.max", "max\n"),
            (
                "/sys/fs/cgroup/pods/one/cpu.stat",
                "usage_usec 5\nnr_periods 9\nnr_throttled 7\n",
            ),
        ]);
        let found = surroundings(&texts, false);
        assert_eq!(found.processor_quota, Some(1.5));
        assert_eq!(found.quota_period_us, Some(100_000));
        assert_eq!(found.memory_limit_bytes, Some(1 << 30));
        assert_eq!(quota_waits(&texts), Some(7));
    }

    #[test]
    fn groups_of_the_first_version_say_the_same_in_other_words() {
        let texts = TestFiles::from_texts([
            (
                "/proc/self/cgroup",
                "4:memory:/job\n1:cpu,cpuacct:/job\n0::/\n",
            ),
            ("/sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "50000\n"),
            ("/sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n"),
            ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
            ("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
            (
                "/sys/fs/cgroup/memory/memory.limit_in_bytes",
                "9223372036854771712\n",
            ),
        ]);
        let found = surroundings(&texts, false);
        assert_eq!(found.processor_quota, Some(0.5));
        assert_eq!(found.memory_limit_bytes, None);
    }

    #[test]
    fn virtual_machines_and_containers_are_named_where_they_name_themselves() {
        let texts = TestFiles::from_texts([
            ("/proc/cpuinfo", "flags\t\t: fpu hypervisor lahf_lm\n"),
            ("/sys/class/dmi/id/sys_vendor", "QEMU\n"),
            ("/.dockerenv", ""),
        ]);
        let found = surroundings(&texts, true);
        assert_eq!(found.virtual_machine, Some(true));
        assert_eq!(found.hypervisor.as_deref(), Some("QEMU/KVM"));
        assert_eq!(found.container.as_deref(), Some("Docker"));
        let metal = TestFiles::from_texts([("/proc/cpuinfo", "flags\t\t: fpu\n")]);
        assert_eq!(virtual_machine(&metal), Some(false));
        let arm = TestFiles::from_texts([("/proc/cpuinfo", "CPU part\t: 0xd0c\n")]);
        assert_eq!(virtual_machine(&arm), None);
        assert_eq!(
            surroundings(&TestFiles::from_texts([]), false),
            SystemEnvironment::default()
        );
    }

    #[test]
    fn lines_that_are_no_limits_are_passed_over() {
        let texts = TestFiles::from_texts([
            ("/proc/self/cgroup", "nonsense\n0::/a\n"),
            ("/sys/fs/cgroup/a/cpu.max", "100000 0\n"),
            ("/sys/fs/cgroup/cpu.max", "100000\n"),
        ]);
        let expected = SystemEnvironment {
            limits_readable: true,
            ..SystemEnvironment::default()
        };
        assert_eq!(surroundings(&texts, false), expected);
    }

    #[test]
    fn groups_that_cannot_be_read_are_not_groups_without_limits() {
        let unmounted = TestFiles::from_texts([("/proc/self/cgroup", "0::/job\n")]);
        assert!(!surroundings(&unmounted, false).limits_readable);
        let root = TestFiles::from_texts([
            ("/proc/self/cgroup", "0::/\n"),
            ("/sys/fs/cgroup/cgroup.controllers", "cpu memory\n"),
        ]);
        let found = surroundings(&root, false);
        assert!(found.limits_readable);
        assert_eq!(found.processor_quota, None);
    }
}
