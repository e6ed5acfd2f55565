//! Reads a `target/criterion` directory (criterion 0.2 to 0.8): every baseline with its raw samples.
//!
//! A directory holds a benchmark if it has the files `sample.json` and `benchmark.json`, which Criterion writes last. The name of the directory is
//! that of the baseline. Links are not followed, and the depth, number and size of files are bounded.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::super::error::ExchangeError;
use super::super::groups::IterationLayout;
use super::super::unit::ValueUnit;
use super::gathering::{ForeignRun, ForeignRunBuilder, format_error, sample_from_float, unused_id};
use super::json::parse_named;
use perfcheck_analysis::model::{
    CriterionBenchmark, CriterionSamples, ProgressReporter, SourceFile,
};

/// How many levels of directories are searched. Group, function, parameter and baseline make four levels; a few more do no harm.
const DEEPEST: usize = 10;
const MOST_ENTRIES: usize = 1_000_000;
const MOST_BYTES_OF_A_FILE: u64 = 64 << 20;
const MOST_BYTES: u64 = 512 << 20;
/// Directories that are no baselines: Criterion's comparison with an earlier run, and its plots.
const NO_BASELINES: [&str; 2] = ["change", "report"];
/// The baseline of the latest run. It is a copy of another baseline if that run was saved under a name.
const NEWEST: &str = "new";

/// The directory with the files of one benchmark in one baseline.
struct StoredBenchmark {
    /// Path of the benchmark's directory below the root, as messages show it.
    place: String,
    directory: PathBuf,
}

struct TreeBaseline {
    gathering: ForeignRunBuilder,
    files: Vec<SourceFile>,
}

/// A search of a directory tree for benchmarks. `found` has the benchmarks of each baseline, by the name of the baseline.
struct TreeWalker {
    root: PathBuf,
    found: BTreeMap<String, Vec<StoredBenchmark>>,
    entries: usize,
    interrupted: Vec<String>,
}

/// Returns the root of the Criterion tree: the directory `criterion` inside, or the directory itself.
pub(super) fn find_root(directory: &Path) -> PathBuf {
    let inner = directory.join("criterion");
    if inner.is_dir() {
        inner
    } else {
        directory.to_owned()
    }
}

/// Returns the name of a directory without its parents.
fn tree_name(directory: &Path) -> String {
    let whole = directory.canonicalize();
    let whole = whole.as_deref().unwrap_or(directory);
    let name = whole.file_name().unwrap_or(whole.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Returns a run for each baseline. Each tree is a process of these runs.
/// The baseline `new` is a run of its own only if it is not a copy of another baseline.
pub(super) fn read(
    directories: &[PathBuf],
    unit: &ValueUnit,
    progress: &ProgressReporter<'_>,
) -> Result<Vec<ForeignRun>, ExchangeError> {
    let mut baselines: BTreeMap<String, TreeBaseline> = BTreeMap::new();
    let mut copies = true;
    for (ordinal, directory) in directories.iter().enumerate() {
        let root = find_root(directory);
        let name = tree_name(directory);
        let mut walk = TreeWalker {
            root: root.clone(),
            found: BTreeMap::new(),
            entries: 0,
            interrupted: Vec::new(),
        };
        walk.walk(&root, 0)?;
        let here: usize = walk.found.values().map(Vec::len).sum();
        let (mut done, all) = (ordinal * here, directories.len() * here);
        let mut read_one = || {
            progress.report(done, all);
            done += 1;
        };
        let mut left = MOST_BYTES;
        let mut hashes: BTreeMap<String, String> = BTreeMap::new();
        for (baseline, stored) in &walk.found {
            let into = baselines
                .entry(baseline.clone())
                .or_insert_with(|| TreeBaseline {
                    gathering: ForeignRunBuilder::new(),
                    files: Vec::new(),
                });
            let source = into.add_tree((&name, ordinal), stored, unit, &mut left, &mut read_one)?;
            hashes.insert(baseline.clone(), source.blake3.clone());
            into.files.push(source);
            for place in &walk.interrupted {
                into.gathering.add_caveat(format!(
                    "{place}: left out because Criterion did not finish writing it"
                ));
            }
        }
        let newest = hashes.get(NEWEST);
        copies &= newest.is_none()
            || (hashes.iter()).any(|(other, hash)| other != NEWEST && Some(hash) == newest);
    }
    if copies && baselines.len() > 1 {
        baselines.remove(NEWEST);
    }
    if baselines.is_empty() {
        let names: Vec<String> = (directories.iter())
            .map(|directory| directory.display().to_string())
            .collect();
        return Err(ExchangeError::Empty {
            names: names.join(", "),
            hint: "\n  help: name the directory that Criterion writes to, such as target/criterion",
        });
    }
    (baselines.into_iter())
        .map(|(name, baseline)| {
            let unit = unit.to_string();
            baseline
                .gathering
                .finish(Some(name), baseline.files, &unit, false)
        })
        .collect()
}

impl TreeWalker {
    fn walk(&mut self, directory: &Path, depth: usize) -> Result<(), ExchangeError> {
        let failed = |source: io::Error| ExchangeError::File {
            path: directory.to_owned(),
            source,
        };
        if depth > DEEPEST {
            return Err(format_error(
                &directory.display().to_string(),
                "the directories are nested more deeply than Criterion's",
            ));
        }
        let mut inner = Vec::new();
        let (mut described, mut sampled) = (false, false);
        for entry in fs::read_dir(directory).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            self.entries += 1;
            if self.entries > MOST_ENTRIES {
                return Err(ExchangeError::TooMany {
                    what: "files and directories",
                    most: MOST_ENTRIES,
                    hint: "name the directory that Criterion writes to, such as target/criterion",
                });
            }
            let kind = entry.file_type().map_err(failed)?;
            if kind.is_dir() {
                inner.push(entry.path());
            } else if kind.is_file() {
                described |= entry.file_name() == "benchmark.json";
                sampled |= entry.file_name() == "sample.json";
            }
        }
        let name = directory.file_name().and_then(|name| name.to_str());
        if (described || sampled) && depth > 0 {
            let place = self.relative_path(directory);
            match name {
                Some(name) if NO_BASELINES.contains(&name) => {}
                Some(name) if described && sampled => {
                    self.found
                        .entry(name.to_owned())
                        .or_default()
                        .push(StoredBenchmark {
                            place,
                            directory: directory.to_owned(),
                        });
                }
                _ => self.interrupted.push(place),
            }
        }
        inner.sort();
        for directory in inner {
            self.walk(&directory, depth + 1)?;
        }
        Ok(())
    }

    fn relative_path(&self, directory: &Path) -> String {
        let below = directory.strip_prefix(&self.root).unwrap_or(directory);
        below.display().to_string()
    }
}

impl TreeBaseline {
    /// Adds the benchmarks that one tree has in this baseline. `left` is the number of bytes that may still be read. Calls `read_one` for each
    /// benchmark.
    fn add_tree(
        &mut self,
        (tree, ordinal): (&str, usize),
        stored: &[StoredBenchmark],
        unit: &ValueUnit,
        left: &mut u64,
        read_one: &mut dyn FnMut(),
    ) -> Result<SourceFile, ExchangeError> {
        let process = self
            .gathering
            .process_ordinal(&format!("{tree} #{ordinal}"))?;
        let mut hash = blake3::Hasher::new();
        let mut total = 0;
        let mut seen = HashMap::new();
        for one in stored {
            read_one();
            let described = read_bounded(&one.directory.join("benchmark.json"), left)?;
            let sampled = read_bounded(&one.directory.join("sample.json"), left)?;
            for bytes in [&described, &sampled] {
                hash.update(&(bytes.len() as u64).to_le_bytes());
                hash.update(bytes);
                total += bytes.len() as u64;
            }
            let named = format!("{}/benchmark.json", one.place);
            let benchmark: CriterionBenchmark = parse_named(&named, &described)?;
            let place = format!("{}/sample.json", one.place);
            let samples: CriterionSamples = parse_named(&place, &sampled)?;
            // Benchmarks in different directories may have the same id, because Criterion requires only the directories to be different.
            let id = unused_id(&benchmark.full_id, &mut seen);
            let phase = iteration_layout(&samples, &place)?;
            let number = (self.gathering).benchmark_index(&named, &id, unit.metric(), phase)?;
            self.add_samples(number, &place, &samples, process, unit)?;
            if let Some(entry) = &benchmark.throughput {
                match entry.throughput() {
                    Some(throughput) => self.gathering.set_throughput(number, throughput),
                    None => self.gathering.add_caveat(format!(
                        "the throughput of `{id}` is not supported: {}",
                        entry.describe()
                    )),
                }
            }
        }
        Ok(SourceFile {
            name: tree.to_owned(),
            blake3: hash.finalize().to_hex().to_string(),
            bytes: total,
        })
    }

    fn add_samples(
        &mut self,
        number: usize,
        place: &str,
        samples: &CriterionSamples,
        process: u32,
        unit: &ValueUnit,
    ) -> Result<(), ExchangeError> {
        let (iterations, times) = (&samples.iters, &samples.times);
        if iterations.len() != times.len() || times.is_empty() {
            return Err(format_error(
                place,
                format!(
                    "found {} iteration counts but {} measured times",
                    iterations.len(),
                    times.len()
                ),
            ));
        }
        for (at, (count, time)) in iterations.iter().zip(times).enumerate() {
            if count.fract() != 0.0 || !(1.0..9e15).contains(count) {
                return Err(format_error(
                    &format!("{place}: iters[{at}]"),
                    format!("{count} is not a valid iteration count"),
                ));
            }
            let place = format!("{place}: times[{at}]");
            let sample = sample_from_float(&place, *time, *count as u64, unit)?;
            self.gathering.add(number, process, sample);
        }
        Ok(())
    }
}

/// Returns whether the iteration counts of the samples are equal or increase.
fn iteration_layout(
    samples: &CriterionSamples,
    place: &str,
) -> Result<IterationLayout, ExchangeError> {
    match samples.sampling_mode.as_str() {
        "Linear" => Ok(IterationLayout::Linear),
        "Flat" => Ok(IterationLayout::Flat),
        other => Err(format_error(
            place,
            format!("the sampling mode `{other}` is neither Linear nor Flat"),
        )),
    }
}

/// Reads a file and subtracts its length from `left`. Fails if the file is larger than `left` or [`MOST_BYTES_OF_A_FILE`].
fn read_bounded(path: &Path, left: &mut u64) -> Result<Vec<u8>, ExchangeError> {
    let failed = |source: io::Error| ExchangeError::File {
        path: path.to_owned(),
        source,
    };
    let most = MOST_BYTES_OF_A_FILE.min(*left);
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(most + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > most {
        return Err(ExchangeError::TooLong {
            name: path.display().to_string(),
            limit_mib: most >> 20,
        });
    }
    *left -= bytes.len() as u64;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use perfcheck_analysis::model::{CriterionSamples, DeclaredThroughput};

    #[test]
    fn unknown_throughputs_are_described_as_their_author_would_recognize_them() {
        for (json, words) in [
            (r#"{"Frames":3}"#, "Frames(3)"),
            (r#""Free""#, "Free"),
            (
                r#"{"Ratio":{"of":-1.5,"to":[1]}}"#,
                "Ratio(of(-1.5), to(?))",
            ),
        ] {
            let declared: DeclaredThroughput = serde_json::from_str(json).expect("JSON");
            assert_eq!(declared.describe(), words);
        }
    }

    #[test]
    fn samples_are_an_object_or_two_columns() {
        let read = |json| serde_json::from_str::<CriterionSamples>(json);
        let object = r#"{"sampling_mode":"Flat","iters":[2.0],"times":[3.5]}"#;
        assert_eq!(read(object).expect("0.3.3 and later").sampling_mode, "Flat");
        let columns = read("[[1.0,2.0],[3.0,6.5]]").expect("earlier");
        assert_eq!(columns.sampling_mode, "Linear");
        assert_eq!(
            (columns.iters, columns.times),
            (vec![1.0, 2.0], vec![3.0, 6.5])
        );
        assert!(read("[[1.0]]").is_err());
    }
}
