//! Parses the command line of a bench executable that something other than `cargo perfcheck` has started, such as `cargo bench`. Criterion's flags
//! are accepted. The command line is read once in a process, with one warning for each option that has no effect.
//!
//! `--save-baseline` and `--baseline` are passed on to `cargo perfcheck`, which builds and measures the same target and owns the store. `cargo
//! perfcheck` never passes these flags to the executable, so there is no recursion.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use crate::configuration::Configuration;
use crate::filter::BenchmarkFilter;
use perfcheck::sequence::{print, print_note};

/// How the executable runs each of its benchmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VisitMode {
    /// Measure the benchmark and print a row.
    Bench(ResultFormat),
    /// Run the benchmark once.
    Test,
    /// Print the benchmark's id.
    List(ListingFormat),
    /// Run the benchmark for a time without measuring it.
    Profile(Duration),
}

/// The format of results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum ResultFormat {
    /// A table.
    #[default]
    Table,
    /// The table without its heading.
    Quiet,
    /// Lines in libtest's format.
    Bencher,
}

/// The format of a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListingFormat {
    Pretty,
    Terse,
}

/// A request to the store of `cargo perfcheck`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StoreRequest {
    Save(String),
    Compare(String),
    /// Compare the second of two stored runs with the first.
    Both(String, String),
}

/// The parsed command line.
#[derive(Debug, Clone)]
pub(crate) struct CommandLine {
    pub(crate) mode: VisitMode,
    pub(crate) filters: Vec<String>,
    pub(crate) is_exact: bool,
    pub(crate) filter: BenchmarkFilter,
    pub(crate) configuration: Configuration,
    pub(crate) is_quick: bool,
    pub(crate) stored: Option<StoreRequest>,
    /// Options without effect, for which a warning is printed.
    pub(crate) ignored: Vec<String>,
}

const HELP: &str = "\
Benchmarks written for Criterion, on the harness of `cargo perfcheck`, which measures, stores and compares them.

Usage: [OPTIONS] [FILTER]

Arguments:
  [FILTER]                         Select benchmarks whose id matches this regular expression

Options:
      --bench                      Measure (cargo bench passes this flag); without it, each benchmark runs once
      --test                       Run each benchmark once
      --list                       List the benchmarks; with --format terse, one `ID: benchmark` per line
      --exact                      Match FILTER against whole ids, not as a regular expression
      --profile-time SECONDS       Run each benchmark for this time, unmeasured, with the profiler that the bench sets
      --sample-size N              Take N samples of each benchmark
      --warm-up-time SECONDS       Warm up each benchmark for this time
      --measurement-time SECONDS   Take samples of each benchmark for this time
      --noise-threshold FRACTION   With --baseline: ignore changes up to this
      --quick                      Measure each benchmark for a tenth of a second
      --output-format FORMAT       `criterion` (a table) or `bencher` (as libtest)
      --quiet                      Print only results
  -s, --save-baseline NAME         Let cargo perfcheck measure and store the run under this name
  -b, --baseline NAME              Let cargo perfcheck measure and compare with the run that has this name
      --baseline-lenient NAME      The same as --baseline
      --load-baseline NAME         With --baseline: compare the two stored runs without measuring
  -h, --help                       Print this help

Other options of Criterion and libtest are accepted and have no effect.

Examples:
  cargo bench -- '^parse/' --sample-size 50
  cargo bench -- --save-baseline before
  cargo perfcheck --baseline before
";

/// Flags that are accepted and have no effect. They are flags of libtest and nextest, and flags that request what happens anyway.
const FLAGS: [&str; 12] = [
    "--nocapture",
    "--no-capture",
    "--show-output",
    "--include-ignored",
    "--discard-baseline",
    "--noplot",
    "-n",
    "--verbose",
    "-v",
    "--force-run-in-process",
    "--exclude-should-panic",
    "-q",
];

/// Options that take a value and have no effect.
const OPTIONS: [&str; 6] = [
    "--color",
    "--colour",
    "-c",
    "--test-threads",
    "--logfile",
    "-Z",
];

/// Options that take a value and have no effect. Each of them causes a warning.
const OPTIONS_WITH_WARNING: [&str; 3] =
    ["--plotting-backend", "--nresamples", "--confidence-level"];

/// Returns the command line of the process. An error ends the process, as in Criterion.
pub(crate) fn command_line() -> &'static CommandLine {
    static LINE: OnceLock<CommandLine> = OnceLock::new();
    LINE.get_or_init(|| {
        let arguments = std::env::args_os()
            .skip(1)
            .map(|argument| argument.to_string_lossy().into_owned());
        match CommandLine::parse(arguments) {
            Ok(Some(line)) => {
                for argument in &line.ignored {
                    print_note(&format!("warning: `{argument}` has no effect here: see the chapter *Coming from Criterion* of cargo-perfcheck's guide"));
                }
                line
            }
            Ok(None) => {
                print(HELP);
                std::process::exit(0)
            }
            Err(message) => {
                print_note(&format!("error: {message}; see --help"));
                std::process::exit(2)
            }
        }
    })
}

impl CommandLine {
    /// Parses the arguments after the program's name. `None` means that help is requested.
    pub(crate) fn parse(
        arguments: impl IntoIterator<Item = String>,
    ) -> Result<Option<Self>, String> {
        let mut flags = ModeFlags::default();
        let mut line = Self {
            mode: VisitMode::Test,
            filters: Vec::new(),
            is_exact: false,
            filter: BenchmarkFilter::AcceptAll,
            configuration: Configuration::default(),
            is_quick: false,
            stored: None,
            ignored: Vec::new(),
        };
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let (name, attached) = match argument.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
                _ => (argument.as_str(), None),
            };
            let mut value = || {
                attached
                    .clone()
                    .or_else(|| arguments.next())
                    .ok_or_else(|| format!("`{name}` needs a value"))
            };
            match name {
                "--bench" => flags.bench = true,
                "--test" => flags.test = true,
                "--list" => flags.list = true,
                "--ignored" => flags.ignored = true,
                "--exact" => line.is_exact = true,
                "--quick" => line.is_quick = true,
                "--quiet" => flags.quiet = true,
                "--help" | "-h" => return Ok(None),
                "--version" | "-V" => {}
                "--format" => flags.terse = one_of(name, &value()?, &["pretty", "terse"])? == 1,
                "--output-format" => {
                    flags.bencher = one_of(name, &value()?, &["criterion", "bencher"])? == 1;
                }
                "--profile-time" => flags.profile = Some(seconds(name, &value()?)?),
                "--warm-up-time" => {
                    line.configuration.warm_up_time = Some(seconds(name, &value()?)?);
                }
                "--measurement-time" => {
                    line.configuration.measurement_time = Some(seconds(name, &value()?)?);
                }
                "--sample-size" => {
                    let text = value()?;
                    let size = text.parse().ok().filter(|size| *size >= 10);
                    line.configuration.sample_size = Some(size.ok_or_else(|| {
                        format!("`--sample-size {text}`: at least 10 samples are needed")
                    })?);
                }
                "--noise-threshold" => {
                    line.configuration.noise_threshold = Some(fraction(name, &value()?)?);
                }
                "--significance-level" => {
                    fraction(name, &value()?)?;
                    line.ignored.push(name.to_owned());
                }
                "--save-baseline" | "-s" => flags.save = Some(value()?),
                "--baseline" | "-b" | "--baseline-lenient" => flags.compare = Some(value()?),
                "--load-baseline" => flags.load = Some(value()?),
                "--" => line.filters.extend(arguments.by_ref()),
                _ if FLAGS.contains(&name) => {}
                _ if !name.starts_with('-') || name == "-" => line.filters.push(argument),
                _ if OPTIONS.contains(&name) => {
                    value()?;
                }
                _ if OPTIONS_WITH_WARNING.contains(&name) => {
                    value()?;
                    line.ignored.push(name.to_owned());
                }
                _ => return Err(format!("there is no option `{name}`")),
            }
        }
        line.mode = flags.mode();
        line.stored = flags.store_request()?;
        line.filter = match &line.filters[..] {
            _ if flags.ignored => BenchmarkFilter::RejectAll,
            [] => BenchmarkFilter::AcceptAll,
            [name] if line.is_exact => BenchmarkFilter::Exact(name.clone()),
            [text] => BenchmarkFilter::expression(text)?,
            [_, second, ..] => {
                return Err(format!(
                    "a second filter, `{second}`: write alternatives as `one|other`"
                ));
            }
        };
        Ok(Some(line))
    }
}

/// The flags that determine the mode and the request to the store.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "one for each flag")]
struct ModeFlags {
    bench: bool,
    test: bool,
    list: bool,
    terse: bool,
    ignored: bool,
    quiet: bool,
    bencher: bool,
    profile: Option<Duration>,
    save: Option<String>,
    compare: Option<String>,
    load: Option<String>,
}

impl ModeFlags {
    fn mode(&self) -> VisitMode {
        match (self.list, self.bench && !self.test, self.profile) {
            (true, _, _) if self.terse => VisitMode::List(ListingFormat::Terse),
            (true, _, _) => VisitMode::List(ListingFormat::Pretty),
            (_, false, _) => VisitMode::Test,
            (_, true, Some(time)) => VisitMode::Profile(time),
            (_, true, None) if self.bencher => VisitMode::Bench(ResultFormat::Bencher),
            (_, true, None) if self.quiet => VisitMode::Bench(ResultFormat::Quiet),
            (_, true, None) => VisitMode::Bench(ResultFormat::Table),
        }
    }

    fn store_request(&self) -> Result<Option<StoreRequest>, String> {
        Ok(match (&self.save, &self.compare, &self.load) {
            (None, None, None) => None,
            (Some(name), None, None) => Some(StoreRequest::Save(name.clone())),
            (None, Some(name), None) => Some(StoreRequest::Compare(name.clone())),
            (None, Some(base), Some(new)) => Some(StoreRequest::Both(base.clone(), new.clone())),
            (_, None, Some(_)) => return Err("`--load-baseline` needs `--baseline`".to_owned()),
            (Some(_), Some(_), _) => {
                return Err("`--save-baseline` and `--baseline` exclude each other here; cargo perfcheck takes both".to_owned());
            }
        })
    }
}

fn one_of(name: &str, value: &str, known: &[&str]) -> Result<usize, String> {
    known
        .iter()
        .position(|word| *word == value)
        .ok_or_else(|| format!("`{name} {value}`: it is one of {}", known.join(", ")))
}

fn seconds(name: &str, text: &str) -> Result<Duration, String> {
    text.parse()
        .ok()
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .filter(|time| !time.is_zero())
        .ok_or_else(|| format!("`{name} {text}`: a positive number of seconds is needed"))
}

fn fraction(name: &str, text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|fraction: &f64| (0.0..1.0).contains(fraction))
        .ok_or_else(|| format!("`{name} {text}`: a fraction is needed, 0 to 1"))
}

/// The environment variable that tells `cargo perfcheck` and its child processes that a bench executable has started them. It is a second guard
/// against recursion.
const HANDED_OVER: &str = "PERFCHECK_HANDED_OVER";

const EXECUTABLE: &str = if cfg!(windows) {
    "cargo-perfcheck.exe"
} else {
    "cargo-perfcheck"
};

/// If the command line refers to stored runs, runs `cargo perfcheck` and exits with its status.
pub(crate) fn delegate_to_cargo_perfcheck(line: &CommandLine) {
    let Some(stored) = &line.stored else {
        return;
    };
    if !matches!(line.mode, VisitMode::Bench(_)) {
        return;
    }
    if std::env::var_os(HANDED_OVER).is_some() {
        fail("cargo perfcheck has started this with a flag of baselines, which it must not");
    }
    let Some(executable) = find_executable() else {
        fail(
            "baselines are kept by `cargo perfcheck`, which is not installed: `cargo install cargo-perfcheck`",
        );
    };
    let arguments = match perfcheck_arguments(stored, line) {
        Ok(arguments) => arguments,
        Err(message) => fail(&message),
    };
    print_note(&format!("running `cargo {}`", arguments.join(" ")));
    let status = Command::new(&executable)
        .args(&arguments)
        .env(HANDED_OVER, "1")
        .status();
    match status {
        Ok(status) => std::process::exit(status.code().unwrap_or(101)),
        Err(error) => fail(&format!("cannot run {}: {error}", executable.display())),
    }
}

fn fail(message: &str) -> ! {
    print_note(&format!("error: {message}"));
    std::process::exit(2)
}

/// Finds `cargo-perfcheck` where cargo would find it.
fn find_executable() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = std::env::home_dir().map(|home| home.join(".cargo"));
    let installed = cargo_home.or(home).map(|home| home.join("bin"));
    std::env::split_paths(&path)
        .chain(installed)
        .map(|directory| directory.join(EXECUTABLE))
        .find(|candidate| candidate.is_file())
}

/// Returns the arguments with which `cargo` runs the command of `cargo perfcheck` that the user needs.
fn perfcheck_arguments(stored: &StoreRequest, line: &CommandLine) -> Result<Vec<String>, String> {
    let mut arguments = vec!["perfcheck".to_owned()];
    let mut push = |words: &[&str]| arguments.extend(words.iter().map(|word| (*word).to_owned()));
    if let StoreRequest::Both(base, new) = stored {
        push(&["compare", base, new]);
    }
    if let Ok(manifest) = std::env::var("CARGO_MANIFEST_PATH") {
        push(&["--manifest-path", &manifest]);
    }
    match stored {
        StoreRequest::Both(..) => return Ok(arguments),
        StoreRequest::Save(name) => push(&["--save-baseline", name]),
        StoreRequest::Compare(name) => push(&["--baseline", name]),
    }
    let executable = std::env::args_os().next().unwrap_or_default();
    if let Some(target) = bench_target_pattern(Path::new(&executable)) {
        push(&["--bench", &target]);
    }
    let configuration = &line.configuration;
    let seconds = |time: Duration| time.as_secs_f64().to_string();
    if let Some(size) = configuration.sample_size {
        push(&["--samples", &size.to_string()]);
    }
    if let Some(time) = configuration.warm_up_time {
        push(&["--warm-up-time", &seconds(time)]);
    }
    if let Some(time) = configuration.measurement_time {
        push(&["--measurement-time", &seconds(time)]);
    }
    if let Some(threshold) = configuration.noise_threshold {
        push(&["--noise-threshold", &threshold.to_string()]);
    }
    if line.is_exact {
        push(&["--exact"]);
    } else if let Some(filter) = line.filters.iter().find(|filter| !is_literal(filter)) {
        return Err(format!(
            "cargo perfcheck takes filters as they are written, and `{filter}` is an expression: name the benchmarks, or call `cargo perfcheck` with several filters"
        ));
    }
    if !line.filters.is_empty() {
        // Separate the filters, because one could have the name of a command.
        push(&["--"]);
    }
    for filter in &line.filters {
        push(&[filter]);
    }
    Ok(arguments)
}

/// Reports whether a filter has the same meaning as plain text. A dot is allowed, because its matches include a dot.
fn is_literal(filter: &str) -> bool {
    !filter.contains([
        '\\', '^', '$', '|', '?', '*', '+', '(', ')', '[', ']', '{', '}',
    ])
}

/// Returns the bench target of an executable that cargo built, as a pattern: the file's name has `_` where the target's name may have `-`.
fn bench_target_pattern(executable: &Path) -> Option<String> {
    let stem = executable.file_stem()?.to_str()?;
    let (name, hash) = stem.rsplit_once('-')?;
    let is_hash = hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| name.replace('_', "[-_]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> CommandLine {
        CommandLine::parse(line.split_whitespace().map(ToOwned::to_owned))
            .unwrap()
            .unwrap()
    }

    fn refused(line: &str) -> String {
        CommandLine::parse(line.split_whitespace().map(ToOwned::to_owned)).unwrap_err()
    }

    #[test]
    fn the_mode_follows_as_in_criterion() {
        assert_eq!(parse("").mode, VisitMode::Test);
        assert_eq!(parse("--bench").mode, VisitMode::Bench(ResultFormat::Table));
        assert_eq!(parse("--bench --test").mode, VisitMode::Test);
        assert_eq!(
            parse("--list --bench").mode,
            VisitMode::List(ListingFormat::Pretty)
        );
        assert_eq!(
            parse("--list --format terse").mode,
            VisitMode::List(ListingFormat::Terse)
        );
        assert_eq!(
            parse("--bench --output-format=bencher").mode,
            VisitMode::Bench(ResultFormat::Bencher)
        );
        assert_eq!(
            parse("--profile-time 2 --bench").mode,
            VisitMode::Profile(Duration::from_secs(2))
        );
        assert_eq!(parse("--profile-time 2").mode, VisitMode::Test);
    }

    #[test]
    fn filters_are_expressions_or_whole_ids() {
        let accepts = |line: &str, id: &str| parse(line).filter.accepts(id, id);
        assert!(accepts("--bench", "any"));
        assert!(accepts("^a/.* --bench", "a/b") && !accepts("^a/.* --bench", "b/a/b"));
        assert!(accepts("--exact a/b", "a/b") && !accepts("--exact a", "a/b"));
        assert!(!accepts("a --ignored", "a"));
        assert!(refused("a(").contains("`a(` is not a regular expression"));
        assert!(refused("a b").contains("`one|other`"));
    }

    #[test]
    fn values_are_checked() {
        let line = parse(
            "--sample-size 20 --warm-up-time 0.5 --measurement-time=2 --noise-threshold 0.05",
        );
        assert_eq!(line.configuration.sample_size, Some(20));
        assert_eq!(
            line.configuration.warm_up_time,
            Some(Duration::from_millis(500))
        );
        assert_eq!(
            line.configuration.measurement_time,
            Some(Duration::from_secs(2))
        );
        assert_eq!(line.configuration.noise_threshold, Some(0.05));
        for line in [
            "--sample-size 9",
            "--warm-up-time 0",
            "--measurement-time x",
            "--noise-threshold 2",
            "--format json",
            "--frobnicate",
            "--sample-size",
            "--load-baseline a",
            "-s a -b b",
        ] {
            assert!(!refused(line).is_empty(), "{line}");
        }
    }

    #[test]
    fn baselines_go_to_the_store() {
        assert_eq!(
            parse("--save-baseline a").stored,
            Some(StoreRequest::Save("a".into()))
        );
        assert_eq!(
            parse("-b a").stored,
            Some(StoreRequest::Compare("a".into()))
        );
        assert_eq!(
            parse("--baseline-lenient a").stored,
            Some(StoreRequest::Compare("a".into()))
        );
        let both = StoreRequest::Both("a".into(), "b".into());
        assert_eq!(parse("--baseline a --load-baseline b").stored, Some(both));
        assert_eq!(parse("--discard-baseline").stored, None);
    }

    #[test]
    fn options_without_a_meaning_here_are_accepted_with_their_values() {
        let line = parse(
            "-n --color never --plotting-backend gnuplot --nocapture --test-threads 4 -v --nresamples=10 real --bench",
        );
        assert_eq!(line.filters, ["real"]);
        assert_eq!(line.ignored, ["--plotting-backend", "--nresamples"]);
    }

    fn arguments_for(line: &str) -> Result<Vec<String>, String> {
        let words = line.split_whitespace().map(ToOwned::to_owned);
        let line = CommandLine::parse(words).unwrap().unwrap();
        perfcheck_arguments(line.stored.as_ref().unwrap(), &line).map(|mut arguments| {
            // Remove the flags that depend on this test's own executable and package.
            for flag in ["--manifest-path", "--bench"] {
                if let Some(at) = arguments.iter().position(|argument| argument == flag) {
                    arguments.drain(at..at + 2);
                }
            }
            arguments
        })
    }

    #[test]
    fn flags_of_criterion_become_those_of_cargo_perfcheck() {
        assert_eq!(
            arguments_for(
                "--save-baseline old --sample-size 20 --measurement-time 0.5 parse --bench"
            )
            .unwrap()
            .join(" "),
            "perfcheck --save-baseline old --samples 20 --measurement-time 0.5 -- parse"
        );
        assert_eq!(
            arguments_for(
                "--baseline old --warm-up-time 1 --noise-threshold 0.05 --exact a|b --bench"
            )
            .unwrap()
            .join(" "),
            "perfcheck --baseline old --warm-up-time 1 --noise-threshold 0.05 --exact -- a|b"
        );
        assert_eq!(
            arguments_for("--baseline old --load-baseline new --bench")
                .unwrap()
                .join(" "),
            "perfcheck compare old new"
        );
        assert!(
            arguments_for("-s old ^a --bench")
                .unwrap_err()
                .contains("`^a` is an expression")
        );
    }

    #[test]
    fn the_target_is_read_off_the_executable() {
        let of = |path: &str| bench_target_pattern(Path::new(path));
        assert_eq!(
            of("target/release/deps/my_bench-0123456789abcdef").as_deref(),
            Some("my[-_]bench")
        );
        assert_eq!(of("target/release/deps/my_bench"), None);
        assert_eq!(of("other-name"), None);
    }
}
