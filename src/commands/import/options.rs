//! Options of `store import`.

use clap::Args;
use std::path::PathBuf;

use crate::config::parse_confidence_level;
use crate::interchange::{FileFormat, TableLayout, ValueUnit};
use crate::options::{OutlierWords, parse_outliers};
use crate::pipeline::prepare::TargetName;
use perfcheck_analysis::model::{Outliers, SampleFilter, SourceInterval, Thresholds};

const AFTER_HELP: &str = "\
Examples:
  cargo perfcheck store import main.jsonl                        import what `store export` wrote elsewhere; no run is stored twice
  cargo perfcheck store import target/criterion                  import each Criterion baseline as a run of that name
  cargo perfcheck store import target/criterion --run base --save-baseline before
  hyperfine --export-json - ./a ./b | cargo perfcheck store import -
  cargo bench -- --output-format bencher | cargo perfcheck store import - --save-baseline old

The column map of a table says what each column means. It is a comma-separated list of KEY=COLUMN pairs. COLUMN is a name from the first line, or a number such as `#1`.
  id=A/B/C        the benchmark's id, made of one or several columns
  value=T         the measured value; `value=T[ms]` sets its unit. With several value columns, each row has a benchmark for each of them;
                  its id ends with the column's name. With `value.ser=T`, it ends with `ser` instead.
  repetition=R    the row's number within its process, used to order rows and find duplicates
  process=P       process or session of the row; rows of different files never share a process
  iterations=N    number of iterations; the row's values are totals over all of them
  unit=U          the unit of the row's values
  dimension=D     another fact about the benchmark, the same in all its rows: a dimension for pivots, not part of the id

Units: ns, us, ms, s, min, ticks:100ns; rates such as ops/s, bytes/s, MiB/s; amounts: bytes, KiB, instructions, cycles, allocations, amount:NAME.

Tables:
  cargo perfcheck store import log.csv --columns id=Serializer/TestData/Mode,value.ser=TimeSer,value.deser=TimeDeser,repetition=Repetition \\
      --unit ticks:100ns --drop-first --save-baseline v1
  cargo perfcheck store import day1.csv day2.csv day3.csv --columns id=name,value=ns --unit ns   each file is a process
  perf-tool | cargo perfcheck store import - --no-header --columns id=#1,value=#2 --unit ops/s
  cargo perfcheck compare v1 latest                                                        compare two imports

Exit status: 0 success; 2 usage error, or a file cannot be read (nothing is stored); 5 store unusable; 130 interrupted.";

/// A fact about the environment of imported measurements, as the user states it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatedFact {
    /// The name of the fact.
    pub name: String,
    /// The value of the fact.
    pub value: String,
}

/// Options of `store import`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = AFTER_HELP)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub struct ImportOptions {
    /// Import these files or Criterion directories; different files count as different processes; `-` is stdin
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Read the files in this format [default: csv with --columns, otherwise detected]
    #[arg(long, value_name = "FMT")]
    pub format: Option<FileFormat>,
    /// For csv: say what the columns mean (repeatable); --help explains MAP
    #[arg(long, value_name = "MAP")]
    pub columns: Vec<String>,
    /// Read values in this unit unless the column map sets another unit
    #[arg(long, value_name = "UNIT", value_parser = str::parse::<ValueUnit>)]
    pub unit: Option<ValueUnit>,
    /// Guess and print the unit: ticks of 100 ns if `Language` (a column of the id or a dimension) is csharp or, without that column, if the
    /// median is above a million; otherwise nanoseconds
    #[arg(long, conflicts_with = "unit")]
    pub guess_units: bool,
    #[command(flatten)]
    pub(super) layout: TableLayout,
    /// Skip unreadable rows, and count them
    #[arg(long)]
    pub lenient: bool,
    /// Treat the first repetition of each process as warm-up; same as `first` in `--outliers`
    #[arg(long)]
    pub drop_first: bool,
    /// Leave these outliers out of summaries; all values are still stored and used in tests
    #[arg(long, value_name = "POLICY[,first]", default_value = "none", value_parser = OutlierWords(with_fences))]
    pub outliers: SampleFilter,
    /// Leave out the whole row if any of its values is an outlier
    #[arg(long)]
    pub drop_rows: bool,
    /// Set the confidence level of intervals of means [default: 95%, or `import-level` in the `thresholds` table]
    #[arg(long, value_name = "FRACTION", value_parser = parse_confidence_level)]
    pub confidence_level: Option<f64>,
    /// Draw N bootstrap resamples for intervals of means [default: 2000, or `import-resamples` in the `thresholds` table]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    pub resamples: Option<u32>,
    /// Seed the resampling for intervals of means; each benchmark derives its own seed from this one [default: 42, or `import-seed` in the
    /// `thresholds` table]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Store the benchmarks under this package and bench target; comparisons match benchmarks by package, target and id [default: imported/FMT]
    #[arg(long = "as", value_name = "PACKAGE/TARGET", value_parser = place)]
    pub(super) place: Option<TargetName>,
    /// State a fact about the measurement (repeatable), e.g. cpu=NAME, profile=release or host=dedicated (nobody else used the machine); runs
    /// whose facts differ are not comparable
    #[arg(long = "fact", value_name = "KEY=VALUE", value_parser = fact)]
    pub facts: Vec<StatedFact>,
    /// Save the imported run as the baseline NAME
    #[arg(short, long, value_name = "NAME")]
    pub save_baseline: Option<String>,
    /// Import only the run with this name (repeatable)
    #[arg(long = "run", value_name = "NAME")]
    pub runs: Vec<String>,
    /// Move existing baselines to the imported runs of the same name
    #[arg(long)]
    pub move_names: bool,
    /// Print what would be stored, but store nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
}

impl ImportOptions {
    /// Returns the filter for all summaries of the run. If it has no fence of its own, the workspace's threshold applies later.
    pub(super) fn filter(&self) -> SampleFilter {
        SampleFilter {
            drop_first: self.drop_first || self.outliers.drop_first,
            paired: self.drop_rows,
            ..self.outliers
        }
    }

    /// Returns how the confidence intervals of means are computed.
    pub(super) fn interval(&self, thresholds: &Thresholds) -> SourceInterval {
        SourceInterval {
            confidence_level: self.confidence_level.unwrap_or(thresholds.import_level),
            resamples: self.resamples.unwrap_or(thresholds.import_resamples as u32),
            seed: self.seed.unwrap_or(thresholds.import_seed as u64),
        }
    }
}

/// Parses the value of `--outliers`. Besides the usual policies, it accepts the names of a published method for comparing serializers, which also set
/// the fence (a multiple of the IQR or MAD).
fn with_fences(text: &str) -> Result<SampleFilter, String> {
    let (policy, fence) = match text {
        "all" => (Outliers::Keep, None),
        "iqr_1.5" => (Outliers::Iqr, Some(1.5)),
        "iqr_3" => (Outliers::Iqr, Some(3.0)),
        "mad_3" => (Outliers::Mad, Some(3.0)),
        "winsorize_5_95" => (Outliers::Winsorized, None),
        words => return parse_outliers(words),
    };
    Ok(SampleFilter {
        outliers: policy,
        fence,
        ..SampleFilter::default()
    })
}

fn place(text: &str) -> Result<TargetName, String> {
    match text.split_once('/') {
        Some((package, target)) if !package.is_empty() && !target.is_empty() => Ok(TargetName {
            package: package.to_owned(),
            target: target.to_owned(),
        }),
        _ => Err("expected PACKAGE/TARGET, such as `imported/serializers`".to_owned()),
    }
}

fn fact(text: &str) -> Result<StatedFact, String> {
    let (name, value) = text
        .split_once('=')
        .ok_or("expected KEY=VALUE, such as `cpu=Ryzen 7 5800X`")?;
    Ok(StatedFact {
        name: name.trim().to_owned(),
        value: value.to_owned(),
    })
}
