//! A repository with a bench crate, and the cache in which its revisions are built.

use perfcheck_analysis::model::CriterionHarness;
use perfcheck_build::cargo::{CargoOptions, Toolchain, Workspace};
use perfcheck_build::sides::{
    BenchesFrom, BuildEvent, BuiltSide, PreparedSides, SideTarget, SidesError, SidesRequest,
    TargetPair, build_commit, build_sides, build_work_tree,
};
use perfcheck_host::process::{Interrupt, Supervisor};
use perfcheck_host::{Checkout, Revision};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::support::{Machine, Running, run, start};

/// A directory with a repository (`made`), its cache, and other files of a test.
pub struct Repository {
    pub machine: Machine,
    pub root: PathBuf,
    pub options: CargoOptions,
    pub benches_from: BenchesFrom,
    /// How many bytes the kept builds in the cache may take.
    pub room: u64,
    /// The names of builds that the cache keeps even if all kept builds together take more than `room` bytes.
    pub spared: Vec<String>,
    pub cache_in_work_tree: bool,
}

/// The events of a build as text, such as `building HEAD`.
pub type Said = Vec<String>;

pub const MANIFEST: &str = "[package]\nname = \"made\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
     [[bench]]\nname = \"first\"\nharness = false\n\n[profile.bench]\nopt-level = 0\n\n[workspace]\n";

impl Repository {
    /// Creates a repository with one commit: a library with a function, and the bench target `first`, which prints the function's result.
    pub fn new() -> Self {
        let machine = Machine::new();
        let root = machine.home().join("made");
        let made = Self {
            machine,
            root,
            options: CargoOptions::default(),
            benches_from: BenchesFrom::default(),
            room: u64::MAX,
            spared: Vec::new(),
            cache_in_work_tree: false,
        };
        made.write("Cargo.toml", MANIFEST);
        made.write("src/lib.rs", "pub fn answer() -> u32 {\n    41\n}\n");
        made.write(
            "benches/first.rs",
            "fn main() {\n    println!(\"{}\", made::answer());\n}\n",
        );
        made.write(".gitignore", "/target\n");
        made.git(&["init", "--quiet"]);
        made.commit();
        made
    }

    /// Writes a file. `path` is relative to the top of the repository.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().expect("a file")).expect("a directory");
        fs::write(path, text).expect("written");
    }

    pub fn remove(&self, path: &str) {
        fs::remove_file(self.root.join(path)).expect("removed");
    }

    /// Runs git at the top of the repository. Git must succeed.
    #[track_caller]
    pub fn git(&self, words: &[&str]) -> String {
        self.git_in(&self.root, words)
    }

    #[track_caller]
    pub fn git_in(&self, directory: &Path, words: &[&str]) -> String {
        let mut command = self.machine.command("git");
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
            .args(["-c", "protocol.file.allow=always"])
            .args(words)
            .current_dir(directory);
        run(command).expect_code(0).stdout.trim().to_owned()
    }

    /// Commits everything and returns the hash.
    #[track_caller]
    pub fn commit(&self) -> String {
        // Use distinct messages: two commits of the same state within one second would otherwise be identical.
        static CHANGES: AtomicU32 = AtomicU32::new(0);
        let change = format!("Change {}", CHANGES.fetch_add(1, Ordering::Relaxed));
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", &change]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Writes a package to `path`, beside the repository. Its function `answer` returns `answer`.
    pub fn write_beside(&self, path: &str, answer: u32) {
        let root = self.machine.home().join(path);
        let name = root.file_name().expect("a name").to_string_lossy();
        fs::create_dir_all(root.join("src")).expect("a directory");
        let manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[dependencies]\n"
        );
        fs::write(root.join("Cargo.toml"), manifest).expect("written");
        let code = format!("pub fn answer() -> u32 {{\n    {answer}\n}}\n");
        fs::write(root.join("src/lib.rs"), code).expect("written");
    }

    /// Makes the library re-export the function `answer` of the package at `path`.
    pub fn depend_on(&self, path: &str) {
        let name = path.rsplit('/').next().expect("a name");
        let manifest = format!("{MANIFEST}\n[dependencies]\n{name} = {{ path = \"{path}\" }}\n");
        self.write("Cargo.toml", &manifest);
        self.write("src/lib.rs", &format!("pub use {name}::answer;\n"));
    }

    pub fn cache(&self) -> PathBuf {
        if self.cache_in_work_tree {
            self.root.join("the/cache")
        } else {
            self.machine.home().join("cache")
        }
    }

    pub fn checkout(&self) -> Checkout {
        let workspace = self.workspace();
        Checkout::find(workspace.root(), &Supervisor::default()).expect("a repository")
    }

    pub fn revision(&self, name: &str) -> Revision {
        self.checkout().revision(name).expect("a revision")
    }

    fn flags(&self) -> CargoOptions {
        flags(&self.options, &self.root)
    }

    fn workspace(&self) -> Workspace {
        Workspace::load(&cargo(), &self.flags(), &Supervisor::default()).expect("a workspace")
    }

    fn request<T>(
        &self,
        work: impl FnOnce(&SidesRequest<'_>, &mut dyn FnMut(BuildEvent<'_>)) -> T,
    ) -> (T, Said) {
        let mut said = Vec::new();
        let mut events = |event: BuildEvent<'_>| said.push(describe(event));
        let cache = self.cache();
        let done = work(
            &SidesRequest {
                cache: &cache,
                cargo: &cargo(),
                options: &self.flags(),
                programs: &[],
                toolchain: &Toolchain::detect(&self.flags(), &Supervisor::default())
                    .expect("a compiler"),
                workspace: &self.workspace(),
                checkout: Checkout::find(self.workspace().root(), &Supervisor::default())
                    .ok()
                    .as_ref(),
                benches_from: self.benches_from,
                harness: CriterionHarness::default(),
                room: self.room,
                spared: &self.spared,
                stand_in: None,
                supervisor: &Supervisor::default(),
            },
            &mut events,
        );
        (done, said)
    }

    /// Builds `against` and the work tree.
    pub fn try_against(&self, against: &str) -> (Result<PreparedSides, SidesError>, Said) {
        let revision = self.revision(against);
        self.request(|request, events| build_sides(request, &revision, events))
    }

    #[track_caller]
    pub fn against(&self, against: &str) -> (PreparedSides, Said) {
        let (sides, said) = self.try_against(against);
        match sides {
            Ok(sides) => (sides, said),
            Err(error) => panic!("{error}"),
        }
    }

    /// Builds only one commit.
    pub fn try_commit(&self, name: &str) -> (Result<BuiltSide, SidesError>, Said) {
        let revision = self.revision(name);
        self.request(|request, events| build_commit(request, &revision, events))
    }

    /// Builds only the work tree.
    pub fn try_work_tree(&self) -> (Result<BuiltSide, SidesError>, Said) {
        self.request(|request, events| Ok(build_work_tree(request, events)?.0))
    }

    #[track_caller]
    pub fn work_tree(&self) -> (BuiltSide, Said) {
        let (side, said) = self.try_work_tree();
        match side {
            Ok(side) => (side, said),
            Err(error) => panic!("{error}"),
        }
    }

    /// Returns names and contents of all files in the repository's directory, including git's own files.
    pub fn snapshot(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut directories = vec![self.root.clone()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(&directory).expect("a directory") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    directories.push(path);
                } else {
                    let content = fs::read(&path).expect("a file");
                    found.push((path, content));
                }
            }
        }
        found.sort();
        found
    }

    /// Returns the directory in the cache to which the sources of a state are copied to build them.
    pub fn sources(&self) -> PathBuf {
        self.folder()
            .join("sources-of-either-state-in-use/top-of-the-repository")
    }

    /// Returns the folder of the only workspace in the cache.
    pub fn folder(&self) -> PathBuf {
        let mut entries = fs::read_dir(self.cache()).expect("a cache");
        entries.next().expect("a folder").expect("readable").path()
    }
}

fn flags(options: &CargoOptions, root: &Path) -> CargoOptions {
    let mut options = options.clone();
    options
        .manifest_path
        .get_or_insert_with(|| root.join("Cargo.toml"));
    options.offline = true;
    options.quiet = true;
    options
}

fn cargo() -> PathBuf {
    std::env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from)
}

fn describe(event: BuildEvent<'_>) -> String {
    let of = |revision: Option<&Revision>| match revision {
        Some(revision) => revision.name.clone(),
        None => "work tree".to_owned(),
    };
    match event {
        BuildEvent::LeftOut(left_out) => {
            let paths = left_out.iter().map(|one| one.path.display().to_string());
            let paths: Vec<String> = paths.collect();
            format!("left out {}", paths.join(" "))
        }
        BuildEvent::Waiting(_) => "waiting".to_owned(),
        BuildEvent::Found(revision) => format!("found {}", of(revision)),
        BuildEvent::Removed { builds, .. } => format!("removed {builds}"),
        BuildEvent::CheckingOut(revision) => format!("checking out {}", revision.name),
        BuildEvent::Building(revision) => format!("building {}", of(revision)),
        BuildEvent::TargetsSkipped(skipped) => format!("skipped {}", skipped.len()),
        BuildEvent::CriterionReplaced(versions) => format!("replaced {}", versions.join(" ")),
        BuildEvent::CriterionAsIs(reason) => format!("criterion as it is: {reason}"),
        BuildEvent::Diagnostics(messages) => format!("diagnostics: {}", messages.len()),
    }
}

/// Runs the executable of a target as for a measurement, and returns its output.
#[track_caller]
pub fn printed(side: &BuiltSide, target: &str) -> String {
    let target = side
        .targets
        .iter()
        .find(|made| made.target.target == target)
        .expect("a target");
    let process = &target.target;
    let mut command = std::process::Command::new(&process.program);
    command
        .args(&process.first_arguments)
        .current_dir(&process.directory);
    for (name, value) in &process.variables {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    run(command).expect_code(0).stdout.trim().to_owned()
}

/// Returns the targets named `target` of the base and of the candidate.
#[track_caller]
pub fn pair<'a>(sides: &'a PreparedSides, target: &str) -> (&'a SideTarget, &'a SideTarget) {
    let both = sides.pairs().into_iter().find_map(|pair| match pair {
        TargetPair::Both { base, candidate } if base.target.target == target => {
            Some((base, candidate))
        }
        _ => None,
    });
    both.expect("a target on both sides")
}

/// Reports whether the two executables of `target` are identical byte for byte.
#[track_caller]
pub fn identical(sides: &PreparedSides, target: &str) -> bool {
    let (base, candidate) = pair(sides, target);
    let same = fs::read(&base.executable).expect("readable")
        == fs::read(&candidate.executable).expect("readable");
    let names_its_side = |target: &SideTarget| {
        let content = fs::read(&target.executable).expect("readable");
        let key = b"/top-of-the-repository";
        content.windows(key.len()).any(|bytes| bytes == key)
    };
    assert!(same == base.is_identical_to(candidate) || names_its_side(base));
    let length = |target: &SideTarget| target.executable.as_os_str().len();
    assert_eq!(length(base), length(candidate), "names of equal length");
    base.is_identical_to(candidate)
}

/// Environment variables by which [`be_another_process`] learns the repository and the revision to build.
const HOME: &str = "TEST_REVISIONS_HOME";
const AGAINST: &str = "TEST_REVISIONS_AGAINST";

/// Starts the test executable as a process that builds both sides. It prints the events of the build to stderr.
pub fn builds_in_another_process(made: &Repository, against: &str) -> Running {
    let mut command = made
        .machine
        .command(std::env::current_exe().expect("this test"));
    command
        .args([
            "--exact",
            "revisions::processes::another_process",
            "--ignored",
            "--nocapture",
        ])
        .env(HOME, &made.root)
        .current_dir(&made.root)
        .env_remove("RUSTUP_TOOLCHAIN")
        .env(AGAINST, against);
    // Use the cargo directories of this process, so that the build has the same key.
    for name in ["HOME", "CARGO_HOME", "CARGO_TARGET_DIR"] {
        match std::env::var_os(name) {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    start(command)
}

/// Returns true if [`builds_in_another_process`] started this process or one of its ancestors.
pub fn is_another_process() -> bool {
    std::env::var_os(HOME).is_some()
}

/// If [`builds_in_another_process`] started this process, builds both sides and prints the events. Otherwise does nothing.
pub fn be_another_process() {
    let (Some(root), Ok(against)) = (std::env::var_os(HOME), std::env::var(AGAINST)) else {
        return;
    };
    let root = PathBuf::from(root);
    // Set no manifest path: cargo finds the manifest from the current directory.
    let options = CargoOptions {
        offline: true,
        quiet: true,
        ..CargoOptions::default()
    };
    let interrupt = Interrupt::install(|_| ()).expect("once");
    let supervisor = Supervisor::new(&interrupt);
    let workspace = Workspace::load(&cargo(), &options, &supervisor).expect("a workspace");
    let checkout = Checkout::find(&root, &supervisor).expect("a repository");
    let revision = checkout.revision(&against).expect("a revision");
    let outcome = build_sides(
        &SidesRequest {
            cache: &root.with_file_name("cache"),
            cargo: &cargo(),
            options: &options,
            programs: &[],
            toolchain: &Toolchain::detect(&options, &supervisor).expect("a compiler"),
            workspace: &workspace,
            checkout: Some(&checkout),
            benches_from: BenchesFrom::default(),
            harness: CriterionHarness::default(),
            room: u64::MAX,
            spared: &[],
            stand_in: None,
            supervisor: &supervisor,
        },
        &revision,
        &mut |event| {
            let _ = writeln!(io::stderr(), "{}", describe(event));
        },
    );
    let mut stderr = io::stderr();
    match outcome {
        Err(error) => panic!("{error}"),
        Ok(sides) => {
            let (base, candidate) = (
                printed(&sides.base, "first"),
                printed(&sides.candidate, "first"),
            );
            let _ = writeln!(stderr, "base {base}\ncandidate {candidate}");
            for changed in &sides.dependencies {
                let (base, candidate) = (changed.base.join(" "), changed.candidate.join(" "));
                let _ = writeln!(stderr, "{} {base} -> {candidate}", changed.name);
            }
        }
    }
}
