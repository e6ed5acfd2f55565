//! The entry point of the executable. The environment and the arguments select the mode.

use crate::args::{Args, ExecutableMode};
use std::process::ExitCode;

use crate::output::{print, print_note};
use crate::walk::{BenchFunction, Catalogue, DeclaredBenchmark};
use crate::{child, output, smoke, table};

const HELP: &str = "\
Benchmarks written with the crate `perfcheck`. `cargo perfcheck` measures, stores and compares them.

Usage: [OPTIONS] [FILTER]...

Arguments:
  [FILTER]...      Select benchmarks whose id contains one of these words

Options:
      --bench      Measure and print a table (cargo bench passes this flag); without it, each benchmark runs once
      --test       Run each benchmark once
      --list       List the benchmarks; with --format terse, one `ID: benchmark` per line
      --exact      Match FILTER and TEXT against whole ids
      --skip TEXT  Skip benchmarks whose id contains TEXT
  -q, --quiet      Print only results
  -h, --help       Print this help

Other options of libtest are accepted and have no effect.
";

/// Runs the benchmarks of `functions` in the mode that the environment and the arguments select. [`main!`](crate::main) expands to a call of this
/// function; call it yourself if `main` has to do something else first.
///
/// # Examples
///
/// ```
/// use perfcheck::{BenchFunction, Suite};
/// use std::process::ExitCode;
///
/// fn sums(suite: &mut Suite) {
///     suite.bench("sum", |bencher| bencher.iter(|| (0..1000_u64).sum::<u64>()));
/// }
///
/// fn main() -> ExitCode {
///     perfcheck::run(&[BenchFunction::new("sums", sums)])
/// }
/// ```
pub fn run(functions: &[BenchFunction]) -> ExitCode {
    if let Ok(versions) = std::env::var(child::VARIABLE) {
        return child::run(functions, &versions);
    }
    let args = Args::parse(std::env::args_os().skip(1).map(|argument| {
        // Ids are UTF-8, so an argument that is not valid UTF-8 cannot match any of them.
        argument.to_string_lossy().into_owned()
    }));
    if args.mode == ExecutableMode::Help {
        print(HELP);
        return ExitCode::SUCCESS;
    }
    for argument in &args.ignored {
        print_note(&format!(
            "warning: `{argument}` has no effect on benchmarks of the crate perfcheck; see `cargo perfcheck --help`"
        ));
    }
    let catalogue = Catalogue::list(functions);
    for message in &catalogue.broken {
        print_note(&format!("error: {message}"));
    }
    let broken = !catalogue.broken.is_empty();
    let all = catalogue.entries.len();
    let wanted: Vec<DeclaredBenchmark> = catalogue
        .entries
        .into_iter()
        .filter(|entry| args.selection.contains(&entry.announcement.id))
        .collect();
    let status = match args.mode {
        ExecutableMode::List(format) => output::run(&wanted, format),
        ExecutableMode::Bench => table::run(functions, &wanted, args.verbosity),
        ExecutableMode::Test | ExecutableMode::Help => {
            smoke::run(functions, &wanted, all - wanted.len(), args.verbosity)
        }
    };
    if broken { ExitCode::from(101) } else { status }
}
