//! The files that `init` writes: a CI workflow that measures every pull request, and the first bench of a package together with its manifest entries.
//! This bench compiles as it is written.
//!
//! Invariant: files that belong together are written all or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::manifest::{HARNESS, Manifest};
use super::options::{CiSystem, CrateOrigin, is_plain, relative_path, resolve_package_directory};
use crate::delivery::files::write_whole;
use crate::error::AppError;
use perfcheck_host::os::{canonicalize, display_with_slashes};

/// The files that `init` will write.
#[derive(Debug, Default)]
pub(super) struct PlannedFiles {
    files: Vec<PlannedFile>,
}

#[derive(Debug)]
struct PlannedFile {
    path: PathBuf,
    /// The content that the file has now, or `None` for a new file. An existing file is only changed if it was read before.
    old: Option<String>,
    new: String,
}

impl PlannedFiles {
    /// Plans a new file.
    pub(super) fn create(&mut self, path: PathBuf, content: String) -> Result<(), AppError> {
        if path.symlink_metadata().is_ok() {
            return Err(AppError::Usage(format!(
                "`{}` already exists; nothing was written\n  help: move it away and run the command again",
                path.display()
            )));
        }
        self.files.push(PlannedFile {
            path,
            old: None,
            new: content,
        });
        Ok(())
    }

    /// Plans a change of a file.
    pub(super) fn change(&mut self, path: PathBuf, old: String, new: String) {
        self.files.push(PlannedFile {
            path,
            old: Some(old),
            new,
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Prints the planned files without writing them. Paths are relative to `root` if possible.
    pub(super) fn show(&self, root: &Path, out: &mut dyn Write) -> io::Result<()> {
        for file in &self.files {
            let path = display_path(&file.path, root);
            let added = (file.old.as_deref()).and_then(|old| added_lines(old, &file.new));
            match (&file.old, &added) {
                (Some(_), Some(_)) => writeln!(out, "\n{path}, added:\n")?,
                (Some(_), None) => writeln!(out, "\n{path}, changed:\n")?,
                (None, _) => writeln!(out, "\n{path}, new:\n")?,
            }
            let text = added.as_deref().unwrap_or(&file.new).trim_matches('\n');
            for line in text.lines() {
                writeln!(out, "{}", format!("    {line}").trim_end())?;
            }
        }
        Ok(())
    }

    /// Writes the files and lists them. After an error, restores the files written before it.
    pub(super) fn write(&self, root: &Path, out: &mut dyn Write) -> Result<(), AppError> {
        let mut directories = Vec::new();
        for (count, file) in self.files.iter().enumerate() {
            let written = create_directories(&file.path, &mut directories)
                .and_then(|()| write_whole(&file.path, file.new.as_bytes()));
            if let Err(error) = written {
                self.restore(count, &directories);
                return Err(error.into());
            }
        }
        for file in &self.files {
            let verb = if file.old.is_some() {
                "Changed"
            } else {
                "Wrote"
            };
            writeln!(out, "{verb} {}", display_path(&file.path, root))?;
        }
        Ok(())
    }

    /// Undoes what `write` has done. Errors are ignored, because the error that made `write` fail is the one to report.
    fn restore(&self, written: usize, directories: &[PathBuf]) {
        for file in &self.files[..written] {
            let _ = match &file.old {
                Some(old) => write_whole(&file.path, old.as_bytes()),
                None => fs::remove_file(&file.path),
            };
        }
        for directory in directories.iter().rev() {
            let _ = fs::remove_dir(directory);
        }
    }
}

/// Creates the missing directories above `path`, and adds them to `directories`.
fn create_directories(path: &Path, directories: &mut Vec<PathBuf>) -> io::Result<()> {
    let above: Vec<&Path> = path.ancestors().skip(1).collect();
    for directory in above.into_iter().rev().filter(|above| !above.exists()) {
        let named = |error: io::Error| {
            io::Error::new(error.kind(), format!("{}: {error}", directory.display()))
        };
        fs::create_dir(directory).map_err(named)?;
        directories.push(directory.to_owned());
    }
    Ok(())
}

/// Formats a path relative to the root of the workspace. A path outside the workspace stays as it is.
pub(super) fn display_path(path: &Path, root: &Path) -> String {
    path.strip_prefix(root)
        .unwrap_or(path)
        .display()
        .to_string()
}

/// Returns the lines that `new` adds to `old`, or `None` if `new` lacks a line of `old`.
fn added_lines(old: &str, new: &str) -> Option<String> {
    let mut old = old.lines().peekable();
    let mut added = Vec::new();
    for line in new.lines() {
        if old.next_if_eq(&line).is_none() {
            added.push(line);
        }
    }
    old.peek().is_none().then(|| added.join("\n"))
}

const GITHUB: &str = include_str!("github.yml");
const GITLAB: &str = include_str!("gitlab.yml");

/// Name of the package to install in CI.
const TOOL: &str = "cargo-perfcheck";

/// The CI configuration: a workflow file, or a job in one.
pub(super) struct Automation {
    path: PathBuf,
    text: String,
    /// Whether the file may contain other jobs. If it exists, the user must add this job to it.
    holds_others: bool,
}

impl Automation {
    /// Creates the configuration for a repository. `top` is the directory of the repository, and `prefix` is the path of the workspace in it.
    pub(super) fn new(
        system: CiSystem,
        tool: &CrateOrigin,
        top: &Path,
        prefix: &Path,
    ) -> Result<Self, AppError> {
        let installation = Installation::new(tool, top, system)?;
        let manifest = if prefix.as_os_str().is_empty() {
            String::new()
        } else {
            let path = prefix.join("Cargo.toml");
            format!(
                " --manifest-path \"{}\"",
                require_plain(&path, "the workspace")?
            )
        };
        let (name, template) = match system {
            CiSystem::GitHub => (".github/workflows/perfcheck.yml", GITHUB),
            CiSystem::GitLab => (".gitlab-ci.yml", GITLAB),
        };
        Ok(Self {
            path: top.join(name),
            text: template
                .replace("TOOL_INSTALL", &installation.commands)
                .replace("TOOL_REVISION", &installation.revision)
                .replace("        env: TOOL_ENVIRONMENT\n", installation.environment)
                .replace("MANIFEST", &manifest),
            holds_others: system == CiSystem::GitLab,
        })
    }

    /// Plans the file. If it exists with other jobs, returns its path and the job that the user must add.
    pub(super) fn plan(
        self,
        files: &mut PlannedFiles,
    ) -> Result<Option<(PathBuf, String)>, AppError> {
        if self.holds_others && self.path.exists() {
            return Ok(Some((self.path, self.text)));
        }
        files.create(self.path, self.text)?;
        Ok(None)
    }
}

/// Shell commands that take the program of the latest release if GitHub attests that the workflow `release` of the repository made it. Otherwise they
/// compile the tool.
const INSTALL_RELEASE: &str = r#"archive="$RUNNER_TEMP/cargo-perfcheck.tar.gz"
          {
            gh release download --repo OWNER_NAME --pattern 'cargo-perfcheck-*-x86_64-unknown-linux-gnu.tar.gz' --output "$archive" &&
              gh attestation verify "$archive" --repo OWNER_NAME --signer-workflow OWNER_NAME/.github/workflows/release.yml &&
              tar -xzf "$archive" -C ~/.cargo/bin --strip-components 1 --wildcards '*/cargo-perfcheck'
          } || "#;

/// How a CI job gets the tool.
struct Installation {
    /// The shell commands that install the tool.
    commands: String,
    /// A shell command that prints the revision or release that the commands install. It is part of the key under which the job keeps the tool.
    revision: String,
    /// The lines of a GitHub step that give these commands a token; empty if they need none.
    environment: &'static str,
}

impl Installation {
    fn new(tool: &CrateOrigin, top: &Path, system: CiSystem) -> Result<Self, AppError> {
        match tool {
            CrateOrigin::Git(address) => {
                let compile = format!("cargo install --locked --git \"{address}\" {TOOL}");
                let newest = format!("git ls-remote \"{address}\" HEAD | cut -f 1");
                let repository = github_repository(address);
                Ok(match repository.filter(|_| system == CiSystem::GitHub) {
                    Some(repository) => Self {
                        commands: INSTALL_RELEASE.replace("OWNER_NAME", repository) + &compile,
                        revision: format!(
                            "gh release view --repo {repository} --json tagName --jq .tagName || {newest}"
                        ),
                        environment: "        env:\n          GH_TOKEN: ${{ github.token }}\n",
                    },
                    None => Self {
                        commands: compile,
                        revision: newest,
                        environment: "",
                    },
                })
            }
            CrateOrigin::Path(path) => {
                let directory = resolve_package_directory(path, TOOL, "--tool")?;
                let Ok(below) = directory.strip_prefix(top) else {
                    return Err(AppError::Usage(format!(
                        "`--tool path={}` is outside the repository, where a CI job cannot read it; nothing was written\n  help: use `--tool git=ADDRESS`",
                        path.display()
                    )));
                };
                let below = require_plain(below, "the tool")?;
                let from_top = require_plain(&relative_path(top, &directory), "the tool")?;
                Ok(Self {
                    commands: format!("cargo install --locked --path \"{from_top}\""),
                    revision: format!("git rev-parse \"HEAD:{below}\""),
                    environment: "",
                })
            }
        }
    }
}

/// Returns `OWNER/NAME` if `address` is that of a repository on GitHub.
fn github_repository(address: &str) -> Option<&str> {
    let path = address.strip_prefix("https://github.com/")?;
    let path = path.trim_end_matches('/').trim_end_matches(".git");
    let (owner, name) = path.split_once('/')?;
    let is_name = |text: &str| {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        !text.is_empty() && text.chars().all(is_part)
    };
    (is_name(owner) && is_name(name)).then_some(path)
}

/// Returns a path as text that can stand in a shell command or workflow without quotes, with slashes on every system. Fails if the path needs quotes.
fn require_plain(path: &Path, what: &str) -> Result<String, AppError> {
    let text = path.to_str().map(|_| display_with_slashes(path));
    text.filter(|text| is_plain(text)).ok_or_else(|| {
        AppError::Usage(format!(
            "the path of {what} contains whitespace or characters that a shell would interpret: {}; nothing was written",
            path.display()
        ))
    })
}

/// Name of the bench target that `init` creates.
const NAME: &str = "first";

/// Source of the bench that `init` creates. `LIBRARY` stands for the crate name of the library.
const SOURCE: &str = r#"//! A first benchmark: call the code to measure in the body of `first`.

use LIBRARY as _; // the code to measure: `use LIBRARY::...;`
use perfcheck::{Suite, black_box};

fn first(suite: &mut Suite) {
    // Setup, which is not timed.
    let text = "the quick brown fox jumps over the lazy dog";
    // `black_box` keeps the compiler from computing the result in advance.
    suite.bench("first", |b| {
        b.iter(|| black_box(text).split_whitespace().count())
    });
}

perfcheck::main!(first);
"#;

/// Declarations that the bench needs in edition 2015, in addition to `SOURCE`.
const DECLARATIONS: &str = "extern crate LIBRARY;\nextern crate perfcheck;\n\n";

/// A package without benchmarks that is to get a first bench.
pub(super) struct FirstBench<'a> {
    pub(super) manifest: &'a Manifest,
    pub(super) workspace: &'a Manifest,
    /// Crate name of the library that the bench will call.
    pub(super) library: String,
}

impl FirstBench<'_> {
    /// Returns true if the package already depends on the harness.
    pub(super) fn has_harness(&self) -> bool {
        let used = self.manifest.used_crates(self.workspace);
        used.iter().any(|used| used.package == HARNESS)
    }

    /// Plans the files. Takes the harness from `origin` unless the package depends on it already.
    pub(super) fn plan(
        &self,
        origin: Option<&CrateOrigin>,
        files: &mut PlannedFiles,
    ) -> Result<(), AppError> {
        let origin = origin.filter(|_| !self.has_harness());
        let manifest = &self.manifest;
        let changed = manifest.with_bench(NAME, origin)?;
        files.create(self.path(), self.source())?;
        files.change(manifest.path.clone(), manifest.text.clone(), changed);
        Ok(())
    }

    fn path(&self) -> PathBuf {
        let name = format!("benches/{NAME}.rs");
        self.manifest.path.with_file_name(name)
    }

    fn source(&self) -> String {
        let source = if self.manifest.uses_edition_2015(self.workspace) {
            let (docs, code) = SOURCE.split_once("\n\n").unwrap_or_default();
            let code = code.split_once('\n').unwrap_or_default().1;
            format!("{docs}\n\n{DECLARATIONS}{code}")
        } else {
            SOURCE.to_owned()
        };
        source.replace("LIBRARY", &self.library)
    }
}

/// Converts the origin for a manifest in `directory`: a path relative to the working directory becomes relative to `directory`.
pub(super) fn relative_to_manifest(
    directory: &Path,
    origin: &CrateOrigin,
) -> Result<CrateOrigin, AppError> {
    let CrateOrigin::Path(path) = origin else {
        return Ok(origin.clone());
    };
    let harness = resolve_package_directory(path, HARNESS, "--harness")?;
    if path.is_absolute() {
        return Ok(CrateOrigin::Path(harness));
    }
    let directory = canonicalize(directory)?;
    Ok(CrateOrigin::Path(relative_path(&directory, &harness)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_to_a_file_is_told_from_what_was_there() {
        assert_eq!(
            added_lines("a\nb\n", "a\nx\nb\ny\n").as_deref(),
            Some("x\ny")
        );
        assert_eq!(added_lines("a\nb\n", "a\nc\n"), None);
    }

    #[test]
    fn what_comes_before_a_file_that_cannot_be_written_is_taken_back() {
        let directory = tempfile::tempdir().expect("a directory");
        let manifest = directory.path().join("Cargo.toml");
        fs::write(&manifest, "old").expect("written");
        let mut files = PlannedFiles::default();
        files.change(manifest.clone(), "old".to_owned(), "new".to_owned());
        let bench = directory.path().join("benches/first.rs");
        files.create(bench, String::new()).expect("it is not there");
        // A path below a file cannot be created.
        let nowhere = manifest.join("more/file");
        files
            .create(nowhere, String::new())
            .expect("it is not there");
        let error = files.write(directory.path(), &mut Vec::new());
        let error = error.expect_err("a file is no directory").to_string();
        let missing = manifest.join("more").display().to_string();
        assert!(error.contains(&missing), "{error}");
        assert_eq!(fs::read_to_string(&manifest).expect("read"), "old");
        assert_eq!(fs::read_dir(directory.path()).expect("read").count(), 1);
    }
}
