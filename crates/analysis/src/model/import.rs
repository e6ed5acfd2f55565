//! Types for imported runs: where the numbers came from, which samples are left out of summaries, and the files and messages of Criterion.
//!
//! This module has only types. The code that uses them decides which file or message to read. An import stores all samples, and tests use all of them
//! unless the user chooses `Observations::Filtered`. The types for Criterion describe the files that criterion 0.2 to 0.8 writes, and the messages
//! that it sends to a runner. A throughput of an unknown kind is kept as text.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::{Outliers, Thresholds, Throughput};

/// Where the data of an imported run came from, and how they were read: all that is needed to repeat the import.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Source {
    /// Name of the file format, e.g. `csv`.
    pub format: String,
    /// The files that were read, in the order in which they were given.
    pub files: Vec<SourceFile>,
    /// The column map, in the syntax of the option that declares it. Empty if the format needs no column map.
    pub columns: String,
    /// Names of the parts that make up the id of each benchmark, in their order. The parts are joined with `/`, and a `/` within a part is written
    /// as `%2F`. Empty if there is no column map.
    pub id_parts: Vec<String>,
    /// Columns that label the benchmarks without being part of their ids.
    pub dimensions: Vec<SourceDimension>,
    /// The columns that were read as values, with their units.
    pub values: Vec<SourceValue>,
    /// Whether the data say which process each value comes from. If not, all values are treated as those of one process, and repeated values are not
    /// independent evidence.
    pub processes_known: bool,
    /// The filter that selects the samples for statistics that describe the run, such as means. If the filter drops the first sample of each process,
    /// the import stores this sample as the warm-up of the process.
    pub filter: SampleFilter,
    /// Parameters of the confidence intervals that the command `import` prints for means.
    pub interval: SourceInterval,
    /// How many values were read, left out and kept, summed over all benchmarks.
    pub counts: SampleCounts,
    /// Number of rows that could not be read and were skipped. It is 0 without the option `--lenient`.
    pub rows_skipped: u64,
}

/// Restores the cell text of an imported id or id part: each `%2F` becomes `/`, and each `%252` becomes `%2`.
pub fn as_in_cells(id: &str) -> String {
    id.replace("%2F", "/").replace("%252", "%2")
}

/// Parameters of the confidence intervals of means, which are percentile bootstrap intervals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourceInterval {
    /// The confidence level, as a fraction.
    pub confidence_level: f64,
    /// The number of bootstrap resamples.
    pub resamples: u32,
    /// The seed of the random numbers. The seed of each benchmark is derived from it.
    pub seed: u64,
}

/// A column that labels benchmarks without being part of their ids, such as the language of an implementation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourceDimension {
    /// Name of the column, or its number written as `#3`.
    pub name: String,
    /// The label that the column gives to each benchmark, by the benchmark's id.
    pub labels: BTreeMap<String, String>,
}

/// A file that an import read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourceFile {
    /// Name of the file without its directories, or `-` for the standard input.
    pub name: String,
    /// BLAKE3 hash of the file's content, in hexadecimal digits.
    pub blake3: String,
    /// Size of the file in bytes.
    pub bytes: u64,
}

/// A column of a file whose cells were read as measured values.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SourceValue {
    /// The values in this column belong to benchmarks whose ids end with this label. Null if the column adds no part to the ids.
    pub label: Option<String>,
    /// Name of the column, or its number written as `#3`.
    pub column: String,
    /// Unit of the values, if it was declared or the file format defines it. Otherwise it is `by row` if another column gives the unit of each row,
    /// and `guessed` if the import had to guess the unit.
    pub unit: String,
}

impl Source {
    /// Describes the source for people: `csv: a.csv, b.csv`.
    pub fn summary(&self) -> String {
        let names: Vec<&str> = self.files.iter().map(|file| file.name.as_str()).collect();
        match names[..] {
            [first, second, third, _, ..] => format!(
                "{}: {first}, {second}, {third} and {} more",
                self.format,
                names.len() - 3
            ),
            _ => format!("{}: {}", self.format, names.join(", ")),
        }
    }
}

/// Says which samples are left out of statistics that describe a run, such as means. The filter of an import is stored with its run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SampleFilter {
    /// Whether the first sample of each process is left out, before outliers are searched. A process that has only one sample keeps it.
    pub drop_first: bool,
    /// Which samples are outliers. The rule is applied to the samples of all processes of a benchmark together.
    pub outliers: Outliers,
    /// How far the fence beyond which samples are outliers lies from the quartile (in interquartile ranges) or from the median (in scaled MADs). Null
    /// if the rule in `outliers` has no fence.
    pub fence: Option<f64>,
    /// The fewest samples with which the rule `iqr` (interquartile ranges) is applied. If a benchmark has fewer samples, the rule leaves out none.
    pub min_samples: u32,
    /// Whether a row of the file is left out in all value columns if its value in one of them is an outlier.
    pub paired: bool,
}

impl Default for SampleFilter {
    /// Returns a filter that keeps everything.
    fn default() -> Self {
        Self {
            drop_first: false,
            outliers: Outliers::Keep,
            fence: None,
            min_samples: 1,
            paired: false,
        }
    }
}

impl SampleFilter {
    /// Returns this filter with the values of `thresholds` filled in: the fewest samples for the `iqr` rule, and the fence of the outlier rule unless
    /// this filter has a fence already.
    #[must_use]
    pub fn with_fence_from(self, thresholds: &Thresholds) -> Self {
        Self {
            fence: match self.outliers {
                Outliers::Iqr => Some(self.fence.unwrap_or(thresholds.iqr_fence)),
                Outliers::Mad => Some(self.fence.unwrap_or(thresholds.mad_fence)),
                _ => None,
            },
            min_samples: thresholds.iqr_min_samples as u32,
            ..self
        }
    }

    /// Reports whether the filter can leave samples out.
    pub fn leaves_out(&self) -> bool {
        self.drop_first || self.outliers != Outliers::Keep
    }

    /// Names the outlier rule and its fence as the serializer benchmarks do: `iqr_1.5`. If whole rows are left out, `, paired` follows.
    pub fn policy_name(&self) -> String {
        let paired = if self.paired { ", paired" } else { "" };
        match self.fence {
            Some(fence) => format!("{}_{fence}{paired}", self.outliers),
            None => format!("{}{paired}", self.outliers),
        }
    }
}

/// How many samples a filter kept and left out. The numbers satisfy `runs_raw = runs + warmup_skipped + outliers_removed`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SampleCounts {
    /// Number of samples before filtering.
    pub runs_raw: u64,
    /// Number of samples that were left out as warm-up, which are the first of each process.
    pub warmup_skipped: u64,
    /// Number of samples that were left out as outliers. They are stored, and tests use them, but statistics that describe the run do not.
    pub outliers_removed: u64,
    /// Number of samples that were kept.
    pub runs: u64,
}

impl SampleCounts {
    /// Writes the counts as an equation.
    pub fn describe(&self) -> String {
        format!(
            "runs_raw {} = runs {} + warmup_skipped {} + outliers_removed {}",
            self.runs_raw, self.runs, self.warmup_skipped, self.outliers_removed
        )
    }
}

impl std::iter::Sum for SampleCounts {
    fn sum<I: Iterator<Item = Self>>(each: I) -> Self {
        each.fold(Self::default(), |sum, one| Self {
            runs_raw: sum.runs_raw + one.runs_raw,
            warmup_skipped: sum.warmup_skipped + one.warmup_skipped,
            outliers_removed: sum.outliers_removed + one.outliers_removed,
            runs: sum.runs + one.runs,
        })
    }
}

/// A filter of samples, with the numbers of samples that it kept and left out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilterReport {
    /// The filter that was applied.
    pub filter: SampleFilter,
    /// How many samples the filter kept and left out.
    pub counts: SampleCounts,
}

impl FilterReport {
    /// Writes the counts as an equation, followed by the name of the outlier rule in parentheses.
    pub fn describe(&self) -> String {
        format!("{} ({})", self.counts.describe(), self.filter.policy_name())
    }
}

/// The samples of a measurement that remain after a filter was applied.
#[derive(Debug, Clone, PartialEq)]
pub struct FilteredSamples {
    /// The filter, with the numbers of samples that it kept and left out.
    pub left_out: FilterReport,
    /// The values per iteration that remain in each process.
    pub processes: Vec<Vec<f64>>,
    /// Whether the import stored the first sample of each process as its warm-up, outside the samples that decide.
    pub first_apart: bool,
}

/// The content of `benchmark.json`, the last file that Criterion writes about a benchmark.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct CriterionBenchmark {
    /// The full id: group, function and parameter.
    pub full_id: String,
    /// The full id, shortened if it is long, with a suffix such as ` #2` if an earlier benchmark has the same id.
    #[serde(default)]
    pub title: Option<String>,
    /// The work of one iteration.
    #[serde(default)]
    pub throughput: Option<DeclaredThroughput>,
}

/// The content of `sample.json`. It is an object or, before criterion 0.3.3, an array of `iters` and `times`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct CriterionSamples {
    /// Iterations of each sample.
    pub iters: Vec<f64>,
    /// The measured value of each sample, in the unit of the measurement.
    pub times: Vec<f64>,
    /// The sampling mode: how iterations were distributed over samples.
    #[serde(default = "default_sampling_mode")]
    pub sampling_mode: String,
}

/// Returns the only sampling mode before criterion 0.3.3.
fn default_sampling_mode() -> String {
    "Linear".to_owned()
}

/// A throughput that the author of a Criterion bench declared. Any value can be read, because later versions of Criterion may add variants to the
/// format.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum DeclaredThroughput {
    /// A whole number.
    Count(u64),
    /// Another number.
    Number(f64),
    /// A text.
    Text(String),
    /// A JSON object. It has either the kind of the throughput as its only key, as in `{"Bytes":10}`, or one key for each number of such a kind.
    Members(BTreeMap<String, DeclaredThroughput>),
    /// Any other value.
    Other(IgnoredAny),
}

impl DeclaredThroughput {
    /// Returns the throughput if its kind is known, as in `{"Bytes":10}` or `{"ElementsAndBytes":{"elements":3,"bytes":9}}`.
    pub fn throughput(&self) -> Option<Throughput> {
        let (kind, content) = match self {
            Self::Members(members) if members.len() == 1 => members.first_key_value()?,
            _ => return None,
        };
        let mut throughput = Throughput::default();
        match (kind.as_str(), content) {
            ("Bytes" | "BytesDecimal", Self::Count(bytes)) => throughput.bytes = Some(*bytes),
            ("Bits", Self::Count(bits)) if bits % 8 == 0 => throughput.bytes = Some(bits / 8),
            ("Elements", Self::Count(elements)) => throughput.elements = Some(*elements),
            ("ElementsAndBytes", Self::Members(parts)) => {
                for (name, part) in parts {
                    match (name.as_str(), part) {
                        ("elements", Self::Count(elements)) => {
                            throughput.elements = Some(*elements);
                        }
                        ("bytes", Self::Count(bytes)) => throughput.bytes = Some(*bytes),
                        _ => return None,
                    }
                }
            }
            _ => return None,
        }
        Some(throughput)
    }

    /// Describes the value as its author would recognize it, e.g. `Frames(3)`.
    pub fn describe(&self) -> String {
        match self {
            Self::Count(count) => count.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
            Self::Members(members) => {
                let words = members
                    .iter()
                    .map(|(name, content)| format!("{name}({})", content.describe()));
                words.collect::<Vec<_>>().join(", ")
            }
            Self::Other(_) => "?".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::value::{Error as ValueError, MapDeserializer};

    #[test]
    fn a_filter_has_the_fence_of_its_kind_of_outliers_unless_it_says_its_own() {
        let mut thresholds = Thresholds::default();
        for (name, value) in [("iqr-fence", 2.0), ("mad-fence", 4.0)] {
            thresholds.set(name, value).expect("in range");
        }
        let fence = |outliers, fence| {
            let filter = SampleFilter {
                outliers,
                fence,
                ..SampleFilter::default()
            };
            filter.with_fence_from(&thresholds).fence
        };
        assert_eq!(fence(Outliers::Iqr, None), Some(2.0));
        assert_eq!(fence(Outliers::Mad, None), Some(4.0));
        assert_eq!(fence(Outliers::Iqr, Some(3.0)), Some(3.0));
        assert_eq!(fence(Outliers::Mad, Some(3.0)), Some(3.0));
        assert_eq!(fence(Outliers::Keep, Some(3.0)), None);
    }

    #[test]
    fn counts_of_samples_add_up() {
        let counts = |runs_raw, warmup_skipped, outliers_removed, runs| SampleCounts {
            runs_raw,
            warmup_skipped,
            outliers_removed,
            runs,
        };
        let sum: SampleCounts = [counts(10, 1, 2, 7), counts(30, 3, 5, 22)]
            .into_iter()
            .sum();
        assert_eq!(sum, counts(40, 4, 7, 29));
    }

    #[test]
    fn throughputs_that_criterion_knows_are_numbers_and_others_are_none() {
        let members = |parts: &[(&str, DeclaredThroughput)]| {
            let parts = parts.iter().cloned();
            DeclaredThroughput::Members(parts.map(|(name, part)| (name.to_owned(), part)).collect())
        };
        let count = DeclaredThroughput::Count;
        let found = |parts: &[(&str, DeclaredThroughput)]| {
            let throughput = members(parts).throughput()?;
            Some((throughput.bytes, throughput.elements))
        };
        assert_eq!(found(&[("Bytes", count(10))]), Some((Some(10), None)));
        assert_eq!(
            found(&[("BytesDecimal", count(10))]),
            Some((Some(10), None))
        );
        assert_eq!(found(&[("Bits", count(24))]), Some((Some(3), None)));
        assert_eq!(found(&[("Bits", count(25))]), None);
        assert_eq!(found(&[("Elements", count(7))]), Some((None, Some(7))));
        let both = members(&[("elements", count(3)), ("bytes", count(9))]);
        assert_eq!(
            found(&[("ElementsAndBytes", both)]),
            Some((Some(9), Some(3)))
        );
        let other = members(&[("elements", count(3)), ("frames", count(9))]);
        assert_eq!(found(&[("ElementsAndBytes", other)]), None);
        assert_eq!(found(&[("Frames", count(3))]), None);
        assert_eq!(
            found(&[("Bytes", count(10)), ("Elements", count(7))]),
            None,
            "a kind is one member"
        );
        assert_eq!(count(10).throughput(), None);
    }

    #[test]
    fn a_throughput_of_an_unknown_kind_is_described_as_its_author_wrote_it() {
        let frames = DeclaredThroughput::Members(
            [("Frames".to_owned(), DeclaredThroughput::Count(3))].into(),
        );
        assert_eq!(frames.describe(), "Frames(3)");
        assert_eq!(DeclaredThroughput::Number(1.5).describe(), "1.5");
        assert_eq!(
            DeclaredThroughput::Text("much".to_owned()).describe(),
            "much"
        );
    }

    #[test]
    fn a_source_is_named_by_its_format_and_its_first_three_files() {
        let summary = |names: &[&str]| {
            let file = |name: &&str| SourceFile {
                name: (*name).to_owned(),
                ..SourceFile::default()
            };
            let source = Source {
                format: "csv".to_owned(),
                files: names.iter().map(file).collect(),
                ..Source::default()
            };
            source.summary()
        };
        assert_eq!(summary(&["a.csv"]), "csv: a.csv");
        assert_eq!(summary(&["a", "b", "c"]), "csv: a, b, c");
        assert_eq!(summary(&["a", "b", "c", "d"]), "csv: a, b, c and 1 more");
        assert_eq!(
            summary(&["a", "b", "c", "d", "e"]),
            "csv: a, b, c and 2 more"
        );
    }

    #[test]
    fn a_filter_takes_the_least_number_of_samples_and_keeps_the_rest_of_itself() {
        let mut thresholds = Thresholds::default();
        thresholds.set("iqr-min-samples", 12.0).expect("in range");
        let filter = SampleFilter {
            drop_first: true,
            outliers: Outliers::Top5,
            fence: Some(3.0),
            min_samples: 1,
            paired: true,
        };
        let expected = SampleFilter {
            fence: None,
            min_samples: 12,
            ..filter
        };
        assert_eq!(filter.with_fence_from(&thresholds), expected);
    }

    #[test]
    fn a_filter_leaves_out_first_samples_or_outliers_and_is_named_by_them() {
        let filter = |drop_first, outliers, fence, paired| SampleFilter {
            drop_first,
            outliers,
            fence,
            min_samples: 1,
            paired,
        };
        let nothing = SampleFilter::default();
        assert!(!nothing.leaves_out());
        assert_eq!(nothing.policy_name(), "none");
        assert!(filter(true, Outliers::Keep, None, false).leaves_out());
        let outliers = filter(false, Outliers::Iqr, Some(1.5), false);
        assert!(outliers.leaves_out());
        assert_eq!(outliers.policy_name(), "iqr_1.5");
        let paired = filter(true, Outliers::Mad, Some(3.0), true);
        assert!(paired.leaves_out());
        assert_eq!(paired.policy_name(), "mad_3, paired");
        let unfenced = filter(false, Outliers::Top5, None, true);
        assert_eq!(unfenced.policy_name(), "top5, paired");
    }

    #[test]
    fn what_was_left_out_is_an_equation_with_the_name_of_the_policy() {
        let counts = SampleCounts {
            runs_raw: 40,
            warmup_skipped: 4,
            outliers_removed: 7,
            runs: 29,
        };
        let equation = "runs_raw 40 = runs 29 + warmup_skipped 4 + outliers_removed 7";
        assert_eq!(counts.describe(), equation);
        let report = FilterReport {
            filter: SampleFilter {
                outliers: Outliers::Iqr,
                fence: Some(1.5),
                ..SampleFilter::default()
            },
            counts,
        };
        assert_eq!(report.describe(), format!("{equation} (iqr_1.5)"));
    }

    #[test]
    fn slashes_within_parts_of_an_id_are_restored() {
        assert_eq!(as_in_cells("a%2Fb/c"), "a/b/c");
        assert_eq!(as_in_cells("a%252Fb"), "a%2Fb");
        assert_eq!(as_in_cells("plain"), "plain");
    }

    #[test]
    fn samples_of_an_old_criterion_are_linear() {
        let members = [("iters", vec![1.0, 2.0]), ("times", vec![10.0, 21.0])];
        let reader = MapDeserializer::<_, ValueError>::new(members.into_iter());
        let samples = CriterionSamples {
            iters: vec![1.0, 2.0],
            times: vec![10.0, 21.0],
            sampling_mode: "Linear".to_owned(),
        };
        assert_eq!(CriterionSamples::deserialize(reader), Ok(samples));
    }

    #[test]
    fn every_value_of_a_throughput_has_a_description() {
        assert_eq!(DeclaredThroughput::Count(7).describe(), "7");
        assert_eq!(DeclaredThroughput::Other(IgnoredAny).describe(), "?");
        let (three, nine) = (DeclaredThroughput::Count(3), DeclaredThroughput::Count(9));
        let both = [("elements".to_owned(), three), ("bytes".to_owned(), nine)];
        let both = DeclaredThroughput::Members(both.into());
        assert_eq!(both.describe(), "bytes(9), elements(3)");
    }
}
