//! Finds the benchmarks of an executable that prints its results, and runs one of them in a process.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::time::Duration;

use super::process::{Invocation, ProcessOutput, run};
use super::value::PrintedTime;
use super::{divan, libtest};
use crate::child::error::ChildError;
use crate::child::process::{PATIENCE, ProcessContext, ProcessSpec, panic_message, quote};
use perfcheck_analysis::model::{Sample, worded};
use perfcheck_host::process::UsageSnapshot;

/// A printed time is comparable only if it is at least this many units of its last digit. A unit is then at most 1 % of the time.
const FEWEST_STEPS: f64 = 100.0;
/// A process whose duration is unknown may take this many times the timeout.
const UNKNOWN: u32 = 10;

worded! {
    /// A harness that only prints its results.
    Printer {
        /// Rust's own `#[bench]`.
        Libtest = "libtest",
        /// The crate divan.
        Divan = "divan",
    }
}

/// How to select one benchmark on the command line of its executable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    /// The name by which the executable knows the benchmark.
    name: String,
    /// The number of threads to select. `None` unless the benchmark runs with several numbers of threads.
    threads: Option<usize>,
}

impl Address {
    /// Returns the arguments that run only this benchmark.
    pub(super) fn arguments(&self) -> Vec<String> {
        let mut arguments = vec!["--exact".to_owned(), self.name.clone()];
        if let Some(threads) = self.threads {
            arguments.extend(["--threads".to_owned(), threads.to_string()]);
        }
        arguments
    }
}

/// The ids of the benchmarks of an executable, in program order, and how to select each of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrintedHarness {
    printer: Printer,
    ids: Vec<String>,
    addresses: BTreeMap<String, Address>,
}

/// A request to measure one benchmark. Some harnesses do not accept all of its settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrintedRequest<'r> {
    /// Id of the benchmark.
    pub id: &'r str,
    /// The total duration of the samples. Libtest has no option for it.
    pub measurement: Duration,
    /// The number of samples. `None` leaves the number to the harness. Libtest has no option for it.
    pub samples: Option<u32>,
}

/// The report of one process about one benchmark.
#[derive(Debug, Clone, PartialEq)]
pub struct PrintedReport {
    /// The result.
    pub reported: PrintedValue,
    /// Resources that the process used, if the system reports them.
    pub usage: Option<UsageSnapshot>,
    /// Duration of the process.
    pub took: Duration,
}

/// The result that a benchmark reported.
#[derive(Debug, Clone, PartialEq)]
pub enum PrintedValue {
    /// A single value that summarizes the process.
    Value(Sample),
    /// No comparable result, with the reason.
    Nothing(String),
}

/// Returns the harness whose output begins with this line, if any.
pub(in crate::child) fn identify_printer(line: &[u8]) -> Option<Printer> {
    let line = std::str::from_utf8(line).ok()?;
    if libtest::is_first_line(line) {
        Some(Printer::Libtest)
    } else if divan::is_first_line(line) {
        Some(Printer::Divan)
    } else {
        None
    }
}

impl Printer {
    /// Asks an executable of the bench target `target` for its benchmarks, without ignored ones.
    pub fn list(
        self,
        target: &str,
        spec: &ProcessSpec,
        context: &ProcessContext<'_>,
    ) -> Result<PrintedHarness, ChildError> {
        let mut harness = PrintedHarness {
            printer: self,
            ids: Vec::new(),
            addresses: BTreeMap::new(),
        };
        match self {
            Self::Libtest => harness.list_libtest(spec, context)?,
            Self::Divan => harness.list_divan(target, spec, context)?,
        }
        Ok(harness)
    }
}

impl PrintedHarness {
    /// Returns the harness.
    pub fn printer(&self) -> Printer {
        self.printer
    }

    /// Returns the ids of the benchmarks, in program order.
    pub fn ids(&self) -> &[String] {
        &self.ids
    }

    /// Runs one benchmark in its own process.
    pub fn measure(
        &self,
        request: &PrintedRequest<'_>,
        spec: &ProcessSpec,
        context: &ProcessContext<'_>,
    ) -> Result<PrintedReport, ChildError> {
        let ran = self.run_benchmark(request, "measure", spec, context, None)?;
        // Only a callback could have stopped the process early, and there is none.
        let printed = ran.ok_or(ChildError::Interrupted)?;
        Ok(PrintedReport {
            reported: self.parse_result(&printed)?,
            usage: printed.usage,
            took: printed.took,
        })
    }

    /// Returns the arguments that measure one benchmark.
    pub(super) fn arguments(
        &self,
        request: &PrintedRequest<'_>,
    ) -> Result<Vec<String>, ChildError> {
        let mut arguments = self.address(request.id)?.arguments();
        if self.printer == Printer::Divan {
            let seconds = request.measurement.as_secs_f64().max(1e-6).to_string();
            arguments.extend(["--min-time".to_owned(), seconds.clone()]);
            arguments.extend(["--max-time".to_owned(), seconds]);
            if let Some(samples) = request.samples {
                arguments.extend(["--sample-count".to_owned(), samples.to_string()]);
            }
        }
        Ok(arguments)
    }

    /// Returns the longest duration allowed for a process.
    pub(super) fn time_limit(
        &self,
        request: &PrintedRequest<'_>,
        context: &ProcessContext<'_>,
    ) -> Duration {
        let time = match self.printer {
            Printer::Libtest => Duration::ZERO,
            Printer::Divan => request.measurement,
        };
        (context.timeout.saturating_mul(UNKNOWN)).saturating_add(time.saturating_mul(PATIENCE))
    }

    /// Returns how to select a benchmark on the command line. Fails if the executable does not have it.
    pub(super) fn address(&self, id: &str) -> Result<&Address, ChildError> {
        let address = self.addresses.get(id);
        address.ok_or_else(|| ChildError::bench("the executable has no such benchmark"))
    }

    fn parse_result(&self, printed: &ProcessOutput) -> Result<PrintedValue, ChildError> {
        let found = match self.printer {
            Printer::Libtest => libtest::parse_result(&printed.stdout),
            Printer::Divan => single_divan_row(printed)?.map(|row| row.median),
        };
        let time = found.ok_or_else(|| no_result_error(printed))?;
        Ok(match time.to_sample() {
            None => PrintedValue::Nothing(
                "it took no time at all: the loop did not run, or the compiler removed its body (use `black_box`)"
                    .to_owned(),
            ),
            Some(sample) if self.steps(time) < FEWEST_STEPS => PrintedValue::Nothing(format!(
                "its time of {} ns has too few digits to compare: do more work per iteration",
                sample.per_iteration()
            )),
            Some(sample) => PrintedValue::Value(sample),
        })
    }

    fn steps(&self, time: PrintedTime) -> f64 {
        match self.printer {
            Printer::Libtest => libtest::printed_steps(time),
            Printer::Divan => divan::printed_steps(time),
        }
    }

    /// Creates the error for a failed process, from the message of the panic or from its exit status.
    pub(super) fn error_from_failure(&self, printed: ProcessOutput) -> ChildError {
        let captured = match self.printer {
            Printer::Libtest => libtest::captured_output(&printed.stdout),
            Printer::Divan => None,
        };
        let panic = captured
            .and_then(panic_message)
            .or_else(|| panic_message(&printed.stderr));
        match (panic, printed.error) {
            (Some(message), _) => ChildError::bench(message),
            (None, Some(error)) => error,
            (None, None) => ChildError::bench("it failed"),
        }
    }

    fn add(&mut self, id: String, address: Address) {
        self.ids.push(id.clone());
        self.addresses.insert(id, address);
    }

    fn list_libtest(
        &mut self,
        spec: &ProcessSpec,
        context: &ProcessContext<'_>,
    ) -> Result<(), ChildError> {
        let list = |more: &[&str]| {
            let arguments = ["--list", "--format", "terse"].iter().chain(more);
            let arguments: Vec<String> = arguments.map(|word| (*word).to_owned()).collect();
            run_list(&arguments, &[], spec, context)
        };
        let all = list(&[])?;
        let mut benchmarks = libtest::parse_list(&all).peekable();
        if benchmarks.peek().is_none() {
            return Ok(());
        }
        let ignored = list(&["--ignored"])?;
        let ignored: Vec<&str> = libtest::parse_list(&ignored).collect();
        for name in benchmarks.filter(|name| !ignored.contains(name)) {
            let address = Address {
                name: name.to_owned(),
                threads: None,
            };
            self.add(name.to_owned(), address);
        }
        Ok(())
    }

    /// Lists the benchmarks in three steps: the functions, their arguments, and their numbers of threads, which only
    /// a run shows.
    fn list_divan(
        &mut self,
        target: &str,
        spec: &ProcessSpec,
        context: &ProcessContext<'_>,
    ) -> Result<(), ChildError> {
        let functions = run_list(&["--list".to_owned()], &[], spec, context)?;
        let functions = divan::parse_tree(&functions, &|_| true);
        let terse = ["--list", "--format", "terse"].map(str::to_owned);
        let names = run_list(&terse, &[("NEXTEST", OsStr::new("1"))], spec, context).map_err(|error| match error {
            ChildError::Interrupted => error,
            _ => ChildError::bench(format!("it cannot list its benchmarks ({error})\n  help: update the divan crate to 0.1.19 or later")),
        })?;
        let root = target.replace('-', "_");
        let owner = |name: &str| {
            let owners = functions.iter().filter(|node| {
                let rest = name.strip_prefix(&node.name());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
            });
            owners.max_by_key(|node| node.path.len())
        };
        let names = divan::parse_list(&names);
        let measured: Vec<(&str, String)> = names
            .filter_map(|name| match owner(name) {
                Some(node) if node.is_ignored => None,
                node => Some((name, benchmark_id(name, node, &root))),
            })
            .collect();
        let roots = functions.iter().filter(|node| node.path.len() == 1);
        let roots: Vec<&str> = roots.map(|node| node.path[0].as_str()).collect();
        let names: Vec<&str> = measured.iter().map(|(name, _)| *name).collect();
        let ran = find_thread_counts(&names, &roots, spec, context)?;
        for (name, id) in measured {
            let address = |threads| Address {
                name: name.to_owned(),
                threads,
            };
            let branches = ran.get(name).map_or(&[][..], Vec::as_slice);
            if branches.is_empty() {
                self.add(id.clone(), address(None));
            }
            for threads in branches {
                self.add(format!("{id}/t={threads}"), address(Some(*threads)));
            }
        }
        Ok(())
    }
}

/// Returns the id of a divan benchmark. It is the path of the benchmark, with `/` before an argument. The name of the crate is left out if it is also
/// the name of the target.
fn benchmark_id(name: &str, function: Option<&divan::Node>, root: &str) -> String {
    let (path, argument) = match function {
        Some(node) => {
            let path = node.name();
            let argument = name
                .strip_prefix(&path)
                .and_then(|it| it.strip_prefix("::"));
            (path, argument)
        }
        None => (name.to_owned(), None),
    };
    let path = path
        .strip_prefix(root)
        .and_then(|rest| rest.strip_prefix("::"))
        .unwrap_or(&path);
    match argument {
        Some(argument) => format!("{path}/{argument}"),
        None => path.to_owned(),
    }
}

/// Finds the benchmarks that divan runs with several numbers of threads, and these numbers. Only a run shows them, so every benchmark runs once,
/// untimed, as in `cargo test --benches`.
///
/// A benchmark that panics ends its process, so the benchmarks after it run in a new process.
fn find_thread_counts(
    names: &[&str],
    roots: &[&str],
    spec: &ProcessSpec,
    context: &ProcessContext<'_>,
) -> Result<BTreeMap<String, Vec<usize>>, ChildError> {
    let mut branches: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    let mut left: Vec<&str> = names.to_vec();
    while !left.is_empty() {
        let mut arguments = vec!["--test".to_owned(), "--exact".to_owned()];
        if left.len() < names.len() {
            arguments.extend(left.iter().map(|name| (*name).to_owned()));
        }
        let call = Invocation {
            arguments: &arguments,
            variables: &[],
            purpose: "run each benchmark once",
            allowed: context.timeout.saturating_mul(UNKNOWN),
        };
        // A benchmark that panics here panics again when it is measured, and is reported then.
        let quiet = context.without_observer();
        let printed = match run(spec, &call, &quiet) {
            Ok(printed) => printed,
            Err(ChildError::Interrupted) => return Err(ChildError::Interrupted),
            Err(_) => break,
        };
        let nodes = divan::parse_tree(&printed.stdout, &|name| roots.contains(&name));
        for node in &nodes {
            let Some((last, above)) = node.path.split_last() else {
                continue;
            };
            let threads = last.strip_prefix("t=").and_then(|count| count.parse().ok());
            let above = above.join("::");
            if let Some(threads) = threads
                && names.contains(&above.as_str())
            {
                branches.entry(above).or_default().push(threads);
            }
        }
        let reached: Vec<String> = nodes.iter().map(divan::Node::name).collect();
        let before = left.len();
        left.retain(|name| !reached.iter().any(|reached| reached == name));
        if printed.is_well || left.len() == before {
            break;
        }
    }
    Ok(branches)
}

/// Returns the only row of the table that divan printed, or `None` if there is no row. Fails if there are several rows.
pub(super) fn single_divan_row(
    printed: &ProcessOutput,
) -> Result<Option<divan::DivanRow>, ChildError> {
    match divan::parse_rows(&printed.stdout)[..] {
        [] => Ok(None),
        [row] => Ok(Some(row)),
        // Before 0.1.19, divan lists benchmarks without their arguments, so one name may select several.
        _ => Err(ChildError::bench(
            "it printed several results for one benchmark; if the benchmark has arguments, update the divan crate to 0.1.19 or later",
        )),
    }
}

/// Creates the error for a process that printed no result.
pub(super) fn no_result_error(printed: &ProcessOutput) -> ChildError {
    let mut lines = printed.stdout.lines().chain(printed.stderr.lines()).rev();
    let line = lines
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    ChildError::bench(format!(
        "it printed no result; its output: `{}`",
        quote(line.as_bytes())
    ))
}

/// Runs an executable so that it lists its benchmarks, and returns what it printed.
fn run_list(
    arguments: &[String],
    variables: &[(&str, &OsStr)],
    spec: &ProcessSpec,
    context: &ProcessContext<'_>,
) -> Result<String, ChildError> {
    let call = Invocation {
        arguments,
        variables,
        purpose: "list its benchmarks",
        allowed: context.timeout,
    };
    let printed = run(spec, &call, context)?;
    match printed.error {
        None => Ok(printed.stdout),
        Some(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_the_path_in_the_target_and_then_the_argument() {
        let node = |path: &str| divan::Node {
            path: path.split("::").map(str::to_owned).collect(),
            is_ignored: false,
        };
        let with_args = node("my_bench::grp::with_args");
        let name = "my_bench::grp::with_args::a::b";
        assert_eq!(
            benchmark_id(name, Some(&with_args), "my_bench"),
            "grp::with_args/a::b"
        );
        assert_eq!(
            benchmark_id("lib::plain", Some(&node("lib::plain")), "my_bench"),
            "lib::plain"
        );
        assert_eq!(benchmark_id("my_bench::plain", None, "my_bench"), "plain");
    }
}
