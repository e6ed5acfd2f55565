//! `cargo perfcheck init`: reports which benches can be measured unchanged, adds a first bench if there is none, and writes a CI workflow. Plans all
//! files before it writes them, and then names the next command.

mod files;
mod harness;
mod manifest;
mod options;

pub use self::options::{CiSystem, CrateOrigin, InitOptions};

use std::fs;
use std::path::{Path, PathBuf};

use self::files::{Automation, FirstBench, PlannedFiles, display_path, relative_to_manifest};
use self::harness::BenchStyle;
use self::manifest::Manifest;
use crate::error::AppError;
use crate::options::CommonOptions;
use crate::sanitize;
use crate::session::{Context, World};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_build::cargo::{BenchPackage, CargoOptions, Workspace, has_libtest_benches};
use perfcheck_host::os::canonicalize;

/// Stands for the location of the harness in printed commands, until the user sets the location.
const SOMEWHERE: &str = "<your clone>/harness";

/// The facts that `init` has found out about a package.
struct InspectedPackage {
    name: String,
    manifest: Manifest,
    benches: Vec<InspectedBench>,
    /// Crate name of the library that a bench can call. `None` if the package has no library.
    library: Option<String>,
}

/// The name and source file of a cargo target.
struct TargetSource {
    name: String,
    file: PathBuf,
}

/// The packages that `init` inspected.
struct PackageSurvey {
    packages: Vec<InspectedPackage>,
    /// The cargo options that select exactly these packages.
    cargo: CargoOptions,
}

/// A target with benchmarks, and how `cargo perfcheck` can measure it.
struct InspectedBench {
    name: String,
    style: BenchStyle,
    /// Flag that makes a run include the target. `None` if `cargo bench` runs the target by default.
    needed_flag: Option<String>,
}

impl InspectedBench {
    fn outcome(&self) -> String {
        match &self.needed_flag {
            Some(flag) => {
                format!("left out: its manifest says `bench = false`; use `{flag}` to measure it")
            }
            None => self.style.describe_support(),
        }
    }
}

/// Runs the command. Plans everything before it writes anything.
pub fn init(
    options: &InitOptions,
    common: &CommonOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let context = Context::load(common, world)?;
    let root = context.workspace.root();
    let shared = Manifest::read(root.join("Cargo.toml"))?;
    let PackageSurvey {
        packages: seen,
        cargo,
    } = survey_packages(&context.workspace, common, options, &shared)?;
    let bare = first_bench(&seen, &shared, options.harness.is_some())?;
    let (mut files, mut shown_alone) = (PlannedFiles::default(), PlannedFiles::default());
    let mut is_ready = true;
    if let Some(first) = &bare {
        match &options.harness {
            Some(origin) => {
                let origin = relative_to_manifest(&directory_of(&first.manifest.path), origin)?;
                first.plan(Some(&origin), &mut files)?;
            }
            None if first.has_harness() => first.plan(None, &mut files)?,
            None => {
                let somewhere = CrateOrigin::Path(SOMEWHERE.into());
                first.plan(Some(&somewhere), &mut shown_alone)?;
                is_ready = false;
            }
        }
    }
    let mut addition = None;
    if let (Some(system), Some(tool)) = (options.ci, &options.tool) {
        let place = locate_in_repository(&context)?;
        let automation = Automation::new(system, tool, &place.0, &place.1)?;
        addition = automation.plan(&mut files)?;
    }

    for package in &seen {
        package.print(root, world)?;
    }
    let out = &mut *world.stdout;
    if options.harness.is_some() && bare.is_none() {
        writeln!(
            out,
            "\nNo bench was added, because benchmarks already exist."
        )?;
    }
    if !shown_alone.is_empty() {
        let command = next_command("cargo perfcheck init", &cargo);
        writeln!(
            out,
            "\nA first bench needs the harness, which is not on crates.io. To write the files below: {command} --harness path={SOMEWHERE}"
        )?;
        shown_alone.show(root, out)?;
    }
    if options.dry_run {
        if !files.is_empty() {
            writeln!(out, "\nWithout --dry-run, init would write:")?;
        }
        files.show(root, out)?;
    } else if !files.is_empty() {
        writeln!(out)?;
        files.write(root, out)?;
    }
    if let Some((path, job)) = addition {
        let path = display_path(&path, root);
        writeln!(out, "\n{path} already exists. Add this job to it:\n\n{job}")?;
    }
    let is_written = bare.is_none() || !options.dry_run;
    if is_ready && is_written {
        let needs_nightly = seen.iter().any(InspectedPackage::needs_nightly)
            && !context
                .toolchain(&cargo, world.supervisor)?
                .allows_unstable_features();
        let command = if needs_nightly {
            "RUSTC_BOOTSTRAP=1 cargo perfcheck"
        } else {
            "cargo perfcheck"
        };
        writeln!(out, "\nNext: {}", next_command(command, &cargo))?;
    }
    Ok(ExitCode::Clean)
}

impl InspectedPackage {
    fn has_benches(&self) -> bool {
        !self.benches.is_empty()
    }

    /// Reports whether the benches of a default run need a nightly compiler.
    fn needs_nightly(&self) -> bool {
        let mut measured = (self.benches.iter()).filter(|bench| bench.needed_flag.is_none());
        measured.any(|bench| bench.style == BenchStyle::Libtest)
    }

    fn print(&self, root: &Path, world: &mut World<'_>) -> Result<(), AppError> {
        let manifest = display_path(&self.manifest.path, root);
        let head = format!("{} ({manifest})", self.name);
        writeln!(world.stdout, "{}", sanitize::one_line(&head))?;
        let rows = self.benches.iter();
        let rows: Vec<_> = rows
            .map(|bench| {
                (
                    bench.name.clone(),
                    bench.style.name_with_version(),
                    bench.outcome(),
                )
            })
            .collect();
        if rows.is_empty() {
            writeln!(world.stdout, "  no benchmarks")?;
        }
        let width = |of: fn(&(String, String, String)) -> &String| {
            let widths = rows.iter().map(|row| of(row).chars().count());
            widths.max().unwrap_or(0)
        };
        let (names, styles) = (width(|row| &row.0), width(|row| &row.1));
        for (name, style, outcome) in &rows {
            let row = format!("  {name:names$}  {style:styles$}  {outcome}");
            writeln!(world.stdout, "{}", sanitize::one_line(&row))?;
        }
        Ok(())
    }
}

/// Inspects the packages that the options select. If the options select none, and only packages other than the default ones have benchmarks, this
/// inspects the whole workspace.
fn survey_packages(
    workspace: &Workspace,
    common: &CommonOptions,
    options: &InitOptions,
    shared: &Manifest,
) -> Result<PackageSurvey, AppError> {
    let cargo = &common.cargo;
    let seen = inspect_packages(workspace, cargo, shared)?;
    let is_chosen = cargo.workspace || !cargo.packages.is_empty() || options.harness.is_some();
    if !is_chosen && !seen.iter().any(InspectedPackage::has_benches) {
        let all = CargoOptions {
            workspace: true,
            ..cargo.clone()
        };
        let everywhere = inspect_packages(workspace, &all, shared)?;
        if everywhere.iter().any(InspectedPackage::has_benches) {
            return Ok(PackageSurvey {
                packages: everywhere,
                cargo: all,
            });
        }
    }
    Ok(PackageSurvey {
        packages: seen,
        cargo: cargo.clone(),
    })
}

/// Returns the selected packages with their targets that have benchmarks.
fn inspect_packages(
    workspace: &Workspace,
    cargo: &CargoOptions,
    shared: &Manifest,
) -> Result<Vec<InspectedPackage>, AppError> {
    let lock = fs::read_to_string(workspace.root().join("Cargo.lock")).unwrap_or_default();
    let selected = workspace.selected_packages(cargo);
    let mut seen = Vec::new();
    for package in workspace
        .bench_packages()
        .into_iter()
        .filter(|found| selected.contains(&found.name))
    {
        let targets = workspace.targets().into_iter();
        let targets = targets.filter(|(owner, _, _)| *owner == package.name);
        let sources: Vec<TargetSource> = targets
            .map(|(_, name, file)| TargetSource { name, file })
            .collect();
        seen.push(inspect_package(package, &sources, shared, &lock)?);
    }
    Ok(seen)
}

/// Inspects a package. Its `sources` begin with the bench targets.
fn inspect_package(
    package: BenchPackage,
    sources: &[TargetSource],
    shared: &Manifest,
    lock: &str,
) -> Result<InspectedPackage, AppError> {
    let manifest = Manifest::read(package.manifest)?;
    let used = manifest.used_crates(shared);
    let (benches, others) = sources.split_at(package.sources.len());
    let style_of = |kind: &str, name: &str, file: &Path| {
        let has_harness = manifest.has_libtest_harness(kind, name);
        BenchStyle::recognize(file, has_harness, &used, lock)
    };
    let benches = benches
        .iter()
        .map(|TargetSource { name, file }| InspectedBench {
            name: name.clone(),
            style: style_of("bench", name, file),
            needed_flag: (manifest.is_excluded(name)).then(|| format!("--bench {name}")),
        });
    let mut benches: Vec<InspectedBench> = benches.collect();
    for kind in ["bin", "example", "test"] {
        for name in manifest.benched_targets(kind) {
            if let Some(other) = others.iter().find(|other| other.name == *name) {
                benches.push(InspectedBench {
                    name: format!("{kind}:{name}"),
                    style: style_of(kind, name, &other.file),
                    needed_flag: None,
                });
            }
        }
    }
    let entry = manifest.library();
    let directory = directory_of(&manifest.path);
    let file = directory.join(&entry.path);
    let library = others.iter().find(|source| source.file == file);
    if has_libtest_benches(&directory.join("src")) {
        let is_left_out = library.is_some() && !entry.is_benched;
        benches.push(InspectedBench {
            name: "src".to_owned(),
            style: BenchStyle::Libtest,
            needed_flag: is_left_out.then(|| "--lib".to_owned()),
        });
    }
    let library = library.filter(|_| entry.is_callable);
    Ok(InspectedPackage {
        benches,
        library: library.map(|source| source.name.replace('-', "_")),
        name: package.name,
        manifest,
    })
}

/// Plans a first bench for the selected package if it has no benchmarks.
fn first_bench<'a>(
    seen: &'a [InspectedPackage],
    workspace: &'a Manifest,
    is_asked_for: bool,
) -> Result<Option<FirstBench<'a>>, AppError> {
    let bare: Vec<&InspectedPackage> = (seen.iter())
        .filter(|package| !package.has_benches())
        .collect();
    let package = match bare[..] {
        [] => return Ok(None),
        [package] if seen.len() == 1 => package,
        // Some packages have benchmarks, so the workspace may not need a first bench.
        _ if !is_asked_for && bare.len() < seen.len() => return Ok(None),
        _ => {
            let names: Vec<&str> = bare.iter().map(|package| package.name.as_str()).collect();
            return Err(AppError::Usage(format!(
                "{} packages are selected, but only one can get a first bench; {} {} no benchmarks; nothing was written\n  help: select a package with `-p NAME`",
                seen.len(),
                names.join(", "),
                if names.len() == 1 { "has" } else { "have" },
            )));
        }
    };
    let Some(library) = package.library.clone() else {
        return Err(AppError::Usage(format!(
            "`{}` has neither benchmarks nor a library that a bench could call; nothing was written\n  help: move the code to measure from the binary into `src/lib.rs`",
            package.name
        )));
    };
    Ok(Some(FirstBench {
        manifest: &package.manifest,
        workspace,
        library,
    }))
}

/// Returns the top of the repository and the path of the workspace below it.
fn locate_in_repository(context: &Context) -> Result<(PathBuf, PathBuf), AppError> {
    let root = canonicalize(context.workspace.root())?;
    let Some(checkout) = context.checkout() else {
        return Err(AppError::Usage(format!(
            "`--ci` needs a git repository, but `{}` is not in one; nothing was written\n  help: use `git init` to create one",
            root.display()
        )));
    };
    let prefix = checkout.prefix.clone();
    let top = root.ancestors().nth(prefix.components().count());
    Ok((top.unwrap_or(&root).to_owned(), prefix))
}

fn directory_of(manifest: &Path) -> PathBuf {
    manifest.parent().unwrap_or(manifest).to_owned()
}

/// Returns the command line that runs `command` on the packages that `cargo` selects.
fn next_command(command: &str, cargo: &CargoOptions) -> String {
    let mut words = vec![command.to_owned()];
    if let Some(path) = &cargo.manifest_path {
        words.push(format!(
            "--manifest-path {}",
            sanitize::shell_quoted(&path.display().to_string())
        ));
    }
    if cargo.workspace {
        words.push("--workspace".to_owned());
    }
    for (flag, specifications) in [("-p", &cargo.packages), ("--exclude", &cargo.exclude)] {
        let quoted = specifications
            .iter()
            .map(|text| sanitize::shell_quoted(text));
        words.extend(quoted.map(|text| format!("{flag} {text}")));
    }
    words.join(" ")
}
