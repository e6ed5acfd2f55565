//! A crate with many benchmarks, which is measured and sent by the executable beside this one.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Failure;
use crate::filling::Scale;

const BENCH: &str = r#"
fn many(suite: &mut perfcheck::Suite) {
    let count: usize = std::fs::read_to_string("count.txt").unwrap().parse().unwrap();
    for place in 0..count {
        suite.bench(format!("bench/{place}"), move |b| {
            b.iter(|| (0..std::hint::black_box(100 + place as u64 % 7)).sum::<u64>())
        });
    }
}
perfcheck::main!(many);
"#;

/// A crate with many benchmarks that is measured and sent.
pub(crate) struct Subject {
    pub(crate) directory: PathBuf,
    target: PathBuf,
}

impl Subject {
    /// Writes a crate with this number of benchmarks.
    pub(crate) fn write(directory: &Path, benchmarks: usize) -> Result<Self, Failure> {
        let target = directory.join("target");
        Self::in_directory(directory.join("crate"), target, benchmarks, "scale")
    }

    /// Writes another crate, which shares the target directory.
    pub(crate) fn with_benchmarks(&self, name: &str, benchmarks: usize) -> Result<Self, Failure> {
        let directory = self.directory.with_file_name(name);
        Self::in_directory(directory, self.target.clone(), benchmarks, name)
    }

    fn in_directory(
        directory: PathBuf,
        target: PathBuf,
        benchmarks: usize,
        id: &str,
    ) -> Result<Self, Failure> {
        let harness = Path::new(env!("CARGO_MANIFEST_DIR")).join("../harness");
        let harness = serde_json::to_string(&harness.canonicalize()?)?;
        std::fs::create_dir_all(directory.join("benches"))?;
        std::fs::write(
            directory.join("Cargo.toml"),
            format!(
                "[package]\nname = \"{id}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\
                 [workspace]\nmetadata.perfcheck.id = \"{id}\"\n\
                 [dev-dependencies]\nperfcheck = {{ path = {harness} }}\n\
                 [[bench]]\nname = \"many\"\nharness = false\n"
            ),
        )?;
        std::fs::write(directory.join("benches/many.rs"), BENCH)?;
        std::fs::write(directory.join("count.txt"), benchmarks.to_string())?;
        let subject = Self { directory, target };
        for words in [
            &["init", "--quiet", "--initial-branch=main"][..],
            &["add", "--all"],
            &[
                "-c",
                "user.name=n",
                "-c",
                "user.email=n@n",
                "commit",
                "--quiet",
                "-m",
                "first",
            ],
        ] {
            let done = Command::new("git")
                .args(words)
                .current_dir(&subject.directory)
                .status()?;
            if !done.success() {
                return Err(format!("git {words:?}: {done}").into());
            }
        }
        Ok(subject)
    }

    fn perfcheck(&self, words: &[&str]) -> Result<Command, Failure> {
        let mut command = Command::new(std::env::current_exe()?.with_file_name("cargo-perfcheck"));
        command
            .arg("perfcheck")
            .args(words)
            .current_dir(&self.directory)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("PERFCHECK_CACHE", self.target.join("cache"))
            // Measure alone, not side by side with an earlier build.
            .env("PERFCHECK_NO_RERUN", "1")
            .stdin(Stdio::null());
        Ok(command)
    }

    /// Measures the benchmarks once, quickly, and stores the run.
    pub(crate) fn measure(&self, store: &Path, scale: &Scale) -> Result<(), Failure> {
        let (processes, samples) = (scale.processes.to_string(), scale.samples.to_string());
        let mut command = self.perfcheck(&[
            "--rounds",
            &processes,
            "--samples",
            &samples,
            "--warm-up-time",
            "1ms",
            "--measurement-time",
            "5ms",
            "--fail-on",
            "none",
            "--quiet",
        ])?;
        run(command
            .env("PERFCHECK_STORE", store)
            .env("RUST_BACKTRACE", "0"))
    }

    /// Sends the runs of a store.
    pub(crate) fn push(&self, store: &Path, address: &str) -> Result<(), Failure> {
        run(self
            .perfcheck(&["store", "push", address])?
            .env("PERFCHECK_STORE", store))
    }

    /// Runs a command on a team's store.
    pub(crate) fn command(&self, words: &[&str], address: &str) -> Result<(), Failure> {
        run(self.perfcheck(words)?.args(["--store", address]))
    }
}

fn run(command: &mut Command) -> Result<(), Failure> {
    let done = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()?;
    // A regression in made-up data is not a failure.
    if matches!(done.status.code(), Some(0 | 1)) {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    Err(format!("{command:?}: {}\n{said}", done.status).into())
}
