//! Flags that choose the published systems' statistics, and rules that benchmarks must keep.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use std::ffi::OsStr;
use std::marker::PhantomData;
use std::str::FromStr;

use crate::app::AnalysisOptions;
use perfcheck_analysis::findings::Limit;
use perfcheck_analysis::model::{
    FamilyRule, Observations, Outliers, QuantileRule, RankP, Statistic, StatisticSet, System, Test,
    Words,
};

/// The policy that goes with any other.
const FIRST: &str = "first";
const FIRST_HELP: &str =
    "The first sample of each launch goes, before any other rule (serializers)";

fn possible(known: Words) -> impl Iterator<Item = PossibleValue> {
    known
        .iter()
        .map(|(word, help)| PossibleValue::new(*word).help(*help))
}

pub(super) fn words<T>(known: Words) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = String> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(possible(known))
        .try_map(|word| word.parse::<T>().map_err(std::io::Error::other))
}

/// The statistics that are for this.
fn statistics(set: StatisticSet) -> impl TypedValueParser<Value = Statistic> {
    let known = set.named().iter();
    PossibleValuesParser::new(known.map(|one| PossibleValue::new(one.to_string()).help(one.help())))
        .try_map(move |word| Statistic::read(&word, set).map_err(std::io::Error::other))
}

/// What is done about outliers: one policy, and whether the first samples go before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Policies {
    pub(super) policy: Outliers,
    pub(super) drop_first: bool,
}

impl FromStr for Policies {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut policy = None;
        let mut drop_first = false;
        for word in text.split(',').map(str::trim) {
            if word == FIRST {
                drop_first = true;
            } else if let Some(before) = policy.replace(word.parse::<Outliers>()?) {
                return Err(format!(
                    "`{before}` and `{word}` are two policies: only `{FIRST}` goes with another one"
                ));
            }
        }
        Ok(Self {
            policy: policy.unwrap_or(Outliers::Keep),
            drop_first,
        })
    }
}

/// Several words are one value, of which the help lists each.
#[derive(Debug, Clone, Copy)]
pub(super) struct OutlierWords<T>(PhantomData<fn() -> T>);

pub(super) fn outlier_words<T>() -> OutlierWords<T> {
    OutlierWords(PhantomData)
}

impl<T> TypedValueParser for OutlierWords<T>
where
    T: FromStr<Err = String> + Clone + Send + Sync + 'static,
{
    type Value = T;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        StringValueParser::new()
            .try_map(|text| text.parse::<T>().map_err(std::io::Error::other))
            .parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let first = PossibleValue::new(FIRST).help(FIRST_HELP);
        Some(Box::new(possible(Outliers::WORDS).chain([first])))
    }
}

/// Statistics of the published systems, in place of the tool's own.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Statistics of other systems")]
pub(super) struct AnalysisFlags {
    /// Decide about stored runs by this test [default: bootstrap-t]
    #[arg(long, value_name = "TEST", value_parser = words::<Test>(Test::WORDS), conflicts_with = "ignore_drift", hide_default_value = true)]
    test: Option<Test>,
    /// Decide as another system does
    ///
    /// Other flags change single conventions of it. By default the tool decides by its own statistics.
    #[arg(long, help_heading = "Comparison options", value_name = "SYSTEM", value_parser = words::<System>(System::WORDS), conflicts_with = "ignore_drift")]
    method: Option<System>,
    /// Print every setting of --method, with overrides from flags and Cargo.toml; measure nothing
    #[arg(long)]
    pub(super) explain: bool,
    /// Count these as single observations of the test [default: launches]
    #[arg(long, value_name = "UNIT", value_parser = words::<Observations>(Observations::WORDS))]
    observations: Option<Observations>,
    /// Leave these outliers out of the summary; tests are of all samples [default: none]
    #[arg(long, value_name = "POLICY[,first]", value_parser = outlier_words::<Policies>())]
    outliers: Option<Policies>,
    /// Summarize a process, and a side, by this statistic [default: mean; of ranks median]
    #[arg(long, visible_alias = "centre", value_name = "CENTER", value_parser = statistics(StatisticSet::Centers))]
    center: Option<Statistic>,
    /// Define quantiles of the summary, of medians and of p95-ratio so
    #[arg(long, value_name = "DEFINITION", value_parser = words::<QuantileRule>(QuantileRule::WORDS))]
    quantile: Option<QuantileRule>,
    /// Correct for the number of benchmarks by this rule [default: holm]
    #[arg(long, value_name = "RULE", value_parser = words::<FamilyRule>(FamilyRule::WORDS))]
    correction: Option<FamilyRule>,
    /// Compute the p of mann-whitney so [default: auto]
    #[arg(long, value_name = "METHOD", value_parser = words::<RankP>(RankP::WORDS))]
    rank_p: Option<RankP>,
    /// Judge this metric [default: time]
    #[arg(long, value_name = "METRIC", value_parser = statistics(StatisticSet::Metrics))]
    metric: Option<Statistic>,
    #[command(flatten)]
    pub(super) limits: LimitFlag,
}

/// Which limits benchmarks must keep.
#[derive(Debug, Clone, Args)]
pub(super) struct LimitFlag {
    /// Fail beyond a limit, e.g. median:5%, allocations:0 (repeatable)
    #[arg(long = "limit", value_name = "RULE", help_heading = "Comparison options", value_parser = Limit::from_str, long_help = LIMIT_HELP)]
    pub(super) limits: Vec<Limit>,
}

const LIMIT_HELP: &str = "\
Fail (exit status 1) where a statistic exceeds a limit: [PATTERN=]STATISTIC:LIMIT; may be given more than once

A limit in percent is about the change against the reference and fails if the whole interval of the change lies above it. Any other limit is about the value itself and fails if its whole interval lies above. PATTERN is a glob on ids.

STATISTIC is one of time, mean, median, slope, std-dev, mad; instructions; allocations, bytes, peak; p50, p95, p99, p99.9, max (of single operations).

  --limit median:5%            no benchmark more than 5 % slower
  --limit 'parse/*=p99:2ms'    99 % of the operations of `parse/...` within 2 ms
  --limit instructions:1%      no benchmark with more than 1 % more instructions
  --limit allocations:0        no allocations
  --limit bytes:1KiB           at most 1024 bytes an iteration

`limit = [\"median:5%\"]` in a table of Cargo.toml does the same.";

impl AnalysisFlags {
    /// What was chosen.
    pub(super) fn options(&self) -> AnalysisOptions {
        AnalysisOptions {
            method: self.method,
            test: self.test,
            observations: self.observations,
            outliers: (self.outliers).map(|found| (found.policy, found.drop_first)),
            center: self.center,
            quantile: self.quantile,
            correction: self.correction,
            p: self.rank_p,
            subject: self.metric,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_may_go_with_first_and_with_no_other_one() {
        let policies = |policy, drop_first| Ok(Policies { policy, drop_first });
        assert_eq!("first".parse(), policies(Outliers::Keep, true));
        assert_eq!("iqr,first".parse(), policies(Outliers::Iqr, true));
        assert_eq!("mad".parse(), policies(Outliers::Mad, false));
        let two = "iqr,mad".parse::<Policies>().expect_err("two policies");
        assert!(two.contains("`iqr` and `mad` are two policies"), "{two}");
        assert!("tukey".parse::<Policies>().is_err());
    }
}
