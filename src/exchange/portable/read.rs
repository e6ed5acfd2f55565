//! Reads runs from lines. Missing, duplicate or unknown lines are errors with their line number.

use std::collections::HashSet;

use super::super::error::{ExchangeError, reason_without_place};
use super::super::input::InputContent;
use super::check;
use super::wire::{
    FORMAT, PortableConclusion, PortableLine, PortableRun, PortableVerdict, WireConclusion,
};
use perfcheck_analysis::model::{
    BenchmarkInProcess, BenchmarkKey, CountedBenchmark, ProcessRecord, ProgressReporter,
};

/// Value of `reason` in the first line of every file.
const REASON: &str = "perfcheck-export";

/// Reports whether bytes begin with the first line of the format. JSON may have spaces between its tokens.
pub fn is_portable(bytes: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct FirstLine {
        reason: String,
    }
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or(bytes);
    serde_json::from_slice(line).is_ok_and(|first: FirstLine| first.reason == REASON)
}

/// Reads the runs of a file. Progress counts `before` bytes of earlier files out of a total of `of`.
pub fn read_portable(
    file: &InputContent,
    (before, of): (usize, usize),
    told: &ProgressReporter<'_>,
) -> Result<Vec<PortableRun>, ExchangeError> {
    let mut bytes = before;
    let mut reader = PortableReader {
        file,
        line: 0,
        runs: Vec::new(),
        launched: HashSet::new(),
        ended: false,
    };
    if !is_portable(file.text()?.as_bytes()) {
        return Err(reader.error(
            "it does not begin as runs that `cargo perfcheck store export` writes: {\"reason\":\"perfcheck-export\", ...",
        ));
    }
    for line in file.text()?.lines() {
        told.report(bytes, of);
        bytes += line.len() + 1;
        reader.line += 1;
        if !line.trim().is_empty() {
            let taken = reader.read_line(line);
            taken.map_err(|reason| reader.error(&reason))?;
        }
    }
    if !reader.ended {
        return Err(reader.error("the file ends before its end: it was cut short; copy it again"));
    }
    check::check_pairs(&reader.runs).map_err(|reason| reader.error(&reason))?;
    Ok(reader.runs)
}

struct PortableReader<'a> {
    file: &'a InputContent,
    line: u64,
    runs: Vec<PortableRun>,
    /// Benchmarks of the current process, to find duplicates
    launched: HashSet<BenchmarkKey>,
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
            return Err("there are lines behind its end".to_owned());
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
                "a second file begins here: name files one by one, as in `store import a.jsonl b.jsonl`"
                    .to_owned(),
            ),
            PortableLine::Run(head) => {
                check::check_head(&head)?;
                self.runs.push(PortableRun {
                    head: *head,
                    launches: Vec::new(),
                    counted: Vec::new(),
                    verdicts: Vec::new(),
                    conclusion: None,
                });
                Ok(())
            }
            PortableLine::Launch(wire) => {
                self.launched.clear();
                let run = self.current_run()?;
                let launch = ProcessRecord {
                    head: wire.head,
                    target_facts: wire.target_facts,
                    benchmarks: Vec::new(),
                };
                check::check_process(run, &launch)?;
                run.launches.push(launch);
                Ok(())
            }
            PortableLine::Series(launched) => self.add_series(*launched),
            PortableLine::CountsOfBenchmark(counted) => self.add_counts(counted),
            PortableLine::Verdict(verdict) => self.add_verdict(verdict),
            PortableLine::Conclusion(wire) => self.add_conclusion(wire),
            PortableLine::End(end) => {
                self.ended = true;
                if end.lines == self.line {
                    return Ok(());
                }
                Err(format!(
                    "there should be {} lines: some are missing or too many",
                    end.lines
                ))
            }
        }
    }

    fn current_run(&mut self) -> Result<&mut PortableRun, String> {
        (self.runs.last_mut()).ok_or_else(|| "no run has begun above this line".to_owned())
    }

    fn add_series(&mut self, launched: BenchmarkInProcess) -> Result<(), String> {
        let key = &launched.benchmark.key;
        let is_first = self.launched.insert(key.clone());
        let run = self.current_run()?;
        let launch = (run.launches.last_mut())
            .ok_or_else(|| "no launch has begun above this line".to_owned())?;
        check::check_series(launch, &launched)?;
        if !is_first {
            return Err(format!("`{key}` is there twice in one launch"));
        }
        launch.benchmarks.push(launched);
        Ok(())
    }

    fn add_counts(&mut self, counted: CountedBenchmark) -> Result<(), String> {
        let run = self.current_run()?;
        check::check_counts(run, &counted)?;
        run.counted.push(counted);
        Ok(())
    }

    fn add_verdict(&mut self, verdict: PortableVerdict) -> Result<(), String> {
        let run = self.current_run()?;
        check::check_verdict(run, &verdict)?;
        run.verdicts.push(verdict);
        Ok(())
    }

    fn add_conclusion(&mut self, wire: WireConclusion) -> Result<(), String> {
        let at = self.runs.len();
        let run = self.current_run()?;
        let found = PortableConclusion::try_from(wire).and_then(|conclusion| {
            check::check_conclusion(run, &conclusion)?;
            run.conclusion = Some(conclusion);
            Ok(())
        });
        found.map_err(|reason| {
            format!(
                "what was concluded of run {at} of the file (begun at {} ns, by version {}) is damaged or of another version: {reason}",
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
            "it is of format {format}, written by version {} of cargo-perfcheck; this one reads format {FORMAT}: update it",
            header["tool_version"]
        )),
        None => Err("it does not say its `format`".to_owned()),
    }
}
