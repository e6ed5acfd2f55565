//! The driver of programs, and of builds, which are runs of cargo. A run of the program is one iteration, and the sides run alternately as ABBA or
//! BAAB. Runs longer than `LONG_RUN`, such as most builds, are made once per side and round. Otherwise each side first has a run that is not timed:
//! it reads the executable, which may have just been linked, and its input into memory. The length of a round includes the time of `prepare`.

#![expect(
    clippy::disallowed_methods,
    reason = "how long benchmarks take, for the time left"
)]

use blake3::Hash;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::benchmark::{BenchmarkIndex, CampaignBenchmark, PerBenchmark};
use super::discover::{HarnessKind, find_program};
use super::driver::{BenchDriver, SuccessfulVisit, TargetRound};
use super::plan::{PairedPlan, compute_quads, compute_round_layout};
use super::process::{Interrupted, ProcessObserver, process_spec};
use super::schedule::{self, SampleLayout, compute_layout};
use super::sides::{CampaignSides, SideError, SideResult};
use super::target::PairedTarget;
use crate::child::{
    ChildError, ProcessContext, ProcessSpec, ProgramRun, RunPurpose, measure_start_up, run_program,
};
use perfcheck_analysis::model::{
    BenchmarkInProcess, BenchmarkKey, BySide, Harness, Interleaving, Nanos, ProcessOutcome,
    ProgramBenchmark, RunUsage, Sample, SamplingMode, SamplingSettings, Series, Side,
};
use perfcheck_host::os::REPORTS_PEAK_MEMORY;
use perfcheck_host::process::{ThreadPinning, UsageSnapshot};

/// If all runs with their preparation take longer than this, a round has only one run of each side, and that is timed.
const LONG_RUN: Duration = Duration::from_millis(150);

/// If all runs are long, the peak memory is measured only in so many rounds, because that takes a run of its own.
const ROUNDS_WITH_MEMORY: u32 = 5;

/// Drives the processes of a program.
pub(super) struct ProgramDriver {
    programs: CampaignSides<Arc<[ProgramBenchmark]>>,
    benchmarks: PerBenchmark<ProgramState>,
}

/// The findings about a program that later rounds use.
#[derive(Clone, Default)]
struct ProgramState {
    /// The layout of the samples. `None` before the first round.
    layout: Option<SampleLayout>,
    /// For each side, the shortest time of a run with its preparation.
    shortest: BySide<Option<Duration>>,
    /// Longest time of a run of either side.
    longest: Duration,
    /// Number of rounds so far.
    rounds: u32,
}

/// The runs of one side in a round.
struct SideRuns<'r> {
    side: Side,
    program: &'r ProgramBenchmark,
    spec: ProcessSpec,
    context: &'r ProcessContext<'r>,
    watch: ProcessObserver,
    /// The shortest time of a run with its preparation, in this round and before.
    shortest: Option<Duration>,
    /// The longest time of a run so far. Before this round, those of the other side count, too.
    longest: Duration,
    warm_up: Sample,
    samples: Vec<Sample>,
    /// For each quad, whether this side ran first.
    led: Vec<bool>,
    /// Time of all runs.
    time: Duration,
    /// CPU time of all runs. `None` if the system does not report it.
    cpu: Option<Duration>,
    /// Number of runs in the samples, and their CPU time.
    timed_runs: u64,
    timed_cpu: Option<Duration>,
    /// Peak memory of a run, in bytes.
    peak_memory: Option<u64>,
    /// Time of a program that does nothing.
    start_up: Option<Duration>,
}

impl BenchDriver for ProgramDriver {
    fn lengthens_rounds(&self) -> bool {
        true
    }

    fn runs_sides_together(&self) -> bool {
        false
    }

    /// Runs the next unvisited benchmark on each side.
    fn run_processes(&mut self, round: &mut TargetRound<'_, '_>) -> Result<(), Interrupted> {
        let Some(index) = round.unvisited.pop() else {
            return Ok(());
        };
        round.report_visit(index);
        let began = Instant::now();
        match self.visit(round, index) {
            Ok(sides) => {
                let visit = SuccessfulVisit {
                    sides,
                    interleaving: Interleaving::Processes,
                    time: began.elapsed(),
                };
                round.record_success(index, visit);
            }
            Err(SideError {
                error: ChildError::Interrupted,
                ..
            }) => return Err(Interrupted),
            Err(SideError { side, error }) => {
                let message = error.to_string();
                round.processes.head(side).failure = Some(message.clone());
                round.record_failure(index, side, &message);
            }
        }
        round.check_interrupt()
    }
}

impl ProgramDriver {
    pub(super) fn new(programs: CampaignSides<Arc<[ProgramBenchmark]>>, benchmarks: usize) -> Self {
        Self {
            programs,
            benchmarks: PerBenchmark::repeat(ProgramState::default(), benchmarks),
        }
    }

    /// Returns the program of each side. Both sides run the program of the work tree, unless the base measures another benchmark. A build names the
    /// directories of its own side.
    fn find_programs(
        &self,
        benchmark: &CampaignBenchmark,
    ) -> Result<BySide<ProgramBenchmark>, SideError> {
        let find = |side: Side| {
            let is_build = ProgramBenchmark::is_build(&benchmark.subject.key.target);
            let programs = if is_build || benchmark.base_id.is_some() {
                self.programs.get(side)
            } else {
                &self.programs.candidate
            };
            let program = find_program(programs, benchmark.id_on(side));
            program.cloned().map_err(SideError::on(side))
        };
        Ok(BySide {
            base: find(Side::Base)?,
            candidate: find(Side::Candidate)?,
        })
    }

    /// Runs a benchmark on each side, and returns what it recorded.
    fn visit(
        &mut self,
        round: &mut TargetRound<'_, '_>,
        index: BenchmarkIndex,
    ) -> Result<Vec<SideResult<BenchmarkInProcess>>, SideError> {
        let programs = self.find_programs(round.benchmark(index))?;
        let state = &mut self.benchmarks[index];
        let context = round.settings.context;
        let mut sides = start_sides(round, index, &programs, &context, state);
        let began = Instant::now();
        if state.layout.is_none() {
            examine_sides(round, index, &mut sides)?;
        }
        // Processes inherit the processor of the thread that starts them.
        let choice = round.choose_processor(index);
        let pinning = choice.and_then(|choose| ThreadPinning::to_one(&[], choose));
        for side in &mut sides {
            let processor = pinning.as_ref().map(ThreadPinning::processor);
            side.watch.note_processor(processor);
        }
        let is_first = state.layout.is_none();
        let is_long = sides.iter().all(SideRuns::is_long);
        for side in &mut sides {
            let has_run = if !is_long || state.rounds < ROUNDS_WITH_MEMORY {
                side.measure_memory()?
            } else {
                false
            };
            // The helper that measures the memory makes the first run of a round longer, and the first round needs the time of a run.
            if !is_long && (is_first || !has_run) {
                side.warm_up()?;
            }
        }
        let quickest_ns = sides.iter().map(SideRuns::shortest_ns);
        let quickest_ns = quickest_ns.fold(f64::INFINITY, f64::min);
        if is_first {
            let first = &sides[0];
            let start_up = measure_start_up(&first.spec, first.context);
            let start_up = start_up.map_err(SideError::on(first.side))?;
            for side in &mut sides {
                side.start_up = start_up;
            }
        }
        let plan = round.settings.plan;
        let layout = state.layout.get_or_insert_with(|| match &plan {
            Some(plan) => compute_round_layout(&plan.round, [quickest_ns; 2]),
            None => lay_out_alone(round, index, quickest_ns),
        });
        match &plan {
            None => sides[0].take_samples(layout)?,
            Some(plan) => {
                // All benchmarks of the target share the time for linking.
                let benchmarks = u32::try_from(round.target.benchmarks.len()).unwrap_or(1);
                let link_time = round.target.link_time / benchmarks.max(1);
                let overhead = began.elapsed() + link_time;
                take_quads(round, index, &mut sides, layout, plan, overhead)?;
            }
        }
        state.rounds += 1;
        for side in &sides {
            *state.shortest.get_mut(side.side) = side.shortest;
            state.longest = state.longest.max(side.longest);
        }
        Ok(record_sides(round, index, sides))
    }
}

/// Runs each program once on both sides. Returns the benchmarks whose programs succeed without starting child processes.
pub fn find_childless(
    pair: &PairedTarget,
    context: ProcessContext<'_>,
) -> Result<BTreeSet<BenchmarkKey>, ChildError> {
    let HarnessKind::Program(programs) = &pair.harnesses.candidate else {
        return Ok(BTreeSet::new());
    };
    let mut childless = BTreeSet::new();
    for benchmark in &pair.benchmarks {
        let Ok(program) = find_program(programs, &benchmark.key.id) else {
            continue;
        };
        let mut is_childless = true;
        for side in Side::BOTH {
            let spec = process_spec(pair.targets.get(side), 0, 0);
            let purpose = RunPurpose::Examination;
            match run_program(program, &spec, purpose, Duration::ZERO, &context) {
                Ok(run) => is_childless &= run.had_children == Some(false),
                Err(ChildError::Interrupted) => return Err(ChildError::Interrupted),
                Err(_) => is_childless = false,
            }
        }
        if is_childless {
            childless.insert(benchmark.key.clone());
        }
    }
    Ok(childless)
}

/// Prepares the runs of each side, in the order in which the sides run.
fn start_sides<'r>(
    round: &mut TargetRound<'_, '_>,
    index: BenchmarkIndex,
    programs: &'r BySide<ProgramBenchmark>,
    context: &'r ProcessContext<'r>,
    state: &ProgramState,
) -> Vec<SideRuns<'r>> {
    let order = round.order_of_sides(&format!("sides/{}", round.benchmark(index).subject.key.id));
    let sides: Vec<Side> = round.processes.records.sides_in(order).collect();
    let mut started = Vec::new();
    for side in sides {
        round.processes.head(side).harness = Some(Harness {
            name: "program".to_owned(),
            version: String::new(),
            quantum: Nanos(0),
        });
        started.push(SideRuns {
            side,
            program: programs.get(side),
            spec: round.processes.spec(round.target.executables.get(side)),
            context,
            watch: if started.is_empty() {
                round.observe_after_control()
            } else {
                ProcessObserver::start()
            },
            shortest: *state.shortest.get(side),
            longest: state.longest,
            warm_up: Sample::UNTIMED,
            samples: Vec::new(),
            led: Vec::new(),
            time: Duration::ZERO,
            cpu: Some(Duration::ZERO),
            timed_runs: 0,
            timed_cpu: Some(Duration::ZERO),
            peak_memory: None,
            start_up: None,
        });
    }
    started
}

/// Runs each side once to see whether it needs several processors, and whether both print the same. If the first side prints something else in
/// another run, too, its output shows nothing about the sides.
fn examine_sides(
    round: &mut TargetRound<'_, '_>,
    index: BenchmarkIndex,
    sides: &mut [SideRuns<'_>],
) -> Result<(), SideError> {
    let mut runs = Vec::new();
    for side in sides.iter_mut() {
        runs.push(side.examine()?);
    }
    let solitary: Vec<Option<bool>> = runs.iter().map(|run| run.is_solitary).collect();
    round.benchmark_mut(index).note_processor_use(&solitary);
    let outputs: Vec<Option<Hash>> = runs.iter().map(|run| run.output).collect();
    let [Some(first), Some(second)] = outputs[..] else {
        return Ok(());
    };
    if first == second || sides[0].examine()?.output != Some(first) {
        return Ok(());
    }
    let benchmark = round.benchmark(index);
    let key = &benchmark.subject.key;
    let both = match &benchmark.base_id {
        Some(base) => format!("`{base}` and `{}`", key.id),
        None => format!("the two sides of `{}`", key.id),
    };
    let program = sides[0].program;
    round.warn(&format!(
        "{}/{}: {both} print different output, so they may not do the same work",
        program.package, program.binary
    ));
    Ok(())
}

/// Returns the layout of the samples of a process if only one side is measured.
fn lay_out_alone(round: &TargetRound<'_, '_>, index: BenchmarkIndex, run_ns: f64) -> SampleLayout {
    let resolved = &round.benchmark(index).resolved;
    let settings = SamplingSettings {
        // The time of starting a process cannot be told apart, so there is no linear phase.
        mode: SamplingMode::Standard,
        ..resolved.sampling
    };
    compute_layout(&settings, run_ns, resolved.pinned)
}

/// Takes the samples of a round of two sides. `overhead` is the time that the round has taken so far.
fn take_quads(
    round: &TargetRound<'_, '_>,
    index: BenchmarkIndex,
    sides: &mut [SideRuns<'_>],
    layout: &SampleLayout,
    plan: &PairedPlan,
    overhead: Duration,
) -> Result<(), SideError> {
    let [first, second] = sides else {
        return Ok(());
    };
    let iterations = layout.flat.map_or(1, |flat| flat.iterations);
    if first.is_long() && second.is_long() {
        first.take_sample(iterations)?;
        return second.take_sample(iterations);
    }
    let benchmark = round.benchmark(index);
    let had = benchmark.rounds.len();
    let both_ns = first.shortest_ns() + second.shortest_ns();
    let quads = compute_quads(&plan.round, layout, had, both_ns, overhead);
    let mut coin = round.draws(&format!("quads/{}", benchmark.subject.key.id));
    for leader in schedule::draw_leaders(&mut coin, quads as usize) {
        let (leading, following) = if first.side == leader {
            (&mut *first, &mut *second)
        } else {
            (&mut *second, &mut *first)
        };
        leading.led.push(true);
        following.led.push(false);
        leading.take_sample(iterations)?;
        following.take_sample(iterations)?;
        following.take_sample(iterations)?;
        leading.take_sample(iterations)?;
    }
    Ok(())
}

/// Records the use of the processor on each side, and returns the samples, base first.
fn record_sides(
    round: &mut TargetRound<'_, '_>,
    index: BenchmarkIndex,
    sides: Vec<SideRuns<'_>>,
) -> Vec<SideResult<BenchmarkInProcess>> {
    let mut results = Vec::new();
    for (place, runs) in sides.into_iter().enumerate() {
        let usage = runs.usage();
        let usage = usage.map(|usage| runs.watch.process_usage(&usage, runs.time));
        let head = round.processes.head(runs.side);
        head.conduct = usage.map(|mut usage| {
            // The runs of both sides alternate, so the time that was stolen from both is recorded once.
            usage.stolen = usage.stolen.filter(|_| place == 0);
            usage.run = runs.run_usage();
            usage
        });
        let mut result = round
            .benchmark(index)
            .record(ProcessOutcome::Measured(Series {
                warm_up: runs.warm_up,
                linear: Vec::new(),
                flat: runs.samples,
            }));
        result.extras.led = runs.led;
        results.push(SideResult {
            side: runs.side,
            result,
        });
    }
    results.sort_by_key(|one| one.side);
    results
}

impl SideRuns<'_> {
    /// Runs the program once to see what it does.
    fn examine(&mut self) -> Result<ProgramRun, SideError> {
        let run = self.run(RunPurpose::Examination)?;
        self.warm_up = one_run(run.time);
        Ok(run)
    }

    /// Runs the program once, without timing it.
    fn warm_up(&mut self) -> Result<(), SideError> {
        let run = self.run(RunPurpose::Timing)?;
        self.warm_up = one_run(run.time);
        Ok(())
    }

    /// Runs the program once to measure its peak memory, and reports whether that succeeded. If it fails, the next run shows why. A build takes too long
    /// to be repeated for that.
    fn measure_memory(&mut self) -> Result<bool, SideError> {
        if !REPORTS_PEAK_MEMORY || self.program.build.is_some() {
            return Ok(false);
        }
        let purpose = RunPurpose::PeakMemory;
        let longest = self.longest;
        let run = match run_program(self.program, &self.spec, purpose, longest, self.context) {
            Err(ChildError::Interrupted) => {
                return Err(SideError::on(self.side)(ChildError::Interrupted));
            }
            run => run.ok(),
        };
        self.peak_memory = run.as_ref().and_then(|run| run.peak_memory);
        if let Some(run) = &run {
            self.warm_up = one_run(run.time);
        }
        Ok(run.is_some())
    }

    /// Reports whether even the shortest run so far was long.
    fn is_long(&self) -> bool {
        self.shortest.is_some_and(|shortest| shortest > LONG_RUN)
    }

    fn shortest_ns(&self) -> f64 {
        self.shortest
            .map_or(0.0, |shortest| shortest.as_nanos() as f64)
    }

    fn take_samples(&mut self, layout: &SampleLayout) -> Result<(), SideError> {
        let Some(flat) = layout.flat else {
            return Ok(());
        };
        for _ in 0..flat.samples {
            self.take_sample(flat.iterations)?;
        }
        Ok(())
    }

    /// Runs the program `iterations` times, and records the sum of the times as one sample.
    fn take_sample(&mut self, iterations: u64) -> Result<(), SideError> {
        let mut elapsed = Duration::ZERO;
        for _ in 0..iterations {
            let run = self.run(RunPurpose::Timing)?;
            elapsed += run.time;
            self.timed_cpu = self.timed_cpu.zip(run.cpu).map(|(sum, cpu)| sum + cpu);
        }
        self.timed_runs += iterations;
        self.samples.push(Sample {
            iterations,
            elapsed: elapsed.into(),
        });
        Ok(())
    }

    fn run(&mut self, purpose: RunPurpose<'_>) -> Result<ProgramRun, SideError> {
        let run = run_program(
            self.program,
            &self.spec,
            purpose,
            self.longest,
            self.context,
        )
        .map_err(SideError::on(self.side))?;
        let whole = run.time + run.preparation;
        self.shortest = Some(self.shortest.map_or(whole, |known| known.min(whole)));
        self.longest = self.longest.max(run.time);
        self.time += run.time;
        self.cpu = self.cpu.zip(run.cpu).map(|(sum, cpu)| sum + cpu);
        Ok(run)
    }

    /// Returns the use of resources in all runs, if the system reports it. The number of threads is estimated from the CPU time.
    fn usage(&self) -> Option<UsageSnapshot> {
        let cpu = self.cpu?;
        let processors = cpu.as_secs_f64() / self.time.as_secs_f64().max(1e-9);
        Some(UsageSnapshot {
            threads: (processors.round() as u32).max(1),
            cpu,
            main_thread: cpu,
            has_children: false,
            involuntary_switches: 0,
        })
    }

    /// Returns what a run in the samples used. Returns `None` if the system does not report it.
    fn run_usage(&self) -> Option<RunUsage> {
        let cpu = Nanos::from(self.timed_cpu?);
        Some(RunUsage {
            cpu: Nanos(cpu.0.checked_div(self.timed_runs)?),
            peak_memory: self.peak_memory,
            start_up: self.start_up.map(Nanos::from),
        })
    }
}

fn one_run(time: Duration) -> Sample {
    Sample {
        iterations: 1,
        elapsed: time.into(),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::cell::RefCell;
    use std::collections::BTreeMap;
    use std::convert::Infallible;

    use super::*;
    use crate::measure::{Campaign, CampaignSink, RoundSettings};
    use perfcheck_analysis::model::{
        AuthorSettings, Benchmark, Metric, NullObserver, ProcessRecord, SkipSupport, TargetFacts,
        Throughput,
    };
    use perfcheck_build::cargo::BenchTarget;
    use perfcheck_host::process::{Interrupt, Supervisor};

    /// Pairs the shell scripts of both sides as if they were programs of the workspace.
    fn pair_scripts(scripts: &BySide<&str>, prepare: &[&str]) -> PairedTarget {
        let programs = Arc::from([ProgramBenchmark {
            package: "p".into(),
            binary: "sh".into(),
            id: "script".into(),
            arguments: Vec::new(),
            stdin: None,
            prepare: prepare.iter().map(ToString::to_string).collect(),
            exit: 0,
            build: None,
        }]);
        let target = |script: &str| BenchTarget {
            package: "p".into(),
            target: ProgramBenchmark::target_of_binary("sh"),
            program: "/bin/sh".into(),
            first_arguments: vec!["-c".into(), script.into()],
            directory: "/".into(),
            variables: BTreeMap::new(),
            facts: TargetFacts::default(),
            skipping: SkipSupport::Works,
            programs: Vec::new(),
        };
        let harness = HarnessKind::Program(programs);
        PairedTarget {
            targets: BySide {
                base: target(scripts.base),
                candidate: target(scripts.candidate),
            },
            benchmarks: vec![Benchmark {
                key: BenchmarkKey {
                    package: "p".into(),
                    target: ProgramBenchmark::target_of_binary("sh"),
                    id: "script".into(),
                },
                version: None,
                throughput: Throughput::default(),
                other_throughput: None,
                settings: AuthorSettings::default(),
                metric: Metric::Time,
            }],
            base_ids: BTreeMap::new(),
            harnesses: BySide {
                base: harness.clone(),
                candidate: harness,
            },
            layouts: None,
        }
    }

    /// Measures the scripts for this number of rounds, and returns the number of samples of each process.
    fn count_samples(pair: PairedTarget, rounds: u32) -> Vec<usize> {
        let (supervisor, interrupt) = (Supervisor::default(), Interrupt::never());
        let timeout = Duration::from_secs(9);
        let context = ProcessContext::new(&supervisor, &interrupt, &NullObserver, timeout);
        let plan = PairedPlan {
            rounds,
            round: RoundSettings::default(),
            time_budget: None,
            time_per_benchmark: None,
            bind: false,
            seed: 1,
        };
        let counts = RefCell::new(Vec::new());
        let mut record = |_, process: &ProcessRecord| {
            let outcomes = process.benchmarks.iter().map(|one| &one.outcome);
            counts
                .borrow_mut()
                .extend(outcomes.map(|outcome| match outcome {
                    ProcessOutcome::Measured(series) => series.flat.len(),
                    ProcessOutcome::Failed { message, .. } => panic!("{message}"),
                }));
            Ok::<(), Infallible>(())
        };
        let mut sink = CampaignSink {
            record: &mut record,
            standing: &mut |_, _, _| None,
        };
        let campaign = Campaign::paired(vec![pair], |_| 0.01, plan, context);
        let Ok(_) = campaign.run(&mut sink);
        counts.into_inner()
    }

    #[test]
    fn a_round_is_no_longer_because_the_preparation_takes_long() {
        let scripts = BySide {
            base: "true",
            candidate: "true",
        };
        let pair = pair_scripts(&scripts, &["sleep", "0.16"]);
        assert_eq!(count_samples(pair, 1), [1, 1]);
    }

    #[test]
    fn the_slower_side_decides_how_many_runs_fit_into_a_round() {
        let scripts = BySide {
            base: "sleep 0.2",
            candidate: "true",
        };
        let counts = count_samples(pair_scripts(&scripts, &[]), 2);
        assert_eq!(counts.len(), 4, "{counts:?}");
        // A quad has two samples of each side. On a busy machine, several quads may fit.
        assert!(
            counts.iter().all(|count| (2..=8).contains(count)),
            "{counts:?}"
        );
    }
}
