//! The command line of `import`.

use clap::Args;
use std::path::PathBuf;
use std::str::FromStr;

use super::analysis_flags::{Policies, outlier_words};
use super::command::{Command, Parsed};
use super::store_flags::StoredArguments;
use crate::app::{ImportOptions, StatedFact};
use crate::exchange::{FileFormat, TableLayout, ValueUnit};
use crate::settings::confidence_level;
use perfcheck_analysis::model::{Outliers, SampleFilter};

const AFTER_HELP: &str = "\
Examples:
  cargo perfcheck import main.jsonl                        runs that `cargo perfcheck export` wrote elsewhere, each only once
  cargo perfcheck import target/criterion                  every baseline of Criterion, a run of its name
  cargo perfcheck import target/criterion --only base --baseline before
  hyperfine --export-json - ./a ./b | cargo perfcheck import -
  go test -bench . -count 10 | cargo perfcheck import --format go - --baseline old

The column map of a table says what each column means: KEY=COLUMN, with commas between. Columns are named as in the first line, or by number as `#1`.
  id=A/B/C        the benchmark, from one or several columns
  value=T         what was measured; several such columns are several benchmarks a row; `value=T[ms]` gives one its unit,
                  `value.ser=T` the last part of its id
  repetition=R    which measurement of its launch a row is; orders them, and finds rows that are there twice
  launch=L        which session or process a row belongs to; several files are several launches anyway
  iterations=N    the values of a row are totals of so many iterations
  unit=U          the unit of the row's values
  dimension=D     what else is known of a benchmark, the same in all of its rows: a dimension of pivots, no part of the id

Units: ns, us, ms, s, min, ticks:100ns; rates such as ops/s, bytes/s, MiB/s; amounts: bytes, KiB, instructions, cycles, allocations, amount:NAME.

Tables:
  cargo perfcheck import log.csv --columns id=Serializer/TestData/Mode,value.ser=TimeSer,value.deser=TimeDeser,repetition=Repetition \\
      --unit ticks:100ns --drop-first --baseline v1
  cargo perfcheck import day1.csv day2.csv day3.csv --columns id=name,value=ns --unit ns   three sessions, three launches
  perf-tool | cargo perfcheck import - --no-header --columns id=#1,value=#2 --unit ops/s
  cargo perfcheck compare v1 latest                                                        compare two imports

docs/EXCHANGE.md says what each format keeps and loses.

Exit status: 0, 2 usage, or a file that cannot be read (nothing is stored), 5 store unusable, 130 interrupted.";

/// The command line of `import`.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(super) struct ImportArguments {
    /// Files, or directories of Criterion, one session each; `-` is the standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Format of the files; without it their content tells, with `--columns` it is csv
    #[arg(long, value_name = "FMT")]
    format: Option<FileFormat>,
    /// csv: what the columns mean (may be given more than once), see below
    #[arg(long, value_name = "MAP")]
    columns: Vec<String>,
    /// What the values are measured in, unless the column map says so
    #[arg(long, value_name = "UNIT", value_parser = str::parse::<ValueUnit>)]
    unit: Option<ValueUnit>,
    /// Take the values of a benchmark for ticks of 100 ns where their median is above a million, else for nanoseconds, and say so
    #[arg(long, conflicts_with = "unit")]
    guess_units: bool,
    /// What stands between columns: a character or `tab`
    #[arg(long, value_name = "CHAR", default_value = ",", value_parser = separator)]
    separator: u8,
    /// The first line is a row, too; columns are named by number
    #[arg(long)]
    no_header: bool,
    /// Fractions are written 1,5
    #[arg(long)]
    decimal_comma: bool,
    /// Skip rows that cannot be read, and count them
    #[arg(long)]
    lenient: bool,
    /// Keep the first repetition of each launch apart, as its warm-up: `first` of `--outliers`
    #[arg(long)]
    drop_first: bool,
    /// Which values count as outliers: they are left out wherever the run is described. All values are stored, and tests are of all
    #[arg(long, value_name = "POLICY[,first]", default_value = "none", value_parser = outlier_words::<OutlierPolicyFlag>())]
    outliers: OutlierPolicyFlag,
    /// A row that is an outlier in one of its values is one in all
    #[arg(long)]
    paired: bool,
    /// Level of the intervals of means [default: 95%, the threshold `import-level`]
    #[arg(long, value_name = "FRACTION", value_parser = confidence_level)]
    confidence_level: Option<f64>,
    /// Bootstrap resamples of the intervals of means [default: 2000, the threshold `import-resamples`]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    resamples: Option<u32>,
    /// Seed of the intervals of means; each benchmark derives its own [default: 42, the threshold `import-seed`]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// The package and bench target that the benchmarks are stored under; what is to be compared needs the same [default: imported/FMT]
    #[arg(long = "as", value_name = "PACKAGE/TARGET", value_parser = place)]
    place: Option<(String, String)>,
    /// What is known of where the values were measured, e.g. cpu=NAME or profile=release: runs with other facts are not comparable
    #[arg(long = "fact", value_name = "KEY=VALUE", value_parser = fact)]
    facts: Vec<StatedFact>,
    /// Store the run under a name
    #[arg(short, long, visible_alias = "save-baseline", value_name = "NAME")]
    baseline: Option<String>,
    /// Of files that hold several runs, those of these names
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Names that files give to runs move to these, where they are taken
    #[arg(long)]
    move_names: bool,
    /// Say what would be stored, and store nothing
    #[arg(short = 'n', long)]
    dry_run: bool,
    #[command(flatten)]
    stored: StoredArguments,
}

/// A policy, and its fence where the word has one.
#[derive(Debug, Clone, Copy, PartialEq)]
struct OutlierPolicyFlag {
    policies: Policies,
    fence: Option<f64>,
}

impl FromStr for OutlierPolicyFlag {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // Names of the serializer methodology, fences included.
        let (outliers, fence) = match text {
            "all" => (Outliers::Keep, None),
            "iqr_1.5" => (Outliers::Iqr, Some(1.5)),
            "iqr_3" => (Outliers::Iqr, Some(3.0)),
            "mad_3" => (Outliers::Mad, Some(3.0)),
            "winsorize_5_95" => (Outliers::Winsorized, None),
            words => {
                let policies = words.parse()?;
                return Ok(Self {
                    policies,
                    fence: None,
                });
            }
        };
        let policies = Policies {
            policy: outliers,
            drop_first: false,
        };
        Ok(Self { policies, fence })
    }
}

impl ImportArguments {
    pub(super) fn translate(self) -> Parsed {
        let options = ImportOptions {
            files: self.files,
            format: self.format,
            columns: self.columns,
            layout: TableLayout {
                separator: self.separator,
                header: !self.no_header,
                decimal_comma: self.decimal_comma,
            },
            unit: self.unit,
            guess_units: self.guess_units,
            lenient: self.lenient,
            filter: SampleFilter {
                drop_first: self.drop_first || self.outliers.policies.drop_first,
                outliers: self.outliers.policies.policy,
                fence: self.outliers.fence,
                paired: self.paired,
                ..SampleFilter::default()
            },
            confidence_level: self.confidence_level,
            resamples: self.resamples,
            seed: self.seed,
            place: self.place,
            facts: self.facts,
            baseline: self.baseline,
            only: self.only,
            move_names: self.move_names,
            dry_run: self.dry_run,
        };
        self.stored.with(Command::Import(Box::new(options)))
    }
}

fn separator(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        _ if ["tab", "\\t"].contains(&text) => Ok(b'\t'),
        [b'"' | b'\r' | b'\n'] => {
            Err("a quotation mark or line end separates no columns".to_owned())
        }
        [byte] => Ok(*byte),
        _ => Err("it is one ASCII character, or `tab`".to_owned()),
    }
}

fn place(text: &str) -> Result<(String, String), String> {
    match text.split_once('/') {
        Some((package, target)) if !package.is_empty() && !target.is_empty() => {
            Ok((package.to_owned(), target.to_owned()))
        }
        _ => Err("it is PACKAGE/TARGET, such as `imported/serializers`".to_owned()),
    }
}

fn fact(text: &str) -> Result<StatedFact, String> {
    let (name, value) = text
        .split_once('=')
        .ok_or("it is KEY=VALUE, such as `cpu=Ryzen 7 5800X`")?;
    Ok(StatedFact {
        name: name.trim().to_owned(),
        value: value.to_owned(),
    })
}
