//! Reads runs from lines and checks them before they are stored. Missing, duplicate or unknown lines are errors with their line number.
//!
//! Invariant: a run that passes meets the conditions on which all later comparisons rely.

use std::collections::HashSet;

use super::super::error::{ExchangeError, reason_without_place};
use super::super::input::InputContent;
use super::wire::{
    FORMAT, PortableConclusion, PortableHead, PortableLine, PortablePair, PortableRun,
    PortableVerdict, WireConclusion,
};
use perfcheck_analysis::model::{
    Acceptance, BenchmarkInProcess, BenchmarkKey, CountedBenchmark, FunctionCount, Latencies,
    ProcessOutcome, ProcessRecord, ProgressReporter, Purpose, Sample, Side, limits,
};

/// Value of `reason` in the first line of every file.
const REASON: &str = "perfcheck-export";

/// Reports whether bytes begin with the first line of the format. The line is parsed, because JSON may have spaces between its tokens.
pub fn is_portable(bytes: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct FirstLine {
        reason: String,
    }
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or(bytes);
    serde_json::from_slice(line).is_ok_and(|first: FirstLine| first.reason == REASON)
}

/// Reads the runs of a file. `before` and `of` serve to show the progress over several files: `before` is the total size of the files before this
/// one, and `of` is that of all files, in bytes.
pub fn read_portable(
    file: &InputContent,
    (before, of): (usize, usize),
    progress: &ProgressReporter<'_>,
) -> Result<Vec<PortableRun>, ExchangeError> {
    let mut bytes = before;
    let mut reader = PortableReader {
        file,
        line: 0,
        runs: Vec::new(),
        seen: HashSet::new(),
        ended: false,
    };
    if !is_portable(file.text()?.as_bytes()) {
        return Err(reader.error(
            "the file does not begin like the output of `cargo perfcheck store export`: {\"reason\":\"perfcheck-export\", ...",
        ));
    }
    for line in file.text()?.lines() {
        progress.report(bytes, of);
        bytes += line.len() + 1;
        reader.line += 1;
        if !line.trim().is_empty() {
            let taken = reader.read_line(line);
            taken.map_err(|reason| reader.error(&reason))?;
        }
    }
    if !reader.ended {
        return Err(reader.error("the file was cut short; copy it again"));
    }
    check_pairs(&reader.runs).map_err(|reason| reader.error(&reason))?;
    Ok(reader.runs)
}

struct PortableReader<'a> {
    file: &'a InputContent,
    line: u64,
    runs: Vec<PortableRun>,
    /// Benchmarks of the current process, to find duplicates.
    seen: HashSet<BenchmarkKey>,
    ended: bool,
}

impl PortableReader<'_> {
    fn error(&self, reason: &str) -> ExchangeError {
        ExchangeError::Broken {
            place: format!("{}:{}", self.file.name, self.line.max(1)),
            reason: reason.to_owned(),
        }
    }

    fn read_line(&mut self, text: &str) -> Result<(), String> {
        if self.ended {
            return Err("there are lines after the `end` line".to_owned());
        }
        if self.line == 1 {
            check_format(text)?;
        }
        let line: PortableLine = serde_json::from_str(text).map_err(|error| {
            let column = match error.column() {
                0 => String::new(),
                column => format!("column {column}: "),
            };
            format!("{column}{}", reason_without_place(&error))
        })?;
        match line {
            PortableLine::PerfcheckExport(_) if self.line == 1 => Ok(()),
            PortableLine::PerfcheckExport(_) => Err(
                "a second export begins here; pass each file separately: `store import a.jsonl b.jsonl`"
                    .to_owned(),
            ),
            PortableLine::Run(head) => {
                check_head(&head)?;
                self.runs.push(PortableRun {
                    head: *head,
                    processes: Vec::new(),
                    counted: Vec::new(),
                    verdicts: Vec::new(),
                    conclusion: None,
                });
                Ok(())
            }
            PortableLine::Process(wire) => {
                self.seen.clear();
                let run = self.current_run()?;
                let process = ProcessRecord {
                    head: wire.head,
                    target_facts: wire.target_facts,
                    benchmarks: Vec::new(),
                };
                check_process(run, &process)?;
                run.processes.push(process);
                Ok(())
            }
            PortableLine::Series(in_process) => self.add_series(*in_process),
            PortableLine::CountsOfBenchmark(counted) => self.add_counts(counted),
            PortableLine::Verdict(verdict) => self.add_verdict(verdict),
            PortableLine::Conclusion(wire) => self.add_conclusion(wire),
            PortableLine::End(end) => {
                self.ended = true;
                if end.lines == self.line {
                    return Ok(());
                }
                Err(format!(
                    "expected {} lines, found {}",
                    end.lines, self.line
                ))
            }
        }
    }

    fn current_run(&mut self) -> Result<&mut PortableRun, String> {
        (self.runs.last_mut()).ok_or_else(|| "no run begins above this line".to_owned())
    }

    fn add_series(&mut self, in_process: BenchmarkInProcess) -> Result<(), String> {
        let key = &in_process.benchmark.key;
        let is_first = self.seen.insert(key.clone());
        let run = self.current_run()?;
        let process = (run.processes.last_mut())
            .ok_or_else(|| "no process begins above this line".to_owned())?;
        check_series(process, &in_process)?;
        if !is_first {
            return Err(format!("`{key}` appears twice in one process"));
        }
        process.benchmarks.push(in_process);
        Ok(())
    }

    fn add_counts(&mut self, counted: CountedBenchmark) -> Result<(), String> {
        let run = self.current_run()?;
        check_counts(run, &counted)?;
        run.counted.push(counted);
        Ok(())
    }

    fn add_verdict(&mut self, verdict: PortableVerdict) -> Result<(), String> {
        let run = self.current_run()?;
        check_verdict(run, &verdict)?;
        run.verdicts.push(verdict);
        Ok(())
    }

    fn add_conclusion(&mut self, wire: WireConclusion) -> Result<(), String> {
        let at = self.runs.len();
        let run = self.current_run()?;
        let found = PortableConclusion::try_from(wire).and_then(|conclusion| {
            check_conclusion(run, &conclusion)?;
            run.conclusion = Some(conclusion);
            Ok(())
        });
        found.map_err(|reason| {
            format!(
                "the final record of run {at} in the file (started at {} ns, by version {}) is damaged or from another version: {reason}",
                run.head.begun.started.0, run.head.begun.tool_version
            )
        })
    }
}

/// Checks the version before any other line, because a later format may have lines that this program does not know.
fn check_format(text: &str) -> Result<(), String> {
    let header: serde_json::Value =
        serde_json::from_str(text).map_err(|error| error.to_string())?;
    match header["format"].as_u64() {
        Some(format) if format == u64::from(FORMAT) => Ok(()),
        Some(format) => Err(format!(
            "version {} of cargo-perfcheck wrote the file in format {format}; this version reads format {FORMAT}: update cargo-perfcheck",
            header["tool_version"]
        )),
        None => Err("the first line has no `format`".to_owned()),
    }
}

pub(super) fn check_head(head: &PortableHead) -> Result<(), String> {
    let decision = &head.begun.decision;
    if head.finished < head.begun.started {
        return Err("the run ended before it began".to_owned());
    }
    let fraction = |name: &str, value: f64| {
        if value > 0.0 && value < 1.0 {
            Ok(())
        } else {
            Err(format!("`{name}` is {value}, not between 0 and 1"))
        }
    };
    fraction("significance_level", decision.significance_level)?;
    fraction("confidence_level", decision.confidence_level)?;
    check_noise_threshold(decision.noise_threshold)?;
    if decision.resamples == 0 {
        return Err("`resamples` must not be 0".to_owned());
    }
    let is_part = head.begun.partition.is_some();
    if let Some(pair) = head.pair
        && is_part != (pair.purpose == Purpose::Part)
    {
        return Err("a run must have a `partition` if and only if it is a part".to_owned());
    }
    let is_past =
        |pair: PortablePair| pair.purpose == Purpose::Past && pair.side == Side::Candidate;
    if head.begun.past.is_some() != head.pair.is_some_and(is_past) {
        return Err(
            "a run must have `past` if and only if it measured a commit of the past".to_owned(),
        );
    }
    if head.begun.past.is_some() && head.acceptance != Acceptance::Pending {
        return Err("a commit of the past cannot be a reference".to_owned());
    }
    if let Some(partition) = &head.begun.partition {
        let is_known = head.acceptance != Acceptance::Pending || !head.baselines.is_empty();
        if !partition.part.is_valid() {
            return Err(format!("there is no part {}", partition.part));
        }
        if is_known || head.source.is_some() {
            return Err("a part cannot be a reference, have a name or be imported".to_owned());
        }
    }
    if head.pair.is_some() != head.plan.is_some() {
        return Err("a run must have a plan if and only if it is one side of a pair".to_owned());
    }
    Ok(())
}

fn check_noise_threshold(threshold: f64) -> Result<(), String> {
    if threshold.is_finite() && threshold >= 0.0 {
        Ok(())
    } else {
        Err(format!(
            "the noise threshold {threshold} is negative or not finite"
        ))
    }
}

fn check_name(what: &str, text: &str) -> Result<(), String> {
    if text.is_empty() || text.contains('\0') {
        return Err(format!("a {what} must be nonempty text without NUL"));
    }
    limits::check_name(text).map_err(|why| format!("a {what} {why}"))
}

/// Checks a process before it joins `run`.
pub(super) fn check_process(run: &PortableRun, process: &ProcessRecord) -> Result<(), String> {
    let head = &process.head;
    check_name("package name", &head.package)?;
    check_name("target name", &head.target)?;
    // Processes are sorted, so a duplicate can only follow its original.
    let place = |process: &ProcessRecord| {
        let head = &process.head;
        (
            head.package.clone(),
            head.target.clone(),
            head.ordinal,
            head.attempt,
        )
    };
    match run.processes.last() {
        Some(last) if place(last) >= place(process) => Err(format!(
            "process {} (attempt {}) of {}/{} appears twice or is out of order",
            head.ordinal, head.attempt, head.package, head.target
        )),
        _ => Ok(()),
    }
}

/// Checks the series of a benchmark before it joins `process`.
pub(super) fn check_series(
    process: &ProcessRecord,
    in_process: &BenchmarkInProcess,
) -> Result<(), String> {
    let key = &in_process.benchmark.key;
    check_name("benchmark's id", &key.id)?;
    if (&key.package, &key.target) != (&process.head.package, &process.head.target) {
        return Err(format!("`{key}` does not belong to the target that ran"));
    }
    check_noise_threshold(in_process.noise_threshold)?;
    if let Some(why) = in_process.benchmark.find_exceeded_limit() {
        return Err(format!("`{key}` is invalid: {why}"));
    }
    if let Some(found) = &in_process.extras.latencies {
        check_latencies(found).map_err(|reason| format!("the latencies of `{key}` {reason}"))?;
    }
    let ProcessOutcome::Measured(series) = &in_process.outcome else {
        return Ok(());
    };
    if series.deciding_samples().is_empty() && in_process.extras.latencies.is_none() {
        return Err(format!("`{key}` has no samples"));
    }
    let none = |sample: &Sample| sample.iterations == 0;
    if series.flat.iter().chain(&series.linear).any(none) {
        return Err(format!("`{key}` has a sample of 0 iterations"));
    }
    Ok(())
}

/// Checks that the counters are valid and sorted, and that the times of the reservoir are sorted.
fn check_latencies(found: &Latencies) -> Result<(), &'static str> {
    let mut pairs = found.counts.windows(2);
    let ascending = pairs.all(|pair| pair[0].index < pair[1].index);
    let mut counts = found.counts.iter().map(|counter| counter.count);
    let exist = found.histogram().is_some() && counts.clone().all(|count| count > 0);
    let total = counts.try_fold(found.errors, u64::checked_add);
    if !ascending || !exist || total.is_none() {
        Err("have counters that are out of order, zero or out of range")
    } else if !found.reservoir.is_sorted() {
        Err("have sampled times that are out of order")
    } else {
        Ok(())
    }
}

/// Checks the counts of a benchmark before they join `run`.
pub(super) fn check_counts(run: &PortableRun, found: &CountedBenchmark) -> Result<(), String> {
    let key = &found.benchmark;
    if (run.counted.last()).is_some_and(|last| last.benchmark >= *key) {
        return Err(format!(
            "the instruction counts of `{key}` appear twice or are out of order"
        ));
    }
    let mut measured = run.processes.iter().flat_map(|process| &process.benchmarks);
    if !measured.any(|in_process| in_process.benchmark.key == *key) {
        return Err(format!(
            "`{key}` was not measured in this run, but has instruction counts or sampled times"
        ));
    }
    check_name("benchmark's id", &key.id)?;
    if found.counts.instructions.len() > limits::MOST_COUNTS {
        return Err(format!("`{key}` has too many instruction counts"));
    }
    let is_number = |number: u64| number > 0 && number < limits::BEYOND_NUMBERS;
    for count in &found.counts.instructions {
        if !is_number(count.iterations) || !is_number(count.instructions) {
            return Err(format!(
                "the instructions or iterations of `{key}` are outside the range from 1 to 2^63"
            ));
        }
        check_functions(key, &count.functions)?;
    }
    if let Some(time) = &found.counts.time {
        if !is_number(time.samples) {
            return Err(format!(
                "the number of samples of `{key}` is outside the range from 1 to 2^63"
            ));
        }
        check_functions(key, &time.functions)?;
    }
    Ok(())
}

/// Checks the functions that a count of the benchmark `key` lists.
fn check_functions(key: &BenchmarkKey, found: &[FunctionCount]) -> Result<(), String> {
    if found.len() > limits::MOST_COUNTED_FUNCTIONS {
        return Err(format!("`{key}` lists too many functions"));
    }
    for function in found {
        check_name("function name", &function.name)?;
    }
    Ok(())
}

/// Checks a verdict before it joins `run`.
pub(super) fn check_verdict(run: &PortableRun, verdict: &PortableVerdict) -> Result<(), String> {
    check_name("benchmark's id", &verdict.benchmark.id)?;
    match run.verdicts.last() {
        Some(last) if last.benchmark >= verdict.benchmark => Err(format!(
            "the verdict for `{}` appears twice or is out of order",
            verdict.benchmark
        )),
        _ => Ok(()),
    }
}

/// Checks that the conclusion has the verdicts and the exit code of `run`, and that its `runs` identify every run that it names.
pub(super) fn check_conclusion(
    run: &PortableRun,
    found: &PortableConclusion,
) -> Result<(), String> {
    if run.conclusion.is_some() {
        return Err("it appears twice".to_owned());
    }
    let mut concluded: Vec<_> = (found.concluded.rows.iter())
        .filter_map(|row| Some((&row.key, row.verdict?)))
        .collect();
    concluded.sort_unstable_by_key(|(key, _)| *key);
    let verdicts = run.verdicts.iter();
    if !verdicts
        .map(|known| (&known.benchmark, known.verdict))
        .eq(concluded)
    {
        return Err("its verdicts differ from the lines above it".to_owned());
    }
    if found.concluded.exit_code.number() != run.head.exit_code {
        return Err("its exit code differs from the exit code of the run".to_owned());
    }
    let mut unknown = None;
    found.concluded.clone().renumber(&mut |run| {
        unknown = unknown.or((!found.runs.contains_key(&run)).then_some(run));
        Some(run)
    });
    match unknown {
        Some(run) => Err(format!("it names run {run}, which is not in `runs`")),
        None => Ok(()),
    }
}

/// Checks that the two sides of each pair name each other, are a base and a candidate with the same purpose, and that the base comes first.
pub(super) fn check_pairs(runs: &[PortableRun]) -> Result<(), String> {
    for (at, run) in runs.iter().enumerate() {
        let Some(pair) = run.head.pair else { continue };
        let back = runs.get(pair.partner).and_then(|run| run.head.pair);
        let holds = back.is_some_and(|back| {
            back.partner == at && back.side != pair.side && back.purpose == pair.purpose
        });
        if !holds {
            return Err(format!(
                "run {at} is one side of a pair, but run {} is not the other",
                pair.partner
            ));
        }
        if pair.side == Side::Base && pair.partner < at {
            return Err(format!(
                "run {at} is the base of a pair, but comes after its candidate"
            ));
        }
    }
    Ok(())
}
