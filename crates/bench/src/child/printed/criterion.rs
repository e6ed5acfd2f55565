//! Runs Criterion benches without a runner: Criterion before 0.3.3 (0.2, 0.3.0 to 0.3.2), or benches that cannot
//! connect to the parent.
//!
//! Criterion is made to write its files into a temporary directory. All samples are read from there; the output is
//! only used for the names of the benchmarks. The directory is removed afterwards. Settings made in code remain
//! unknown.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde::de::DeserializeOwned;

use crate::child::criterion::{
    CriterionConfig, CriterionMeasurement, CriterionReport, UnitScale, at_least_fewest_samples,
    filter_exactly, filter_prefix, round_up_to_seconds, strip_count,
};
use perfcheck_analysis::model::{
    AuthorSettings, CriterionBenchmark, CriterionSamples, DeclaredThroughput, Sample, SamplingMode,
    Series,
};

/// The beginning of the first line that Criterion prints about a benchmark.
const BEGINS: &str = "Benchmarking ";
/// Beginnings of lines that Criterion prints in every process.
pub(super) const OF_EVERY_PROCESS: [&[u8]; 2] = [b"Benchmarking ", b"Gnuplot not found"];
/// Depth of the search: group, function, parameter and `new`, with some to spare.
const DEEPEST: usize = 8;
/// Largest file that is read.
const MOST_BYTES: u64 = 64 << 20;
/// Sample size by default. With a larger ramp of iteration counts, slow benchmarks would exceed the measurement time.
const USUAL_SAMPLES: u32 = 25;
/// Number of resamples for Criterion's own analysis, kept low because its results are not used.
const RESAMPLES: &str = "100";

/// The command line options that an executable supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    /// Whether it accepts sampling settings: since 0.3.
    pub(super) has_settings: bool,
    /// Whether its filter is a regular expression rather than a substring of the id: since 0.3.1.
    pub(super) has_expressions: bool,
}

/// Reports whether this is the first line about a benchmark.
pub(super) fn is_first_line(line: &str) -> bool {
    line.strip_prefix(BEGINS).is_some_and(|id| !id.is_empty())
}

/// Returns the sampling settings, adjusted to what the command line accepts.
pub(super) fn adjusted_config(
    warm_up: Duration,
    measurement: Duration,
    samples: Option<u32>,
) -> CriterionConfig {
    CriterionConfig {
        warm_up: round_up_to_seconds(warm_up),
        measurement: round_up_to_seconds(measurement),
        samples: at_least_fewest_samples(samples.unwrap_or(USUAL_SAMPLES)),
    }
}

impl Dialect {
    /// Returns the arguments that measure the benchmark listed as `title`, and as few others as the filter allows.
    pub(super) fn arguments(self, title: &str, config: &CriterionConfig) -> Vec<String> {
        let mut arguments = vec!["--noplot".to_owned()];
        if self.has_settings {
            for (flag, value) in [
                ("--warm-up-time", config.warm_up.as_secs().to_string()),
                (
                    "--measurement-time",
                    config.measurement.as_secs().to_string(),
                ),
                ("--sample-size", config.samples.to_string()),
                ("--nresamples", RESAMPLES.to_owned()),
            ] {
                arguments.extend([flag.to_owned(), value]);
            }
        }
        // The title is the full id, with two exceptions: a count is appended to the second of two equal ids, and long
        // ids are cut.
        let counted = strip_count(title);
        let full_id = counted.unwrap_or(title);
        let names = [title].into_iter().chain(counted);
        let cut = full_id.strip_suffix("...");
        arguments.extend(match cut {
            Some(cut) if self.has_expressions => Some(filter_prefix(cut)),
            None if self.has_expressions => filter_exactly(names),
            // A filter that looks like a flag cannot be passed; all benchmarks then run.
            _ => Some(cut.unwrap_or(full_id).to_owned()).filter(|part| !part.starts_with('-')),
        });
        arguments
    }
}

/// A temporary directory for one process. Dropping it removes the directory and its contents.
pub(super) struct ProcessFolder(PathBuf);

impl ProcessFolder {
    /// Creates a new directory that other users cannot read or write.
    pub(super) fn create() -> io::Result<Self> {
        static CREATED: AtomicU32 = AtomicU32::new(0);
        let parent = std::env::temp_dir();
        loop {
            let number = CREATED.fetch_add(1, Ordering::Relaxed);
            let name = format!("cargo-perfcheck-{}-{number}", std::process::id());
            let path = parent.join(name);
            // Fails if the name exists, even as a symbolic link, which protects against a prepared directory.
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Returns the environment variables that make all versions of Criterion write to this directory.
    pub(super) fn variables(&self) -> [(&'static str, PathBuf); 2] {
        [
            ("CRITERION_HOME", self.home()),
            ("CARGO_TARGET_DIR", self.0.clone()),
        ]
    }

    fn home(&self) -> PathBuf {
        self.0.join("criterion")
    }

    /// Reads the result of the benchmark with this title, if there is one.
    pub(super) fn read(
        &self,
        title: &str,
        config: &CriterionConfig,
    ) -> Result<Option<CriterionReport>, String> {
        let mut found = Vec::new();
        collect_results(&self.home(), 0, &mut found);
        for directory in found {
            let benchmark: CriterionBenchmark = read_json(&directory.join("benchmark.json"))?;
            let its_title = benchmark.title.as_ref().unwrap_or(&benchmark.full_id);
            if its_title == title {
                let samples = read_json(&directory.join("sample.json"))?;
                let scale = read_scale(&directory.join("raw.csv"), &samples);
                return report_from_files(title, &benchmark, &samples, &scale, config).map(Some);
            }
        }
        Ok(None)
    }
}

impl Drop for ProcessFolder {
    fn drop(&mut self) {
        // The system removes files in its temporary directory that could not be deleted here.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Collects the directories `new` that have the complete result of a benchmark.
fn collect_results(directory: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in entries {
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let path = entry.path();
        if entry.file_name() == "new" && path.join("benchmark.json").is_file() {
            found.push(path);
        } else if depth < DEEPEST {
            collect_results(&path, depth + 1, found);
        }
    }
}

fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let failed = |why: &dyn std::fmt::Display| format!("its `{name}` cannot be read: {why}");
    let text = read_bounded(path).map_err(|error| failed(&error))?;
    serde_json::from_str(&text).map_err(|error| failed(&error))
}

fn read_bounded(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?
        .take(MOST_BYTES)
        .read_to_string(&mut text)?;
    Ok(text)
}

/// Finds the unit of the values. The last row of `raw.csv` repeats the last value with a named unit. Without this
/// file (0.2 measures only times, and later versions write it only with a feature) values are nanoseconds.
fn read_scale(table: &Path, samples: &CriterionSamples) -> UnitScale {
    let named = read_bounded(table).ok().and_then(|table| {
        let (head, last) = (table.lines().next()?, table.lines().next_back()?);
        head.ends_with(",sample_measured_value,unit,iteration_count")
            .then_some(())?;
        let mut cells = last.rsplit(',');
        let unit = cells.nth(1)?.trim_matches('"');
        let value: f64 = cells.next()?.parse().ok()?;
        UnitScale::from_unit(value / samples.times.last()?, unit)
    });
    named.unwrap_or_else(UnitScale::nanoseconds)
}

fn report_from_files(
    title: &str,
    benchmark: &CriterionBenchmark,
    samples: &CriterionSamples,
    scale: &UnitScale,
    config: &CriterionConfig,
) -> Result<CriterionReport, String> {
    let (counts, times) = (&samples.iters, &samples.times);
    if counts.len() != times.len() || counts.is_empty() {
        return Err(format!(
            "it wrote {} counts of iterations and {} times",
            counts.len(),
            times.len()
        ));
    }
    let taken = scale.samples(counts, times).ok_or(
        "it wrote numbers that no measurement has: negative, infinite, or of no iterations",
    )?;
    let in_force = CriterionConfig {
        samples: u32::try_from(taken.len()).unwrap_or(u32::MAX),
        ..*config
    };
    let (linear, flat, mode) = match samples.sampling_mode.as_str() {
        "Flat" => (Vec::new(), taken, SamplingMode::Flat),
        _ => (taken, Vec::new(), SamplingMode::Linear),
    };
    let declared = benchmark.throughput.as_ref();
    let throughput = declared.and_then(DeclaredThroughput::throughput);
    Ok(CriterionReport {
        id: title.to_owned(),
        throughput: throughput.unwrap_or_default(),
        throughput_words: declared
            .filter(|_| throughput.is_none())
            .map(DeclaredThroughput::describe),
        set_up: Duration::ZERO,
        measured: Some(CriterionMeasurement {
            series: Series {
                warm_up: Sample::UNTIMED,
                linear,
                flat,
            },
            metric: scale.metric.clone(),
            settings: AuthorSettings::default(),
            in_force,
            mode,
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[track_caller]
    fn check(has_settings: bool, has_expressions: bool, title: &str, expected: &str) {
        let dialect = Dialect {
            has_settings,
            has_expressions,
        };
        let config = adjusted_config(SECOND / 10, SECOND * 3 / 2, None);
        assert_eq!(dialect.arguments(title, &config).join(" "), expected);
    }

    #[test]
    fn each_version_is_told_what_it_understands() {
        let settings =
            "--noplot --warm-up-time 1 --measurement-time 2 --sample-size 25 --nresamples 100";
        check(true, true, "a.b", &format!(r"{settings} ^(?:a\.b)$"));
        check(true, false, "a.b", &format!("{settings} a.b"));
        check(false, false, "a.b", "--noplot a.b");
        check(false, false, "--help", "--noplot");
    }

    #[test]
    fn a_title_that_is_counted_or_cut_is_led_back_to_its_id() {
        check(false, false, "same #2", "--noplot same");
        check(false, false, "a very long...", "--noplot a very long");
        check(false, true, "same #2", r"--noplot ^(?:same \#2|same)$");
        check(false, true, "a (long)...", r"--noplot ^(?:a \(long\))");
    }

    #[test]
    fn a_folder_is_read_by_title_and_gone_with_its_owner() {
        let folder = ProcessFolder::create().expect("a directory");
        let [(_, home), (_, target)] = folder.variables();
        let directory = home.join("group/same_2/new");
        fs::create_dir_all(&directory).expect("a directory");
        let write = |name: &str, text: &str| {
            fs::write(directory.join(name), text).expect("it can be written");
        };
        let config = adjusted_config(SECOND, SECOND, None);
        write(
            "sample.json",
            r#"{"sampling_mode":"Flat","iters":[2.0],"times":[9.0]}"#,
        );
        assert_eq!(folder.read("same #2", &config), Ok(None), "unfinished");
        let benchmark = r#"{"full_id":"same","title":"same #2","throughput":{"Frames":3}}"#;
        write("benchmark.json", benchmark);
        assert_eq!(folder.read("same", &config), Ok(None), "another one");
        let found = folder.read("same #2", &config).expect("it is whole");
        let found = found.expect("it is there");
        assert_eq!(found.throughput_words.as_deref(), Some("Frames(3)"));
        let measured = found.measured.expect("it has samples");
        assert_eq!(measured.mode, SamplingMode::Flat);
        assert_eq!(measured.in_force.samples, 1);
        drop(folder);
        assert!(!target.exists());
    }

    fn declared(json: &str) -> DeclaredThroughput {
        serde_json::from_str(json).expect("JSON")
    }

    #[test]
    fn throughputs_of_all_kinds_are_read_and_unknown_ones_kept_in_words() {
        let read = |json| {
            let found = declared(json).throughput()?;
            Some((found.bytes, found.elements))
        };
        assert_eq!(read(r#"{"Bytes":7}"#), Some((Some(7), None)));
        assert_eq!(read(r#"{"BytesDecimal":7}"#), Some((Some(7), None)));
        assert_eq!(read(r#"{"Bits":16}"#), Some((Some(2), None)));
        assert_eq!(read(r#"{"Elements":5}"#), Some((None, Some(5))));
        let both = r#"{"ElementsAndBytes":{"elements":3,"bytes":9}}"#;
        assert_eq!(read(both), Some((Some(9), Some(3))));
        for (json, words) in [
            (r#"{"Frames":3}"#, "Frames(3)"),
            (r#"{"Bits":9}"#, "Bits(9)"),
            (r#""Free""#, "Free"),
            (
                r#"{"Ratio":{"of":-1.5,"to":[1]}}"#,
                "Ratio(of(-1.5), to(?))",
            ),
        ] {
            assert_eq!(read(json), None, "{json}");
            assert_eq!(declared(json).describe(), words);
        }
    }

    #[test]
    fn samples_are_an_object_or_two_columns() {
        let object = r#"{"sampling_mode":"Flat","iters":[2.0],"times":[3.5]}"#;
        let read = |json| serde_json::from_str::<CriterionSamples>(json);
        let samples = read(object).expect("0.3.3 and later");
        assert_eq!(samples.sampling_mode, "Flat");
        let columns = read("[[1.0,2.0],[3.0,6.5]]").expect("earlier");
        assert_eq!(columns.sampling_mode, "Linear");
        assert_eq!(
            (columns.iters, columns.times),
            (vec![1.0, 2.0], vec![3.0, 6.5])
        );
        assert!(read("[[1.0]]").is_err());
    }

    #[test]
    fn a_damaged_folder_of_criterion_is_read_or_refused() {
        let folder = ProcessFolder::create().expect("a directory");
        let [(_, home), _] = folder.variables();
        let directory = home.join("group/new");
        fs::create_dir_all(&directory).expect("a directory");
        let config = adjusted_config(SECOND, SECOND, None);
        let files = [
            (
                "benchmark.json",
                r#"{"full_id":"a","title":"a","throughput":{"Bytes":3}}"#,
            ),
            (
                "sample.json",
                r#"{"sampling_mode":"Flat","iters":[2.0,4.0],"times":[9.0,18.5]}"#,
            ),
            (
                "raw.csv",
                "group,function,value,throughput_num,throughput_type,sample_measured_value,unit,iteration_count\ng,,,,,9,ns,2\ng,,,,,18.5,ns,4\n",
            ),
        ];
        for (damaged, _) in files {
            for (name, text) in files {
                fs::write(directory.join(name), text).expect("it can be written");
            }
            let whole = folder.read("a", &config).expect("it is whole");
            assert!(whole.is_some_and(|found| found.measured.is_some()));
            let text = files.iter().find(|(name, _)| *name == damaged);
            let corpus = text.map(|(_, text)| text.as_bytes().to_vec());
            perfcheck_mutations::attack(damaged, corpus.as_slice(), |bytes| {
                fs::write(directory.join(damaged), bytes).expect("it can be written");
                drop(folder.read("a", &config));
            });
        }
    }
}
