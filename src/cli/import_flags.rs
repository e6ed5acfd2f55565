//! The command line of `store import`.

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
  cargo perfcheck store import main.jsonl                        import what `store export` wrote elsewhere, each run once
  cargo perfcheck store import target/criterion                  import every baseline of Criterion as a run of its name
  cargo perfcheck store import target/criterion --run base --save-baseline before
  hyperfine --export-json - ./a ./b | cargo perfcheck store import -
  go test -bench . -count 10 | cargo perfcheck store import --format go - --save-baseline old

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
  cargo perfcheck store import log.csv --columns id=Serializer/TestData/Mode,value.ser=TimeSer,value.deser=TimeDeser,repetition=Repetition \\
      --unit ticks:100ns --drop-first --save-baseline v1
  cargo perfcheck store import day1.csv day2.csv day3.csv --columns id=name,value=ns --unit ns   three sessions, three launches
  perf-tool | cargo perfcheck store import - --no-header --columns id=#1,value=#2 --unit ops/s
  cargo perfcheck compare v1 latest                                                        compare two imports

Exit status: 0, 2 usage, or a file that cannot be read (nothing is stored), 5 store unusable, 130 interrupted.";

/// The command line of `store import`.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(super) struct ImportArguments {
    /// Import these files or directories of Criterion, one session each; `-` is stdin
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Read the files as this format [default: csv with --columns, else as their content says]
    #[arg(long, value_name = "FMT")]
    format: Option<FileFormat>,
    /// csv: say what the columns mean (may be given more than once); --help explains MAP
    #[arg(long, value_name = "MAP")]
    columns: Vec<String>,
    /// Read values in this unit, unless the column map names another one
    #[arg(long, value_name = "UNIT", value_parser = str::parse::<ValueUnit>)]
    unit: Option<ValueUnit>,
    /// Read the values of a benchmark as ticks of 100 ns if their median is above a million, else as nanoseconds, and say so
    #[arg(long, conflicts_with = "unit")]
    guess_units: bool,
    /// Split columns at this character, or at `tab`
    #[arg(long, value_name = "CHAR", default_value = ",", value_parser = separator)]
    separator: u8,
    /// Read the first line as a row, too, and name columns by number
    #[arg(long)]
    no_header: bool,
    /// Read fractions written as 1,5
    #[arg(long)]
    decimal_comma: bool,
    /// Skip unreadable rows, and count them
    #[arg(long)]
    lenient: bool,
    /// Treat the first repetition of each process as its warm-up: `first` of `--outliers`
    #[arg(long)]
    drop_first: bool,
    /// Leave these outliers out when the run is described; all values are stored and tested
    #[arg(long, value_name = "POLICY[,first]", default_value = "none", value_parser = outlier_words::<OutlierPolicyFlag>())]
    outliers: OutlierPolicyFlag,
    /// Leave out the whole row where one of its values is an outlier
    #[arg(long)]
    drop_rows: bool,
    /// Set the level of intervals of means [default: 95%, the threshold `import-level`]
    #[arg(long, value_name = "FRACTION", value_parser = confidence_level)]
    confidence_level: Option<f64>,
    /// Draw N bootstrap resamples for intervals of means [default: 2000, the threshold `import-resamples`]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    resamples: Option<u32>,
    /// Seed the intervals of means; each benchmark derives its own seed [default: 42, the threshold `import-seed`]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Store the benchmarks under this package and bench target; compared runs need the same ones [default: imported/FMT]
    #[arg(long = "as", value_name = "PACKAGE/TARGET", value_parser = place)]
    place: Option<(String, String)>,
    /// State where the values were measured, e.g. cpu=NAME or profile=release; runs with other facts are not comparable
    #[arg(long = "fact", value_name = "KEY=VALUE", value_parser = fact)]
    facts: Vec<StatedFact>,
    /// Name the imported run
    #[arg(short, long, value_name = "NAME")]
    save_baseline: Option<String>,
    /// Import only the run of this name from files that hold several (may be given more than once)
    #[arg(long = "run", value_name = "NAME")]
    runs: Vec<String>,
    /// Move names that are taken to the imported runs
    #[arg(long)]
    move_names: bool,
    /// Print what would be stored, and store nothing
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
                paired: self.drop_rows,
                ..SampleFilter::default()
            },
            confidence_level: self.confidence_level,
            resamples: self.resamples,
            seed: self.seed,
            place: self.place,
            facts: self.facts,
            save_baseline: self.save_baseline,
            runs: self.runs,
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
