//! CI workflow that measures every pull request.

use std::path::{Path, PathBuf};

use super::options::CiSystem;
use super::origin::{CrateOrigin, is_plain, relative_path, resolve_package_directory};
use super::planned::PlannedFiles;
use crate::app::error::AppError;

const GITHUB: &str = include_str!("github.yml");
const GITLAB: &str = include_str!("gitlab.yml");

/// Package name of the tool.
const TOOL: &str = "cargo-perfcheck";

/// The CI configuration: a workflow file, or a job in one.
pub(super) struct Automation {
    path: PathBuf,
    text: String,
    /// Whether the file may hold other jobs, to which this one can be added
    holds_others: bool,
}

impl Automation {
    /// Creates the configuration for a repository at `top`, with the workspace at `prefix` below it.
    pub(super) fn new(
        system: CiSystem,
        tool: &CrateOrigin,
        (top, prefix): (&Path, &Path),
    ) -> Result<Self, AppError> {
        let (install, revision) = installation(tool, top)?;
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
                .replace("TOOL_ORIGIN", &install)
                .replace("TOOL_REVISION", &revision)
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

/// Returns the arguments of `cargo install`, and the shell command that prints the revision they install.
fn installation(tool: &CrateOrigin, top: &Path) -> Result<(String, String), AppError> {
    match tool {
        CrateOrigin::Git(address) => Ok((
            format!("--git \"{address}\" {TOOL}"),
            format!("git ls-remote \"{address}\" HEAD | cut -f 1"),
        )),
        CrateOrigin::Path(path) => {
            let directory = resolve_package_directory(path, TOOL, "--tool")?;
            let Ok(below) = directory.strip_prefix(top) else {
                return Err(AppError::Usage(format!(
                    "`--tool path={}` lies outside the repository, which is all that a CI job has; nothing was written\n  help: name an address: `--tool git=ADDRESS`",
                    path.display()
                )));
            };
            let below = require_plain(below, "the tool")?;
            let from_top = require_plain(&relative_path(top, &directory), "the tool")?;
            Ok((
                format!("--path \"{from_top}\""),
                format!("git rev-parse \"HEAD:{below}\""),
            ))
        }
    }
}

/// Returns a path as text that needs no quoting in a shell or workflow.
fn require_plain(path: &Path, what: &str) -> Result<String, AppError> {
    let text = path.to_str().filter(|text| is_plain(text));
    text.map(str::to_owned).ok_or_else(|| {
        AppError::Usage(format!(
            "the path of {what} has white space or signs that a shell does not take as they are: {}; nothing was written",
            path.display()
        ))
    })
}
