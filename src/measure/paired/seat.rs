//! Where a benchmark runs: on any processor in its first round, in which is seen whether it needs more than one; on one processor from then on
//! if it does not.
//!
//! Children are bound while they live and not before they start: a program that counts processors counts them all.

use std::time::Duration;

use crate::child::Session;
use crate::process::{Binding, Usage};

/// CPU time beyond the time given, as a share of it and in all, that may be the kernel's.
const SLACK_SHARE: f64 = 0.05;
const SLACK: Duration = Duration::from_millis(1);

/// The children of a benchmark, from before it to its end.
pub(super) struct Seat {
    binding: Option<Binding>,
    begun: Vec<Option<Mark>>,
}

/// How far a child has come.
#[derive(Clone, Copy)]
struct Mark {
    usage: Usage,
    asked: Duration,
}

impl Mark {
    fn of(session: &mut Session<'_>) -> Option<Self> {
        Some(Self {
            usage: session.usage()?,
            asked: session.asked(),
        })
    }

    /// Whether a child has had one thread, and no more CPU time than one processor can give.
    fn is_solitary_until(&self, end: &Self) -> bool {
        let asked = end.asked.saturating_sub(self.asked);
        let cpu = end.usage.cpu.saturating_sub(self.usage.cpu);
        end.usage.threads == 1 && cpu <= asked + asked.mul_f64(SLACK_SHARE) + SLACK
    }
}

impl Seat {
    /// Before the benchmark; `choose` names one of so many processors where its children, and we, are to be bound.
    pub(super) fn take(
        children: &mut [&mut Session<'_>],
        choose: Option<impl FnOnce(u32) -> usize>,
    ) -> Self {
        let begun = children.iter_mut().map(|child| Mark::of(child)).collect();
        let ids: Vec<u32> = children.iter_mut().map(|child| child.id()).collect();
        Self {
            // Ours, too: an answer then wakes no other processor up.
            binding: choose.and_then(|choose| Binding::to_one(&ids, choose)),
            begun,
        }
    }

    /// The processor that the children are bound to.
    pub(super) fn processor(&self) -> Option<u32> {
        self.binding.as_ref().map(Binding::processor)
    }

    /// After it: whether one processor was enough for each; `None` where they had no more, or the system does not tell.
    pub(super) fn leave(self, children: &mut [&mut Session<'_>]) -> Option<bool> {
        if self.binding.is_some() {
            return None;
        }
        let mut solitary = true;
        for (begun, child) in self.begun.into_iter().zip(children) {
            solitary &= begun?.is_solitary_until(&Mark::of(child)?);
        }
        Some(solitary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(threads: u32, cpu_ms: u64, asked_ms: u64) -> bool {
        let mark = |threads, cpu, asked| Mark {
            usage: Usage {
                threads,
                cpu: Duration::from_millis(cpu),
                involuntary_switches: 0,
            },
            asked: Duration::from_millis(asked),
        };
        mark(9, 100, 50).is_solitary_until(&mark(threads, 100 + cpu_ms, 50 + asked_ms))
    }

    #[test]
    fn more_than_one_thread_or_more_time_than_one_processor_has_is_not_solitary() {
        assert!(after(1, 30, 30));
        assert!(after(1, 0, 30), "it slept");
        assert!(after(1, 32, 30), "the kernel's share");
        assert!(!after(1, 45, 30), "threads that have ended");
        assert!(!after(2, 30, 30), "threads that have not");
    }
}
