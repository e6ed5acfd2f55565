//! The compiler, cargo's configuration for it, and settings of `--config` on the command line that affect how benches are started.
//!
//! Cargo itself applies the entries of `--config` to its builds. The library that reads cargo's configuration knows only files and environment
//! variables, so the entries that matter here are passed to it as the equivalent variables; only `[env]` has none. Cargo reports invalid entries, so
//! they are ignored here.

#![expect(
    clippy::disallowed_methods,
    reason = "reads what cargo and rustc read of the environment"
)]

use cargo_config2::{Config, PathAndArgs, ResolveOptions};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use toml_edit::{DocumentMut, Item, TableLike};

use super::cfg::CfgOptions;
use super::error::CargoError;
use super::options::CargoOptions;
use perfcheck_analysis::model::BuildFacts;
use perfcheck_host::process::Supervisor;

/// Compiler, target and effective configuration of a build.
#[derive(Debug, Clone)]
pub struct Toolchain {
    /// The facts that must agree for two builds to be comparable.
    pub facts: BuildFacts,
    /// Directory of the target's standard library, for the library path.
    pub target_libraries: PathBuf,
    /// The variables of the `[env]` table.
    pub(super) configured_environment: Vec<ConfiguredVariable>,
    /// The configured runner and its arguments. Empty if there is no runner.
    pub(super) runner: Vec<OsString>,
    /// The linker from cargo's configuration.
    pub linker: Option<PathBuf>,
    rustc: PathAndArgs,
    /// The compiler's flags from cargo's configuration.
    rustflags: Vec<String>,
}

impl Toolchain {
    /// Queries the compiler and reads cargo's configuration, as cargo would from the current directory.
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
        let version = query_rustc(&rustc, &["-vV"], supervisor)?;
        let host = version
            .lines()
            .find_map(|line| line.strip_prefix("host: "))
            .ok_or_else(|| CargoError::Answer {
                program: "rustc -vV".to_owned(),
                what: format!("no `host` line in {version:?}"),
            })?
            .to_owned();
        // With the host given, the library does not have to run `cargo -vV`, which in turn queries the name of the system.
        let known = resolving().host_triple(host.as_str());
        let interrupt = supervisor.interrupt();
        let configured = interrupt.while_computing("", || {
            let configured = TargetConfiguration::read(&here, known, host, options);
            // The library's rustc receives Ctrl-C too, and may exit a moment before we notice the signal.
            if configured.is_err() && interrupt.is_requested_after_delay() {
                return Err(CargoError::Interrupted);
            }
            configured
        })?;
        let TargetConfiguration {
            config,
            target,
            rustflags,
            runner,
            linker,
        } = configured;
        let entries = options.config.iter();
        let entries = entries.map(|entry| format!("--config {entry}"));
        let flags: Vec<String> = rustflags.iter().cloned().chain(entries).collect();
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
        let target_libraries = if let Some(directory) = find_libraries(&rustc, &target) {
            directory
        } else {
            let question = ["--print", "target-libdir", "--target", &target];
            query_rustc(&rustc, &question, supervisor)?
                .trim_end()
                .into()
        };
        Ok(Self {
            facts: BuildFacts {
                rustc: version.lines().next().unwrap_or_default().to_owned(),
                target,
                profile: options.profile_name().to_owned(),
                rustflags: flags.join(" "),
            },
            target_libraries,
            configured_environment,
            runner,
            linker,
            rustc,
            rustflags,
        })
    }

    /// Asks the compiler for the configuration options of the target.
    pub fn query_cfg(&self, supervisor: &Supervisor) -> Result<CfgOptions, CargoError> {
        let mut question = vec!["--print", "cfg", "--target", &self.facts.target];
        question.extend(self.rustflags.iter().map(String::as_str));
        let printed = query_rustc(&self.rustc, &question, supervisor)?;
        Ok(CfgOptions::parse(&printed))
    }

    /// Reports whether the compiler accepts unstable features, such as `#[bench]`.
    pub fn allows_unstable_features(&self) -> bool {
        let version = &self.facts.rustc;
        version.contains("-nightly")
            || version.contains("-dev")
            || std::env::var_os("RUSTC_BOOTSTRAP").is_some_and(|value| value != "0")
    }

    /// Returns the name of the toolchain in rustup, or `None` if rustup did not install it.
    pub fn rustup_name(&self) -> Option<&OsStr> {
        // SYSROOT/lib/rustlib/TARGET/lib
        let sysroot = self.target_libraries.ancestors().nth(4)?;
        let is_rustups = sysroot.parent()?.file_name()? == "toolchains";
        is_rustups.then(|| sysroot.file_name())?
    }
}

/// Cargo's configuration of a target.
struct TargetConfiguration {
    config: Config,
    target: String,
    rustflags: Vec<String>,
    runner: Vec<OsString>,
    linker: Option<PathBuf>,
}

impl TargetConfiguration {
    /// Reads the configuration in force in `here`. If it has `cfg` tables, the library runs rustc to find out which of them apply.
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

/// Finds the target's library directory without running the compiler: `SYSROOT/lib/rustlib/TARGET/lib` next to `SYSROOT/bin/rustc`. A wrapper gets
/// the compiler as its last argument. Returns `None` for a proxy such as rustup's and for other layouts: then the compiler must be asked.
fn find_libraries(rustc: &PathAndArgs, target: &str) -> Option<PathBuf> {
    let compiler = rustc.args.last().map_or(rustc.path.as_path(), Path::new);
    if !compiler.is_absolute() {
        return None;
    }
    let program = perfcheck_host::os::canonicalize(compiler).ok()?;
    let directory = program.parent()?;
    let sysroot = directory.parent()?;
    let libraries = sysroot.join("lib/rustlib").join(target).join("lib");
    let is_usual = program.file_stem()? == "rustc"
        && directory.file_name()? == "bin"
        && !sysroot.join("lib64/rustlib").exists()
        && libraries.is_dir();
    is_usual.then_some(libraries)
}

fn query_rustc(
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

/// A variable that `[env]` sets for benches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConfiguredVariable {
    pub(super) name: String,
    pub(super) value: OsString,
    /// Whether the variable replaces one that is already set.
    pub(super) force: bool,
}

/// The settings from the `--config` entries of a command line. If several entries set the same key, the last one applies.
#[derive(Debug, Default)]
pub(super) struct Overrides {
    /// The variables of the `[env]` tables.
    pub(super) environment: Vec<ConfiguredVariable>,
    /// The environment variables of cargo that are equivalent to the other keys.
    pub(super) variables: Vec<(String, String)>,
}

impl Overrides {
    /// Reads the values of `--config`, each a file or `KEY=VALUE`, as cargo would in the directory `here`.
    pub(super) fn read(entries: &[String], here: &Path) -> Self {
        let mut overrides = Self::default();
        for entry in entries {
            let path = here.join(entry);
            let (text, root) = match std::fs::read_to_string(&path) {
                // Cargo resolves relative paths from two levels above the file, as for DIRECTORY/.cargo/config.toml.
                Ok(text) => (text, path.ancestors().nth(2).unwrap_or(here).to_owned()),
                Err(_) => (entry.clone(), here.to_owned()),
            };
            if let Ok(document) = text.parse::<DocumentMut>() {
                overrides.add(&document, &root);
            }
        }
        overrides
    }

    fn add(&mut self, document: &DocumentMut, root: &Path) {
        let table = |name: &str| document.get(name).and_then(Item::as_table_like);
        for (name, item) in table("env").into_iter().flat_map(TableLike::iter) {
            if let Some(variable) = variable(name, item, root) {
                self.environment.retain(|earlier| earlier.name != name);
                self.environment.push(variable);
            }
        }
        for (name, item) in table("build").into_iter().flat_map(TableLike::iter) {
            match name {
                "target" => self.set("CARGO_BUILD_TARGET", split_words(item).first()),
                "rustc" => self.set("CARGO_BUILD_RUSTC", Some(&program(item, root))),
                _ => {}
            }
        }
        for (triple, settings) in table("target").into_iter().flat_map(TableLike::iter) {
            let settings = settings.as_table_like();
            let triple = triple.to_uppercase().replace(['-', '.'], "_");
            for (name, item) in settings.into_iter().flat_map(TableLike::iter) {
                if matches!(name, "runner" | "linker") {
                    let name = format!("CARGO_TARGET_{triple}_{}", name.to_uppercase());
                    self.set(&name, Some(&program(item, root)));
                }
            }
        }
    }

    fn set(&mut self, name: &str, value: Option<&String>) {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            self.variables.push((name.to_owned(), value.clone()));
        }
    }
}

fn variable(name: &str, item: &Item, root: &Path) -> Option<ConfiguredVariable> {
    let table = item.as_table_like();
    let is = |key: &str| {
        let flag = table.and_then(|table| table.get(key)?.as_bool());
        flag.unwrap_or(false)
    };
    let value = match table {
        Some(table) => table.get("value")?.as_str()?,
        None => item.as_str()?,
    };
    Some(ConfiguredVariable {
        name: name.to_owned(),
        value: if is("relative") {
            root.join(value).into_os_string()
        } else {
            value.into()
        },
        force: is("force"),
    })
}

/// Returns a program and its arguments. A relative path is resolved against `root`, but a bare name is left to be looked up in `PATH`.
fn program(item: &Item, root: &Path) -> String {
    let mut words = split_words(item);
    if let Some(first) = words.first_mut()
        && Path::new(&first).components().count() > 1
    {
        *first = PathBuf::from(root).join(&first).display().to_string();
    }
    words.join(" ")
}

/// Splits a string, or an array of strings, into words.
fn split_words(item: &Item) -> Vec<String> {
    if let Some(text) = item.as_str() {
        return text.split_whitespace().map(str::to_owned).collect();
    }
    let array = item.as_array();
    array
        .into_iter()
        .flatten()
        .filter_map(|word| word.as_str().map(str::to_owned))
        .collect()
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
        let answer = query_rustc(&rustc, &question, &supervisor).expect("an answer");
        assert_eq!(found.target_libraries, Path::new(answer.trim_end()));
    }

    #[test]
    fn the_compiler_tells_the_options_of_the_target() {
        let supervisor = Supervisor::default();
        let found = Toolchain::detect(&CargoOptions::default(), &supervisor).expect("a compiler");
        let options = found.query_cfg(&supervisor).expect("an answer");
        let width = format!("target_pointer_width = \"{}\"", usize::BITS);
        assert_eq!(options.evaluate(&width), Some(true));
        assert_eq!(options.evaluate(&format!("not ({width})")), Some(false));
    }

    #[test]
    #[cfg_attr(windows, ignore = "needs a symbolic link")]
    fn what_only_starts_the_compiler_is_to_be_asked() {
        let directory = tempfile::tempdir().expect("a directory");
        let place = |path: &str| directory.path().join(path);
        let beside = |path: PathBuf, args: &[&str]| {
            let mut rustc = PathAndArgs::new(path);
            rustc.args(args);
            find_libraries(&rustc, "some-target")
        };
        let libraries = place("lib/rustlib/some-target/lib");
        std::fs::create_dir_all(&libraries).expect("a directory");
        std::fs::create_dir(place("bin")).expect("a directory");
        let rustc = place("bin/rustc");
        std::fs::write(&rustc, "").expect("a file");
        let libraries = perfcheck_host::os::canonicalize(libraries).expect("there");
        assert_eq!(beside(rustc.clone(), &[]), Some(libraries.clone()));
        // A wrapper gets the compiler's path as an argument.
        let argument = rustc.display().to_string();
        assert_eq!(
            beside(PathBuf::from("wrapper"), &[&argument]),
            Some(libraries)
        );
        // The compiler is looked up in `PATH`.
        assert_eq!(beside(rustc.clone(), &["rustc"]), None);
        assert_eq!(beside(PathBuf::from("rustc"), &[]), None);
        std::fs::create_dir_all(place("lib64/rustlib")).expect("a directory");
        assert_eq!(beside(rustc.clone(), &[]), None);
        std::fs::remove_dir(place("lib64/rustlib")).expect("removed");
        // Rustup's proxy, in a directory that also has the libraries of another compiler.
        std::fs::rename(&rustc, place("bin/rustup")).expect("renamed");
        perfcheck_host::os::create_link(Path::new("rustup"), &rustc).expect("a link");
        assert_eq!(beside(rustc, &[]), None);
    }

    #[test]
    fn entries_are_files_and_settings_and_later_ones_win() {
        let home = tempfile::tempdir().expect("a directory");
        let file = home.path().join("settings/extra.toml");
        std::fs::create_dir(home.path().join("settings")).expect("a directory");
        let text = "[env]\nA = \"1\"\nB = { value = \"b\", relative = true, force = true }\n\
                    [target.some-arch]\nrunner = [\"./run\", \"it\"]\nlinker = \"ld\"\n";
        std::fs::write(&file, text).expect("written");
        let entries = ["settings/extra.toml", "env.A=\"2\"", "nonsense"].map(str::to_owned);
        let found = Overrides::read(&entries, home.path());
        let variable = |name: &str, value: OsString, force| ConfiguredVariable {
            name: name.to_owned(),
            value,
            force,
        };
        assert_eq!(
            found.environment,
            [
                variable("B", home.path().join("b").into(), true),
                variable("A", "2".into(), false),
            ]
        );
        let runner = format!("{} it", home.path().join("./run").display());
        let variables = [
            ("CARGO_TARGET_SOME_ARCH_RUNNER", runner.as_str()),
            ("CARGO_TARGET_SOME_ARCH_LINKER", "ld"),
        ];
        assert_eq!(
            found.variables,
            variables.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
    }
}
