//! A repository with a library and benchmarks. Each test sets the times that the benchmarks report.

use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::commands::crates::Crate;
use crate::commands::scripted::message;
use crate::support::{Finished, Machine, Perfcheck};

/// Source of a bench. Its benchmarks report made-up times, so that they do not depend on the machine. Samples differ slightly, as with a real clock.
const BENCH: &str = r"
use perfcheck::{Bencher, Suite};
use std::time::Duration;

fn takes(b: &mut Bencher<'_>, nanoseconds: u64) {
    let mut sample = 0;
    b.iter_custom(|iterations| {
        sample += 1;
        Duration::from_nanos(iterations * nanoseconds * (1000 + sample % 7) / 1000)
    });
}

fn costs(suite: &mut Suite) {
    BENCHMARKS
}

perfcheck::main!(costs);
";

/// The two benchmarks of most tests. The library determines the time of `cost`, and the time of `constant` never changes.
pub const TWO: &str = r#"
    suite.bench("cost", |b| takes(b, planted::NANOSECONDS));
    suite.bench("constant", |b| takes(b, 50));
"#;

/// A library that sets the time of `cost` to 100 ns.
pub const TAKES_100: &str = "pub const NANOSECONDS: u64 = 100;\n";

const LIKE_LIBTEST: &str = r#"
fn main() {
    if std::env::args().any(|argument| argument == "--ignored") {
        return;
    }
    if std::env::args().any(|argument| argument == "--list") {
        println!("work: benchmark");
        return;
    }
    println!("running 1 test");
    WORK
    println!("test work ... bench:  {}.00 ns/iter (+/- 1.00)", planted::NANOSECONDS);
}
"#;

/// The package `planted` with the bench target `costs`, in its own workspace and repository.
pub struct Project<'m> {
    pub machine: &'m Machine,
    pub made: Crate,
}

impl<'m> Project<'m> {
    /// Creates a project with one commit, in which `cost` takes 100 ns.
    pub fn new(machine: &'m Machine) -> Self {
        let project = Self::without_benches(machine);
        project.add_target("costs");
        project.benchmarks(TWO);
        project.commit();
        project
    }

    /// Creates a project with one commit of this library and these benchmarks.
    pub fn of(machine: &'m Machine, library: &str, benchmarks: &str) -> Self {
        let project = Self::without_benches(machine);
        project.add_target("costs");
        project.write("src/lib.rs", library);
        project.benchmarks(benchmarks);
        project.commit();
        project
    }

    /// Creates a project with one commit of this library and the benchmark `work`. The bench has no harness: it runs the code `work` and prints a
    /// result as libtest does.
    pub fn like_libtest(machine: &'m Machine, library: &str, work: &str) -> Self {
        let project = Self::without_benches(machine);
        project.add_target("costs");
        project.write("src/lib.rs", library);
        project.write("benches/costs.rs", &LIKE_LIBTEST.replace("WORK", work));
        project.commit();
        project
    }

    /// Creates a project that has only the library, without any commit.
    pub fn without_benches(machine: &'m Machine) -> Self {
        let made = Crate {
            root: machine.home().join("planted"),
        };
        let project = Self { machine, made };
        let harness = Path::new(env!("CARGO_MANIFEST_DIR")).join("harness");
        project.write(
            "Cargo.toml",
            &format!(
                "[workspace]\n\n[package]\nname = \"planted\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\
                 autobenches = false\n\n[lib]\nbench = false\n\n[profile.bench]\nopt-level = 0\ndebug = false\n\n\
                 [dev-dependencies]\nperfcheck = {{ path = {} }}\n",
                json!(harness)
            ),
        );
        project.write(".gitignore", "Cargo.lock\n/target\n");
        project.takes(100);
        project.git(&["init", "--quiet"]);
        project
    }

    pub fn root(&self) -> &Path {
        &self.made.root
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(path, text).expect("written");
    }

    /// Sets the time of `cost`.
    pub fn takes(&self, nanoseconds: u64) {
        let text = format!("pub const NANOSECONDS: u64 = {nanoseconds};\n");
        self.write("src/lib.rs", &text);
    }

    /// Declares a bench target in the manifest.
    pub fn add_target(&self, name: &str) {
        let path = self.root().join("Cargo.toml");
        let manifest = fs::read_to_string(path).expect("there");
        let target = format!("\n[[bench]]\nname = \"{name}\"\nharness = false\n");
        self.write("Cargo.toml", &(manifest + &target));
    }

    /// Writes the bench target `costs`, with `declarations` as its benchmarks.
    pub fn benchmarks(&self, declarations: &str) {
        self.write(
            "benches/costs.rs",
            &BENCH.replace("BENCHMARKS", declarations),
        );
    }

    /// Runs git and returns its output.
    #[track_caller]
    pub fn git(&self, words: &[&str]) -> String {
        self.made.git(self.machine, words).stdout
    }

    #[track_caller]
    pub fn commit(&self) -> String {
        self.made.commit(self.machine)
    }

    /// Prepares any command, with cargo's own target directory. Commands that can measure side by side do so, although most other tests turn that
    /// off.
    pub fn perfcheck(&self, words: &[&str]) -> Perfcheck {
        self.made
            .perfcheck(self.machine, words)
            .env_remove("PERFCHECK_NO_RERUN")
            .env_remove("CARGO_TARGET_DIR")
    }

    /// Prepares a run with JSON messages and a fixed seed. Executables run as they were linked: relinking for each side and round would take most of
    /// the time, and made-up times do not depend on layouts.
    pub fn measure(&self, words: &[&str]) -> Perfcheck {
        self.measure_in_layouts(words).args(["--as-built"])
    }

    /// Like `measure`, but relinks the executables for each round, which is the default for users.
    pub fn measure_in_layouts(&self, words: &[&str]) -> Perfcheck {
        self.perfcheck(words)
            .args(["--offline", "--message-format", "json", "--seed", "7"])
    }

    /// Returns what a command must not change in the checkout: the files with their modification times, and git's state.
    pub fn state(&self) -> Vec<String> {
        let mut state: Vec<String> = [
            &["rev-parse", "HEAD"][..],
            &["symbolic-ref", "HEAD"],
            &["worktree", "list", "--porcelain"],
            &["stash", "list"],
            &["for-each-ref"],
        ]
        .iter()
        .map(|words| self.git(words))
        .collect();
        let mut files = Vec::new();
        files_below(self.root(), &mut files);
        files.sort();
        for path in files {
            let changed = fs::metadata(&path).and_then(|data| data.modified());
            let since = changed.expect("there").duration_since(UNIX_EPOCH);
            let content = fs::read(&path).expect("readable");
            state.push(format!(
                "{} {since:?} {} bytes {:?}",
                path.display(),
                content.len(),
                content.iter().fold(0_u64, |sum, byte| sum
                    .wrapping_mul(31)
                    .wrapping_add(u64::from(*byte)))
            ));
        }
        state
    }
}

fn files_below(directory: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files_below(&path, into);
        } else {
            into.push(path);
        }
    }
}

/// Returns the comparison message about one benchmark.
#[track_caller]
pub fn compared(finished: &Finished, id: &str) -> Value {
    message(finished, "benchmark-compared", id)
}

/// Returns the source of a benchmark that two processes cannot run at the same time: it takes a lock and holds it until its process ends.
pub fn holding_a_lock(machine: &Machine, id: &str, body: &str) -> String {
    let lock = machine.home().join("lock").display().to_string();
    format!(
        r#"
        suite.bench({id:?}, |b| {{
            let file = std::fs::File::create({lock:?}).expect("created");
            file.try_lock().expect("somebody else has the lock");
            std::mem::forget(file);
            {body};
        }});
        "#
    )
}

/// Returns all remarks about a benchmark as one JSON text, so that a test can search them.
#[track_caller]
pub fn remarks(finished: &Finished, id: &str) -> String {
    compared(finished, id)["remarks"].to_string()
}
