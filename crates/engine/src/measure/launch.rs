//! One launch of each side while it is under way: what it is started with, what is recorded of it, how its processes run.

use std::time::Duration;

use super::sides::OneOrTwo;
use crate::cargo::BenchTarget;
use crate::child::LaunchSpec;
use crate::host;
use crate::process::{Usage, stolen};
use perfcheck_analysis::model::{Conduct, Control, LaunchHead, LaunchRecord, Side};

/// One launch of each side, under way.
pub(super) struct OpenLaunch {
    /// The place of its target in the campaign.
    pub(super) index: usize,
    pub(super) records: OneOrTwo<LaunchRecord>,
    /// The benchmarks still to be visited, by their place in the target; taken from the end.
    pub(super) wanted: Vec<usize>,
    /// Names this launch to what is drawn by chance.
    pub(super) block: u64,
    pub(super) interrupted: bool,
}

impl OpenLaunch {
    /// The round that it belongs to.
    pub(super) fn round(&self) -> u32 {
        self.records.candidate.head.ordinal
    }

    /// Whether it is the first of its target.
    pub(super) fn is_first(&self) -> bool {
        self.round() == 0 && self.records.candidate.head.attempt == 0
    }

    /// Whether two sides are launched.
    pub(super) fn is_pair(&self) -> bool {
        self.records.is_pair()
    }

    /// The head of one side's record.
    pub(super) fn head(&mut self, side: Side) -> &mut LaunchHead {
        &mut self.records.of_mut(side).head
    }

    /// What is needed to start the executable of one side.
    pub(super) fn spec(&self, target: &BenchTarget) -> LaunchSpec {
        let head = &self.records.candidate.head;
        launch_spec(target, head.ordinal, head.padding_bytes)
    }
}

/// What is needed to launch `target`.
pub(super) fn launch_spec(target: &BenchTarget, launch: u32, padding: u32) -> LaunchSpec {
    LaunchSpec {
        program: target.program.clone(),
        first_arguments: target.first_arguments.clone(),
        directory: target.directory.clone(),
        variables: target.variables.clone(),
        launch,
        padding,
        skipping: target.skipping,
    }
}

/// The record of a launch that begins now.
pub(super) fn begun(
    target: &BenchTarget,
    layout: Option<u32>,
    round: u32,
    attempt: u32,
    padding: u32,
) -> LaunchRecord {
    LaunchRecord {
        head: LaunchHead {
            package: target.package.clone(),
            target: target.target.clone(),
            ordinal: round,
            attempt,
            started: host::now(),
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

/// From the start of a launch to its end: how the process ran.
pub(super) struct ConductWatch {
    control: Option<Control>,
    /// Whether times are made up: beside them interruptions that were real would mean nothing.
    is_scripted: bool,
    stolen: Option<Duration>,
    processor: Option<u32>,
}

impl ConductWatch {
    /// Of a process that is about to start.
    pub(super) fn start() -> Self {
        Self {
            control: None,
            is_scripted: false,
            stolen: stolen(),
            processor: None,
        }
    }

    /// Of a process that is about to start, after the control workload has had its run.
    pub(super) fn after_control(probe: Option<&host::ControlProbe>, round: u32) -> Self {
        let control = probe.and_then(|probe| probe.take(round));
        Self {
            control,
            is_scripted: probe.is_some_and(host::ControlProbe::is_scripted),
            ..Self::start()
        }
    }

    /// It is bound to a processor for a benchmark, if to any.
    pub(super) fn bound(&mut self, processor: Option<u32>) {
        self.processor = processor.or(self.processor);
    }

    /// Of a process that has run so, and has worked for us so long.
    pub(super) fn conduct(&self, usage: &Usage, asked: Duration) -> Conduct {
        let taken = || self.stolen.and_then(|before| stolen()?.checked_sub(before));
        Conduct {
            threads: usage.threads,
            cpu: usage.cpu.into(),
            asked: asked.into(),
            involuntary_switches: if self.is_scripted {
                0
            } else {
                usage.involuntary_switches
            },
            stolen: (!self.is_scripted).then(taken).flatten().map(Into::into),
            processor: self.processor,
            control: self.control,
        }
    }
}
