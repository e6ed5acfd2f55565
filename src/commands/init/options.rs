//! Options of `init`, and the origin of a crate outside a registry: `path=DIRECTORY` or `git=ADDRESS`.

use clap::{Args, ValueEnum};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::str::FromStr;
use toml_edit::DocumentMut;

use crate::error::AppError;
use perfcheck_host::os::canonicalize;

const AFTER_INIT: &str = "\
Inspects the bench targets of the selected packages and says which harness each of them uses, whether it works unmodified, and what to run next. Criterion, \
divan and libtest benches work unmodified. Nothing is built or measured.

If the selected package has no benchmarks, --harness writes a first bench (benches/first.rs) and adds its entries to Cargo.toml, \
keeping comments and formatting. Without --harness, init writes them only if the package already depends on the harness, and otherwise prints what to add. \
Existing files are never replaced.

Examples:
  cargo perfcheck init                                       say which benches work unmodified
  cargo perfcheck init --harness path=../perfcheck/harness   write a first bench, with the harness from a clone
  cargo perfcheck init -p parser --harness git=ADDRESS       the same for the package `parser`, with the harness from git
  cargo perfcheck init --ci github --tool git=ADDRESS        write .github/workflows/perfcheck.yml
  cargo perfcheck init --ci gitlab --tool git=ADDRESS        write .gitlab-ci.yml, or print the job to add to it

Exit status: 0 success; 2 usage error, or a file to be written already exists; 5 a file could not be written.";

/// Options of `init`.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(after_long_help = AFTER_INIT)]
pub struct InitOptions {
    /// Write a first bench, with the harness from `path=DIRECTORY` or `git=ADDRESS`
    #[arg(long, value_name = "ORIGIN")]
    pub harness: Option<CrateOrigin>,
    /// Write a workflow for this CI system
    #[arg(long, value_name = "SYSTEM", requires = "tool")]
    pub ci: Option<CiSystem>,
    /// Install cargo-perfcheck in the CI job from `git=ADDRESS`, or from `path=DIRECTORY` in the repository
    #[arg(long, value_name = "ORIGIN", requires = "ci")]
    pub tool: Option<CrateOrigin>,
    /// Print the planned changes without writing them
    #[arg(long)]
    pub dry_run: bool,
}

/// A supported CI system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CiSystem {
    /// GitHub Actions
    #[value(name = "github")]
    GitHub,
    /// GitLab CI
    #[value(name = "gitlab")]
    GitLab,
}

/// Where cargo finds a crate that is not in a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CrateOrigin {
    /// A directory.
    Path(PathBuf),
    /// The address of a git repository.
    Git(String),
}

impl FromStr for CrateOrigin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((_, "")) => Err("nothing follows `=`".to_owned()),
            Some(("path", path)) => Ok(Self::Path(path.into())),
            Some(("git", address)) if is_plain(address) => Ok(Self::Git(address.to_owned())),
            Some(("git", _)) => {
                Err("an address cannot contain whitespace, quotes, `$` or `\\`".to_owned())
            }
            _ => Err("expected `path=DIRECTORY` or `git=ADDRESS`".to_owned()),
        }
    }
}

/// Reports whether a text needs no escaping between double quotes in manifests, shells and workflows.
pub(super) fn is_plain(text: &str) -> bool {
    let is_special = |c: char| c.is_whitespace() || c.is_control() || "\"'`$\\".contains(c);
    !text.contains(is_special) && !text.starts_with('-')
}

/// Returns the canonical path of a directory, which must contain the package `name`. `flag` is the flag that error messages name.
pub(super) fn resolve_package_directory(
    path: &Path,
    name: &str,
    flag: &str,
) -> Result<PathBuf, AppError> {
    let refused = |why: String| {
        AppError::Usage(format!(
            "`{flag} path={}`: {why}; nothing was written",
            path.display()
        ))
    };
    let directory = canonicalize(path).map_err(|error| refused(error.to_string()))?;
    match package_name(&directory.join("Cargo.toml")) {
        Some(found) if found == name => Ok(directory),
        Some(found) => Err(refused(format!(
            "the directory contains the package `{found}`, not `{name}`"
        ))),
        None => Err(refused(format!(
            "the directory contains no package `{name}`"
        ))),
    }
}

fn package_name(manifest: &Path) -> Option<String> {
    let document: DocumentMut = fs::read_to_string(manifest).ok()?.parse().ok()?;
    let name = document.get("package")?.get("name")?.as_str()?;
    Some(name.to_owned())
}

/// Returns the relative path from one directory to another; `.` if they are the same. Both must be absolute and without links.
pub(super) fn relative_path(from: &Path, to: &Path) -> PathBuf {
    let shared = (from.components().zip(to.components()))
        .take_while(|(one, other)| one == other)
        .count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    let way: PathBuf = up.chain(to.components().skip(shared)).collect();
    if way.as_os_str().is_empty() {
        return PathBuf::from(".");
    }
    way
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_a_path_or_an_address_that_a_shell_and_a_manifest_take_as_it_is() {
        let read = |text: &str| text.parse::<CrateOrigin>();
        let path = CrateOrigin::Path("../a b=c".into());
        assert_eq!(read("path=../a b=c"), Ok(path));
        let address = "ssh://git@localhost/tool.git";
        let git = CrateOrigin::Git(address.to_owned());
        assert_eq!(read(&format!("git={address}")), Ok(git));
        for refused in [
            "perfcheck",
            "path=",
            "version=1",
            "git=a b",
            "git=$(a)",
            "git=${{ a }}",
            "git=\"",
            "git=--config",
        ] {
            assert!(read(refused).is_err(), "{refused}");
        }
    }

    #[test]
    fn the_way_between_directories_climbs_as_far_as_it_must() {
        let of = |from: &str, to: &str| {
            perfcheck_host::os::display_with_slashes(&relative_path(from.as_ref(), to.as_ref()))
        };
        assert_eq!(of("/a/b/c", "/a/d/e"), "../../d/e");
        assert_eq!(of("/a", "/a/b"), "b");
        assert_eq!(of("/a", "/a"), ".");
    }
}
