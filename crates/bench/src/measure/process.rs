//! The current process of each side: how it is started, how it runs, and what is recorded about it. Also makes the conditions fair to both sides: it
//! chooses processors and fills the shared cache.

use std::collections::BTreeMap;
use std::time::Duration;

use super::sides::{CampaignSides, SideChild};
use crate::child::{CriterionSession, ProcessSpec, Session};
use perfcheck_analysis::model::{Control, ProcessHead, ProcessRecord, ProcessUsage, Side};
use perfcheck_build::cargo::BenchTarget;
use perfcheck_host::process::{
    ThreadPinning, UsageSnapshot, private_memory, read_usage, stolen_time,
};

/// The current process of each side.
pub(super) struct ActiveProcesses {
    pub(super) records: CampaignSides<ProcessRecord>,
    /// The block of random numbers that these processes draw from.
    pub(super) block: u64,
}

/// The user asked to stop.
pub(super) struct Interrupted;

impl ActiveProcesses {
    /// Returns the round that the processes belong to.
    pub(super) fn round(&self) -> u32 {
        self.records.candidate.head.ordinal
    }

    /// Returns true if these are the first processes of their target.
    pub(super) fn is_first(&self) -> bool {
        self.round() == 0 && self.records.candidate.head.attempt == 0
    }

    /// Reports whether there are two sides.
    pub(super) fn is_pair(&self) -> bool {
        self.records.is_pair()
    }

    /// Returns the head of one side's record.
    pub(super) fn head(&mut self, side: Side) -> &mut ProcessHead {
        &mut self.records.get_mut(side).head
    }

    /// Returns everything needed to start the executable of one side.
    pub(super) fn spec(&self, target: &BenchTarget) -> ProcessSpec {
        let head = &self.records.candidate.head;
        process_spec(target, head.ordinal, head.padding_bytes)
    }
}

/// Returns everything needed to start `target`.
pub(super) fn process_spec(target: &BenchTarget, ordinal: u32, padding: u32) -> ProcessSpec {
    ProcessSpec {
        program: target.program.clone(),
        first_arguments: target.first_arguments.clone(),
        directory: target.directory.clone(),
        variables: target.variables.clone(),
        ordinal,
        padding,
        skipping: target.skipping,
    }
}

/// The number of a process in a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct ProcessNumber {
    pub(super) round: u32,
    /// The number of processes of the same target that were started earlier in the round.
    pub(super) attempt: u32,
}

impl ProcessNumber {
    /// Returns the block of random numbers that the process draws from.
    pub(super) fn block(self) -> u64 {
        u64::from(self.round) << 32 | u64::from(self.attempt)
    }
}

/// Creates the record of a process that starts now.
pub(super) fn new_record(
    target: &BenchTarget,
    layout: Option<u32>,
    number: ProcessNumber,
    padding: u32,
) -> ProcessRecord {
    ProcessRecord {
        head: ProcessHead {
            package: target.package.clone(),
            target: target.target.clone(),
            ordinal: number.round,
            attempt: number.attempt,
            started: perfcheck_host::now(),
            padding_bytes: padding,
            layout,
            harness: None,
            conduct: None,
            failure: None,
        },
        target_facts: target.facts.clone(),
        benchmarks: Vec::new(),
    }
}

/// Observes how a process runs, from its start to its end.
pub(super) struct ProcessObserver {
    control: Option<Control>,
    /// Whether the times of the control workload come from a script. Interruptions of the real process would then mean nothing, so they are not
    /// recorded.
    is_scripted: bool,
    stolen: Option<Duration>,
    processor: Option<u32>,
}

impl ProcessObserver {
    /// Starts to observe a process that is about to start.
    pub(super) fn start() -> Self {
        Self {
            control: None,
            is_scripted: false,
            stolen: stolen_time(),
            processor: None,
        }
    }

    /// Runs the control workload, then starts to observe a process that is about to start.
    pub(super) fn after_control(probe: Option<&perfcheck_host::ControlProbe>, round: u32) -> Self {
        let control = probe.and_then(|probe| probe.measure(round));
        Self {
            control,
            is_scripted: probe.is_some_and(perfcheck_host::ControlProbe::is_scripted),
            ..Self::start()
        }
    }

    /// Notes the processor that the process is bound to, if any.
    pub(super) fn note_processor(&mut self, processor: Option<u32>) {
        self.processor = processor.or(self.processor);
    }

    /// Combines what was observed around the process (stolen time, processor, control workload) with its resource `usage` and the time that it spent
    /// on requests.
    pub(super) fn process_usage(
        &self,
        usage: &UsageSnapshot,
        working_time: Duration,
    ) -> ProcessUsage {
        let taken = || {
            self.stolen
                .and_then(|before| stolen_time()?.checked_sub(before))
        };
        ProcessUsage {
            threads: usage.threads,
            cpu: usage.cpu.into(),
            working_time: working_time.into(),
            involuntary_switches: if self.is_scripted {
                0
            } else {
                usage.involuntary_switches
            },
            stolen: (!self.is_scripted).then(taken).flatten().map(Into::into),
            processor: self.processor,
            control: self.control,
            run: None,
        }
    }
}

/// If the CPU time outside the main thread is at most this share of all CPU time plus `SLACK`, it is taken for work of the kernel. The process then
/// has kept to one processor.
const SLACK_SHARE: f64 = 0.05;
const SLACK: Duration = Duration::from_millis(1);

/// A child that can be bound to a processor, and whose use of resources can be read.
pub(super) trait PinnableChild {
    /// Returns the process id.
    fn id(&mut self) -> u32;
    /// Returns the resources that the process has used so far, if the system reports them.
    fn usage(&mut self) -> Option<UsageSnapshot> {
        read_usage(self.id())
    }
}

impl PinnableChild for Session<'_> {
    fn id(&mut self) -> u32 {
        self.id()
    }
}

impl PinnableChild for CriterionSession<'_> {
    fn id(&mut self) -> u32 {
        self.id()
    }
}

/// The processors of the children during a benchmark.
///
/// In its first round a benchmark may run on any processor, which shows whether it needs more than one. If it does not, it is bound to one from then
/// on. Children are bound after they have started, so that a program that counts processors counts them all.
pub(super) enum CpuPinning {
    /// The children are bound to one processor.
    Bound(ThreadPinning),
    /// The children may run on any processor. For each, this has the resources that it had used before the benchmark.
    Free(BTreeMap<Side, Option<UsageSnapshot>>),
}

impl CpuPinning {
    /// Binds the children and this thread to a processor before the benchmark. `choose` gets the number of processors and returns the index of one.
    /// If `choose` is `None`, nothing is bound.
    pub(super) fn bind(
        children: &mut [SideChild<impl PinnableChild>],
        choose: Option<impl FnOnce(u32) -> usize>,
    ) -> Self {
        let ids: Vec<u32> = children
            .iter_mut()
            .map(|child| child.session.id())
            .collect();
        match choose.and_then(|choose| ThreadPinning::to_one(&ids, choose)) {
            Some(binding) => Self::Bound(binding),
            None => Self::Free(
                children
                    .iter_mut()
                    .map(|child| (child.side, child.session.usage()))
                    .collect(),
            ),
        }
    }

    /// Returns the processor that the children are bound to.
    pub(super) fn processor(&self) -> Option<u32> {
        match self {
            Self::Bound(binding) => Some(binding.processor()),
            Self::Free(_) => None,
        }
    }

    /// Unbinds the children after the benchmark. Returns whether one processor was enough for each, or `None` if that is unknown.
    pub(super) fn release(self, children: &mut [SideChild<impl PinnableChild>]) -> Option<bool> {
        match self {
            // While a child is bound to one processor, its CPU time does not show whether it needs more. But it may turn out to have more threads
            // than expected.
            Self::Bound(_) => {
                let mut usages = children
                    .iter_mut()
                    .filter_map(|child| child.session.usage());
                usages
                    .any(|usage| !is_single_threaded(&usage))
                    .then_some(false)
            }
            Self::Free(before) => {
                let mut solitary = true;
                for child in children {
                    let before = before.get(&child.side).copied()??;
                    solitary &= kept_to_one(&before, &child.session.usage()?);
                }
                Some(solitary)
            }
        }
    }
}

/// Reports whether a child has one thread and no child processes.
fn is_single_threaded(usage: &UsageSnapshot) -> bool {
    usage.threads == 1 && !usage.has_children
}

/// Reports whether the main thread did all the work between two readings. CPU time of other threads counts even if they have ended since.
fn kept_to_one(before: &UsageSnapshot, after: &UsageSnapshot) -> bool {
    let cpu = after.cpu.saturating_sub(before.cpu);
    let main_thread = after.main_thread.saturating_sub(before.main_thread);
    is_single_threaded(after) && cpu.saturating_sub(main_thread) <= cpu.mul_f64(SLACK_SHARE) + SLACK
}

/// The data of both sides are large if they take more than this share of the cache, which other programs use too.
const LARGE_SHARE: f64 = 0.75;
/// How often the memory that fills the cache is written, because a cache does not always replace its oldest line first.
const PASSES: usize = 4;
/// The memory that fills the cache is this many times as large as the cache, because pages do not spread evenly over the cache.
const OVER_SIZE: u64 = 2;
/// The maximum size of the memory that fills the cache, in bytes.
const MOST_BYTES: u64 = 256 << 20;
/// Size of a cache line, in bytes.
const LINE: usize = 64;

/// The last cache before memory.
///
/// When sampling begins, the cache must not favor a side. But after setup it holds the data of the side that was set up last. If the data are large,
/// this makes that side a tenth to a third faster for a whole round. So if the data of both sides do not fit into the cache together, memory of our
/// own fills it after setup.
pub(super) struct SharedCache {
    /// The size of the cache in bytes. `None` if the system does not report it.
    bytes: Option<u64>,
    /// The memory that fills the cache. It is allocated when it is first needed, and then kept.
    filling: Vec<u8>,
}

impl SharedCache {
    /// Returns the cache of this machine.
    pub(super) fn of_host() -> Self {
        Self {
            bytes: perfcheck_host::last_level_cache(&perfcheck_host::RealFiles),
            filling: Vec::new(),
        }
    }

    /// Fills the cache, if the data of these processes together are large for it.
    pub(super) fn fill_if_large(&mut self, processes: impl Iterator<Item = u32>) {
        let data = processes.filter_map(private_memory).sum();
        if let Some(bytes) = self.bytes.filter(|bytes| is_large(data, *bytes)) {
            self.fill(bytes);
        }
    }

    fn fill(&mut self, bytes: u64) {
        let size = bytes.saturating_mul(OVER_SIZE).min(MOST_BYTES);
        self.filling.resize(usize::try_from(size).unwrap_or(0), 0);
        for _ in 0..PASSES {
            for line in self.filling.chunks_mut(LINE) {
                line[0] = line[0].wrapping_add(1);
            }
        }
    }
}

fn is_large(data: u64, cache: u64) -> bool {
    data as f64 > cache as f64 * LARGE_SHARE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(threads: u32, cpu_ms: u64, main_thread_ms: u64, has_children: bool) -> bool {
        let usage = |threads, cpu, main_thread, has_children| UsageSnapshot {
            threads,
            cpu: Duration::from_millis(cpu),
            main_thread: Duration::from_millis(main_thread),
            has_children,
            involuntary_switches: 0,
        };
        let after = usage(threads, 100 + cpu_ms, 50 + main_thread_ms, has_children);
        kept_to_one(&usage(9, 100, 50, true), &after)
    }

    #[test]
    fn whatever_else_than_the_main_thread_works_needs_another_processor() {
        assert!(after(1, 30, 30, false));
        assert!(after(1, 0, 0, false), "it slept");
        assert!(after(1, 32, 30, false), "the kernel's share");
        assert!(
            !after(1, 30, 15, false),
            "threads that have ended, on a busy machine"
        );
        assert!(!after(2, 30, 30, false), "threads that have not");
        assert!(!after(1, 30, 30, true), "another process");
    }

    const MIB: u64 = 1 << 20;

    #[test]
    fn data_that_fit_in_together_stay_where_they_are() {
        assert!(!is_large(2 * 8 * MIB, 32 * MIB));
        assert!(is_large(2 * 16 * MIB, 32 * MIB));
        assert!(!is_large(0, 32 * MIB), "what is not known is not large");
    }

    #[test]
    fn all_of_the_memory_is_written_and_it_has_a_limit() {
        let filled = |bytes| {
            let mut cache = SharedCache {
                bytes: Some(bytes),
                filling: Vec::new(),
            };
            cache.fill(bytes);
            cache.filling
        };
        let filling = filled(MIB);
        assert_eq!(filling.len() as u64, OVER_SIZE * MIB);
        let lines = filling.chunks(LINE);
        assert!(lines.into_iter().all(|line| usize::from(line[0]) == PASSES));
        assert_eq!(filled(1 << 40).len() as u64, MOST_BYTES);
    }
}
