//! What `init` does: look, plan, write, say what to run next.

use std::fs;
use std::path::{Path, PathBuf};

use super::automation::Automation;
use super::first_bench::{FirstBench, seen_from};
use super::manifest::Manifest;
use super::options::InitOptions;
use super::origin::CrateOrigin;
use super::planned::{PlannedFiles, shown};
use super::recognised::{BenchStyle, has_libtest_benches};
use crate::app::context::{Context, World};
use crate::app::error::AppError;
use crate::app::options::StoreOptions;
use crate::escape;
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_engine::cargo::{BenchPackage, CargoOptions, Workspace};

/// Where the harness comes from, as long as nobody says it.
const SOMEWHERE: &str = "<your clone>/harness";

/// A package as it was found.
struct SeenPackage {
    name: String,
    manifest: Manifest,
    /// Name and style of each bench target.
    benches: Vec<(String, BenchStyle)>,
    /// The library that a bench can call, as code names it.
    library: Option<String>,
    /// The flag of the target whose sources have benches of libtest.
    flag_of_sources: Option<&'static str>,
}

/// Runs the command: everything is planned before anything is written.
pub fn init(
    options: &InitOptions,
    common: &StoreOptions,
    world: &mut World<'_>,
) -> Result<ExitCode, AppError> {
    let context = Context::load(&world.variables, common)?;
    let root = context.workspace.root();
    let shared = Manifest::read(root.join("Cargo.toml"))?;
    let seen = look_at(&context.workspace, &common.cargo, &shared)?;
    let bare = first_bench(&seen, &shared, options.harness.is_some())?;
    let (mut files, mut shown_alone) = (PlannedFiles::default(), PlannedFiles::default());
    let mut is_ready = true;
    if let Some(first) = &bare {
        match &options.harness {
            Some(origin) => {
                let origin = seen_from(&directory_of(&first.manifest.path), origin)?;
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
        let place = place_in_repository(&context)?;
        let automation = Automation::of(system, tool, (&place.0, &place.1))?;
        addition = automation.plan(&mut files)?;
    }

    for package in &seen {
        package.tell(root, world)?;
    }
    let out = &mut *world.stdout;
    if options.harness.is_some() && bare.is_none() {
        writeln!(out, "\nThere are benchmarks: none was added.")?;
    }
    if !shown_alone.is_empty() {
        let command = next_command("cargo perfcheck init", &common.cargo, None);
        writeln!(
            out,
            "\nA first bench needs the harness, which is on no registry. To write what follows: {command} --harness path={SOMEWHERE}"
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
        let path = shown(&path, root);
        writeln!(
            out,
            "\n{path} is there already. Add this job to it:\n\n{job}"
        )?;
    }
    let is_written = bare.is_none() || !options.dry_run;
    if is_ready && is_written {
        let flag = seen.iter().find_map(SeenPackage::needed_flag);
        let next = next_command("cargo perfcheck", &common.cargo, flag);
        writeln!(out, "\nNext: {next}")?;
    }
    Ok(ExitCode::Clean)
}

impl SeenPackage {
    fn has_benches(&self) -> bool {
        !self.benches.is_empty() || self.flag_of_sources.is_some()
    }

    /// The flag without which a run would find nothing.
    fn needed_flag(&self) -> Option<&'static str> {
        self.flag_of_sources.filter(|_| self.benches.is_empty())
    }

    fn tell(&self, root: &Path, world: &mut World<'_>) -> Result<(), AppError> {
        let manifest = shown(&self.manifest.path, root);
        let head = format!("{} ({manifest})", self.name);
        writeln!(world.stdout, "{}", escape::one_line(&head))?;
        let rows = self
            .benches
            .iter()
            .map(|(name, style)| (name.clone(), style.words(), style.outcome()));
        let of_sources = self.flag_of_sources.map(|flag| {
            let outcome = BenchStyle::Libtest.outcome();
            let outcome = format!("{outcome}; `cargo perfcheck {flag}`");
            ("src".to_owned(), BenchStyle::Libtest.words(), outcome)
        });
        let rows: Vec<_> = rows.chain(of_sources).collect();
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
            writeln!(world.stdout, "{}", escape::one_line(&row))?;
        }
        Ok(())
    }
}

/// The selected packages with their bench targets.
fn look_at(
    workspace: &Workspace,
    cargo: &CargoOptions,
    shared: &Manifest,
) -> Result<Vec<SeenPackage>, AppError> {
    let lock = fs::read_to_string(workspace.root().join("Cargo.lock")).unwrap_or_default();
    let all = workspace.bench_packages(None);
    let Some(selected) = workspace.selected_packages(cargo) else {
        let known: Vec<&str> = all.iter().map(|package| package.name.as_str()).collect();
        return Err(AppError::Usage(format!(
            "`-p` names a package that the workspace has not got; it has {}",
            known.join(", ")
        )));
    };
    let targets = workspace.targets();
    let mut seen = Vec::new();
    for package in all
        .into_iter()
        .filter(|found| selected.contains(&found.name))
    {
        seen.push(seen_package(package, &targets, shared, &lock)?);
    }
    Ok(seen)
}

fn seen_package(
    package: BenchPackage,
    targets: &[(String, String, PathBuf)],
    shared: &Manifest,
    lock: &str,
) -> Result<SeenPackage, AppError> {
    let manifest = Manifest::read(package.manifest)?;
    let used = manifest.used_crates(shared);
    let own: Vec<_> = (targets.iter())
        .filter(|(owner, _, _)| *owner == package.name)
        .collect();
    // Bench targets come first.
    let (benches, others) = own.split_at(package.sources.len());
    let benches = benches.iter().map(|(_, name, file)| {
        let has_harness = manifest.has_libtest_harness(name);
        let style = BenchStyle::of(file, has_harness, &used, lock);
        (name.clone(), style)
    });
    let benches = benches.collect();
    let entry = manifest.library();
    let directory = directory_of(&manifest.path);
    let file = directory.join(&entry.path);
    let library = others.iter().find(|(_, _, source)| *source == file);
    let flag_of_sources = has_libtest_benches(&directory.join("src"))
        .then_some(if library.is_some() { "--lib" } else { "--bins" });
    let library = library.filter(|_| entry.is_callable);
    Ok(SeenPackage {
        benches,
        library: library.map(|(_, name, _)| name.replace('-', "_")),
        flag_of_sources,
        name: package.name,
        manifest,
    })
}

/// The first bench that is wanted: of the package that is selected, if it has no benchmarks.
fn first_bench<'a>(
    seen: &'a [SeenPackage],
    workspace: &'a Manifest,
    is_asked_for: bool,
) -> Result<Option<FirstBench<'a>>, AppError> {
    let bare: Vec<&SeenPackage> = (seen.iter())
        .filter(|package| !package.has_benches())
        .collect();
    let package = match bare[..] {
        [] => return Ok(None),
        [package] if seen.len() == 1 => package,
        // With others that have benchmarks the workspace may well be as it should be.
        _ if !is_asked_for && bare.len() < seen.len() => return Ok(None),
        _ => {
            let names: Vec<&str> = bare.iter().map(|package| package.name.as_str()).collect();
            return Err(AppError::Usage(format!(
                "{} packages are selected; {} {} no benchmarks; nothing was written\n  help: `-p NAME` says which one gets a first bench",
                seen.len(),
                names.join(", "),
                if names.len() == 1 { "has" } else { "have" },
            )));
        }
    };
    let Some(library) = package.library.clone() else {
        return Err(AppError::Usage(format!(
            "`{}` has no benchmarks, and no library whose functions one could call; nothing was written\n  help: move what is to be measured from the binary into `src/lib.rs`",
            package.name
        )));
    };
    Ok(Some(FirstBench {
        manifest: &package.manifest,
        workspace,
        library,
    }))
}

/// The top of the repository, and where the workspace lies in it.
fn place_in_repository(context: &Context) -> Result<(PathBuf, PathBuf), AppError> {
    let root = context.workspace.root().canonicalize()?;
    let Some(checkout) = &context.checkout else {
        return Err(AppError::Usage(format!(
            "`--ci` writes a workflow into the git repository of the workspace, and `{}` is in none; nothing was written\n  help: `git init` makes one",
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

/// A command about the same packages.
fn next_command(command: &str, cargo: &CargoOptions, flag: Option<&str>) -> String {
    let mut words = vec![command.to_owned()];
    if let Some(path) = &cargo.manifest_path {
        words.push(format!("--manifest-path {}", path.display()));
    }
    words.extend(cargo.packages.iter().map(|package| format!("-p {package}")));
    words.extend(flag.map(str::to_owned));
    words.join(" ")
}
