//! The compiler, and what cargo's configuration says about how it is used.

#![expect(
    clippy::disallowed_methods,
    reason = "reads what cargo and rustc read of the environment"
)]

use cargo_config2::{Config, PathAndArgs, ResolveOptions};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::error::CargoError;
use super::options::CargoOptions;
use super::overrides::{ConfiguredVariable, Overrides};
use crate::process::Supervisor;
use perfcheck_analysis::model::BuildFacts;

/// Compiler, target and effective configuration of a build.
#[derive(Debug, Clone)]
pub struct Toolchain {
    /// What makes two builds comparable.
    pub facts: BuildFacts,
    /// Directory of the standard library of the target, for the library path.
    pub target_libraries: PathBuf,
    /// The `[env]` table.
    pub(super) configured_environment: Vec<ConfiguredVariable>,
    /// A program that cargo would start executables with, and its arguments.
    pub(super) runner: Vec<OsString>,
    /// The linker that cargo's configuration names.
    pub linker: Option<PathBuf>,
}

impl Toolchain {
    /// Asks the compiler and reads cargo's configuration, as cargo would from the current directory.
    pub fn detect(options: &CargoOptions, supervisor: &Supervisor) -> Result<Self, CargoError> {
        let here = std::env::current_dir().map_err(|source| CargoError::Start {
            program: "rustc".into(),
            source,
        })?;
        let overrides = Overrides::read(&options.config, &here);
        let resolving = || {
            let variables = overrides.variables.iter();
            let variables = variables.map(|(name, value)| (name.into(), value.into()));
            ResolveOptions::default().env(std::env::vars_os().chain(variables))
        };
        let rustc = Config::load_with_options(&here, resolving())?
            .rustc()
            .clone();
        let version = ask(&rustc, &["-vV"], supervisor)?;
        let host = version
            .lines()
            .find_map(|line| line.strip_prefix("host: "))
            .ok_or_else(|| CargoError::Answer {
                program: "rustc -vV".to_owned(),
                what: format!("no `host` line in {version:?}"),
            })?
            .to_owned();
        // Told what the host is, this need not ask `cargo -vV`, which asks for the name of the system, too.
        let known = resolving().host_triple(host.as_str());
        let interrupt = supervisor.interrupt();
        let configured = interrupt.while_computing("", || {
            let configured = Configured::read(&here, known, host, options);
            // Its rustc hears a Ctrl-C, too, and may end a moment earlier than we hear it.
            if configured.is_err() && interrupt.requested_a_moment_ago() {
                return Err(CargoError::Interrupted);
            }
            configured
        })?;
        let Configured {
            config,
            target,
            mut rustflags,
            runner,
            linker,
        } = configured;
        rustflags.extend(
            options
                .config
                .iter()
                .map(|entry| format!("--config {entry}")),
        );
        let mut configured_environment = overrides.environment;
        for (name, entry) in &config.env {
            if configured_environment.iter().all(|one| one.name != *name) {
                configured_environment.push(ConfiguredVariable {
                    name: name.clone(),
                    value: entry.value.clone(),
                    force: entry.force,
                });
            }
        }
        let target_libraries = if let Some(directory) = libraries_beside(&rustc, &target) {
            directory
        } else {
            let question = ["--print", "target-libdir", "--target", &target];
            ask(&rustc, &question, supervisor)?.trim_end().into()
        };
        Ok(Self {
            facts: BuildFacts {
                rustc: version.lines().next().unwrap_or_default().to_owned(),
                target,
                profile: options.profile_name().to_owned(),
                rustflags: rustflags.join(" "),
            },
            target_libraries,
            configured_environment,
            runner,
            linker,
        })
    }

    /// Whether the compiler takes unstable features, such as `#[bench]`.
    pub fn allows_unstable_features(&self) -> bool {
        let version = &self.facts.rustc;
        version.contains("-nightly")
            || version.contains("-dev")
            || std::env::var_os("RUSTC_BOOTSTRAP").is_some_and(|value| value != "0")
    }

    /// The name by which rustup knows the toolchain; `None` where it is none of rustup's.
    pub fn rustup_name(&self) -> Option<&OsStr> {
        // SYSROOT/lib/rustlib/TARGET/lib
        let sysroot = self.target_libraries.ancestors().nth(4)?;
        let is_rustups = sysroot.parent()?.file_name()? == "toolchains";
        is_rustups.then(|| sysroot.file_name())?
    }
}

/// Cargo's configuration of a target.
struct Configured {
    config: Config,
    target: String,
    rustflags: Vec<String>,
    runner: Vec<OsString>,
    linker: Option<PathBuf>,
}

impl Configured {
    /// Reads the configuration in force in `here`. Where it has tables for a `cfg`, the library asks rustc by itself which of them hold.
    fn read(
        here: &Path,
        known: ResolveOptions,
        host: String,
        options: &CargoOptions,
    ) -> Result<Self, CargoError> {
        let config = Config::load_with_options(here, known)?;
        let target = match &options.target {
            Some(target) => target.clone(),
            None => config
                .build_target_for_config::<_, &str>([])?
                .first()
                .map_or(host, |target| target.triple().to_owned()),
        };
        let flags = config.rustflags(target.as_str())?;
        let runner = config
            .runner(target.as_str())?
            .map_or_else(Vec::new, |runner| {
                let mut words = vec![runner.path.into_os_string()];
                words.extend(runner.args);
                words
            });
        let linker = config.linker(target.as_str())?;
        Ok(Self {
            rustflags: flags.map_or_else(Vec::new, |flags| flags.flags),
            config,
            target,
            runner,
            linker,
        })
    }
}

/// Where the compiler of a toolchain has its libraries: `SYSROOT/lib/rustlib/TARGET/lib` beside `SYSROOT/bin/rustc`, which wrappers are told last. `None`
/// for a stand-in that only starts the compiler, and where they lie elsewhere: then the compiler is to be asked.
fn libraries_beside(rustc: &PathAndArgs, target: &str) -> Option<PathBuf> {
    let compiler = rustc.args.last().map_or(rustc.path.as_path(), Path::new);
    if !compiler.is_absolute() {
        return None;
    }
    let program = compiler.canonicalize().ok()?;
    let directory = program.parent()?;
    let sysroot = directory.parent()?;
    let libraries = sysroot.join("lib/rustlib").join(target).join("lib");
    let is_usual = program.file_stem()? == "rustc"
        && directory.file_name()? == "bin"
        && !sysroot.join("lib64/rustlib").exists()
        && libraries.is_dir();
    is_usual.then_some(libraries)
}

fn ask(
    rustc: &PathAndArgs,
    question: &[&str],
    supervisor: &Supervisor,
) -> Result<String, CargoError> {
    let output = supervisor
        .output(Command::from(rustc).args(question))
        .map_err(|error| CargoError::not_run(&rustc.path, error))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(CargoError::Answer {
            program: format!("{} {}", rustc.path.display(), question.join(" ")),
            what: String::from_utf8_lossy(&output.stderr)
                .trim_end()
                .to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_libraries_beside_the_compiler_are_those_that_it_tells_of() {
        let supervisor = Supervisor::default();
        let found = Toolchain::detect(&CargoOptions::default(), &supervisor).expect("a compiler");
        let target = &found.facts.target;
        let here = std::env::current_dir().expect("a directory");
        let rustc = Config::load_with_cwd(&here)
            .expect("readable")
            .rustc()
            .clone();
        let question = ["--print", "target-libdir", "--target", target];
        let told = ask(&rustc, &question, &supervisor).expect("an answer");
        assert_eq!(found.target_libraries, Path::new(told.trim_end()));
    }

    #[test]
    fn what_only_starts_the_compiler_is_to_be_asked() {
        let directory = tempfile::tempdir().expect("a directory");
        let place = |path: &str| directory.path().join(path);
        let beside = |path: PathBuf, args: &[&str]| {
            let mut rustc = PathAndArgs::new(path);
            rustc.args(args);
            libraries_beside(&rustc, "some-target")
        };
        let libraries = place("lib/rustlib/some-target/lib");
        std::fs::create_dir_all(&libraries).expect("a directory");
        std::fs::create_dir(place("bin")).expect("a directory");
        let rustc = place("bin/rustc");
        std::fs::write(&rustc, "").expect("a file");
        let libraries = libraries.canonicalize().expect("there");
        assert_eq!(beside(rustc.clone(), &[]), Some(libraries.clone()));
        // A wrapper is told which compiler to start.
        let told = rustc.display().to_string();
        assert_eq!(beside(PathBuf::from("wrapper"), &[&told]), Some(libraries));
        // A compiler that is looked for in `PATH`.
        assert_eq!(beside(rustc.clone(), &["rustc"]), None);
        assert_eq!(beside(PathBuf::from("rustc"), &[]), None);
        std::fs::create_dir_all(place("lib64/rustlib")).expect("a directory");
        assert_eq!(beside(rustc.clone(), &[]), None);
        std::fs::remove_dir(place("lib64/rustlib")).expect("removed");
        // Rustup's stand-in, in a directory that has libraries of another compiler.
        std::fs::rename(&rustc, place("bin/rustup")).expect("renamed");
        std::os::unix::fs::symlink("rustup", &rustc).expect("a link");
        assert_eq!(beside(rustc, &[]), None);
    }
}
