//! The functions of the workspace, and the counts of the benchmarks that execute them.
//!
//! The functions come from the sources, because debug information lacks those that the compiler has dropped. Each counted line belongs to the innermost
//! function that contains it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::output::{BenchmarkSensitivity, CoveredFunction, CoveredLine, FunctionExecution};
use perfcheck_analysis::model::{Benchmark, BenchmarkKey, LineCounts};
use perfcheck_build::cargo::{BenchPackage, CfgOptions, MeasuredCrate};
use perfcheck_code::{SourceFunction, SourceModule, scan_source};

/// The counts of the benchmarks in one build.
#[derive(Default)]
pub(super) struct CountedBenchmarks {
    pub(super) benchmarks: Vec<Benchmark>,
    /// The counts of the benchmarks that could be counted.
    pub(super) counts: BTreeMap<BenchmarkKey, LineCounts>,
    /// A sentence for each benchmark that could not be counted, and for each bench target that failed before all of its benchmarks were known.
    pub(super) failures: Vec<String>,
}

impl CountedBenchmarks {
    /// Reports whether benchmarks were counted, but nothing belongs to a line of the counted files.
    pub(super) fn has_no_lines(&self) -> bool {
        let mut counts = self.counts.values();
        !self.counts.is_empty() && counts.all(|counts| counts.lines.is_empty())
    }
}

/// A function of the workspace.
struct WorkspaceFunction {
    /// The name with the crate and the modules in front.
    name: String,
    package: String,
    /// Path relative to the workspace's directory, with `/`.
    file: String,
    first_line: u32,
    last_line: u32,
}

/// The functions of the workspace, sorted by file and line.
#[derive(Default)]
pub(super) struct FunctionIndex {
    functions: Vec<WorkspaceFunction>,
    /// The files of the crates and of the benches, as paths relative to the workspace's directory, with hashes of their texts.
    files: BTreeMap<String, blake3::Hash>,
    /// A sentence for each file whose functions are missing.
    pub(super) remarks: Vec<String>,
}

impl FunctionIndex {
    /// Reads the functions of `crates` that are compiled with the options that `cfg` returns for a package. Of `benches`, only the
    /// files are recorded: their functions are not listed.
    pub(super) fn read(
        crates: &[MeasuredCrate],
        benches: &[BenchPackage],
        root: &Path,
        cfg: impl Fn(&str) -> CfgOptions,
    ) -> Self {
        let mut index = Self::default();
        for one in crates {
            let main = SourceFileOfCrate::new(&one.source, &one.name);
            let options = cfg(&one.package);
            let (functions, remarks) = index.read_crate(main, &one.package, root, &options);
            index.functions.extend(functions);
            index.remarks.extend(remarks);
        }
        for package in benches {
            let options = cfg(&package.name);
            for source in &package.sources {
                let main = SourceFileOfCrate::new(source, "");
                index.read_crate(main, &package.name, root, &options);
            }
        }
        index.functions.sort_by(|one, other| {
            (&one.file, one.first_line).cmp(&(&other.file, other.first_line))
        });
        index
    }

    /// Reads the files of a crate that were not read yet. Returns their functions, and a sentence for each file whose functions are missing.
    fn read_crate(
        &mut self,
        main: SourceFileOfCrate,
        package: &str,
        root: &Path,
        options: &CfgOptions,
    ) -> (Vec<WorkspaceFunction>, Vec<String>) {
        let (mut functions, mut remarks) = (Vec::new(), Vec::new());
        let mut open = vec![main];
        while let Some(source) = open.pop() {
            let relative = source.path.strip_prefix(root).ok().and_then(Path::to_str);
            let (relative, text) = match (relative, fs::read_to_string(&source.path)) {
                (Some(relative), Ok(text)) => (relative.replace('\\', "/"), text),
                (relative, _) => {
                    remarks.push(source.describe_missing(relative));
                    continue;
                }
            };
            let hash = blake3::hash(text.as_bytes());
            if self.files.insert(relative.clone(), hash).is_some() {
                continue;
            }
            let scanned = scan_source(&text, &|predicate| options.evaluate(predicate));
            let named = |function: SourceFunction| WorkspaceFunction {
                name: format!("{}::{}", source.module, function.name),
                package: package.to_owned(),
                file: relative.clone(),
                first_line: function.first_line,
                last_line: function.last_line,
            };
            functions.extend(scanned.functions.into_iter().map(named));
            let modules = scanned.modules.iter();
            open.extend(modules.filter_map(|module| source.find_module(module)));
        }
        (functions, remarks)
    }

    /// Reports whether there are no functions.
    pub(super) fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// Returns the paths of the files of the crates and of the benches, relative to the workspace's directory.
    pub(super) fn files(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Reports whether the files that both have read had the same texts.
    pub(super) fn has_texts_of(&self, other: &Self) -> bool {
        let mut files = self.files.iter();
        files.all(|(file, hash)| other.files.get(file).is_none_or(|known| known == hash))
    }

    /// Reports whether both have read the same files with the same texts.
    pub(super) fn has_files_of(&self, other: &Self) -> bool {
        self.files == other.files
    }

    /// Returns the index of the innermost function that contains a line.
    fn find(&self, file: &str, line: u32) -> Option<usize> {
        let end =
            (self.functions).partition_point(|one| (&*one.file, one.first_line) <= (file, line));
        let before = self.functions[..end].iter().enumerate().rev();
        let mut in_file = before.take_while(|(_, one)| one.file == file);
        let (index, _) = in_file.find(|(_, one)| line <= one.last_line)?;
        Some(index)
    }

    /// Returns the lines of each function that were counted.
    fn lines_by_function(&self, counts: &LineCounts) -> BTreeMap<usize, Vec<CoveredLine>> {
        let mut found: BTreeMap<usize, Vec<CoveredLine>> = BTreeMap::new();
        for (file, lines) in &counts.lines {
            for (line, instructions) in lines {
                if let Some(index) = self.find(file, *line) {
                    found.entry(index).or_default().push(CoveredLine {
                        line: *line,
                        instructions: *instructions,
                    });
                }
            }
        }
        found
    }

    /// Describes each function: which benchmark sees it best, and from which slowdown on.
    pub(super) fn describe(
        &self,
        timed: &CountedBenchmarks,
        executed: &CountedBenchmarks,
        sensitivities: &[BenchmarkSensitivity],
    ) -> Vec<CoveredFunction> {
        let without_instructions = if executed.failures.is_empty() {
            FunctionExecution::Never
        } else {
            FunctionExecution::Unknown
        };
        let functions = self.functions.iter();
        let mut rows: Vec<CoveredFunction> = functions
            .map(|function| CoveredFunction {
                function: function.name.clone(),
                package: function.package.clone(),
                file: function.file.clone(),
                first_line: function.first_line,
                last_line: function.last_line,
                execution: without_instructions,
                benchmark: None,
                share: 0.0,
                slowdown: None,
                lines: Vec::new(),
            })
            .collect();
        for counts in executed.counts.values() {
            for index in self.lines_by_function(counts).into_keys() {
                rows[index].execution = FunctionExecution::Untimed;
            }
        }
        for one in sensitivities {
            let Some(counts) = timed.counts.get(&one.benchmark) else {
                continue;
            };
            for (index, lines) in self.lines_by_function(counts) {
                let instructions: f64 = lines.iter().map(|line| line.instructions).sum();
                let share = instructions / counts.instructions;
                let slowdown = one.smallest_change / share;
                let row = &mut rows[index];
                row.execution = FunctionExecution::Timed;
                if row.slowdown.is_none_or(|known| slowdown < known) {
                    row.benchmark = Some(one.benchmark.clone());
                    row.share = share;
                    row.slowdown = Some(slowdown);
                    row.lines = lines;
                }
            }
        }
        rows
    }
}

/// A source file of a crate.
struct SourceFileOfCrate {
    path: PathBuf,
    /// The path of its module in Rust code.
    module: String,
    /// The directory with the files of its modules.
    children: PathBuf,
}

impl SourceFileOfCrate {
    /// Returns the main file of the crate `name`.
    fn new(path: &Path, name: &str) -> Self {
        Self {
            children: path.parent().unwrap_or(Path::new("")).to_owned(),
            path: path.to_owned(),
            module: name.to_owned(),
        }
    }

    /// Says why the functions of this file are missing. `relative` is its path relative to the workspace's directory, if it is below that.
    fn describe_missing(&self, relative: Option<&str>) -> String {
        let why = match relative {
            Some(_) => "has no file that can be read",
            None => "is not below the workspace's directory",
        };
        format!(
            "the module `{}` {why}, so its functions are not listed",
            self.module
        )
    }

    /// Finds the file of a module that this file declares.
    fn find_module(&self, declared: &SourceModule) -> Option<Self> {
        let (name, outer) = declared.path.split_last()?;
        let module = format!("{}::{}", self.module, declared.path.join("::"));
        let outer: PathBuf = outer.iter().collect();
        let parent = |path: &Path| path.parent().unwrap_or(Path::new("")).to_owned();
        if let Some(file) = &declared.file {
            // The path is relative to the file, or within a module of the file, to the directory of that module.
            let directory = if declared.path.len() == 1 {
                parent(&self.path)
            } else {
                self.children.join(outer)
            };
            let path = directory.join(file);
            return Some(Self {
                children: parent(&path),
                path,
                module,
            });
        }
        let directory = self.children.join(outer);
        let own = directory.join(name);
        let beside = directory.join(format!("{name}.rs"));
        let inside = own.join("mod.rs");
        let path = if beside.is_file() { beside } else { inside };
        Some(Self {
            path,
            module,
            children: own,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::slice;

    fn index(functions: &[(&str, u32, u32)]) -> FunctionIndex {
        let functions = functions.iter();
        FunctionIndex {
            functions: functions
                .map(|(file, first_line, last_line)| WorkspaceFunction {
                    name: format!("f{first_line}"),
                    package: "p".to_owned(),
                    file: (*file).to_owned(),
                    first_line: *first_line,
                    last_line: *last_line,
                })
                .collect(),
            ..FunctionIndex::default()
        }
    }

    #[test]
    fn modules_are_followed_to_their_files_named_without_one_and_watched_for_changes() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = directory.path();
        for (file, text) in [
            (
                "src/lib.rs",
                "mod r#type; mod gone;\n#[cfg_attr(not(windows), path = \"unix.rs\")] mod os;\nmod above { mod r#fn; }",
            ),
            ("src/type.rs", "fn a() {}"),
            ("src/unix.rs", "fn b() {}"),
            ("src/above/fn/mod.rs", "fn c() {}"),
            ("benches/all.rs", "mod common; fn main() {}"),
            ("benches/common/mod.rs", "fn data() {}"),
        ] {
            let path = root.join(file);
            fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
            fs::write(path, text).expect("written");
        }
        let one = MeasuredCrate {
            package: "p".to_owned(),
            name: "p".to_owned(),
            source: root.join("src/lib.rs"),
        };
        let elsewhere = MeasuredCrate {
            name: "q".to_owned(),
            source: PathBuf::from("/elsewhere/q.rs"),
            ..one.clone()
        };
        let bench = BenchPackage {
            name: "p".to_owned(),
            manifest: root.join("Cargo.toml"),
            sources: vec![root.join("benches/all.rs")],
        };
        let crates = [one, elsewhere];
        // These options are those of a target without properties.
        let read = || {
            FunctionIndex::read(&crates, slice::from_ref(&bench), root, |_| {
                CfgOptions::default()
            })
        };
        let index = read();
        let functions = index.functions.iter();
        let found: Vec<(&str, &str)> = functions.map(|one| (&*one.file, &*one.name)).collect();
        assert_eq!(
            found,
            [
                ("src/above/fn/mod.rs", "p::above::fn::c"),
                ("src/type.rs", "p::type::a"),
                ("src/unix.rs", "p::os::b"),
            ]
        );
        assert_eq!(
            index.remarks,
            [
                "the module `p::gone` has no file that can be read, so its functions are not listed",
                "the module `q` is not below the workspace's directory, so its functions are not listed",
            ]
        );
        let read_again = || (read().has_texts_of(&index), read().has_files_of(&index));
        fs::write(root.join("src/gone.rs"), "").expect("written");
        assert_eq!(read_again(), (true, false));
        fs::remove_file(root.join("src/gone.rs")).expect("there");
        assert_eq!(read_again(), (true, true));
        fs::write(root.join("benches/common/mod.rs"), "fn other() {}").expect("written");
        assert_eq!(read_again(), (false, false));
    }

    #[test]
    fn a_line_belongs_to_the_innermost_function_of_its_file() {
        let index = index(&[
            ("a.rs", 1, 20),
            ("a.rs", 5, 8),
            ("a.rs", 30, 31),
            ("b.rs", 3, 9),
        ]);
        for (file, line, expected) in [
            ("a.rs", 1, Some(0)),
            ("a.rs", 6, Some(1)),
            ("a.rs", 9, Some(0)),
            ("a.rs", 20, Some(0)),
            ("a.rs", 21, None),
            ("a.rs", 31, Some(2)),
            ("b.rs", 2, None),
            ("b.rs", 9, Some(3)),
            ("c.rs", 3, None),
        ] {
            assert_eq!(index.find(file, line), expected, "{file}:{line}");
        }
    }

    #[test]
    fn the_benchmark_that_shows_the_smallest_slowdown_sees_a_function_best() {
        let key = |id: &str| BenchmarkKey {
            package: "p".to_owned(),
            target: "t".to_owned(),
            id: id.to_owned(),
        };
        let counts = |instructions: f64, lines: &[(u32, f64)]| LineCounts {
            instructions,
            lines: [("a.rs".to_owned(), lines.iter().copied().collect())].into(),
        };
        let sensitivity = |id: &str, smallest_change| BenchmarkSensitivity {
            benchmark: key(id),
            instructions: 1000.0,
            smallest_change,
            is_measured: true,
        };
        let counted = |counts: Vec<(BenchmarkKey, LineCounts)>| CountedBenchmarks {
            counts: counts.into_iter().collect(),
            ..CountedBenchmarks::default()
        };
        let timed = counted(vec![
            (key("precise"), counts(1000.0, &[(1, 100.0), (2, 100.0)])),
            (key("coarse"), counts(1000.0, &[(2, 500.0), (12, 10.0)])),
        ]);
        let executed = counted(vec![(key("precise"), counts(9.0, &[(1, 1.0), (25, 8.0)]))]);
        assert!(!executed.has_no_lines() && !counted(Vec::new()).has_no_lines());
        let remapped = LineCounts {
            instructions: 9.0,
            lines: BTreeMap::new(),
        };
        assert!(counted(vec![(key("precise"), remapped)]).has_no_lines());
        let sensitivities = [sensitivity("precise", 0.02), sensitivity("coarse", 0.1)];
        let index = index(&[
            ("a.rs", 1, 9),
            ("a.rs", 10, 19),
            ("a.rs", 20, 29),
            ("a.rs", 30, 39),
        ]);
        let rows = index.describe(&timed, &executed, &sensitivities);
        let found: Vec<(Option<&str>, FunctionExecution)> = rows
            .iter()
            .map(|row| (row.benchmark.as_ref().map(|key| &*key.id), row.execution))
            .collect();
        assert_eq!(
            found,
            [
                (Some("precise"), FunctionExecution::Timed),
                (Some("coarse"), FunctionExecution::Timed),
                (None, FunctionExecution::Untimed),
                (None, FunctionExecution::Never),
            ]
        );
        // 2 % of the whole is 10 % of a fifth.
        assert!((rows[0].share - 0.2).abs() < 1e-12);
        assert!((rows[0].slowdown.expect("seen") - 0.1).abs() < 1e-12);
    }
}
