//! `explain --asm`: compares the code of a function in both kept executables of a verdict.

use std::collections::BTreeSet;

use super::kept::not_kept_error;
use crate::app::context::{Context, World};
use crate::app::error::AppError;
use crate::app::measuring::work_tree::cache_build;
use crate::app::naming::{list_names, most_similar};
use crate::app::options::StoreOptions;
use crate::report::{MachineCode, MachineCodePair, MachineCodeRow};
use perfcheck_analysis::findings::CodeChange;
use perfcheck_analysis::model::{BenchmarkKey, BySide, Run, RunId};
use perfcheck_code::{FunctionPair, FunctionReader, UnsupportedExecutable};

/// Reads the functions that match `wanted` from both executables of the benchmark. `code` lists the differing functions, if the run recorded them.
pub(super) fn compare_machine_code(
    wanted: &str,
    key: &BenchmarkKey,
    runs: BySide<&Run>,
    code: Option<&CodeChange>,
    (context, common): (&Context, &StoreOptions),
    world: &mut World<'_>,
) -> Result<MachineCode, AppError> {
    let named = (&*key.package, &*key.target);
    let kept = cache_build(context, common).kept_executables(&runs, named, world)?;
    let executable = |found: Option<Vec<u8>>, run: &Run| {
        found.ok_or_else(|| not_kept_error(run, key, runs.base))
    };
    let base = executable(kept.base, runs.base)?;
    let candidate = executable(kept.candidate, runs.candidate)?;
    let base = FunctionReader::parse(&base).map_err(|why| unreadable_error(&why, runs.base.id))?;
    let candidate = FunctionReader::parse(&candidate)
        .map_err(|why| unreadable_error(&why, runs.candidate.id))?;
    let names: BTreeSet<&str> = base.names().chain(candidate.names()).collect();
    let mut changed = code.iter().flat_map(|code| &code.functions);
    let differing: BTreeSet<&str> = changed.clone().map(|one| &*one.name).collect();
    let function = resolve_function(wanted, &names, &differing, key)?;
    let (mut shown, mut same): (Vec<_>, Vec<_>) = base
        .pair_functions(&candidate, function)
        .into_iter()
        .partition(FunctionPair::differs);
    // If no copy differs, show the first: all are the same.
    if shown.is_empty() {
        shown.extend(same.drain(..same.len().min(1)));
    }
    Ok(MachineCode {
        run: runs.candidate.id,
        base_run: runs.base.id,
        benchmark: key.clone(),
        function: function.to_owned(),
        pairs: shown.into_iter().map(pair_functions).collect(),
        same_functions: same.len(),
        data_differ: changed.any(|one| one.same_code && one.name == function),
    })
}

fn pair_functions(found: FunctionPair) -> MachineCodePair {
    let rows = found.rows.into_iter();
    MachineCodePair {
        bytes: BySide {
            base: found.base,
            candidate: found.candidate,
        },
        rows: rows
            .map(|row| MachineCodeRow {
                differs: row.differs(),
                label: row.label,
                base: row.base,
                candidate: row.candidate,
            })
            .collect(),
    }
}

/// Resolves `wanted` to a function name: a complete name, else the end of a path, else a part of a name. Among several matches, prefers those in
/// `differing`.
fn resolve_function<'n>(
    wanted: &str,
    names: &BTreeSet<&'n str>,
    differing: &BTreeSet<&str>,
    key: &BenchmarkKey,
) -> Result<&'n str, AppError> {
    let end = format!("::{wanted}");
    let those = |is_meant: &dyn Fn(&str) -> bool| -> Vec<&'n str> {
        names
            .iter()
            .copied()
            .filter(|name| is_meant(name))
            .collect()
    };
    let ways: [&dyn Fn(&str) -> bool; 3] = [
        &|name| name == wanted,
        &|name| name.ends_with(&end),
        &|name| name.contains(wanted),
    ];
    let found: Vec<Vec<&str>> = ways
        .into_iter()
        .map(those)
        .filter(|found| !found.is_empty())
        .collect();
    let (Some(closest), Some(widest)) = (found.first(), found.last()) else {
        let all = names.iter().copied();
        // Users remember the end of a path, so suggest by its last segment.
        let near = most_similar(wanted, all, |name| name.rsplit("::").next().unwrap_or(name));
        let near = near.into_iter().map(str::to_owned);
        return Err(AppError::Usage(format!(
            "neither executable of `{}` has a function `{wanted}`{}\n  help: a function that was inlined everywhere has no code of its own; that of its callers has it",
            key.target,
            list_names("did you mean", near)
        )));
    };
    if let [name] = closest[..] {
        return Ok(name);
    }
    let is_changed = |name: &&str| differing.contains(name);
    let changed: Option<Vec<&str>> = found
        .iter()
        .map(|found| found.iter().copied().filter(is_changed).collect())
        .find(|changed: &Vec<&str>| !changed.is_empty());
    let all = widest.len();
    let (which, offer, offered) = match changed {
        Some(changed) => match changed[..] {
            [name] => return Ok(name),
            _ if changed.len() == all => (String::new(), "name one of", changed),
            _ => {
                let which = format!(", of which {} changed", changed.len());
                (which, "name one of", changed)
            }
        },
        None if differing.is_empty() => (String::new(), "name one of", closest.clone()),
        None => (
            ", and none of them changed".to_owned(),
            "these did",
            differing.iter().copied().collect(),
        ),
    };
    let offered = offered.into_iter().map(str::to_owned);
    Err(AppError::Usage(format!(
        "`{wanted}` may be any of {all} functions{which}{}",
        list_names(offer, offered)
    )))
}

fn unreadable_error(why: &UnsupportedExecutable, run: RunId) -> AppError {
    let help = match why {
        UnsupportedExecutable::Stripped => {
            "set `strip = false` in `[profile.bench]` and measure again"
        }
        _ => "cargo-show-asm shows the code that the compiler makes of a function on any machine",
    };
    AppError::NothingToLookInto(format!(
        "the executable of run {run} cannot be read: {why}\n  help: {help}"
    ))
}
