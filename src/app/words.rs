//! How clap reads the words of types that the crates below define, each word with its help.

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use std::ffi::OsStr;
use std::io;
use std::ops::RangeInclusive;
use std::str::FromStr;

use perfcheck_analysis::model::{Outliers, SampleFilter, Statistic, StatisticSet, Words};

/// The policy that goes with any other.
const FIRST: &str = "first";
const FIRST_HELP: &str =
    "The first sample of each launch goes, before any other rule (serializers)";

/// A range as clap takes it.
pub fn range(limits: RangeInclusive<u32>) -> RangeInclusive<i64> {
    let (least, most) = limits.into_inner();
    least.into()..=most.into()
}

fn possible(known: Words) -> impl Iterator<Item = PossibleValue> {
    known
        .iter()
        .map(|(word, help)| PossibleValue::new(*word).help(*help))
}

/// Reads a word of an enum that lists its own.
pub fn words<T>(known: Words) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = String> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(possible(known))
        .try_map(|word| word.parse::<T>().map_err(io::Error::other))
}

/// Reads a statistic that is for this.
pub(super) fn statistics(set: StatisticSet) -> impl TypedValueParser<Value = Statistic> {
    let known = set.named().iter();
    PossibleValuesParser::new(known.map(|one| PossibleValue::new(one.to_string()).help(one.help())))
        .try_map(move |word| Statistic::read(&word, set).map_err(io::Error::other))
}

/// What `--outliers` says: one policy, and whether first samples go before it.
pub fn outliers(text: &str) -> Result<SampleFilter, String> {
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

/// Reads policies by this function. Several words are one value, of which the help lists each.
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
        Some(Box::new(possible(Outliers::WORDS).chain([first])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_may_go_with_first_and_with_no_other_one() {
        let read = |text| outliers(text).map(|found| (found.outliers, found.drop_first));
        assert_eq!(read("first"), Ok((Outliers::Keep, true)));
        assert_eq!(read("iqr,first"), Ok((Outliers::Iqr, true)));
        assert_eq!(read("mad"), Ok((Outliers::Mad, false)));
        let two = read("iqr,mad").expect_err("two policies");
        assert!(two.contains("`iqr` and `mad` are two policies"), "{two}");
        assert!(read("tukey").is_err());
    }
}
