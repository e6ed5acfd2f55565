//! The environment variables that `cargo bench` sets for the executables it runs.

#![expect(
    clippy::disallowed_methods,
    reason = "adds to the variables that the executables inherit"
)]

use cargo_metadata::{BuildScript, Package, PackageId, camino::Utf8PathBuf};
use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::toolchain::Toolchain;

/// The variable with the dynamic linker's additional search path.
const LIBRARY_PATH: &str = if cfg!(target_os = "macos") {
    "DYLD_FALLBACK_LIBRARY_PATH"
} else {
    "LD_LIBRARY_PATH"
};

/// The build results that cargo's variables depend on.
pub(super) struct BenchEnvironment<'a> {
    pub(super) cargo: &'a Path,
    pub(super) toolchain: &'a Toolchain,
    /// Every build script that ran, in cargo's order.
    pub(super) scripts: &'a [BuildScript],
    /// Every binary that was built.
    pub(super) binaries: &'a [Binary],
}

/// A binary that cargo built together with the benches of its package.
pub(super) struct Binary {
    pub(super) package: PackageId,
    pub(super) name: String,
    pub(super) executable: PathBuf,
}

/// Returns the variables for an executable of `package` in a `deps` directory.
///
/// `None` removes a variable. If cargo started our own parent, we have inherited variables of another package.
pub(super) fn bench_variables(
    surroundings: &BenchEnvironment<'_>,
    package: &Package,
    executable: &Path,
) -> BTreeMap<String, Option<OsString>> {
    let mut variables: BTreeMap<String, Option<OsString>> = env::vars_os()
        .filter_map(|(name, _)| name.into_string().ok())
        .filter(|name| {
            name.starts_with("CARGO_PKG_") || name == "OUT_DIR" || name.starts_with("CARGO_BIN_")
        })
        .map(|name| (name, None))
        .collect();
    for configured in &surroundings.toolchain.configured_environment {
        if configured.force || env::var_os(&configured.name).is_none() {
            let value = Some(configured.value.clone());
            variables.insert(configured.name.clone(), value);
        }
    }
    if let Some(script) = surroundings
        .scripts
        .iter()
        .find(|script| script.package_id == package.id)
    {
        for (name, value) in &script.env {
            variables.insert(name.clone(), Some(value.into()));
        }
        if !script.out_dir.as_str().is_empty() {
            variables.insert("OUT_DIR".to_owned(), Some(script.out_dir.clone().into()));
        }
    }
    let mut set = |name: &str, value: OsString| {
        variables.insert(name.to_owned(), Some(value));
    };
    let version = &package.version;
    let text = |option: &Option<String>| OsString::from(option.clone().unwrap_or_default());
    let path = |option: &Option<Utf8PathBuf>| {
        OsString::from(
            option
                .as_ref()
                .map_or_else(String::new, ToString::to_string),
        )
    };
    set("CARGO", surroundings.cargo.into());
    set("CARGO_MANIFEST_PATH", package.manifest_path.clone().into());
    set("CARGO_MANIFEST_DIR", package_directory(package).into());
    set("CARGO_PKG_NAME", package.name.to_string().into());
    set("CARGO_PKG_VERSION", version.to_string().into());
    set("CARGO_PKG_VERSION_MAJOR", version.major.to_string().into());
    set("CARGO_PKG_VERSION_MINOR", version.minor.to_string().into());
    set("CARGO_PKG_VERSION_PATCH", version.patch.to_string().into());
    set("CARGO_PKG_VERSION_PRE", version.pre.as_str().into());
    set("CARGO_PKG_AUTHORS", package.authors.join(":").into());
    set("CARGO_PKG_DESCRIPTION", text(&package.description));
    set("CARGO_PKG_HOMEPAGE", text(&package.homepage));
    set("CARGO_PKG_REPOSITORY", text(&package.repository));
    set("CARGO_PKG_LICENSE", text(&package.license));
    set("CARGO_PKG_LICENSE_FILE", path(&package.license_file));
    set("CARGO_PKG_README", path(&package.readme));
    let rust_version = package.rust_version.as_ref().map(ToString::to_string);
    set("CARGO_PKG_RUST_VERSION", text(&rust_version));
    for binary in surroundings.binaries {
        if binary.package == package.id {
            let name = format!("CARGO_BIN_EXE_{}", binary.name);
            set(&name, binary.executable.clone().into());
        }
    }
    if let Ok(joined) = env::join_paths(library_directories(surroundings, executable)) {
        set(LIBRARY_PATH, joined);
    }
    variables
}

/// Returns the package's directory, which is the working directory of its executables.
pub(super) fn package_directory(package: &Package) -> PathBuf {
    let manifest = package.manifest_path.as_std_path();
    manifest.parent().unwrap_or(manifest).to_owned()
}

/// Strips the kind of library (as in `native=PATH`) from a search path of a build script.
pub(super) fn strip_kind(path: &str) -> &str {
    match path.split_once('=') {
        Some(("dependency" | "crate" | "native" | "framework" | "all", path)) => path,
        _ => path,
    }
}

/// Lists the library directories in cargo's order: those that build scripts added inside the target directory, the parent of the executable's
/// directory, the executable's directory, the standard library. The inherited value follows.
fn library_directories(surroundings: &BenchEnvironment<'_>, executable: &Path) -> Vec<PathBuf> {
    let deps = executable.parent().unwrap_or(executable);
    let output = deps.parent().unwrap_or(deps);
    let mut directories: Vec<PathBuf> = surroundings
        .scripts
        .iter()
        .flat_map(|script| &script.linked_paths)
        .filter_map(|path| {
            let path = Path::new(strip_kind(path.as_str()));
            path.starts_with(output).then(|| path.into())
        })
        .collect();
    directories.sort();
    directories.dedup();
    directories.push(output.to_owned());
    directories.push(deps.to_owned());
    directories.push(surroundings.toolchain.target_libraries.clone());
    let before = env::var_os(LIBRARY_PATH).unwrap_or_default();
    prepend_paths(directories, env::split_paths(&before).collect())
}

/// Appends `before` to `ours`, duplicates included. Returns `before` alone if it already begins with `ours`: then a cargo process started this one.
fn prepend_paths(mut ours: Vec<PathBuf>, before: Vec<PathBuf>) -> Vec<PathBuf> {
    if before.starts_with(&ours) {
        return before;
    }
    // The dynamic linker of macOS falls back to these directories if the variable is not set.
    if cfg!(target_os = "macos") && before.is_empty() {
        ours.extend(env::home_dir().map(|home| home.join("lib")));
        ours.extend(["/usr/local/lib", "/usr/lib"].map(PathBuf::from));
    }
    ours.extend(before);
    ours
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_set_before_follows_unless_it_begins_with_ours() {
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let joined = |ours: &[&str], before: &[&str]| prepend_paths(paths(ours), paths(before));
        assert_eq!(
            joined(&["a", "b"], &["b", "c"]),
            paths(&["a", "b", "b", "c"])
        );
        assert_eq!(
            joined(&["a", "b"], &["a", "b", "c"]),
            paths(&["a", "b", "c"])
        );
    }
}
