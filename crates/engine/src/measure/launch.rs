//! The current process of each side: how it is started, its record, and how it runs.

use std::time::Duration;

use super::sides::CampaignSides;
use crate::cargo::BenchTarget;
use crate::child::ProcessSpec;
use crate::host;
use crate::process::{UsageSnapshot, stolen_time};
use perfcheck_analysis::model::{Control, ProcessHead, ProcessRecord, ProcessUsage, Side};

/// The current process of each side.
pub(super) struct ActiveProcesses {
    /// Index of its target in the campaign.
    pub(super) index: usize,
    pub(super) records: CampaignSides<ProcessRecord>,
    /// Indices of the benchmarks that are still to be visited. They are taken from the end.
    pub(super) wanted: Vec<usize>,
    /// Identifies this process to the random number generators.
    pub(super) block: u64,
    pub(super) interrupted: bool,
}

impl ActiveProcesses {
    /// Returns the round that it belongs to.
    pub(super) fn round(&self) -> u32 {
        self.records.candidate.head.ordinal
    }

    /// Reports whether it is the first process of its target.
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
        launch_spec(target, head.ordinal, head.padding_bytes)
    }
}

/// Returns everything needed to start `target`.
pub(super) fn launch_spec(target: &BenchTarget, launch: u32, padding: u32) -> ProcessSpec {
    ProcessSpec {
        program: target.program.clone(),
        first_arguments: target.first_arguments.clone(),
        directory: target.directory.clone(),
        variables: target.variables.clone(),
        launch,
        padding,
        skipping: target.skipping,
    }
}

/// Creates the record of a process that starts now.
pub(super) fn new_record(
    target: &BenchTarget,
    layout: Option<u32>,
    round: u32,
    attempt: u32,
    padding: u32,
) -> ProcessRecord {
    ProcessRecord {
        head: ProcessHead {
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

/// Observes how a process runs, from its start to its end.
pub(super) struct ProcessObserver {
    control: Option<Control>,
    /// Whether the times are scripted. Real interruptions would then have no meaning.
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
    pub(super) fn after_control(probe: Option<&host::ControlProbe>, round: u32) -> Self {
        let control = probe.and_then(|probe| probe.measure(round));
        Self {
            control,
            is_scripted: probe.is_some_and(host::ControlProbe::is_scripted),
            ..Self::start()
        }
    }

    /// Notes the processor that the process is bound to, if any.
    pub(super) fn note_processor(&mut self, processor: Option<u32>) {
        self.processor = processor.or(self.processor);
    }

    /// Returns how a process ran that has this `usage` and has worked on requests for the time `asked`.
    pub(super) fn conduct(&self, usage: &UsageSnapshot, asked: Duration) -> ProcessUsage {
        let taken = || {
            self.stolen
                .and_then(|before| stolen_time()?.checked_sub(before))
        };
        ProcessUsage {
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
