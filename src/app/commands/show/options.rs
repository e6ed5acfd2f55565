//! Options of `show`.

use clap::Args;

use crate::app::deliver::reports::{ReportRequest, RequestedReportKind};
use crate::app::words::{OutlierWords, parse_outliers, word_parser};
use perfcheck_analysis::model::{Analysis, Quantile, SampleFilter, System, TrimmedError};

const AFTER_SHOW: &str = "\
Examples:
  cargo perfcheck show                        the latest run, as a table
  cargo perfcheck show main --stats           every statistic of run `main`
  cargo perfcheck show 12 --stats --sort worst
  cargo perfcheck show 12 --stats --outliers iqr --quantile inverted-cdf
                                              describe the samples that the policy leaves as NBenchmark does
  cargo perfcheck show 12 sort/10             one benchmark of run 12
  cargo perfcheck show latest sort/10 --report svg=sort.svg
                                              a picture: density with the samples, slope, processes
  cargo perfcheck show @3f2a91 --stats --message-format json

Exit status: 0, 2 usage or no such benchmark, 5 store or file unusable, 6 no such run.";

/// Options of `show`.
#[derive(Debug, Clone, Args)]
#[command(after_long_help = AFTER_SHOW)]
pub struct ShowOptions {
    /// Show this run: a number, baseline, `latest` or `@commit`
    #[arg(default_value = "latest", allow_negative_numbers = true)]
    pub(super) run: String,
    /// Show only this benchmark: its id, the name of a bench target with one benchmark, or a part of the id
    pub(super) bench: Option<String>,
    /// Print every statistic: standard error and t interval over processes, percentiles, MAD, slope, outliers, verdict with its p-value
    #[arg(long)]
    pub(super) stats: bool,
    /// Leave out these outliers before samples are summarized [default: as in the run]
    #[arg(long, value_name = "POLICY[,first]", requires = "stats", value_parser = OutlierWords(parse_outliers))]
    pub(super) outliers: Option<SampleFilter>,
    /// Define quantiles of these samples this way [default: as in the run]
    #[arg(long, value_name = "DEFINITION", requires = "stats", value_parser = word_parser::<Quantile>(Quantile::WORDS))]
    pub(super) quantile: Option<Quantile>,
    /// Compute the standard error of a mean without outliers by this rule [default: as in the run]
    #[arg(long, value_name = "RULE", requires = "stats", value_parser = word_parser::<TrimmedError>(TrimmedError::WORDS))]
    pub(super) trimmed_error: Option<TrimmedError>,
    /// Summarize samples as another system does [default: as in the run]
    #[arg(long, value_name = "SYSTEM", requires = "stats", value_parser = word_parser::<System>(System::WORDS))]
    pub(super) method: Option<System>,
    /// Draw one benchmark to FILE or stdout: density with samples, time against iterations with the slope, processes
    #[arg(long = "report", value_name = "svg[=FILE]", conflicts_with = "stats", value_parser = picture)]
    pub(super) picture: Option<ReportRequest>,
}

impl ShowOptions {
    /// Returns the analysis for describing samples; `None` to use the settings of the run.
    pub(super) fn explicit_analysis(&self) -> Option<Analysis> {
        let is_said = self.outliers.is_some()
            || self.quantile.is_some()
            || self.trimmed_error.is_some()
            || self.method.is_some();
        let of_method = self
            .method
            .map(|method| method.decision_settings().analysis);
        let base = of_method.unwrap_or_default();
        let said = self.outliers.map(|said| (said.outliers, said.drop_first));
        let (outliers, drop_first) = said.unwrap_or((base.outliers, base.drop_first));
        is_said.then(|| Analysis {
            outliers,
            drop_first,
            quantile: self.quantile.or(base.quantile),
            trimmed_error: self.trimmed_error.unwrap_or(base.trimmed_error),
            ..Analysis::default()
        })
    }
}

fn picture(text: &str) -> Result<ReportRequest, String> {
    let wanted: ReportRequest = text.parse()?;
    if wanted.kind == RequestedReportKind::Picture {
        Ok(wanted)
    } else {
        Err(
            "a run has one form to be shown in, svg; `cargo perfcheck report` writes others"
                .to_owned(),
        )
    }
}
