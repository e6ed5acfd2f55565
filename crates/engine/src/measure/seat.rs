//! The processor of a benchmark. In its first round it may run on any, which shows whether it needs more than one. If it does not, it is bound to one
//! from then on.
//!
//! Children are bound after they have started, so that a program that counts processors counts them all.

use std::time::Duration;

use crate::child::{CriterionSession, Session};
use crate::process::{ThreadPinning, UsageSnapshot};
use perfcheck_analysis::model::Side;

/// CPU time outside the main thread that may be the kernel's, as a share of all and as an absolute time.
const SLACK_SHARE: f64 = 0.05;
const SLACK: Duration = Duration::from_millis(1);

/// A child that can be bound and that has usage statistics.
pub(super) trait PinnableChild {
    /// Returns the id of its process.
    fn id(&mut self) -> u32;
    /// Returns its usage so far, if the system reports it.
    fn usage(&mut self) -> Option<UsageSnapshot> {
        UsageSnapshot::read(self.id())
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
pub(super) enum CpuPinning {
    /// They are bound to one processor.
    Bound(ThreadPinning),
    /// They may run anywhere; the usage of each before the benchmark is known.
    Free(Vec<(Side, Option<UsageSnapshot>)>),
}

impl CpuPinning {
    /// Binds the children and this thread before the benchmark. `choose` picks one of so many processors; without it nothing is bound.
    pub(super) fn bind(
        children: &mut [(Side, impl PinnableChild)],
        choose: Option<impl FnOnce(u32) -> usize>,
    ) -> Self {
        let ids: Vec<u32> = children.iter_mut().map(|(_, child)| child.id()).collect();
        match choose.and_then(|choose| ThreadPinning::to_one(&ids, choose)) {
            Some(binding) => Self::Bound(binding),
            None => Self::Free(
                children
                    .iter_mut()
                    .map(|(side, child)| (*side, child.usage()))
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
    pub(super) fn release(self, children: &mut [(Side, impl PinnableChild)]) -> Option<bool> {
        match self {
            // A bound child can only show that it has more threads than expected.
            Self::Bound(_) => {
                let mut usages = children.iter_mut().filter_map(|(_, child)| child.usage());
                usages
                    .any(|usage| !is_single_threaded(&usage))
                    .then_some(false)
            }
            Self::Free(before) => {
                let mut solitary = true;
                for (side, child) in children {
                    let before = before.iter().find(|(of, _)| of == side)?;
                    solitary &= kept_to_one(&before.1?, &child.usage()?);
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

/// Reports whether the main thread did all the work. The CPU time of threads that have ended still counts, even on a busy machine.
fn kept_to_one(before: &UsageSnapshot, after: &UsageSnapshot) -> bool {
    let cpu = after.cpu.saturating_sub(before.cpu);
    let main_thread = after.main_thread.saturating_sub(before.main_thread);
    is_single_threaded(after) && cpu.saturating_sub(main_thread) <= cpu.mul_f64(SLACK_SHARE) + SLACK
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
}
