//! Bench crates that tests create in any directory: as workspaces, in git repositories, with changes.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::commands::scripted::{CLOCK, QUICK, script};
use crate::support::{Finished, Machine, Perfcheck, run};

/// Source of a bench that reads its list of benchmarks from a file, so that changing the list needs no build.
const BENCH: &str = r#"
use perfcheck::{Suite, black_box};

fn listed(suite: &mut Suite) {
    for line in std::fs::read_to_string("benchmarks.txt").expect("the list").lines() {
        let (id, version) = line.split_once(' ').unwrap_or((line, ""));
        if !version.is_empty() {
            suite.version(version);
        }
        suite.bench(id, |b| b.iter(|| black_box(7_u64) + 1));
    }
}

perfcheck::main!(listed);
"#;

/// A directory with the package `listed` in its own workspace. Its bench target is also called `listed`.
pub struct Crate {
    pub root: PathBuf,
}

impl Crate {
    /// Writes the package to `root`. Each of `benchmarks` is `ID` or `ID VERSION`, and `tables` is appended to the manifest.
    pub fn write(root: PathBuf, benchmarks: &[&str], tables: &str) -> Self {
        let harness = Path::new(env!("CARGO_MANIFEST_DIR")).join("harness");
        // A JSON string is also a valid TOML string.
        let harness = serde_json::json!(harness).to_string();
        let manifest = format!(
            "[workspace]\n\n\
             [package]\nname = \"listed\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n\
             [dev-dependencies]\nperfcheck = {{ path = {harness} }}\n\n\
             [[bench]]\nname = \"listed\"\nharness = false\n\n\
             [profile.bench]\nopt-level = 0\ndebug = false\n\n{tables}"
        );
        fs::create_dir_all(root.join("benches")).expect("a new directory");
        fs::write(root.join("Cargo.toml"), manifest).expect("a new file");
        fs::write(root.join("benches/listed.rs"), BENCH).expect("a new file");
        let written = Self { root };
        written.list(benchmarks);
        written
    }

    /// Creates a crate with this bench source. The package also gets its own name: cargo keeps the executables of all packages called `listed` in one
    /// directory, and another test may build there at the same time.
    pub fn with_source(machine: &Machine, benchmarks: &[&str], source: &str) -> Self {
        let made = Self::of(machine, benchmarks, "");
        let mut hasher = DefaultHasher::new();
        source.hash(&mut hasher);
        let name = format!("name = \"listed-{:016x}\"\nversion", hasher.finish());
        let manifest = made.root.join("Cargo.toml");
        let text = fs::read_to_string(&manifest).expect("it was written");
        fs::write(manifest, text.replace("name = \"listed\"\nversion", &name)).expect("written");
        fs::write(made.root.join("benches/listed.rs"), source).expect("written");
        made
    }

    /// Creates a crate with the bench that reads its list of benchmarks. In the source of that bench, `from` is replaced by `to`.
    pub fn altered(machine: &Machine, benchmarks: &[&str], from: &str, to: &str) -> Self {
        assert!(BENCH.contains(from), "{from}");
        Self::with_source(machine, benchmarks, &BENCH.replace(from, to))
    }

    /// Creates the crate in the home directory of `machine`.
    pub fn of(machine: &Machine, benchmarks: &[&str], tables: &str) -> Self {
        Self::write(machine.home().join("listed"), benchmarks, tables)
    }

    /// Changes the list of benchmarks.
    pub fn list(&self, benchmarks: &[&str]) {
        fs::write(self.root.join("benchmarks.txt"), benchmarks.join("\n")).expect("written");
    }

    /// Prepares a command of `cargo perfcheck` in the crate's directory.
    pub fn perfcheck(&self, machine: &Machine, words: &[&str]) -> Perfcheck {
        machine.perfcheck().args(words).current_dir(&self.root)
    }

    /// Prepares a quick run. The benchmarks in `changed` take the given nanoseconds, all others 100.
    pub fn measure(
        &self,
        machine: &Machine,
        others: &[&str],
        changed: &[(&str, f64)],
    ) -> Perfcheck {
        let mut ids = others.to_vec();
        ids.extend(changed.iter().map(|(id, _)| *id));
        self.perfcheck(machine, &QUICK)
            .args(["--message-format", "json"])
            .env(CLOCK, script(&ids, changed))
    }

    /// Runs git in the directory of the crate, and panics if git fails.
    #[track_caller]
    pub fn git(&self, machine: &Machine, words: &[&str]) -> Finished {
        let mut command = machine.command("git");
        command
            .args([
                "-c",
                "user.name=Nobody",
                "-c",
                "user.email=nobody@localhost",
            ])
            .args([
                "-c",
                "init.defaultBranch=main",
                "-c",
                "commit.gpgsign=false",
            ])
            .args(words)
            .current_dir(&self.root);
        run(command).expect_code(0)
    }

    /// Turns the directory into a repository with one commit on `main`.
    #[track_caller]
    pub fn into_repository(self, machine: &Machine) -> Self {
        self.git(machine, &["init", "--quiet"]);
        fs::write(self.root.join(".gitignore"), "Cargo.lock\n").expect("written");
        self.commit(machine);
        self
    }

    /// Commits everything, even if nothing has changed. Returns the hash.
    #[track_caller]
    pub fn commit(&self, machine: &Machine) -> String {
        // Use distinct messages: two commits of the same state within one second would otherwise be identical.
        static CHANGES: AtomicU32 = AtomicU32::new(0);
        self.git(machine, &["add", "--all"]);
        let change = format!("Change {}", CHANGES.fetch_add(1, Ordering::Relaxed));
        let words = ["commit", "--quiet", "--allow-empty", "--message", &change];
        self.git(machine, &words);
        let head = self.git(machine, &["rev-parse", "HEAD"]);
        head.stdout.trim().to_owned()
    }
}
