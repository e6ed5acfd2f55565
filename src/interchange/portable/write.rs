//! Writes runs as lines.

use std::io::{self, Write};

use serde::Serialize;

use super::wire::{FORMAT, Footer, Header, PortableLine, PortableRun, WireProcess};
use crate::sanitize;
use perfcheck_analysis::model::ProgressReporter;

/// Writes runs; a pair names its partner by its index in `runs`.
pub fn write_portable(
    writer: &mut dyn Write,
    runs: &[PortableRun],
    tool_version: &str,
    told: &ProgressReporter<'_>,
) -> io::Result<()> {
    let launches = runs.iter().flat_map(|run| &run.launches);
    let all: usize = launches.map(|launch| launch.benchmarks.len()).sum();
    let mut done = 0;
    let mut lines = LineWriter { writer, count: 0 };
    lines.write_line(&PortableLine::PerfcheckExport(Header {
        format: FORMAT,
        tool_version: tool_version.to_owned(),
    }))?;
    for run in runs {
        lines.write_line(&PortableLine::Run(Box::new(run.head.clone())))?;
        for launch in &run.launches {
            lines.write_line(&PortableLine::Launch(WireProcess {
                head: launch.head.clone(),
                target_facts: launch.target_facts.clone(),
            }))?;
            for benchmark in &launch.benchmarks {
                told.report(done, all);
                done += 1;
                lines.write_line(&PortableLine::Series(Box::new(benchmark.clone())))?;
            }
        }
        for counted in &run.counted {
            lines.write_line(&PortableLine::CountsOfBenchmark(counted.clone()))?;
        }
        for verdict in &run.verdicts {
            lines.write_line(&PortableLine::Verdict(verdict.clone()))?;
        }
        if let Some(conclusion) = &run.conclusion {
            lines.write_line(&PortableLine::Conclusion(conclusion.into()))?;
        }
    }
    let end = PortableLine::End(Footer {
        lines: lines.count + 1,
    });
    lines.write_line(&end)
}

struct LineWriter<'a> {
    writer: &'a mut dyn Write,
    count: u64,
}

impl LineWriter<'_> {
    fn write_line(&mut self, line: &impl Serialize) -> io::Result<()> {
        let text = serde_json::to_string(line)?;
        self.writer.write_all(sanitize::json(&text).as_bytes())?;
        self.count += 1;
        self.writer.write_all(b"\n")
    }
}
