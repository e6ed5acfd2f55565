//! Package specifications as `-p` and `--exclude` take them: a name, a glob, `name@version`, or a URL.
//!
//! Grammar and meaning: <https://doc.rust-lang.org/cargo/reference/pkgid-spec.html>.

use cargo_metadata::Package;
use globset::GlobBuilder;

/// Whether `specification` means this package.
pub(super) fn matches_package(specification: &str, package: &Package) -> bool {
    if is_glob(specification) {
        // Cargo's globs are about names, which have no slashes.
        let glob = GlobBuilder::new(specification).build();
        return glob.is_ok_and(|glob| glob.compile_matcher().is_match(&**package.name));
    }
    let Some((address, fragment)) = split_address(specification) else {
        return matches_name_and_version(specification, package);
    };
    if !is_address_of(address, package) {
        return false;
    }
    fragment.is_none_or(|fragment| {
        matches_version(fragment, package) || matches_name_and_version(fragment, package)
    })
}

/// Whether the text is a pattern of names, for cargo too.
pub(super) fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '[', ']'])
}

/// The parts before and behind `#`; `None` for what is no URL.
fn split_address(specification: &str) -> Option<(&str, Option<&str>)> {
    if !specification.contains("://") {
        return None;
    }
    Some(match specification.split_once('#') {
        Some((address, fragment)) => (address, Some(fragment)),
        None => (specification, None),
    })
}

fn matches_name_and_version(text: &str, package: &Package) -> bool {
    match text.split_once(['@', ':']) {
        Some((name, version)) => *name == **package.name && matches_version(version, package),
        None => *text == **package.name,
    }
}

/// Whether the version is `wanted`, of which the last parts may be missing.
fn matches_version(wanted: &str, package: &Package) -> bool {
    let version = &package.version;
    let whole = version.to_string();
    let parts: Vec<&str> = wanted.split('.').collect();
    let numbers = [version.major, version.minor, version.patch].map(|part| part.to_string());
    let without_build = whole.split('+').next();
    wanted == whole
        || Some(wanted) == without_build
        || (parts.len() < numbers.len()
            && version.pre.is_empty()
            && parts
                .iter()
                .zip(&numbers)
                .all(|(part, number)| part == number))
}

/// Whether a member of the workspace is at this address; a kind of source before `+` may be missing.
fn is_address_of(address: &str, package: &Package) -> bool {
    // `path+file:///directory#name@1.0.0`; before cargo 1.77: `name 1.0.0 (path+file:///directory)`.
    let id = &package.id.repr;
    let own = match id.split_once(" (") {
        Some((_, behind)) => behind.trim_end_matches(')'),
        None => id.split('#').next().unwrap_or_default(),
    };
    let address = address.trim_end_matches('/');
    address == own || own.split_once('+').is_some_and(|(_, own)| address == own)
}
