//! Selects the programs of the workspace that a command measures: entries in Cargo.toml, or command lines that the user gives with `--program`.

use crate::config::ProgramEntry;
use crate::error::AppError;
use crate::session::Context;
use perfcheck_analysis::model::{ProgramBenchmark, split_command_line};
use perfcheck_build::cargo::{CargoOptions, Workspace};

/// Returns the programs that `cargo` selects: those that `--program` names, or else all entries of the selected packages, unless the user names
/// other targets.
pub(crate) fn select_programs(
    context: &Context,
    cargo: &CargoOptions,
) -> Result<Vec<ProgramBenchmark>, AppError> {
    let packages = context.workspace.selected_packages(cargo);
    let entries = context.tables.programs.iter();
    let entries = entries.filter(|entry| packages.contains(&entry.package));
    if cargo.programs.is_empty() {
        if !cargo.selects_all_benches() {
            return Ok(Vec::new());
        }
        return entries
            .map(|entry| resolve_entry(entry, &context.workspace))
            .collect();
    }
    let mut programs = Vec::new();
    for word in &cargo.programs {
        let named: Vec<&ProgramEntry> = entries.clone().filter(|one| one.name == *word).collect();
        if named.is_empty() {
            programs.push(resolve_line(word, &packages, &context.workspace)?);
        }
        for entry in named {
            programs.push(resolve_entry(entry, &context.workspace)?);
        }
    }
    Ok(programs)
}

/// Finds the binary of an entry.
fn resolve_entry(
    entry: &ProgramEntry,
    workspace: &Workspace,
) -> Result<ProgramBenchmark, AppError> {
    let existing = workspace.binaries(&entry.package);
    let binary = match (&entry.binary, &existing[..]) {
        (Some(binary), _) if existing.contains(binary) => binary,
        (None, [only]) => only,
        (Some(binary), _) => {
            return Err(AppError::Usage(format!(
                "the program `{}` in Cargo.toml names the binary `{binary}`, which the package `{}` does not have{}",
                entry.name,
                entry.package,
                list_binaries(&existing)
            )));
        }
        (None, []) => {
            return Err(AppError::Usage(format!(
                "the program `{}` in Cargo.toml has no binary, because the package `{}` has none",
                entry.name, entry.package
            )));
        }
        (None, [first, ..]) => {
            return Err(AppError::Usage(format!(
                "the package `{}` has several binaries ({})\n  help: name that of the program `{}` in Cargo.toml, e.g. `bin = \"{first}\"`",
                entry.package,
                existing.join(", "),
                entry.name
            )));
        }
    };
    Ok(entry.benchmark_of(binary))
}

/// Reads a command line whose first word is the name of a binary. The command line is the id of its benchmark.
fn resolve_line(
    line: &str,
    packages: &[String],
    workspace: &Workspace,
) -> Result<ProgramBenchmark, AppError> {
    let words = split_command_line(line)
        .map_err(|why| AppError::Usage(format!("cannot read the command line `{line}`: {why}")))?;
    let Some((binary, arguments)) = words.split_first() else {
        return Err(AppError::Usage(
            "`--program` needs a name or a command line".to_owned(),
        ));
    };
    let has_it = |package: &&String| workspace.binaries(package).contains(binary);
    let owners: Vec<&String> = packages.iter().filter(has_it).collect();
    match owners[..] {
        [package] => Ok(ProgramBenchmark {
            package: package.clone(),
            binary: binary.clone(),
            id: line.trim().to_owned(),
            arguments: arguments.to_vec(),
            stdin: None,
            prepare: Vec::new(),
            exit: 0,
        }),
        [] => {
            let all = packages.iter().flat_map(|one| workspace.binaries(one));
            Err(AppError::Usage(format!(
                "the selected packages have no binary `{binary}`, and Cargo.toml has no program `{line}`{}",
                list_binaries(&all.collect::<Vec<_>>())
            )))
        }
        [first, ..] => Err(AppError::Usage(format!(
            "several packages have a binary `{binary}`\n  help: select one with `-p`, e.g. `-p {first}`"
        ))),
    }
}

fn list_binaries(existing: &[String]) -> String {
    if existing.is_empty() {
        String::new()
    } else {
        format!("; the binaries are: {}", existing.join(", "))
    }
}
