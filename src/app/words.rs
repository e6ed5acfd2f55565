//! Adapters with which clap parses the words of types from the crates below, each word with its help.

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use std::ffi::OsStr;
use std::io;
use std::ops::RangeInclusive;
use std::str::FromStr;

use perfcheck_analysis::model::{Outliers, SampleFilter, Statistic, StatisticSet, WordMeanings};

/// The word that may accompany any other policy: drop first samples.
const FIRST: &str = "first";
const FIRST_HELP: &str =
    "The first sample of each launch goes, before any other rule (serializers)";

/// Converts a range to the type that clap expects.
pub fn clap_range(limits: RangeInclusive<u32>) -> RangeInclusive<i64> {
    let (least, most) = limits.into_inner();
    least.into()..=most.into()
}

fn list_possible_values(known: WordMeanings) -> impl Iterator<Item = PossibleValue> {
    known
        .iter()
        .map(|(word, help)| PossibleValue::new(*word).help(*help))
}

/// Returns a clap parser for an enum that lists its own words.
pub fn word_parser<T>(known: WordMeanings) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = String> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(list_possible_values(known))
        .try_map(|word| word.parse::<T>().map_err(io::Error::other))
}

/// Returns a clap parser for the statistics of a set.
pub(super) fn statistic_parser(set: StatisticSet) -> impl TypedValueParser<Value = Statistic> {
    let known = set.statistics().iter();
    PossibleValuesParser::new(known.map(|one| PossibleValue::new(one.to_string()).help(one.help())))
        .try_map(move |word| Statistic::parse(&word, set).map_err(io::Error::other))
}

/// Parses the value of `--outliers`: one policy, optionally with `first`, which drops first samples before it.
pub fn parse_outliers(text: &str) -> Result<SampleFilter, String> {
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
    Ok(SampleFilter {
        outliers: policy.unwrap_or(Outliers::Keep),
        drop_first,
        ..SampleFilter::default()
    })
}

/// A clap parser that reads outlier policies with this function. The value may consist of several words; the help lists each word.
#[derive(Debug, Clone, Copy)]
pub struct OutlierWords(pub fn(&str) -> Result<SampleFilter, String>);

impl TypedValueParser for OutlierWords {
    type Value = SampleFilter;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<SampleFilter, clap::Error> {
        let read = self.0;
        StringValueParser::new()
            .try_map(move |text| read(&text).map_err(io::Error::other))
            .parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let first = PossibleValue::new(FIRST).help(FIRST_HELP);
        Some(Box::new(
            list_possible_values(Outliers::WORDS).chain([first]),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_may_go_with_first_and_with_no_other_one() {
        let read = |text| parse_outliers(text).map(|found| (found.outliers, found.drop_first));
        assert_eq!(read("first"), Ok((Outliers::Keep, true)));
        assert_eq!(read("iqr,first"), Ok((Outliers::Iqr, true)));
        assert_eq!(read("mad"), Ok((Outliers::Mad, false)));
        let two = read("iqr,mad").expect_err("two policies");
        assert!(two.contains("`iqr` and `mad` are two policies"), "{two}");
        assert!(read("tukey").is_err());
    }
}
