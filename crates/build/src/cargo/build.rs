//! Builds bench targets: asks cargo which targets it would bench, runs `cargo bench --no-run` and reads its messages. Builds programs with `cargo
//! build`.

use cargo_metadata::diagnostic::DiagnosticLevel;
use cargo_metadata::{Artifact, BuildScript, CompilerMessage, Message, Package, Target};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::BufReader;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use super::error::{CargoError, CompileError};
use super::metadata::{Workspace, has_bench_functions, is_run_by};
use super::options::CargoOptions;
use super::output::{BenchTarget, BuildOutput};
use super::selection::{
    SelectedTarget, SkippedTarget, TargetSelection, all_targets, list_gated_binaries,
};
use super::toolchain::Toolchain;
use perfcheck_analysis::model::ProgramBenchmark;
use perfcheck_host::process::{LeftoverPolicy, Supervisor, start_thread};

/// The outcome of a successful build.
#[derive(Debug, Clone)]
pub struct BuiltTargets {
    /// The bench targets, sorted by package and target name.
    pub targets: Vec<BenchTarget>,
    /// The bench targets and the binaries of programs that cargo skipped.
    pub skipped: Vec<SkippedTarget>,
}

/// A request to build the bench targets of a workspace.
#[derive(Debug, Clone, Copy)]
pub struct BuildOrder<'a> {
    /// Path of the cargo to run.
    pub cargo: &'a Path,
    /// The workspace to build.
    pub workspace: &'a Workspace,
    /// The compiler and cargo's configuration for it.
    pub toolchain: &'a Toolchain,
    /// The user's flags for cargo, target selection included.
    pub options: &'a CargoOptions,
    /// Whether to build the bench targets that `options` select.
    pub with_benches: bool,
    /// The programs to build, too.
    pub programs: &'a [ProgramBenchmark],
    /// The variables to set for cargo in addition to the inherited ones. A variable without a value is removed.
    pub variables: &'a BTreeMap<String, Option<OsString>>,
    /// When to print the compiler's messages.
    pub diagnostics: DiagnosticTiming,
    /// Starts cargo and knows whether the user has asked to stop.
    pub supervisor: &'a Supervisor,
}

/// When to print the compiler's messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiagnosticTiming {
    /// Cargo prints the compiler's messages as they arrive.
    Immediate,
    /// The caller prints the compiler's messages after the build. A successful build returns all of them, but the error of a failed build has only
    /// the first error.
    Later,
}

impl BuildOrder<'_> {
    /// Builds the selected bench targets. Cargo's own output goes to our stderr as it arrives.
    pub fn build(&self) -> Result<BuiltTargets, CargoError> {
        let output = self.run_cargo()?;
        Ok(BuiltTargets {
            targets: output.targets(self.cargo, self.toolchain, self.programs),
            skipped: output.skipped,
        })
    }

    /// Makes cargo resolve the dependencies and write the lock file, as a build would.
    pub fn resolve(&self) -> Result<(), CargoError> {
        let target = &self.toolchain.facts.target;
        let mut command = Workspace::resolve_command(self.cargo, self.options, target);
        self.set_variables(&mut command);
        Workspace::run(&mut command, self.cargo, self.supervisor).map(drop)
    }

    /// Runs cargo and returns its messages about artifacts. Cargo's own output goes to our stderr as it arrives.
    pub fn run_cargo(&self) -> Result<BuildOutput, CargoError> {
        let mut output = if self.with_benches {
            self.build_benches()?
        } else {
            BuildOutput::default()
        };
        let mut programs = self.programs.to_vec();
        // If the user names a program, cargo says why its binary cannot be built.
        if self.options.programs.is_empty() {
            output.skipped.extend(self.remove_gated(&mut programs)?);
        }
        if !programs.is_empty() {
            output.add_programs(self.build_programs(&programs)?);
        }
        Ok(output)
    }

    /// Removes the programs whose binaries require features that are off, and returns these binaries. Cargo would refuse to build anything.
    pub(crate) fn remove_gated(
        &self,
        programs: &mut Vec<ProgramBenchmark>,
    ) -> Result<Vec<SkippedTarget>, CargoError> {
        let members = self.workspace.members();
        let requires_features = |(package, target): (&Package, &Target)| {
            !target.required_features.is_empty() && is_run_by(programs, package, target)
        };
        if !all_targets(&members).any(requires_features) {
            return Ok(Vec::new());
        }
        let json = match self.query_unit_graph(&["build"]) {
            Ok(Some(json)) => json,
            // The build will report the error.
            Ok(None) | Err(CargoError::Selection(_)) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let gated = list_gated_binaries(self.workspace, self.options, programs, &json);
        let gated = gated.map_err(|error| CargoError::Answer {
            program: "cargo build --unit-graph".to_owned(),
            what: error.to_string(),
        })?;
        programs.retain(|one| {
            let target = ProgramBenchmark::target_of_binary(&one.binary);
            let mut gated = gated.iter();
            !gated.any(|skipped| skipped.package == one.package && skipped.target == target)
        });
        Ok(gated)
    }

    /// Builds the libraries and binaries of the selected packages, as `cargo build` does.
    pub(crate) fn build_packages(&self) -> Result<(), CargoError> {
        let mut command = Command::new(self.cargo);
        command
            .args(["build", self.message_format()])
            .args(self.options.selection_flags());
        let built = self.read_messages(command)?;
        if built.status.success() {
            return Ok(());
        }
        Err(CargoError::Build {
            what: "packages",
            status: built.status.to_string(),
            unstable: Vec::new(),
            first_error: None,
        })
    }

    fn build_benches(&self) -> Result<BuildOutput, CargoError> {
        let selection = if self.options.selects_all_benches() {
            Some(self.query_selection()?)
        } else {
            None
        };
        if let Some(none) = selection.as_ref().filter(|all| all.targets.is_empty()) {
            let mut nothing = BuildOutput::default();
            nothing.skipped.clone_from(&none.skipped);
            return Ok(nothing);
        }
        let mut command = Command::new(self.cargo);
        command
            .args(["bench", "--no-run", self.message_format()])
            .args(self.options.selection_flags())
            .args(match &selection {
                Some(selection) => selection.flags.clone(),
                None => self.options.target_flags(),
            });
        let CargoMessages {
            mut artifacts,
            scripts,
            diagnostics,
            status,
        } = self.read_messages(command)?;
        if !status.success() {
            return Err(CargoError::Build {
                what: "bench targets",
                status: status.to_string(),
                unstable: self.unstable_targets(selection.as_ref()),
                first_error: self
                    .first_error(&diagnostics, selection.as_ref())
                    .map(Box::new),
            });
        }
        // Without target flags cargo selects by itself and may build more than is measured.
        let is_measured = |artifact: &Artifact, selection: &TargetSelection| {
            !artifact.profile.test
                || selection
                    .targets
                    .contains(&SelectedTarget::from_artifact(artifact))
        };
        if let Some(selection) = &selection
            && selection.flags.is_empty()
        {
            artifacts.retain(|artifact| is_measured(artifact, selection));
        }
        let mut output = BuildOutput::new(self.workspace, artifacts, scripts);
        output.skipped = selection.map_or_else(Vec::new, |selection| selection.skipped);
        output.diagnostics = render(&diagnostics);
        Ok(output)
    }

    /// Builds the binaries of `programs`, in the profile of the benches.
    fn build_programs(&self, programs: &[ProgramBenchmark]) -> Result<BuildOutput, CargoError> {
        let names: BTreeSet<&str> = programs.iter().map(|one| &*one.binary).collect();
        let mut command = Command::new(self.cargo);
        command
            .args(["build", self.message_format()])
            .args(self.options.selection_flags())
            .args(names.into_iter().flat_map(|name| ["--bin", name]));
        if self.options.profile.is_none() {
            command.args(["--profile", self.options.profile_name()]);
        }
        let built = self.read_messages(command)?;
        if !built.status.success() {
            return Err(CargoError::Build {
                what: "programs",
                status: built.status.to_string(),
                unstable: Vec::new(),
                first_error: self.first_error(&built.diagnostics, None).map(Box::new),
            });
        }
        let mut output = BuildOutput::new(self.workspace, built.artifacts, built.scripts);
        output.diagnostics = render(&built.diagnostics);
        Ok(output)
    }

    /// Runs cargo to its end and reads its messages.
    fn read_messages(&self, mut command: Command) -> Result<CargoMessages, CargoError> {
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        self.set_variables(&mut command);
        let start_error = |source| CargoError::Start {
            program: self.cargo.to_owned(),
            source,
        };
        let mut group = self
            .supervisor
            .spawn(&mut command, LeftoverPolicy::Leave)
            .map_err(start_error)?;
        let Some(messages) = group.leader().stdout.take() else {
            return Err(start_error(std::io::ErrorKind::BrokenPipe.into()));
        };
        let (sender, received) = crossbeam_channel::unbounded();
        start_thread(move || {
            for message in Message::parse_stream(BufReader::new(messages)).map_while(Result::ok) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        })
        .map_err(start_error)?;
        let mut artifacts: Vec<Artifact> = Vec::new();
        let mut scripts: Vec<BuildScript> = Vec::new();
        let mut diagnostics: Vec<CompilerMessage> = Vec::new();
        loop {
            crossbeam_channel::select! {
                recv(received) -> message => match message {
                    Ok(Message::CompilerArtifact(artifact)) => artifacts.push(artifact),
                    Ok(Message::BuildScriptExecuted(script)) => scripts.push(script),
                    Ok(Message::CompilerMessage(message)) => diagnostics.push(message),
                    Ok(_) => {}
                    Err(_) => break,
                },
                recv(self.supervisor.interrupt().channel()) -> _ => {
                    group.stop();
                    return Err(CargoError::Interrupted);
                }
            }
        }
        let status = group.end(Duration::from_secs(3600)).map_err(start_error)?;
        if self.supervisor.interrupt().is_requested() {
            return Err(CargoError::Interrupted);
        }
        Ok(CargoMessages {
            artifacts,
            scripts,
            diagnostics,
            status,
        })
    }

    /// Lists the targets of this build that have `#[bench]` functions which the compiler refuses. Empty if the compiler allows unstable features.
    fn unstable_targets(&self, selection: Option<&TargetSelection>) -> Vec<String> {
        if self.toolchain.allows_unstable_features() {
            return Vec::new();
        }
        let selected = self.workspace.selected(self.options);
        all_targets(&selected)
            .filter(|(package, target)| self.is_selected(package, target, selection))
            .filter(|(package, target)| has_bench_functions(package, target))
            .map(|(package, target)| format!("{}/{}", package.name, target.name))
            .collect()
    }

    fn is_selected(
        &self,
        package: &Package,
        target: &Target,
        selection: Option<&TargetSelection>,
    ) -> bool {
        match selection {
            Some(all) => all.targets.contains(&SelectedTarget::new(package, target)),
            None => self.options.selects(target),
        }
    }

    fn first_error(
        &self,
        diagnostics: &[CompilerMessage],
        selection: Option<&TargetSelection>,
    ) -> Option<CompileError> {
        let is_error = |one: &&CompilerMessage| one.message.level == DiagnosticLevel::Error;
        let found = diagnostics.iter().find(is_error)?;
        let text = &found.message.message;
        let members = self.workspace.members();
        // The selected targets see the development dependencies. If no flags name targets, cargo may build any target for tests, which see them, too.
        let has_target_flags = selection.is_none_or(|all| !all.flags.is_empty());
        let member = members.into_iter().find(|one| {
            has_target_flags
                && one.id == found.package_id
                && !self.is_selected(one, &found.target, selection)
        });
        Some(CompileError {
            text: match &found.message.code {
                Some(code) => format!("{}: {text}", code.code),
                None => text.clone(),
            },
            library_of: member.map(|package| package.name.to_string()),
            is_in_sources: !found.message.spans.is_empty(),
            rendered: render(diagnostics),
        })
    }

    fn message_format(&self) -> &'static str {
        match self.diagnostics {
            DiagnosticTiming::Immediate => "--message-format=json-render-diagnostics",
            DiagnosticTiming::Later => "--message-format=json-diagnostic-rendered-ansi",
        }
    }

    fn set_variables(&self, command: &mut Command) {
        for (name, value) in self.variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
    }

    /// Fails with cargo's own message if cargo would refuse to bench, for example because a file is missing.
    pub fn check_selection(&self) -> Result<(), CargoError> {
        self.query_selection().map(drop)
    }

    /// Asks cargo which targets it would bench.
    fn query_selection(&self) -> Result<TargetSelection, CargoError> {
        let Some(json) = self.query_unit_graph(&["bench", "--no-run"])? else {
            return Ok(TargetSelection::from_manifests(
                self.workspace,
                self.options,
            ));
        };
        TargetSelection::from_unit_graph(self.workspace, self.options, &json).map_err(|error| {
            CargoError::Answer {
                program: "cargo bench --unit-graph".to_owned(),
                what: error.to_string(),
            }
        })
    }

    /// Asks cargo what it would build with the command `words`. Returns `None` if it does not know the flag for that.
    fn query_unit_graph(&self, words: &[&str]) -> Result<Option<Vec<u8>>, CargoError> {
        let mut command = Command::new(self.cargo);
        command
            .args(words)
            .args(["--unit-graph", "-Zunstable-options"])
            .args(self.options.selection_flags());
        self.set_variables(&mut command);
        command
            .env("RUSTC_BOOTSTRAP", "1")
            // Later builds must not read facts about the compiler that cargo cached under `RUSTC_BOOTSTRAP`.
            .env("CARGO_CACHE_RUSTC_INFO", "0");
        let output = self
            .supervisor
            .output(&mut command)
            .map_err(|error| CargoError::not_run(self.cargo, error))?;
        if !output.status.success() {
            let message = String::from_utf8_lossy(&output.stderr);
            if message.contains("unit-graph") {
                return Ok(None);
            }
            return Err(CargoError::Selection(message.trim_end().to_owned()));
        }
        Ok(Some(output.stdout))
    }
}

/// The messages of a cargo that has ended.
struct CargoMessages {
    artifacts: Vec<Artifact>,
    scripts: Vec<BuildScript>,
    diagnostics: Vec<CompilerMessage>,
    status: ExitStatus,
}

/// Returns the messages as the compiler would print them.
fn render(diagnostics: &[CompilerMessage]) -> Vec<String> {
    let messages = diagnostics.iter();
    messages
        .filter_map(|one| one.message.rendered.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo::selection::SkipReason;
    use std::fs;
    use std::path::PathBuf;

    const FILES: [(&str, &str); 17] = [
        (
            "Cargo.toml",
            "[workspace]\nresolver = \"2\"\nmembers = [\"text\", \"codec\", \"units\"]\n[profile.bench]\nopt-level = 0\n",
        ),
        (
            "text/Cargo.toml",
            r#"
            [package]
            name = "text"
            version = "0.1.0"
            edition = "2021"
            [features]
            default = ["std"]
            std = []
            fast = ["std"]
            [[bench]]
            name = "quick"
            harness = false
            required-features = ["fast", "std"]
            [[bench]]
            name = "off"
            harness = false
            bench = false
            [[bin]]
            name = "gated"
            bench = false
            required-features = ["fast"]
            [[example]]
            name = "shown"
            harness = false
            test = true
            bench = true
            [[example]]
            name = "other"
            harness = false
            bench = true
            [[test]]
            name = "checked"
            harness = false
            bench = true
            "#,
        ),
        ("text/src/lib.rs", ""),
        ("text/src/main.rs", "fn main() {}"),
        ("text/src/bin/gated.rs", "fn main() {}"),
        ("text/benches/plain.rs", "fn main() {}"),
        ("text/benches/quick.rs", "fn main() {}"),
        ("text/benches/off.rs", "fn main() {}"),
        ("text/examples/shown.rs", "fn main() {}"),
        ("text/examples/other.rs", "fn main() {}"),
        ("text/tests/checked.rs", "fn main() {}"),
        (
            "codec/Cargo.toml",
            r#"
            [package]
            name = "codec"
            version = "0.2.1"
            edition = "2021"
            [features]
            quick = ["dep:text"]
            [dependencies]
            text = { path = "../text", features = ["fast"], optional = true }
            [lib]
            bench = false
            [[bench]]
            name = "bytes"
            harness = false
            required-features = ["quick"]
            [[bench]]
            name = "off"
            harness = false
            "#,
        ),
        ("codec/src/lib.rs", "#[cfg(any())]\n#[bench]\nfn never() {}"),
        ("codec/benches/bytes.rs", "fn main() {}"),
        ("codec/benches/off.rs", "fn main() {}"),
        (
            "units/Cargo.toml",
            "[package]\nname = \"units\"\nversion = \"1.0.0\"\nedition = \"2021\"\n",
        ),
        // `cfg(any())` removes the function: stable compilers would refuse the attribute.
        (
            "units/src/lib.rs",
            "#[cfg(any())]\n#[bench]\nfn inside() {}",
        ),
    ];

    /// Returns `package/kind:name` of each target that the tool would build, and of each that `cargo bench` builds.
    fn select_and_build(root: &Path, options: &CargoOptions, words: &[&str]) -> [Vec<String>; 2] {
        let cargo = Path::new(env!("CARGO"));
        let supervisor = Supervisor::default();
        let workspace = Workspace::load(cargo, options, &supervisor).expect("a workspace");
        workspace.refuse_unknown(options).expect("all is known");
        let toolchain = Toolchain::detect(options, &supervisor).expect("a compiler");
        let order = BuildOrder {
            cargo,
            workspace: &workspace,
            toolchain: &toolchain,
            options,
            with_benches: true,
            programs: &[],
            variables: &BTreeMap::new(),
            diagnostics: DiagnosticTiming::Immediate,
            supervisor: &supervisor,
        };
        let selection = order.query_selection().expect("an answer");
        let mut command = Command::new(cargo);
        command
            .args(["bench", "--no-run", "--offline", "--message-format=json"])
            .args(words)
            .current_dir(root);
        let built = supervisor.output(&mut command).expect("cargo starts");
        assert!(built.status.success(), "{built:?}");
        let built = Message::parse_stream(&built.stdout[..]).map_while(Result::ok);
        let built = built.filter_map(|message| match message {
            Message::CompilerArtifact(artifact) if artifact.profile.test => {
                Some(SelectedTarget::from_artifact(&artifact))
            }
            _ => None,
        });
        let packages = workspace.members();
        let show = |name: &SelectedTarget| {
            let mut packages = packages.iter();
            let package = packages.find(|package| package.id.repr == name.package_id);
            let package = &package.expect("a member").name;
            format!("{package}/{}:{}", name.kinds.concat(), name.name)
        };
        let mut built: Vec<String> = built.map(|name| show(&name)).collect();
        built.sort();
        let mut selected: Vec<String> = selection.targets.iter().map(show).collect();
        selected.sort();
        [selected, built]
    }

    /// Writes [`FILES`] and returns the root of their workspace.
    fn write_workspace(directory: &Path) -> PathBuf {
        let root = directory.canonicalize().expect("it is there");
        for (path, text) in FILES {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
            fs::write(path, text).expect("written");
        }
        root
    }

    #[test]
    fn the_tool_selects_what_cargo_bench_builds_whatever_manifests_and_flags_say() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = write_workspace(directory.path());
        let address = format!("path+file://{}/text", root.display());
        let with_version = format!("file://{}/codec#codec@0.2", root.display());
        let rows: [&[&str]; 15] = [
            &[],
            &["-p", "text"],
            &["-p", "text@0.1.0"],
            &["-p", "codec@0.2"],
            &["-p", "*e*"],
            &["-p", &address],
            &["-p", &with_version, "-p", "units:1"],
            &["--workspace", "--exclude", "co*"],
            &["--workspace", "--exclude", "text@0.1"],
            &["--workspace", "--exclude", &address],
            &["-p", "text", "-F", "fast"],
            &["-F", "text/fast"],
            &["-p", "codec", "-F", "quick"],
            &["-p", "codec", "-p", "text", "-F", "codec/quick"],
            &["-p", "text", "--no-default-features"],
        ];
        for words in rows {
            let mut options = CargoOptions {
                manifest_path: Some(root.join("Cargo.toml")),
                offline: true,
                ..CargoOptions::default()
            };
            let mut words_left = words.iter();
            while let Some(flag) = words_left.next() {
                let mut value = || (*words_left.next().expect("a value")).to_owned();
                match *flag {
                    "-p" => options.packages.push(value()),
                    "--exclude" => options.exclude.push(value()),
                    "-F" => options.features.push(value()),
                    "--workspace" => options.workspace = true,
                    "--no-default-features" => options.no_default_features = true,
                    other => panic!("{other}"),
                }
            }
            let [selected, mut built] = select_and_build(&root, &options, words);
            // The tool does not build unit tests without benchmarks.
            built.retain(|name| !["text/lib:text", "text/bin:text"].contains(&&**name));
            assert_eq!(selected, built, "{words:?}");
        }
    }

    #[test]
    fn a_name_that_means_one_target_too_many_is_left_to_cargo() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = write_workspace(directory.path());
        let flags_of = |packages: &[&str]| {
            let options = CargoOptions {
                manifest_path: Some(root.join("Cargo.toml")),
                packages: packages.iter().map(ToString::to_string).collect(),
                offline: true,
                ..CargoOptions::default()
            };
            let cargo = Path::new(env!("CARGO"));
            let supervisor = Supervisor::default();
            let workspace = Workspace::load(cargo, &options, &supervisor).expect("a workspace");
            let order = BuildOrder {
                cargo,
                workspace: &workspace,
                toolchain: &Toolchain::detect(&options, &supervisor).expect("a compiler"),
                options: &options,
                with_benches: true,
                programs: &[],
                variables: &BTreeMap::new(),
                diagnostics: DiagnosticTiming::Immediate,
                supervisor: &supervisor,
            };
            order.query_selection().expect("an answer").flags
        };
        // `off` is measured in one package and excluded in the other.
        assert_eq!(flags_of(&["codec"]), ["--bench", "off"]);
        assert_eq!(flags_of(&["codec", "text"]), [""; 0]);
    }

    #[test]
    fn a_program_is_built_after_the_benches_or_alone() {
        let directory = tempfile::tempdir().expect("a directory");
        let root = write_workspace(directory.path());
        let options = CargoOptions {
            manifest_path: Some(root.join("Cargo.toml")),
            packages: vec!["text".into()],
            offline: true,
            ..CargoOptions::default()
        };
        let program = |id: &str, binary: &str| ProgramBenchmark {
            package: "text".into(),
            binary: binary.into(),
            id: id.into(),
            arguments: Vec::new(),
            stdin: None,
            prepare: Vec::new(),
            exit: 0,
            build: None,
        };
        let cargo = Path::new(env!("CARGO"));
        let supervisor = Supervisor::default();
        let workspace = Workspace::load(cargo, &options, &supervisor).expect("a workspace");
        assert_eq!(workspace.binaries("text"), ["gated", "text"]);
        let toolchain = Toolchain::detect(&options, &supervisor).expect("a compiler");
        let programs = [
            program("one", "text"),
            program("two", "text"),
            program("three", "gated"),
        ];
        let order = BuildOrder {
            cargo,
            workspace: &workspace,
            toolchain: &toolchain,
            options: &options,
            with_benches: false,
            programs: &programs,
            variables: &BTreeMap::new(),
            diagnostics: DiagnosticTiming::Immediate,
            supervisor: &supervisor,
        };
        let build = |with_benches| {
            let order = BuildOrder {
                with_benches,
                ..order
            };
            order.run_cargo().expect("built")
        };
        let names = |output: &BuildOutput| -> Vec<(String, usize)> {
            let targets = output.targets(cargo, &toolchain, &programs).into_iter();
            targets
                .map(|target| (target.target, target.programs.len()))
                .collect()
        };
        let program = ("program:text".to_owned(), 2);
        let both = build(true);
        let bench = ("plain".to_owned(), 0);
        let all = names(&both);
        assert!(all.contains(&program) && all.contains(&bench), "{all:?}");
        // The binary is both a program and one that the benches may start.
        assert_eq!(both.binaries().len(), 1);
        let alone = build(false);
        assert_eq!(names(&alone), [program]);
        // Without programs to run, the binary is not a target.
        assert_eq!(alone.targets(cargo, &toolchain, &[]).len(), 0);
        assert_eq!(alone.executables().len(), 1);
        let features = ["default", "std"].map(str::to_owned);
        assert_eq!(both.features, [("text".to_owned(), features.into())].into());
        assert_eq!(alone.features, both.features);
        // A binary whose features are off is left out like a bench, unless the user names it.
        let gated = SkippedTarget {
            package: "text".to_owned(),
            target: "program:gated".to_owned(),
            reason: SkipReason::FeaturesOff(vec!["fast".to_owned()]),
        };
        assert!(both.skipped.contains(&gated), "{:?}", both.skipped);
        assert_eq!(alone.skipped, [gated]);
        let named = CargoOptions {
            programs: vec!["three".into()],
            ..options.clone()
        };
        let named = BuildOrder {
            options: &named,
            ..order
        };
        assert!(matches!(named.run_cargo(), Err(CargoError::Build { .. })));
        let with_feature = CargoOptions {
            features: vec!["fast".into()],
            ..options.clone()
        };
        let with_feature = BuildOrder {
            options: &with_feature,
            ..order
        };
        let mut all = programs.to_vec();
        assert_eq!(with_feature.remove_gated(&mut all).expect("known"), []);
        assert_eq!(all, programs);
    }
}
