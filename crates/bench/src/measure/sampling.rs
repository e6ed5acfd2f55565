//! Samples the time of benchmarks by function, in separate processes. At regular intervals, it records which symbol of the executable, or which other
//! file, the running code belongs to.
//!
//! With our own harness, samples are taken only between the request for a measurement and its answer; with Criterion, after it reports that the
//! benchmark has begun. Other harnesses do not report when they measure, so their whole processes are sampled, start and setup included.

#![expect(clippy::disallowed_methods, reason = "how long benchmarks are sampled")]

use object::{Object, ObjectSegment, ObjectSymbol, SymbolKind};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use super::counting::CountError;
use super::discover::{HarnessKind, find_program};
use super::process::process_spec;
use super::schedule::expected_duration;
use super::target::PairedTarget;
use super::visit::start_or_advance;
use crate::child::{
    PrintedHarness, PrintedRequest, ProcessContext, ProcessSpec, Rehearsal, RehearsalMode,
    RunPurpose, SampleSpec, Session, StartOutcome, run_program,
};
use perfcheck_analysis::model::{
    BenchmarkKey, BySide, FunctionCount, Nanos, ProgramBenchmark, ProgressReporter, TimeSamples,
    WarmUpGoal, limits,
};
use perfcheck_build::cargo::BenchTarget;
use perfcheck_code::readable_name;
use perfcheck_host::process::{TimeSample, TimeSampler, TimeSamplingError};

/// Warm-up of a benchmark of our own harness.
const WARM_UP: Duration = Duration::from_millis(50);
/// How long a request to our own harness takes, approximately. Each request runs at least one iteration.
const REQUEST: Duration = Duration::from_millis(20);
/// The maximum number of processes that are sampled of a harness that decides by itself how long it runs.
const MOST_PROCESSES: usize = 50;
/// Other harnesses are asked to measure for this many times the sampling time, so that they can be stopped before they begin their analysis.
const LONGER: u32 = 2;

/// The samples of a benchmark, or the reason why there are none.
pub type SampleResult = Result<TimeSamples, CountError>;

impl PairedTarget {
    /// Returns the executables to sample. If possible they are linked again with their functions at the same places, so that an effect of the layout
    /// is not mistaken for a change.
    pub fn link_alike(&self) -> BySide<BenchTarget> {
        let mut targets = self.targets.clone();
        let Some(layouts) = &self.layouts else {
            return targets;
        };
        if layouts.link(0).is_ok() {
            let places = layouts.executables();
            targets.base = targets.base.with_executable(places.base.to_owned());
            targets.candidate = targets
                .candidate
                .with_executable(places.candidate.to_owned());
        }
        targets
    }
}

/// Samples `benchmarks` of `target`, each for about `time`.
pub fn sample_time(
    target: &BenchTarget,
    harness: &HarnessKind,
    benchmarks: &[BenchmarkKey],
    time: Duration,
    context: ProcessContext<'_>,
) -> Result<BTreeMap<BenchmarkKey, SampleResult>, CountError> {
    if !target.first_arguments.is_empty() {
        return Err(CountError::Runner);
    }
    let path = target.executable();
    let executable = fs::read(path).map_err(CountError::file_error(path))?;
    let names = FunctionNames::parse(&executable).ok_or(CountError::NoNames)?;
    drop(executable);
    let observer = context.observer;
    let work = ProgressReporter::begin(observer, "Sampling the time of", benchmarks.len());
    let mut found = BTreeMap::new();
    for (done, key) in benchmarks.iter().enumerate() {
        work.report(done, benchmarks.len());
        let mut sampling = TimeSampling {
            id: &key.id,
            spec: process_spec(target, 0, 0),
            context,
            names: &names,
            left: time,
            found: LocationCounts::new(),
        };
        let sampled = match sampling.sample(harness) {
            Err(error) if error.is_interrupt() || matches!(error, CountError::NoTime(_)) => {
                return Err(error);
            }
            Err(error) => Err(error),
            Ok(()) if sampling.found.is_empty() => Err(CountError::Unseen),
            Ok(()) => Ok(summarize_samples(sampling.found, &names)),
        };
        found.insert(key.clone(), sampled);
    }
    Ok(found)
}

/// The sampling of one benchmark.
struct TimeSampling<'s> {
    id: &'s str,
    spec: ProcessSpec,
    context: ProcessContext<'s>,
    names: &'s FunctionNames,
    /// Remaining sampling time of the benchmark.
    left: Duration,
    found: LocationCounts,
}

impl TimeSampling<'_> {
    fn sample(&mut self, harness: &HarnessKind) -> Result<(), CountError> {
        match harness {
            HarnessKind::Own => self.sample_own(),
            HarnessKind::Criterion(_) => self.sample_criterion(),
            HarnessKind::Printed(harness) => {
                for _ in 0..MOST_PROCESSES {
                    self.sample_printed(harness)?;
                    if self.left.is_zero() {
                        break;
                    }
                }
                Ok(())
            }
            HarnessKind::Program(programs) => {
                let program = find_program(programs, self.id)?;
                while !self.left.is_zero() {
                    self.sample_program(program)?;
                }
                Ok(())
            }
        }
    }

    fn sample_own(&mut self) -> Result<(), CountError> {
        let mut process = ObservedProcess::new(self.names);
        let mut session =
            Session::start_observed(&self.spec, &self.context, |id| process.begin(id))?;
        let mut process = process.into_process()?;
        match start_or_advance(&mut session, self.id)? {
            Some(StartOutcome::Ready(_)) => {}
            Some(StartOutcome::Skipped(reason)) => return Err(CountError::Skipped(reason)),
            None => return Err(CountError::Absent),
        }
        let warm = session.warm_up(WarmUpGoal::Time(WARM_UP.into()))?;
        let iteration_ns = warm.total_per_iteration();
        let iterations = Nanos::from(REQUEST).as_f64() / iteration_ns.max(1e-3);
        let request = [SampleSpec {
            iterations: iterations.round().max(1.0) as u64,
            count: 1,
        }];
        while !self.left.is_zero() {
            let began = Instant::now();
            process.start();
            session.sample(&request, expected_duration(&request, iteration_ns))?;
            process.stop();
            self.left = self.left.saturating_sub(began.elapsed());
            process.evaluate_samples();
        }
        process.add_to(&mut self.found);
        Ok(session.finish(self.id)?)
    }

    fn sample_criterion(&mut self) -> Result<(), CountError> {
        let rehearsal =
            Rehearsal::start(&self.spec, self.id, RehearsalMode::WarmUp, &self.context)?;
        let mut rehearsal = rehearsal.ok_or(CountError::Name)?;
        let mut process = SampledProcess::attach(rehearsal.id(), self.names)?;
        let mut began = None;
        let came_through = rehearsal.wait_for_success_or(&mut |has_begun| {
            if !has_begun {
                return false;
            }
            let began = began.get_or_insert_with(|| {
                process.start();
                Instant::now()
            });
            process.evaluate_samples();
            began.elapsed() >= self.left
        })?;
        process.evaluate_samples();
        process.add_to(&mut self.found);
        if came_through {
            Ok(())
        } else {
            Err(CountError::Died { complaint: None })
        }
    }

    /// Samples one run of a program.
    fn sample_program(&mut self, program: &ProgramBenchmark) -> Result<(), CountError> {
        let began = Instant::now();
        let mut process = ObservedProcess::new(self.names);
        let mut look = |id| {
            if let Some(process) = process.get_or_begin(id) {
                process.evaluate_samples();
            }
        };
        let purpose = RunPurpose::Observation(&mut look);
        run_program(program, &self.spec, purpose, self.left, &self.context)?;
        // A short run may have ended before it could be sampled. Other runs will do.
        if let Ok(mut process) = process.into_process() {
            process.evaluate_samples();
            process.add_to(&mut self.found);
        }
        self.left = self.left.saturating_sub(began.elapsed());
        Ok(())
    }

    /// Samples one process, from its start on.
    fn sample_printed(&mut self, harness: &PrintedHarness) -> Result<(), CountError> {
        let request = PrintedRequest {
            id: self.id,
            measurement: self.left * LONGER,
            samples: None,
        };
        let began = Instant::now();
        let mut process = ObservedProcess::new(self.names);
        let ended = harness.run_observed(&request, &self.spec, &self.context, &mut |id| {
            let Some(process) = process.get_or_begin(id) else {
                return true;
            };
            process.evaluate_samples();
            began.elapsed() >= self.left
        });
        if process.process.is_none() {
            return Ok(ended?);
        }
        let mut process = process.into_process()?;
        process.evaluate_samples();
        process.add_to(&mut self.found);
        self.left = self.left.saturating_sub(began.elapsed());
        Ok(ended?)
    }
}

/// A process that is observed once it has started.
struct ObservedProcess<'n> {
    names: &'n FunctionNames,
    process: Option<Result<SampledProcess<'n>, TimeSamplingError>>,
}

impl<'n> ObservedProcess<'n> {
    fn new(names: &'n FunctionNames) -> Self {
        Self {
            names,
            process: None,
        }
    }

    /// Starts to observe the process with this id.
    fn begin(&mut self, id: u32) {
        self.process = Some(SampledProcess::attach(id, self.names));
    }

    /// Returns the observed process. The first call starts to observe and sample the process with this `id`, and returns `None` if that fails.
    fn get_or_begin(&mut self, id: u32) -> Option<&mut SampledProcess<'n>> {
        if self.process.is_none() {
            self.begin(id);
            if let Some(Ok(process)) = &self.process {
                process.start();
            }
        }
        self.process.as_mut()?.as_mut().ok()
    }

    fn into_process(self) -> Result<SampledProcess<'n>, CountError> {
        match self.process {
            Some(process) => Ok(process?),
            None => Err(CountError::Unseen),
        }
    }
}

/// Interval between samples, in CPU time. It is not a multiple of a usual duration, because samples in step with the iterations would always hit the
/// same place.
const PERIOD: Duration = Duration::from_nanos(201_731);
/// The name for samples whose code belongs neither to a named function nor to a named file.
const UNNAMED: &str = "(unnamed)";
/// The name for samples from another process, which the benchmark has started.
const ANOTHER_PROCESS: &str = "(another process)";

/// A function in the memory of an executable.
#[derive(Debug, PartialEq, Eq)]
struct FunctionRange {
    start: u64,
    end: u64,
    symbol: String,
}

/// A part of a file that is loaded into memory.
#[derive(Debug, PartialEq, Eq)]
struct LoadedSegment {
    in_file: u64,
    bytes: u64,
    address: u64,
}

/// The functions of an executable, by their positions in its file.
#[derive(Debug)]
pub(super) struct FunctionNames {
    /// The functions, sorted by their starts.
    functions: Vec<FunctionRange>,
    parts: Vec<LoadedSegment>,
}

impl FunctionNames {
    /// Reads the functions of an executable. Returns `None` if it does not name any.
    pub(super) fn parse(executable: &[u8]) -> Option<Self> {
        let file = object::File::parse(executable).ok()?;
        let symbols = file
            .symbols()
            .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition());
        let mut found: Vec<(u64, u64, &str)> = symbols
            .filter_map(|symbol| Some((symbol.address(), symbol.size(), symbol.name().ok()?)))
            .collect();
        // If an address has several names, both sides of a comparison must use the same one.
        found.sort_by_key(|(start, _, name)| (*start, *name));
        found.dedup_by_key(|(start, ..)| *start);
        let next = found.iter().skip(1).map(|(start, ..)| *start);
        let ends: Vec<u64> = next.chain([u64::MAX]).collect();
        let functions = found.into_iter().zip(ends);
        let functions: Vec<FunctionRange> = functions
            .map(|((start, size, symbol), next)| FunctionRange {
                start,
                // A function written in assembly may not have a size.
                end: if size == 0 {
                    next
                } else {
                    start.saturating_add(size)
                },
                symbol: symbol.to_owned(),
            })
            .collect();
        let parts = file.segments().map(|segment| {
            let (in_file, bytes) = segment.file_range();
            LoadedSegment {
                in_file,
                bytes,
                address: segment.address(),
            }
        });
        (!functions.is_empty()).then(|| Self {
            functions,
            parts: parts.collect(),
        })
    }

    /// Returns the index of the function at a position of the file.
    fn find(&self, in_file: u64) -> Option<usize> {
        let part = self
            .parts
            .iter()
            .find(|part| in_file >= part.in_file && in_file - part.in_file < part.bytes)?;
        let address = part.address + (in_file - part.in_file);
        let behind = (self.functions).partition_point(|function| function.start <= address);
        let place = behind.checked_sub(1)?;
        (address < self.functions.get(place)?.end).then_some(place)
    }
}

/// A file mapped into the memory of a process.
#[derive(Debug, PartialEq, Eq)]
struct MappedFile {
    start: u64,
    end: u64,
    in_file: u64,
    /// The path as the system reports it. Empty if there is none.
    path: String,
}

/// Parses the executable mappings of `/proc/PID/maps`. The fields are those of `proc_pid_maps(5)`.
fn parse_executable_maps(maps: &str) -> Vec<MappedFile> {
    let map = |line: &str| {
        let mut fields = line.splitn(6, ' ');
        let (start, end) = fields.next()?.split_once('-')?;
        let may = fields.next()?;
        let number = |digits: &str| u64::from_str_radix(digits, 16).ok();
        let in_file = number(fields.next()?)?;
        let path = fields.nth(2).unwrap_or_default().trim_start();
        may.contains('x').then_some(())?;
        Some(MappedFile {
            start: number(start)?,
            end: number(end)?,
            in_file,
            path: path.to_owned(),
        })
    };
    maps.lines().filter_map(map).collect()
}

/// Where in its code a sample found a process.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SampleLocation {
    /// A function of the executable, by its index in [`FunctionNames`].
    Function(usize),
    /// The name of another file that is mapped into the process, or of code without a name.
    Elsewhere(String),
}

/// The number of samples at each location, summed over processes of one executable.
pub(super) type LocationCounts = BTreeMap<SampleLocation, u64>;

/// A process that is observed from its start on.
pub(super) struct SampledProcess<'n> {
    process: u32,
    sampler: TimeSampler,
    names: &'n FunctionNames,
    /// Path of the executable, as the system reports it.
    executable: String,
    maps: Vec<MappedFile>,
    found: LocationCounts,
}

impl<'n> SampledProcess<'n> {
    /// Observes a process that has just started from the executable of these `names`. Samples are not taken before [`Self::start`].
    pub(super) fn attach(
        process: u32,
        names: &'n FunctionNames,
    ) -> Result<Self, TimeSamplingError> {
        let sampler = TimeSampler::new(process, PERIOD)?;
        let executable = fs::read_link(format!("/proc/{process}/exe")).unwrap_or_default();
        let mut found = Self {
            process,
            sampler,
            names,
            executable: executable.to_string_lossy().into_owned(),
            maps: Vec::new(),
            found: LocationCounts::new(),
        };
        // The executable is mapped already, and the process may end before anything else is read.
        found.read_maps();
        Ok(found)
    }

    /// Begins to sample.
    pub(super) fn start(&self) {
        self.sampler.start();
    }

    /// Pauses sampling.
    pub(super) fn stop(&self) {
        self.sampler.stop();
    }

    /// Evaluates the samples since the last call. The process must be alive.
    pub(super) fn evaluate_samples(&mut self) {
        let samples = self.sampler.take();
        let is_unknown =
            |sample: &TimeSample| sample.process == self.process && self.map_of(sample).is_none();
        if samples.iter().any(is_unknown) {
            self.read_maps();
        }
        for sample in samples {
            *self.found.entry(self.place_of(&sample)).or_default() += 1;
        }
    }

    /// Reads the memory mappings. Keeps the known ones if the process has ended.
    fn read_maps(&mut self) {
        let maps = fs::read(format!("/proc/{}/maps", self.process)).unwrap_or_default();
        let maps = parse_executable_maps(&String::from_utf8_lossy(&maps));
        if !maps.is_empty() {
            self.maps = maps;
        }
    }

    fn map_of(&self, sample: &TimeSample) -> Option<&MappedFile> {
        let mut maps = self.maps.iter();
        maps.find(|map| (map.start..map.end).contains(&sample.address))
    }

    fn place_of(&self, sample: &TimeSample) -> SampleLocation {
        let elsewhere = |name: &str| SampleLocation::Elsewhere(name.to_owned());
        if sample.process != self.process {
            return elsewhere(ANOTHER_PROCESS);
        }
        let Some(map) = self.map_of(sample) else {
            return elsewhere(UNNAMED);
        };
        if map.path == self.executable {
            let function = self.names.find(sample.address - map.start + map.in_file);
            return function.map_or_else(|| elsewhere(UNNAMED), SampleLocation::Function);
        }
        let file = Path::new(&map.path).file_name();
        let file = file.and_then(|name| name.to_str());
        elsewhere(file.unwrap_or(UNNAMED))
    }

    /// Adds the samples of this process to those of other processes in `found`.
    pub(super) fn add_to(self, found: &mut LocationCounts) {
        for (place, count) in self.found {
            *found.entry(place).or_default() += count;
        }
    }
}

/// Counts the samples of processes of one executable by function, most frequent first.
pub(super) fn summarize_samples(found: LocationCounts, names: &FunctionNames) -> TimeSamples {
    let samples = found.values().sum();
    let mut by_name: BTreeMap<String, u64> = BTreeMap::new();
    for (place, count) in found {
        let name = match place {
            SampleLocation::Function(place) => readable_name(&names.functions[place].symbol),
            SampleLocation::Elsewhere(name) => name,
        };
        *by_name.entry(limits::cut_name(name)).or_default() += count;
    }
    TimeSamples {
        samples,
        functions: FunctionCount::top_functions(by_name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_executed_of_a_process_is_known_with_its_file() {
        let maps = "55d0c0a00000-55d0c0a08000 r--p 00000000 fe:01 1234                       /bench/costs-1\n\
            55d0c0a08000-55d0c0a40000 r-xp 00008000 fe:01 1234                       /bench/costs-1\n\
            7f0000000000-7f0000010000 r-xp 00026000 fe:01 99                         /usr/lib/x 64/libc.so.6\n\
            7f0000020000-7f0000021000 rwxp 00000000 00:00 0 \n\
            7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0                          [vdso]\nno map\n";
        let found = parse_executable_maps(maps);
        let paths: Vec<&str> = found.iter().map(|map| &*map.path).collect();
        assert_eq!(
            paths,
            ["/bench/costs-1", "/usr/lib/x 64/libc.so.6", "", "[vdso]"]
        );
        assert_eq!(
            (found[0].start, found[0].end, found[0].in_file),
            (0x55d0_c0a0_8000, 0x55d0_c0a4_0000, 0x8000)
        );
    }

    fn names() -> FunctionNames {
        let function = |start, end, symbol: &str| FunctionRange {
            start,
            end,
            symbol: symbol.to_owned(),
        };
        FunctionNames {
            functions: vec![
                function(0x1100, 0x1180, "_ZN5words4scan17h0123456789abcdefE"),
                function(0x1180, 0x1190, "_ZN5words4scan17hfedcba9876543210E"),
                function(0x11a0, 0x11f0, "main"),
            ],
            parts: vec![
                LoadedSegment {
                    in_file: 0,
                    bytes: 0x80,
                    address: 0,
                },
                LoadedSegment {
                    in_file: 0x100,
                    bytes: 0x100,
                    address: 0x1100,
                },
            ],
        }
    }

    #[test]
    fn a_place_in_the_file_leads_to_the_function_that_is_loaded_from_there() {
        let names = names();
        assert_eq!(names.find(0x100), Some(0));
        assert_eq!(names.find(0x17f), Some(0));
        assert_eq!(names.find(0x180), Some(1));
        assert_eq!(names.find(0x195), None, "between two functions");
        assert_eq!(names.find(0x1a0), Some(2));
        assert_eq!(names.find(0x90), None, "not loaded");
        assert_eq!(names.find(0x10), None, "before the first one");
    }

    #[test]
    fn samples_are_told_by_readable_names_and_a_library_by_its_own() {
        let places = [
            (SampleLocation::Function(0), 5),
            (SampleLocation::Function(1), 4),
            (SampleLocation::Function(2), 1),
            (SampleLocation::Elsewhere("libc.so.6".to_owned()), 7),
        ];
        let found = summarize_samples(places.into(), &names());
        let named: Vec<(&str, u64)> = (found.functions.iter())
            .map(|one| (&*one.name, one.count))
            .collect();
        assert_eq!(found.samples, 17);
        assert_eq!(named, [("words::scan", 9), ("libc.so.6", 7), ("main", 1)]);
    }

    #[test]
    fn what_is_no_executable_names_no_functions() {
        assert!(FunctionNames::parse(b"#!/bin/sh\n").is_none());
        assert!(FunctionNames::parse(&[]).is_none());
    }

    #[test]
    fn our_own_functions_are_found_by_their_addresses() {
        let path = std::env::current_exe().expect("a path");
        let names = FunctionNames::parse(&fs::read(path).expect("readable"));
        let Some(names) = names else {
            // The executable is not in ELF format.
            return;
        };
        let maps = fs::read_to_string("/proc/self/maps").expect("readable");
        let address = summarize_samples as fn(LocationCounts, &FunctionNames) -> TimeSamples;
        let address = address as usize as u64;
        let maps = parse_executable_maps(&maps);
        let map = maps
            .iter()
            .find(|map| (map.start..map.end).contains(&address));
        let map = map.expect("it is executed");
        let place = names.find(address - map.start + map.in_file);
        let symbol = &names.functions[place.expect("it has a name")].symbol;
        assert!(
            readable_name(symbol).ends_with("summarize_samples"),
            "{symbol}"
        );
    }

    #[test]
    fn damaged_executables_and_maps_are_read_or_refused() {
        let maps = b"55d0c0a08000-55d0c0a40000 r-xp 00008000 fe:01 1234    /bench/costs-1\n";
        perfcheck_mutations::attack("maps", &[maps.to_vec()], |bytes| {
            drop(parse_executable_maps(&String::from_utf8_lossy(bytes)));
        });
    }

    #[cfg(target_os = "linux")]
    /// Source of a program that runs two functions of equal code until it is stopped. One of them takes three times as long as the other.
    const SPINS: &str = r"
        #[inline(never)]
        fn thrice(turns: u64) -> u64 {
            (0..turns).fold(7, |sum, turn| std::hint::black_box(sum ^ turn))
        }

        #[inline(never)]
        fn once(turns: u64) -> u64 {
            (0..turns).fold(9, |sum, turn| std::hint::black_box(sum ^ turn))
        }

        fn main() {
            // Also run them on a thread that starts later.
            std::thread::spawn(|| loop {
                std::hint::black_box((thrice(30_000), once(10_000)));
            });
            loop {
                std::hint::black_box((thrice(30_000), once(10_000)));
            }
        }
    ";

    #[cfg(target_os = "linux")]
    #[test]
    #[expect(clippy::disallowed_methods, reason = "a process to be sampled")]
    fn two_functions_that_spin_have_their_shares_of_the_samples() {
        use perfcheck_host::process::{LeftoverPolicy, Supervisor};
        use std::process::Command;
        use std::time::Instant;

        if perfcheck_host::process::try_time_samples().is_err() {
            // This machine does not permit sampling, so nothing can be tested.
            return;
        }
        let place = tempfile::tempdir().expect("a directory");
        let source = place.path().join("spins.rs");
        fs::write(&source, SPINS).expect("written");
        let program = place.path().join("spins");
        let supervisor = Supervisor::default();
        let mut rustc = Command::new("rustc");
        rustc
            .args(["-O", "--edition=2024", "-o"])
            .args([&program, &source]);
        let built = supervisor.output(&mut rustc);
        assert!(built.expect("rustc runs").status.success());
        let executable = fs::read(&program).expect("readable");
        let names = FunctionNames::parse(&executable).expect("it has names");
        let started = supervisor.spawn(&mut Command::new(&program), LeftoverPolicy::Leave);
        let mut child = started.expect("it starts");
        let mut process =
            SampledProcess::attach(child.leader().id(), &names).expect("it is sampled");
        std::thread::sleep(Duration::from_millis(20));
        process.evaluate_samples();
        assert!(process.found.is_empty(), "nobody has begun");
        process.start();
        let began = Instant::now();
        // A busy machine gives the process little time.
        while process.found.values().sum::<u64>() < 1_000 && began.elapsed().as_secs() < 60 {
            std::thread::sleep(Duration::from_millis(20));
            process.evaluate_samples();
        }
        process.stop();
        process.evaluate_samples();
        let all: u64 = process.found.values().sum();
        std::thread::sleep(Duration::from_millis(20));
        process.evaluate_samples();
        assert_eq!(process.found.values().sum::<u64>(), all, "it has ended");
        drop(child);
        let mut found = LocationCounts::new();
        process.add_to(&mut found);
        let found = summarize_samples(found, &names);
        let share = |name: &str| {
            let mut functions = found.functions.iter();
            let function = functions.find(|one| one.name.ends_with(name));
            function.map_or(0.0, |one| one.count as f64 / found.samples as f64)
        };
        assert!(found.samples >= 1_000, "{found:?}");
        assert!((0.65..0.85).contains(&share("::thrice")), "{found:?}");
        assert!((0.15..0.35).contains(&share("::once")), "{found:?}");
    }
}
