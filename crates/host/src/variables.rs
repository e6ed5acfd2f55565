//! Reads all supported environment variables once.

#![expect(
    clippy::disallowed_methods,
    reason = "the place that reads the environment"
)]

use std::env;
use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;

use crate::os;

/// The values of environment variables.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a variable of its own"
)]
pub struct EnvironmentVariables {
    /// `CARGO`: the cargo that started this program, or else the one on `PATH`.
    pub cargo: PathBuf,
    /// `PERFCHECK_STORE`: path of the store.
    pub store: Option<PathBuf>,
    /// `PERFCHECK_TEAM_STORE`: address of the team's store.
    pub team_store: Option<String>,
    /// `PERFCHECK_CACHE`: directory in which revisions are built.
    pub cache: Option<PathBuf>,
    /// `PERFCHECK_NO_RERUN`: whether to compare with stored numbers only.
    pub no_rerun: bool,
    /// `PERFCHECK_NO_SAMPLING`: whether never to sample the time of processes.
    pub no_sampling: bool,
    /// `PERFCHECK_LOG`: the parts of the tool that log to stderr.
    pub log: Option<String>,
    /// `PERFCHECK_SCRIPTED_CLOCK`: scripted times of benches, for tests.
    pub scripted_clock: Option<String>,
    /// `PERFCHECK_SCRIPTED_CONTROL`: times of the control workload if the clock is scripted.
    pub scripted_control: Option<String>,
    /// The branch that the CI system names. Its checkout may be detached.
    pub ci_branch: Option<String>,
    /// Whether this is a CI runner (`CI`, `TF_BUILD`, `TEAMCITY_VERSION`), whose machine is shared and varies.
    pub ci: bool,
    /// `GITHUB_ACTIONS`: whether the output is the log of a GitHub Actions job, in which certain lines are commands.
    pub github_actions: bool,
    /// `GITHUB_STEP_SUMMARY`: file for Markdown that is shown on the page of the job.
    pub github_step_summary: Option<PathBuf>,
    /// Name of the CI job (`GITHUB_WORKFLOW` and `GITHUB_JOB`, or `CI_JOB_NAME`).
    pub job: Option<String>,
    /// `RAYON_NUM_THREADS`: number of threads for statistics.
    pub worker_threads: Option<usize>,
    /// `CARGO_TERM_COLOR`: `always`, `never` or `auto`.
    pub term_color: Option<String>,
    /// Whether the terminal shows all characters, by `TERM` and the character set of the locale; otherwise only ASCII is safe.
    pub shows_unicode: bool,
}

impl EnvironmentVariables {
    /// Reads the environment. An empty variable counts as not set.
    pub fn read() -> Self {
        let text = |name| env::var(name).ok().filter(|value| !value.is_empty());
        let path = |name| {
            env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        Self {
            cargo: path("CARGO").unwrap_or_else(|| "cargo".into()),
            store: path("PERFCHECK_STORE"),
            team_store: text("PERFCHECK_TEAM_STORE"),
            cache: path("PERFCHECK_CACHE"),
            no_rerun: text("PERFCHECK_NO_RERUN").is_some(),
            no_sampling: text("PERFCHECK_NO_SAMPLING").is_some(),
            log: text("PERFCHECK_LOG"),
            scripted_clock: text("PERFCHECK_SCRIPTED_CLOCK"),
            scripted_control: text("PERFCHECK_SCRIPTED_CONTROL"),
            ci_branch: text("GITHUB_HEAD_REF")
                .or_else(|| text("GITHUB_REF_NAME"))
                .or_else(|| text("CI_COMMIT_REF_NAME")),
            ci: ["CI", "TF_BUILD", "TEAMCITY_VERSION"]
                .into_iter()
                .any(|name| text(name).is_some()),
            github_actions: text("GITHUB_ACTIONS").is_some_and(|value| value == "true"),
            github_step_summary: path("GITHUB_STEP_SUMMARY"),
            job: text("GITHUB_JOB")
                .map(|job| match text("GITHUB_WORKFLOW") {
                    Some(workflow) => format!("{workflow}/{job}"),
                    None => job,
                })
                .or_else(|| text("CI_JOB_NAME")),
            worker_threads: text("RAYON_NUM_THREADS").and_then(|number| number.parse().ok()),
            term_color: text("CARGO_TERM_COLOR"),
            shows_unicode: shows_unicode(
                text("TERM").as_deref(),
                ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(text),
            ),
        }
    }
}

/// Reports whether a terminal of this type shows all characters with this locale. The first locale variable that is
/// set and not empty counts (POSIX.1-2024, 8.2). The Linux console accepts UTF-8, but has few of the characters.
/// Windows needs no locale.
fn shows_unicode(terminal: Option<&str>, locale: Option<String>) -> bool {
    let knows_little = matches!(terminal, Some("dumb" | "linux"));
    let locale = locale.unwrap_or_default().to_ascii_lowercase();
    let is_utf_8 = locale.contains("utf-8") || locale.contains("utf8");
    (is_utf_8 || os::TERMINAL_IGNORES_LOCALE) && !knows_little
}

/// Prefixes of the variables that affect compilers, linkers and common build scripts.
const OBEYED_BY_BUILDS: [&str; 23] = [
    "AR",
    "BINDGEN_",
    "CARGO_BUILD_",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_HOME",
    "CARGO_INCREMENTAL",
    "CARGO_PROFILE_",
    "CARGO_TARGET_",
    "CC",
    "CFLAGS",
    "CMAKE",
    "CPATH",
    "CXX",
    "HOST_",
    "LDFLAGS",
    "LIBCLANG_",
    "LIBRARY_PATH",
    "MACOSX_",
    "PKG_CONFIG",
    "RUSTC",
    "RUSTFLAGS",
    "RUSTUP_TOOLCHAIN",
    "SDKROOT",
];
/// Exceptions that do not affect the result of a build, only its location or speed.
const WITHOUT_INFLUENCE: [&str; 4] = [
    "CARGO_BUILD_BUILD_DIR",
    "CARGO_BUILD_JOBS",
    "CARGO_BUILD_TARGET_DIR",
    "CARGO_TARGET_DIR",
];

/// Returns the variables that can affect the result of a build, sorted.
pub fn build_environment() -> Vec<(String, OsString)> {
    let mut found: Vec<(String, OsString)> = env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
        .filter(|(name, _)| {
            OBEYED_BY_BUILDS
                .iter()
                .any(|beginning| name.starts_with(beginning))
                && !WITHOUT_INFLUENCE.contains(&name.as_str())
        })
        .collect();
    found.sort();
    found
}

/// Returns a new random seed below 2^53.
pub fn fresh_seed() -> u64 {
    // The standard library seeds its hash maps with random numbers of the system.
    let drawn = RandomState::new().hash_one(());
    // 53 bits, because some JSON parsers have only floats or signed integers.
    drawn >> 11
}

#[cfg(test)]
mod tests {
    use super::{os, shows_unicode};

    #[test]
    fn unicode_needs_a_terminal_that_has_it_and_a_locale_that_says_so() {
        let shows = |terminal, locale: &str| shows_unicode(Some(terminal), Some(locale.to_owned()));
        assert!(shows("xterm-256color", "en_GB.UTF-8"));
        assert!(shows("xterm", "C.utf8"));
        for locale in ["de_DE.ISO-8859-1", "C"] {
            assert_eq!(shows("xterm", locale), os::TERMINAL_IGNORES_LOCALE);
        }
        assert!(!shows("dumb", "C.UTF-8"));
        assert!(!shows("linux", "C.UTF-8"));
        assert_eq!(
            shows_unicode(Some("xterm"), None),
            os::TERMINAL_IGNORES_LOCALE
        );
    }
}
