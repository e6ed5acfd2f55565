//! The command line if the executable is not called by `cargo perfcheck`, compatible with Criterion's. It is read once, with one warning for each
//! option without effect.

use std::sync::OnceLock;
use std::time::Duration;

use perfcheck::sequence::{print, print_note};

use crate::configuration::Configuration;
use crate::filter::BenchmarkFilter;

/// The treatment of each benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VisitMode {
    /// Measure it and print a row.
    Bench(ResultFormat),
    /// Run it once.
    Test,
    /// Print its id.
    List(ListingFormat),
    /// Run it for a time without measuring.
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
    /// Compare two stored runs: the second with the first.
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
Benchmarks written for Criterion, on the harness of cargo-perfcheck, which measures, stores and compares them.

Usage: [OPTIONS] [FILTER]

Arguments:
  [FILTER]                         Only benchmarks in whose id this regular expression is found

Options:
      --bench                      Measure (cargo bench passes it); without it each benchmark runs once
      --test                       Run each benchmark once
      --list                       List the benchmarks; with --format terse one `ID: benchmark` a line
      --exact                      FILTER is a whole id
      --profile-time SECONDS       Run each benchmark for so long, unmeasured, with the profiler that is set
      --sample-size N              Samples of each benchmark
      --warm-up-time SECONDS       Warm-up of each benchmark
      --measurement-time SECONDS   Time of the samples of each benchmark
      --noise-threshold FRACTION   With --baseline: the change that counts as noise
      --quick                      Measure each benchmark for a tenth of a second
      --output-format FORMAT       `criterion` (a table) or `bencher` (as libtest)
      --quiet                      Print results alone
  -s, --save-baseline NAME         Let cargo perfcheck measure and store the run under this name
  -b, --baseline NAME              Let cargo perfcheck measure and compare with the run of this name
      --baseline-lenient NAME      The same
      --load-baseline NAME         With --baseline: compare the stored runs, and measure nothing
  -h, --help                       Print this help

Other options of Criterion and libtest are accepted, and have no effect.

Examples:
  cargo bench -- '^parse/' --sample-size 50
  cargo bench -- --save-baseline before
  cargo perfcheck --baseline before
";

/// Flags without effect: those of libtest and nextest, and those that request the default behavior.
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

/// Options with a value and without effect; `true` if there should be a warning.
const OPTIONS: [(&str, bool); 9] = [
    ("--color", false),
    ("--colour", false),
    ("-c", false),
    ("--test-threads", false),
    ("--logfile", false),
    ("-Z", false),
    ("--plotting-backend", true),
    ("--nresamples", true),
    ("--confidence-level", true),
];

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
    /// Parses the arguments after the program's name; `None` is a request for help.
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
                _ => match OPTIONS.iter().find(|(option, _)| *option == name) {
                    Some((_, is_told)) => {
                        value()?;
                        if *is_told {
                            line.ignored.push(name.to_owned());
                        }
                    }
                    None => return Err(format!("there is no option `{name}`")),
                },
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
        assert!(refused("a(").contains("`a(` is no regular expression"));
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
}
